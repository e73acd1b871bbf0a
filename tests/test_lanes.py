"""The vector helpers of the 0-1 kernels mean what their plain twins say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from fastlb.accelerate import kernels

lanes = kernels("binary")
few = kernels("few_variables")


@njit
def up_to(sums: Any, row: int, most: Any) -> Any:
    return lanes._lanes_up_to_vector(sums, row, most)


@njit
def fill(sums: Any, row: int, v: Any) -> None:
    lanes._fill_lanes_vector(sums, row, v[0], v[1], v[2], v[3], v[4], v[5])


@njit
def lowest(word: Any) -> Any:
    return lanes._lowest_vector(word)


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
def test_comparison_and_sums_over_lanes(kind: Any) -> None:
    chance = np.random.default_rng(1)
    for _ in range(50):
        values = chance.integers(-100, 100, 6).astype(kind)
        found, expected = np.zeros((2, 3, 64), dtype=kind)
        fill(found, 1, values)
        lanes._fill_lanes(expected, 1, *values)
        assert np.array_equal(found, expected)
        assert found[1, 0b100101] == values[0] + values[2] + values[5]
        most = kind(chance.integers(-300, 300))
        assert up_to(found, 1, most) == lanes._lanes_up_to(found, 1, most)
        for word in (int(chance.integers(1, 2**63)), 1 << 63, 1):
            assert lowest(np.uint64(word)) == lanes._lowest(np.uint64(word))


@njit
def meeting(start: Any, v: Any) -> Any:
    return few._meeting_vector(start, v[0], v[1], v[2], v[3], v[4])


@njit
def cheapest(alive: Any, start: Any, v: Any) -> Any:
    return few._cheapest_vector(alive, start, v[0], v[1], v[2], v[3], v[4])


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
def test_rows_and_costs_in_registers(kind: Any) -> None:
    chance = np.random.default_rng(2)
    for _ in range(100):
        start, values = kind(chance.integers(-50, 50)), chance.integers(-30, 30, 5).astype(kind)
        assert meeting(start, values) == few._meeting(start, *values)
        alive = np.uint32(chance.integers(1, 2**32) & chance.integers(1, 2**32) | 1 << 31)
        assert cheapest(alive, start, values) == few._cheapest(alive, start, *values)
    assert cheapest(np.uint32(2**32 - 1), kind(3), np.zeros(5, kind)) == (3, 0)
