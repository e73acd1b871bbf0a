"""Attributes of NetworkX graphs, which may be any objects, as arrays of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Infinity among whole numbers.
UNLIMITED = int(np.iinfo(np.int64).max)
# Whole numbers beyond this lose digits among floats.
MAX_EXACT = 2**53


def as_numbers(values: Sequence[Any]) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return values as int64 where all are whole or infinite, else as float64.

    Infinity among whole numbers becomes ``UNLIMITED``.

    Raises
    ------
    NotImplementedError
        If a value is no number of Python or NumPy, or would lose digits.

    Examples
    --------
    >>> as_numbers([1, 2.5])
    array([1. , 2.5])
    >>> as_numbers([3, float("inf")]).tolist() == [3, UNLIMITED]
    True
    """
    types = set(map(type, values))
    if not types <= {int, float}:
        values = [_as_python(value) for value in values]
        types = set(map(type, values))
    floats = [value for value in values if type(value) is float] if float in types else []
    if floats and set(floats) != {inf}:
        return _as_floats(values)
    if floats:
        values = [UNLIMITED if type(value) is float else value for value in values]
    try:
        numbers = np.fromiter(values, np.int64, len(values))
    except OverflowError:
        raise NotImplementedError("a whole number does not fit into 64 bits") from None
    if np.count_nonzero(numbers == UNLIMITED) > len(floats):
        raise NotImplementedError("the whole number 2**63 - 1 stands for infinity here")
    return numbers


def _as_python(value: Any) -> int | float:
    """Return a number of Python or NumPy as an int or float."""
    if isinstance(value, (bool, np.bool_, np.integer)):
        return int(value)
    if isinstance(value, (np.float64, np.float32, np.float16)):
        return float(value)
    if type(value) in (int, float):
        return value  # type: ignore[no-any-return]
    raise NotImplementedError(f"{value!r} is neither an int nor a float")


def _as_floats(values: Sequence[Any]) -> NDArray[np.float64]:
    """Return ints and floats as floats of the same value."""
    if any(type(value) is int and abs(value) > MAX_EXACT for value in values):
        raise NotImplementedError("whole numbers above 2**53 would lose digits among floats")
    return np.fromiter(values, np.float64, len(values))
