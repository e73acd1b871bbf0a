"""0-1 programs in whole numbers, and the sums and costs that belong to them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .sparse_rows import first_beyond, is_sparse
from .whole_numbers import LARGEST, as_fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Costs of so many variables have their order checked over all sequences.
_MOST_ORDERED = 20
# Wide costs are rounded to this many bits where their order alone matters.
_ORDER_BITS = 61


@dataclass(frozen=True)
class Programs:
    """``B`` programs min c.x, A x >= b of ``n`` variables and ``m`` rows in whole numbers.

    Each row of A with its b, and each c, is the given one times a positive number of its own.

    Attributes
    ----------
    c : (B, n) int64
        0 for the programs in ``wide``.
    A : (B, m, n) int64, or a CSR array (m, n) of int64 for one program of many sparse rows
    b : (B, m) int64
        All sums of absolute values in a row, with its b, fit int64, which ``bound`` makes sure of
        where integers came in. Those in ``wide_rows`` are
        relaxed by 1e-9 of their absolute sum.
    batch : leading axes of the input
    kind : "i", "f" or "O"
        Integers, floats or other exact numbers: what an objective is given back as.
    power : (B,) float64
        The power of ten by which the given c was multiplied, NaN where ``denominator`` has the
        factor; empty for integers.
    denominator : dict
        That factor by number of the program.
    wide : dict
        By number of the program whole costs whose absolute sum does not fit int64.
    wide_rows : dict
        By number of the program its rows, by their number, whose absolute sums do not fit
        int64: whole coefficients and right-hand side.
    """

    c: NDArray[Any]
    A: Any
    b: NDArray[Any]
    batch: tuple[int, ...]
    kind: str
    power: NDArray[np.float64]
    denominator: dict[int, Fraction]
    wide: dict[int, list[int]]
    wide_rows: dict[int, dict[int, list[int]]]

    @cached_property
    def bound(self) -> int:
        """A number that no absolute sum exceeds.

        Raises
        ------
        OverflowError
            If a sum of integers does not fit int64.
        """
        return check_sums(self.c, self.A, self.b)

    def rows(self, i: int) -> Any:
        """Return the rows (m, n) of a program, an array or a CSR array."""
        return self.A if is_sparse(self.A) else self.A[i]

    def only(self, i: int) -> Programs:
        """Return one program without a batch."""
        one = slice(i, i + 1)
        A = self.A if is_sparse(self.A) else self.A[one]
        factor = {0: self.denominator[i]} if i in self.denominator else {}
        return Programs(self.c[one], A, self.b[one], (), self.kind, self.power[one], factor, {}, {})

    def tests(self) -> NDArray[np.int64]:
        """Return the tests of a sequence, (B, m + 1, n): its ordered costs, then its rows."""
        return np.concatenate([self.ordered_costs()[:, None], self.A], axis=1)

    def costs(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return whole objectives (B,) of solutions x (B, n): Python's integers if any is wide."""
        found: NDArray[Any] = (self.c * x).sum(axis=1)
        if self.wide:
            found = found.astype(object)
            for i, costs in self.wide.items():
                found[i] = sum(v for v, chosen in zip(costs, x[i].tolist(), strict=True) if chosen)
        return found

    def objectives(self, whole: NDArray[Any]) -> NDArray[Any]:
        """Return whole objectives (B,) in the units that came in, floats as the nearest ones."""
        if self.kind == "i":
            return whole
        if self.kind == "O":
            found = np.empty(len(whole), dtype=object)
            found[:] = [self._exact(i, value) for i, value in enumerate(whole)]
            return found
        # One division gives the nearest float where both numbers are floats exactly.
        divided = (np.abs(whole) <= 2**53).astype(bool) & ~np.isnan(self.power)
        nearest = np.zeros(len(whole))
        nearest[divided] = whole[divided].astype(np.float64) / self.power[divided]
        for i in np.flatnonzero(~divided).tolist():
            nearest[i] = float(self._exact(i, whole[i]))
        return nearest

    def bounds(self, whole: NDArray[Any], among: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the same of bounds, floats among those marked (B,) rounded down, not up."""
        found = self.objectives(whole)
        if self.kind == "f":
            for i in np.flatnonzero(among).tolist():
                if as_fraction(float(found[i])) > self._exact(i, whole[i]):
                    found[i] = np.nextafter(found[i], -np.inf)
        return found

    def _exact(self, i: int, whole: Any) -> Fraction:
        return Fraction(int(whole)) / (self.denominator.get(i) or Fraction(self.power[i]))

    def ordered_costs(self) -> NDArray[np.int64]:
        """Return costs (B, n) int64 by which all sequences compare as by the given ones.

        Raises
        ------
        OverflowError
            If none are found for wide costs.
        """
        if not self.wide:
            return self.c
        c = self.c.copy()
        for i, costs in self.wide.items():
            c[i] = _narrowed(costs)
            if len(costs) > _MOST_ORDERED or not _same_order(c[i].tolist(), costs):
                raise OverflowError(
                    "c must have costs whose sums compare as those of integers that fit int64, "
                    f"got a wider range in program {i}"
                )
        return c


def _narrowed(costs: list[int]) -> list[int]:
    """Return costs that fit int64 and whose sums mostly compare as those of the given ones."""
    order = sorted(range(len(costs)), key=lambda j: abs(costs[j]))
    sizes = [abs(costs[j]) for j in order]
    # The largest cost need only exceed all others together, if it does; then the next.
    last = len(sizes)
    while last and sizes[last - 1] > sum(sizes[: last - 1]):
        last -= 1
    for k in range(last, len(sizes)):
        sizes[k] = sum(sizes[:k]) + 1
    shift = max(0, sum(sizes).bit_length() - _ORDER_BITS)
    narrow = [0] * len(costs)
    for j, size in zip(order, sizes, strict=True):
        narrow[j] = (size if costs[j] > 0 else -size) >> shift
    return narrow


def _same_order(narrow: list[int], wide: list[int]) -> bool:
    """Tell whether the sums over all sequences compare alike under two lists of costs."""
    sums = [(0, 0)]
    for a, b in zip(narrow, wide, strict=True):
        sums += [(s + a, t + b) for s, t in sums]
    sums.sort()
    return all(t < v if s < u else t == v for (s, t), (u, v) in pairwise(sums))


def check_sums(c: NDArray[Any], A: Any, b: NDArray[Any]) -> int:
    """Return a bound of all absolute sums, or raise ``OverflowError``."""
    entries = A.data if is_sparse(A) else A
    bound: int = c.shape[1] * max(_largest_size(c), _largest_size(entries)) + _largest_size(b)
    if bound <= LARGEST:
        return bound
    program = _first_beyond(c, np.zeros(len(c), dtype=np.int64))
    if program is not None:
        raise OverflowError(
            f"c must have absolute sums that fit int64, got more in program {program}"
        )
    if is_sparse(A):
        row = first_beyond(A, b[0])
    else:
        row = _first_beyond(A.reshape(-1, A.shape[2]), b.reshape(-1))
    if row is not None:
        raise OverflowError(
            f"A must have absolute sums and b that fit int64, got more in row {row}"
        )
    return LARGEST


def _largest_size(values: NDArray[Any]) -> int:
    least, largest = kernels("programs.decimal_scaling").extremes(values.reshape(-1))
    return max(-int(least), int(largest))


def _first_beyond(rows: NDArray[Any], right: NDArray[Any]) -> int | None:
    """Return the first row whose absolute sum with its right-hand side exceeds int64, or None."""
    sizes = np.abs(np.concatenate([rows, right[:, None]], axis=1)).view(np.uint64)
    # Sums of the upper and of the lower 32 bits fit 64.
    upper = (sizes >> np.uint64(32)).sum(axis=1)
    lower = (sizes & np.uint64(2**32 - 1)).sum(axis=1)
    beyond = upper + (lower >> np.uint64(32)) >= 2**31
    return int(beyond.argmax()) if beyond.any() else None
