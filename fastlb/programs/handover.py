"""0-1 programs that the search leaves to HiGHS."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from .outcome import INFEASIBLE, LIMIT, OPTIMAL, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

# HiGHS tells solutions apart to some 1e-9 of the numbers it is given. Beyond this size whole
# numbers are scaled down to about 1, and its word on optimality or infeasibility is not taken.
LARGEST_TRUSTED = 2**30

# HiGHS counts nodes in 32 bits.
MOST_NODES = 2**31 - 1

# Statuses of scipy.optimize.milp.
_SOLVED, _INFEASIBLE = 0, 2


def hand_over(
    c: NDArray[Any],
    A: NDArray[Any],
    b: NDArray[Any],
    node_limit: int,
    stopped: Outcome | None = None,
) -> Outcome:
    """Go on with ``scipy.optimize.milp`` (HiGHS), which works in floating point.

    What it finds is checked in whole numbers. What it claims counts only where no number is
    larger than ``LARGEST_TRUSTED``; else the status is "limit" and the bound that of the search.

    Parameters
    ----------
    c : (n,) int64, 0 or more; A : (m, n) int64; b : (m,) int64
    node_limit : int
        Most branch-and-bound nodes of HiGHS; more than ``MOST_NODES`` count as these.
    stopped : Outcome, optional
        Of the search: its solution is to be beaten, its bound holds on.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    x, bound, nodes = (stopped.x, stopped.bound, stopped.nodes) if stopped else (None, 0, 0)
    trusted = max(_largest(numbers) for numbers in (c, A, b)) <= LARGEST_TRUSTED
    rows, least, costs = A.astype(np.float64), b.astype(np.float64), c.astype(np.float64)
    if x is not None:
        step = max(int(np.gcd.reduce(c)), 1)
        rows = np.vstack([rows, -costs])
        least = np.append(least, float(step - int(c @ x)))
    if not trusted:
        sizes = np.abs(rows).max(axis=1, initial=1.0)
        rows, least = rows / sizes[:, np.newaxis], least / sizes
        costs = costs / costs.max(initial=1.0)
    found: Any = milp(
        costs,
        constraints=LinearConstraint(rows, lb=least) if len(rows) else None,
        integrality=np.ones(c.size, dtype=np.int64),
        bounds=Bounds(0, 1),
        options={"node_limit": min(node_limit, MOST_NODES), "mip_rel_gap": 0.0},
    )
    claims = {_SOLVED: OPTIMAL, _INFEASIBLE: INFEASIBLE} if trusted else {}
    status = claims.get(found.status, LIMIT)
    if trusted and found.mip_dual_bound is not None and np.isfinite(found.mip_dual_bound):
        proven = ceil(found.mip_dual_bound - 1e-6 * max(1.0, abs(found.mip_dual_bound)))
        bound = max(bound, proven)
    if found.x is not None:
        rounded = np.rint(found.x).astype(np.int8)
        if (A @ rounded >= b).all() and (x is None or c @ rounded < c @ x):
            x = rounded
        elif status == OPTIMAL:
            # A solution that holds only within HiGHS's tolerance proves nothing.
            status = LIMIT
    elif status == INFEASIBLE and x is not None:
        status = OPTIMAL
    if x is not None:
        bound = int(c @ x) if status == OPTIMAL else min(bound, int(c @ x))
    return Outcome(status, x, bound, "milp", nodes)


def _largest(numbers: NDArray[Any]) -> int:
    return max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
