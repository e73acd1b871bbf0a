"""Batches of 0-1 programs solved side by side, against brute force over whole arrays."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import fastlb as lb


@pytest.mark.parametrize("n", range(10))
def test_many_programs_side_by_side_equal_brute_force(n: int) -> None:
    chance = np.random.default_rng(n)
    kinds: Any = ((4, np.int8), (3, np.uint64), (2**10, np.int16), (2**20, np.int64))
    for size, kind in kinds:
        B, m = int(chance.choice([32, 40, 73])), int(chance.integers(5))
        low = -size if np.issubdtype(kind, np.signedinteger) else 0
        c, A, b = (
            chance.integers(low, size, shape, dtype=kind, endpoint=True)
            for shape in ((B, n), (B, m, n), (B, m))
        )
        s = lb.solve_binary(c, A, b)
        x = np.arange(2**n)[:, None] >> np.arange(n)[::-1] & 1
        wide_c, wide_A, wide_b = (a.astype(np.int64) for a in (c, A, b))
        meets = (wide_A @ x.T >= wide_b[..., None]).all(axis=1)
        cost = np.where(meets, wide_c @ x.T, 2**60)
        feasible = meets.any(axis=1)
        assert np.array_equal(s.status == "optimal", feasible)
        for found in (s.objective, s.bound):
            assert np.array_equal(np.ma.getmaskarray(found), ~feasible)
            assert np.array_equal(found.data[feasible], cost.min(axis=1)[feasible])
        assert np.array_equal(s.x.data[feasible], x[cost.argmin(axis=1)][feasible])
        again = pickle.loads(pickle.dumps(s))
        assert np.ma.allequal(again.objective, s.objective)
        assert np.array_equal(again.status, s.status)
        assert set(s.method.tolist()) == {"enumeration"}
        assert s.nodes.tolist() == [0] * B


def test_sums_that_may_not_fit_are_seen_in_any_program_of_a_batch() -> None:
    c, A, b = lb.random_binary("loose", 4, 5, seed=6, trials=100)
    expected = lb.solve_binary(c, A, b)
    for wide in (2**14, 2**30, 2**62):
        for p in (0, 40, 99):
            costs = np.concatenate([c, np.zeros((100, 1), dtype=np.int64)], axis=1)
            rows = np.concatenate([A, np.zeros((100, 4, 1), dtype=np.int64)], axis=2)
            costs[p, 5] = -wide
            s = lb.solve_binary(costs, rows, b)
            taken = np.arange(100) == p
            assert np.array_equal(s.status, expected.status)
            assert np.ma.allequal(s.objective, expected.objective - wide * taken)
            costs[p, :2] = 2**62
            with pytest.raises(OverflowError, match=f"sums that fit int64, .* program {p}"):
                lb.solve_binary(costs, rows, b)
