"""Loops that ask: how far they come once they are to end, and that asking changes no result."""

import numpy as np
import pytest

from fastlb.kernels.shared import interrupts
from fastlb.kernels.shared.interrupts import long_fori, long_kernel, new_meter
from fastlb.kernels.shared.tracing import traced


@traced("step", "stretch")
def _count(out, step, stretch, meter):
    """Set every ``step``-th element to the turns before it."""

    def turn(i, turns):
        out[i] = turns
        return [turns + 1]

    (turns,) = long_fori(meter, out.shape[0], turn, 0, step=step, stretch=stretch)
    out[0] = turns


@long_kernel
def count_by_ones(out):
    _count(out, 1, 8, new_meter())


@long_kernel
def count_by_fours(out):
    _count(out, 4, 8, new_meter())


@pytest.mark.parametrize(("kernel", "step"), [(count_by_ones, 1), (count_by_fours, 4)])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 16, 100])
def test_a_loop_that_asks_is_that_loop(kernel, step, size, monkeypatch):
    asked = []
    monkeypatch.setattr(interrupts, "ask", lambda: asked.append(True))
    out = np.full(size, -1)
    kernel(out)
    expected = np.full(size, -1)
    expected[::step] = range(len(expected[::step]))
    expected[0] = len(expected[::step])
    assert np.array_equal(out, expected)
    assert len(asked) == (size - 1) // 8


@pytest.mark.parametrize("asks", [1, 2, 5])
def test_a_loop_ends_at_the_first_ask_that_raises(asks, monkeypatch):
    class RungError(Exception):
        pass

    left = [True] * (asks - 1)

    def ask():
        if not left:
            raise RungError
        left.pop()

    monkeypatch.setattr(interrupts, "ask", ask)
    out = np.full(100, -1)
    with pytest.raises(RungError):
        count_by_ones(out)
    assert np.count_nonzero(out >= 0) == 8 * asks
