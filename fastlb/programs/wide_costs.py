"""0-1 programs whose costs add up beyond int64, solved digit by digit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .outcome import INFEASIBLE, LIMIT, OPTIMAL, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Solve = Callable[[NDArray[Any], NDArray[Any], NDArray[Any], int, int | None], Outcome]

# Bits of a leading digit's sums: they and their bounds then fit int64, also as rows.
DIGIT_BITS = 60


def solve_wide(
    costs: list[int], A: NDArray[Any], b: NDArray[Any], node_limit: int, solve: Solve
) -> Outcome:
    """Solve one program exactly.

    Every cost is its leading digit times ``2**shift`` plus a rest of 0 to below ``2**shift``. So a
    solution costs at least ``2**shift`` times its leading sum: leading sums are gone through
    upwards, the least rest is sought where several solutions have one, and those beyond the best
    cost are left out.

    Parameters
    ----------
    costs : list of int, (n,)
        Of any size.
    A : (m, n) int64; b : (m,) int64
    node_limit : int
        Most nodes of all searches together.
    solve
        From (c, A, b, node limit, below) in int64 to an outcome. Solutions of ``below`` or more
        may be left out.
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

    def note(x: NDArray[np.int8] | None) -> None:
        nonlocal best, best_cost
        if x is not None:
            cost = sum(v for v, taken in zip(costs, x.tolist(), strict=True) if taken)
            if best is None or cost < best_cost:
                best, best_cost = x, cost

    def within_reach(rows: NDArray[Any], least: NDArray[Any]) -> Outcome:
        """Find a solution of least leading sum, infeasible if all cost more than the best."""
        nonlocal nodes
        top = None if best is None else best_cost >> shift
        found = solve(digits, rows, least, node_limit - nodes, None if top is None else top + 1)
        nodes += found.nodes
        note(found.x)
        if found.status == OPTIMAL and top is not None and found.bound > top:
            found.status = INFEASIBLE
        return found

    while True:
        found = within_reach(rows, least)
        level = found.bound
        below = level << shift
        if found.status == OPTIMAL and found.x is not None:
            # Mostly it is the only one within reach; a row asks for another than this.
            other = np.vstack([rows, 1 - 2 * found.x.astype(np.int64)])
            found = within_reach(other, np.append(least, 1 - int(found.x.sum())))
            below = max(below, found.bound << shift) if found.status == LIMIT else below
        if found.status == OPTIMAL and found.bound == level:
            both = np.vstack([A, digits, -digits])
            fixed = np.append(b, [level, -level])
            finer = solve_wide(rests, both, fixed, node_limit - nodes, solve)
            nodes += finer.nodes
            note(finer.x)
            found.status = finer.status
            below = min(below + finer.bound, level + 1 << shift)
        if found.status == INFEASIBLE or (
            found.status == LIMIT and best is not None and below >= best_cost
        ):
            break
        if found.status == LIMIT:
            return Outcome(LIMIT, best, below, found.method, nodes)
        rows, least = np.vstack([A, digits]), np.append(b, level + 1)
    status = INFEASIBLE if best is None else OPTIMAL
    return Outcome(status, best, best_cost, found.method, nodes)
