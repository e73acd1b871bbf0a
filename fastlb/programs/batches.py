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

    Returns ((pattern, optimum, whether feasible), how many are feasible), or -1 of them where a sum
    may reach the limit, if that is not 0.
    """
    kernel = kernels("programs.few_variables")
    B, m, n = A.shape
    places = _places(m, n, max(n, kernel.LOW_BITS), kernel.SIDE)
    values = A.reshape(-1), b.reshape(-1), c.reshape(-1)
    results = np.empty(B, np.int16), np.empty(B, np.int64), np.empty(B, np.bool_)
    kind = np.empty(0, dtype)
    return results, kernel.solve_together(*values, (m, n), places, kind, limit, results)


@lru_cache(64)
def _places(m: int, n: int, columns: int, side: int) -> NDArray[np.int64]:
    """Return the rows of a tile for the values of A, b and c, each with a spare one after them."""
    spare = np.full(side, (columns + 1) * (m + 1))
    first = np.arange(n)[::-1] * (m + 1)
    of_A = np.arange(m)[:, None] + first
    of_b = columns * (m + 1) + np.arange(m)
    return np.concatenate([of_A.ravel(), spare, of_b, spare, first + m, spare])
