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
# The sendable total of float data has at most 53 bits, so every sum of flows is a float64.
FLOAT_BITS = 53
# np.ldexp(1, -1074) is the smallest float64 above 0.
SMALLEST_EXPONENT = 1074
# NumPy's ways to round, and Python's of Fractions.
EXACTLY: dict[Any, Any] = {
    np.trunc: math.trunc,
    np.floor: math.floor,
    np.ceil: math.ceil,
    np.rint: round,
}


@dataclass(frozen=True)
class Units:
    """The value of one unit of the scaled integers.

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
    """Problem data in int64 units; capacities are clipped to what can be sent.

    Attributes
    ----------
    units : Units
        The value of a unit.
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
    traffic up, so a plan for the scaled data is always feasible for the original ones.

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
    excess = _clipped(excess)
    if kind == "float":
        return _floats(excess, capacity, traffic, most)
    limit = None if most == math.inf else read_rational("max_moves", most)
    if limit is not None and limit >= _exact_sendable(excess):
        limit = None
    elif limit is not None and whole:
        limit = Fraction(math.floor(limit))
    one = common_denominator(excess, capacity, traffic)
    if limit is not None:
        one = math.lcm(one, limit.denominator)
    columns = (excess, capacity, traffic)
    amounts, capacities, traffics = (times(c, one) if one > 1 else c.values for c in columns)
    scaled = _finish(Units(kind, Fraction(one)), amounts, capacities, capacity.unlimited, traffics)
    return scaled if limit is None else _limited(scaled, int(limit * one))


def _limited(scaled: Scaled, limit: int) -> Scaled:
    return replace(scaled, limit=min(limit, scaled.sendable))


def _exact_sendable(excess: Quantities) -> Number:
    numbers = excess.values.tolist()
    supply: Number = sum(value for value in numbers if value > 0)
    demand: Number = -sum(value for value in numbers if value < 0)
    return min(supply, demand)


def _clipped(excess: Quantities) -> Quantities:
    """Clip room to the total excess and excess to the total room, which changes no plan."""
    values = excess.values
    if values.dtype.kind == "f":
        supply, demand = _float_totals(excess), _float_totals(excess, -1)
        clipped = np.clip(values, -np.nextafter(supply, np.inf), np.nextafter(demand, np.inf))
        return Quantities(clipped, excess.unlimited)
    small = LARGEST_TOTAL // max(values.size, 1)
    if values.dtype != object and -small < values.min(initial=0) and values.max(initial=0) < small:
        return excess
    numbers = [Fraction(v) if isinstance(v, float) else v for v in values.tolist()]
    total_excess = sum((value for value in numbers if value > 0), start=0)
    total_room = sum((-value for value in numbers if value < 0), start=0)
    clipped = np.empty(len(numbers), dtype=object)
    clipped[:] = [max(min(value, total_room), -total_excess) for value in numbers]
    return Quantities(clipped, excess.unlimited)


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


def times(column: Quantities, one: int) -> NDArray[Any]:
    """Return values times a multiple of their denominators, as Python's integers."""
    values = np.empty(column.values.shape, dtype=object)
    values[:] = [int(value * one) for value in column.values.tolist()]
    return values


def common_denominator(*columns: Quantities) -> int:
    """Return the least common denominator of the columns that are rational."""
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
    capacities: NDArray[Any],
    unlimited: NDArray[np.bool_],
    traffics: NDArray[Any],
) -> Scaled:
    checked("excess", max(int(amounts.max(initial=0)), -int(amounts.min(initial=0))))
    supply = np.maximum(amounts, 0)
    demand = np.maximum(-amounts, 0)
    total_supply = checked("total excess", exact_sum(supply))
    room = checked("total room", exact_sum(demand))
    sendable = min(total_supply, room)
    if unlimited.all():
        usable = np.full(len(unlimited), sendable)
    else:
        remaining = np.maximum(capacities - traffics, 0)
        usable = np.where(unlimited, sendable, np.minimum(remaining, sendable))
    checked("traffic", int(traffics.max(initial=0)))
    return Scaled(
        units,
        supply.astype(np.int64, copy=False),
        demand.astype(np.int64, copy=False),
        usable.astype(np.int64, copy=False),
        traffics.astype(np.int64, copy=False),
        sendable,
        sendable,
    )


def _floats(
    excess: Quantities, capacity: Quantities, traffic: Quantities, max_moves: Number
) -> Scaled:
    supply, demand, top = _float_totals(excess), _float_totals(excess, -1), _largest(traffic)
    if math.isinf(top + min(supply, demand)):
        raise OverflowError("traffic and load on a link must together fit a float64")
    k = SMALLEST_EXPONENT
    if min(supply, demand) > 0:
        k = min(k, FLOAT_BITS - math.frexp(min(supply, demand))[1])
    if max(supply, demand, top) > 0:
        k = min(k, LARGEST_TOTAL.bit_length() - 1 - math.frexp(max(supply, demand, top))[1])
    amounts, cut_amounts = rounded(excess, k, np.trunc)
    traffics, raised = rounded(traffic, k, np.ceil)
    capacities, cut_limits = rounded(capacity, k, np.floor)
    per_one = Fraction(2) ** k
    scaled = _finish(Units("float", per_one), amounts, capacities, capacity.unlimited, traffics)
    # Each rounded number changes the capacity of a cut, and so beta, by less than a unit.
    narrowed = cut_limits & (scaled.usable < scaled.sendable)
    blur = int(cut_amounts.sum() + raised.sum() + narrowed.sum())
    if max_moves != math.inf:
        scaled_limit = Fraction(max_moves) * per_one
        blur += scaled_limit.denominator > 1
        scaled = _limited(scaled, math.floor(scaled_limit))
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


def rounded(column: Quantities, k: int, rounding: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return values times ``2**k`` as integers, and a mask of those that were rounded.

    ``rounding`` is one of ``EXACTLY``.
    """
    numbers = column.values
    if numbers.dtype.kind == "i" and np.abs(numbers).max(initial=0) < 2**FLOAT_BITS:
        numbers = numbers.astype(np.float64)
    if numbers.dtype.kind != "f":
        exact = [Fraction(value) * Fraction(2) ** k for value in column.values.tolist()]
        exactly: Any = EXACTLY[rounding]
        values = np.empty(len(exact), dtype=object)
        values[:] = [exactly(value) for value in exact]
        return values, np.array([value.denominator > 1 for value in exact], dtype=bool)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(numbers, k)
    # np.ldexp may round small numbers, or make them 0.
    small = (np.abs(scaled) < np.finfo(np.float64).tiny) & (numbers != 0)
    units = np.where(small & (rounding is np.ceil), 1.0, rounding(scaled))
    inexact = small | (units != scaled)
    # Capacities beyond any total are unlimited.
    return np.minimum(units, 2.0**62).astype(np.int64), inexact
