"""The door for 0-1 programs: what comes in is checked and made whole numbers, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import written
from ..memory import require_memory
from ..rational import LONGEST_EXPONENT, has_long_exponent
from .sparse_rows import first_beyond, is_sparse, sparse_or_dense, whole_sparse_rows
from .whole_numbers import LARGEST, as_fraction, whole_costs, whole_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FLOAT_LARGEST = Fraction(float(np.finfo(np.float64).max))
# Costs of so many variables have their order checked over all sequences.
_MOST_ORDERED = 20
# Wide costs are rounded to this many bits where their order alone matters.
_ORDER_BITS = 61
_INTEGERS = {"i", "u"}
_NOTHING: NDArray[np.float64] = np.empty(0)


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
        return _check_sums(self.c, self.A, self.b)

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


def read_programs(c: ArrayLike, A: ArrayLike, b: ArrayLike) -> Programs:
    """Lay programs out as int64 arrays and make sure that no sum of theirs exceeds int64.

    The rest is as for :func:`lay_out`.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As there, and if sums of integers do not fit int64.
    """
    programs = lay_out(c, A, b)
    _ = programs.bound
    return programs


def lay_out(c: ArrayLike, A: ArrayLike, b: ArrayLike) -> Programs:
    """Lay programs out as int64 arrays; sums of integers are checked with their ``bound``.

    Integers stay as they are. A float means its shortest decimal; a row of them is scaled by a
    power of ten where the sums then fit int64. Fractions and Decimals are scaled likewise.
    Wider costs are kept as Python's integers. Wider rows get smaller numbers with the same 0-1
    solutions; where those are still too wide they are kept, and rounded beside that.

    Parameters
    ----------
    c : array_like, shape (*batch, n)
    A : array_like, shape (*batch, m, n), or a SciPy sparse array, shape (m, n)
        A large sparse array stays sparse if its rows fit int64.
    b : array_like, shape (*batch, m)

    Raises
    ------
    TypeError
        If an argument holds no numbers.
    ValueError
        If the shapes do not fit together, or a number is NaN or infinite, or a Decimal whose
        exponent is beyond 9999.
    OverflowError
        If an integer does not fit int64, or sums of float costs no float.
    """
    if is_sparse(A):
        A = sparse_or_dense(A)
        if is_sparse(A):
            return _lay_out_sparse(c, A, b)
    costs, rows, right = _numbers("c", c), _numbers("A", A), _numbers("b", b)
    if costs.ndim == 0:
        raise ValueError("c must have shape (*batch, n), got a single number")
    batch, n = costs.shape[:-1], costs.shape[-1]
    if not batch and rows.shape == (0,):
        rows = rows.reshape(0, n)
    if rows.ndim != costs.ndim + 1 or rows.shape[:-2] != batch or rows.shape[-1] != n:
        raise ValueError(
            f"A must have shape (*batch, m, n) with c's batch {batch} and n = {n}, got {rows.shape}"
        )
    m = rows.shape[-2]
    if right.shape != (*batch, m):
        raise ValueError(f"b must have shape {(*batch, m)}, a number a row, got {right.shape}")
    B = prod(batch)
    costs, rows, right = costs.reshape(B, n), rows.reshape(B, m, n), right.reshape(B, m)
    kinds: set[str] = {costs.dtype.kind, rows.dtype.kind, right.dtype.kind}
    if not kinds <= _INTEGERS:
        kinds = {a.dtype.kind for a in (costs, rows, right) if a.size}
    if kinds <= _INTEGERS:
        c_, A_, b_ = _int64("c", costs), _int64("A", rows), _int64("b", right)
        return Programs(c_, A_, b_, batch, "i", _NOTHING, {}, {}, {})
    kind = costs.dtype.kind if costs.size else "f"
    power, denominator, wide = _NOTHING, dict[int, Fraction](), dict[int, list[int]]()
    if kind in "iu":
        kind, c_ = "i", _int64("c", costs)
        _check_sums(c_, np.empty((0, 0, n), np.int64), np.empty((0, 0), np.int64))
    else:
        c_, power, denominator, wide = whole_costs(costs)
    joined = np.concatenate([_common(rows, kinds), _common(right, kinds)[..., None]], axis=-1)
    Ab, wider = whole_rows(joined.reshape(B * m, n + 1))
    Ab = Ab.reshape(B, m, n + 1)
    wide_rows: dict[int, dict[int, list[int]]] = {}
    for r, values in wider.items():
        wide_rows.setdefault(r // m, {})[r % m] = values
    A_, b_ = np.ascontiguousarray(Ab[:, :, :n]), np.ascontiguousarray(Ab[:, :, n])
    programs = Programs(c_, A_, b_, batch, kind, power, denominator, wide, wide_rows)
    if kind == "f":
        _check_floats(programs)
    return programs


def _lay_out_sparse(c: ArrayLike, A: Any, b: ArrayLike) -> Programs:
    """Lay out one program with a CSR array A, densely if costs or rows are too wide for int64."""
    costs, entries, right = _numbers("c", c), _numbers("A", A.data), _numbers("b", b)
    m, n = A.shape
    if costs.shape != (n,):
        raise ValueError(f"c must have shape ({n},) beside a sparse A {A.shape}, got {costs.shape}")
    if right.shape != (m,):
        raise ValueError(f"b must have shape ({m},), a number a row, got {right.shape}")
    kinds: set[str] = {entries.dtype.kind, right.dtype.kind}
    laid_out = None
    if kinds <= _INTEGERS:
        rows = A.astype(np.int64) if A.dtype != np.int64 else A
        laid_out = rows, _int64("b", right)
        _int64("A", entries)
    else:
        laid_out = whole_sparse_rows(A, _common(entries, kinds), _common(right, kinds))
    kind, power, denominator, wide = "i", _NOTHING, dict[int, Fraction](), dict[int, list[int]]()
    if costs.dtype.kind in _INTEGERS:
        c_ = _int64("c", costs)[np.newaxis]
    else:
        kind = costs.dtype.kind
        c_, power, denominator, wide = whole_costs(costs[np.newaxis])
    if laid_out is None or wide:
        require_memory(48 * m * n, f"wide numbers in {m} rows of {n} variables")
        return lay_out(costs, A.toarray(), right)
    programs = Programs(
        c_, laid_out[0], laid_out[1][np.newaxis], (), kind, power, denominator, {}, {}
    )
    if kind == "f":
        _check_floats(programs)
    return programs


def _numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} must be an array without a mask, got a masked array")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be an array of numbers, got rows of unequal length"
        ) from None
    if array.dtype == np.float64 and array is not values and (np.abs(array) > 2**53).any():
        array = _unless_lost(values, array)
    kind, width = array.dtype.kind, array.dtype.itemsize
    if kind == "O":
        array = _exact_numbers(name, array)
    elif kind not in "iu" and not (kind == "f" and width in (4, 8)):
        raise TypeError(f"{name} must hold integers, float32 or float64, got dtype {array.dtype}")
    if kind == "f":
        bad = array[~np.isfinite(array)]
        if bad.size:
            raise ValueError(f"{name} must be finite, got {bad.flat[0]}")
        if width == 4:
            # A float32 is meant as its own shortest decimal, not as that of its double.
            array = np.array([float(str(v)) for v in array.flat]).reshape(array.shape)
    return array


def _unless_lost(values: ArrayLike, array: NDArray[Any]) -> NDArray[Any]:
    """Return NumPy's float array of mixed numbers, or the numbers if it rounded integers."""
    exact = np.asarray(values, dtype=object)
    pairs = zip(exact.flat, array.flat, strict=True)
    return exact if any(isinstance(v, int) and v != int(f) for v, f in pairs) else array


