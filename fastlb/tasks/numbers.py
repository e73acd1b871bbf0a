"""Numbers of tasks, nodes and blocks as they are passed: int64 or float64, finite, not negative."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import as_array, refused_dtype


def numbers(
    name: str, values: Any, count: int, of: str, *, unlimited: bool = False
) -> NDArray[Any]:
    """Return one number for each of ``count`` things, int64 or float64; one number serves all.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If it is no such array; infinity is refused unless ``unlimited``.
    """
    array = real_array(name, values, unlimited=unlimited)
    if array.ndim == 0:
        return np.full(count, array[()])
    if array.shape != (count,):
        raise ValueError(f"{name} must be a number for each of {count} {of}, got {array.shape}")
    return array


def real_array(name: str, values: Any, *, unlimited: bool = False) -> NDArray[Any]:
    """Return an array of any shape as int64 or float64, with nothing negative in it."""
    array = as_array(name, values)
    if array.size == 0 and not hasattr(values, "dtype"):
        array = array.astype(np.int64)
    kind, width = array.dtype.kind, array.dtype.itemsize
    if not (kind in "iu" or (kind == "f" and width in (4, 8))):
        got = refused_dtype(name, array.dtype)
        raise TypeError(f"{name} must be integers, float32 or float64, got {got}")
    if kind == "f":
        bad = np.isnan(array) if unlimited else ~np.isfinite(array)
        if bad.any():
            raise ValueError(f"{name} must be finite, got {array[bad][0]} {_at(bad)}")
    elif kind == "u" and int(array.max(initial=0)) >= 2**63:
        raise OverflowError(f"{name} must fit int64, got {int(array.max())}")
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative, got {array[array < 0][0]} {_at(array < 0)}")
    return array.astype(np.float64 if kind == "f" else np.int64)


def _at(bad: NDArray[np.bool_]) -> str:
    place = np.unravel_index(int(np.argmax(bad)), bad.shape)
    return "at " + ", ".join(str(int(i)) for i in place) if place else "in all"
