"""Sizes as whole units: decisions are made in int64, so that they are the same on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# Bits of a total of scaled floats; integers may have one more.
TOTAL_BITS = 61
LARGEST_TOTAL = 2**62
NOTHING = Fraction(0)
# Mantissas of float64 in two halves: sums of 2**26 of either are exact in float64.
HALF_BITS, MANTISSA_BITS = 27, 53
# Sums by node and exponent are laid out in one table as long as it has no more entries.
MOST_ENTRIES = 2**22


@dataclass(frozen=True)
class Scale:
    """What a unit is worth.

    Attributes
    ----------
    per_one : Fraction
        Units in the number 1.
    exact : bool
        Whether every number is a whole number of units; else it was rounded to the nearest.
    """

    per_one: Fraction
    exact: bool


def in_units(
    name: str, *columns: NDArray[Any], beside: Fraction = NOTHING
) -> tuple[list[Integers], Scale]:
    """Return arrays (each int64 or float64, not negative) in common units, and what a unit is.

    Units of floats leave room for what comes ``beside`` them, a total of other amounts.

    Raises
    ------
    OverflowError
        If integers have a total above ``2**62``, or floats one that float64 does not hold.
    """
    if all(column.dtype.kind != "f" for column in columns):
        total = sum(whole_sum(column) for column in columns)
        if total > LARGEST_TOTAL:
            raise OverflowError(f"{name} must have a total of at most 2**62, got {total}")
        divisor = int(np.gcd.reduce([int(np.gcd.reduce(c, initial=0)) for c in columns])) or 1
        return [column // divisor for column in columns], Scale(Fraction(1, divisor), True)
    whole = _as_whole(columns, beside)
    if whole is not None:
        return in_units(name, *whole)
    reals = [column.astype(np.float64) for column in columns]
    several = np.concatenate(reals)
    several = several[several > 0]
    mantissa, exponent = np.frexp(several)
    highest = int(exponent.max()) + len(several).bit_length()
    if beside:
        highest = max(highest, _bits(beside)) + 1
    if highest > np.finfo(np.float64).maxexp:
        (total,) = exact_sums(several, np.zeros(len(several), np.int64), 1)
        if total > np.finfo(np.float64).max:
            raise OverflowError(f"{name} must have a total that fits float64")
    digits = np.ldexp(mantissa, MANTISSA_BITS).astype(np.int64)
    lowest_bit = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    needed = -int((exponent - MANTISSA_BITS + lowest_bit).min())
    power = min(needed, TOTAL_BITS - highest)
    units = [np.rint(np.ldexp(real, power)).astype(np.int64) for real in reals]
    if power < needed:
        return units, Scale(Fraction(2) ** power, False)
    divisor = int(np.gcd.reduce([int(np.gcd.reduce(c, initial=0)) for c in units])) or 1
    return [column // divisor for column in units], Scale(Fraction(2) ** power / divisor, True)


def _bits(amount: Fraction) -> int:
    """Return an n such that the amount is below 2**n, the least one or one more."""
    return amount.numerator.bit_length() - amount.denominator.bit_length() + 1


def _as_whole(columns: tuple[NDArray[Any], ...], beside: Fraction) -> list[Integers] | None:
    """Return floats that are all integers as such, or None; sums that fit are not at risk."""
    count = sum(len(column) for column in columns)
    largest = max(float(column.max(initial=0)) for column in columns)
    if largest * count + beside >= LARGEST_TOTAL:
        return None
    whole = [column.astype(np.int64) for column in columns]
    same = all((a == b).all() for a, b in zip(whole, columns, strict=True))
    return whole if same else None


def whole_sum(values: Integers) -> int:
    """Return the sum of integers, which may be longer than 64 bits."""
    high, low = values >> 32, values & (2**32 - 1)
    return (int(high.sum()) << 32) + int(low.sum())


def exact_sums(values: NDArray[Any], owner: Integers, nodes: int) -> list[Any]:
    """Return the exact sum of the values at every node: ints of integers, Fractions of floats."""
    if values.dtype.kind != "f":
        sums = np.zeros((2, nodes), np.int64)
        np.add.at(sums[0], owner, values >> 32)
        np.add.at(sums[1], owner, values & (2**32 - 1))
        return [(high << 32) + low for high, low in zip(*sums.tolist(), strict=True)]
    mantissa, exponent = np.frexp(values)
    digits = np.ldexp(mantissa, MANTISSA_BITS).astype(np.int64)
    least = int(exponent.min(initial=0))
    span = int(exponent.max(initial=0)) - least + 1
    sums_of = [0] * nodes
    # Few exponents at a time where there are many nodes.
    part = max(1, MOST_ENTRIES // max(nodes, 1))
    for first in range(least, least + span, part):
        width = min(part, least + span - first)
        chosen = slice(None) if width == span else (exponent >= first) & (exponent < first + width)
        place = owner[chosen] * width + (exponent[chosen] - first)
        halves = digits[chosen] >> HALF_BITS, digits[chosen] & (2**HALF_BITS - 1)
        high, low = (
            np.bincount(place, weights=half, minlength=nodes * width).astype(np.int64)
            for half in halves
        )
        entries = np.flatnonzero(high | low)
        rows = entries.tolist(), high[entries].tolist(), low[entries].tolist()
        for at, upper, lower in zip(*rows, strict=True):
            shift = first - least + at % width
            sums_of[at // width] += (upper << HALF_BITS) + lower << shift
    unit = Fraction(2) ** (least - MANTISSA_BITS)
    return [amount * unit for amount in sums_of]


def falling_order(units: Integers) -> Integers:
    """Return the order of units, largest first; of equals the lower place first."""
    places = np.arange(len(units))
    bits = len(units).bit_length()
    if int(units.max(initial=0)) >> (62 - bits):
        # The complement turns largest first into smallest first.
        return np.argsort(~units, kind="stable")
    # Keys that all differ: sorting them is faster than sorting places, and no less definite.
    keys: Integers = np.sort((~units << bits) | places)
    order: Integers = keys & (2**bits - 1)
    return order
