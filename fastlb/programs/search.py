"""Depth-first branch and bound for 0-1 programs of up to 62 variables."""

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
# (subgradient steps, nodes) of each stage. Most programs end in the short first stage; for the
# others its incumbent gives better multipliers (p0033: 159,000 nodes instead of 411,000).
STAGES = ((60, 5000), (300, 2**62))
# The kernel runs in stretches of about this many seconds, between which the time limit is
# checked; the first stretch has this many nodes.
STRETCH_SECONDS, FIRST_STRETCH = 0.1, 10_000
# With a time limit, the steps of a stage read at most this many entries of A: half a second.
MOST_STEPPED = 10**8
# After CHECKED nodes a search is stopped if it can be expected to need over MOST_EXPECTED.
# stein45 needs 3.7e8 nodes, which take half of HiGHS's time, and its estimate stays below.
CHECKED, MOST_EXPECTED = 2**24, 10**9
# Differences of two sums must fit int32 as well.
SAFE_INT32 = 2**30


def search(
    c: NDArray[Any],
    A: NDArray[Any],
    b: NDArray[Any],
    node_limit: int,
    bound: int,
    below: int | None,
    watch: Watch,
    exhaustive: bool = True,
) -> Outcome:
    """Search a program of few variables by branch and bound.

    Parameters
    ----------
    c : (n,) int64, 0 or more; A : (m, n) int64; b : (m,) int64
    node_limit : int
    bound : int
        No absolute sum of a row or of the costs is larger.
    below : int, optional
        Solutions that cost this much or more are left out.
    watch : Watch
        The time limit. The first stage runs even if it has passed.
    patient : bool
        Go on even if more than ``MOST_EXPECTED`` nodes can be expected.
    """
    n = c.size
    step = max(int(np.gcd.reduce(c)), 1)
    if below is not None and below <= 0:
        return Outcome(INFEASIBLE, None, 0, "search", 0)
    if n < LEAF:
        c, A = np.pad(c, (0, LEAF - n)), np.pad(A, ((0, 0), (0, LEAF - n)))
    y, x, cost, solved = np.zeros(len(b)), np.zeros(c.size, dtype=np.int8), np.int64(0), False
    if below is not None and below <= c.sum():
        # An incumbent without x: all objectives are multiples of the costs' common divisor.
        cost, solved = np.int64(-(-below // step) * step), True
    initial, total_nodes, best_bound = cost if solved else None, 0, 0
    like = np.empty(0, sums_dtype(bound))
    kernel = kernels("programs.branch_and_bound").search

    def outcome(complete: bool) -> Outcome:
        known = bool(solved and (initial is None or cost < initial))
        if not complete:
            return Outcome(LIMIT, x[:n] if known else None, best_bound, "search", total_nodes)
        if not known:
            return Outcome(INFEASIBLE, None, 0, "search", total_nodes)
        return Outcome(OPTIMAL, x[:n], int(cost), "search", total_nodes)

    for steps, stage_nodes in STAGES:
        if watch.limited:
            steps = min(steps, MOST_STEPPED // max(A.size, 1) + 1)
        cost, solved = kernels("programs.presolve").multipliers(c, A, b, y, x, cost, solved, steps)
        rows, branch, depth = np.argsort(-y), np.zeros(c.size - LEAF + 1, dtype=np.int64), 0
        size, end = FIRST_STRETCH, min(total_nodes + stage_nodes, node_limit)
        checkpoint = end if exhaustive else min(end, total_nodes + CHECKED)
        while True:
            start = perf_counter()
            stretch = min(size, end - total_nodes, checkpoint - total_nodes)
            cost, solved, open_bound, nodes, depth = kernel(
                c, A, b, y, rows, like, x, cost, solved, branch, depth, stretch
            )
            total_nodes += int(nodes)
            # An earlier stage may have proven a higher bound.
            best_bound = max(best_bound, int(open_bound))
            if depth < 0:
                return outcome(complete=True)
            if total_nodes == end or watch.over:
                break
            if watch.tell is not None:
                watch.tell(outcome(complete=False))
            if total_nodes == checkpoint < end:
                if total_nodes > MOST_EXPECTED * _explored(branch, depth):
                    return outcome(complete=False)
                checkpoint = end
            seconds = max(perf_counter() - start, 1e-6)
            size = int(stretch * min(4.0, STRETCH_SECONDS / seconds)) + 1
        if total_nodes == node_limit or watch.over:
            break
    return outcome(complete=False)


def _explored(branch: NDArray[Any], depth: int) -> float:
    """Estimate the explored fraction of the tree, as if both branches of a node were alike."""
    done = branch[: depth + 1].copy()
    done[:depth] -= 1
    return float(done @ 0.5 ** np.arange(1, depth + 2))


def sums_dtype(bound: int) -> type[Any]:
    """Return a dtype that holds sums up to a bound and the differences of two of them."""
    return np.int32 if bound < SAFE_INT32 else np.int64
