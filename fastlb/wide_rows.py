"""Rows whose sums do not fit int64, split into rows that do and share a carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Bits of a leading digit's sums: with a carry they fit int64.
DIGIT_BITS = 60


def split_rows(
    A: NDArray[Any], b: NDArray[Any], wide: dict[int, list[int]]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows over the given 0-1 variables and further ones that have the same solutions.

    Parameters
    ----------
    A : (m, n) int64; b : (m,) int64
    wide : dict
        By number of the row whole coefficients and right-hand side that stand in its place.

    Returns
    -------
    A : (m + .., n + ..) int64; b : (m + ..,) int64
    """
    n = A.shape[1]
    narrow = [i for i in range(len(b)) if i not in wide]
    rows = np.hstack([A[narrow], b[narrow, None]])
    for values in wide.values():
        split = _split(values[:-1], values[-1])
        carries = split.shape[1] - 1 - n
        padded = np.zeros((len(rows), carries), dtype=np.int64)
        ours = np.zeros((len(split), rows.shape[1] - 1 - n), dtype=np.int64)
        rows = np.vstack(
            [
                np.hstack([rows[:, :-1], padded, rows[:, -1:]]),
                np.hstack([split[:, :n], ours, split[:, n:]]),
            ]
        )
    return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1])


def _split(terms: list[int], least: int) -> NDArray[np.int64]:
    """Return rows (R, n + carries + 1), right-hand sides last, for one row of any size.

    Digits are to the base 2**shift. What the lower ones exceed the right-hand side's by carries
    floor(excess / base) >= -1 into the leading ones: a number in binary whose bits are variables.
    """
    size = (sum(map(abs, terms)) + abs(least)).bit_length()
    if size <= DIGIT_BITS:
        return np.array([[*terms, least]], dtype=np.int64)
    shift = size - DIGIT_BITS
    base = 1 << shift
    leading, rests = zip(*(divmod(term, base) for term in terms), strict=True)
    lead, rest = divmod(least, base)
    # The excess is below the number of rests times the base; a carry of -1 is written as 0.
    carry = [1 << k for k in range(sum(map(bool, rests)).bit_length())]
    upper = [*leading, *carry, lead + 1]
    lower = _split([*rests, *(-base * value for value in carry)], rest - base)
    further = [0] * (lower.shape[1] - len(upper))
    return np.vstack([np.array([*upper[:-1], *further, upper[-1]], dtype=np.int64), lower])
