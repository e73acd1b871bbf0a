"""Running statistics of a figure in bounded memory: exact moments and counted values.

Both depend on the values alone, not on their order or on how they come in: results are the same
for any chunks, threads and executors.
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

# Values added at a time: the kernel's sums of their words fit int64.
BLOCK = 2**24

# Distinct values counted before their last bits are dropped. 2**13 take 256 KiB a figure, and
# leave quantiles right to 2**-13 of themselves where the values lie within a factor of two.
DISTINCT = 2**13
# A table for few values has so much less room, and that for the fewest so much less again.
GROWTH = 8
# Bins that may stand in a row, as much memory as the largest hash table.
ROW = 4 * DISTINCT

# Bits dropped at first: few of them merge nothing, of values with few digits or with all.
FIRST_DROPPED = 32

# The unit of the sums is the least float64 above 0, of the squares' sums its square.
_UNIT = 1074
# The bit at which the kernels halve mantissas: those of near values, and of far ones.
_WORD = 32
_HALF = 26

# The weight of a value that comes once.
_ONE = np.ones(1, dtype=np.int64)

# The least and largest of a block of values, and what ``measure`` in
# ``kernels/statistics/sums.py`` returns of it.
Measured = tuple[float, float, tuple[int, ...]]


def _measure(values: NDArray[np.float64]) -> Measured:
    """Measure at most ``BLOCK`` values without -0.0."""
    ends = np.empty(2)
    numbers = kernels("statistics.sums").measure(values.view(np.int64), ends.view(np.int64))
    least, largest = ends.tolist()
    return least, largest, tuple(map(int, numbers))


class Column(NamedTuple):
    """One value a trial, as floats: ``values``, each ``times`` times.

    ``measured`` is what the kernel says of each ``BLOCK`` of the values.
    """

    values: NDArray[np.float64]
    times: int
    measured: list[Measured]

    @classmethod
    def of(cls, values: NDArray[Any]) -> Column:
        """Take numbers of any kind; -0.0 becomes 0.0, and one value for all is kept once."""
        if len(values) > 0 and values.strides == (0,):
            return cls._of(values[:1], len(values))
        return cls._of(values, 1)

    @classmethod
    def _of(cls, values: NDArray[Any], times: int) -> Column:
        column = np.add(values, 0.0, dtype=np.float64)
        measured = [
            _measure(column[first : first + BLOCK]) for first in range(0, len(values), BLOCK)
        ]
        if len({end for block in measured for end in block[:2]}) == 1 < len(values):
            return cls._of(column[:1], times * len(values))
        return cls(column, times, measured)

    def __sub__(self, other: Column) -> Column:
        """Return the differences, trial by trial."""
        times = self.times if self.times == other.times else 1
        return Column._of(self.values - other.values, times)


class Moments:
    """Mean, standard error, extremes and signs of values that are added column by column.

    Sums are exact: integers beyond 2**53 count as the nearest float64.
    """

    __slots__ = ("_far", "_near", "_special", "maximum", "minimum", "negative", "trials", "zero")

    def __init__(self) -> None:
        self.trials = self.negative = self.zero = 0
        self.minimum, self.maximum = math.inf, -math.inf
        # The sum and that of squares, of values that are far from each other; those of the others
        # as the words that the kernel adds up, by the least exponent.
        self._far = 0, 0
        self._near: dict[int, list[int]] = {}
        self._special = 0.0

    def add(self, column: Column) -> None:
        """Add one value a trial."""
        first = 0
        for block in column.measured:
            self._add(column.values[first : first + BLOCK], column.times, block)
            first += BLOCK

    def _add(self, values: NDArray[np.float64], times: int, measured: Measured) -> None:
        sums = kernels("statistics.sums")
        self.trials += len(values) * times
        low, high, (least, largest, negative, zero, *words) = measured
        if largest == sums.EXPONENTS:
            low, high = float(values.min()), float(values.max())
            finite = np.isfinite(values)
            special, values = values[~finite], values[finite]
            self._special += float(special.sum())
            self.negative += times * int(np.count_nonzero(special < 0))
            least, largest, negative, zero, *words = _measure(values)[2]
        self._reach(low, high)
        if largest - least <= sums.NEAR:
            self._include(least, [times * word for word in words])
        else:
            negative, zero = self._add_far(values, times, least, largest)
        self.negative += times * negative
        self.zero += times * zero

    def _include(self, least: int, words: list[int]) -> None:
        """Add words that the kernel added up, whose unit is that of the least exponent."""
        known = self._near.get(least)
        self._near[least] = words if known is None else list(map(add, known, words))

    def _add_far(
        self, values: NDArray[np.float64], times: int, least: int, largest: int
    ) -> tuple[int, int]:
        """Add finite values, and return how many of them are negative and zero."""
        E = largest - least + 1
        sums, strip = np.zeros((E, 8), dtype=np.int64), np.empty((E, 4), dtype=np.int64)
        signs: tuple[int, int] = kernels("statistics.sums").add_far(
            values.view(np.int64), least, sums, strip
        )
        total, squares = self._far
        for exponent, words in enumerate(sums.tolist(), least):
            more, more_squares = _whole(words, exponent, _HALF)
            total += times * more
            squares += times * more_squares
        self._far = total, squares
        return signs

    def _sums(self) -> tuple[int, int]:
        """Return the sum of all finite values and that of their squares, in units."""
        total, squares = self._far
        for least, words in self._near.items():
            more, more_squares = _whole(words, least, _WORD)
            total += more
            squares += more_squares
        return total, squares

    def merge(self, other: Moments) -> None:
        """Add what was added to other moments."""
        self.trials += other.trials
        self.negative += other.negative
        self.zero += other.zero
        self._far = self._far[0] + other._far[0], self._far[1] + other._far[1]
        for least, words in other._near.items():
            self._include(least, words)
        self._special += other._special
        self._reach(other.minimum, other.maximum)

    def _reach(self, least: float, largest: float) -> None:
        """Let the extremes reach as far as these."""
        # NaN once met stays.
        self.minimum = least if least != least or least < self.minimum else self.minimum
        self.maximum = largest if largest != largest or largest > self.maximum else self.maximum

    @property
    def mean(self) -> float:
        """The mean, rounded once; NaN without trials."""
        if self._special or math.isnan(self._special) or not self.trials:
            return self._special or math.nan
        return _as_float(Fraction(self._sums()[0], self.trials << _UNIT))

    @property
    def standard_error(self) -> float:
        """Of the mean; NaN with less than two trials."""
        n = self.trials
        if n < 2 or self._special or math.isnan(self._special):
            return math.nan
        total, squares = self._sums()
        spread = n * squares - total**2
        return math.sqrt(_as_float(Fraction(spread, n * n * (n - 1) << 2 * _UNIT)))


class Histogram:
    """How often each value comes, in at most 2**13 bins.

    Values are exact while so many bins suffice; then the last bits of all float64 values are
    dropped: 32, or as few more as it takes. What is counted depends on the values alone, and takes
    half the time of a KLL sketch, which is random, and a quarter of that of a t-digest, which
    depends on the order (datasketches 5.2).

    Bins lie in a hash table, or one after the other once bits are dropped: there are few gaps then
    unless values are far apart, and counting takes a third of the time.
    """

    __slots__ = ("_counts", "_first", "_keys", "_used", "dropped")

    def __init__(self, dropped: int = 0) -> None:
        """Begin without any value; ``dropped`` bits if other values have dropped as many."""
        self.dropped = dropped
        self._keys, self._counts = _table(0 if dropped else 2 * DISTINCT // GROWTH**2)
        # The key of the first bin of a row, which needs no others.
        self._first = 0 if dropped else None
        self._used = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Histogram._of, (self.dropped, *self._entries())

    @classmethod
    def _of(cls, dropped: int, bits: NDArray[np.int64], counts: NDArray[np.int64]) -> Histogram:
        histogram = cls(dropped)
        histogram._take(bits, counts)
        return histogram

    def add(self, column: Column) -> None:
        """Count one value a trial."""
        weights = _ONE if column.times == 1 else np.array([column.times])
        self._take(column.values.view(np.int64), weights)

    def merge(self, other: Histogram) -> None:
        """Count what another histogram has counted.

        The result is the same as if all values had been added to one.
        """
        if other.dropped > self.dropped:
            self._rebuild(other.dropped, self._entries(), other._entries()[0])
        self._take(*other._entries())

    def _take(self, bits: NDArray[np.int64], weights: NDArray[np.int64]) -> None:
        """Count float64 values as they are stored, (n,), with weights (n,) or one for all, (1,)."""
        while len(bits):
            counted = self._count(bits, weights)
            if counted == len(bits):
                return
            bits = bits[counted:]
            weights = weights[counted:] if len(weights) > 1 else weights
            known, full = self._entries(), self._used == DISTINCT
            self._rebuild(self._enough(known[0], bits) if full else self.dropped, known, bits)

    def _count(self, bits: NDArray[np.int64], weights: NDArray[np.int64]) -> int:
        """Count as far as there is room, and return how many values were taken."""
        histogram = kernels("statistics.histogram")
        if self._first is None:
            table = self._keys, self._counts, self._used, len(self._keys) // 2
            counted, self._used = histogram.count(bits, self.dropped, weights, *table)
        else:
            row = self._first, self._counts, self._used, DISTINCT
            counted, self._used = histogram.count_in_row(bits, self.dropped, weights, *row)
        return int(counted)

    def _enough(self, bits: NDArray[np.int64], further: NDArray[np.int64]) -> int:
        """Return how many bits to drop where one bin more than there may be is needed.

        Never more than further values, beside those counted, make necessary: the bins would depend
        on the order of the values. If it turns out to be too few, it will be asked for again.
        """
        if self.dropped:
            return max(self.dropped + 1, FIRST_DROPPED)
        # At first it is several bits; as many values again tell all but the last one or two.
        keys = np.sort(_ordered(np.concatenate([bits, further[:DISTINCT]])))
        return int(kernels("statistics.histogram").fewest_dropped(keys, FIRST_DROPPED, DISTINCT))

    def _entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bins as the least of their float64 values as stored, and their counts."""
        keys, counts = np.empty((2, self._used + 1), dtype=np.int64)
        if self._first is None:
            kernels("statistics.histogram").entries(self._keys, self._counts, keys, counts)
        else:
            kernels("statistics.histogram").entries_in_row(self._first, self._counts, keys, counts)
        return _ordered(keys[:-1] << self.dropped), counts[:-1]

    def _rebuild(
        self,
        dropped: int,
        known: tuple[NDArray[np.int64], NDArray[np.int64]],
        further: NDArray[np.int64],
    ) -> None:
        """Make room for what is counted and for further values, without so many bits."""
        self.dropped = dropped
        first, last = self._ends(known[0], further) if dropped else (0, ROW)
        if last - first < ROW:
            # As much room again around them, as far as it goes.
            size = min(2 * (last - first + 1), ROW)
            self._first = first - (size - (last - first + 1)) // 2
            self._keys, self._counts = _table(0)[0], np.zeros(size, dtype=np.int64)
        else:
            self._first = None
            self._keys, self._counts = _table(2 * DISTINCT if dropped else GROWTH * len(self._keys))
        self._used = 0
        self._count(*known)

    def _ends(self, *given: NDArray[np.int64]) -> tuple[int, int]:
        """Return the first and the last key of values."""
        ends = [kernels("statistics.histogram").ends(bits) for bits in given if len(bits)] or [
            (0, 0)
        ]
        first, last = min(end[0] for end in ends), max(end[1] for end in ends)
        return int(first) >> self.dropped, int(last) >> self.dropped

    def quantiles(
        self, levels: Sequence[float], least: float, largest: float
    ) -> tuple[list[float], float]:
        """Return the quantiles at these levels, and the most that any may be wrong by.

        Interpolated as NumPy does between values. Where bits were dropped, a bin's values count
        as spread evenly over it, within ``least`` and ``largest``.
        """
        bits, counts = self._entries()
        first = _ordered(bits)
        order = np.argsort(first)
        first, counts = first[order], counts[order]
        ends = np.cumsum(counts)
        low = np.clip(_value(first), least, largest)
        high = np.clip(_value(first + (1 << self.dropped) - 1), least, largest)

        def ranked(rank: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
            bins = np.searchsorted(ends, rank, side="right")
            part = (rank - (ends - counts)[bins] + 0.5) / counts[bins]
            width = high[bins] - low[bins]
            quantiles = low[bins] + part * width
            for end, value in ((0, least), (ends[-1] - 1, largest)):  # known exactly
                quantiles[rank == end], width[rank == end] = value, 0.0
            return quantiles, width

        position = np.asarray(levels, dtype=np.float64) * (ends[-1] - 1)
        below = np.floor(position).astype(np.int64)
        part = position - below
        # Between infinities, or over more than the largest float.
        with np.errstate(invalid="ignore", over="ignore"):
            a, wrong_a = ranked(below)
            b, wrong_b = ranked(np.minimum(below + 1, ends[-1] - 1))
            # From the nearer end, as NumPy, whose quantiles these are where values are exact.
            quantiles = np.where(part < 0.5, a + (b - a) * part, b - (b - a) * (1 - part))
            beyond = np.isinf(b - a) & np.isfinite(a) & np.isfinite(b)
            quantiles = np.where(beyond, a * (1 - part) + b * part, quantiles)
        return quantiles.tolist(), float(max(wrong_a.max(initial=0.0), wrong_b.max(initial=0.0)))


def _table(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)


def _ordered(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return integers in the order of the floats that these bits are; its own inverse."""
    return bits ^ ((bits >> 63) & (2**63 - 1))


def _value(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    return _ordered(keys).view(np.float64)


def _whole(words: Sequence[int], exponent: int, half: int) -> tuple[int, int]:
    """Return a sum and that of squares from the kernels' words, of mantissas halved at a bit."""
    total, low, crossed, high = (
        word + (above << _WORD) for word, above in zip(words[::2], words[1::2], strict=True)
    )
    squares = low + (crossed << half + 1) + (high << 2 * half)
    # A field of 1 is the exponent of the unit itself.
    return total << (exponent - 1), squares << 2 * (exponent - 1)


def _as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