def _exact_numbers(name: str, array: NDArray[Any]) -> NDArray[Any]:
    found = np.empty(array.size, dtype=object)
    for i, given in enumerate(array.flat):
        value = given.item() if isinstance(given, np.integer | np.float64) else given
        if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal):
            raise TypeError(f"{name} must hold numbers, got {value!r}")
        if not _is_finite(value):
            raise ValueError(f"{name} must be finite, got {value}")
        if isinstance(value, Decimal) and has_long_exponent(value):
            raise ValueError(f"{name} must have no exponent beyond {LONGEST_EXPONENT}, got {value}")
        found[i] = value
    if all(isinstance(value, int) for value in found):
        beyond = [value for value in found if abs(value) > LARGEST]
        if beyond:
            raise OverflowError(
                f"{name} must hold integers that fit int64, got {written(beyond[0])}"
            )
        return found.astype(np.int64).reshape(array.shape)
    return found.reshape(array.shape)


def _is_finite(value: float | Fraction | Decimal) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    return not isinstance(value, float) or isfinite(value)


def _int64(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == np.uint64 and array.size and array.max() > LARGEST:
        raise OverflowError(f"{name} must hold integers that fit int64, got {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _check_sums(c: NDArray[Any], A: Any, b: NDArray[Any]) -> int:
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


def _check_floats(programs: Programs) -> None:
    for i, factor in programs.denominator.items():
        costs = programs.wide.get(i) or programs.c[i].tolist()
        if sum(map(abs, costs)) / factor > _FLOAT_LARGEST:
            raise OverflowError(
                f"c must have absolute sums that fit float64, got more in program {i}"
            )


def _common(array: NDArray[Any], kinds: set[str]) -> NDArray[Any]:
    """Return the array so that joining A and b loses nothing."""
    if "O" in kinds or (kinds & _INTEGERS and _beyond_float(array)):
        return array.astype(object)
    return array.astype(np.float64)


def _beyond_float(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "iu" and bool((np.abs(array.astype(object)) > 2**53).any())
