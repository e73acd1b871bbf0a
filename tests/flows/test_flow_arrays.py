"""Maximum and minimum-cost flow on arrays, against plain twins, and at the ends of int64."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlb.accelerate import kernels, watching_compilation
from fastlb.errors import UnboundedError
from fastlb.flows.maximum import UNLIMITED, max_flow
from fastlb.flows.mincost import min_cost
from tests.oracles.flows import least_cost
from tests.oracles.minimax import max_flow as plain_max_flow


@st.composite
def networks(draw: st.DrawFn, most: int = 8) -> tuple[int, Any, Any, Any]:
    """Nodes and links: parallel ones, loops, empty and unlimited ones."""
    n = draw(st.integers(2, 7))
    node = st.integers(0, n - 1)
    capacity = st.one_of(st.integers(0, most), st.integers(0, most), st.just(UNLIMITED))
    links = draw(st.lists(st.tuples(node, node, capacity), max_size=20))
    tail, head, limits = np.array(links, np.int64).reshape(-1, 3).T
    return n, tail, head, limits


def inflow(n: int, tail: Any, head: Any, flow: Any) -> Any:
    """Return what enters every node less what leaves it, as Python's integers."""
    net = [0] * n
    for u, v, amount in zip(tail.tolist(), head.tolist(), flow.tolist(), strict=True):
        net[u] -= amount
        net[v] += amount
    return net


def check_cut(n: int, tail: Any, head: Any, limits: Any, r: Any, source: Any, sink: Any) -> None:
    assert ((r.flow >= 0) & (r.flow <= limits)).all()
    net = inflow(n, tail, head, r.flow)
    sources, sinks = set(np.ravel(source).tolist()), set(np.ravel(sink).tolist())
    assert sum(net[v] for v in sinks) == r.value
    assert not any(net[v] for v in range(n) if v not in sources | sinks)
    side = r.source_side
    assert side[list(sources)].all() and not side[list(sinks)].any()
    assert sum(limits[side[tail] & ~side[head]].tolist()) == r.value
    assert not r.flow[~side[tail] & side[head]].any()


@given(networks(), st.data())
def test_maximum(network: Any, data: st.DataObject) -> None:
    n, tail, head, limits = network
    order = data.draw(st.permutations(range(n)))
    first, second = data.draw(st.integers(1, n - 1)), data.draw(st.integers(1, n))
    source, sink = order[:first], order[first : first + second]
    total = sum(limits[limits != UNLIMITED].tolist())
    arcs = [
        (u, v, min(c, total + 1))
        for u, v, c in zip(tail.tolist(), head.tolist(), limits.tolist(), strict=True)
    ]
    arcs += [(n, v, (n + len(arcs) + 1) * (total + 1)) for v in source]
    arcs += [(v, n + 1, (n + len(arcs) + 1) * (total + 1)) for v in sink]
    value, _, _ = plain_max_flow(n + 2, arcs, n, n + 1)
    if value > total:
        with pytest.raises(UnboundedError, match="capacity"):
            max_flow(n, tail, head, limits, source, sink)
        return
    result = max_flow(n, tail, head, limits, source, sink)
    assert result.value == value
    check_cut(n, tail, head, limits, result, source, sink)


