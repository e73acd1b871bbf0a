"""Variables of a large 0-1 program whose values follow from single rows or signs, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FREE = -1
# The most rounds of fixing variables. Each reads the whole matrix a few times.
ROUNDS = 30


def fix_variables(
    c: NDArray[Any], A: Any, b: NDArray[Any]
) -> tuple[NDArray[np.int8], NDArray[np.bool_]] | None:
    """Fix variables and drop rows of min c.x, A x >= b, or find that no x is feasible.

    The slack of a row is its largest possible left side minus b. No x meets a row whose slack
    is below 0. A row always holds if its terms together cannot use up the slack. A term larger
    than the slack fixes its variable at the value that favours the row. A variable that no
    remaining row needs at its dearer value is fixed at its cheaper one.

    Parameters
    ----------
    c : (n,) int64; A : (m, n) CSR array of int64; b : (m,) int64

    Returns
    -------
    (value, needed), or None if no x is feasible
        Values (n,) int8: 0, 1 or ``FREE``; and which rows (m,) can still be violated, bool.
    """
    m, n = A.shape
    entries, columns = A.data, A.indices
    rows = np.repeat(np.arange(m), np.diff(A.indptr))
    sizes, favourable = np.abs(entries), np.maximum(entries, 0)
    value, needed = np.full(n, FREE, dtype=np.int8), np.ones(m, dtype=bool)
    for _ in range(ROUNDS):
        free = value[columns] == FREE
        slack = _row_sums(A, np.where(free, favourable, entries * (value[columns] == 1))) - b
        if (slack[needed] < 0).any():
            return None
        needed &= slack < _row_sums(A, np.where(free, sizes, 0))
        active = free & needed[rows]
        forced = active & (sizes > slack[rows])
        value[columns[forced]] = entries[forced] > 0
        wants_one, wants_zero = (
            np.bincount(columns[active & sign], minlength=n) > 0
            for sign in (entries > 0, entries < 0)
        )
        undecided = value == FREE
        cheap_zero = undecided & ~wants_one & (c >= 0)
        cheap_one = undecided & ~wants_zero & (c <= 0) & ~cheap_zero
        value[cheap_zero], value[cheap_one] = 0, 1
        if not (forced.any() or cheap_zero.any() or cheap_one.any()):
            break
    return value, needed


def _row_sums(A: Any, entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return row sums (m,) of a matrix with the pattern of a CSR array A but other entries."""
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(entries)])
    row_sums: NDArray[np.int64] = sums[A.indptr[1:]] - sums[A.indptr[:-1]]
    return row_sums
