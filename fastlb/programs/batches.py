"""Batches of 0-1 programs of few variables, laid out for the kernel that solves them together."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Results = tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.bool_]]


def enumerate_together(
    c: NDArray[Any], A: NDArray[Any], b: NDArray[Any], dtype: type[Any], limit: int
) -> tuple[Results, int]:
    """Solve programs c (B, n), A (B, m, n), b (B, m), int64, computing in a dtype.

    Returns ``((pattern, optimum, feasible), count)``: arrays (B,), and how many programs are
    feasible. The count is -1, and the arrays are undefined, where a sum may reach ``limit``;
    a limit of 0 checks nothing.
    """
    kernel = kernels("programs.few_variables")
    B, m, n = A.shape
    rows = _tile_rows(m, n, max(n, kernel.LOW_BITS), kernel.SIDE)
    values = A.reshape(-1), b.reshape(-1), c.reshape(-1)
    results = np.empty(B, np.int16), np.empty(B, np.int64), np.empty(B, np.bool_)
    like = np.empty(0, dtype)
    return results, kernel.solve_together(*values, (m, n), rows, like, limit, results)


@lru_cache(64)
def _tile_rows(m: int, n: int, columns: int, side: int) -> NDArray[np.int64]:
    """Return the row of a tile for each value of A, then of b, then of c.

    After each of the three come numbers for padding, all of one row that is never read.
    """
    padding = np.full(side, (columns + 1) * (m + 1))
    offsets = np.arange(n)[::-1] * (m + 1)
    of_A = np.arange(m)[:, None] + offsets
    of_b = columns * (m + 1) + np.arange(m)
    return np.concatenate([of_A.ravel(), padding, of_b, padding, offsets + m, padding])
