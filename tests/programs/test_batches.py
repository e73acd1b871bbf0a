"""Programs solved side by side against all their sequences in NumPy, in every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.programs.batches import enumerate_together


def by_numpy(c: Any, A: Any, b: Any) -> tuple[Any, Any, Any]:
    n = c.shape[1]
    x = np.arange(2**n)[:, None] >> np.arange(n)[::-1] & 1
    feasible = (b[..., None] <= A @ x.T).all(axis=1)
    cost = np.where(feasible, c @ x.T, np.iinfo(np.int64).max)
    known = feasible.any(axis=1)
    return np.where(known, cost.argmin(axis=1), 0), np.where(known, cost.min(axis=1), 0), known


@pytest.mark.parametrize(("dtype", "bits"), [(np.int16, 14), (np.int32, 30), (np.int64, 62)])
def test_programs_side_by_side_equal_numpy(dtype: Any, bits: int) -> None:
    chance = np.random.default_rng(bits)
    for n, m, B in [
        (0, 0, 1),
        (0, 2, 40),
        (3, 0, 7),
        (1, 1, 32),
        (4, 3, 33),
        (5, 2, 100),
        (9, 5, 71),
    ]:
        size = 2**bits // (n + 2)
        c, A = chance.integers(-size, size, (B, n)), chance.integers(-size, size, (B, m, n))
        b = (A * chance.integers(0, 2, (B, 1, n))).sum(axis=2) - chance.integers(-2, 3, (B, m))
        results, count = enumerate_together(c, A, b, dtype, 0)
        expected = by_numpy(c, A, b)
        for part, right in zip(results, expected, strict=True):
            assert np.array_equal(part, right)
        assert count == expected[2].sum()


@pytest.mark.parametrize("where", [0, 500, 999])
def test_numbers_beyond_the_narrowest_dtype_are_noticed(where: int) -> None:
    c, A, b = lb.random_binary("cover", 3, 5, seed=1, trials=1000)
    for values, at in ((c, (where, 4)), (A, (where, 2, 4)), (b, (where, 2))):
        before, values[at] = values[at], 2**14
        assert enumerate_together(c, A, b, np.int16, 2**14)[1] == -1
        expected = by_numpy(c, A, b)
        solution = lb.solve_binary(c, A, b)
        assert np.array_equal(np.ma.filled(solution.objective, 0), expected[1])
        values[at] = -(2**14)
        assert enumerate_together(c, A, b, np.int16, 2**14)[1] == -1
        values[at] = before
    assert enumerate_together(c, A, b, np.int16, 2**14)[1] >= 0
