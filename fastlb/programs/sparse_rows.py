"""Sparse rows of 0-1 programs, scaled to whole numbers without a dense matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .whole_numbers import whole_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Matrices of up to this many elements, or columns, become dense: all methods apply to them.
MOST_DENSE, FEW_COLUMNS = 2**20, 62


def is_sparse(A: Any) -> bool:
    """Return whether an argument is a SciPy sparse array or matrix."""
    return hasattr(A, "tocsr")


def sparse_or_dense(A: Any) -> Any:
    """Return a SciPy sparse array as a NumPy array if it is small, else as a canonical CSR array.

    Raises
    ------
    ValueError
        If it does not have two axes, or two entries have the same row and column.
    """
    from scipy.sparse import csr_array

    if len(A.shape) != 2:
        raise ValueError(f"A must be a sparse array of shape (m, n), got {A.shape}")
    rows = csr_array(A)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    # The diagonals of a DIA array hold zeros that its CSR array leaves out, and no duplicates.
    if A.format != "dia" and rows.nnz < A.nnz:
        raise ValueError(
            f"A must have one entry a place, got {A.nnz - rows.nnz} more: call its sum_duplicates()"
        )
    if A.shape[1] <= FEW_COLUMNS or A.shape[0] * A.shape[1] <= MOST_DENSE:
        return rows.toarray()
    if not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()
    return rows


def whole_sparse_rows(
    A: Any, entries: NDArray[Any], right: NDArray[Any]
) -> tuple[Any, NDArray[np.int64]] | None:
    """Return rows and right-hand sides in whole numbers, or None if some are too wide for int64.

    Parameters
    ----------
    A : (m, n) CSR array
        Only its pattern is read.
    entries : (nnz,)
        The numbers at its positions, floats or exact ones.
    right : (m,)
    """
    from scipy.sparse import csr_array

    lengths = np.diff(A.indptr)
    data, b = np.empty(entries.size, dtype=np.int64), np.empty(len(lengths), dtype=np.int64)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        positions = A.indptr[rows][:, np.newaxis] + np.arange(length)
        whole, wide = whole_rows(
            np.concatenate([entries[positions], right[rows, np.newaxis]], axis=1)
        )
        if wide:
            return None
        data[positions], b[rows] = whole[:, :length], whole[:, length]
    return csr_array((data, A.indices, A.indptr), shape=A.shape), b


def first_beyond(A: Any, b: NDArray[Any]) -> int | None:
    """Return the first row whose absolute sum with its right-hand side exceeds int64, or None."""
    upper, lower = np.zeros((2, len(b)), dtype=np.uint64)
    rows = np.repeat(np.arange(len(b)), np.diff(A.indptr))
    for numbers, positions in ((A.data, rows), (b, np.arange(len(b)))):
        sizes = np.abs(numbers).view(np.uint64)
        # Sums of the upper and of the lower 32 bits fit 64.
        np.add.at(upper, positions, sizes >> np.uint64(32))
        np.add.at(lower, positions, sizes & np.uint64(2**32 - 1))
    beyond = upper + (lower >> np.uint64(32)) >= 2**31
    return int(beyond.argmax()) if beyond.any() else None
