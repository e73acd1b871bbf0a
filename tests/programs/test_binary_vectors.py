"""The vector helpers of the 0-1 kernels mean what their plain twins say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from fastlb.accelerate import kernels

binary = kernels("programs.enumerate")
few = kernels("programs.few_variables")


@njit
def up_to(sums: Any, row: int, most: Any) -> Any:
    return binary._lanes_up_to_vector(sums, row, most)


@njit
def fill(sums: Any, row: int, v: Any) -> None:
    binary._fill_lanes_vector(sums, row, v[0], v[1], v[2], v[3], v[4], v[5])


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
def test_comparison_and_sums_over_lanes(kind: Any) -> None:
    chance = np.random.default_rng(1)
    for _ in range(50):
        values = chance.integers(-100, 100, 6).astype(kind)
        found, expected = np.zeros((2, 3, 64), dtype=kind)
        fill(found, 1, values)
        binary._fill_lanes(expected, 1, *values)
        assert np.array_equal(found, expected)
        assert found[1, 0b100101] == values[0] + values[2] + values[5]
        most = kind(chance.integers(-300, 300))
        assert up_to(found, 1, most) == binary._lanes_up_to(found, 1, most)
        for word in (int(chance.integers(1, 2**63)), 1 << 63, 1):
            assert binary._lowest(np.uint64(word)) == (word & -word).bit_length() - 1


@njit
def lay_out(source: Any, stride: int, places: Any, tile: Any, lane: int, seen: Any) -> None:
    few._lay_out_vectors(source, 2, stride, places, 1, tile, lane, seen)


@njit
def try_patterns(tile: Any, base: Any, m: int, best: Any) -> None:
    for block in range(len(base)):
        few._try_patterns_vectors(tile, base, block, m, best)


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
def test_programs_laid_out_in_lanes(kind: Any) -> None:
    chance = np.random.default_rng(2)
    width = few.LINE // np.dtype(kind).itemsize
    for stride in (1, 5, 13):
        source = chance.integers(-(2**63), 2**63 - 1, 2 + 7 * stride + 9)
        places = chance.permutation(12)
        found, expected = np.zeros((2, 12, width), dtype=kind)
        ranges = np.zeros((2, 2, 8), dtype=np.int64)
        lay_out(source, stride, places, found, width - 8, ranges[0])
        few._lay_out(source, 2, stride, places, 1, expected, width - 8, ranges[1])
        assert np.array_equal(found, expected)
        assert np.array_equal(*ranges)


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("m", [0, 1, 2, 5])
def test_patterns_tried_in_lanes(kind: Any, m: int) -> None:
    chance = np.random.default_rng(3)
    width = few.LINE // np.dtype(kind).itemsize
    for _ in range(20):
        tile = few._lines(few.LOW * (m + 1), np.zeros(0, kind)).reshape(-1, width)
        base = few._lines(3 * (m + 1), np.zeros(0, kind)).reshape(3, -1)
        tile[:] = chance.integers(-9, 10, tile.shape)
        base[:] = chance.integers(-15, 16, base.shape)
        found, expected = (few._lines(2, np.zeros(0, kind)).reshape(2, width) for _ in range(2))
        found[0] = expected[0] = np.iinfo(kind).max
        try_patterns(tile, base, m, found)
        for block in range(3):
            few._try_patterns(tile, base, block, m, expected)
        assert np.array_equal(found, expected)
