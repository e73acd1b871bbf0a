"""Rows of exact numbers multiplied by one factor each, so that they are whole numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

INT64_MAX = 2**63 - 1
_TOLERANCE_INVERSE = 10**9
# Rows that no exact scaling brings into int64 are rounded to this many bits.
_ROUNDED_BITS = 60
# All powers of ten that float64 holds exactly.
_POWERS = np.array([float(10**k) for k in range(23)])


def whole_costs(
    costs: NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[np.float64], dict[int, Fraction], dict[int, list[int]]]:
    """Multiply costs (B, n) so that they are whole numbers.

    Returns
    -------
    whole : (B, n) int64
        0 for programs whose absolute sum does not fit int64.
    power : (B,) float64
        The power of ten that the costs were multiplied by, NaN for those in ``factor``.
    factor : dict
        By program, the factor of the other costs.
    wide : dict
        By program, whole costs whose absolute sum does not fit int64.
    """
    whole, decimals, inexact = _scaled(costs)
    power = _POWERS[decimals]
    power[inexact] = np.nan
    factor, wide = {}, {}
    for i in inexact.tolist():
        values, multiplier = _multiplied(costs[i].tolist())
        common = gcd(*values) or 1
        values = [value // common for value in values]
        factor[i] = Fraction(multiplier, common)
        if sum(map(abs, values)) > INT64_MAX:
            wide[i] = values
        else:
            whole[i] = values
    return whole, power, factor, wide


def whole_rows(rows: NDArray[Any]) -> tuple[NDArray[np.int64], dict[int, list[int]]]:
    """Multiply rows (R, n + 1), coefficients and a right-hand side, so that they are whole numbers.

    Rows whose absolute sum does not fit int64 get smaller numbers with the same 0-1 solutions.

    Returns
    -------
    whole : (R, n + 1) int64
        Rows that still do not fit are rounded, their right-hand side lowered by the tolerance.
    wide : dict
        By row number, these rows exactly.
    """
    wide = {}
    whole, _, inexact = _scaled(rows)
    for r in inexact.tolist():
        values = _multiplied(rows[r].tolist())[0]
        if sum(map(abs, values)) > INT64_MAX:
            values = _narrow_row(values)
        size = sum(map(abs, values))
        if size > INT64_MAX:
            wide[r] = values
            values = _to_60_bits(values, size)
        whole[r] = values
    return whole, wide


def as_fraction(value: Any) -> Fraction:
    """Return the exact number meant: a float's shortest decimal."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _scaled(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """Return whole rows, their decimal places, and the numbers of rows the kernel cannot scale."""
    if rows.dtype.kind != "f":
        all_rows = np.arange(len(rows))
        return np.zeros(rows.shape, dtype=np.int64), np.zeros_like(all_rows), all_rows
    kernel = kernels("programs.decimal_scaling")
    R, W = rows.shape
    whole = np.empty((R, W), dtype=np.int64)
    decimals = np.empty((R, W + 1), dtype=np.int64)
    codes = np.empty(R, dtype=np.int64)
    kernel.scale(np.ascontiguousarray(rows), whole, decimals, codes)
    inexact = np.flatnonzero(codes != kernel.EXACT)
    whole[inexact] = 0
    return whole, decimals[:, W], inexact


def _narrow_row(values: list[int]) -> list[int]:
    """Return a row and its right-hand side with the same 0-1 solutions and smaller numbers.

    Each term at its better value raises the left side by its size, and ``demand`` is how much it
    must be raised above its least value. All sizes together exceed the demand by ``slack``. A size
    above ``demand`` can be cut to it: the term meets the row alone. A size above ``slack + 1`` can
    be cut to that: without the term the others still fall short.
    """
    *terms, least = values
    sizes = [abs(term) for term in terms]
    demand = least - sum(min(term, 0) for term in terms)
    previous = None
    while sizes != previous:
        previous = sizes
        # This comes before the cuts below, which change the divisors.
        sizes, demand = _shrink_divisors(sizes, max(demand, 0))
        sizes = [min(size, demand) for size in sizes]
        slack = max(sum(sizes) - demand, -1)
        sizes = [min(size, slack + 1) for size in sizes]
        demand = sum(sizes) - slack
    narrow = [size if term > 0 else -size for size, term in zip(sizes, terms, strict=True)]
    return [*narrow, demand + sum(min(term, 0) for term in narrow)]


def _shrink_divisors(sizes: list[int], demand: int) -> tuple[list[int], int]:
    """Return smaller sizes and a smaller demand, all 0 or more, with the same 0-1 solutions.

    If the larger sizes have a common divisor that exceeds the sum of all smaller ones by more
    than 1, the divisor can shrink to that sum plus 1.
    """
    order = sorted(range(len(sizes)), key=lambda j: -sizes[j])
    divisors = list(accumulate((sizes[j] for j in order), gcd))
    shrunk = sizes.copy()
    smaller = 0
    for k in reversed(range(len(order))):
        divisor = divisors[k]
        if divisor > smaller + 1:
            whole, rest = divmod(demand, divisor)
            for j in order[: k + 1]:
                shrunk[j] = shrunk[j] // divisor * (smaller + 1)
            demand = whole * (smaller + 1) + min(rest, smaller + 1)
            divisors = [d // divisor * (smaller + 1) for d in divisors]
        smaller += shrunk[order[k]]
    return shrunk, demand


def _to_60_bits(values: list[int], size: int) -> list[int]:
    """Return the row times 2**60 / size, its right-hand side lowered by the tolerance."""
    rounded = [(value << _ROUNDED_BITS) // size for value in values]
    lowered = values[-1] * _TOLERANCE_INVERSE - size
    rounded[-1] = (lowered << _ROUNDED_BITS) // (size * _TOLERANCE_INVERSE)
    return rounded


def _multiplied(values: list[Any]) -> tuple[list[int], int]:
    """Return numbers times the least factor, or power of ten for floats, that makes them whole."""
    if values and all(isinstance(value, float) for value in values):
        digits, exponents = zip(*map(_decimal, values), strict=True)
        places = -min(0, *exponents)
        scaled = zip(digits, exponents, strict=True)
        return [digit * 10 ** (exponent + places) for digit, exponent in scaled], 10**places
    exact = [as_fraction(value) for value in values]
    factor = lcm(*(value.denominator for value in exact))
    return [int(value * factor) for value in exact], factor


def _decimal(value: float) -> tuple[int, int]:
    """Return (digits, exponent) of a float's shortest decimal, digits * 10**exponent."""
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, places = mantissa.partition(".")
    return int(whole + places), int(exponent or 0) - len(places)
