"""0-1 programs whose costs add up to more than int64 holds, solved digit by digit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .outcome import INFEASIBLE, LIMIT, OPTIMAL, Outcome
from .program import Program

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .options import Options

    Solver = Callable[[Program, Options], Outcome]

# Bits of the sums of leading digits, so that these and their bounds fit int64, also as rows.
DIGIT_BITS = 60


def solve_wide(
    costs: list[int], A: NDArray[Any], b: NDArray[Any], options: Options, solve: Solver
) -> Outcome:
    """Solve one program whose costs are integers of any size, exactly.

    A cost is ``digit * 2**shift + rest`` with ``0 <= rest < 2**shift``. The level of a solution is
    the sum of its digits: the program with digits for costs fits int64, and finds the least level.
    A solution costs ``level * 2**shift`` or more. With decimal digits for binary ones, costs of 27,
    25 and 19 have digits 2, 2, 1 and rests 7, 5, 9. So levels are tried upwards from the least:

    1. find a solution of the least level above those done with;
    2. exclude it by a further row, and look for another one: mostly there is none of this level;
    3. if there is, minimise the rests among all solutions of the level, by a call of this function;
    4. end when the next level cannot beat the best cost.

    Parameters
    ----------
    costs : list of int, (n,)
        Of any size.
    A : (m, n) int64; b : (m,) int64
    options : Options
        Its node limit is that of all searches together.
    solve : callable
        Solves a program in int64; it may leave out solutions that cost ``cutoff`` or more.
    """
    size = sum(map(abs, costs)).bit_length()
    if size <= DIGIT_BITS:
        return solve(Program(np.array(costs, dtype=np.int64), A, b), options)
    shift = size - DIGIT_BITS
    digits = np.array([cost >> shift for cost in costs], dtype=np.int64)
    rests = [cost - (cost >> shift << shift) for cost in costs]
    best: NDArray[np.int8] | None = None
    best_cost = nodes = 0
    rows, right = A, b

    def record(x: NDArray[np.int8] | None) -> None:
        nonlocal best, best_cost
        if x is not None:
            cost = sum(v for v, chosen in zip(costs, x.tolist(), strict=True) if chosen)
            if best is None or cost < best_cost:
                best, best_cost = x, cost

    def remaining() -> Options:
        return options._replace(node_limit=options.node_limit - nodes)

    def solve_level(rows: NDArray[Any], right: NDArray[Any]) -> Outcome:
        """Find a solution of the least level.

        It is infeasible, too, if every level is above that of the best solution so far.
        """
        nonlocal nodes
        best_level = None if best is None else best_cost >> shift
        cutoff = None if best_level is None else best_level + 1
        outcome = solve(Program(digits, rows, right, cutoff=cutoff), remaining())
        nodes += outcome.nodes
        record(outcome.x)
        if outcome.status == OPTIMAL and best_level is not None and outcome.bound > best_level:
            outcome.status = INFEASIBLE
        return outcome

    while True:
        # 1. A solution of the least level of all that are left.
        outcome = solve_level(rows, right)
        level = outcome.bound
        lower_bound = level << shift
        if outcome.status == OPTIMAL and outcome.x is not None:
            # 2. The row added asks for another value of at least one variable.
            other_rows = np.vstack([rows, 1 - 2 * outcome.x.astype(np.int64)])
            outcome = solve_level(other_rows, np.append(right, 1 - int(outcome.x.sum())))
            if outcome.status == LIMIT:
                lower_bound = max(lower_bound, outcome.bound << shift)
        if outcome.status == OPTIMAL and outcome.bound == level:
            # 3. Rows added hold the level; the rests decide among its solutions.
            level_rows = np.vstack([A, digits, -digits])
            level_right = np.append(b, [level, -level])
            finer = solve_wide(rests, level_rows, level_right, remaining(), solve)
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
        # 4. Only levels above this one are left.
        rows, right = np.vstack([A, digits]), np.append(b, level + 1)
    status = INFEASIBLE if best is None else OPTIMAL
    return Outcome(status, best, best_cost, outcome.method, nodes)
