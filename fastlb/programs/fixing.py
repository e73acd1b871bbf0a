"""Variables of a large 0-1 program that its rows or their signs decide, in exact numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FREE = -1
# Most rounds: each takes as long as reading the matrix a few times.
ROUNDS = 30


def fix_variables(
    c: NDArray[Any], A: Any, b: NDArray[Any]
) -> tuple[NDArray[np.int8], NDArray[np.bool_]] | None:
    """Decide what variables can be and which rows are still needed, or find that no x is feasible.

    A row's room is its largest possible left side less b: below 0 nothing meets it, a row whose
    terms cannot use its room up always holds, and a variable whose worse value costs more than
    the room takes the better one. A variable takes its cheaper value where no row minds.

    Parameters
    ----------
    c : (n,) int64; A : (m, n) CSR array of int64; b : (m,) int64

    Returns
    -------
    (value, needed), or None
        (n,) int8 of 0, 1 or ``FREE``; (m,) bool.
    """
    m, n = A.shape
    entries, columns = A.data, A.indices
    rows = np.repeat(np.arange(m), np.diff(A.indptr))
    sizes, best = np.abs(entries), np.maximum(entries, 0)
    value, needed = np.full(n, FREE, dtype=np.int8), np.ones(m, dtype=bool)
    for _ in range(ROUNDS):
        free = value[columns] == FREE
        room = _row_sums(A, np.where(free, best, entries * (value[columns] == 1))) - b
        if (room[needed] < 0).any():
            return None
        needed &= room < _row_sums(A, np.where(free, sizes, 0))
        counts = free & needed[rows]
        forced = counts & (sizes > room[rows])
        value[columns[forced]] = entries[forced] > 0
        wants_one, wants_zero = (
            np.bincount(columns[counts & sign], minlength=n) > 0
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
    """Return sums (m,) over rows of a CSR array of other entries in the same places."""
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(entries)])
    of_rows: NDArray[np.int64] = sums[A.indptr[1:]] - sums[A.indptr[:-1]]
    return of_rows
