"""0-1 programs solved by enumeration, depth-first search or HiGHS (More-Wu section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np

from ..arguments import cost, one_of, whole_number
from ..memory import require_memory
from .batches import enumerate_together
from .binary_solution import (
    STATUS_NAMES,
    BinaryBatch,
    BinarySolution,
    EnumeratedBatch,
    masked,
    sequences,
)
from .layout import lay_out
from .outcome import INFEASIBLE, LIMIT, OPTIMAL, STATUSES, Outcome
from .search import LEAF, SAFE_INT32, sums_dtype
from .single import MOST_ENUMERATED, MOST_SEARCHED, SMALL, enumerate_each, solve_one
from .watch import Watch
from .whole_numbers import LARGEST
from .wide_costs import solve_wide
from .wide_rows import beside_wide_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal

    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import sparray, spmatrix

    from ..quantities import Matrix, Number, Vector
    from .program import Programs

    Sparse = sparray | spmatrix
    Found = tuple[NDArray[Any], NDArray[Any], NDArray[Any], bool]

METHODS = ("auto", "enumeration", "search", "milp")
# By method, where it has a limit.
MOST_VARIABLES = {"enumeration": MOST_ENUMERATED, "search": MOST_SEARCHED}
NODE_LIMIT = 1_000_000_000
# From so many programs on they are solved side by side; fewer leave vectors idle. With more rows
# than these, giving up early is worth more: 128 rows of the loose family took 1.6 times as long.
MANY, MOST_ROWS = 32, 64
# Differences of two sums must fit the dtype of the lanes.
_SAFE_INT16 = 2**14
# Row tests at most between two looks at the clock while a batch is enumerated, about 0.1 s.
_STRETCH = 2**28


class SolveOptions(TypedDict, total=False):
    """The options of :func:`solve_binary`."""

    node_limit: int
    method: str
    time_limit: float | None
    progress: Callable[[BinarySolution], None] | None


@overload
def solve_binary(
    c: Sequence[Number | Decimal] | Vector,
    A: ArrayLike | Sparse | None = None,
    b: ArrayLike | None = None,
    **options: Unpack[SolveOptions],
) -> BinarySolution: ...
@overload
def solve_binary(
    c: Sequence[Sequence[Any] | Vector] | Matrix,
    A: ArrayLike | None = None,
    b: ArrayLike | None = None,
    **options: Unpack[SolveOptions],
) -> BinaryBatch: ...
# For arrays, whose number of axes is unknown to type checkers.
@overload
def solve_binary(
    c: ArrayLike,
    A: ArrayLike | Sparse | None = None,
    b: ArrayLike | None = None,
    **options: Unpack[SolveOptions],
) -> Any: ...
def solve_binary(
    c: ArrayLike | Sequence[Number | Decimal],
    A: ArrayLike | Sparse | None = None,
    b: ArrayLike | None = None,
    *,
    node_limit: int = NODE_LIMIT,
    method: str = "auto",
    time_limit: float | None = None,
    progress: Callable[[BinarySolution], None] | None = None,
) -> BinarySolution | BinaryBatch:
    """Minimise c.x subject to A x >= b over x in {0, 1}^n, exactly (More-Wu section 3).

    Integers are computed with as they are, their absolute sums up to int64's limit. A float means
    its shortest decimal; floats, Fractions and Decimals may be of any range, where whole
    multiples of them that do not fit int64 take further searches. Any optimal x may be returned.

    Parameters
    ----------
    c : array_like, shape (*batch, n)
        Costs; negative ones are met by complementing variables.
    A : array_like, shape (*batch, m, n), or a SciPy sparse array or matrix, shape (m, n)
        Sparse rows stay sparse where they are many.
    b : array_like, shape (*batch, m)
        Of any sign.
    node_limit : int
        Most nodes of the search for one program.
    method : str
        - ``"enumeration"``: all sequences, n <= 24.
        - ``"search"``: depth first with exact bounds, n <= 62; ``"limit"`` at the node limit.
        - ``"milp"``: HiGHS by ``scipy.optimize.milp``, in floating point; what it returns is
          checked exactly, its claim that nothing better exists is not.
        - ``"auto"``: enumeration up to n = 12, then search. HiGHS solves programs of n > 62,
          if exact rules leave so many variables open, and goes on where the search stops at the
          node limit or, after 17 million nodes, can be expected to take more than a billion;
          with the best known objective as cutoff and as many nodes of its own.
    time_limit : float, optional
        Seconds for all programs together, without laying them out and compiling kernels. Then
        the status is ``"limit"``, beside the best x known and a bound. HiGHS may need half a
        second more; where it notices the end later still, it is left to end in a thread.
    progress : callable, optional
        Called about ten times a second during a search, and before HiGHS begins, with what is
        known so far of the program at hand: a BinarySolution of status ``"limit"``.

    An interrupt, ``KeyboardInterrupt``, has the best solution so far of a single program as its
    attribute ``solution``: of status ``"limit"``, or None where there is none.

    Raises
    ------
    TypeError
        If an argument holds no numbers, or A or b is missing.
    ValueError
        If shapes do not fit together, a number is NaN or infinite, a Decimal has an exponent
        beyond 9999, or n is beyond the method.
    OverflowError
        If the absolute sum of integer costs, or of a row of integers with its b, does not fit
        int64 (as Fractions or Decimals they may be larger), or that of float costs no float.

    Examples
    --------
    >>> import fastlb as lb
    >>> s = lb.solve_binary([2, 2, 2, 2], [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1])
    >>> s.objective, s.status, s.bound
    (4, 'optimal', 4)
    """
    if A is None or b is None:
        raise TypeError(_missing(c, A))
    one_of("method", method, METHODS)
    node_limit = whole_number("node_limit", node_limit, 0)
    seconds = None if time_limit is None else cost("time_limit", time_limit)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of a BinarySolution, got {progress!r}")
    given = lay_out(c, A, b)
    n = given.c.shape[1]
    most = MOST_VARIABLES.get(method, n)
    if n > most:
        raise ValueError(
            f"c must have at most {most} variables for method={method!r}, got {n}: "
            "method='auto' takes any number"
        )
    if seconds is not None and SMALL < n <= MOST_SEARCHED:
        _compile_search(given.bound)
    watch = Watch(seconds)
    if method == "enumeration" or (method == "auto" and n <= SMALL):
        pattern, bound, known, every = _enumerated(given, watch)
        done = len(known)
        if done == len(given.c) and not given.wide and not given.wide_rows:
            return _enumeration(given, pattern, given.objectives(bound), known, every)
        missing = len(given.c) - done
        pattern, bound, known = (np.pad(part, (0, missing)) for part in (pattern, bound, known))
        x = sequences(pattern, n)
        codes = np.where(known, OPTIMAL, INFEASIBLE)
        one_by_one = sorted({*given.wide, *given.wide_rows, *range(done, len(given.c))})
    else:
        x, known = np.zeros(given.c.shape, dtype=np.int8), np.zeros(len(given.c), dtype=bool)
        codes, bound = np.zeros((2, len(x)), dtype=np.int64)
        one_by_one = list(range(len(x)))
    nodes = np.zeros(len(x), dtype=np.int64)
    names = np.full(len(x), "enumeration")
    if given.wide:
        bound = bound.astype(object)
    best: BinarySolution | None = None

    def told(solution: BinarySolution) -> None:
        nonlocal best
        best = best if solution.x is None else solution
        if progress is not None:
            progress(solution)

    for i in one_by_one:
        watch.tell = _teller(given, i, told)
        try:
            outcome = _outcome(given, i, node_limit, method, watch)
        except KeyboardInterrupt as error:
            error.solution = None if given.batch else best  # type: ignore[attr-defined]
            raise
        codes[i], bound[i], names[i], nodes[i] = (
            outcome.status,
            outcome.bound,
            outcome.method,
            outcome.nodes,
        )
        known[i] = outcome.x is not None
        x[i] = 0 if outcome.x is None else outcome.x
    return _solution(given, codes, x, given.costs(x), known, bound, names, nodes)


def _missing(c: Any, A: Any) -> str:
    """Return what is said of a call without A or b."""
    from .mps import ProgramFile

    if isinstance(c, ProgramFile):
        return (
            "solve_binary takes c, A and b, not a ProgramFile: solve_binary(file.c, file.A, file.b)"
        )
    names = "A and b" if A is None else "b"
    return f"solve_binary takes c, A and b; {names} must not be missing"


def _compile_search(bound: int) -> None:
    """Search a tiny program, so that no time of another's is spent on compiling."""
    c = np.arange(1, 8)
    solve_one(c, np.ones((1, 7), dtype=np.int64), np.array([3]), 1, "search", Watch(), bound)


