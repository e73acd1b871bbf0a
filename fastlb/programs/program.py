"""0-1 programs in whole numbers: one as solvers take it, and batches in the user's units."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .sparse_rows import first_beyond, is_sparse
from .whole_numbers import INT64_MAX, as_fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Up to this many variables the order of costs is checked over all sequences.
_MOST_ORDERED = 20
# Wide costs are rounded to this many bits where their order alone matters.
_ORDER_BITS = 61


class Program(NamedTuple):
    """One program min c.x, A x >= b of ``n`` variables and ``m`` rows in whole numbers.

    Attributes
    ----------
    c : (n,) int64
    A : (m, n) int64, an array or a CSR array
    b : (m,) int64
    sum_bound : int
        No absolute sum of a row or of the costs is larger.
    cutoff : int, optional
        Solvers may leave out solutions that cost this much or more.
    """

    c: NDArray[Any]
    A: Any
    b: NDArray[Any]
    sum_bound: int = INT64_MAX
    cutoff: int | None = None


@dataclass(frozen=True)
class Programs:
    """``B`` programs min c.x, A x >= b of ``n`` variables and ``m`` rows in whole numbers.

    Each row (A, b) and each c is the user's times a positive factor of its own.

    Attributes
    ----------
    c : (B, n) int64
        0 for the programs in ``wide``.
    A : (B, m, n) int64, or a CSR array (m, n) of int64 for one program of many sparse rows
    b : (B, m) int64
        The absolute sum of every row with its b fits int64; for integers ``sum_bound`` checks it.
        Rows in ``wide_rows`` are rounded here and relaxed by 1e-9 of their absolute sum.
    batch : tuple of int
        Leading axes of the input; B is their product.
    kind : "i", "f" or "O"
        The kind of c, and so of an objective: integer, float or another exact number.
    power : (B,) float64
        The power of ten by which the user's c was multiplied, NaN for the programs in
        ``factor``; empty for integers.
    factor : dict of program to Fraction
        The factor by which c was multiplied where it is no power of ten.
    wide : dict of program to list of int, (n,)
        Whole costs whose absolute sum does not fit int64.
    wide_rows : dict of program to dict of row to list of int, (n + 1,)
        Whole coefficients and right-hand side of rows whose absolute sum does not fit int64.
    """

    c: NDArray[Any]
    A: Any
    b: NDArray[Any]
    batch: tuple[int, ...]
    kind: str
    power: NDArray[np.float64]
    factor: dict[int, Fraction]
    wide: dict[int, list[int]]
    wide_rows: dict[int, dict[int, list[int]]]

    @cached_property
    def sum_bound(self) -> int:
        """A number that no absolute sum of a row or of the costs exceeds.

        Raises
        ------
        OverflowError
            If a sum of integers does not fit int64.
        """
        return check_sums(self.c, self.A, self.b)

    def rows(self, i: int) -> Any:
        """Return the rows (m, n) of a program, an array or a CSR array."""
        return self.A if is_sparse(self.A) else self.A[i]

    def exact_costs(self, i: int) -> list[int]:
        """Return the costs of a program, wide ones too."""
        return self.wide.get(i) or self.c[i].tolist()

    def is_wide(self, i: int) -> bool:
        """Return whether the costs or a row of a program do not fit int64."""
        return i in self.wide or i in self.wide_rows

    def only(self, i: int) -> Programs:
        """Return program i alone, without a batch and without its wide costs and rows."""
        one = slice(i, i + 1)
        A = self.A if is_sparse(self.A) else self.A[one]
        factor = {0: self.factor[i]} if i in self.factor else {}
        return Programs(self.c[one], A, self.b[one], (), self.kind, self.power[one], factor, {}, {})

    def tests(self) -> NDArray[np.int64]:
        """Return the tests of a sequence, (B, m + 1, n): ``ordered_costs()``, then A."""
        return np.concatenate([self.ordered_costs()[:, None], self.A], axis=1)

    def costs(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return c.x (B,) of solutions x (B, n): int64, or Python integers if any cost is wide."""
        sums: NDArray[Any] = (self.c * x).sum(axis=1)
        if self.wide:
            sums = sums.astype(object)
            for i, costs in self.wide.items():
                sums[i] = sum(v for v, chosen in zip(costs, x[i].tolist(), strict=True) if chosen)
        return sums

    def objectives(self, sums: NDArray[Any]) -> NDArray[Any]:
        """Return c.x in the user's units, (B,); floats are the nearest ones."""
        if self.kind == "i":
            return sums
        if self.kind == "O":
            values = np.empty(len(sums), dtype=object)
            values[:] = [self._exact(i, value) for i, value in enumerate(sums)]
            return values
        # One division gives the nearest float where both numbers are floats exactly.
        divided = (np.abs(sums) <= 2**53).astype(bool) & ~np.isnan(self.power)
        nearest = np.zeros(len(sums))
        nearest[divided] = sums[divided].astype(np.float64) / self.power[divided]
        for i in np.flatnonzero(~divided).tolist():
            nearest[i] = float(self._exact(i, sums[i]))
        return nearest

    def lower_bounds(self, sums: NDArray[Any], unproven: NDArray[np.bool_]) -> NDArray[Any]:
        """Return lower bounds (B,) of c.x in the user's units.

        Those in the mask ``unproven`` are rounded down, so that they stay bounds as floats.
        """
        values = self.objectives(sums)
        if self.kind == "f":
            for i in np.flatnonzero(unproven).tolist():
                if as_fraction(float(values[i])) > self._exact(i, sums[i]):
                    values[i] = np.nextafter(values[i], -np.inf)
        return values

    def _exact(self, i: int, whole: Any) -> Fraction:
        return Fraction(int(whole)) / (self.factor.get(i) or Fraction(self.power[i]))

    def ordered_costs(self) -> NDArray[np.int64]:
        """Return costs (B, n) int64 under which all sequences compare as under the exact costs.

        Raises
        ------
        OverflowError
            If wide costs have no such int64 costs.
        """
        if not self.wide:
            return self.c
        c = self.c.copy()
        for i, costs in self.wide.items():
            c[i] = _narrow_costs(costs)
            if len(costs) > _MOST_ORDERED or not _same_order(c[i].tolist(), costs):
                raise OverflowError(
                    "c must have costs whose sums compare as those of integers that fit int64, "
                    f"got a wider range in program {i}"
                )
        return c


