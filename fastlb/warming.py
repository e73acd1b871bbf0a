"""Compiling or loading the kernels ahead of the first call that needs them.

Each function is run on small inputs that choose all its kernels in turn: by size (few networks,
many, large ones), dtype, how large the loads are, and the level of ``record``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .exchange.dimension_exchange import dem
from .exchange.direct_exchange import dde
from .exchange.fault_tolerance import fault_tolerant_dem
from .exchange.generalized_exchange import gde
from .exchange.loads import RECORDS
from .exchange.result import Balance
from .experts.placing import place_experts
from .flows.leastcost import minimum_cost_flow
from .flows.maximumflow import maximum_flow
from .flows.minimax import minimax_flow
from .flows.plan import Route
from .hexa_cells.hexa_cell_exchange import hexa_cell
from .montecarlo.runner import run
from .montecarlo.study import Study
from .programs.binary import solve_binary
from .programs.families import random_binary
from .programs.simulation import search_speedup
from .random_loads.distributions import Uniform
from .random_loads.sampling import sample_loads
from .rounds.scheduling import schedule
from .tasks.assign import assign_tasks
from .tasks.memory import TaskMemory
from .topologies.grids import Mesh, Ring, Torus
from .topologies.hexa_cell_topology import HyperHexaCell
from .topologies.hypercube import Hypercube

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from .topologies.topology import Topology

# By the bytes of an integer: loads of so many bits and three more take other kernels, as there are
# for those that fit 15, 23 and 52 bits.
SHIFTS = {4: (0, 20, 28), 8: (0, 20, 50)}
# Batches of few networks, and of many: None stands for so many that they have ``MANY_NODES``.
FEW, MANY = ((), (1,), (3,)), ((65,), None)
MANY_NODES = 2**20

_Run = Callable[[np.dtype[Any], bool], None]


def warmup(*names: str, dtypes: Iterable[DTypeLike] = (np.int64,)) -> dict[str, float]:
    """Load the kernels of some functions, so that the first real call is as fast as the next.

    A kernel is compiled for each dtype at its first use, once on a machine, which takes seconds;
    afterwards it is loaded from the cache, which takes milliseconds. Either is done here, by
    running the functions on a few inputs, single networks and batches, at every level of
    ``record``. ``fastlb warmup`` compiles for many dtypes, on all processors.

    Parameters
    ----------
    *names : str
        Of ``dem``, ``gde``, ``dde``, ``hexa_cell``, ``fault_tolerant_dem``, ``minimax_flow``,
        ``maximum_flow``, ``minimum_cost_flow``, ``assign_tasks``, ``solve_binary``,
        ``search_speedup``, ``schedule``, ``place_experts``, ``networkx`` (connectivity, cuts and
        cut trees of the backend of NetworkX), ``sample_loads`` and ``run``; without
        any, all of these.
    dtypes : iterable of dtype
        Of the loads that the balancing methods will get.

    Returns
    -------
    dict of float
        Seconds that each of the functions took.

    Raises
    ------
    ValueError
        If there is no such name.
    TypeError
        If loads cannot have one of the dtypes.

    Examples
    --------
    >>> import fastlb as lb
    >>> list(lb.warmup("sample_loads"))
    ['sample_loads']
    """
    seconds: dict[str, float] = {}
    for part in parts(names, dtypes):
        begin = time.perf_counter()
        part.run()
        seconds[part.name] = seconds.get(part.name, 0.0) + time.perf_counter() - begin
    return seconds


class Part(NamedTuple):
    """A part of a warm-up that can be run in a process of its own.

    Attributes
    ----------
    name : str
        Of the function.
    dtype : numpy.dtype
        Of the loads, where the function takes loads of any dtype.
    many : bool
        Whether batches and large networks are run, or few small ones.
    """

    name: str
    dtype: np.dtype[Any]
    many: bool

    def run(self) -> None:
        """Run the function so that all kernels of this part are compiled or loaded."""
        _RUNS[self.name](self.dtype, self.many)


def parts(names: Iterable[str], dtypes: Iterable[DTypeLike]) -> list[Part]:
    """Return what there is to run; parts that compile the same kernels are far from each other."""
    chosen = list(dict.fromkeys(names)) or list(_RUNS)
    for name in chosen:
        if name not in _RUNS:
            raise ValueError(f"names must be among {', '.join(_RUNS)}, got {name!r}")
    kinds = list(dict.fromkeys(np.dtype(dtype) for dtype in dtypes))
    return [
        Part(name, dtype, many)
        for many in (False, True)
        for name in chosen
        for dtype in (kinds if name in BALANCING else kinds[:1])
    ]


def _loads(topology: Topology, dtype: np.dtype[Any], many: bool) -> Iterator[NDArray[Any]]:
    """Yield batches; of integers also larger ones, for which kernels are wider.

    A single network comes flat as well, which kernels may take as it is.
    """
    for batch in MANY if many else FEW:
        trials = (max(MANY_NODES // topology.size, 1),) if batch is None else batch
        for shift in SHIFTS.get(dtype.itemsize, (0,)) if dtype.kind in "iu" else (0,):
            loads = (np.resize(np.arange(7), (*trials, *topology.shape)) << shift).astype(dtype)
            yield loads
            if not trials:
                yield loads.reshape(-1)


def _balancing(
    balance: Callable[..., Any],
    few: list[Topology],
    large: list[Topology],
    *,
    by_weight: bool = False,
    **options: Any,
) -> _Run:
    """Return what runs a balancing method on some networks and on larger ones, at every level.

    ``by_weight`` : by weights of the nodes as well, for which kernels are the same for all sizes.
    """

    def run(dtype: np.dtype[Any], many: bool) -> None:
        for topology in few:
            for loads, record in product(_loads(topology, dtype, many), RECORDS):
                balance(loads, topology, record=record, **options)
        for topology, record in product(few if by_weight and not many else (), RECORDS):
            loads = np.resize(np.arange(7), topology.shape).astype(dtype)
            weights = np.arange(topology.size)
            balance(loads, topology, record=record, weights=weights, **options)
        for topology, record in product(large if many else (), RECORDS):
            loads = np.resize(np.arange(7), topology.shape).astype(dtype)
            balance(loads, topology, record=record, **options)

    return run


def _hexa_cell(dtype: np.dtype[Any], many: bool) -> None:
    for algorithm in "ABC":
        few: list[Topology] = [HyperHexaCell(3), HyperHexaCell(9)]
        _balancing(hexa_cell, few, [HyperHexaCell(15)], algorithm=algorithm)(dtype, many)


def _minimax(_: np.dtype[Any], many: bool) -> None:
    ring = Ring(1000 if many else 8)
    excess = np.resize([7, 0, -3, 0, 2, 0, -4, -2], ring.size)
    for integral, plan in product((True, False), ("short", "least")):
        minimax_flow(ring.network(capacity=9), excess, integral=integral, plan=plan).routes()


def _maximum(_: np.dtype[Any], many: bool) -> None:
    if not many:
        maximum_flow(Ring(8).network(capacity=9), 0, [3, 4])


def _least_cost(_: np.dtype[Any], many: bool) -> None:
    if not many:
        minimum_cost_flow(Ring(8).network(capacity=9), [-4, 0, 0, 4, 0, 0, 0, 0])


def _tasks(_: np.dtype[Any], many: bool) -> None:
    ring = Ring(4)
    sizes = np.resize([60, 61, 7, 3, 5], 1000 if many else 21)
    owner = np.arange(len(sizes)) % 3
    loads = np.bincount(owner, sizes, ring.size)
    # With as much more around the ring it is a cycle, which is cancelled.
    plan = dde(loads, ring, record="flows")
    around = Balance("dde", ring, "flows", {"loads": plan.loads, "flows": plan.flows + sizes.sum()})
    for along in (None, plan, around):
        assign_tasks(sizes, owner, ring, along=along)
    assign_tasks(np.tile(sizes, 20), np.tile(owner, 20), ring)
    # Few tasks, which are searched; several with memory, blocks and messages.
    assign_tasks(sizes[:12], owner[:12], 2 + owner[:12].max())
    memory = TaskMemory(own=1, working=1, block=owner, block_bytes=dict.fromkeys(range(3), 5))
    limit, edges = len(sizes), [(0, 1, 2)]
    assign_tasks(sizes, owner, 4, max_moves=1)
    assign_tasks(sizes, owner, 4, memory=memory, memory_limit=limit)
    assign_tasks(sizes, owner, 4, memory=memory, memory_limit=limit, edges=edges, price=1)


def _binary(_: np.dtype[Any], many: bool) -> None:
    costs, rows = np.arange(1, 21), np.eye(20, dtype=np.int64)[:4]
    if not many:
        for n in (4, 20):
            solve_binary(costs[:n], rows[:, :n], np.ones(4, dtype=np.int64))
        return
    for trials in (32, 10_000):
        batch = np.broadcast_to(rows[:, :6], (trials, 4, 6)).copy()
        batch[0] = 0
        ones = np.ones((trials, 6), np.int64)
        str(solve_binary(ones, batch, ones[:, :4].copy()).status)


def _search(_: np.dtype[Any], many: bool) -> None:
    costs, rows, least = random_binary("planted", 12, 4, seed=1, trials=100 if many else 1)
    for cube in (Hypercube(1), Hypercube(3, faults=[(0, 1)])):
        search_speedup(costs, rows, least, cube)


def _rounds(_: np.dtype[Any], many: bool) -> None:
    nodes = np.arange(1001 if many else 3)
    # Odd circles three times over: first fit misses the bound.
    for per_node in (1, 2):
        schedule(np.tile(nodes, 3), np.tile(np.roll(nodes, 1), 3), per_node=per_node)
    schedule([Route(0, 2, (0, 1, 2), 1)], per_node=1)


def _experts(_: np.dtype[Any], many: bool) -> None:
    weights = np.arange(8) + np.zeros((1, 1))
    for n in (1, 2):
        p = place_experts(weights, 12, 4, nodes=n, groups=n)
        p.verify()
        if many:
            place_experts(weights, 12, 4, nodes=n, groups=n, method="refined", previous=p, moves=2)
            place_experts(weights, 12, 4, nodes=n, groups=n, arithmetic="float32")


def _sampling(_: np.dtype[Any], many: bool) -> None:
    for loads in ("uniform:10", Uniform(2**40), "exponential:1000", "one-hot:1000"):
        sample_loads(loads, Ring(64), trials=10_000 if many else 2, seed=0)


def _networkx(_: np.dtype[Any], many: bool) -> None:
    if many or find_spec("networkx") is None:
        return
    import networkx as nx

    from .networkx_backend.cuts import minimum_node_cut
    from .networkx_backend.graph import ConvertedGraph
    from .networkx_backend.trees import gomory_hu_tree, stoer_wagner

    for weight in (1, 0.5):
        graph = ConvertedGraph(nx.Graph([(u, (u + 1) % 5, {"weight": weight}) for u in range(5)]))
        minimum_node_cut(graph)
        gomory_hu_tree(graph, "weight")
        stoer_wagner(graph)


def _study(_: np.dtype[Any], many: bool) -> None:
    trials = 10_000 if many else 70
    hexa_cells = [f"hexa_cell:algorithm={algorithm}" for algorithm in "ABC"]
    for mean in (1000, 10**6, 10**12):
        for topology, methods in (
            (Mesh(8, 8), ["gde", "gde:lam=3/4", "dde"]),
            (Ring(16), ["gde", "dde"]),
            (Hypercube(6), ["dem"]),
            (Hypercube(4, faults=[(0, 1)]), ["dem", "fault_tolerant_dem"]),
            (HyperHexaCell(3), hexa_cells),
        ):
            study = Study("warm", [topology], methods, Uniform(mean), trials=trials)
            for rows in (True, False):
                run(study, rows=rows).summary()


BALANCING: dict[str, _Run] = {
    "dem": _balancing(
        dem,
        [Hypercube(3), Hypercube(7), Hypercube(9)],
        [Hypercube(14), Hypercube(20)],
        by_weight=True,
    ),
    "gde": _balancing(gde, [Mesh(3, 4), Mesh(8, 8)], [Mesh(16, 16, 16)], by_weight=True),
    "dde": _balancing(
        dde,
        [Mesh(3, 4), Ring(5), Torus(5, 3)],
        [Torus(16, 16, 16), Ring(2**14)],
        by_weight=True,
    ),
    "hexa_cell": _hexa_cell,
    "fault_tolerant_dem": _balancing(
        fault_tolerant_dem,
        [Hypercube(4, faults=[(0, 1)]), Hypercube(9, faults=[(0, 1)])],
        [Hypercube(14, faults=[(0, 1)])],
    ),
}
_RUNS: dict[str, _Run] = {
    **BALANCING,
    "minimax_flow": _minimax,
    "maximum_flow": _maximum,
    "minimum_cost_flow": _least_cost,
    "assign_tasks": _tasks,
    "solve_binary": _binary,
    "search_speedup": _search,
    "schedule": _rounds,
    "place_experts": _experts,
    "networkx": _networkx,
    "sample_loads": _sampling,
    "run": _study,
}
