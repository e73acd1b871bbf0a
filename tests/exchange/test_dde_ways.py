"""DDE takes other ways for one plain network, for small loads and for large results."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.exchange import result, scratch
from tests.oracles import dde

INT32_MAX = 2**31 - 1


def expected(loads: Any, topology: lb.Grid) -> Any:
    return dde.dde(loads.ravel().tolist(), topology.shape, topology.wrap).loads


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (16, 16), (17, 3), (4, 1, 33), (40, 16), (1, 1)])
@pytest.mark.parametrize("largest", [9, "limit", "above", 2**40])
def test_one_plain_network(shape: Any, largest: Any) -> None:
    topology = lb.Torus(*shape)
    limit = INT32_MAX // max(shape)
    top = {"limit": limit, "above": limit + 1}.get(largest, largest)
    chance = np.random.default_rng(5)
    for loads in (
        chance.integers(0, top, shape, endpoint=True),
        np.full(shape, top),
        np.where(np.arange(topology.size).reshape(shape) == topology.size - 1, top, 0),
    ):
        wanted = expected(loads, topology)
        whole = lb.dde(loads, topology)
        assert whole.loads.ravel().tolist() == wanted
        for given in (loads, loads[None], loads.reshape(1, -1), loads.T.copy().T):
            alone = lb.dde(given, topology, record="loads")
            assert alone.loads.shape == given.shape
            assert alone.loads.ravel().tolist() == wanted
        into = np.empty_like(loads)
        assert lb.dde(loads, topology, record="loads", out=into).loads is into
        assert into.ravel().tolist() == wanted
        own = loads.copy()
        assert lb.dde(own, topology, record="loads", out=own).loads is own
        assert own.ravel().tolist() == wanted


def test_one_network_whose_result_overlaps_its_loads() -> None:
    room = np.random.default_rng(6).integers(0, 99, 300)
    loads, out = room[:256].reshape(16, 16), room[7:263].reshape(16, 16)
    wanted = expected(loads, lb.Torus(16, 16))
    lb.dde(loads, lb.Torus(16, 16), record="loads", out=out)
    assert out.ravel().tolist() == wanted


@pytest.mark.parametrize("place", [0, 15, 16, 255, 256, 271])
def test_what_is_refused_leaves_the_loads_as_they_are(place: int) -> None:
    loads = np.ones((17, 16), np.int64)
    loads.flat[place] = -1
    before = loads.copy()
    with pytest.raises(ValueError, match=f"got -1 at node {place}"):
        lb.dde(loads, lb.Torus(17, 16), record="loads", out=loads)
    assert np.array_equal(loads, before)
    loads.flat[place] = 2**62
    with pytest.raises(OverflowError):
        lb.dde(loads * 2 - 1, lb.Torus(17, 16), record="loads")


def test_one_network_and_arguments_that_do_not_fit() -> None:
    loads, torus = np.ones((4, 4), np.int64), lb.Torus(4, 4)
    with pytest.raises(ValueError, match="exchange must be one of"):
        lb.dde(loads, torus, record="loads", exchange="neither")
    with pytest.raises(ValueError, match="loads must have shape"):
        lb.dde(np.ones((2, 8), np.int64), torus, record="loads")
    with pytest.raises(ValueError, match="out must have"):
        lb.dde(loads, torus, record="loads", out=np.ones((4, 5), np.int64))


def same(a: Any, b: Any) -> bool:
    """Tell whether two results are equal, their figures of the same types."""
    kinds = [
        [type(getattr(b, name)) for name in result.RECORDED_WITH if name in dir(b)] for b in (a, b)
    ]
    return kinds[0] == kinds[1] and a.to_dict() == b.to_dict()


@pytest.mark.parametrize("exchange", ["rbs", "sbr"])
@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 9)])
@pytest.mark.parametrize("shape", [(7,), (16, 16, 3), (3, 16, 16), (16, 1, 32), (5, 4)])
def test_small_plain_loads_and_the_whole_way(shape: Any, batch: Any, exchange: str) -> None:
    grid = lb.Grid(shape, wrap=[axis != 1 for axis in range(len(shape))])
    chance = np.random.default_rng(7)
    limit = INT32_MAX // max(shape) // grid.size
    for top in (0, 9, limit, limit + 1):
        loads = chance.integers(0, top, (*batch, *shape), endpoint=True)
        loads.flat[-1] = top
        for record in ("metrics", "flows"):
            whole = lb.dde(loads, grid, axes=range(len(shape)), exchange=exchange, record=record)
            for kind in (np.int64, np.int32):
                plain = loads.astype(kind)
                b = lb.dde(plain, grid, exchange=exchange, record=record)
                assert b.loads.dtype == kind
                assert same(b, whole)
                assert (
                    lb.dde(plain, grid, exchange=exchange, record=record, out=plain).loads is plain
                )
                assert np.array_equal(plain, whole.loads)
            flat = loads.reshape(*batch, -1)
            assert np.array_equal(
                lb.dde(flat, grid, record=record).loads.ravel(), whole.loads.ravel()
            )
    row = loads.reshape(-1, grid.size)[-1].tolist()
    twin = dde.dde(row, shape, grid.wrap, mode=exchange)
    assert whole.flows.reshape(-1, len(shape), grid.size)[-1].tolist() == twin.flows
    assert (np.ravel(whole.moved)[-1], np.ravel(whole.local)[-1]) == (twin.moved, twin.local)


def test_networks_whose_results_overlap_the_loads_of_the_next() -> None:
    room = np.random.default_rng(8).integers(0, 99, 5 * 64)
    loads, out = room[:256].reshape(4, 8, 8), room[40:296].reshape(4, 8, 8)
    whole = lb.dde(loads.copy(), lb.Torus(8, 8), record="flows")
    found = lb.dde(loads, lb.Torus(8, 8), record="flows", out=out)
    assert found.loads is out
    assert same(found, whole)


@pytest.mark.parametrize("place", [0, 271, 272 + 15, 2 * 272 - 1])
@pytest.mark.parametrize("trials", [1, 2])
def test_what_is_refused_with_figures_leaves_all_as_it_is(place: int, trials: int) -> None:
    loads = np.ones((trials, 17, 16), np.int64)
    loads.flat[place % loads.size] = -1
    before = loads.copy()
    with pytest.raises(ValueError, match="got -1 at node"):
        lb.dde(loads, lb.Torus(17, 16), out=loads)
    assert np.array_equal(loads, before)


@pytest.mark.parametrize("above", [0, 1])
@pytest.mark.parametrize("trials", [1, 3, 17])
def test_totals_at_the_limit_of_32_bits(trials: int, above: int) -> None:
    """Units of an axis may be its length times the total; that decides between 32 and 64 bits."""
    torus = lb.Torus(16, 3)
    loads = np.zeros((trials, 16, 3), np.int64)
    loads[-1, 8, 1] = INT32_MAX // 16 + above
    b = lb.dde(loads, torus, record="flows")
    twin = dde.dde(loads[-1].ravel().tolist(), torus.shape, torus.wrap)
    assert b.loads[-1].ravel().tolist() == twin.loads
    assert b.flows[-1].reshape(2, -1).tolist() == twin.flows
    assert (b.moved[-1], b.local[-1]) == (twin.moved, twin.local)


def large(seed: int) -> lb.Balance:
    loads = np.random.default_rng(seed).integers(0, 99, (8, 32, 32))
    return lb.dde(loads, lb.Torus(32, 32), record="flows")


def test_large_results_that_are_held_stay_as_they_are() -> None:
    first = large(1)
    flows, stages = first.flows.copy(), first.stages.copy()
    row = large(2).flows[3, 1, :5]
    kept = row.copy()
    large(3), large(4)
    assert np.array_equal(first.flows, flows)
    assert np.array_equal(first.stages, stages)
    assert np.array_equal(row, kept)


def test_memory_of_a_result_is_reused_once_no_view_of_it_exists() -> None:
    size = 3 * 2**20

    def place(view: Any) -> int:
        return int(view.ctypes.data)

    held = scratch.result_bytes(size)
    part = held[10:20].view(np.int16).reshape(5, 1)
    first = place(held)
    assert first % scratch.HUGE_PAGE == 0
    del held
    assert place(scratch.result_bytes(size)) != first
    del part
    again = scratch.result_bytes(size)
    other: list[int] = []
    thread = threading.Thread(target=lambda: other.append(place(scratch.result_bytes(size))))
    thread.start()
    thread.join()
    assert other[0] != place(again)
    last = place(again)
    del again
    assert place(scratch.result_bytes(size // 2)) == last
    assert scratch.result_bytes(scratch.MOST_REUSED_BYTES + 1).size == scratch.MOST_REUSED_BYTES + 1
    assert place(scratch.result_bytes(size)) == last


def test_what_lies_below_the_base_of_a_view_holds_the_memory_too() -> None:
    size = 3 * 2**20
    view = scratch.result_bytes(size)[7:].view(np.int8)
    view[:] = 5
    root: Any = view
    while getattr(root, "base", None) is not None:
        root = root.base
    del view
    scratch.result_bytes(size)[:] = 0
    assert set(bytes(root[7:100])) == {5}
