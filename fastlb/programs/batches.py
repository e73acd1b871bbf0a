"""Batches of 0-1 programs of few variables, laid out for the kernel that solves them together."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Results = tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.bool_]]

CACHE_LINE = 64


def enumerate_together(
    c: NDArray[Any], A: NDArray[Any], b: NDArray[Any], dtype: type[Any], limit: int
) -> tuple[Results, int]:
    """Solve programs c (B, n), A (B, m, n), b (B, m), int64, computing in a dtype.

    Returns ((pattern, optimum, whether feasible), how many are feasible), or -1 of them where a sum
    may reach the limit, if that is not 0.
    """
    kernel = kernels("programs.few_variables")
    B, m, n = A.shape
    size = np.dtype(dtype).itemsize
    W, side = kernel.REGISTER_BYTES // size, kernel.SIDE
    columns = max(n, kernel.LOW_BITS)
    blocks = 1 << (columns - kernel.LOW_BITS)
    rows, sums = (columns + 1) * (m + 1) + 1, blocks * (m + 1)
    room = np.zeros((rows + sums + 2) * W + CACHE_LINE // size, dtype)
    first = -room.__array_interface__["data"][0] % CACHE_LINE // size
    room = room[first : first + (rows + sums + 2) * W].reshape(-1, W)
    workspace = (
        room[:rows],
        room[rows : rows + sums].reshape(blocks, (m + 1) * W),
        room[rows + sums :],
        np.zeros((6, side), dtype=np.int64),
    )
    tails = tuple(np.zeros(W * K + 2 * side, dtype=np.int64) for K in (m * n, m, n))
    values = A.reshape(-1), b.reshape(-1), c.reshape(-1)
    results = np.empty(B, np.int16), np.empty(B, np.int64), np.empty(B, np.bool_)
    places = _places(m, n, columns, side)
    return results, kernel.solve_together(values, tails, places, (m, n), limit, workspace, results)


@lru_cache(64)
def _places(m: int, n: int, columns: int, side: int) -> tuple[NDArray[np.int64], ...]:
    """Return the rows of a tile for the values of A, b and c, and a spare one after them."""
    spare = np.full(side, (columns + 1) * (m + 1))
    first = np.arange(n)[::-1] * (m + 1)
    of_A = np.arange(m)[:, None] + first
    of_b = columns * (m + 1) + np.arange(m)
    return tuple(np.append(rows, spare) for rows in (of_A.ravel(), of_b, first + m))
