"""In which dtype loads are computed with: one plan for all methods."""

from types import SimpleNamespace

import numpy as np
import pytest

from fastlb.exchange.casting import (
    INT16,
    INT32,
    INT32_MAX,
    INT64,
    INT64_MAX,
    copy_back,
    lane_dtype,
    least_dtype,
    row_dtype,
    signed,
    source_for,
    units_dtype,
)

INTEGERS = [f"{kind}{width}" for kind in "iu" for width in (1, 2, 4, 8)]
HUGE = float(np.finfo(np.float32).max)


@pytest.mark.parametrize("dtype", [*INTEGERS, "f4", "f8"])
def test_a_row_is_computed_in_a_dtype_that_holds_it_and_kernels_are_compiled_for(dtype):
    rows = np.ones((2, 3), dtype)
    chosen = row_dtype(rows)
    assert chosen in ("i4", "i8", "u8", "f4", "f8")
    assert np.can_cast(rows.dtype, chosen)
    assert units_dtype(rows) == ("f8" if rows.dtype.kind == "f" else "i8")


def test_large_float32_loads_are_added_up_in_float64():
    assert row_dtype(np.array([[HUGE, 1]], np.float32)) == "f8"
    assert row_dtype(np.array([[HUGE / 2, 1]], np.float32)) == "f4"


def test_the_least_dtype_holds_the_largest_number():
    assert least_dtype(INT64, INT32_MAX) == INT32
    assert least_dtype(np.dtype("u1"), INT32_MAX + 1) == INT64
    assert least_dtype(np.dtype("f4"), 0) == "f8"
    kernel = SimpleNamespace(NARROW=1000, NARROW_LANES=32)
    assert lane_dtype(kernel, 1000, INT32_MAX, 64) == INT16
    assert lane_dtype(kernel, 1001, INT32_MAX, 64) == INT32
    assert lane_dtype(kernel, 1000, INT32_MAX, 48) == INT32
    assert lane_dtype(kernel, 1, INT32_MAX + 1, 64) == INT64
    assert lane_dtype(kernel, 1, INT64_MAX + 1) is None


def test_unsigned_loads_are_read_as_signed_of_the_same_width_alone():
    rows = np.array([[2**63]], np.uint64)
    assert signed(rows).dtype.kind in "iu"
    assert np.shares_memory(signed(rows), rows)
    assert source_for(np.array([[255]], np.uint8), rows).dtype == np.uint8


def test_results_are_copied_back_unless_they_are_there():
    rows = np.zeros((1, 2), np.uint8)
    copy_back(np.array([[3, 255]], np.int32), rows)
    assert rows.tolist() == [[3, 255]]
    copy_back(rows, rows)
