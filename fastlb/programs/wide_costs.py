"""0-1 programs whose costs add up to more than int64 holds, solved digit by digit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .outcome import INFEASIBLE, LIMIT, OPTIMAL, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Solve = Callable[[NDArray[Any], NDArray[Any], NDArray[Any], int, int | None], Outcome]

# Bits of the sums of leading digits, so that these and their bounds fit int64, also as rows.
DIGIT_BITS = 60


def solve_wide(
    costs: list[int], A: NDArray[Any], b: NDArray[Any], node_limit: int, solve: Solve
) -> Outcome:
    """Solve one program exactly.

    A cost is its leading digit times ``2**shift`` plus a rest from 0 to ``2**shift - 1``. So a
    solution costs at least ``2**shift`` times its level, the sum of its leading digits. Levels
    are tried upwards from the least. Where several solutions have one level, the rests are
    minimised among them. The search ends when the next level cannot beat the best cost.

    Parameters
    ----------
    costs : list of int, (n,)
        Of any size.
    A : (m, n) int64; b : (m,) int64
    node_limit : int
        Most nodes of all searches together.
    solve
        Function of (c, A, b, node limit, below) in int64 that returns an outcome. It may leave
        out solutions that cost ``below`` or more.
    """
    size = sum(map(abs, costs)).bit_length()
    if size <= DIGIT_BITS:
        return solve(np.array(costs, dtype=np.int64), A, b, node_limit, None)
    shift = size - DIGIT_BITS
    digits = np.array([cost >> shift for cost in costs], dtype=np.int64)
    rests = [cost - (cost >> shift << shift) for cost in costs]
    best: NDArray[np.int8] | None = None
    best_cost = nodes = 0
    rows, least = A, b

    def record(x: NDArray[np.int8] | None) -> None:
        nonlocal best, best_cost
        if x is not None:
            cost = sum(v for v, chosen in zip(costs, x.tolist(), strict=True) if chosen)
            if best is None or cost < best_cost:
                best, best_cost = x, cost

    def within_reach(rows: NDArray[Any], least: NDArray[Any]) -> Outcome:
        """Find a solution of the least level; infeasible if every level exceeds the best one's."""
        nonlocal nodes
        best_level = None if best is None else best_cost >> shift
        outcome = solve(
            digits, rows, least, node_limit - nodes, None if best_level is None else best_level + 1
        )
        nodes += outcome.nodes
        record(outcome.x)
        if outcome.status == OPTIMAL and best_level is not None and outcome.bound > best_level:
            outcome.status = INFEASIBLE
        return outcome

    while True:
        outcome = within_reach(rows, least)
        level = outcome.bound
        lower_bound = level << shift
        if outcome.status == OPTIMAL and outcome.x is not None:
            # Usually no other solution is within reach; the added row excludes this one.
            other = np.vstack([rows, 1 - 2 * outcome.x.astype(np.int64)])
            outcome = within_reach(other, np.append(least, 1 - int(outcome.x.sum())))
            lower_bound = (
                max(lower_bound, outcome.bound << shift) if outcome.status == LIMIT else lower_bound
            )
        if outcome.status == OPTIMAL and outcome.bound == level:
            both = np.vstack([A, digits, -digits])
            fixed = np.append(b, [level, -level])
            finer = solve_wide(rests, both, fixed, node_limit - nodes, solve)
            nodes += finer.nodes
            record(finer.x)
            outcome.status = finer.status
            lower_bound = min(lower_bound + finer.bound, level + 1 << shift)
        if outcome.status == INFEASIBLE or (
            outcome.status == LIMIT and best is not None and lower_bound >= best_cost
        ):
            break
        if outcome.status == LIMIT:
            return Outcome(LIMIT, best, lower_bound, outcome.method, nodes)
        rows, least = np.vstack([A, digits]), np.append(b, level + 1)
    status = INFEASIBLE if best is None else OPTIMAL
    return Outcome(status, best, best_cost, outcome.method, nodes)
