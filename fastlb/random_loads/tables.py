"""Tables of exact probabilities, from which a 64-bit random word selects a load.

Everything is computed with integers and decimals of fixed precision, never with the floats of
the machine's own library: a table is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Probabilities are integers in units of 2**-FRACTION, with errors far below 2**-64.
FRACTION = 96
ONE = 1 << FRACTION
# Digits of decimals.
DIGITS = 40
# 1 / sqrt(2 pi)
PEAK = Decimal("0.39894228040143267793994605993438186847585863116493465767")
# Leading bits of a word, its prefix, by which a table's guide limits the search for its cell. With
# four prefixes per threshold most words need no search, and the 128 KiB of 2**15 prefixes still lie
# in the L2 cache.
MIN_PREFIX_BITS, MAX_PREFIX_BITS = 10, 15
# A normal distribution has less than 2**-64 beyond this many standard deviations.
MAX_DEVIATIONS = 10
# Large loads share a cell if they agree in this many leading bits.
GEOMETRIC_BITS = 11
LOG_NORMAL_BITS = 9
# Most cells of a table whose cells have the same width.
MAX_EVEN_CELLS = 2**12


@dataclass(frozen=True, eq=False)
class Table:
    """Cells of adjacent loads; the loads of a cell are equally likely.

    The cell ``c`` of a word ``u`` is the number of thresholds that are at most ``u``, and its load
    is ``first[c] + (u & mask[c])``.

    Attributes
    ----------
    thresholds : (C - 1,) uint64, ascending
        ``2**64`` times the probability of a load below those of cell 1, 2, ..
    first : (C,) int64
        Least load of each cell.
    mask : (C,) uint64
        Number of loads of each cell, a power of two, less 1.
    guide : (2**(64 - shift) + 1,) int32
        For each prefix p, the number of thresholds that are at most ``p << shift``.
    shift : int
        Number of bits of a word below its prefix.
    """

    thresholds: NDArray[np.uint64]
    first: NDArray[np.int64]
    mask: NDArray[np.uint64]
    guide: NDArray[np.int32]
    shift: int

    @property
    def least(self) -> int:
        """The least load."""
        return int(self.first[0])

    @property
    def largest(self) -> int:
        """The largest load."""
        return int(self.first[-1]) + int(self.mask[-1])


def tabulate(edges: list[int], below: list[int]) -> Table:
    """Return the table whose cell c has the loads ``edges[c] .. edges[c + 1] - 1``.

    Cells at the ends whose probability rounds to 0 in 64 bits are left out.

    Parameters
    ----------
    edges : list of C + 1 int
        Ascending; they differ by powers of two.
    below : list of C - 1 int
        Probability of a load below ``edges[1], .., edges[C - 1]`` in units of ``2**-FRACTION``.
    """
    shift = FRACTION - 64
    rounded = [(value + (1 << (shift - 1))) >> shift for value in below]
    start = sum(threshold <= 0 for threshold in rounded)
    end = sum(threshold < 2**64 for threshold in rounded)
    thresholds = np.array(rounded[start:end], dtype=np.uint64)
    first = np.array(edges[start : end + 1], dtype=np.int64)
    width = np.array(edges[start + 1 : end + 2], dtype=np.int64) - first
    bits = min(MAX_PREFIX_BITS, max(MIN_PREFIX_BITS, (4 * len(thresholds)).bit_length()))
    prefixes = np.arange(2**bits, dtype=np.uint64) << np.uint64(64 - bits)
    guide = np.full(2**bits + 1, len(thresholds), dtype=np.int32)
    guide[:-1] = np.searchsorted(thresholds, prefixes, side="right")
    return Table(thresholds, first, (width - 1).astype(np.uint64), guide, 64 - bits)


def even_edges(least: int, most: int) -> list[int]:
    """Return edges from ``least`` to beyond ``most`` of at most ``MAX_EVEN_CELLS`` cells.

    All cells have the same width, a power of two.
    """
    step = 1
    while (most - least) // step >= MAX_EVEN_CELLS:
        step *= 2
    return list(range(least, most + step + 1, step))


def leading_edges(most: int, bits: int) -> list[int]:
    """Return edges from 0 to beyond ``most``: all numbers that are 0 after ``bits`` leading bits.

    Loads below ``2**bits`` have cells of their own.
    """
    edges = list(range(2**bits))
    step = 1
    while edges[-1] <= most:
        edges += range(edges[-1] + step, edges[-1] + step + step * 2 ** (bits - 1), step)
        step *= 2
    end = next(c for c, edge in enumerate(edges) if edge > most)
    return edges[: end + 1]


def geometric(mean: Fraction) -> Table:
    """Return the table of P(load >= k) = (mean / (1 + mean)) ** k."""
    ratio = mean / (1 + mean)
    # That is below exp(-k / (1 + mean)), and exp(-46) is below 2**-64.
    edges = leading_edges(int(46 * (1 + mean)), GEOMETRIC_BITS)
    # 64 more bits make the sum of the products' rounding errors negligible.
    bits = FRACTION + 64
    power = (ratio.numerator << bits) // ratio.denominator
    at_least, step, below = 1 << bits, 1, []
    for edge, following in pairwise(edges[:-1]):
        if following - edge > step:
            power = power * power >> bits
            step *= 2
        at_least = at_least * power >> bits
        below.append(ONE - (at_least >> 64))
    return tabulate(edges, below)


def poisson(mean: Fraction) -> Table:
    """Return the table of the Poisson distribution, from weights relative to that of its mode."""
    mode = int(mean)
    weight = 1 << (FRACTION + 64)
    downwards, upwards = [], []
    k, w = mode, weight
    while k > 0 and w >> FRACTION // 2:
        w = w * k * mean.denominator // mean.numerator
        k -= 1
        downwards.append(w)
    lowest = mode - len(downwards)
    k, w = mode, weight
    while w >> FRACTION // 2:
        k += 1
        w = w * mean.numerator // (mean.denominator * k)
        upwards.append(w)
    return _from_weights(lowest, [*downwards[::-1], weight, *upwards])


def zipf(exponent: Fraction, largest: int) -> Table:
    """Return the table of P(load = k) proportional to ``k ** -exponent``, k = 1 .. largest.

    Powers are computed for primes, and multiplied for other numbers.
    """
    least_prime = list(range(largest + 1))
    for p in range(2, int(largest**0.5) + 1):
        if least_prime[p] == p:
            for multiple in range(p * p, largest + 1, p):
                if least_prime[multiple] == multiple:
                    least_prime[multiple] = p
    bits = FRACTION + 64
    weights = [0, 1 << bits]
    with localcontext(Context(prec=DIGITS + 20)):
        power = -decimal(exponent)
        for k in range(2, largest + 1):
            p = least_prime[k]
            if p == k:
                weights.append(int((Decimal(k).ln() * power).exp() * (1 << bits)))
            else:
                weights.append(weights[p] * weights[k // p] >> bits)
    return _from_weights(1, weights[1:])


def _from_weights(least: int, weights: list[int]) -> Table:
    """Return the table of loads ``least, least + 1, ..`` with probabilities as these weights.

    Up to 2**16 loads have cells of their own.
    """
    edges = even_edges(least, least + len(weights) - 1)
    if edges[1] - edges[0] > 1 and len(weights) <= 2**16:
        edges = list(range(least, least + len(weights) + 1))
    step = edges[1] - edges[0]
    total, running, below = sum(weights), 0, []
    for start in range(0, len(weights), step):
        running += sum(weights[start : start + step])
        below.append(running * ONE // total)
    return tabulate(edges, below[: len(edges) - 2])


def normal(mean: Fraction, deviation: Fraction) -> Table:
    """Return the table of P(load <= k) = Phi((k + 1/2 - mean) / deviation), k >= 0."""
    reach = MAX_DEVIATIONS * deviation
    edges = even_edges(max(0, int(mean - reach) - 1), max(1, int(mean + reach) + 1))
    half = Fraction(1, 2)
    return _from_normal(edges, lambda edge: decimal((edge - half - mean) / deviation))


def log_normal(mean: Fraction, sigma: Fraction) -> Table:
    """Return the table of P(load <= k) = Phi((ln(k + 1/2) - mu) / sigma), k >= 0.

    ``mu = ln(mean) - sigma**2 / 2``.
    """
    with localcontext(Context(prec=DIGITS)):
        deviation = decimal(sigma)
        mu = decimal(mean).ln() - deviation * deviation / 2
        edges = leading_edges(int((mu + MAX_DEVIATIONS * deviation).exp()) + 1, LOG_NORMAL_BITS)
        half = Decimal("0.5")
        return _from_normal(edges, lambda edge: ((edge - half).ln() - mu) / deviation)


def _from_normal(edges: list[int], score: Callable[[int], Decimal]) -> Table:
    """Return the table of P(load < edge) = Phi(score(edge))."""
    with localcontext(Context(prec=DIGITS)):
        return tabulate(edges, [_standard_normal(score(edge)) for edge in edges[1:-1]])


def _standard_normal(x: Decimal) -> int:
    """Return Phi(x) in units of ``2**-FRACTION``.

    ``Phi(x) = 1/2 + phi(x) (x + x**3/3 + x**5/(3 5) + ..)``: for x > 0 all terms are positive, so
    that none cancels another.
    """
    if abs(x) >= MAX_DEVIATIONS:
        return ONE if x > 0 else 0
    bits = FRACTION + 96
    magnitude = int(abs(x) * (1 << bits))
    square = magnitude * magnitude >> bits
    term, series, n = magnitude, magnitude, 1
    while term >> 64:
        n += 2
        term = (term * square >> bits) // n
        series += term
    density = int((-x * x / 2).exp() * PEAK * (1 << bits))
    from_half = density * series >> (2 * bits - FRACTION)
    return ONE // 2 + (from_half if x > 0 else -from_half)


def two_values(low: int, high: int, share: Fraction) -> Table:
    """Return the table of P(load = high) = share and P(load = low) = 1 - share."""
    threshold = (1 - share) * ONE
    table = tabulate([low, low + 1, low + 2], [int(threshold)])
    values = np.array([low, high], dtype=np.int64)
    return replace(table, first=values[table.first - low])


def decimal(value: Fraction) -> Decimal:
    """Return a fraction as a decimal with the precision of the current context."""
    return Decimal(value.numerator) / value.denominator
