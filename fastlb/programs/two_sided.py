"""Rows with two ends made of pairs of opposite rows, such as the two of an equation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def two_sided(A: Any, b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Join the rows of A x >= b that are equal to another or its negative.

    Parameters
    ----------
    A : (m, n) CSR array of int64 without repeated entries; b : (m,) int64

    Returns
    -------
    (rows, lower, upper)
        Numbers of the rows that stand for all, in order, and the float64 ends between which
        they must be: -inf or inf where there is none.
    """
    m, n = A.shape
    # Rows are told apart by a hash in which opposite rows have opposite signs, then compared.
    weights = np.random.default_rng(0).integers(0, 2**64, n, dtype=np.uint64)
    products = A.data.view(np.uint64) * weights[A.indices]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(products, dtype=np.uint64)])
    hashes = sums[A.indptr[1:]] - sums[A.indptr[:-1]]
    keys = np.minimum(hashes, np.negative(hashes))
    order = np.argsort(keys, kind="stable")
    lower, upper = b.astype(np.float64), np.full(m, np.inf)
    stands = np.ones(m, dtype=bool)
    first = 0
    repeated = keys[order[1:]] == keys[order[:-1]]
    for place in np.flatnonzero(repeated).tolist():
        first = int(order[place]) if stands[order[place]] else first
        row = int(order[place + 1])
        sign = _sign(A, first, row)
        if sign > 0:
            lower[first] = max(lower[first], lower[row])
        elif sign < 0:
            upper[first] = min(upper[first], -lower[row])
        stands[row] = sign == 0
    return np.flatnonzero(stands), lower[stands], upper[stands]


def _sign(A: Any, first: int, second: int) -> int:
    """Return 1 for equal rows, -1 for opposite ones, 0 for others."""
    (p, q), (r, s) = A.indptr[first : first + 2], A.indptr[second : second + 2]
    if q - p != s - r or not np.array_equal(A.indices[p:q], A.indices[r:s]):
        return 0
    if np.array_equal(A.data[p:q], A.data[r:s]):
        return 1
    return -1 if np.array_equal(A.data[p:q], -A.data[r:s]) else 0
