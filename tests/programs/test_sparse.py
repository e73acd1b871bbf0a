"""Sparse rows, equations and fixed variables of 0-1 programs on their way to HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import fastlb as lb
from fastlb.programs import sparse_rows
from fastlb.programs.equations import equations
from fastlb.programs.fixing import FREE, fix_variables
from fastlb.programs.layout import lay_out

SPARSE = (
    "csr_array",
    "csc_array",
    "coo_array",
    "csr_matrix",
    "dok_array",
    "bsr_array",
    "dia_array",
)


@pytest.mark.parametrize("kind", SPARSE)
def test_small_sparse_rows_are_solved_as_dense_ones(kind: str) -> None:
    c, A, b = lb.random_binary("planted", 8, 14, seed=4)
    sparse = getattr(scipy.sparse, kind)(A)
    for method in ("auto", "enumeration", "search", "milp"):
        s = lb.solve_binary(c, sparse, b, method=method)
        assert (s.status, s.objective) == ("optimal", lb.solve_binary(c, A, b).objective)
        assert (A @ s.x >= b).all()


def test_zeros_on_a_diagonal_are_no_duplicates() -> None:
    A = scipy.sparse.dia_array((np.array([[1, 0, 1]]), [0]), shape=(3, 3))
    s = lb.solve_binary([1, 1, 1], A, [1, 0, 1])
    assert (s.objective, s.x.tolist()) == (2, [1, 0, 1])


def large(seed: int) -> tuple[Any, Any, Any]:
    """Return a program of 400 groups of 4 variables, one of each to be chosen, and its optimum."""
    chance = np.random.default_rng(seed)
    n = 1600
    c = chance.integers(1, 100, n)
    groups = scipy.sparse.csr_array(np.kron(np.eye(400, dtype=np.int64), np.ones(4, np.int64)))
    A = scipy.sparse.vstack([groups, -groups], format="csr")
    return c, A, np.repeat([1, -1], 400)


@pytest.mark.parametrize("unit", [1, 10])
def test_large_sparse_rows_stay_sparse(unit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    c, A, b = large(1)
    monkeypatch.setattr(scipy.sparse.csr_array, "toarray", None)
    if unit > 1:
        c, A, b = c / unit, A / unit, b / unit
    given = lay_out(c, A, b)
    assert given.A.shape == (800, 1600)
    assert given.A.dtype == np.int64
    s = lb.solve_binary(c, A, b)
    assert s.objective == pytest.approx(c.reshape(400, 4).min(axis=1).sum())
    assert (s.status, s.method) == ("optimal", "milp")
    assert (A @ s.x >= b).all()


def test_sparse_rows_are_as_exact_as_dense_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(5)
    monkeypatch.setattr(sparse_rows, "MOST_DENSE", 0)
    monkeypatch.setattr(sparse_rows, "FEW_COLUMNS", 0)
    for trial in range(40):
        m, n = 6, int(chance.integers(3, 12))
        A = chance.integers(-9, 10, (m, n)) * (chance.random((m, n)) < 0.5)
        b = A @ chance.integers(0, 2, n) - chance.integers(0, 3, m)
        c = chance.integers(-5, 20, n)
        scale: Any = [1, 0.1, 1e-3][trial % 3]
        if trial % 5 == 4:
            # Too wide for int64: solved densely.
            A, b = A * 1.0, b * 1.0
            A[0, 0], A[0, 1] = 1e30, 1e-30
        s = lb.solve_binary(c * scale, scipy.sparse.csr_array(A) * scale, b * scale, method="milp")
        best = lb.solve_binary(c * scale, A * scale, b * scale, method="enumeration")
        assert s.status in (best.status, "limit")
        if s.status == "optimal":
            assert s.objective == best.objective


def test_sparse_rows_that_are_refused() -> None:
    c, A, b = large(2)
    double = scipy.sparse.coo_array(([1, 1], ([0, 0], [3, 3])), shape=A.shape)
    wide = A.copy() * (2**63 - 1)
    for rows, right, error, text in (
        (double, b, ValueError, r"A must have one entry a place, got 1 more"),
        (A[:, :1599], b, ValueError, r"c must have shape \(1599,\) beside a sparse A"),
        (A, b[1:], ValueError, r"b must have shape \(800,\), a number a row, got \(799,\)"),
        (A * np.nan, b, ValueError, "A must be finite, got nan"),
        (A.astype(bool), b, TypeError, "A must hold integers, float32 or float64, got dtype bool"),
        (wide, b, OverflowError, "A must have absolute sums and b that fit int64, .* in row 0"),
    ):
        with pytest.raises(error, match=text):
            lb.solve_binary(c, rows, right)
    with pytest.raises(ValueError, match="at most 32 variables to count tests, got 1600"):
        lb.count_tests(c, A, b)


def test_an_equation_is_found_in_its_two_rows() -> None:
    chance = np.random.default_rng(1)
    A = chance.integers(-3, 4, (12, 9))
    b = chance.integers(-3, 4, 12)
    A[7], b[7] = -A[2], -b[2]
    A[4], b[4] = A[2], b[2]
    A[9], b[9] = -A[5], -b[5] - 1  # between two ends
    A[10], b[10] = A[1], b[1]
    A[0], b[0] = 0, 0
    rows, equal = equations(scipy.sparse.csr_array(A), b)
    pairs = {2, 4, 7}
    assert len(pairs & set(rows.tolist())) == 2
    assert set(rows[equal].tolist()) <= {2, 4}
    assert equal.sum() == 1
    assert set(rows.tolist()) | pairs == set(range(12))


def test_equations_reach_highs_as_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.optimize

    models = []
    milp = scipy.optimize.milp

    def watched(c: Any, **options: Any) -> Any:
        models.append(options["constraints"])
        return milp(c, **options)

    monkeypatch.setattr(scipy.optimize, "milp", watched)
    c, A, b = large(3)
    lb.solve_binary(c, A, b)
    (model,) = models
    assert model.A.shape == (400, 1600)
    assert model.lb.tolist() == model.ub.tolist() == [1.0] * 400


@pytest.mark.parametrize("seed", range(6))
def test_fixed_variables_keep_an_optimum(seed: int) -> None:
    chance = np.random.default_rng(seed)
    x = np.arange(2**9)[:, None] >> np.arange(9) & 1
    for _ in range(40):
        A = chance.integers(-4, 5, (6, 9)) * (chance.random((6, 9)) < 0.4)
        b = chance.integers(-6, 6, 6)
        c = chance.integers(-4, 5, 9)
        feasible = (x @ A.T >= b).all(axis=1)
        decided = fix_variables(c, scipy.sparse.csr_array(A), b)
        if decided is None:
            assert not feasible.any()
            continue
        value, needed = decided
        as_decided = ((value == FREE) | (x == value)).all(axis=1)
        still = as_decided & (x @ A[needed].T >= b[needed]).all(axis=1)
        assert feasible.any() == still.any()
        if feasible.any():
            assert (x @ c)[feasible].min() == (x @ c)[still].min()
            assert feasible[still].all()
