"""Random 0-1 programs of every family and kind of degeneracy, drawn from numbered trials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import fastlb as lb

FAMILIES = ("loose", "planted", "cover", "knapsack", "symmetric")


def _as_drawn(c: Any, A: Any, b: Any) -> Any:
    return c, A, b


def _negative_costs(c: Any, A: Any, b: Any) -> Any:
    return c - 10, A, b


def _no_costs(c: Any, A: Any, b: Any) -> Any:
    return c * 0, A, b


def _equal_costs(c: Any, A: Any, b: Any) -> Any:
    return c * 0 + 3, A, b


def _zero_rows(c: Any, A: Any, b: Any) -> Any:
    A, b = A.copy(), b.copy()
    A[::2] = 0
    b[::2] = np.minimum(b[::2], 0)
    return c, A, b


def _tight(c: Any, A: Any, b: Any) -> Any:
    """Every row exactly met by one x, in tenths that float64 sums miss."""
    x = np.arange(c.size) % 2
    return c / 10, A / 10, (A @ x) / 10


def _hard_to_meet(c: Any, A: Any, b: Any) -> Any:
    return c, A, b + np.maximum(A, 0).sum(axis=1) // 3


def _beyond_reach(c: Any, A: Any, b: Any) -> Any:
    return c, A, np.maximum(A, 0).sum(axis=1) + 1


CHANGES = (
    _as_drawn,
    _negative_costs,
    _no_costs,
    _equal_costs,
    _zero_rows,
    _tight,
    _hard_to_meet,
    _beyond_reach,
)


def programs(seed: int, count: int, rows: int, columns: int) -> Iterator[Any]:
    """Yield programs of up to so many rows and columns, none and one included."""
    sizes = np.random.Generator(np.random.Philox(key=seed))
    for trial in range(count):
        family = FAMILIES[trial % len(FAMILIES)]
        change = CHANGES[trial // len(FAMILIES) % len(CHANGES)]
        m, n = int(sizes.integers(0, rows + 1)), int(sizes.integers(0, columns + 1))
        drawn = lb.random_binary(family, m, n, seed=int(sizes.integers(2**60)))
        yield change(*drawn)
