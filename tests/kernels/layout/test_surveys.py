"""Totals and extremes of rows and of tiles, by the kernels and by NumPy."""

import numpy as np
import pytest

from fastlb.accelerate import kernels
from fastlb.exchange import loads


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("K, N, W", [(3, 5, 16), (2, 1, 96), (1, 40, 80)])
def test_totals_and_extremes_of_lanes(K, N, W, dtype):
    top = min(np.iinfo(dtype).max, 2**57)
    tiles = np.random.default_rng(N).integers(0, top, (K, N, W), endpoint=True).astype(dtype)
    tiles[0, :, 3] = top
    out = np.full((3, K * W), -1)
    result = kernels("layout.figures").survey(tiles, out)
    rows = tiles.transpose(0, 2, 1).reshape(K * W, N).astype(np.int64)
    assert np.array_equal(out, [rows.sum(axis=1), rows.min(axis=1), rows.max(axis=1)])
    assert result == (out[0].max(), out[2].max())


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", "float32", "float64"])
@pytest.mark.parametrize("by_numpy", [True, False])
def test_surveys_of_rows(dtype, by_numpy, monkeypatch):
    monkeypatch.setattr(loads, "SUMMED_BY_NUMPY", 2**12 if by_numpy else 0)
    rows = (np.random.default_rng(1).random((7, 33)) * 100).astype(dtype)
    total, smallest, largest = loads.survey(rows)
    wide = rows.astype(total.dtype)
    # Floats are added up one after the other.
    assert np.array_equal(total, np.cumsum(wide, axis=1)[:, -1])
    assert np.array_equal(smallest, wide.min(axis=1))
    assert np.array_equal(largest, wide.max(axis=1))
    after = loads.survey_after(loads.Survey(total, smallest, largest), rows)
    assert all(map(np.array_equal, after, (total, smallest, largest)))


@pytest.mark.parametrize("by_numpy", [True, False])
@pytest.mark.parametrize(
    "dtype, row, error",
    [
        ("int64", [1, -1, 0], ValueError),
        ("float64", [1, np.nan, 0], ValueError),
        ("float32", [np.inf, 1, 0], ValueError),
        ("uint64", [2**63, 0, 0], OverflowError),
        ("int64", [2**62, 2**62, 0], OverflowError),
        ("float64", [1e308, 1e308, 0], OverflowError),
    ],
)
def test_rows_that_are_refused(dtype, row, error, by_numpy, monkeypatch):
    monkeypatch.setattr(loads, "SUMMED_BY_NUMPY", 2**12 if by_numpy else 0)
    rows = np.array([[1, 2, 3], row, [4, 5, 6]], dtype)
    with pytest.raises(error, match=r"at node|in row 1"):
        loads.survey(rows)
    assert not loads.all_within(rows, 10)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_the_largest_totals(dtype):
    top = float(np.finfo(dtype).max) if dtype == "float64" else 2**63 - 1
    rows = np.array([[top, 0, 0], [0, 0, 1]], dtype)
    assert loads.survey(rows).total.tolist() == [top, 1]
    assert loads.all_within(rows, top)
