"""0-1 programs solved by enumeration, depth-first search or HiGHS (More-Wu section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np

from ..arguments import cost, one_of, whole_number
from .binary_solution import BinaryBatch, BinarySolution
from .enumeration import FEW_VARIABLES, MOST_ENUMERATED, enumerate_programs
from .layout import lay_out
from .options import Monitor, Options
from .outcome import LIMIT, Outcome
from .outcomes import Outcomes, enumerated_solution, interim_solution
from .program import Program
from .search import MOST_SEARCHED
from .single import solve_one
from .wide_costs import solve_wide
from .wide_rows import with_wide_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal

    from numpy.typing import ArrayLike
    from scipy.sparse import sparray, spmatrix

    from ..quantities import Matrix, Number, Vector
    from .program import Programs

    Sparse = sparray | spmatrix

METHODS = ("auto", "enumeration", "search", "milp")
# By method, where it has a limit.
MOST_VARIABLES = {"enumeration": MOST_ENUMERATED, "search": MOST_SEARCHED}
NODE_LIMIT = 1_000_000_000


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
        - ``"milp"``: HiGHS by ``scipy.optimize.milp``, in floating point; its solution is checked
          exactly, its claim that no better one exists is not.
        - ``"auto"``: enumeration up to n = 12, then search. HiGHS solves programs of n > 62, if
          more than 62 variables remain after exact rules have fixed others. It also continues
          where the search stops at the node limit or, after 17 million nodes, can be expected to
          take more than a billion; with the best known objective as cutoff and as many nodes of
          its own.
    time_limit : float, optional
        Seconds for all programs together, without laying them out and compiling kernels. Then
        the status is ``"limit"``, beside the best x known and a bound. HiGHS may need half a
        second more; if it notices the limit later than that, it ends in a thread by itself.
    progress : callable, optional
        Called about ten times a second during a search, and before HiGHS begins, with the best
        solution so far of the current program: a BinarySolution of status ``"limit"``.

    The attribute ``solution`` of a ``KeyboardInterrupt`` is the best solution so far of a single
    program, of status ``"limit"``, or None without one. HiGHS cannot be stopped: after the
    exception it goes on in a thread, until it is done, at its time limit, or the process ends.

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
        raise TypeError(_missing_message(c, A))
    one_of("method", method, METHODS)
    node_limit = whole_number("node_limit", node_limit, 0)
    seconds = None if time_limit is None else cost("time_limit", time_limit)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of a BinarySolution, got {progress!r}")
    programs = lay_out(c, A, b)
    n = programs.c.shape[1]
    most = MOST_VARIABLES.get(method, n)
    if n > most:
        raise ValueError(
            f"c must have at most {most} variables for method={method!r}, got {n}: "
            "method='auto' takes any number"
        )
    if seconds is not None and FEW_VARIABLES < n <= MOST_SEARCHED:
        _compile_search(programs.sum_bound)
    monitor = Monitor(seconds)
    if method == "enumeration" or (method == "auto" and n <= FEW_VARIABLES):
        enumeration = enumerate_programs(programs, monitor)
        enumerated, has_wide = len(enumeration.feasible), programs.wide or programs.wide_rows
        if enumerated == len(programs.c) and not has_wide:
            return enumerated_solution(programs, enumeration)
        outcomes = Outcomes(programs)
        outcomes.set_enumerated(enumeration)
        # Enumeration gets wide numbers rounded, so these programs are solved again.
        remaining = [*programs.wide, *programs.wide_rows, *range(enumerated, len(programs.c))]
    else:
        outcomes, remaining = Outcomes(programs), [*range(len(programs.c))]
    best: BinarySolution | None = None

    def on_progress(solution: BinarySolution) -> None:
        nonlocal best
        if solution.x is not None:
            best = solution
        if progress is not None:
            progress(solution)

    try:
        for i in sorted(set(remaining)):
            options = Options(method, node_limit, _reporting(monitor, programs, i, on_progress))
            outcomes.set(i, _solve(programs, i, options))
    except KeyboardInterrupt as error:
        error.solution = None if programs.batch else best  # type: ignore[attr-defined]
        raise
    return outcomes.solution()


def _missing_message(c: Any, A: Any) -> str:
    """Return the error's text for a call without A or b."""
    from .mps import ProgramFile

    if isinstance(c, ProgramFile):
        return (
            "solve_binary takes c, A and b, not a ProgramFile: solve_binary(file.c, file.A, file.b)"
        )
    names = "A and b" if A is None else "b"
    return f"solve_binary takes c, A and b; {names} must not be missing"


def _compile_search(sum_bound: int) -> None:
    """Search a tiny program, so that compiling takes no time from the time limit."""
    rows, right = np.ones((1, 7), dtype=np.int64), np.array([3])
    tiny = Program(np.arange(1, 8), rows, right, sum_bound)
    solve_one(tiny, Options("search", 1, Monitor()))


def _reporting(
    monitor: Monitor, programs: Programs, i: int, progress: Callable[[BinarySolution], None]
) -> Monitor:
    """Return a monitor that passes what is known of program i to ``progress``.

    It reports nothing where costs or rows are wide: solvers then get other programs.
    """
    if programs.is_wide(i):
        return monitor.with_report(None)
    return monitor.with_report(lambda outcome: progress(interim_solution(programs, i, outcome)))


def _solve(programs: Programs, i: int, options: Options) -> Outcome:
    """Solve one program of a batch."""
    if options.monitor.is_over and i:
        cheapest = sum(min(cost, 0) for cost in programs.exact_costs(i))
        return Outcome(LIMIT, None, cheapest, options.method_name, 0)
    A, b = programs.rows(i), programs.b[i]
    if not programs.is_wide(i):
        return solve_one(Program(programs.c[i], A, b, programs.sum_bound), options)
    wide_rows = programs.wide_rows.get(i, {})
    others = [row for row in range(len(b)) if row not in wide_rows]
    solve = with_wide_rows(solve_one, list(wide_rows.values())) if wide_rows else solve_one
    return solve_wide(programs.exact_costs(i), A[others], b[others], options, solve)
