"""Depth-first branch and bound for 0-1 programs of up to 62 variables."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .outcome import INFEASIBLE, LIMIT, OPTIMAL, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .options import Options
    from .program import Program

# Variables up to which the search applies.
MOST_SEARCHED = 62
# The search ends in leaves of 64 patterns of six variables.
LEAF = 6
# (subgradient steps, nodes) of each stage. Most programs end in the short first stage; for the
# others its incumbent gives better multipliers (p0033: 159,000 nodes instead of 411,000).
STAGES = ((60, 5000), (300, 2**62))
# The kernel runs in stretches of about this many seconds, between which the time limit is
# checked; the first stretch has this many nodes.
STRETCH_SECONDS, FIRST_STRETCH = 0.1, 10_000
# With a time limit, the subgradient steps of a stage read at most this many entries of A, which
# takes half a second.
MOST_STEPPED = 10**8
# Method "auto" estimates after CHECKED nodes how many are needed in all, and stops if these are
# more than MOST_EXPECTED. stein45 needs 3.7e8 nodes, which take half of HiGHS's time, and its
# estimate stays below.
CHECKED, MOST_EXPECTED = 2**24, 10**9
# Differences of two sums must fit int32 as well.
SAFE_INT32 = 2**30


def search(program: Program, options: Options) -> Outcome:
    """Search a program of few variables, whose costs are 0 or more, by branch and bound.

    The first stage runs even if the time limit has passed.
    """
    c, A, b, cutoff = program.c, program.A, program.b, program.cutoff
    monitor, node_limit = options.monitor, options.node_limit
    n = c.size
    divisor = max(int(np.gcd.reduce(c)), 1)
    if cutoff is not None and cutoff <= 0:
        return Outcome(INFEASIBLE, None, 0, "search", 0)
    if n < LEAF:
        c, A = np.pad(c, (0, LEAF - n)), np.pad(A, ((0, 0), (0, LEAF - n)))
    y, x, cost, solved = np.zeros(len(b)), np.zeros(c.size, dtype=np.int8), np.int64(0), False
    if cutoff is not None and cutoff <= c.sum():
        # An incumbent without x. Every cost is a multiple of the divisor.
        cost, solved = np.int64(-(-cutoff // divisor) * divisor), True
    initial_cost, total_nodes, best_bound = cost if solved else None, 0, 0
    like = np.empty(0, sums_dtype(program.sum_bound))
    kernel = kernels("programs.branch_and_bound").search

    def outcome(*, is_complete: bool) -> Outcome:
        is_known = bool(solved and (initial_cost is None or cost < initial_cost))
        if not is_complete:
            known_x = x[:n] if is_known else None
            return Outcome(LIMIT, known_x, best_bound, "search", total_nodes)
        if not is_known:
            return Outcome(INFEASIBLE, None, 0, "search", total_nodes)
        return Outcome(OPTIMAL, x[:n], int(cost), "search", total_nodes)

    for steps, stage_nodes in STAGES:
        if monitor.is_limited:
            steps = min(steps, MOST_STEPPED // max(A.size, 1) + 1)
        cost, solved = kernels("programs.presolve").multipliers(c, A, b, y, x, cost, solved, steps)
        rows, branch, depth = np.argsort(-y), np.zeros(c.size - LEAF + 1, dtype=np.int64), 0
        stretch, end = FIRST_STRETCH, min(total_nodes + stage_nodes, node_limit)
        checkpoint = min(end, total_nodes + CHECKED) if options.method == "auto" else end
        while True:
            start = perf_counter()
            most_nodes = min(stretch, checkpoint - total_nodes)
            cost, solved, open_bound, nodes, depth = kernel(
                c, A, b, y, rows, like, x, cost, solved, branch, depth, most_nodes
            )
            total_nodes += int(nodes)
            # An earlier stage may have proven a higher bound.
            best_bound = max(best_bound, int(open_bound))
            if depth < 0:
                return outcome(is_complete=True)
            if total_nodes == end or monitor.is_over:
                break
            if monitor.report is not None:
                monitor.report(outcome(is_complete=False))
            if total_nodes == checkpoint:
                if total_nodes > MOST_EXPECTED * _explored(branch, depth):
                    return outcome(is_complete=False)
                checkpoint = end
            seconds = max(perf_counter() - start, 1e-6)
            stretch = int(most_nodes * min(4.0, STRETCH_SECONDS / seconds)) + 1
        if total_nodes == node_limit or monitor.is_over:
            break
    return outcome(is_complete=False)


def _explored(branch: NDArray[Any], depth: int) -> float:
    """Estimate the explored fraction of the tree, as if both branches of a node were alike."""
    done = branch[: depth + 1].copy()
    done[:depth] -= 1
    return float(done @ 0.5 ** np.arange(1, depth + 2))


def sums_dtype(bound: int) -> type[Any]:
    """Return a dtype that holds sums up to a bound and the differences of two of them."""
    return np.int32 if bound < SAFE_INT32 else np.int64
