"""The door for 0-1 programs: what comes in is checked and made whole numbers, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .accelerate import kernels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_TOLERANCE_INVERSE = 10**9
_LARGEST = 2**63 - 1
_INFINITE = float("inf")
# Rows that no exact scaling brings into int64 are rounded to this many bits.
_ROUNDED_BITS = 60
# Beyond 22 decimals a power of ten is no float, and no row gets that far.
_POWERS = np.array([10**k for k in range(23)], dtype=object)
_NOTHING: NDArray[Any] = np.empty(0)


@dataclass(frozen=True)
class Programs:
    """``B`` programs min c.x, A x >= b of ``n`` variables and ``m`` rows in whole numbers.

    Each row of A with its b, and each c, is the given one times a positive number of its own.

    Attributes
    ----------
    c : (B, n) int64
    A : (B, m, n) int64
    b : (B, m) int64
        All sums of absolute values in a row, with its b, fit int64.
    batch : leading axes of the input
    bound : int
        No absolute sum exceeds it.
    kind : "i", "f" or "O"
        Integers, floats or other exact numbers: what an objective is given back as.
    denominator : (B,) object
        Whole number by which the given c was multiplied; empty for integers.
    rounded : (B,) bool
        Whether something was rounded: rows then hold within a relative tolerance of 1e-9. Empty
        for integers.
    given_c : (B, n)
        The costs as they came in.
    """

    c: NDArray[Any]
    A: NDArray[Any]
    b: NDArray[Any]
    batch: tuple[int, ...]
    bound: int
    kind: str
    denominator: NDArray[Any]
    rounded: NDArray[Any]
    given_c: NDArray[Any]

    def objectives(self, scaled: NDArray[Any], x: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return scaled objectives (B,) in the units that came in.

        Parameters
        ----------
        scaled : (B,) int64
        x : (B, n), optional
            Solutions that reach them, from which the objectives of rounded costs are recomputed.
        """
        if self.kind == "i":
            return scaled
        nearest = None if self.kind == "O" or self.rounded.any() else self._divided(scaled)
        if nearest is not None:
            return nearest
        exact = [Fraction(int(v)) / d for v, d in zip(scaled, self.denominator, strict=True)]
        if x is not None:
            for i in np.flatnonzero(self.rounded):
                chosen = self.given_c[i][x[i] != 0]
                exact[i] = sum(map(_fraction, chosen.tolist()), Fraction(0))
        if self.kind == "O":
            found = np.empty(len(exact), dtype=object)
            found[:] = exact
            return found
        return np.array([float(v) for v in exact], dtype=np.float64)

    def _divided(self, scaled: NDArray[Any]) -> NDArray[Any] | None:
        """Return the objectives by one division, or None where that might not be the nearest."""
        divisors = self.denominator.astype(np.float64)
        exact = (np.abs(scaled) <= 2**53).all() and (divisors <= 1e22).all()
        return scaled / divisors if exact else None


def read_programs(c: ArrayLike, A: ArrayLike, b: ArrayLike) -> Programs:
    """Lay programs out as int64 arrays.

    Integers stay as they are. A float means its shortest decimal; a row of them is scaled by a
    power of ten where the sums then fit int64. Fractions and Decimals are scaled likewise.
    Other rows are rounded, with a relative tolerance of 1e-9.

    Parameters
    ----------
    c : array_like, shape (*batch, n)
    A : array_like, shape (*batch, m, n)
    b : array_like, shape (*batch, m)

    Raises
    ------
    TypeError
        If an argument holds no numbers.
    ValueError
        If the shapes do not fit together, or a number is NaN or infinite.
    OverflowError
        If sums of integers do not fit int64.
    """
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
    kinds: set[str] = {
        "i" if a.dtype.kind == "u" else a.dtype.kind for a in (costs, rows, right) if a.size
    }
    if kinds <= {"i"}:
        c_, A_, b_ = (_int64(name, a) for name, a in (("c", costs), ("A", rows), ("b", right)))
        bound = _check_sums(c_, A_, b_)
        return Programs(c_, A_, b_, batch, bound, "i", _NOTHING, _NOTHING, c_)
    c_, denominator, rounded = _whole(costs)
    joined = np.concatenate(
        [_common(rows, kinds), _common(right, kinds)[..., None]], axis=-1
    ).reshape(B * m, n + 1)
    Ab, _, rounded_rows = _whole(joined, tolerant=True)
    Ab = Ab.reshape(B, m, n + 1)
    rounded = rounded | rounded_rows.reshape(B, m).any(axis=1)
    A_, b_ = np.ascontiguousarray(Ab[:, :, :n]), np.ascontiguousarray(Ab[:, :, n])
    kind = costs.dtype.kind if costs.size else "f"
    return Programs(
        c_,
        A_,
        b_,
        batch,
        int(kernels("decimal_scaling").survey(c_, A_, b_)[0]),
        "i" if kind == "u" else kind,
        denominator,
        rounded,
        costs,
    )


