"""0-1 programs with rows beyond int64, against brute force in exact numbers."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.programs.layout import read_programs
from tests.oracles import binary

KINDS: dict[str, Any] = {
    "scattered": lambda chance: float(f"{chance.randint(-99, 99)}e{chance.randint(-300, 290)}"),
    "digits": lambda chance: chance.uniform(-1, 1) * 10.0 ** chance.randint(-20, 20),
    "powers": lambda chance: chance.choice((-1, 1)) * 2.0 ** chance.randint(-900, 900),
    "ends": lambda chance: chance.choice((0.0, 5e-324, -5e-324, 1e-308, 6.25e306, -6.25e306)),
    "fractions": lambda chance: Fraction(chance.randint(-(10**30), 10**30), chance.randint(1, 99)),
    "decimals": lambda chance: Decimal(chance.randint(-99, 99)).scaleb(-chance.randint(0, 40)),
    "layers": lambda chance: Fraction(chance.randint(-2, 2) * 10**60 + chance.randint(0, 9)),
}


def wide_program(chance: random.Random, kind: str, n: int, m: int) -> tuple[Any, Any, Any]:
    """Return a program whose right-hand sides are mostly sums of its rows."""
    rows = [[KINDS[kind](chance) for _ in range(n)] for _ in range(m)]
    right = []
    for row in rows:
        reached = binary.dot([binary.exact(v) for v in row], chance.choices((0, 1), k=n))
        right.append(float(reached) if isinstance(row[0], float) else Fraction(reached))
    dtype = float if isinstance(rows[0][0], float) else object
    costs = np.array([chance.randint(-3, 9) for _ in range(n)])
    return costs, np.array(rows, dtype=dtype), np.array(right, dtype=dtype)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_any_range_are_exact(kind: str) -> None:
    chance = random.Random(f"rows {kind}")
    for _ in range(40):
        c, A, b = wide_program(chance, kind, chance.randint(1, 8), chance.randint(1, 4))
        best = binary.brute_force(c.tolist(), A.tolist(), b.tolist())
        for method in ("auto", "enumeration", "search"):
            s = lb.solve_binary(c, A, b, method=method)
            assert s.status == ("infeasible" if best is None else "optimal")
            if best is not None:
                assert s.objective == s.bound == best[0]
                assert binary.dot(c.tolist(), s.x.tolist()) == best[0]
                exact = binary.exact_program(c.tolist(), A.tolist(), b.tolist())
                assert binary.is_feasible(*exact[1:], s.x.tolist())
        s = lb.solve_binary(c, A, b, method="search", node_limit=chance.randint(0, 3))
        if best is not None:
            assert s.bound <= best[0]
            assert s.status == "limit" or s.objective == best[0]


def test_gaps_between_the_terms_of_a_row_are_closed() -> None:
    """Only the order in which terms decide is kept: such rows fit int64 again."""
    for row, right in (
        ([6.25e306, 6.25e306, 0.0], 6.25e306),
        ([1e300, -1e300, 3.0, 2.0, 1e-300], 2.0),
        ([7e200, 3e200, 1e100, 1e100, 5.0, 1e-100], 7e200),
    ):
        programs = read_programs(np.ones(len(row)), [row], [right])
        assert not programs.wide_rows
        for number in range(2 ** len(row)):
            x = binary.sequence(number, len(row))
            held = programs.A[0, 0] @ x >= programs.b[0, 0]
            assert held == binary.is_feasible(*binary.exact_program([], [row], [right])[1:], x)


def test_a_row_with_nothing_below_its_leading_digits() -> None:
    s = lb.solve_binary([1.5, 1.5, 1.5], [[6.25e306, 6.25e306, 0.0]], [6.25e306], method="search")
    assert (s.status, s.objective) == ("optimal", 1.5)


def test_rows_of_many_digits_take_no_more_than_a_search() -> None:
    chance = random.Random(4)
    c = [chance.randint(1, 99) for _ in range(30)]
    row = [Fraction(chance.randint(0, 10**30), chance.randint(1, 10**5)) for _ in range(30)]
    s = lb.solve_binary(c, [row], [sum(row) * Fraction(2, 5)], method="search", node_limit=10**6)
    assert s.status == "optimal"
    assert binary.dot(row, s.x.tolist()) >= sum(row) * Fraction(2, 5)


def test_what_is_unknown_is_masked_beside_exact_numbers() -> None:
    half = Fraction(1, 2)
    s = lb.solve_binary([[half, half], [half, 3 * half]], [[[1, 0]], [[1, 1]]], [[2], [2]])
    assert s.status.tolist() == ["infeasible", "optimal"]
    assert s.objective.tolist() == s.bound.tolist() == [None, 2]
    assert s.x.mask.tolist() == [[True, True], [False, False]]
