"""0-1 programs as the user passes them, checked and scaled to whole numbers exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import refused_dtype, written
from ..memory import require_memory
from ..rational import LONGEST_EXPONENT, has_long_exponent
from .program import Programs, check_sums
from .sparse_rows import is_sparse, sparse_or_dense, whole_sparse_rows
from .whole_numbers import INT64_MAX, whole_costs, whole_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FLOAT_LARGEST = Fraction(float(np.finfo(np.float64).max))
_INTEGERS = {"i", "u"}
_EMPTY: NDArray[np.float64] = np.empty(0)


def read_programs(c: ArrayLike, A: ArrayLike, b: ArrayLike) -> Programs:
    """Lay programs out as :func:`lay_out` does, and check that no sum exceeds int64.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As :func:`lay_out`, and if sums of integers do not fit int64.
    """
    programs = lay_out(c, A, b)
    _ = programs.sum_bound
    return programs


def lay_out(c: Any, A: Any, b: ArrayLike) -> Programs:
    """Lay programs out as int64 arrays; ``Programs.sum_bound`` checks the sums of integers.

    Integers stay as they are. A float means its shortest decimal, and a row of floats is
    multiplied by a power of ten if its sums then fit int64. Fractions and Decimals are
    multiplied by their common denominator. Costs whose sums do not fit int64 stay Python
    integers, in ``wide``. Rows whose sums do not fit are replaced by rows of smaller numbers
    with the same 0-1 solutions; where no such row fits, the exact row stays in ``wide_rows``
    and ``A`` holds it rounded.

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
        return Programs(c_, A_, b_, batch, "i", _EMPTY, {}, {}, {})
    scaled = _scale_costs(costs)
    if scaled.kind == "i":
        check_sums(scaled.c, np.empty((0, 0, n), np.int64), np.empty((0, 0), np.int64))
    joined = np.concatenate([_joinable(rows, kinds), _joinable(right, kinds)[..., None]], axis=-1)
    Ab, wide_by_number = whole_rows(joined.reshape(B * m, n + 1))
    Ab = Ab.reshape(B, m, n + 1)
    wide_rows: dict[int, dict[int, list[int]]] = {}
    for number, values in wide_by_number.items():
        wide_rows.setdefault(number // m, {})[number % m] = values
    A_, b_ = np.ascontiguousarray(Ab[:, :, :n]), np.ascontiguousarray(Ab[:, :, n])
    return _programs(scaled, A_, b_, batch, wide_rows)


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
        laid_out = whole_sparse_rows(A, _joinable(entries, kinds), _joinable(right, kinds))
    scaled = _scale_costs(costs[np.newaxis])
    if laid_out is None or scaled.wide:
        require_memory(48 * m * n, f"wide numbers in {m} rows of {n} variables")
        return lay_out(costs, A.toarray(), right)
    whole_A, whole_b = laid_out
    return _programs(scaled, whole_A, whole_b[np.newaxis], (), {})


class _Costs(NamedTuple):
    """Whole costs; for the fields see :class:`Programs`."""

    kind: str
    c: NDArray[np.int64]
    power: NDArray[np.float64]
    factor: dict[int, Fraction]
    wide: dict[int, list[int]]


def _scale_costs(costs: NDArray[Any]) -> _Costs:
    """Return costs (B, n) in whole numbers."""
    if costs.dtype.kind in _INTEGERS and costs.size:
        return _Costs("i", _int64("c", costs), _EMPTY, {}, {})
    return _Costs(costs.dtype.kind if costs.size else "f", *whole_costs(costs))


def _programs(
    costs: _Costs,
    A: Any,
    b: NDArray[np.int64],
    batch: tuple[int, ...],
    wide_rows: dict[int, dict[int, list[int]]],
) -> Programs:
    """Return the programs, after a check that their objectives fit float64 if costs are floats."""
    programs = Programs(
        costs.c, A, b, batch, costs.kind, costs.power, costs.factor, costs.wide, wide_rows
    )
    if costs.kind == "f":
        for i, factor in programs.factor.items():
            if sum(map(abs, programs.exact_costs(i))) / factor > _FLOAT_LARGEST:
                raise OverflowError(
                    f"c must have absolute sums that fit float64, got more in program {i}"
                )
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
        array = _floats_or_exact(values, array)
    kind, width = array.dtype.kind, array.dtype.itemsize
    if kind == "O":
        array = _exact_numbers(name, array)
    elif kind not in "iu" and not (kind == "f" and width in (4, 8)):
        got = refused_dtype(name, array.dtype)
        raise TypeError(f"{name} must hold integers, float32 or float64, got {got}")
    if kind == "f":
        bad = array[~np.isfinite(array)]
        if bad.size:
            raise ValueError(f"{name} must be finite, got {bad.flat[0]}")
        if width == 4:
            # A float32 is meant as its own shortest decimal, not as that of its double.
            array = np.array([float(str(v)) for v in array.flat]).reshape(array.shape)
    return array


def _floats_or_exact(values: ArrayLike, array: NDArray[Any]) -> NDArray[Any]:
    """Return the float array that NumPy made, or an object array where it rounded integers."""
    exact = np.asarray(values, dtype=object)
    pairs = zip(exact.flat, array.flat, strict=True)
    return exact if any(isinstance(v, int) and v != int(f) for v, f in pairs) else array


def _exact_numbers(name: str, array: NDArray[Any]) -> NDArray[Any]:
    exact = np.empty(array.size, dtype=object)
    for i, item in enumerate(array.flat):
        value = item.item() if isinstance(item, np.integer | np.float64) else item
        if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal):
            raise TypeError(f"{name} must hold numbers, got {value!r}")
        if not _is_finite(value):
            raise ValueError(f"{name} must be finite, got {value}")
        if isinstance(value, Decimal) and has_long_exponent(value):
            raise ValueError(f"{name} must have no exponent beyond {LONGEST_EXPONENT}, got {value}")
        exact[i] = value
    if all(isinstance(value, int) for value in exact):
        beyond = [value for value in exact if abs(value) > INT64_MAX]
        if beyond:
            raise OverflowError(
                f"{name} must hold integers that fit int64, got {written(beyond[0])}"
            )
        return exact.astype(np.int64).reshape(array.shape)
    return exact.reshape(array.shape)


def _is_finite(value: float | Fraction | Decimal) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    return not isinstance(value, float) or isfinite(value)


def _int64(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == np.uint64 and array.size and array.max() > INT64_MAX:
        raise OverflowError(f"{name} must hold integers that fit int64, got {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _joinable(array: NDArray[Any], kinds: set[str]) -> NDArray[Any]:
    """Return the array in a dtype in which A and b can be joined without rounding."""
    if "O" in kinds or (kinds & _INTEGERS and _beyond_float(array)):
        return array.astype(object)
    return array.astype(np.float64)


def _beyond_float(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "iu" and bool((np.abs(array.astype(object)) > 2**53).any())
