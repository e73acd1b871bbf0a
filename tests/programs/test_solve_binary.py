"""solve_binary against brute force and HiGHS, its statuses and bounds, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import fastlb as lb
from fastlb.programs.mps import ProgramFile
from tests.oracles import binary
from tests.programs.checks import check_feasible
from tests.programs.strategies import FAMILIES, programs


@pytest.mark.parametrize("seed", range(4))
def test_every_method_equals_brute_force(seed: int) -> None:
    for c, A, b in programs(seed, 160, 7, 9):
        best = binary.brute_force(c.tolist(), A.tolist(), b.tolist())
        for method in ("auto", "enumeration", "search"):
            s = lb.solve_binary(c, A, b, method=method)
            if best is None:
                assert (s.status, s.x, s.objective, s.bound) == ("infeasible", None, None, None)
                continue
            assert s.status == "optimal"
            assert s.objective == s.bound == float(best[0])
            assert s.gap == 0
            check_feasible(c, A, b, s)
            if method == "enumeration":
                assert int("0" + "".join(map(str, s.x)), 2) == best[1]


def test_search_equals_enumeration_up_to_16_variables() -> None:
    for c, A, b in programs(5, 400, 14, 16):
        found = lb.solve_binary(c, A, b, method="search")
        whole = lb.solve_binary(c, A, b, method="enumeration")
        assert (found.status, found.objective) == (whole.status, whole.objective)
        if found.status == "optimal":
            check_feasible(c, A, b, found)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("m", "n"), [(5, 24), (12, 36), (8, 62)])
def test_search_equals_highs(family: str, m: int, n: int, full: bool) -> None:
    trials = 4
    if family == "knapsack" and n > 24:
        # HiGHS takes a second for each.
        m, n, trials = 5, 30, 4 if full else 1
    for c, A, b in zip(*lb.random_binary(family, m, n, seed=n, trials=trials), strict=True):
        s = lb.solve_binary(c, A, b, method="search")
        h = milp(
            c,
            constraints=LinearConstraint(A, lb=b),
            integrality=np.ones(n),
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0},
        )
        assert (s.status == "infeasible") == (h.status == 2)
        if s.status == "optimal":
            assert s.objective == round(h.fun)
            check_feasible(c, A, b, s)


def test_a_batch_equals_its_problems() -> None:
    for n, method in ((6, "auto"), (6, "search"), (15, "auto")):
        c, A, b = lb.random_binary("loose", 9, n, seed=3, trials=12)
        b[::3] += 40
        together = lb.solve_binary(
            c.reshape(3, 4, n), A.reshape(3, 4, 9, n), b.reshape(3, 4, 9), method=method
        )
        assert together.x.shape == (3, 4, n)
        for i in range(12):
            alone = lb.solve_binary(c[i], A[i], b[i], method=method)
            at = divmod(i, 4)
            assert together.status[at] == alone.status
            if alone.x is None:
                assert together.objective[at] is np.ma.masked
                assert together.bound[at] is np.ma.masked
                continue
            assert together.objective[at] == together.bound[at] == alone.objective
            assert together.gap[at] == 0
            assert together.x[at].tolist() == alone.x.tolist()


def test_empty_batches_and_empty_programs() -> None:
    none = lb.solve_binary(np.zeros((0, 3)), np.zeros((0, 2, 3)), np.zeros((0, 2)))
    assert none.x.shape == (0, 3)
    assert none.status.shape == (0,)
    for method in ("auto", "enumeration", "search", "milp"):
        assert lb.solve_binary([], [], [], method=method).objective == 0
        assert lb.solve_binary([3, -2], [], [], method=method).objective == -2
        assert lb.solve_binary([], [[], []], [0, 1], method=method).status == "infeasible"


@pytest.mark.parametrize("node_limit", [0, 1, 1000])
def test_the_node_limit_is_obeyed_and_the_bound_is_true(node_limit: int) -> None:
    c, A, b = lb.random_binary("knapsack", 5, 24, seed=8)
    best = lb.solve_binary(c, A, b).objective
    s = lb.solve_binary(c, A, b, method="search", node_limit=node_limit)
    assert s.status == "limit"
    assert s.nodes <= node_limit
    assert s.bound <= best
    if s.x is not None:
        check_feasible(c, A, b, s)
        assert s.objective >= best
        assert s.gap == s.objective - s.bound


def test_beyond_the_node_limit_milp_goes_on() -> None:
    c, A, b = lb.random_binary("knapsack", 5, 24, seed=8)
    best = lb.solve_binary(c, A, b)
    assert best.method == "search"
    assert lb.solve_binary(c, A, b, method="milp", node_limit=2**62).status == "optimal"
    s = lb.solve_binary(c, A, b, node_limit=2000)
    assert (s.method, s.status, s.objective) == ("milp", "optimal", best.objective)
    assert s.nodes == 2000
    stopped = lb.solve_binary(c, A, b, node_limit=1)
    assert stopped.bound <= best.objective


def test_more_than_62_variables_go_to_milp() -> None:
    c, A, b = lb.random_binary("cover", 20, 70, seed=2)
    A[:, :50] = np.maximum(A[:, :50], 0)
    s = lb.solve_binary(c, A, b)
    assert s.status == "optimal"
    check_feasible(c, A, b, s)
    with pytest.raises(ValueError, match=r"at most 62 variables for method='search', got 70"):
        lb.solve_binary(c, A, b, method="search")
    with pytest.raises(ValueError, match=r"at most 24 variables for method='enumeration', got 70"):
        lb.solve_binary(c, A, b, method="enumeration")


def test_twins_are_searched_in_one_order() -> None:
    """Thirty interchangeable variables: C(30, 15) solutions, 31 up to order."""
    for most in (100, 1000):
        s = lb.solve_binary(
            np.ones(30, int), np.ones((1, 30), int), [15], method="search", node_limit=most
        )
        assert (s.status, s.objective) == ("optimal", 15)


def test_bad_input_is_refused_at_the_door() -> None:
    for c, A, b, error, text in (
        (3, [[1]], [1], ValueError, r"c must have shape \(\*batch, n\), got a single number"),
        ([1, 2], [[1, 2, 3]], [1], ValueError, r"A must have shape .* n = 2, got \(1, 3\)"),
        ([1, 2], [[1, 2]], [1, 2], ValueError, r"b must have shape \(1,\), a number a row"),
        ([[1, 2]], [[1, 2]], [1], ValueError, r"A must have shape"),
        ([1, 2], [[1, 2], [3]], [1, 1], ValueError, "A must be an array of numbers"),
        ([1, np.nan], [[1, 2]], [1], ValueError, "c must be finite, got nan"),
        ([1, 2], [[1, 2]], [np.inf], ValueError, "b must be finite, got inf"),
        ([1, 2], [[1j, 2]], [1], TypeError, "A must hold integers, float32 or float64"),
        ([True, False], [[1, 2]], [1], TypeError, "c must hold integers"),
        ([Decimal("NaN"), 1], [[1, 2]], [1], ValueError, "c must be finite, got NaN"),
        ([1, 2], [[Decimal("sNaN"), 2]], [1], ValueError, "A must be finite, got sNaN"),
        ([1, 2], [[1, 2]], [Decimal("-Infinity")], ValueError, "b must be finite, got -Inf"),
        (
            [Decimal("1e999999999"), 1],
            [[1, 2]],
            [1],
            ValueError,
            "c must have no exponent bey",
        ),
        ([1, 2], [[Decimal("0e-999999999"), 2]], [1], ValueError, "A must have no exponent bey"),
        ([1, 2], [[1, 2]], [Decimal("-1e10000")], ValueError, r"9999, got -1E\+10000"),
        ([np.float64("nan"), Fraction(1)], [[1, 2]], [1], ValueError, "c must be finite"),
        (np.ma.array([1, 2], mask=[0, 1]), [[1, 2]], [1], TypeError, "c must be .* got a masked"),
        ([1, 2], np.ma.array([[1, 2]]), [1], TypeError, "A must be .* got a masked array"),
        ([1, 2], [[1, 2]], np.ma.array([1], mask=[1]), TypeError, "b must be .* got a masked"),
        ([2**63 + 1, -1], [[1, 2]], [1], OverflowError, "c must hold integers that fit int64"),
        (["a", "b"], [[1, 2]], [1], TypeError, "c must hold integers"),
        ([None, 1], [[1, 2]], [1], TypeError, "c must hold numbers, got None"),
    ):
        with pytest.raises(error, match=text):
            lb.solve_binary(c, A, b)
    with pytest.raises(ValueError, match=r"method must be one of auto, .*, got 'simplex'"):
        lb.solve_binary([1], [[1]], [1], method="simplex")
    with pytest.raises(ValueError, match="node_limit must be a whole number, 0 or more, got -1"):
        lb.solve_binary([1], [[1]], [1], node_limit=-1)
    with pytest.raises(ValueError, match=r"below 2.*63, got an integer of 16610 bits"):
        lb.solve_binary([1], [[1]], [1], node_limit=10**5000)


def test_a_call_without_rows_says_how_it_is_called() -> None:
    one = np.ones(1)
    file = ProgramFile("tiny", ["x"], one, one[None], one, 1, False, 0.0)
    with pytest.raises(TypeError, match=r"solve_binary\(file\.c, file\.A, file\.b\)"):
        lb.solve_binary(file)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="A and b must not be missing"):
        lb.solve_binary([1])
    with pytest.raises(TypeError, match="; b must not be missing"):
        lb.solve_binary([1], [[1]])
    assert repr(file) == "<ProgramFile tiny: 1 variables, 1 rows, min>"


def test_what_is_printed_of_solutions_is_one_short_line() -> None:
    s = lb.solve_binary([5, 4, 3], [[2, 3, 1], [4, 1, 2]], [3, 4])
    assert repr(s) == (
        "BinarySolution(status='optimal', objective=8, method='enumeration', nodes=0, "
        "x with 2 of 3 variables at 1)"
    )
    stopped = replace(s, status="limit", bound=7)
    assert "objective=8, bound=7, " in str(stopped)
    none = lb.solve_binary([1], [[1]], [2])
    assert repr(none) == (
        "BinarySolution(status='infeasible', objective=None, method='enumeration', nodes=0)"
    )
    batch = lb.solve_binary([[1, 1]] * 3, [[[1, 1]]] * 3, [[1], [2], [3]])
    assert repr(batch) == "BinaryBatch(3 programs of 2 variables, 1 infeasible, 2 optimal)"
