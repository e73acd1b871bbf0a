"""DEM alone: bounds, fixed points, faulty links, real loads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours
from tests.oracles import dem, topology


@given(st.data())
def test_difference_is_at_most_n(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 9))
    loads = data.draw(ours.integer_loads(2**n))
    assert lb.dem(loads, lb.Hypercube(n)).difference[0] <= n


@given(st.data())
def test_pairs_need_no_total(data: st.DataObject) -> None:
    """Final loads are exact up to the dtype's limit, where a total would overflow."""
    n = data.draw(st.integers(0, 5))
    dims = data.draw(st.none() | st.permutations(range(n)))
    dtype = data.draw(st.sampled_from(["int64", "uint64"]))
    loads = data.draw(ours.integer_loads(2**n, dtype=dtype, whole_range=True))[0]
    r = dem.dem(loads.tolist(), n, dims)
    final = lb.dem(loads, lb.Hypercube(n), dims=dims, record="loads").loads
    assert final.tolist() == r.loads
    if max(sum(loads.tolist()), r.moved) <= ours.INT64_MAX:
        assert lb.dem(loads, lb.Hypercube(n), dims=dims).moved == r.moved
    else:
        with pytest.raises(OverflowError):
            lb.dem(loads, lb.Hypercube(n), dims=dims)


@given(st.data())
def test_a_balanced_system_stays(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    level = data.draw(st.integers(0, 10**6))
    loads = level + data.draw(ours.integer_loads(2**n, dtype="int64")) % 2
    b = lb.dem(loads, lb.Hypercube(n))
    assert b.loads.tolist() == loads.tolist()
    assert (b.moved[0], b.cost[0], b.locality[0]) == (0, 0.0, 1.0)


def test_a_fixed_point_that_is_not_within_one() -> None:
    b = lb.dem(np.array([2, 1, 1, 0]), lb.Hypercube(2))
    assert b.loads.tolist() == [2, 1, 1, 0]
    assert b.difference == 2


@given(st.data())
def test_faulty_links_are_skipped(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 5))
    faults = data.draw(st.lists(st.sampled_from(topology.hypercube_links(n)), max_size=6))
    dims = data.draw(st.none() | st.permutations(range(n)))
    loads = data.draw(ours.integer_loads(2**n, batch=2, dtype="int32"))
    b = lb.dem(loads, lb.Hypercube(n, faults=faults), dims=dims, record="flows")
    for i, row in enumerate(loads.tolist()):
        r = dem.dem(row, n, dims, faults=faults)
        assert b.loads[i].tolist() == r.loads
        assert (b.moved[i], b.local[i]) == (r.moved, r.local)
        assert b.flows[i].reshape(n, 2**n).tolist() == r.flows


ORDERS = [None, (*range(7), 12, *range(7, 12)), (0, 1, 3, 2, *range(4, 13))]


@pytest.mark.parametrize("dims", ORDERS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_faulty_links_in_several_blocks(dims, dtype):
    """Low bits are balanced block by block, in which nodes change places; figures add up."""
    n, rng = 13, np.random.default_rng(13)
    faults = [(0, 1), (0, 2), (4095, 2047), (4096, 4097), (4096, 6144), (8191, 4095), (5, 4101)]
    for bit in rng.integers(0, n, 40).tolist():
        node = int(rng.integers(0, 2**n)) & ~(1 << bit)
        faults.append((node, node | 1 << bit))
    loads = rng.integers(0, 2000, 2**n).astype(dtype)
    for broken in (faults, []):
        cube = lb.Hypercube(n, faults=broken)
        r = dem.dem(loads.tolist(), n, dims, faults=broken)
        assert lb.dem(loads, cube, dims=dims, record="loads").loads.tolist() == r.loads
        b = lb.dem(loads, cube, dims=dims)
        assert b.loads.tolist() == r.loads
        assert (b.moved, b.local) == (r.moved, r.local)


@given(st.data())
def test_real_loads_take_exact_means(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 5))
    dtype = data.draw(st.sampled_from(ours.FLOATS))
    dims = data.draw(st.none() | st.permutations(range(n)))
    loads = data.draw(ours.integer_loads(2**n, batch=2, dtype="uint16")).astype(dtype)
    b = lb.dem(loads, lb.Hypercube(n), dims=dims, record="flows")
    assert b.loads.dtype == dtype
    for i, row in enumerate(loads.tolist()):
        r = dem.dem(row, n, dims, real=True)
        assert b.loads[i].tolist() == r.loads
        assert (b.moved[i], b.local[i]) == (r.moved, r.local)
        assert b.flows[i].reshape(n, 2**n).tolist() == r.flows
        assert b.difference[i] == 0
    assert b.moved.dtype == b.local.dtype == b.difference.dtype == np.float64


@given(st.data())
def test_any_real_loads_end_at_the_mean(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    loads = rng.random((3, 2**n)) * 10.0 ** rng.integers(-8, 9)
    b = lb.dem(loads, lb.Hypercube(n))
    assert b.loads == pytest.approx(np.repeat(loads.mean(axis=1)[:, None], 2**n, axis=1))


def test_order_of_dims_is_the_callers() -> None:
    loads = np.array([0, 0, 0, 2])
    assert lb.dem(loads, lb.Hypercube(2)).loads.tolist() == [0, 0, 1, 1]
    assert lb.dem(loads, lb.Hypercube(2), dims=(0, 1)).loads.tolist() == [0, 0, 1, 1]
    assert lb.dem(loads, lb.Hypercube(2), dims=(1, 0)).loads.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("n", [5, 6, 9, 12, 13, 18])
@pytest.mark.parametrize("top", [2**31 - 1, 2**31])
def test_loads_at_the_edge_of_32_bits(n, top):
    """Up to 2**31 - 1 the kernel computes in 32 bits; a batch is no whole number of blocks."""
    loads = np.random.default_rng(n).integers(0, top, (3, 2**n), endpoint=True)
    loads[0, :2], loads[2, -1] = (top, top - 1), top
    cube = lb.Hypercube(n)
    wanted = lb.dem(loads, cube).loads
    assert np.array_equal(lb.dem(loads, cube, record="loads").loads, wanted)
    assert np.array_equal(lb.dem(loads, cube, record="loads", out=loads).loads, wanted)
