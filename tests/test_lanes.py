"""The vector helpers of the 0-1 kernels mean what their plain twins say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from fastlb.accelerate import kernels

lanes = kernels("binary")


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
