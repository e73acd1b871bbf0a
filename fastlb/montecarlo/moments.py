"""Exact running moments of a figure.

They depend on the values alone, not on their order or on how they are divided: results are the
same for any chunks, threads and executors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..accelerate import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Values measured in one call: the kernel's sums of their words fit int64.
BLOCK = 2**24

# Sums are integers in units of 2**-1074, the smallest float64 above 0, and sums of squares in units
# of 2**-2148.
_UNIT_BITS = 1074
# Bits of the kernel's words, at which it also splits the mantissas of near values, and the bit at
# which it splits those of far values.
_WORD_BITS = 32
_FAR_HALF_BITS = 26


class BlockSums(NamedTuple):
    """What ``measure`` in ``kernels/statistics/sums.py`` returns of at most ``BLOCK`` values."""

    minimum: float
    maximum: float
    least_exponent: int
    largest_exponent: int
    negative: int
    zero: int
    words: tuple[int, ...]


def _measure(values: NDArray[np.float64]) -> BlockSums:
    """Measure at most ``BLOCK`` values without -0.0."""
    extremes = np.empty(2)
    numbers = kernels("statistics.sums").measure(values.view(np.int64), extremes.view(np.int64))
    minimum, maximum = extremes.tolist()
    least, largest, negative, zero, *words = map(int, numbers)
    return BlockSums(minimum, maximum, least, largest, negative, zero, tuple(words))


class Column(NamedTuple):
    """The values of one figure, one per trial, as float64.

    Attributes
    ----------
    values : (n,) float64
        Without -0.0. A constant column has a single value.
    repeats : int
        Trials that each value stands for.
    blocks : list of BlockSums
        Extremes and sums of each ``BLOCK`` of the values.
    """

    values: NDArray[np.float64]
    repeats: int
    blocks: list[BlockSums]

    @classmethod
    def of(cls, values: NDArray[Any]) -> Column:
        """Return the column of numbers of any kind; -0.0 becomes 0.0."""
        if len(values) > 0 and values.strides == (0,):
            return cls._of(values[:1], len(values))
        return cls._of(values, 1)

    @classmethod
    def _of(cls, values: NDArray[Any], repeats: int) -> Column:
        column = np.add(values, 0.0, dtype=np.float64)
        blocks = [_measure(column[start : start + BLOCK]) for start in range(0, len(values), BLOCK)]
        extremes = {value for block in blocks for value in (block.minimum, block.maximum)}
        if len(values) > 1 and len(extremes) == 1:
            return cls._of(column[:1], repeats * len(values))
        return cls(column, repeats, blocks)

    def __sub__(self, other: Column) -> Column:
        """Return the differences, trial by trial."""
        repeats = self.repeats if self.repeats == other.repeats else 1
        return Column._of(self.values - other.values, repeats)


class Moments:
    """Mean, standard error, extremes and signs of values that are added column by column.

    Sums are exact; integers beyond 2**53 count as the nearest float64.
    """

    __slots__ = ("_far", "_near", "_nonfinite", "maximum", "minimum", "negative", "trials", "zero")

    def __init__(self) -> None:
        self.trials = self.negative = self.zero = 0
        self.minimum, self.maximum = math.inf, -math.inf
        # Blocks whose exponents are far apart: the sum and the sum of squares, in units.
        self._far = 0, 0
        # Blocks whose exponents are near each other: the kernel's words, by the least exponent.
        self._near: dict[int, list[int]] = {}
        # The sum of infinities and NaN; 0.0 without any.
        self._nonfinite = 0.0

    def add(self, column: Column) -> None:
        """Add a column, one value per trial."""
        start = 0
        for block in column.blocks:
            self._add_block(column.values[start : start + BLOCK], column.repeats, block)
            start += BLOCK

    def _add_block(self, values: NDArray[np.float64], repeats: int, block: BlockSums) -> None:
        sums = kernels("statistics.sums")
        self.trials += len(values) * repeats
        minimum, maximum = block.minimum, block.maximum
        if block.largest_exponent == sums.EXPONENTS:
            minimum, maximum = float(values.min()), float(values.max())
            finite = np.isfinite(values)
            nonfinite, values = values[~finite], values[finite]
            self._nonfinite += float(nonfinite.sum())
            self.negative += repeats * int(np.count_nonzero(nonfinite < 0))
            block = _measure(values)
        self._include_extremes(minimum, maximum)
        if block.largest_exponent - block.least_exponent <= sums.NEAR:
            self._add_near(block.least_exponent, [repeats * word for word in block.words])
            negative, zero = block.negative, block.zero
        else:
            negative, zero = self._add_far(values, repeats, block)
        self.negative += repeats * negative
        self.zero += repeats * zero

    def _add_near(self, least_exponent: int, words: list[int]) -> None:
        """Add the words that the kernel summed in the unit of the least exponent."""
        previous = self._near.get(least_exponent)
        self._near[least_exponent] = words if previous is None else list(map(add, previous, words))

    def _add_far(
        self, values: NDArray[np.float64], repeats: int, block: BlockSums
    ) -> tuple[int, int]:
        """Add finite values, and return how many of them are negative and how many are zero."""
        E = block.largest_exponent - block.least_exponent + 1
        sums, strip = np.zeros((E, 8), dtype=np.int64), np.empty((E, 4), dtype=np.int64)
        signs: tuple[int, int] = kernels("statistics.sums").add_far(
            values.view(np.int64), block.least_exponent, sums, strip
        )
        total, squares = self._far
        for exponent, words in enumerate(sums.tolist(), block.least_exponent):
            further, further_squares = _combine(words, exponent, _FAR_HALF_BITS)
            total += repeats * further
            squares += repeats * further_squares
        self._far = total, squares
        return signs

    def _sums(self) -> tuple[int, int]:
        """Return the sum of all finite values and the sum of their squares, in units."""
        total, squares = self._far
        for least_exponent, words in self._near.items():
            further, further_squares = _combine(words, least_exponent, _WORD_BITS)
            total += further
            squares += further_squares
        return total, squares

    def merge(self, other: Moments) -> None:
        """Add the values that were added to other moments."""
        self.trials += other.trials
        self.negative += other.negative
        self.zero += other.zero
        self._far = self._far[0] + other._far[0], self._far[1] + other._far[1]
        for least_exponent, words in other._near.items():
            self._add_near(least_exponent, words)
        self._nonfinite += other._nonfinite
        self._include_extremes(other.minimum, other.maximum)

    def _include_extremes(self, minimum: float, maximum: float) -> None:
        # NaN differs from itself and is kept once it occurs.
        if minimum != minimum or minimum < self.minimum:
            self.minimum = minimum
        if maximum != maximum or maximum > self.maximum:
            self.maximum = maximum

    @property
    def mean(self) -> float:
        """The mean, rounded once; NaN without trials."""
        if self._nonfinite or math.isnan(self._nonfinite) or not self.trials:
            return self._nonfinite or math.nan
        return _as_float(Fraction(self._sums()[0], self.trials << _UNIT_BITS))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; NaN with less than two trials."""
        n = self.trials
        if n < 2 or self._nonfinite or math.isnan(self._nonfinite):
            return math.nan
        total, squares = self._sums()
        spread = n * squares - total**2
        return math.sqrt(_as_float(Fraction(spread, n * n * (n - 1) << 2 * _UNIT_BITS)))


def _combine(words: Sequence[int], exponent: int, half_bits: int) -> tuple[int, int]:
    """Return the sum and the sum of squares that the kernels' words make up, in units.

    ``half_bits`` is the bit at which the kernel split the mantissas.
    """
    total, low, crossed, high = (
        low_word + (high_word << _WORD_BITS)
        for low_word, high_word in zip(words[::2], words[1::2], strict=True)
    )
    squares = low + (crossed << half_bits + 1) + (high << 2 * half_bits)
    # The exponent field 1 is that of the unit itself.
    return total << (exponent - 1), squares << 2 * (exponent - 1)


def _as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
