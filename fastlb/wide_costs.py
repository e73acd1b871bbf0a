"""0-1 programs whose costs add up beyond int64, solved digit by digit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .binary import INFEASIBLE, LIMIT, OPTIMAL, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Solve = Callable[[NDArray[Any], NDArray[Any], NDArray[Any], int], Outcome]

# Bits of a leading digit's sums: they and their bounds then fit int64, also as rows.
DIGIT_BITS = 60


def solve_wide(
    costs: list[int], A: NDArray[Any], b: NDArray[Any], node_limit: int, solve: Solve
) -> Outcome:
    """Solve one program exactly.

    Every cost is its leading digit times ``2**shift`` plus a rest of 0 to below ``2**shift``. So a
    solution costs at least ``2**shift`` times its leading sum: leading sums are gone through
    upwards, the least rest is sought for each, and those beyond the best cost are left out.

    Parameters
    ----------
    costs : list of int, (n,)
        Of any size.
    A : (m, n) int64; b : (m,) int64
    node_limit : int
        Most nodes of all searches together.
    solve
        From (c, A, b, node limit) in int64 to an outcome.
    """
    size = sum(map(abs, costs)).bit_length()
    if size <= DIGIT_BITS:
        return solve(np.array(costs, dtype=np.int64), A, b, node_limit)
    shift = size - DIGIT_BITS
    digits = np.array([cost >> shift for cost in costs], dtype=np.int64)
    rests = [cost - (cost >> shift << shift) for cost in costs]
    both = np.vstack([A, digits, -digits])
    best: NDArray[np.int8] | None = None
    best_cost = nodes = 0
    rows, least = A, b
    while True:
        # The next leading sum that solutions reach, then the least rest among those.
        found = solve(digits, rows, least, node_limit - nodes)
        nodes += found.nodes
        if found.status == INFEASIBLE:
            break
        below = found.bound << shift
        if found.status == OPTIMAL:
            level = found.bound
            fixed = np.append(b, [level, -level])
            finer = solve_wide(rests, both, fixed, node_limit - nodes, solve)
            nodes += finer.nodes
            # What has no solution of this leading sum has been found already.
            if finer.x is not None:
                found.x = finer.x
            below = (level << shift) + finer.bound
            if finer.status == LIMIT:
                found.status = LIMIT
                below = min(below, level + 1 << shift)
        if found.x is not None:
            cost = sum(v for v, taken in zip(costs, found.x.tolist(), strict=True) if taken)
            if best is None or cost < best_cost:
                best, best_cost = found.x, cost
        if found.status == LIMIT and (best is None or below < best_cost):
            return Outcome(LIMIT, best, below, found.method, nodes)
        if found.status == LIMIT or best_cost >> shift <= level:
            break
        rows, least = both, np.append(b, [level + 1, -(best_cost >> shift)])
    status = INFEASIBLE if best is None else OPTIMAL
    return Outcome(status, best, best_cost, found.method, nodes)
