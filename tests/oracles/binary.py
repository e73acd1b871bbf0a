"""0-1 programs by brute force, and the paper's counters (algorithms, section 10; More-Wu 3-4).

Sequences are numbered with x_1 as the most significant bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Program = tuple[Sequence[Any], Sequence[Sequence[Any]], Sequence[Any]]


def exact(value: Any) -> Fraction:
    """Return a number as it was written: a float is its shortest decimal."""
    return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)


def exact_program(c: Sequence[Any], A: Sequence[Sequence[Any]], b: Sequence[Any]) -> Program:
    return [exact(v) for v in c], [[exact(v) for v in row] for row in A], [exact(v) for v in b]


def sequence(number: int, n: int) -> list[int]:
    return [number >> (n - 1 - j) & 1 for j in range(n)]


def dot(coefficients: Sequence[Any], x: Sequence[int]) -> Any:
    return sum((a for a, chosen in zip(coefficients, x, strict=True) if chosen), 0)


def is_feasible(A: Sequence[Sequence[Any]], b: Sequence[Any], x: Sequence[int]) -> bool:
    return all(dot(row, x) >= least for row, least in zip(A, b, strict=True))


def brute_force(c: Sequence[Any], A: Sequence[Sequence[Any]], b: Sequence[Any]) -> Any:
    """Return (optimum, the smallest sequence number that reaches it), or None if infeasible."""
    c, A, b = exact_program(c, A, b)
    n = len(c)
    found = [
        (dot(c, x), number) for number in range(2**n) if is_feasible(A, b, x := sequence(number, n))
    ]
    return min(found, default=None)


@dataclass
class Tests:
    optimum: Any
    argmin: int | None
    abandoned: int
    violated: int
    feasible: int
    rows: int


def count_tests(
    c: Sequence[Any], A: Sequence[Sequence[Any]], b: Sequence[Any], prune: str = ">="
) -> Tests:
    """Test every sequence in turn: the cost against the incumbent, then row after row."""
    c, A, b = exact_program(c, A, b)
    n = len(c)
    r = Tests(None, None, 0, 0, 0, 0)
    for number in range(2**n):
        x = sequence(number, n)
        cost = dot(c, x)
        if r.optimum is not None and (cost > r.optimum or (prune == ">=" and cost == r.optimum)):
            r.abandoned += 1
            continue
        for row, least in zip(A, b, strict=True):
            r.rows += 1
            if dot(row, x) < least:
                r.violated += 1
                break
        else:
            r.feasible += 1
            if r.optimum is None or cost < r.optimum:
                r.optimum, r.argmin = cost, number
    return r
