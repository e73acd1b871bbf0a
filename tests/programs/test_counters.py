"""count_tests against its twin, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import binary
from tests.programs.strategies import programs


@pytest.mark.parametrize("prune", [">=", ">"])
def test_counters_equal_the_twin(prune: str) -> None:
    for c, A, b in programs(11, 240, 6, 7):
        found = lb.count_tests(c, A, b, prune=prune)
        twin = binary.count_tests(c.tolist(), A.tolist(), b.tolist(), prune)
        optimum = None if twin.optimum is None else float(twin.optimum)
        assert (found.optimum, found.argmin) == (optimum, twin.argmin)
        assert (found.abandoned, found.violated) == (twin.abandoned, twin.violated)
        assert (found.feasible, found.rows) == (twin.feasible, twin.rows)
        assert found.abandoned + found.violated + found.feasible == 2**c.size


def test_a_batch_has_its_shape_and_hides_what_is_not_there() -> None:
    c, A, b = lb.random_binary("loose", 4, 5, seed=1, trials=6)
    b[2] = 1000
    found = lb.count_tests(c.reshape(2, 3, 5), A.reshape(2, 3, 4, 5), b.reshape(2, 3, 4))
    assert found.rows.shape == (2, 3)
    assert found.argmin[0, 2] is np.ma.masked
    alone = lb.count_tests(c[4], A[4], b[4])
    assert (found.optimum[1, 1], found.rows[1, 1]) == (alone.optimum, alone.rows)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="prune must be one of >=, >, got '<'"):
        lb.count_tests([1], [[1]], [1], prune="<")
    with pytest.raises(ValueError, match="c must have at most 32 variables to count tests, got 33"):
        lb.count_tests(np.ones(33), np.ones((1, 33)), [1])
    with pytest.raises(OverflowError, match=r"costs whose sums compare as .* program 1"):
        lb.count_tests([[1, 2, 3], [1e17, 1e17, 1e-9]], [[[1, 1, 1]]] * 2, [[1]] * 2)
    with pytest.raises(MemoryError, match="the sums of 32 variables, 1000000 rows"):
        lb.count_tests(np.ones(32, int), np.broadcast_to(1, (10**6, 32)), np.ones(10**6, int))


def test_wide_costs_are_counted_exactly_where_integers_compare_as_they_do() -> None:
    chance = np.random.default_rng(4)
    for c in (
        [1e17, 0.0005, 0.001],
        [5e-324, -1e300, 3.0, 2.0],
        (chance.random(6) * 1e-4).tolist(),
        [Fraction(1, 3), Fraction(10**20, 7), Fraction(-1, 11)],
    ):
        A, b = chance.integers(-3, 5, (3, len(c))), chance.integers(-3, 4, 3)
        found = lb.count_tests(c, A, b)
        twin = binary.count_tests(c, A.tolist(), b.tolist())
        assert (found.argmin, found.abandoned) == (twin.argmin, twin.abandoned)
        assert (found.violated, found.rows) == (twin.violated, twin.rows)
        assert twin.optimum is None or float(found.optimum) == float(twin.optimum)
