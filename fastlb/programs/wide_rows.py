"""Rows whose sums do not fit int64: rounded, and made exact by cover inequalities."""

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

# Bits of a rounded row's sums, which fit int64 even with every term rounded up.
ROUNDED_BITS = 60


def beside_wide_rows(solve: Solve, wide: list[list[int]], watch: Watch) -> Solve:
    """Return ``solve`` with further rows of any size, which solutions meet exactly.

    Every solution of a row meets the rounded row as well, so the optimum with rounded rows is a
    bound. Where a solution violates the row itself, a cover inequality that excludes it is
    added and the program solved again.

    Parameters
    ----------
    solve
        Function of (c, A, b, node limit, below) in int64 that returns an outcome.
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
            outcome = solve(
                c,
                np.vstack([A, rows[:, :-1]]),
                np.append(b, rows[:, -1]),
                node_limit - nodes,
                below,
            )
            nodes += outcome.nodes
            outcome.nodes = nodes
            covers = [] if outcome.x is None else _covers(wide, outcome.x.tolist())
            if not covers:
                return outcome
            cuts.extend(covers)
            if outcome.status == LIMIT and (nodes == node_limit or watch.over):
                outcome.x = None
                return outcome

    return solve_all


def _rounded(values: list[int]) -> list[int]:
    """Return the row times a power of two, terms rounded up and the right-hand side down."""
    shift = sum(map(abs, values)).bit_length() - ROUNDED_BITS
    *terms, least = values
    return [*(-(-term >> shift) for term in terms), least >> shift]


def _covers(wide: list[list[int]], x: list[int]) -> list[list[int]]:
    """Return an extended cover inequality, which x violates, for each wide row that x violates.

    The terms at their worse value exceed the row's slack together; a cover is the fewest of the
    largest that still do. With all other terms as large as its largest added, fewer terms than
    the cover has may be at their worse value.
    """
    cuts = []
    for *terms, least in wide:
        if sum(term for term, chosen in zip(terms, x, strict=True) if chosen) >= least:
            continue
        slack = sum(term for term in terms if term > 0) - least
        worse = [j for j, term in enumerate(terms) if term and x[j] == (term < 0)]
        worse.sort(key=lambda j: -abs(terms[j]))
        count = 0
        while slack >= 0:
            slack -= abs(terms[worse[count]])
            count += 1
        largest = abs(terms[worse[0]]) if count else 0
        cover = set(worse[:count])
        coefficients = [
            (term > 0) - (term < 0) if j in cover or abs(term) >= largest else 0
            for j, term in enumerate(terms)
        ]
        extended = sum(map(abs, coefficients))
        cuts.append([*coefficients, extended - count + 1 - sum(v < 0 for v in coefficients)])
    return cuts
