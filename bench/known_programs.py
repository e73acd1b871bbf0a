"""0-1 programs that others have solved before, with their optimum: ``(c, A, b, optimum)`` each."""

from __future__ import annotations

import itertools
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

PROBLEMS = Path(__file__).parent / "problems"


def mknap1() -> dict[str, Any]:
    """Return the seven knapsack problems of Petersen (1967), as the OR-Library lists them.

    A problem is ``n m optimum``, the profits, a row of weights for each of ``m`` knapsacks, and
    their sizes. Profits become costs to be minimised; tenths are made whole.
    """
    tokens = iter((PROBLEMS / "mknap1.txt").read_text().split())

    def numbers(count: int) -> np.ndarray:
        return np.array([int(Decimal(next(tokens)) * 10) for _ in range(count)])

    problems = {}
    for _ in range(int(next(tokens))):
        n, m, optimum = int(next(tokens)), int(next(tokens)), -int(Decimal(next(tokens)) * 10)
        c, A, b = numbers(n), numbers(m * n).reshape(m, n), numbers(m)
        problems[f"mknap1, {n} columns"] = (-c, -A, -b, optimum)
    return problems


def p0033() -> Any:
    """Return p0033 of MIPLIB 3 (Crowder, Johnson and Padberg)."""
    section, rows, columns = "", {}, {}
    entries: list[tuple[str, str, int]] = []
    for line in (PROBLEMS / "p0033.mps").read_text().splitlines():
        words = line.split()
        if not line.startswith(" "):
            section = words[0]
        elif section == "ROWS":
            rows[words[1]] = len(rows) - 1  # the objective, which comes first, is row -1
        elif section in ("COLUMNS", "RHS") and "'MARKER'" not in words:
            entries.append((words[0], words[1], int(words[2])))
            columns.setdefault(words[0], len(columns))
    columns.pop("RHS")
    table = np.zeros((len(rows), len(columns) + 1), dtype=np.int64)
    for column, row, value in entries:
        table[rows[row], columns.get(column, -1)] = value
    return table[-1, :-1], -table[:-1, :-1], -table[:-1, -1], 3089


def steiner(dimensions: int) -> Any:
    """Cover the lines of the affine space over three elements; of three dimensions, stein27."""
    points = list(itertools.product(range(3), repeat=dimensions))
    number = {point: i for i, point in enumerate(points)}
    lines = set()
    for p, q in itertools.combinations(points, 2):
        third = tuple(-(a + b) % 3 for a, b in zip(p, q, strict=True))
        lines.add(tuple(sorted((number[p], number[q], number[third]))))
    A = np.zeros((len(lines) + 1, len(points)), dtype=np.int64)
    for row, line in enumerate(sorted(lines)):
        A[row, list(line)] = 1
    A[-1] = 1
    b = np.ones(len(A), dtype=np.int64)
    b[-1] = len(points) // 2
    return np.ones(len(points), dtype=np.int64), A, b, {2: 5, 3: 18}[dimensions]
