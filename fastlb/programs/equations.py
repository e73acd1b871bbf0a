"""Pairs of opposite rows, a x >= b and -a x >= -b, which are an equation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def equations(A: Any, b: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Find pairs of rows of A x >= b that together are an equation.

    Parameters
    ----------
    A : (m, n) CSR array of int64, its rows sorted; b : (m,) int64

    Returns
    -------
    (rows, equal)
        Row numbers in increasing order without the second of each pair, and a mask of those
        that are equations.
    """
    m, n = A.shape
    # Hashes of opposite rows are each other's negative; rows whose hashes agree are compared.
    weights = np.random.default_rng(0).integers(0, 2**64, n + 1, dtype=np.uint64)
    products = A.data.view(np.uint64) * weights[A.indices]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(products, dtype=np.uint64)])
    hashes = sums[A.indptr[1:]] - sums[A.indptr[:-1]] + b.view(np.uint64) * weights[n]
    keys = np.minimum(hashes, np.negative(hashes))
    order = np.argsort(keys, kind="stable")
    keep, equal = np.ones(m, dtype=bool), np.zeros(m, dtype=bool)
    for i in np.flatnonzero(keys[order[1:]] == keys[order[:-1]]).tolist():
        first, second = order[i], order[i + 1]
        if keep[first] and not equal[first] and _opposite(A, b, first, second):
            equal[first], keep[second] = True, False
    return np.flatnonzero(keep), equal[keep]


def _opposite(A: Any, b: NDArray[Any], first: int, second: int) -> bool:
    (p, q), (r, s) = A.indptr[first : first + 2], A.indptr[second : second + 2]
    return bool(
        b[first] == -b[second]
        and np.array_equal(A.indices[p:q], A.indices[r:s])
        and np.array_equal(A.data[p:q], -A.data[r:s])
    )
