"""One 0-1 program in whole numbers: reduced, then enumerated, searched or handed to HiGHS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .binary_solution import sequences
from .fixing import FREE, fix_variables
from .handover import hand_over
from .outcome import INFEASIBLE, LIMIT, OPTIMAL, Outcome
from .search import LEAF, search

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .watch import Watch

# Variables up to which enumeration is faster than a search, up to which its arrays fit memory, and
# up to which the search applies.
SMALL, MOST_ENUMERATED, MOST_SEARCHED = 12, 24, 62


def solve_one(
    c: NDArray[Any],
    A: Any,
    b: NDArray[Any],
    node_limit: int,
    method: str,
    watch: Watch,
    bound: int,
    below: int | None = None,
) -> Outcome:
    """Solve one program exactly, or as far as the limits let it.

    Parameters
    ----------
    c : (n,) int64; A : (m, n) int64, an array or a CSR array; b : (m,) int64
    node_limit : int
        Most nodes of the search, and most nodes of HiGHS after it.
    method : str
        As in :func:`solve_binary`.
    watch : Watch
    bound : int
        No absolute sum of a row or of the costs is larger.
    below : int, optional
        A search leaves out solutions that cost this much or more.
    """
    if method == "milp" or c.size > MOST_SEARCHED:
        return _large(c, A, b, node_limit, method, watch, bound, below)
    outcome = _small(c, A, b, node_limit, method, watch, bound, below)
    if outcome.status != LIMIT or method != "auto" or watch.over:
        return outcome
    return _continue_with_highs(outcome, c, A, b, node_limit, watch, bound)


def _continue_with_highs(
    stopped: Outcome,
    c: NDArray[Any],
    A: Any,
    b: NDArray[Any],
    node_limit: int,
    watch: Watch,
    bound: int,
) -> Outcome:
    """Solve with HiGHS after a search was stopped, seeking something better than its solution."""
    cost = None if stopped.x is None else int(c @ stopped.x)
    known = Outcome(LIMIT, stopped.x, stopped.bound, "milp", stopped.nodes)
    inner = watch.through(lambda _: known)
    result = _large(c, A, b, node_limit, "milp", inner, bound, cost)
    result.nodes = stopped.nodes
    if result.x is None and cost is not None:
        # HiGHS has nothing better; if that is proven, the known solution is optimal.
        result.status = OPTIMAL if result.status == INFEASIBLE else LIMIT
        result.x = stopped.x
    elif result.status == INFEASIBLE:
        return result
    best = None if result.x is None else int(c @ result.x)
    if result.status == OPTIMAL and best is not None:
        result.bound = best
    else:
        result.bound = max(result.bound, stopped.bound)
        result.bound = result.bound if best is None else min(result.bound, best)
    return result


def _small(
    c: NDArray[Any],
    A: NDArray[Any],
    b: NDArray[Any],
    node_limit: int,
    method: str,
    watch: Watch,
    bound: int,
    below: int | None,
) -> Outcome:
    """Reduce a program of few variables, then enumerate or search it."""
    method_name = "search" if method == "auto" else method
    m, n = A.shape
    reduced_c, reduced_A, reduced_b = c.copy(), A.copy(), b.copy()
    active, flipped = np.empty(m, np.bool_), np.empty(n, np.bool_)
    value, free = np.empty(n, np.int8), np.empty(n, np.int64)
    rows, columns = kernels("programs.presolve").reduce(
        reduced_c, reduced_A, reduced_b, active, value, flipped, free
    )
    if rows < 0:
        return Outcome(INFEASIBLE, None, 0, method_name, 0)
    reduced_A = reduced_A.reshape(-1)[: rows * columns].reshape(rows, columns)
    free, reduced_c, reduced_b = free[:columns], reduced_c[:columns], reduced_b[:rows]
    fixed_cost = int(c[value == 1].sum() + c[free][flipped[free]].sum())

    def whole(outcome: Outcome) -> Outcome:
        """Return the outcome of the whole program for one of the reduced program."""
        x = None
        if outcome.x is not None:
            x = value.copy()
            x[free] = outcome.x ^ flipped[free]
        return Outcome(outcome.status, x, outcome.bound + fixed_cost, outcome.method, outcome.nodes)

    if free.size == 0:
        return whole(Outcome(OPTIMAL, np.zeros(0, dtype=np.int8), 0, method_name, 0))
    if method == "enumeration" or (method == "auto" and free.size <= SMALL):
        return whole(_enumerate_one(reduced_c, reduced_A, reduced_b))
    below = None if below is None else below - fixed_cost
    inner = watch.through(whole)
    return whole(
        search(reduced_c, reduced_A, reduced_b, node_limit, bound, below, inner, method != "auto")
    )


def _large(
    c: NDArray[Any],
    A: Any,
    b: NDArray[Any],
    node_limit: int,
    method: str,
    watch: Watch,
    bound: int,
    below: int | None,
) -> Outcome:
    """Fix variables, then hand the others to HiGHS, or search them if few are left."""
    from scipy.sparse import csr_array

    method_name = "search" if method == "auto" else method
    A = csr_array(A)
    fixed = fix_variables(c, A, b)
    if fixed is None:
        return Outcome(INFEASIBLE, None, 0, method_name, 0)
    value, needed = fixed
    free, ones = np.flatnonzero(value == FREE), np.flatnonzero(value == 1)
    fixed_cost = int(c[ones].sum())
    rows, right = A, b
    if free.size < c.size or not needed.all():
        rows = A[np.flatnonzero(needed)]
        right = b[needed] - rows[:, ones].sum(axis=1)
        rows = rows[:, free]

    def whole(outcome: Outcome) -> Outcome:
        """Return the outcome of the whole program for one of the free variables."""
        x = None
        if outcome.x is not None:
            x = value.copy()
            x[free] = outcome.x
        return Outcome(outcome.status, x, outcome.bound + fixed_cost, outcome.method, outcome.nodes)

    if free.size == 0:
        status = OPTIMAL if (right <= 0).all() else INFEASIBLE
        return whole(Outcome(status, np.zeros(0, dtype=np.int8), 0, method_name, 0))
    c, below = c[free], None if below is None else below - fixed_cost
    inner = watch.through(whole)
    if method != "milp" and free.size <= MOST_SEARCHED:
        rows = rows.toarray()
        return whole(solve_one(c, rows, right, node_limit, method, inner, bound, below))
    if inner.tell is not None:
        inner.tell(Outcome(LIMIT, None, int(np.minimum(c, 0).sum()), "milp", 0))
    return whole(hand_over(c, rows, right, node_limit, inner, below))


def _enumerate_one(c: NDArray[Any], A: NDArray[Any], b: NDArray[Any]) -> Outcome:
    pattern, cost, feasible = enumerate_each(c[None], A[None], b[None], np.int64)
    if not feasible[0]:
        return Outcome(INFEASIBLE, None, 0, "enumeration", 0)
    return Outcome(OPTIMAL, sequences(pattern, c.size)[0], int(cost[0]), "enumeration", 0)


def enumerate_each(
    c: NDArray[Any], A: NDArray[Any], b: NDArray[Any], dtype: type[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return (pattern, cost, feasible), (B,) each, of programs, computed in a dtype of their sums.

    c : (B, n) int64; A : (B, m, n) int64; b : (B, m) int64
    """
    B, m, n = A.shape
    rows = np.concatenate([A, c[:, None]], axis=1)
    sums = np.empty((m + 1, 2**LEAF), dtype)
    base = np.empty((m + 1, 2 ** max(n - LEAF, 0)), dtype)
    pattern, cost = np.empty((2, B), dtype=np.int64)
    feasible = np.empty(B, dtype=np.bool_)
    order = np.empty(m, dtype=np.int64)
    kernel = kernels("programs.enumerate").enumerate_each
    kernel(rows, b, sums, base, order, pattern, cost, feasible)
    return pattern, cost, feasible