def _teller(
    given: Programs, i: int, progress: Callable[[BinarySolution], None]
) -> Callable[[Outcome], None] | None:
    """Return what tells ``progress`` of outcomes of a program; of wide costs nothing is told."""
    if i in given.wide or i in given.wide_rows:
        return None
    program = given.only(i)

    def tell(outcome: Outcome) -> None:
        known = outcome.x is not None
        x = outcome.x[None] if outcome.x is not None else np.zeros(program.c.shape, np.int8)
        solution = _solution(
            program,
            np.array([LIMIT]),
            x,
            program.costs(x),
            np.array([known]),
            np.array([outcome.bound]),
            np.array([outcome.method]),
            np.array([outcome.nodes]),
        )
        assert isinstance(solution, BinarySolution)  # it is of one program
        progress(solution)

    return tell


def _outcome(given: Programs, i: int, node_limit: int, method: str, watch: Watch) -> Outcome:
    """Solve one program of a batch."""
    c, b = given.c[i], given.b[i]
    if watch.over and i:
        cheapest = sum(min(cost, 0) for cost in given.wide.get(i) or c.tolist())
        return Outcome(LIMIT, None, cheapest, "search" if method == "auto" else method, 0)
    A = given.rows(i)
    if i not in given.wide and i not in given.wide_rows:
        return solve_one(c, A, b, node_limit, method, watch, given.bound)
    silent = watch.through(None)

    def solve(
        c: NDArray[Any], A: NDArray[Any], b: NDArray[Any], node_limit: int, below: int | None
    ) -> Outcome:
        return solve_one(c, A, b, node_limit, method, silent, LARGEST, below)

    wide_rows = given.wide_rows.get(i, {})
    narrow = [r for r in range(len(b)) if r not in wide_rows]
    within = beside_wide_rows(solve, list(wide_rows.values()), watch) if wide_rows else solve
    return solve_wide(given.wide.get(i) or c.tolist(), A[narrow], b[narrow], node_limit, within)