@given(networks(), st.data())
def test_maximum_at_the_ends_of_int64(network: Any, data: st.DataObject) -> None:
    """Capacities are so large that few of them fit int64 together."""
    n, tail, head, limits = network
    limits = np.where(limits == UNLIMITED, UNLIMITED - 1, limits * (UNLIMITED // 9) + limits)
    arcs = list(zip(tail.tolist(), head.tolist(), limits.tolist(), strict=True))
    value, _, _ = plain_max_flow(n, arcs, 0, n - 1)
    if value > UNLIMITED:
        with pytest.raises(OverflowError, match="int64"):
            max_flow(n, tail, head, limits, 0, n - 1)
        return
    result = max_flow(n, tail, head, limits, 0, n - 1)
    assert result.value == value
    check_cut(n, tail, head, limits, result, 0, n - 1)


def test_the_largest_maximum() -> None:
    tail, head = np.array([0, 0, 1]), np.array([1, 2, 2])
    limits = np.array([2**62, 2**62 - 1, UNLIMITED])
    assert max_flow(3, tail, head, limits, 0, 2).value == UNLIMITED
    with pytest.raises(OverflowError, match="int64"):
        max_flow(3, tail, head, limits + np.array([0, 1, 0]), 0, 2)


def test_a_graph_serves_several_flows() -> None:
    draws = np.random.default_rng(1)
    tail, head = draws.integers(0, 30, (2, 200))
    limits = draws.integers(0, 9, 200)
    graph = kernels("flows.residual").residual_graph(30, tail, head)
    for sink in range(1, 30):
        alone = max_flow(30, tail, head, limits, 0, sink)
        shared = max_flow(30, tail, head, limits, 0, sink, graph=graph)
        assert all(np.array_equal(a, b) for a, b in zip(alone, shared, strict=True))


@given(networks(), st.data())
def test_least_cost(network: Any, data: st.DataObject) -> None:
    n, tail, head, limits = network
    cost = np.array([data.draw(st.integers(-5, 9)) for _ in tail], np.int64)
    demand = np.array([data.draw(st.integers(-5, 5)) for _ in range(n)], np.int64)
    demand[0] -= demand.sum()
    links = [
        (u, v, None if c == UNLIMITED else c, w)
        for u, v, c, w in zip(*(x.tolist() for x in (tail, head, limits, cost)), strict=True)
    ]
    result = min_cost(n, tail, head, limits, cost, demand)
    assert (result.status, result.cost) == least_cost(n, links, demand.tolist())
    if result.status == "optimal":
        check_prices(tail, head, limits, cost, demand, result)


def check_prices(tail: Any, head: Any, limits: Any, cost: Any, demand: Any, r: Any) -> None:
    assert ((r.flow >= 0) & (r.flow <= limits)).all()
    assert inflow(len(demand), tail, head, r.flow) == demand.tolist()
    price = r.prices.tolist()
    for u, v, w, sent, most in zip(
        *(x.tolist() for x in (tail, head, cost, r.flow, limits)), strict=True
    ):
        reduced = w + price[u] - price[v]
        assert sent == most or reduced >= 0
        assert sent == 0 or reduced <= 0
    assert r.cost == sum(f * w for f, w in zip(r.flow.tolist(), cost.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_least_cost_of_larger_networks(seed: int) -> None:
    """Prices prove it; there are degenerate trees, ties and full links."""
    draws = np.random.default_rng(seed)
    n, links = 300, 2500
    tail, head = draws.integers(0, n, (2, links))
    limits, cost = draws.integers(0, 6, links), draws.integers(-2, 5, links)
    sent = draws.integers(0, limits + 1)
    demand = np.bincount(head, sent, n) - np.bincount(tail, sent, n)
    result = min_cost(n, tail, head, limits, cost, demand.astype(np.int64))
    assert result.status == "optimal"
    assert result.cost <= (sent * cost).sum()
    check_prices(tail, head, limits, cost, demand.astype(np.int64), result)


LARGE = 2**62
ENDS: dict[str, tuple[Any, Any, Any, Any, Any]] = {
    "what is sent": ([0, 1], [1, 2], [UNLIMITED, LARGE], [1, 2], [-LARGE, 0, LARGE]),
    "what goes round": ([0, 1], [1, 0], [UNLIMITED - 1, UNLIMITED], [-2, 1], [0, 0]),
    "costs": ([0, 0], [1, 1], [3, 9], [-(2**59), 2**59], [-5, 5]),
    "nothing": ([], [], [], [], [0, 0]),
    "one node": ([0], [0], [7], [-3], [0]),
}


@pytest.mark.parametrize("name", ENDS)
def test_least_cost_at_the_ends_of_int64(name: str) -> None:
    tail, head, limits, cost, demand = (np.array(x, np.int64) for x in ENDS[name])
    result = min_cost(len(demand), tail, head, limits, cost, demand)
    assert result.status == "optimal"
    check_prices(tail, head, limits, cost, demand, result)


TOO_LARGE: dict[str, tuple[Any, Any, Any, Any, Any]] = {
    "demand": ([0, 1], [2, 2], [1, 1], [1, 1], [-LARGE, -LARGE, LARGE, LARGE]),
    "cost": ([0, 1], [1, 0], [1, 1], [2**60, 1], [0, 0]),
    "capacity": ([0, 0, 1], [1, 1, 0], [LARGE, LARGE, UNLIMITED], [-2, -2, 1], [0, 0]),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_does_not_fit_int64(name: str) -> None:
    arrays = (np.array(x, np.int64) for x in TOO_LARGE[name])
    tail, head, limits, cost, demand = arrays
    with pytest.raises(OverflowError, match=f"{name} must"):
        min_cost(len(demand), tail, head, limits, cost, demand)


def test_read_only_arrays_compile_nothing_anew() -> None:
    arrays = [np.array(x, np.int64) for x in ([0, 1], [1, 2], [5, 5], [1, 1], [-1, 0, 1])]
    compiled: list[Any] = []
    max_flow(3, *arrays[:3], 0, 2)
    min_cost(3, *arrays)
    for x in arrays:
        x.flags.writeable = False
    with watching_compilation(lambda name, _: compiled.append(name)):
        assert max_flow(3, *arrays[:3], 0, 2).value == 5
        assert min_cost(3, *arrays).cost == 2
    assert not compiled


def test_demands_that_do_not_add_up_are_infeasible() -> None:
    arrays = [0], [1], [5], [1], [-1, 2]
    assert min_cost(2, *(np.array(x, np.int64) for x in arrays)).status == "infeasible"


def test_flows_are_the_same_in_every_process() -> None:
    """With the compiler and without it, on every machine."""
    draws = np.random.Generator(np.random.PCG64(7))
    tail, head = (draws.random((2, 60)) * 12).astype(np.int64)
    limits, cost = (draws.random((2, 60)) * 9).astype(np.int64)
    demand = np.zeros(12, np.int64)
    demand[[0, 11]] = -6, 6
    greatest = max_flow(12, tail, head, limits, 0, 11)
    cheapest = min_cost(12, tail, head, limits, cost, demand)
    columns = (greatest.flow, greatest.source_side), (cheapest.flow, cheapest.prices)
    assert [zlib.crc32(np.concatenate(pair).tobytes()) for pair in columns] == DIGESTS


# Flows and prices as they were when the other tests proved them right.
DIGESTS = [1876894958, 319163410]
