"""0-1 programs solved by enumeration, depth-first search or HiGHS (More-Wu section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import one_of, whole_number
from ..memory import require_memory
from .batches import enumerate_together
from .binary_solution import STATUS_NAMES, BinaryBatch, BinarySolution, masked, sequences
from .handover import hand_over
from .outcome import INFEASIBLE, LIMIT, OPTIMAL, STATUSES, Outcome
from .program import lay_out
from .whole_numbers import LARGEST
from .wide_costs import solve_wide
from .wide_rows import beside_wide_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .program import Programs

    Found = tuple[NDArray[Any], NDArray[Any], NDArray[Any], bool]

METHODS = ("auto", "enumeration", "search", "milp")
NODE_LIMIT = 100_000_000
# Up to here all sequences at once are faster than a search, and up to here they fit memory.
SMALL, MOST_ENUMERATED, MOST_SEARCHED = 12, 24, 62
# From so many programs on they are solved side by side; fewer leave vectors idle. With more rows
# than these, giving up early is worth more: 128 rows of the loose family took 1.6 times as long.
MANY, MOST_ROWS = 32, 64
# The search ends in leaves of 64 patterns.
LEAF = 6
# Subgradient steps, then nodes: most programs end in the short first search, and for the others
# its incumbent makes better multipliers (p0033: 159,000 nodes instead of 411,000).
STAGES = ((60, 5000), (300, 2**62))
# Differences of two sums must fit the dtype of the lanes.
_SAFE_INT16, _SAFE_INT32 = 2**14, 2**30


def solve_binary(
    c: ArrayLike,
    A: ArrayLike,
    b: ArrayLike,
    *,
    node_limit: int = NODE_LIMIT,
    method: str = "auto",
) -> BinarySolution:
    """Minimise c.x subject to A x >= b over x in {0, 1}^n, exactly (More-Wu section 3).

    Integers are computed with as they are, floats as their shortest decimals: rows and costs of
    any range are exact, those beyond int64 at the price of further searches.
    Any optimal x may be returned.

    Parameters
    ----------
    c : array_like, shape (*batch, n)
        Costs; negative ones are met by complementing variables.
    A : array_like, shape (*batch, m, n)
    b : array_like, shape (*batch, m)
        Of any sign.
    node_limit : int
        Most nodes of the search for one program.
    method : str
        - ``"enumeration"``: all sequences, n <= 24.
        - ``"search"``: depth first with exact bounds, n <= 62; ``"limit"`` at the node limit.
        - ``"milp"``: ``scipy.optimize.milp``, in floating point; what it returns is checked
          exactly, its claim that nothing better exists is not.
        - ``"auto"``: enumeration up to n = 12, then search; beyond the node limit or n = 62
          milp goes on, with the best known objective as cutoff and as many nodes of its own.

    Raises
    ------
    TypeError
        If an argument holds no numbers.
    ValueError
        If shapes do not fit together, a number is NaN or infinite, a Decimal has an exponent
        beyond 9999, or n is beyond the method.
    OverflowError
        If the absolute sum of integer costs, or of a row of integers with its b, does not fit
        int64, or that of float costs no float.

    Examples
    --------
    >>> import fastlb as lb
    >>> s = lb.solve_binary([2, 2, 2, 2], [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1])
    >>> s.objective, s.status, s.bound
    (4, 'optimal', 4)
    """
    one_of("method", method, METHODS)
    node_limit = whole_number("node_limit", node_limit, 0)
    given = lay_out(c, A, b)
    n = given.c.shape[1]
    most = {"enumeration": MOST_ENUMERATED, "search": MOST_SEARCHED}.get(method, n)
    if n > most:
        raise ValueError(f"c must have at most {most} variables for {method}, got {n}")
    if method == "enumeration" or (method == "auto" and n <= SMALL):
        pattern, bound, known, every = _enumerated(given)
        if not given.wide and not given.wide_rows:
            return _enumeration(given, pattern, given.objectives(bound), known, every)
        x, nodes = sequences(pattern, n), np.zeros(len(known), dtype=np.int64)
        codes = np.where(known, OPTIMAL, INFEASIBLE)
        one_by_one = sorted(given.wide.keys() | given.wide_rows.keys())
    else:
        x, known = np.zeros(given.c.shape, dtype=np.int8), np.zeros(len(given.c), dtype=bool)
        codes, bound, nodes = np.zeros((3, len(x)), dtype=np.int64)
        one_by_one = list(range(len(x)))
    names = np.full(len(x), "enumeration")
    if given.wide:
        bound = bound.astype(object)
    for i in one_by_one:
        found = _outcome(given, i, node_limit, method)
        codes[i], bound[i], names[i], nodes[i] = (
            found.status,
            found.bound,
            found.method,
            found.nodes,
        )
        known[i] = found.x is not None
        x[i] = 0 if found.x is None else found.x
    return _solution(given, codes, x, given.costs(x), known, bound, names, nodes)


def _outcome(given: Programs, i: int, node_limit: int, method: str) -> Outcome:
    """Solve one program of a batch."""
    c, A, b = given.c[i], given.A[i], given.b[i]
    if i not in given.wide and i not in given.wide_rows:
        return _solve_one(c, A, b, node_limit, method, given.bound)

    def solve(
        c: NDArray[Any], A: NDArray[Any], b: NDArray[Any], node_limit: int, below: int | None
    ) -> Outcome:
        return _solve_one(c, A, b, node_limit, method, LARGEST, below)

    wide_rows = given.wide_rows.get(i, {})
    narrow = [r for r in range(len(b)) if r not in wide_rows]
    within = beside_wide_rows(solve, list(wide_rows.values())) if wide_rows else solve
    return solve_wide(given.wide.get(i) or c.tolist(), A[narrow], b[narrow], node_limit, within)


def _solve_one(
    c: NDArray[Any],
    A: NDArray[Any],
    b: NDArray[Any],
    node_limit: int,
    method: str,
    bound: int,
    below: int | None = None,
) -> Outcome:
    """Solve one program (n,), (m, n), (m,) of whole numbers.

    A search leaves out what costs ``below`` or more.
    """
    name = "search" if method == "auto" else method
    m, n = A.shape
    rc, rA, rb = c.copy(), A.copy(), b.copy()
    active, flipped = np.empty(m, np.bool_), np.empty(n, np.bool_)
    value, free = np.empty(n, np.int8), np.empty(n, np.int64)
    rows, columns = kernels("programs.presolve").reduce(rc, rA, rb, active, value, flipped, free)
    if rows < 0:
        return Outcome(INFEASIBLE, None, 0, name, 0)
    rA = rA.reshape(-1)[: rows * columns].reshape(rows, columns)
    free, rc, rb = free[:columns], rc[:columns], rb[:rows]
    fixed_cost = int(c[value == 1].sum() + c[free][flipped[free]].sum())
    if free.size == 0:
        found = Outcome(OPTIMAL, np.zeros(0, dtype=np.int8), 0, name, 0)
    elif method == "milp" or (method == "auto" and free.size > MOST_SEARCHED):
        found = hand_over(rc, rA, rb, node_limit)
    elif method == "enumeration" or (method == "auto" and free.size <= SMALL):
        found = _enumerate_one(rc, rA, rb)
    else:
        below = None if below is None else below - fixed_cost
        found = _search(rc, rA, rb, node_limit, bound, below)
        if found.status == LIMIT and method == "auto":
            found = hand_over(rc, rA, rb, node_limit, found)
    if found.status == INFEASIBLE:
        return found
    if found.x is not None:
        value[free] = found.x ^ flipped[free]
        found.x = value
    found.bound += fixed_cost
    return found


def _search(
    c: NDArray[Any],
    A: NDArray[Any],
    b: NDArray[Any],
    node_limit: int,
    bound: int,
    below: int | None,
) -> Outcome:
    n = c.size
    step = max(int(np.gcd.reduce(c)), 1)
    if below is not None and below <= 0:
        return Outcome(INFEASIBLE, None, 0, "search", 0)
    if n < LEAF:
        c, A = np.pad(c, (0, LEAF - n)), np.pad(A, ((0, 0), (0, LEAF - n)))
    y, x, cost, found = np.zeros(len(b)), np.zeros(c.size, dtype=np.int8), np.int64(0), False
    if below is not None and below <= c.sum():
        # As if a solution of that cost were known, which is a multiple of all costs' divisor.
        cost, found = np.int64(-(-below // step) * step), True
    given, spent = cost if found else None, 0
    kind = np.empty(0, _sums_dtype(bound))
    for steps, most in STAGES:
        most = min(most, node_limit - spent)
        cost, found = kernels("programs.presolve").multipliers(c, A, b, y, x, cost, found, steps)
        cost, found, least, nodes, complete = kernels("programs.branch_and_bound").search(
            c, A, b, y, np.argsort(-y), kind, x, cost, found, most
        )
        spent += int(nodes)
        if complete or spent == node_limit:
            break
    found = bool(found and (given is None or cost < given))
    if not complete:
        return Outcome(LIMIT, x[:n] if found else None, max(int(least), 0), "search", spent)
    if not found:
        return Outcome(INFEASIBLE, None, 0, "search", spent)
    return Outcome(OPTIMAL, x[:n], int(cost), "search", spent)


def _enumerate_one(c: NDArray[Any], A: NDArray[Any], b: NDArray[Any]) -> Outcome:
    pattern, cost, found = _enumerate_each(c[None], A[None], b[None], np.int64)
    if not found[0]:
        return Outcome(INFEASIBLE, None, 0, "enumeration", 0)
    return Outcome(OPTIMAL, sequences(pattern, c.size)[0], int(cost[0]), "enumeration", 0)


def _enumerate_each(
    c: NDArray[Any], A: NDArray[Any], b: NDArray[Any], dtype: type[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return (pattern, cost, whether feasible) of programs, computed in a dtype of their sums."""
    B, m, n = A.shape
    rows = np.concatenate([A, c[:, None]], axis=1)
    sums = np.empty((m + 1, 2**LEAF), dtype)
    base = np.empty((m + 1, 2 ** max(n - LEAF, 0)), dtype)
    pattern, cost = np.empty((2, B), dtype=np.int64)
    known = np.empty(B, dtype=np.bool_)
    order = np.empty(m, dtype=np.int64)
    kernel = kernels("programs.enumerate").enumerate_each
    kernel(rows, b, sums, base, order, pattern, cost, known)
    return pattern, cost, known


