"""0-1 programs that the search leaves to HiGHS."""

from __future__ import annotations

from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ..aside import aside
from .equations import equations
from .outcome import INFEASIBLE, LIMIT, OPTIMAL, Outcome
from .silence import silent_stdout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .watch import Watch

# HiGHS tells solutions apart to some 1e-9 of the numbers it is given. Beyond this size whole
# numbers are scaled down to about 1, and its word on optimality or infeasibility is not taken.
LARGEST_TRUSTED = 2**30

# HiGHS counts nodes in 32 bits.
MOST_NODES = 2**31 - 1

# HiGHS looks at its clock late while it presolves a large program: after a limit of 1 s it came
# back after 14 s on nw04 of MIPLIB. It is waited for so many seconds more, then left behind.
GRACE = 0.5

# Statuses of scipy.optimize.milp.
_SOLVED, _INFEASIBLE = 0, 2


def hand_over(
    c: NDArray[Any],
    A: Any,
    b: NDArray[Any],
    node_limit: int,
    watch: Watch,
    below: int | None = None,
) -> Outcome:
    """Solve a program by ``scipy.optimize.milp`` (HiGHS), which works in floating point.

    What it finds is checked in whole numbers. What it claims counts only where no number is
    larger than ``LARGEST_TRUSTED``; else the status is "limit". Its bound is that of costs alone
    where HiGHS has none.

    Parameters
    ----------
    c : (n,) int64; A : (m, n) CSR array of int64; b : (m,) int64
    node_limit : int
        Most branch-and-bound nodes of HiGHS; more than ``MOST_NODES`` count as these.
    watch : Watch
    below : int, optional
        Solutions that cost so much or more are left out, and "infeasible" means there is no other.
    """
    A, b = _tightened(A, b)
    trusted = max(_largest(numbers) for numbers in (c, A.data, b)) <= LARGEST_TRUSTED
    result = _milp(c, A, b, node_limit, watch, below, trusted)
    bound = int(np.minimum(c, 0).sum())
    if result is None:
        return Outcome(LIMIT, None, bound, "milp", 0)
    claims = {_SOLVED: OPTIMAL, _INFEASIBLE: INFEASIBLE} if trusted else {}
    status = claims.get(result.status, LIMIT)
    if trusted and result.mip_dual_bound is not None and isfinite(result.mip_dual_bound):
        proven = ceil(result.mip_dual_bound - 1e-6 * max(1.0, abs(result.mip_dual_bound)))
        bound = max(bound, proven)
    x = None
    if result.x is not None:
        rounded = np.rint(result.x).astype(np.int8)
        if (A @ rounded.astype(np.int64) >= b).all() and (below is None or c @ rounded < below):
            x = rounded
        elif status == OPTIMAL:
            # A solution that holds only within HiGHS's tolerance proves nothing.
            status = LIMIT
    if x is not None:
        bound = int(c @ x) if status == OPTIMAL else min(bound, int(c @ x))
    return Outcome(status, x, bound, "milp", 0)


def _milp(
    c: NDArray[Any],
    A: Any,
    b: NDArray[Any],
    node_limit: int,
    watch: Watch,
    below: int | None,
    trusted: bool,
) -> Any:
    """Return the result of ``scipy.optimize.milp``, or None if it did not come back in time."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, diags_array, vstack

    numbers, equal = equations(A, b)
    # As most models are written, a x >= b is -a x <= -b: p0201 takes 0.77 times as long so.
    signs = np.where(equal, 1.0, -1.0)
    rows, costs = csr_array(diags_array(signs) @ A[numbers]), c.astype(np.float64)
    upper = signs * b[numbers]
    lower = np.where(equal, upper, -np.inf)
    if below is not None:
        step = max(int(np.gcd.reduce(c)), 1)
        rows = vstack([rows, csr_array(costs[np.newaxis])], format="csr")
        lower, upper = (
            np.append(lower, -np.inf),
            np.append(upper, float((below - 1) // step * step)),
        )
    if not trusted:
        sizes = np.maximum(abs(rows).max(axis=1).toarray().ravel(), 1.0)
        rows = rows.multiply(1.0 / sizes[:, np.newaxis]).tocsr()
        lower, upper = lower / sizes, upper / sizes
        costs = costs / np.abs(costs).max(initial=1.0)
    options: Any = {"node_limit": min(node_limit, MOST_NODES), "mip_rel_gap": 0.0}
    if watch.limited:
        options["time_limit"] = max(watch.seconds_left, 0.01)

    def call() -> Any:
        with silent_stdout():
            return milp(
                costs,
                constraints=LinearConstraint(rows, lower, upper) if len(lower) else None,
                integrality=np.ones(c.size, dtype=np.int64),
                bounds=Bounds(0, 1),
                options=options,
            )

    seconds = watch.seconds_left + GRACE if watch.limited else None
    try:
        return aside(call, seconds=seconds)
    except TimeoutError:
        return None


def _tightened(A: Any, b: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Shrink rows with numbers beyond ``LARGEST_TRUSTED`` where that keeps their 0-1 solutions.

    With every term counted from its worse value a row demands a sum. No term need be larger, and
    all divide by their common divisor, the demand rounded up.
    """
    beyond = np.abs(b) > LARGEST_TRUSTED
    rows = np.repeat(np.arange(len(b)), np.diff(A.indptr))
    beyond[rows[np.abs(A.data) > LARGEST_TRUSTED]] = True
    if not beyond.any():
        return A, b
    A, b = A.copy(), b.copy()
    for row in np.flatnonzero(beyond).tolist():
        terms = A.data[A.indptr[row] : A.indptr[row + 1]]
        demand = max(int(b[row] - np.minimum(terms, 0).sum()), 0)
        np.clip(terms, -demand, demand, out=terms)
        divisor = max(int(np.gcd.reduce(terms)), 1)
        terms //= divisor
        b[row] = -(-demand // divisor) + np.minimum(terms, 0).sum()
    return A, b


def _largest(numbers: NDArray[Any]) -> int:
    return max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
