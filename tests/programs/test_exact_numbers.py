"""0-1 programs in numbers of any range: large integers, decimals and fractions are exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import fastlb as lb
from fastlb.programs.layout import read_programs
from tests.oracles import binary
from tests.programs.checks import check_feasible


def test_large_numbers_are_exact_and_sums_beyond_int64_are_refused() -> None:
    big = 2**60
    for method in ("enumeration", "search"):
        s = lb.solve_binary([big, big + 1, big - 1], [[1, 1, 0]], [1], method=method)
        assert s.objective == big
        s = lb.solve_binary([1, 2, 3], [[big, big + 1, big - 1]], [big + 1], method=method)
        assert s.objective == 2
        s = lb.solve_binary([-big, -big - 1, big], [[-big, -big, 0]], [-big], method=method)
        assert s.objective == -big - 1
    top = 2**63 - 1
    assert lb.solve_binary([top], [[top]], [0]).objective == 0
    with pytest.raises(OverflowError, match="c must have absolute sums that fit int64"):
        lb.solve_binary([top, 1], [[1, 1]], [1])
    with pytest.raises(OverflowError, match="A must have absolute sums and b that fit int64"):
        lb.solve_binary([1, 1], [[top, 1]], [1])
    with pytest.raises(OverflowError, match="A must have absolute sums and b that fit int64"):
        lb.solve_binary([1, 1], [[1, 1]], [-(2**63)])
    for method in ("auto", "search"):
        with pytest.raises(OverflowError, match="c must have absolute sums that fit int64"):
            lb.solve_binary([-(2**63)], [[1]], [0], method=method)
        with pytest.raises(OverflowError, match="A must have absolute sums and b that fit int64"):
            lb.solve_binary([1], [[-(2**63)]], [0], method=method)
    with pytest.raises(OverflowError, match="c must hold integers that fit int64"):
        lb.solve_binary(np.array([2**63], dtype=np.uint64), [[1]], [1])
    with pytest.raises(OverflowError, match="b must hold integers that fit int64"):
        lb.solve_binary([1], [[1]], [2**70])
    with pytest.raises(OverflowError, match="int64, got an integer of 16610 bits"):
        lb.solve_binary([1], [[1]], [10**5000])


def test_every_magnitude_is_exact() -> None:
    chance = np.random.default_rng(3)
    for _ in range(200):
        n, m = int(chance.integers(1, 12)), int(chance.integers(0, 6))
        size = min(9 * 2 ** int(chance.integers(0, 58)), 2**62 // (n + 1))
        A, c = chance.integers(-size, size, (m, n)), chance.integers(-size // 2, size, n)
        b = A @ chance.integers(0, 2, n) - chance.integers(0, 3, m)
        x = np.arange(2**n)[:, None] >> np.arange(n) & 1
        best = (x @ c)[(x @ A.T >= b).all(axis=1)].min()
        for method in ("enumeration", "search"):
            assert lb.solve_binary(c, A, b, method=method).objective == best


def test_decimals_are_exact() -> None:
    """0.1 + 0.2 reaches 0.3, though not in float64."""
    assert lb.solve_binary([1, 1], [[0.1, 0.2]], [0.3]).objective == 2
    assert lb.solve_binary([1, 1], [[0.1, 0.2]], [0.3000000000000001]).status == "infeasible"
    assert lb.solve_binary([0.1, 0.2], [[1, 1]], [2]).objective == 0.3
    single = np.float32
    assert lb.solve_binary([1, 1], np.array([[0.1, 0.2]], single), single([0.3])).objective == 2
    third = Fraction(1, 3)
    s = lb.solve_binary([third, third, third], [[third, third, third]], [1])
    assert s.objective == 1
    assert isinstance(s.objective, Fraction)


def test_what_no_scaling_makes_exact_holds_within_the_tolerance() -> None:
    wide = [[1e-30, 1e30, 1.0]]
    s = lb.solve_binary([1e-30, 1.0, 2.0], wide, [1e30])
    assert (s.status, s.objective, s.x.tolist()) == ("optimal", 1.0, [0, 1, 0])
    assert lb.solve_binary([1.0, 1.0, 2.0], wide, [1.1e30]).status == "infeasible"
    assert lb.solve_binary([1e-30, 1e30], [[1, 1]], [1]).objective == 1e-30


def test_costs_of_any_range_are_compared_exactly() -> None:
    """A third of the programs have costs that add up beyond int64."""
    chance = np.random.default_rng(11)
    digits = {
        "scattered": (-324, -300, -30, -5, -1, 0, 3, 17, 40, 290),
        "near": (-3, -2, -1, 0),
        "far": (-4, 17),
    }
    wide = 0
    for trial in range(150):
        n, m = int(chance.integers(1, 8)), int(chance.integers(0, 4))
        exponents = list(digits.values())[trial % 3]
        c = [float(f"{chance.integers(-3, 9)}e{chance.choice(exponents)}") for _ in range(n)]
        if exponents == digits["near"]:
            c = (c * chance.random(n)).tolist()
        A, b = chance.integers(-3, 5, (m, n)), chance.integers(-3, 5, m)
        wide += bool(read_programs(c, A, b).wide)
        best = binary.brute_force(c, A.tolist(), b.tolist())
        for method in ("auto", "enumeration", "search", "milp"):
            s = lb.solve_binary(c, A, b, method=method)
            if s.status == "limit":
                assert method == "milp"
                assert best is None or binary.exact(s.bound) <= best[0]
            elif best is None:
                assert s.status == "infeasible"
            else:
                assert s.objective == s.bound == float(best[0])
            if s.x is not None:
                check_feasible(np.array(c), A, b, s)
    assert wide > 50


def test_wide_costs_beside_others_in_a_batch() -> None:
    c = [[1e17, 0.0005, 0.001], [1, 2, 3], [-1e17, 5e-324, 1]]
    A, b = [[[0, 1, 1]]] * 3, [[1]] * 3
    for method in ("auto", "enumeration", "search"):
        s = lb.solve_binary(c, A, b, method=method)
        assert s.objective.tolist() == s.bound.tolist() == [0.0005, 2.0, -1e17]
        assert s.x.tolist() == [[0, 1, 0], [0, 1, 0], [1, 1, 0]]
    A[0] = [[1, 0, 0]]
    assert lb.solve_binary([[1e17, 0.0005, 0.001]], [A[0]], [[2]]).status == ["infeasible"]


@pytest.mark.parametrize("node_limit", [0, 1, 2, 5, 20, 100])
def test_bounds_of_wide_costs_are_true_where_the_search_is_stopped(node_limit: int) -> None:
    chance = np.random.default_rng(node_limit)
    c = chance.random(14) * 10.0 ** chance.integers(-9, 9, 14)
    A = chance.integers(-5, 9, (4, 14))
    b = A.sum(axis=1) // 2
    best = lb.solve_binary(c, A, b)
    assert best.status == "optimal"
    s = lb.solve_binary(c, A, b, method="search", node_limit=node_limit)
    assert s.nodes <= node_limit
    assert s.bound <= best.objective
    if s.status == "limit":
        assert s.bound < best.objective
        assert s.x is None or s.objective >= best.objective
    assert lb.solve_binary(c, A, b, method="search").objective == best.objective


def test_costs_of_many_digits_are_searched_with_good_bounds() -> None:
    """Without bounds 40 variables take tens of millions of nodes."""
    _, A, b = lb.random_binary("planted", 10, 40, seed=3)
    chance = np.random.default_rng(8)
    for digits in (9, 17):
        costs = np.round(chance.random(40), digits)
        for shrunk in (costs, costs * np.where(np.arange(40) % 5 == 0, 1e-7, 1)):
            s = lb.solve_binary(shrunk, A, b, node_limit=3_000_000, method="search")
            assert s.status == "optimal"
            check_feasible(shrunk, A, b, s)
            h = milp(
                shrunk,
                constraints=LinearConstraint(A, lb=b),
                integrality=np.ones(40),
                bounds=Bounds(0, 1),
                options={"mip_rel_gap": 0},
            )
            assert abs(s.objective - h.fun) < 1e-6


def test_rows_of_mixed_magnitude_keep_their_solutions() -> None:
    chance = np.random.default_rng(2)
    assert lb.solve_binary([1, 1], [[1e30, 1.0]], [1.0]).objective == 1
    assert lb.solve_binary([1, 2], [[1e30, 1.0]], [1e30]).objective == 1
    assert lb.solve_binary([1, 2], [[1e30, 1.0]], [1.1e30]).status == "infeasible"
    for _ in range(100):
        n = int(chance.integers(1, 6))
        A = chance.integers(-3, 4, (2, n)) * 10.0 ** chance.choice([0, 0, 0, 25], (2, n))
        b = chance.integers(-3, 4, 2).astype(float)
        c = chance.integers(-5, 9, n).tolist()
        best = binary.brute_force(c, A.tolist(), b.tolist())
        for method in ("auto", "enumeration", "search"):
            found = lb.solve_binary(c, A, b, method=method)
            assert found.objective == (None if best is None else best[0])


def test_bounds_at_the_end_of_int64_do_not_wrap() -> None:
    A, b = [[1] * 8, [-1] * 8], [4, -3]
    largest = 2**63 - 8
    for method in ("auto", "enumeration", "search"):
        for c in ([largest] + [1] * 7, [-largest] + [1] * 7):
            assert lb.solve_binary(c, A, b, method=method).status == "infeasible"
    for c in ([largest] + [1] * 7, [-largest] + [1] * 7):
        s = lb.solve_binary(c, A, b, method="search", node_limit=0)
        assert s.status == "infeasible" or -largest <= s.bound <= largest + 7
        s = lb.solve_binary(c, A, [4, -5], method="search", node_limit=0)
        best = lb.solve_binary(c, A, [4, -5])
        assert s.bound <= best.objective
        assert s.status == "limit" or s.objective == best.objective
    batch = lb.solve_binary([[-largest] + [1] * 7] * 2, [A] * 2, [b] * 2, method="search")
    assert batch.status.tolist() == ["infeasible"] * 2


def test_the_smallest_float_is_a_cost_as_any_other() -> None:
    for method in ("auto", "search"):
        assert lb.solve_binary([5e-324, 1], [[1, 1]], [1], method=method).objective == 5e-324
    with pytest.raises(OverflowError, match="c must have absolute sums that fit float64"):
        lb.solve_binary([1.7e308, 1.7e308], [[1, 1]], [1])


@pytest.mark.parametrize("digits", [1, 6, 15, 17])
def test_floats_of_any_number_of_digits_are_their_shortest_decimals(digits: int) -> None:
    chance = np.random.default_rng(digits)
    for _ in range(60):
        n, m = int(chance.integers(1, 6)), int(chance.integers(0, 4))
        c, A = (np.round(chance.random(shape), digits) for shape in (n, (m, n)))
        b = (A * chance.integers(0, 2, n)).sum(axis=1)
        best = binary.brute_force(c.tolist(), A.tolist(), b.tolist())
        found = lb.solve_binary(c, A, b)
        assert found.objective == (None if best is None else float(best[0]))


def test_highs_is_not_taken_at_its_word_on_long_decimals():
    """Scaled to whole numbers their coefficients pass what its tolerances can tell apart."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        A = rng.random((2, 12)) * 2 - 1
        planted = rng.integers(0, 2, 12)
        b, c = A @ planted - rng.random(2), rng.random(12)
        exact = lb.solve_binary(c, A, b, method="search")
        assert exact.status == "optimal"
        for found in (
            lb.solve_binary(c, A, b, method="milp"),
            lb.solve_binary(c, A, b, node_limit=0),
        ):
            assert found.status in ("optimal", "limit")
            assert found.bound <= exact.objective
            if found.status == "optimal":
                assert found.objective == exact.objective
