"""Assigning whole tasks to nodes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

import numpy as np

from .along import Plan, assign_along, read_plans
from .assignment import Assignment, as_loads
from .assignments import AssignmentBatch
from .coupled import MOST_PROVEN, assign_coupled, prove
from .free import assign_free
from .limited import assign_limited
from .memory import fits_nowhere
from .paths import Paths, direct_paths, shortest_paths
from .reading import read_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from ..exchange.result import Balance
    from ..flows.plan import MinimaxPlan
    from ..flows.planbatch import MinimaxBatch
    from ..quantities import MixedNumbers, Vector
    from ..topologies.topology import Topology
    from .memory import TaskMemory
    from .problem import Problem
    from .units import Integers

_Paths = TypeVar("_Paths")
# Aims tried until few enough tasks move.
HALVINGS = 16


class AssignOptions(TypedDict, total=False):
    """The keywords of :func:`assign_tasks`."""

    movable: ArrayLike | None
    weights: MixedNumbers | None
    memory: ArrayLike | TaskMemory | None
    memory_limit: ArrayLike | None
    edges: Any
    slack: Any
    price: Any
    home_price: Any
    along: Balance | MinimaxPlan | MinimaxBatch | None
    max_moves: int | None


@overload
def assign_tasks(
    sizes: Sequence[float] | Vector,
    owner: Sequence[int] | Vector,
    nodes: int | Topology | str,
    **options: Unpack[AssignOptions],
) -> Assignment: ...
# For arrays, whose number of axes is unknown to type checkers.
@overload
def assign_tasks(
    sizes: ArrayLike,
    owner: ArrayLike,
    nodes: int | Topology | str,
    **options: Unpack[AssignOptions],
) -> Any: ...
def assign_tasks(
    sizes: ArrayLike,
    owner: ArrayLike,
    nodes: int | Topology | str,
    *,
    movable: ArrayLike | None = None,
    weights: MixedNumbers | None = None,
    memory: ArrayLike | TaskMemory | None = None,
    memory_limit: ArrayLike | None = None,
    edges: Any = None,
    slack: Any = 0,
    price: Any = 0,
    home_price: Any = 0,
    along: Balance | MinimaxPlan | MinimaxBatch | None = None,
    max_moves: int | None = None,
) -> Assignment | AssignmentBatch:
    """Assign whole tasks to nodes so that the largest load is as small as possible.

    Tasks stay where they are as far as that serves: nodes give away what they have above
    ``bound * (1 + slack)``, longest tasks first, and exchange tasks until no exchange lowers
    the fullest node. At most 15 movable tasks are searched exhaustively.

    Parameters
    ----------
    sizes : (*batch, T) int or float
        Load of each task, not negative.
    owner : (*batch, T) int
        The node that has each task now.
    nodes : int, Topology or str
        How many nodes; or a network of them or its spelling, ``"torus:4x4"``, over whose links
        tasks then take shortest paths.
    movable : (*batch, T) bool, optional
        Whether each task may move. Default: all.
    weights : (N,) numbers, optional
        Speed of each node, exactly: integers, floats (each its shortest decimal), Fractions or
        strings such as ``"1/3"``. Loads are compared by weight. A node of weight 0 takes no task,
        and gives away all it has.
    memory : (T,) or TaskMemory, optional
        Bytes of each task; with shared blocks a :class:`TaskMemory`.
    memory_limit : number or (N,), optional
        The most bytes that a node may hold; None or infinity: any.
    edges : iterable of (task, task, bytes), or three arrays, optional
        Communication, for ``remote_before`` and ``remote_after``.
    slack : number
        What the largest load may exceed the bound by, as a part of it. With 0.03 far fewer tasks
        move than with 0.
    price : number
        The load that a byte between nodes counts as: to the load of a node is added ``price``
        times what it sends to others or receives from them, whichever is more.
    home_price : number
        The load that a byte of a block counts as at a node that is not its home.
    along : Balance or MinimaxPlan, optional
        A plan of amounts. Tasks move over its links, in its order, and are then exchanged over
        the links of its topology to lower the largest load further; links of limited capacity
        carry no more than the plan sends. It cannot be combined with limits or prices.
    max_moves : int, optional
        The most tasks that may change their node. Where more would be needed to come to the aim,
        the moves that lower the largest load most are searched for; an exchange is two.

    Returns
    -------
    Assignment
        Or an :class:`AssignmentBatch` where there are batch axes.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks a rule; the message names it.
    OverflowError
        If sizes have a total above ``2**62``, or beyond float64.

    Notes
    -----
    Finding the least largest load is NP-hard, so compare it with ``bound``. Everything is decided
    in integers: floats are multiples of a power of two, rounded to about 60 bits of the total, so
    that the same input gives the same owners on every machine.

    With few tasks a node a load within ``2**-14`` of the mean above its aim counts as low enough,
    as more exact loads would make several times the excess move.

    Examples
    --------
    >>> import fastlb as lb
    >>> a = lb.assign_tasks([4, 3, 3, 2, 2], [0, 0, 0, 0, 0], 2)
    >>> a.owner, a.loads, a.status
    (array([1, 1, 0, 0, 0]), array([7, 7]), 'optimal')
    """
    problems, batch = read_problems(
        sizes, owner, nodes, movable=movable, weights=weights, memory=memory,
        memory_limit=memory_limit, edges=edges, slack=slack, price=price, home_price=home_price,
        max_moves=max_moves,
    )  # fmt: skip
    if along is None:
        assignments = [_assign(problem, None) for problem in problems]
    else:
        pairs = zip(problems, read_plans(along, batch), strict=True)
        assignments = [_assign(problem, plan) for problem, plan in pairs]
    return AssignmentBatch(assignments, batch) if batch else assignments[0]


def _assign(problem: Problem, plan: Plan | None) -> Assignment:
    if plan is not None:
        _check_plan(problem, plan)
        owner, paths = _with_few_moves(problem, lambda aim: assign_along(problem, plan, aim))
        return _judged(problem, owner, paths, "")
    owner, _ = _with_few_moves(problem, lambda aim: (_free(problem, aim), None))
    proof = ""
    few = np.count_nonzero(problem.movable) <= MOST_PROVEN
    if few and not _is_enough(problem, owner):
        owner, proof = prove(problem, owner)
    limited = problem.max_moves is not None and not proof and problem.allows(owner)
    if limited and not _is_enough(problem, owner):
        owner = assign_limited(problem, owner)
    if problem.topology is None:
        paths = direct_paths(problem.owner, owner)
    else:
        paths = shortest_paths(problem.owner, owner, problem.topology)
    return _judged(problem, owner, paths, proof)


def _is_enough(problem: Problem, owner: Integers) -> bool:
    """Tell whether owners keep all limits, and no load is above the aim."""
    return problem.allows(owner) and bool(max(problem.work(owner)) <= problem.aim)


def _free(problem: Problem, aim: Fraction) -> Integers:
    """Return owners where tasks go to any node."""
    owner = assign_free(problem, aim)
    if not problem.coupled:
        return owner
    starts = [problem.owner] if problem.over_memory(owner) else [owner, problem.owner]
    return assign_coupled(problem, aim, starts)


def _with_few_moves(
    problem: Problem, solve: Callable[[Fraction], tuple[Integers, _Paths]]
) -> tuple[Integers, _Paths]:
    """Solve for the least largest load that takes no more moves than allowed.

    The aim rises by halvings of the range up to where nothing need move.
    """
    owner, paths = solve(problem.aim)
    most = problem.max_moves
    if most is None or _moves(problem, owner) <= most:
        return owner, paths
    low, high = problem.aim, _loosest_aim(problem)
    best: tuple[Any, ...] | None = None
    for trial in range(HALVINGS):
        middle = high if trial == 0 else (low + high) / 2
        owner, paths = solve(middle)
        if _moves(problem, owner) > most:
            if trial == 0:
                raise ValueError(
                    f"max_moves must allow the moves that the limits call for, got {most}, "
                    f"where {_moves(problem, owner)} were needed"
                )
            low = middle
            continue
        high = middle
        rank = max(problem.work(owner)), _moves(problem, owner)
        if best is None or rank < best[0]:
            best = rank, owner, paths
    assert best is not None
    return best[1], best[2]


def _loosest_aim(problem: Problem) -> Fraction:
    """Return a largest load at which nothing but limits of nodes makes tasks move."""
    alive = [w for w in problem.weights if w]
    largest = Fraction(max(problem.work(problem.owner)))
    return max(largest, problem.bound * sum(alive) / min(alive)) * 2


def _moves(problem: Problem, owner: Integers) -> int:
    return int(np.count_nonzero(owner != problem.owner))


def _check_plan(problem: Problem, plan: Plan) -> None:
    if plan.topology.size != problem.nodes:
        raise ValueError(
            f"along must be a plan for {problem.nodes} nodes, got one on {plan.topology!r}"
        )
    if problem.topology is not None and problem.topology != plan.topology:
        raise ValueError(
            f"nodes must be the topology of the plan, {plan.topology!r}, got {problem.topology!r}"
        )
    if problem.coupled:
        raise ValueError(
            "along cannot keep limits of memory or prices: leave out memory_limit, price and "
            "home_price, or leave out along"
        )


def _judged(problem: Problem, owner: Integers, paths: Paths, proof: str) -> Assignment:
    """Return the result with its status."""
    loads = problem.loads(owner)
    largest = Fraction(max(problem.work(owner, loads)))
    if problem.over_memory(owner):
        memory, usable = problem.memory, problem.slowness > 0
        assert memory is not None
        impossible = fits_nowhere(memory, problem.owner, problem.movable, usable)
        status = proof or ("infeasible" if impossible else "stuck")
    else:
        status = "optimal" if proof == "optimal" or largest <= problem.bound else "feasible"
    owner.flags.writeable = False
    amounts = as_loads(problem, loads)
    amounts.flags.writeable = False
    return Assignment(owner, amounts, status, problem, paths, largest)
