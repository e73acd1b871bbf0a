"""Exact scaling of loads, capacities and traffic to int64 units for the flow kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..quantities import Kind, Number, Quantities
from ..rational import read_rational

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
    blur : int
        Units by which v* and beta* may differ from those of the data before they were rounded.
    """

    kind: Kind
    per_one: Fraction
    blur: int = 0


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
    limit : int
        Most units that may move, at most ``sendable``.
    """

    units: Units
    excess: Integers
    room: Integers
    usable: Integers
    traffic: Integers
    sendable: int
    limit: int


def common_kind(*columns: Quantities) -> Kind:
    """Return ``"float"`` if any column is of floats, else ``"rational"`` if any is, or integer."""
    kinds = {column.kind for column in columns}
    return "float" if "float" in kinds else "rational" if "rational" in kinds else "integer"


def scale(
    kind: Kind,
    excess: Quantities,
    capacity: Quantities,
    traffic: Quantities,
    most: Number = math.inf,
    *,
    whole: bool = False,
) -> Scaled:
    """Scale a problem to integers: exact for int and Fraction, down to a quantum for floats.

    Floats are multiplied by a power of two; excess, room and capacity are rounded down and
    traffic up, so a plan for the scaled data is always feasible for the given ones.

    Parameters
    ----------
    kind : str
        What the data are, see :func:`common_kind`; pinned nodes may hide it.
    most : number
        Most load that may move. A float means its shortest decimal where the data are exact.
    whole : bool
        Whether only whole units move, so that ``most`` is rounded down to them.

    Raises
    ------
    OverflowError
        If a scaled total or traffic exceeds ``2**61``.
    """
    excess = _sensible(excess)
    if kind == "float":
        return _floats(excess, capacity, traffic, most)
    limit = None if most == math.inf else read_rational("max_moves", most)
    if limit is not None and limit >= _exact_sendable(excess):
        limit = None
    elif limit is not None and whole:
        limit = Fraction(math.floor(limit))
    one = _common_denominator(excess, capacity, traffic)
    if limit is not None:
        one = math.lcm(one, limit.denominator)
    columns = (excess, capacity, traffic)
    amounts, limits, carried = (_widened(c, one) if one > 1 else c.values for c in columns)
    scaled = _finish(Units(kind, Fraction(one)), amounts, limits, capacity.unlimited, carried)
    return scaled if limit is None else _limited(scaled, int(limit * one))


def _limited(scaled: Scaled, limit: int) -> Scaled:
    return replace(scaled, limit=min(limit, scaled.sendable))


def _exact_sendable(excess: Quantities) -> Number:
    numbers = excess.values.tolist()
    gives: Number = sum(value for value in numbers if value > 0)
    takes: Number = -sum(value for value in numbers if value < 0)
    return min(gives, takes)


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
    numbers = [Fraction(v) if isinstance(v, float) else v for v in values.tolist()]
    total_given = sum((value for value in numbers if value > 0), start=0)
    total_taken = sum((-value for value in numbers if value < 0), start=0)
    cut = np.empty(len(numbers), dtype=object)
    cut[:] = [max(min(value, total_taken), -total_given) for value in numbers]
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
        # Python refuses to write out integers of thousands of digits.
        got = str(value) if value < 2**200 else f"about 2**{value.bit_length() - 1}"
        raise OverflowError(f"{name} must be at most 2**61 units after scaling, got {got}")
    return value


def _widened(column: Quantities, one: int) -> NDArray[Any]:
    values = np.empty(column.values.shape, dtype=object)
    values[:] = [int(value * one) for value in column.values.tolist()]
    return values


def _common_denominator(*columns: Quantities) -> int:
    denominators = {
        value.denominator
        for column in columns
        if column.kind == "rational"
        for value in column.values.tolist()
    }
    return math.lcm(*denominators)


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
        sendable,
    )


def _floats(excess: Quantities, capacity: Quantities, traffic: Quantities, most: Number) -> Scaled:
    gives, takes, top = _float_totals(excess), _float_totals(excess, -1), _largest(traffic)
    if math.isinf(top + min(gives, takes)):
        raise OverflowError("traffic and load on a link must together fit a float64")
    k = SMALLEST_EXPONENT
    if min(gives, takes) > 0:
        k = min(k, FLOAT_BITS - math.frexp(min(gives, takes))[1])
    if max(gives, takes, top) > 0:
        k = min(k, LARGEST_TOTAL.bit_length() - 1 - math.frexp(max(gives, takes, top))[1])
    amounts, cut_amounts = _rounded(excess, k, np.trunc)
    carried, raised = _rounded(traffic, k, np.ceil)
    limits, cut_limits = _rounded(capacity, k, np.floor)
    per_one = Fraction(2) ** k
    scaled = _finish(Units("float", per_one), amounts, limits, capacity.unlimited, carried)
    # What a cut lets pass loses less than a unit a number rounded, and so does beta.
    narrowed = cut_limits & (scaled.usable < scaled.sendable)
    blur = int(cut_amounts.sum() + raised.sum() + narrowed.sum())
    if most != math.inf:
        asked = Fraction(most) * per_one
        blur += asked.denominator > 1
        scaled = _limited(scaled, math.floor(asked))
    # Beta is rounded up to whole units.
    return replace(scaled, units=Units("float", per_one, blur + 1))


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
    try:
        return float(column.values.max(initial=0))
    except OverflowError:
        raise OverflowError("traffic must fit a float64 where other numbers are floats") from None


def _rounded(column: Quantities, k: int, way: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return values times ``2**k`` as integers, and where they had to be rounded.

    ``way`` is ``np.trunc``, ``np.floor`` or ``np.ceil``.
    """
    numbers = column.values
    if numbers.dtype.kind == "i" and np.abs(numbers).max(initial=0) < 2**FLOAT_BITS:
        numbers = numbers.astype(np.float64)
    if numbers.dtype.kind != "f":
        exact = [Fraction(value) * Fraction(2) ** k for value in column.values.tolist()]
        exactly: Any = {np.trunc: math.trunc, np.floor: math.floor, np.ceil: math.ceil}[way]
        values = np.empty(len(exact), dtype=object)
        values[:] = [exactly(value) for value in exact]
        return values, np.array([value.denominator > 1 for value in exact], dtype=bool)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(numbers, k)
    # Small numbers may be rounded, or vanish, on the way.
    small = (np.abs(scaled) < np.finfo(np.float64).tiny) & (numbers != 0)
    units = np.where(small & (way is np.ceil), 1.0, way(scaled))
    inexact = small | (units != scaled)
    # Capacities beyond any total are as good as none.
    return np.minimum(units, 2.0**62).astype(np.int64), inexact
