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

    from .options import Options
    from .program import Program

# HiGHS distinguishes solutions to some 1e-9 of the numbers in a program. If one exceeds this size,
# all are scaled down to about 1, and what HiGHS claims to be optimal or infeasible does not count.
LARGEST_TRUSTED = 2**30

# HiGHS counts nodes in 32 bits.
MOST_NODES = 2**31 - 1

# HiGHS looks at its clock late while it presolves a large program: with a limit of 1 s it returned
# after 14 s on nw04 of MIPLIB. After so many seconds beyond the limit its result is not awaited.
GRACE = 0.5

# Statuses of scipy.optimize.milp.
_SOLVED, _INFEASIBLE = 0, 2


def hand_over(program: Program, options: Options) -> Outcome:
    """Solve a program by ``scipy.optimize.milp`` (HiGHS), which works in floating point.

    ``program.A`` is a CSR array. The solution is checked in whole numbers. The status that HiGHS
    claims counts only where no number is larger than ``LARGEST_TRUSTED``; else it is ``LIMIT``.
    With a cutoff, ``INFEASIBLE`` means that no solution costs less. Where HiGHS has no bound, it
    is the sum of the negative costs.
    """
    c, cutoff = program.c, program.cutoff
    A, b = _tightened(program.A, program.b)
    is_trusted = max(_largest(numbers) for numbers in (c, A.data, b)) <= LARGEST_TRUSTED
    result = _milp(program._replace(A=A, b=b), options, is_scaled=not is_trusted)
    bound = int(np.minimum(c, 0).sum())
    if result is None:
        return Outcome(LIMIT, None, bound, "milp", 0)
    claims = {_SOLVED: OPTIMAL, _INFEASIBLE: INFEASIBLE} if is_trusted else {}
    status = claims.get(result.status, LIMIT)
    if is_trusted and result.mip_dual_bound is not None and isfinite(result.mip_dual_bound):
        proven = ceil(result.mip_dual_bound - 1e-6 * max(1.0, abs(result.mip_dual_bound)))
        bound = max(bound, proven)
    x = None
    if result.x is not None:
        rounded = np.rint(result.x).astype(np.int8)
        if (A @ rounded.astype(np.int64) >= b).all() and (cutoff is None or c @ rounded < cutoff):
            x = rounded
        elif status == OPTIMAL:
            # A solution that is feasible only within HiGHS's tolerance proves nothing.
            status = LIMIT
    if x is not None:
        bound = int(c @ x) if status == OPTIMAL else min(bound, int(c @ x))
    return Outcome(status, x, bound, "milp", 0)


def _milp(program: Program, options: Options, *, is_scaled: bool) -> Any:
    """Return the result of ``scipy.optimize.milp``, or None if it did not return in time.

    ``is_scaled`` divides each row and the costs by their largest number.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, diags_array, vstack

    c, b, monitor = program.c, program.b, options.monitor
    numbers, equal = equations(program.A, b)
    # HiGHS gets a x >= b as -a x <= -b, as most models are written: p0201 then takes 0.77 times as
    # long.
    signs = np.where(equal, 1.0, -1.0)
    rows, costs = csr_array(diags_array(signs) @ program.A[numbers]), c.astype(np.float64)
    upper = signs * b[numbers]
    lower = np.where(equal, upper, -np.inf)
    if program.cutoff is not None:
        divisor = max(int(np.gcd.reduce(c)), 1)
        most = (program.cutoff - 1) // divisor * divisor
        rows = vstack([rows, csr_array(costs[np.newaxis])], format="csr")
        lower, upper = np.append(lower, -np.inf), np.append(upper, float(most))
    if is_scaled:
        sizes = np.maximum(abs(rows).max(axis=1).toarray().ravel(), 1.0)
        rows = rows.multiply(1.0 / sizes[:, np.newaxis]).tocsr()
        lower, upper = lower / sizes, upper / sizes
        costs = costs / np.abs(costs).max(initial=1.0)
    settings: Any = {"node_limit": min(options.node_limit, MOST_NODES), "mip_rel_gap": 0.0}
    if monitor.is_limited:
        settings["time_limit"] = max(monitor.seconds_left, 0.01)

    def call() -> Any:
        with silent_stdout():
            return milp(
                costs,
                constraints=LinearConstraint(rows, lower, upper) if len(lower) else None,
                integrality=np.ones(c.size, dtype=np.int64),
                bounds=Bounds(0, 1),
                options=settings,
            )

    seconds = monitor.seconds_left + GRACE if monitor.is_limited else None
    try:
        return aside(call, seconds=seconds)
    except TimeoutError:
        return None


def _tightened(A: Any, b: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Shrink rows with numbers beyond ``LARGEST_TRUSTED`` where that keeps their 0-1 solutions.

    A row's demand is b less its least left side. No term need be larger than the demand, and all
    terms can be divided by their common divisor if the demand is, rounded up.
    """
    is_large = np.abs(b) > LARGEST_TRUSTED
    rows = np.repeat(np.arange(len(b)), np.diff(A.indptr))
    is_large[rows[np.abs(A.data) > LARGEST_TRUSTED]] = True
    if not is_large.any():
        return A, b
    A, b = A.copy(), b.copy()
    for row in np.flatnonzero(is_large).tolist():
        terms = A.data[A.indptr[row] : A.indptr[row + 1]]
        demand = max(int(b[row] - np.minimum(terms, 0).sum()), 0)
        np.clip(terms, -demand, demand, out=terms)
        divisor = max(int(np.gcd.reduce(terms)), 1)
        terms //= divisor
        b[row] = -(-demand // divisor) + np.minimum(terms, 0).sum()
    return A, b


def _largest(numbers: NDArray[Any]) -> int:
    return max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
