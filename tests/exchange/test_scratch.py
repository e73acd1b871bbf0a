"""Memory of a thread: what works in it has it to itself, whoever comes in between."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.exchange import fault_batches, scratch

CUBE = lb.Hypercube(3, faults=[(0, 4), (5, 7)])


def batch(seed: int, top: int) -> Any:
    return np.random.default_rng(seed).integers(0, top, (41, 8))


@pytest.mark.parametrize("record", ["loads", "metrics"])
@pytest.mark.parametrize("top", [100, 10**6, 2**40])
def test_a_signals_handler_may_balance_too(
    record: str, top: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = lb.fault_tolerant_dem(batch(1, top), CUBE, record=record).to_dict()
    inner = lb.fault_tolerant_dem(batch(2, top), CUBE, record=record).to_dict()
    found: list[Any] = []
    raised: list[int] = []

    def handler(*_: Any) -> None:
        found.append(lb.fault_tolerant_dem(batch(2, top), CUBE, record=record).to_dict())
        lb.fault_tolerant_dem(batch(3, top)[0], CUBE, record=record)

    carry_out = fault_batches.carry_out

    def interrupted(*arguments: Any) -> Any:
        if not raised:
            raised.append(1)
            signal.raise_signal(signal.SIGINT)
        return carry_out(*arguments)

    monkeypatch.setattr(fault_batches, "carry_out", interrupted)
    before = signal.signal(signal.SIGINT, handler)
    try:
        outer = lb.fault_tolerant_dem(batch(1, top), CUBE, record=record).to_dict()
    finally:
        signal.signal(signal.SIGINT, before)
    assert outer == expected
    assert found[0] == inner


def test_scratch_is_had_again_after_an_error() -> None:
    places: list[int] = []

    @scratch.with_own_scratch
    def work(*, fail: bool) -> None:
        places.append(scratch.scratch("test", (100,), np.int64).ctypes.data)
        if fail:
            raise ValueError("no")

    work(fail=False)
    with pytest.raises(ValueError, match="no"):
        work(fail=True)
    work(fail=False)
    assert len(set(places)) == 1


def test_a_handler_gets_other_memory_than_the_result_that_it_interrupts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = 2**20
    scratch.result_bytes(size)
    held: list[Any] = []
    look_up = scratch.weakref.ref

    def interrupted(lent: Any) -> Any:
        if not held:
            held.append(None)
            held[0] = scratch.result_bytes(size)
        return look_up(lent)

    monkeypatch.setattr(scratch.weakref, "ref", interrupted)
    outer = scratch.result_bytes(size)
    assert not np.shares_memory(outer, held[0])


def test_the_same_again_is_the_same_array() -> None:
    first = scratch.scratch("test", (3, 5), np.int64)
    assert scratch.scratch("test", (3, 5), np.int64) is first
    assert first.shape == (3, 5)
    assert first.dtype == np.int64
    assert first.ctypes.data % scratch.LINE == 0


def test_another_shape_or_dtype_takes_the_same_memory() -> None:
    first = scratch.scratch("test", (4, 6), np.int64)
    for shape, dtype in (((24,), np.int64), ((4, 6), np.float64), ((2, 3), np.int16)):
        other = scratch.scratch("test", shape, dtype)
        assert other.shape == shape
        assert other.dtype == dtype
        assert np.shares_memory(other, first)
    assert scratch.scratch("test", (4, 6), np.int64).dtype == np.int64


def test_more_memory_than_before_is_fresh_and_kept() -> None:
    small = scratch.scratch("test of growth", (8,), np.int32)
    large = scratch.scratch("test of growth", (4096,), np.int32)
    assert large.size == 4096
    assert not np.shares_memory(small, large)
    assert np.shares_memory(scratch.scratch("test of growth", (8,), np.int32), large)


def test_names_and_threads_have_memory_of_their_own() -> None:
    mine = scratch.scratch("test", (16,), np.int64)
    assert not np.shares_memory(mine, scratch.scratch("another test", (16,), np.int64))
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(scratch.scratch, "test", (16,), np.int64).result()
    assert not np.shares_memory(mine, theirs)
