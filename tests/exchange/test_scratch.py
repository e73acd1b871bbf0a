"""Memory of a thread: what works in it has it to itself, whoever comes in between."""

from __future__ import annotations

import signal
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


def test_a_handler_is_not_handed_out_what_is_about_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    size = 2**20
    scratch.handed_out(size)
    held: list[Any] = []
    look_up = scratch.weakref.ref

    def interrupted(lent: Any) -> Any:
        if not held:
            held.append(None)
            held[0] = scratch.handed_out(size)
        return look_up(lent)

    monkeypatch.setattr(scratch.weakref, "ref", interrupted)
    outer = scratch.handed_out(size)
    assert not np.shares_memory(outer, held[0])
