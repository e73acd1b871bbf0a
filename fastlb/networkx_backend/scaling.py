"""Floats as whole numbers of a unit, a power of two, for kernels that count in int64."""

from __future__ import annotations

from math import frexp, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .numbers import UNLIMITED

# int64 or float64.
Numbers = NDArray[Any]


def exponent_of(largest: float, bits: int) -> int:
    """Return the exponent of the unit of which the largest number has so many bits."""
    return frexp(largest)[1] - bits


def in_units(values: NDArray[np.float64], exponent: int) -> NDArray[np.int64]:
    """Return floats in units of ``2**exponent``, rounded; infinity is ``UNLIMITED``.

    Examples
    --------
    >>> in_units(np.array([0.5, 3.0]), -1)
    array([1, 6])
    """
    endless = values == inf
    numbers = np.rint(np.ldexp(np.where(endless, 0.0, values), -exponent)).astype(np.int64)
    numbers[endless] = UNLIMITED
    return numbers


def exactly_in_units(values: NDArray[np.float64], exponent: int) -> NDArray[np.int64]:
    """Return floats in units of ``2**exponent``, or raise where one is not a multiple."""
    numbers = in_units(values, exponent)
    if not (np.ldexp(numbers, exponent)[values != inf] == values[values != inf]).all():
        raise NotImplementedError("floats are too far apart in size for 64 bits")
    return numbers


def as_python(values: Numbers) -> list[int] | list[float]:
    """Return amounts as Python's numbers; where floats are 0, NetworkX has the int 0."""
    numbers: list[Any] = values.tolist()
    if values.dtype == np.float64:
        numbers = [number or 0 for number in numbers]
    return numbers
