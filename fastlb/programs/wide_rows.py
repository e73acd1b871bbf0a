"""Rows whose sums do not fit int64: rounded, and made exact by cover inequalities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .outcome import LIMIT

if TYPE_CHECKING:
    from .options import Options
    from .outcome import Outcome
    from .program import Program
    from .wide_costs import Solver

# Bits of a rounded row's sums, which fit int64 even with every term rounded up.
ROUNDED_BITS = 60


def with_wide_rows(solve: Solver, wide: list[list[int]]) -> Solver:
    """Return a solver of programs with further rows of any size, which solutions meet exactly.

    Every solution of a row meets the rounded row as well, so the optimum with rounded rows is a
    bound. Where a solution violates the row itself, a cover inequality that excludes it is
    added and the program solved again.

    Parameters
    ----------
    solve : callable
        Solves a program in int64.
    wide : list of list of int
        Coefficients and right-hand side of each row.
    """
    cuts = [_rounded(values) for values in wide]

    def solve_with_cuts(program: Program, options: Options) -> Outcome:
        nodes = 0
        while True:
            rows = np.array(cuts, dtype=np.int64)
            A = np.vstack([program.A, rows[:, :-1]])
            b = np.append(program.b, rows[:, -1])
            outcome = solve(
                program._replace(A=A, b=b),
                options._replace(node_limit=options.node_limit - nodes),
            )
            nodes += outcome.nodes
            outcome.nodes = nodes
            covers = [] if outcome.x is None else _covers(wide, outcome.x.tolist())
            if not covers:
                return outcome
            cuts.extend(covers)
            is_stopped = nodes == options.node_limit or options.monitor.is_over
            if outcome.status == LIMIT and is_stopped:
                outcome.x = None
                return outcome

    return solve_with_cuts


def _rounded(values: list[int]) -> list[int]:
    """Return the row times a power of two, terms rounded up and the right-hand side down."""
    shift = sum(map(abs, values)).bit_length() - ROUNDED_BITS
    *terms, least = values
    return [*(-(-term >> shift) for term in terms), least >> shift]


def _covers(wide: list[list[int]], x: list[int]) -> list[list[int]]:
    """Return an extended cover inequality, which x violates, for each wide row that x violates.

    The sizes of the terms at their worse value add up to more than the row's slack. A cover is as
    few of these terms as exceed it, the largest first. The extended cover adds all terms as large
    as the largest in the cover; of these, fewer than the cover has may be at their worse value.
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
