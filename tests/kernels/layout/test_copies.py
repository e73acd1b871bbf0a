"""Rows of loads to tiles and back, against NumPy."""

import numpy as np
import pytest

from fastlb.accelerate import kernels

# Networks, nodes and lanes: squares whole and cut off, rows shorter than half of a square.
SHAPES = [
    (100, 8, 64),
    (37, 64, 64),
    (70, 24, 64),
    (33, 1, 16),
    (40, 20, 32),
    (5, 3, 16),
    (1, 81, 16),
]


@pytest.mark.parametrize("B, N, W", SHAPES)
@pytest.mark.parametrize(
    "dtypes", [("int64", "int32"), ("int32", "int64"), ("uint8", "int16"), ("float32", "float64")]
)
def test_rows_to_tiles_and_back(B, N, W, dtypes):
    tiles, rng = kernels("layout.tiles"), np.random.default_rng(N)
    rows, place = rng.integers(0, 200, (B, N)).astype(dtypes[0]), rng.permutation(N)
    # One tile more than needed.
    tile = np.full((-(-B // W) + 1, N, W), 7, dtypes[1])
    tiles.load(rows, tile, place)
    expected = np.zeros((len(tile) * W, N), dtypes[1])
    expected[:B] = rows
    assert np.array_equal(tile[:, place].transpose(0, 2, 1).reshape(-1, N), expected)
    back = np.empty_like(rows)
    tiles.store(tile, back, place)
    assert np.array_equal(back, rows)


@pytest.mark.parametrize("B, N, W", SHAPES)
def test_loads_that_lie_within(B, N, W):
    tiles, rng = kernels("layout.tiles"), np.random.default_rng(B)
    rows, place = rng.integers(0, 256, (B, N)), np.arange(N)
    tile = np.empty((-(-B // W), N, W), np.int16)
    assert tiles.load_within(rows, tile, place, 255)
    for value in (256, -1, 2**40):
        outside = rows.copy()
        outside[rng.integers(B), rng.integers(N)] = value
        assert not tiles.load_within(outside, tile, place, 255)