def _narrow_costs(costs: list[int]) -> list[int]:
    """Return costs that fit int64; their sums usually compare as those of the wide costs."""
    order = sorted(range(len(costs)), key=lambda j: abs(costs[j]))
    sizes = [abs(costs[j]) for j in order]
    # A cost that exceeds all smaller ones together may shrink to their sum plus 1.
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
    """Return whether the sums over all sequences compare alike under two lists of costs."""
    sums = [(0, 0)]
    for a, b in zip(narrow, wide, strict=True):
        sums += [(s + a, t + b) for s, t in sums]
    sums.sort()
    return all(t < v if s < u else t == v for (s, t), (u, v) in pairwise(sums))


def check_sums(c: NDArray[Any], A: Any, b: NDArray[Any]) -> int:
    """Return a bound of all absolute sums, or raise ``OverflowError``."""
    entries = A.data if is_sparse(A) else A
    bound: int = c.shape[1] * max(_largest_size(c), _largest_size(entries)) + _largest_size(b)
    if bound <= INT64_MAX:
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
    return INT64_MAX


def _largest_size(values: NDArray[Any]) -> int:
    return max(-int(values.min(initial=0)), int(values.max(initial=0)))


def _first_beyond(rows: NDArray[Any], right: NDArray[Any]) -> int | None:
    """Return the first row whose absolute sum with its right-hand side exceeds int64, or None."""
    sizes = np.abs(np.concatenate([rows, right[:, None]], axis=1)).view(np.uint64)
    # Sums of the upper and of the lower 32 bits fit 64.
    upper = (sizes >> np.uint64(32)).sum(axis=1)
    lower = (sizes & np.uint64(2**32 - 1)).sum(axis=1)
    beyond = upper + (lower >> np.uint64(32)) >= 2**31
    return int(beyond.argmax()) if beyond.any() else None