def _numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must be an array of numbers, got rows of unequal length"
        ) from None
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


def _exact_numbers(name: str, array: NDArray[Any]) -> NDArray[Any]:
    for value in array.flat:
        if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal):
            raise TypeError(f"{name} must hold numbers, got {value!r}")
        if isinstance(value, float | Decimal) and not -_INFINITE < value < _INFINITE:
            raise ValueError(f"{name} must be finite, got {value}")
    if all(isinstance(value, int) for value in array.flat):
        beyond = [value for value in array.flat if abs(value) > _LARGEST]
        if beyond:
            raise OverflowError(f"{name} must hold integers that fit int64, got {beyond[0]}")
        return array.astype(np.int64)
    return array


def _int64(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == np.uint64 and array.size and array.max() > _LARGEST:
        raise OverflowError(f"{name} must hold integers that fit int64, got {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _check_sums(c: NDArray[Any], A: NDArray[Any], b: NDArray[Any]) -> int:
    """Return a bound of all absolute sums, or raise ``OverflowError``."""
    bound, bad_costs, bad_row = kernels("decimal_scaling").survey(c, A, b)
    if bad_costs >= 0:
        raise OverflowError(
            f"c must have absolute sums that fit int64, got more in program {bad_costs}"
        )
    if bad_row >= 0:
        raise OverflowError(
            f"A must have absolute sums and b that fit int64, got more in row {bad_row}"
        )
    return int(bound)


def _common(array: NDArray[Any], kinds: set[str]) -> NDArray[Any]:
    """Return the array so that joining A and b loses nothing."""
    if "O" in kinds or ("i" in kinds and _beyond_float(array)):
        return array.astype(object)
    return array.astype(np.float64)


def _beyond_float(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "iu" and bool((np.abs(array.astype(object)) > 2**53).any())


def _whole(
    rows: NDArray[Any], *, tolerant: bool = False
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return (whole rows, their denominators, whether rounded) of rows (R, W).

    With ``tolerant``, the last column is a right-hand side, lowered by the tolerance in rows
    that are rounded, and denominators are not looked up.
    """
    R, W = rows.shape
    if rows.dtype.kind in "iu" and not _beyond_float(rows):
        rows = rows.astype(np.float64)
    denominator = np.ones(R, dtype=object)
    if rows.dtype.kind == "f":
        kernel = kernels("decimal_scaling")
        whole, decimals, code = kernel.scale(np.ascontiguousarray(rows))
        open_rows = np.flatnonzero(code != kernel.EXACT)
        if not tolerant:
            denominator = _POWERS[decimals]
    else:
        whole = np.zeros((R, W), dtype=np.int64)
        open_rows = np.arange(R)
    rounded = np.zeros(R, dtype=bool)
    for r in open_rows:
        values, factor = _multiplied(rows[r].tolist())
        denominator[r] = factor
        size = sum(map(abs, values))
        if size > _LARGEST:
            rounded[r] = True
            values = _to_60_bits(values, size, tolerant)
            denominator[r] = Fraction(factor << _ROUNDED_BITS, size)
        whole[r] = values
    return whole, denominator, rounded


def _to_60_bits(values: list[int], size: int, tolerant: bool) -> list[int]:
    """Return the row times 2**60 / size, its last value lowered by the tolerance if asked."""
    found = [(value << _ROUNDED_BITS) // size for value in values]
    if tolerant:
        lowered = values[-1] * _TOLERANCE_INVERSE - size
        found[-1] = (lowered << _ROUNDED_BITS) // (size * _TOLERANCE_INVERSE)
    return found


def _multiplied(values: list[Any]) -> tuple[list[int], int]:
    """Return numbers times the least factor, or power of ten for floats, that makes them whole."""
    if all(isinstance(value, float) for value in values):
        digits, exponents = zip(*map(_decimal, values), strict=True)
        places = -min(0, *exponents)
        scaled = zip(digits, exponents, strict=True)
        return [digit * 10 ** (exponent + places) for digit, exponent in scaled], 10**places
    exact = [_fraction(value) for value in values]
    factor = lcm(*(value.denominator for value in exact))
    return [int(value * factor) for value in exact], factor


def _decimal(value: float) -> tuple[int, int]:
    """Return (digits, exponent) of a float's shortest decimal, digits * 10**exponent."""
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, places = mantissa.partition(".")
    return int(whole + places), int(exponent or 0) - len(places)


def _fraction(value: Any) -> Fraction:
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