def _enumerated(given: Programs, watch: Watch) -> Found:
    """Return (pattern, cost, whether feasible, whether all are) of programs, until time is over."""
    B, m, n = given.A.shape
    require_memory(8 * (m + 1) * 2 ** max(n - LEAF, 0), f"enumerating {n} variables, {m} rows")
    if not watch.limited:
        return _enumerated_part(given, slice(None))
    count = max(_STRETCH // ((m + 1) << n), 1)
    parts = []
    for first in range(0, max(B, 1), count):
        if first and watch.over:
            break
        part = slice(first, first + count)
        parts.append(_enumerated_part(given, part))
    pattern, cost, known, every = zip(*parts, strict=True)
    return np.concatenate(pattern), np.concatenate(cost), np.concatenate(known), all(every)


def _enumerated_part(given: Programs, part: slice) -> Found:
    c, A, b = given.c[part], given.A[part], given.b[part]
    B, m, n = A.shape
    if n <= SMALL and m <= MOST_ROWS and B >= MANY:
        # The narrowest numbers are tried first, for their sums are checked on the way.
        results, count = enumerate_together(c, A, b, np.int16, _SAFE_INT16)
        if count < 0 and (given.bound < SAFE_INT32 or n <= LEAF):
            results, count = enumerate_together(c, A, b, sums_dtype(given.bound), 0)
        if count >= 0:
            return *results, count == B
    dtype = np.int16 if given.bound < _SAFE_INT16 else sums_dtype(given.bound)
    pattern, optimum, known = enumerate_each(c, A, b, dtype)
    return pattern, optimum, known, bool(known.all())


def _enumeration(
    given: Programs,
    pattern: NDArray[Any],
    objective: NDArray[Any],
    known: NDArray[Any],
    every: bool,
) -> BinarySolution | BinaryBatch:
    n = given.c.shape[1]
    if given.batch:
        return EnumeratedBatch(given.batch, n, pattern, objective, None if every else ~known)
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
) -> BinarySolution | BinaryBatch:
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
    return BinaryBatch(
        masked(x, unknown, batch),
        masked(objective, unknown, batch),
        STATUS_NAMES.take(codes).reshape(batch),
        masked(lower, impossible, batch),
        names.reshape(batch),
        nodes.reshape(batch),
    )
