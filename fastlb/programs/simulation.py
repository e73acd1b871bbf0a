"""Branch and bound on a simulated hypercube, with and without balancing (More-Wu 3-5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import cost, one_of, whole_number, yes_or_no
from ..display.cards import Displayed, card
from ..exchange.fault_planning import DONORS, ORDERS
from ..exchange.fault_plans import fault_plan
from ..memory import require_memory
from ..topologies.hypercube import Hypercube
from ..topologies.parse import read_topology
from .binary_solution import sequences
from .layout import read_programs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..figuretypes import Optimum, Position, Real, Whole
    from .program import Programs

TRIGGERS = ("idle", "always", "period")
GRANULARITIES = ("row", "sequence")
ASSIGNMENTS = ("modular", "central")
# Variables at most.
MOST_SIMULATED = 24


@dataclass(frozen=True, eq=False)
class SearchRun(Displayed):
    """A simulated search; with a batch every field has its shape in front.

    Attributes
    ----------
    time : float
        Until the last processor is done: units of one test each plus the costs of balancing.
    units : int
        Units of time in which tests were made.
    work : (processors,) int64
        Tests made by each processor.
    moved : int
        Tests moved times links.
    balances : int
        Rounds of balancing.
    objective : int or float, or None if nothing is feasible (masked in a batch)
    argmin : int, or None (masked in a batch)
        Sequence number of the incumbent at the end; x_1 is its most significant bit.
    """

    time: Real
    units: Whole
    work: NDArray[np.int64]
    moved: Whole
    balances: Whole
    objective: Optimum
    argmin: Position


@dataclass(frozen=True, eq=False)
class SearchSpeedup:
    """Two simulated searches of the same programs.

    Attributes
    ----------
    without, with_balancing : SearchRun
    """

    without: SearchRun
    with_balancing: SearchRun

    def _repr_html_(self) -> str:
        about = {
            "speedup": self.speedup,
            "time without balancing": self.without.time,
            "time with balancing": self.with_balancing.time,
        }
        return card(type(self).__name__, about)

    @property
    def speedup(self) -> Real:
        """Time without balancing over time with; batch, float64."""
        return self.without.time / self.with_balancing.time


def simulate_search(
    c: ArrayLike,
    A: ArrayLike,
    b: ArrayLike,
    topology: Hypercube | str,
    *,
    balance: bool = True,
    trigger: str = "idle",
    period: int = 1,
    round_cost: float = 0.0,
    unit_cost: float = 0.0,
    granularity: str = "row",
    assignment: str = "modular",
    order: str = "lowest",
    donor: str = "latest",
) -> SearchRun:
    """Simulate More and Wu's branch and bound on a hypercube with link faults (section 4).

    In a unit of time every processor that has work makes one test: the cost of a sequence
    against the least cost known, or one row. A sequence that fails is removed everywhere from the
    next unit on, at no cost. At the end of a unit all processors learn the least feasible cost of
    it (of equal costs that of the smaller sequence number). Items are tested first in, first out.

    Balancing applies the plan of fault-tolerant DEM to the tests still to be made. A processor
    sends whole items from the tail of its queue and splits the last by rows, of which it sends the
    later ones; what a processor receives joins the tail. Balancing happens before a unit and stops
    all processors for ``round_cost`` plus ``unit_cost`` times the most tests that one of them
    sends and receives.

    Parameters
    ----------
    c : array_like, shape (*batch, n)
        All n <= 24.
    A : array_like, shape (*batch, m, n)
    b : array_like, shape (*batch, m)
    topology : Hypercube or str
        Processor p starts with the sequences that end in the bits of p, in increasing order.
    balance : bool
    trigger : {"idle", "always", "period"}
        Balance when a processor is idle while another has two tests or more, before every
        unit, or before units 0, period, 2 period, ...
    period : int
        With ``"idle"``, how many units apart idle processors are looked for.
    round_cost, unit_cost : float
        In tests.
    granularity : {"row", "sequence"}
        ``"sequence"`` moves whole items only, as many as fit the amount to be sent.
    assignment : {"modular", "central"}
        ``"central"``: processors without work, lowest first, take the next sequence of all
        before each unit.
    order, donor : str
        As in :func:`fault_plan`.

    Raises
    ------
    TypeError, ValueError, OverflowError
        For programs as in :func:`count_tests`; for a topology that is no hypercube, unknown
        options, negative costs, a period below 1, n beyond 24.
    MemoryError
        If the arrays plainly exceed the memory.
    FaultError
        If the faults leave no plan to balance by.

    Examples
    --------
    >>> import fastlb as lb
    >>> run = lb.simulate_search(
    ...     [2, 2, 2, 2], [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1], lb.Hypercube(1), balance=False
    ... )
    >>> run.time, run.work.tolist(), run.objective, run.argmin
    (14.0, [14, 12], 4, 5)
    """
    one_of("trigger", trigger, TRIGGERS)
    one_of("granularity", granularity, GRANULARITIES)
    one_of("assignment", assignment, ASSIGNMENTS)
    one_of("order", order, ORDERS)
    one_of("donor", donor, DONORS)
    yes_or_no("balance", balance)
    cube = read_topology(topology)
    if not isinstance(cube, Hypercube):
        raise TypeError(f"topology must be a Hypercube, got {cube!r}")
    period = whole_number("period", period, 1)
    round_cost, unit_cost = cost("round_cost", round_cost), cost("unit_cost", unit_cost)
    programs = read_programs(c, A, b)
    n = programs.c.shape[1]
    if n > MOST_SIMULATED:
        raise ValueError(f"c must have at most {MOST_SIMULATED} variables to simulate, got {n}")
    # Three items of eight numbers a sequence, and the arrays of processors.
    nbytes = 200 * 2**n + 8 * cube.size * (len(programs.c) + 13)
    require_memory(nbytes, f"the simulation of {n} variables on {cube!r}")
    kernel = kernels("programs.simulation")
    triggers = {"idle": kernel.IDLE, "always": kernel.ALWAYS, "period": kernel.PERIOD}
    pairs = np.empty((0, 3), dtype=np.int64)
    if balance:
        pairs = fault_plan(cube, order=order, donor=donor).pairs
    rules = (
        triggers[trigger] if balance else kernel.NEVER,
        *(period, round_cost, unit_cost, granularity == "row", assignment == "central"),
    )
    return _simulate(programs, cube.size, pairs, rules)


def search_speedup(
    c: ArrayLike, A: ArrayLike, b: ArrayLike, topology: Hypercube | str, **options: Any
) -> SearchSpeedup:
    """Simulate the search without and with balancing (More-Wu section 5).

    Parameters
    ----------
    c, A, b, topology
        As in :func:`simulate_search`.
    **options
        Its other arguments, but ``balance``.

    Raises
    ------
    TypeError, ValueError, OverflowError, MemoryError, FaultError
        As :func:`simulate_search`.

    Examples
    --------
    >>> import fastlb as lb
    >>> c, A, b = lb.random_binary("planted", 10, 6, seed=1)
    >>> lb.search_speedup(c, A, b, lb.Hypercube(3)).speedup > 1
    True
    """
    if "balance" in options:
        raise TypeError("search_speedup runs with and without balancing, got balance")
    return SearchSpeedup(
        simulate_search(c, A, b, topology, balance=False, **options),
        simulate_search(c, A, b, topology, balance=True, **options),
    )


def _simulate(
    programs: Programs, P: int, pairs: NDArray[np.int64], rules: tuple[Any, ...]
) -> SearchRun:
    """Simulate the programs on P processors; for ``pairs`` and ``rules`` see the kernel."""
    B, m, n = programs.A.shape
    time = np.empty(B)
    units, moved, balances, argmin = np.empty((4, B), dtype=np.int64)
    work = np.empty((B, P), dtype=np.int64)
    tables = np.empty((2, m + 1, 2 ** ((n + 1) // 2)), dtype=np.int64)
    processors = tuple(np.empty((5, P), dtype=np.int64))
    simulate = kernels("programs.simulation").simulate
    figures = time, units, moved, balances, argmin, work
    items, finished = 3 * 2**n + P + len(pairs), 0
    # The kernel returns early if a program may need more items: it goes on with twice as many.
    while finished < B:
        *pool, spare = np.empty((8, items), dtype=np.int64)
        workspace = tables, tuple(pool), spare, np.empty(2**n, dtype=np.int64), processors
        finished = simulate(
            finished, programs.tests(), programs.b, pairs, rules, workspace, figures
        )
        items *= 2
    is_infeasible = argmin < 0
    x = sequences(np.where(is_infeasible, 0, argmin), n)
    objective = np.ma.masked_array(programs.objectives(programs.costs(x)), is_infeasible)
    incumbent = np.ma.masked_array(argmin, is_infeasible)
    fields: tuple[Any, ...] = time, units, work, moved, balances, objective, incumbent
    if programs.batch:
        return SearchRun(*(f.reshape(programs.batch + f.shape[1:]) for f in fields))
    return SearchRun(*(f[0] if f is work else f.tolist()[0] for f in fields))