def _sums_dtype(bound: int) -> type[Any]:
    """Return the dtype that sums up to a bound fit, differences of two as well."""
    return np.int32 if bound < _SAFE_INT32 else np.int64


def _enumerated(given: Programs) -> Found:
    """Return (pattern, cost, whether feasible, whether all are) of all programs."""
    B, m, n = given.A.shape
    require_memory(8 * (m + 1) * 2 ** max(n - LEAF, 0), f"enumerating {n} variables, {m} rows")
    programs = given.c, given.A, given.b
    if n <= SMALL and m <= MOST_ROWS and B >= MANY:
        # The narrowest numbers are tried first, for their sums are checked on the way.
        results, count = enumerate_together(*programs, np.int16, _SAFE_INT16)
        if count < 0 and (given.bound < _SAFE_INT32 or n <= LEAF):
            results, count = enumerate_together(*programs, _sums_dtype(given.bound), 0)
        if count >= 0:
            return *results, count == B
    dtype = np.int16 if given.bound < _SAFE_INT16 else _sums_dtype(given.bound)
    pattern, cost, known = _enumerate_each(*programs, dtype)
    return pattern, cost, known, bool(known.all())


def _enumeration(
    given: Programs,
    pattern: NDArray[Any],
    objective: NDArray[Any],
    known: NDArray[Any],
    every: bool,
) -> BinarySolution:
    n = given.c.shape[1]
    if given.batch:
        return BinaryBatch(given.batch, n, pattern, objective, None if every else ~known)
    if not every:
        return BinarySolution(None, None, "infeasible", None, "enumeration", 0)
    value = objective.tolist()[0]
    return BinarySolution(sequences(pattern, n)[0], value, "optimal", value, "enumeration", 0)


def _solution(
    given: Programs,
    codes: NDArray[Any],
    x: NDArray[Any],
    cost: NDArray[Any],
    known: NDArray[Any],
    bound: NDArray[Any],
    names: NDArray[Any],
    nodes: NDArray[Any],
) -> BinarySolution:
    objective = given.objectives(cost)
    lower = given.bounds(np.where(codes == OPTIMAL, cost, bound), codes == LIMIT)
    if not given.batch:
        something = known[0]
        return BinarySolution(
            x[0] if something else None,
            objective.tolist()[0] if something else None,
            STATUSES[codes[0]],
            None if codes[0] == INFEASIBLE else lower.tolist()[0],
            str(names[0]),
            int(nodes[0]),
        )
    batch = given.batch
    unknown, impossible = (None, None) if known.all() else (~known, codes == INFEASIBLE)
    return BinarySolution(
        masked(x, unknown, batch),
        masked(objective, unknown, batch),
        STATUS_NAMES.take(codes).reshape(batch),
        masked(lower, impossible, batch),
        names.reshape(batch),
        nodes.reshape(batch),
    )
