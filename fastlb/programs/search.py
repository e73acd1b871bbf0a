"""0-1 programs of up to 62 variables, searched depth first in stretches."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .outcome import INFEASIBLE, LIMIT, OPTIMAL, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .watch import Watch

# The search ends in leaves of 64 patterns of six variables.
LEAF = 6
# Subgradient steps, then nodes: most programs end in the short first search, and for the others
# its incumbent makes better multipliers (p0033: 159,000 nodes instead of 411,000).
STAGES = ((60, 5000), (300, 2**62))
# Between stretches of about so many seconds the clock is looked at; the first has so many nodes.
STRETCH_SECONDS, FIRST_STRETCH = 0.1, 10_000
# Entries of A that all steps of a stage may look at where time is limited, about half a second.
MOST_STEPPED = 10**8
# After so many nodes a search is given up of which more than the second number can be expected.
# Stein45 ends after 3.7e8 nodes, in half of HiGHS's time, and is expected to all the way.
CHECKED, MOST_EXPECTED = 2**24, 10**9
# Differences of two sums must fit the dtype of the lanes.
SAFE_INT32 = 2**30


def search(
    c: NDArray[Any],
    A: NDArray[Any],
    b: NDArray[Any],
    node_limit: int,
    bound: int,
    below: int | None,
    watch: Watch,
    patient: bool = True,
) -> Outcome:
    """Search a program of few variables by branch and bound.

    Parameters
    ----------
    c : (n,) int64, 0 or more; A : (m, n) int64; b : (m,) int64
    node_limit : int
    bound : int
        No absolute sum of a row or of the costs is larger.
    below : int, optional
        Solutions that cost so much or more are left out.
    watch : Watch
        The first of the stages is gone through in any case.
    patient : bool
        Go on where more than ``MOST_EXPECTED`` nodes can be expected.
    """
    n = c.size
    step = max(int(np.gcd.reduce(c)), 1)
    if below is not None and below <= 0:
        return Outcome(INFEASIBLE, None, 0, "search", 0)
    if n < LEAF:
        c, A = np.pad(c, (0, LEAF - n)), np.pad(A, ((0, 0), (0, LEAF - n)))
    y, x, cost, solved = np.zeros(len(b)), np.zeros(c.size, dtype=np.int8), np.int64(0), False
    if below is not None and below <= c.sum():
        # As if a solution of that cost were known, which is a multiple of all costs' divisor.
        cost, solved = np.int64(-(-below // step) * step), True
    initial, spent, least = cost if solved else None, 0, 0
    kind = np.empty(0, sums_dtype(bound))
    kernel = kernels("programs.branch_and_bound").search

    def outcome(complete: bool) -> Outcome:
        known = bool(solved and (initial is None or cost < initial))
        if not complete:
            return Outcome(LIMIT, x[:n] if known else None, least, "search", spent)
        if not known:
            return Outcome(INFEASIBLE, None, 0, "search", spent)
        return Outcome(OPTIMAL, x[:n], int(cost), "search", spent)

    for steps, most in STAGES:
        if watch.limited:
            steps = min(steps, MOST_STEPPED // max(A.size, 1) + 1)
        cost, solved = kernels("programs.presolve").multipliers(c, A, b, y, x, cost, solved, steps)
        rows, branch, depth = np.argsort(-y), np.zeros(c.size - LEAF + 1, dtype=np.int64), 0
        size, end = FIRST_STRETCH, min(spent + most, node_limit)
        checkpoint = end if patient else min(end, spent + CHECKED)
        while True:
            began = perf_counter()
            stretch = min(size, end - spent, checkpoint - spent)
            cost, solved, open_bound, nodes, depth = kernel(
                c, A, b, y, rows, kind, x, cost, solved, branch, depth, stretch
            )
            spent += int(nodes)
            # Of an earlier stage a higher bound may be known.
            least = max(least, int(open_bound))
            if depth < 0:
                return outcome(complete=True)
            if spent == end or watch.over:
                break
            if watch.tell is not None:
                watch.tell(outcome(complete=False))
            if spent == checkpoint < end:
                if spent > MOST_EXPECTED * _explored(branch, depth):
                    return outcome(complete=False)
                checkpoint = end
            seconds = max(perf_counter() - began, 1e-6)
            size = int(stretch * min(4.0, STRETCH_SECONDS / seconds)) + 1
        if spent == node_limit or watch.over:
            break
    return outcome(complete=False)


def _explored(branch: NDArray[Any], depth: int) -> float:
    """Return the part of the tree that is done, if the two branches of a node are alike."""
    done = branch[: depth + 1].copy()
    done[:depth] -= 1
    return float(done @ 0.5 ** np.arange(1, depth + 2))


def sums_dtype(bound: int) -> type[Any]:
    """Return the dtype that sums up to a bound fit, differences of two as well."""
    return np.int32 if bound < SAFE_INT32 else np.int64
