"""Exact scaling of loads, capacities and traffic to int64 units for the flow kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .quantities import Kind, Number, Quantities

Integers = NDArray[np.int64]

LARGEST_TOTAL = 2**61
# What can be sent of float data keeps to 53 bits, so every flow and sum of flows is a float64.
FLOAT_BITS = 53
# np.ldexp's smallest result that is no longer 0.
SMALLEST_EXPONENT = 1074


@dataclass(frozen=True)
class Units:
    """What one unit of the scaled integers is worth.

    Attributes
    ----------
    kind : str
        ``"integer"``, ``"rational"`` or ``"float"`` data.
    per_one : Fraction
        Units in the number 1: 1 for integers, the common denominator of rationals, a power of
        two for floats.
    """

    kind: Kind
    per_one: Fraction

    @property
    def quantum(self) -> Number:
        """What one unit is worth for float data, which are rounded to it; 0 where exact."""
        return float(1 / self.per_one) if self.kind == "float" else 0

    def read(self, amount: Number) -> int:
        """Return a limit in whole units, rounded down."""
        return math.floor(Fraction(amount) * self.per_one)


@dataclass(frozen=True)
class Scaled:
    """Problem data in int64 units, links without self-evident limits cut to what can be sent.

    Attributes
    ----------
    units : Units
        What a unit is worth.
    excess, room : (N,) int64
        Load to give away and load that fits, one of them 0 at every node.
    usable : (E,) int64
        ``max(0, C - F)``, at most ``sendable``.
    traffic : (E,) int64
        Existing traffic F, rounded up for floats.
    sendable : int
        The smaller of the total excess and the total room.
    """

    units: Units
    excess: Integers
    room: Integers
    usable: Integers
    traffic: Integers
    sendable: int


def scale(excess: Quantities, capacity: Quantities, traffic: Quantities) -> Scaled:
    """Scale a problem to integers: exact for int and Fraction, down to a quantum for floats.

    Floats are multiplied by a power of two; excess, room and capacity are rounded down and
    traffic up, so a plan for the scaled data is always feasible for the given ones.

    Raises
    ------
    OverflowError
        If a scaled total or traffic exceeds ``2**61``.
    """
    excess = _sensible(excess)
    kinds = {excess.kind, capacity.kind, traffic.kind}
    if "float" in kinds:
        return _floats(excess, capacity, traffic)
    one = _common_denominator(excess, capacity, traffic) if "rational" in kinds else 1
    units = Units("rational" if "rational" in kinds else "integer", Fraction(one))
    columns = (excess, capacity, traffic)
    amounts, limits, carried = (_widened(c, one) if one > 1 else c.values for c in columns)
    return _finish(units, amounts, limits, capacity.unlimited, carried)


def _sensible(excess: Quantities) -> Quantities:
    """Cut room to the total excess and excess to the total room: more never matters."""
    values = excess.values
    if values.dtype.kind == "f":
        gives, takes = _float_totals(excess), _float_totals(excess, -1)
        cut = np.clip(values, -np.nextafter(gives, np.inf), np.nextafter(takes, np.inf))
        return Quantities(cut, excess.unlimited)
    small = LARGEST_TOTAL // max(values.size, 1)
    if values.dtype != object and -small < values.min(initial=0) and values.max(initial=0) < small:
        return excess
    numbers = values.tolist()
    gives = sum((value for value in numbers if value > 0), start=0)
    takes = sum((-value for value in numbers if value < 0), start=0)
    cut = np.empty(len(numbers), dtype=object)
    cut[:] = [max(min(value, takes), -gives) for value in numbers]
    return Quantities(cut, excess.unlimited)


def exact_sum(values: NDArray[Any]) -> int:
    """Return the sum of integers as a Python int, whatever its size."""
    if values.dtype == object:
        return int(sum(values.tolist()))
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def checked(name: str, value: int) -> int:
    """Return a scaled amount that fits the kernels.

    Raises
    ------
    OverflowError
        If it exceeds ``2**61``.
    """
    if value > LARGEST_TOTAL:
        raise OverflowError(f"{name} must be at most 2**61 units after scaling, got {value}")
    return value


def _widened(column: Quantities, one: int) -> NDArray[Any]:
    values = np.empty(column.values.shape, dtype=object)
    values[:] = [int(value * one) for value in column.values.tolist()]
    return values


def _common_denominator(*columns: Quantities) -> int:
    found = {
        value.denominator
        for column in columns
        if column.kind == "rational"
        for value in column.values.tolist()
    }
    return math.lcm(*found)


def _finish(
    units: Units,
    amounts: NDArray[Any],
    limits: NDArray[Any],
    unlimited: NDArray[np.bool_],
    carried: NDArray[Any],
) -> Scaled:
    checked("excess", max(int(amounts.max(initial=0)), -int(amounts.min(initial=0))))
    gives = np.maximum(amounts, 0)
    takes = np.maximum(-amounts, 0)
    out = checked("total excess", exact_sum(gives))
    room = checked("total room", exact_sum(takes))
    sendable = min(out, room)
    if unlimited.all():
        usable = np.full(len(unlimited), sendable)
    else:
        left = np.maximum(limits - carried, 0)
        usable = np.where(unlimited, sendable, np.minimum(left, sendable))
    checked("traffic", int(carried.max(initial=0)))
    return Scaled(
        units,
        gives.astype(np.int64, copy=False),
        takes.astype(np.int64, copy=False),
        usable.astype(np.int64, copy=False),
        carried.astype(np.int64, copy=False),
        sendable,
    )


def _floats(excess: Quantities, capacity: Quantities, traffic: Quantities) -> Scaled:
    gives, takes, top = _float_totals(excess), _float_totals(excess, -1), _largest(traffic)
    k = SMALLEST_EXPONENT
    if min(gives, takes) > 0:
        k = min(k, FLOAT_BITS - math.frexp(min(gives, takes))[1])
    if max(gives, takes, top) > 0:
        k = min(k, LARGEST_TOTAL.bit_length() - 1 - math.frexp(max(gives, takes, top))[1])
    units = Units("float", Fraction(2) ** k)
    amounts = _rounded(excess, k, np.floor, -1)
    carried = _rounded(traffic, k, np.ceil, 1)
    limits = _rounded(capacity, k, np.floor, 1)
    return _finish(units, amounts, limits, capacity.unlimited, carried)


def _float_totals(column: Quantities, sign: int = 1) -> float:
    values = column.values.tolist()
    try:
        total = math.fsum(sign * value for value in values if sign * value > 0)
    except OverflowError:
        total = math.inf
    if total == math.inf:
        raise OverflowError("total excess and total room must fit a float64")
    return total


def _largest(column: Quantities) -> float:
    return float(column.values.max(initial=0))


def _rounded(column: Quantities, k: int, way: Any, sign: int) -> NDArray[Any]:
    """Return values times ``2**k`` as integers; toward zero where signed (``sign`` -1)."""
    given = column.values
    if given.dtype.kind == "i" and np.abs(given).max(initial=0) < 2**FLOAT_BITS:
        given = given.astype(np.float64)
    if given.dtype.kind != "f":
        exact = [Fraction(value) * Fraction(2) ** k for value in column.values.tolist()]
        if sign < 0:
            whole = [math.trunc(value) for value in exact]
        else:
            whole = [math.floor(v) if way is np.floor else math.ceil(v) for v in exact]
        values = np.empty(len(whole), dtype=object)
        values[:] = whole
        return values
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(given, k)
    scaled = np.trunc(scaled) if sign < 0 else way(scaled)
    # Capacities beyond any total are as good as none.
    return np.asarray(np.minimum(scaled, 2.0**62)).astype(np.int64)
