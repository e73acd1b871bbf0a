"""The flow kernels on their own: arcs, search, plans, cycles, routes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fastlb.accelerate import kernels


def random_links(seed: int) -> tuple[int, Any, Any]:
    draws = np.random.default_rng(seed)
    n, E = int(draws.integers(1, 10)), int(draws.integers(0, 40))
    return n, draws.integers(0, n, E), draws.integers(0, n, E)


@pytest.mark.parametrize("seed", range(30))
def test_every_link_has_one_arc(seed: int) -> None:
    n, tail, head = random_links(seed)
    start, to, rev, link = kernels("flows.residual").residual_graph(n, tail, head)
    A = len(to)
    assert (rev[rev] == np.arange(A)).all()
    owner = np.repeat(np.arange(n), np.diff(start))
    assert (to[rev] == owner).all()
    has = link >= 0
    assert sorted(link[has].tolist()) == np.flatnonzero(tail != head).tolist()
    assert (tail[link[has]] == owner[has]).all()
    assert (head[link[has]] == to[has]).all()
    assert (has | has[rev]).all()
    # Antiparallel links share a pair as far as they go.
    lone = {}
    for a in np.flatnonzero(has & ~has[rev]).tolist():
        lone.setdefault(frozenset((owner[a], to[a])), set()).add((owner[a], to[a]))
    assert all(len(ways) == 1 for ways in lone.values())


@pytest.mark.parametrize("seed", range(30))
def test_strong_connection(seed: int) -> None:
    n, tail, head = random_links(seed)
    graph = kernels("flows.residual").residual_graph(n, tail, head)
    reach = np.eye(n, dtype=bool)
    for _ in range(n):
        for u, v in zip(tail.tolist(), head.tolist(), strict=True):
            reach[:, v] |= reach[:, u]
    connected = kernels("flows.residual").strongly_connected
    assert connected(graph, np.ones(len(tail), dtype=bool)) == reach.all()
    assert connected(graph, np.zeros(len(tail), dtype=bool)) == (n == 1)


@pytest.mark.parametrize("seed", range(40))
def test_cycles_are_cancelled_and_nothing_else(seed: int) -> None:
    n, tail, head = random_links(seed)
    start, to, _, link = kernels("flows.residual").residual_graph(n, tail, head)
    draws = np.random.default_rng(seed)
    flow = np.where(link >= 0, draws.integers(0, 6, len(to)), 0)
    before = flow.copy()
    kernels("flows.dinic").cancel_cycles(start, to, flow)
    owner = np.repeat(np.arange(n), np.diff(start))
    net = [np.bincount(owner, f, n) - np.bincount(to, f, n) for f in (before, flow)]
    assert (net[0] == net[1]).all()
    assert (flow <= before).all()
    assert (flow >= 0).all()
    remaining = flow > 0
    for _ in range(n + 1):
        entered = np.zeros(n, dtype=bool)
        entered[to[remaining]] = True
        remaining &= entered[owner]
    assert not remaining.any()


@pytest.mark.parametrize("seed", range(30))
def test_plans_at_a_beta_agree(seed: int) -> None:
    n, tail, head = random_links(seed)
    graph = kernels("flows.residual").residual_graph(n, tail, head)
    draws = np.random.default_rng(seed)
    cap = np.where(tail != head, draws.integers(0, 9, len(tail)), 0)
    amounts = draws.integers(-20, 21, n)
    excess, room = np.maximum(amounts, 0), np.maximum(-amounts, 0)
    total = np.int64(min(excess.sum(), room.sum()))
    value, short, side = kernels("flows.dinic").short_plan(graph, cap, excess, room, total)
    if value < total:
        across = side[tail] & ~side[head]
        assert value == cap[across].sum() + excess[~side].sum() + room[side].sum()
    nothing = np.zeros(len(tail), dtype=np.int64)
    result = kernels("flows.push_relabel").fused_search(
        graph, cap, nothing, nothing > 0, excess, room, total, np.int64(0)
    )
    assert result[0] == value
    cost = np.ones(len(tail), dtype=np.int64)
    sent, least = kernels("flows.primal_dual").least_plan(
        graph, cap, cost, excess, room, np.int64(value)
    )
    assert sent == value
    for flow in (short, least):
        assert ((flow >= 0) & (flow <= cap)).all()
        net = np.bincount(tail, flow, n) - np.bincount(head, flow, n)
        assert (net <= excess).all()
        assert (-net <= room).all()
        assert net[net > 0].sum() == value
        R, source, sink, amount, ends, arcs = kernels("flows.routes").decompose(graph, flow)
        owner = np.repeat(np.arange(n), np.diff(graph.start))
        again = np.zeros(len(tail), dtype=np.int64)
        begin = 0
        for r in range(R):
            path = arcs[begin : ends[r]]
            assert (owner[path[0]], graph.head[path[-1]]) == (source[r], sink[r])
            assert (graph.head[path[:-1]] == owner[path[1:]]).all()
            again[graph.link[path]] += amount[r]
            begin = ends[r]
        assert (again == flow).all()
    assert least.sum() <= short.sum()


@pytest.mark.parametrize("seed", range(30))
def test_the_search_is_the_same_from_both_ends(seed: int) -> None:
    n, tail, head = random_links(seed)
    draws = np.random.default_rng(seed)
    amounts = draws.integers(-20, 21, n)
    # Few nodes at one end, so that the search turns round.
    amounts[n // 2 :] = np.abs(amounts[n // 2 :])
    excess, room = np.maximum(amounts, 0), np.maximum(-amounts, 0)
    limits = draws.integers(0, 40, len(tail))
    found = []
    for ends, gives, takes in (((tail, head), excess, room), ((head, tail), room, excess)):
        graph = kernels("flows.residual").residual_graph(n, *ends)
        nothing = np.zeros(len(tail), dtype=np.int64)
        search = kernels("flows.push_relabel").fused_search
        most = np.int64(min(gives.sum(), takes.sum()))
        value, *_, side = search(
            graph, limits, nothing, nothing > 0, gives, takes, most, np.int64(0)
        )[:4]
        if value < most:
            across = side[ends[0]] & ~side[ends[1]]
            assert value == limits[across].sum() + gives[~side].sum() + takes[side].sum()
        beta = search(graph, limits, nothing, nothing == 0, gives, takes, value, np.int64(0))[1]
        found.append((value, beta))
    assert found[0] == found[1]
