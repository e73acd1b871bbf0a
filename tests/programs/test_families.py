"""random_binary: reproducible from NumPy alone, each family as it is described."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.programs.strategies import FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("m", "n"), [(0, 0), (3, 0), (0, 3), (1, 1), (7, 5)])
def test_a_trial_depends_on_seed_and_number_alone(family: str, m: int, n: int) -> None:
    c, A, b = lb.random_binary(family, m, n, seed=5, trials=4)
    assert (c.shape, A.shape, b.shape) == ((4, n), (4, m, n), (4, m))
    assert {c.dtype, A.dtype, b.dtype} == {np.dtype(np.int64)}
    fewer = lb.random_binary(family, m, n, seed=5, trials=2)
    assert all(np.array_equal(one, other[:2]) for one, other in zip(fewer, (c, A, b), strict=True))
    first = lb.random_binary(family, m, n, seed=5)
    assert all(np.array_equal(one, other[0]) for one, other in zip(first, (c, A, b), strict=True))


def test_the_words_are_numpys() -> None:
    A = lb.random_binary("loose", 2, 3, seed=9, trials=3)[1]
    words = np.random.Philox(key=9, counter=[0, 2, 0, 0]).random_raw(6) >> np.uint64(32)
    assert A[2].ravel().tolist() == [int(word) * 17 // 2**32 - 6 for word in words]


def test_planted_and_knapsack_and_cover_are_feasible() -> None:
    for family in ("planted", "knapsack", "cover", "symmetric"):
        drawn = lb.random_binary(family, 8, 9, seed=2, trials=50)
        assert (lb.solve_binary(*drawn).status == "optimal").all()


def test_ranges() -> None:
    c, A, b = lb.random_binary("loose", 20, 30, seed=1, trials=20)
    assert (c.min(), c.max(), A.min(), A.max(), b.min(), b.max()) == (0, 20, -6, 10, -8, 5)
    c, A, b = lb.random_binary("symmetric", 5, 7, seed=1)
    assert (c == 1).all()
    assert (A[:, 0] == A[:, 1]).all()
    assert (A[:, 3] == A[:, 5]).all()
    c, A, b = lb.random_binary("cover", 5, 7, seed=1)
    assert (A.sum(axis=1) >= 1).all()
    assert (b == 1).all()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("tight", 1, 1, 0, None), "family must be one of loose, .*, got 'tight'"),
        (("loose", -1, 1, 0, None), "m must be a whole number, 0 or more, got -1"),
        (("loose", 1, 2**31, 0, None), r"n must be .* below 2\*\*31, got 2147483648"),
        (("loose", 1.5, 1, 0, None), "m must be a whole number, got 1.5"),
        (("loose", 1, 1, -1, None), "seed must be a whole number, 0 or more"),
        (("loose", 1, 1, "a", None), "seed must be a whole number, got 'a'"),
        (("loose", 1, 1, 2**128, None), r"seed must be .* below 2\*\*128"),
        (("loose", 1, 1, 0, -1), "trials must be a whole number, 0 or more, got -1"),
        (("loose", 1, 1, 0, True), "trials must be a whole number, got True"),
        ((["loose"], 1, 1, 0, None), r"family must be one of loose, .*, got \['loose'\]"),
    ],
)
def test_what_is_refused(arguments: Any, text: str) -> None:
    family, m, n, seed, trials = arguments
    with pytest.raises((TypeError, ValueError), match=text):
        lb.random_binary(family, m, n, seed=seed, trials=trials)


def test_more_than_the_memory_is_refused_before_it_is_taken() -> None:
    with pytest.raises(MemoryError, match="1 programs of 1000000 rows and 1000000 variables"):
        lb.random_binary("loose", 10**6, 10**6, seed=1)
