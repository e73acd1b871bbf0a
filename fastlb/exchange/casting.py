"""The dtype in which a method computes, and the casts of loads to it and back.

===================================  ===============================================================
units, totals                        ``units_dtype``: int64, float64 for real loads
rows, balanced one after the other   ``row_dtype``: the loads' own, if kernels are compiled for it
tiles and workspaces                 ``least_dtype``: the narrower of int32 and int64 that suffices
tiles with sums in another array     ``lane_dtype``: int16 as well, which doubles the lanes
===================================  ===============================================================

Kernels are compiled for few dtypes. Loads of other dtypes are cast, or unsigned ones viewed as
signed integers. Results fit the loads' own dtype, as no load exceeds the largest one or the total.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..pages import copy_into

if TYPE_CHECKING:
    from numpy.typing import NDArray

INT16, INT32, INT64 = np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.int64)
FLOAT64 = np.dtype(np.float64)
INT16_MAX, INT32_MAX, INT64_MAX = 2**15 - 1, 2**31 - 1, 2**63 - 1


def units_dtype(rows: NDArray[Any]) -> np.dtype[Any]:
    """Return the dtype of units of these loads: int64, or float64 for floats."""
    return FLOAT64 if rows.dtype.kind == "f" else INT64


def row_dtype(rows: NDArray[Any]) -> np.dtype[Any]:
    """Return the loads' own dtype, or a wider one where no kernel is compiled for it.

    Sums of two float32 loads beyond half of the largest float32 need float64.
    """
    dtype = rows.dtype
    if dtype == np.float32 and rows.max(initial=0) > np.finfo(np.float32).max / 2:
        return FLOAT64
    if dtype.itemsize < 4:
        return INT32
    return INT64 if dtype == np.uint32 else dtype


def least_dtype(dtype: np.dtype[Any], largest: float) -> np.dtype[Any]:
    """Return float64 for real loads, else int32 where it holds ``largest``, otherwise int64.

    A narrower dtype has more lanes in a vector; only two dtypes keep compilations few.
    """
    if dtype.kind == "f":
        return FLOAT64
    return INT32 if largest <= INT32_MAX else INT64


def lane_dtype(kernel: Any, largest: int, summed: int, W: int = 0) -> np.dtype[Any] | None:
    """Return the narrowest dtype of integer loads in tiles ``W`` lanes wide, or None.

    Parameters
    ----------
    kernel : module
        ``kernel.NARROW`` is the largest load for 16-bit lanes, which need tiles of a multiple of
        ``kernel.NARROW_LANES`` lanes.
    largest, summed : int
        The largest load and the largest sum; 16-bit lanes keep sums in another array. The
        result is None if the sum does not fit int64.
    W : int
        0 if the width is chosen later.
    """
    if summed > INT64_MAX:
        return None
    if largest <= kernel.NARROW and W % kernel.NARROW_LANES == 0 and summed <= INT32_MAX:
        return INT16
    return least_dtype(INT64, summed)


def as_signed(rows: NDArray[Any]) -> NDArray[Any]:
    """Return a signed view of unsigned rows; other rows unchanged."""
    return rows.view(f"i{rows.itemsize}") if rows.dtype.kind == "u" else rows


def signed(rows: NDArray[Any]) -> NDArray[Any]:
    """Return rows for kernels that copy loads: a signed view if they are unsigned.

    Such kernels are then compiled for signed integers only. Without the compiler the rows are
    unchanged, because NumPy refuses values that a signed integer does not hold.
    """
    compiled = hasattr(kernels("layout.tiles").store, "get_overload")
    return as_signed(rows) if compiled else rows


def source_for(rows: NDArray[Any], target: NDArray[Any]) -> NDArray[Any]:
    """Return rows for a kernel to copy to a target: signed, unless it is wider (sign extension)."""
    return signed(rows) if rows.itemsize >= target.itemsize else rows


def copy_back(work: NDArray[Any], rows: NDArray[Any]) -> None:
    """Copy the result into the loads' own dtype, unless both are the same memory."""
    if work is not rows and not np.may_share_memory(work, rows):
        copy_into(rows, work)
