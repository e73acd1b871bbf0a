"""Rows whose sums do not fit int64: solved without their last digits, and mended by covers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .outcome import LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .outcome import Outcome
    from .watch import Watch

    Solve = Callable[[NDArray[Any], NDArray[Any], NDArray[Any], int, int | None], Outcome]

# Bits of a rounded row's sums: with a unit a term they fit int64.
ROUNDED_BITS = 60


def beside_wide_rows(solve: Solve, wide: list[list[int]], watch: Watch) -> Solve:
    """Return ``solve`` with further rows of any size, which its solutions meet exactly.

    A rounded row lets through all that the row does, so its optimum is a bound. Where a
    solution falls short of the row itself, a cover is added and the program solved again.

    Parameters
    ----------
    solve
        From (c, A, b, node limit, below) in int64 to an outcome.
    wide : list of list of int
        Coefficients and right-hand side of each row.
    watch : Watch
    """
    cuts = [_rounded(values) for values in wide]

    def solve_all(
        c: NDArray[Any], A: NDArray[Any], b: NDArray[Any], node_limit: int, below: int | None
    ) -> Outcome:
        nodes = 0
        while True:
            rows = np.array(cuts, dtype=np.int64)
            found = solve(
                c,
                np.vstack([A, rows[:, :-1]]),
                np.append(b, rows[:, -1]),
                node_limit - nodes,
                below,
            )
            nodes += found.nodes
            found.nodes = nodes
            covers = [] if found.x is None else _covers(wide, found.x.tolist())
            if not covers:
                return found
            cuts.extend(covers)
            if found.status == LIMIT and (nodes == node_limit or watch.over):
                found.x = None
                return found

    return solve_all


def _rounded(values: list[int]) -> list[int]:
    """Return the row times a power of two, terms rounded up and the right-hand side down."""
    shift = sum(map(abs, values)).bit_length() - ROUNDED_BITS
    *terms, least = values
    return [*(-(-term >> shift) for term in terms), least >> shift]


def _covers(wide: list[list[int]], x: list[int]) -> list[list[int]]:
    """Return a row for each of the wide ones that x falls short of, not met by x either.

    Terms at their worse value together take more than the row's room: so do the largest of
    them, a cover. Of these and all other terms as large not as many may be at the worse one.
    """
    found = []
    for *terms, least in wide:
        if sum(term for term, taken in zip(terms, x, strict=True) if taken) >= least:
            continue
        room = sum(term for term in terms if term > 0) - least
        worse = [j for j, term in enumerate(terms) if term and x[j] == (term < 0)]
        worse.sort(key=lambda j: -abs(terms[j]))
        count = 0
        while room >= 0:
            room -= abs(terms[worse[count]])
            count += 1
        largest = abs(terms[worse[0]]) if count else 0
        cover = set(worse[:count])
        cut = [
            (term > 0) - (term < 0) if j in cover or abs(term) >= largest else 0
            for j, term in enumerate(terms)
        ]
        extended = sum(map(abs, cut))
        found.append([*cut, extended - count + 1 - sum(v < 0 for v in cut)])
    return found
