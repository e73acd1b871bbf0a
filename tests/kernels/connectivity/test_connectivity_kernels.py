"""Kernels of connectivity beside scipy's maximum flow, on graphs of hundreds of nodes."""

import os

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from fastlb.accelerate import kernels


def random_links(n, count, seed):
    """Return both ends of links of a connected random graph, each link once."""
    draws = np.random.default_rng(seed)
    ends = np.concatenate([draws.integers(0, n, (count, 2)), np.stack([np.arange(n)] * 2, axis=1)])
    ends[count:, 1] = (ends[count:, 1] + 1) % n
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    return ends[ends[:, 0] != ends[:, 1]].T.copy()


def both_ways(tail, head):
    return np.concatenate([tail, head]), np.concatenate([head, tail])


def by_scipy(n, tail, head, capacity, source, sink):
    matrix = csr_array((capacity.astype(np.int32), (tail, head)), shape=(n, n))
    return maximum_flow(matrix, source, sink).flow_value


def residual(n, tail, head):
    return kernels("flows.residual").residual_graph(n, tail, head)


@pytest.mark.parametrize("directed", [False, True])
def test_flows_of_pairs_are_scipy_s(directed):
    n = 150
    tail, head = random_links(n, 500, seed=3)
    if not directed:
        tail, head = both_ways(tail, head)
    graph = residual(n, tail, head)
    capacity = (graph.link >= 0).astype(np.int8)
    sources, sinks = np.arange(0, 40), np.arange(140, 100, -1)
    pairs = kernels("connectivity.pairs")
    flows = pairs.flows_of_pairs(graph, capacity, sources, sinks, 1000)
    ones = np.ones(len(tail))
    expected = [by_scipy(n, tail, head, ones, s, t) for s, t in zip(sources, sinks, strict=True)]
    assert flows.tolist() == expected
    assert flows.max() > 3
    assert (
        pairs.flows_of_pairs(graph, capacity, sources, sinks, 2).tolist()
        == np.minimum(expected, 2).tolist()
    )
    falling = pairs.flows_of_pairs(graph, capacity, sources, sinks, 1000, falling=True)
    least = np.minimum.accumulate(expected)
    assert falling.tolist() == [expected[0], *np.minimum(expected[1:], least[:-1] + 1)]
    side = pairs.sink_side(graph, capacity, sources[0], sinks[0])
    assert np.count_nonzero(~side[tail] & side[head]) == expected[0]


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_the_least_cut_on_the_way_is_scipy_s_flow(dtype):
    n = 120
    tail, head = random_links(n, 300, seed=5)
    weight = np.random.default_rng(5).integers(1, 30, len(tail))
    tails, heads = both_ways(tail, head)
    graph = residual(n, tails, heads)
    capacity = np.concatenate([weight, weight])[graph.link].astype(dtype)
    tree = kernels("connectivity.cut_tree").cut_tree(graph, capacity, dtype(10**6))
    parent, cut = (array.tolist() for array in tree)

    def least(u, v):
        above = [u]
        while above[-1] != 0:
            above.append(parent[above[-1]])
        cuts = []
        while v not in above:
            cuts.append(cut[v])
            v = parent[v]
        return min(cuts + [cut[node] for node in above[: above.index(v)]])

    for u, v in [(3, 90), (17, 18), (1, 119), (60, 61), (0, 5), (44, 100)]:
        flow = by_scipy(n, tails, heads, np.concatenate([weight, weight]), u, v)
        assert least(u, v) == flow


@pytest.mark.parametrize("seed", range(8))
def test_few_orders_find_the_least_cut_of_all_phases(seed):
    n = 10 + 12 * seed
    tail, head = random_links(n, 2 * n, seed)
    weight = np.random.default_rng(seed).integers(0, 8, len(tail))
    kernel = kernels("connectivity.global_cut")
    cuts, merged = kernel.cuts_of_phases(n, tail, head, weight, every=True)
    assert len(cuts) == n - 1
    first, merged_first = kernel.cuts_of_phases(n, tail, head, weight)
    assert first[-1] == cuts.min()
    assert len(first) == np.argmin(cuts) + 1
    assert (merged_first == merged[: len(first)]).all()


def long_pairs():
    tail, head = both_ways(*random_links(4000, 40_000, seed=1))
    graph = residual(4000, tail, head)
    capacity = (graph.link >= 0).astype(np.int8)
    sources = np.arange(2000)
    kernels("connectivity.pairs").flows_of_pairs(graph, capacity, sources, sources[::-1] + 2000, 99)


def long_tree():
    tail, head = both_ways(*random_links(1500, 6000, seed=1))
    graph = residual(1500, tail, head)
    kernels("connectivity.cut_tree").cut_tree(graph, np.ones(len(tail), np.int64), np.int64(10**5))


def long_phases():
    tail, head = random_links(1500, 6000, seed=1)
    weight = np.ones(len(tail), np.int64)
    kernels("connectivity.global_cut").cuts_of_phases(1500, tail, head, weight, every=True)


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="needs kernels")
@pytest.mark.parametrize("call", [long_pairs, long_tree, long_phases])
def test_long_kernels_ask_whether_to_go_on(call, monkeypatch):
    class RungError(Exception):
        pass

    def ring():
        raise RungError

    interrupts = kernels("shared.interrupts")
    monkeypatch.setattr(interrupts, "ask", ring)
    with pytest.raises(RungError):
        call()
    assert not interrupts._raised
