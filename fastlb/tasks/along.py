"""Whole tasks along a plan of amounts: its links and its order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..exchange.result import Balance
from ..flows.plan import MinimaxPlan
from ..flows.planbatch import MinimaxBatch
from .free import lower
from .paths import Paths, both_ways, hop_paths, shortest_hops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ..topologies.topology import Topology
    from .problem import Problem
    from .units import Integers


@dataclass(frozen=True, eq=False)
class Plan:
    """What a plan sends; ``A`` arcs.

    Attributes
    ----------
    topology : Topology
        Where it was made for.
    arcs : (A, 2) int64
        From where to where.
    amounts : (A,)
        How much, int64, float64 or Fractions, not negative.
    links : (L, 2) int64
        Links over which an assignment may be improved, both ways.
    limited : bool
        Whether no arc may carry more than its amount.
    """

    topology: Topology
    arcs: Integers
    amounts: NDArray[Any]
    links: Integers
    limited: bool


def read_plans(along: Any, batch: tuple[int, ...]) -> Iterator[Plan]:
    """Return a plan for every problem of a batch.

    Raises
    ------
    TypeError, ValueError
        If it is no plan, has no flows, or another batch.
    """
    rows = int(np.prod(batch, dtype=np.int64))
    if isinstance(along, MinimaxPlan):
        return iter([_of_minimax(along)] * rows)
    if isinstance(along, MinimaxBatch):
        if along.shape != batch:
            raise ValueError(f"along must have the batch {batch} of the tasks, got {along.shape}")
        return map(_of_minimax, along)
    if not isinstance(along, Balance):
        raise TypeError(
            "along must be a Balance or a MinimaxPlan, such as "
            f"dde(loads, topology, record='flows'), got {type(along).__name__}"
        )
    if "flows" not in vars(along):
        raise ValueError(f"along must have flows: call {along.method} with record='flows'")
    count = along.loads.size // along.topology.size
    if count not in (1, rows):
        raise ValueError(f"along must have one plan or one for each of {rows} rows, got {count}")
    flows = along.flows.reshape(count, -1)
    return (_of_balance(along, flows[row if count > 1 else 0]) for row in range(rows))


def _of_balance(balance: Balance, flows: NDArray[Any]) -> Plan:
    topology = balance.topology
    if flows.size == topology.ndim * topology.size and not _by_link(balance):
        place = np.arange(topology.size).reshape(topology.shape)
        ends = [
            np.stack([place.reshape(-1), np.roll(place, -1, axis).reshape(-1)], axis=1)
            for axis in range(topology.ndim)
        ]
        arcs = np.concatenate(ends) if ends else np.empty((0, 2), np.int64)
    else:
        arcs = topology.links
    used = flows != 0
    arcs, amounts = arcs[used], flows[used]
    arcs = np.where((amounts < 0)[:, None], arcs[:, ::-1], arcs)
    return Plan(topology, arcs, abs(amounts), both_ways(topology.links), limited=False)


def _by_link(balance: Balance) -> bool:
    """Tell whether flows are one a link, not one an axis and node."""
    return balance.flows.shape[-1:] == (balance.topology.edge_count,) and (
        balance.flows.ndim == balance.loads.ndim - balance.topology.ndim + 1
    )


def _of_minimax(plan: MinimaxPlan) -> Plan:
    network = plan.network
    used = plan.flow != 0
    unlimited = network.capacities.unlimited
    # A link is used further only both ways, and where it has no capacity that could be exceeded.
    arcs = network.edges[unlimited]
    forward = arcs[:, 0] * network.size + arcs[:, 1]
    backward = arcs[:, 1] * network.size + arcs[:, 0]
    free = arcs[np.isin(forward, backward) & (arcs[:, 0] != arcs[:, 1])]
    return Plan(network, network.edges[used], plan.flow[used], free, not bool(unlimited.all()))


def assign_along(problem: Problem, plan: Plan, largest: Fraction) -> tuple[Integers, Paths]:
    """Return owners (T,) that a plan leads to, and the paths of the tasks that move."""
    n, order = problem.nodes, problem.falling
    size, node = problem.units[order], problem.owner[order]
    movable = problem.movable[order]
    load = problem.unit_loads(problem.owner)
    cap = problem.caps(largest)
    start, head, amount = _by_sender(plan.arcs, _units(plan.amounts, problem), n)
    # What the plan leaves at a node stays there, where that is more than the cap.
    planned = load.copy()
    np.subtract.at(planned, np.repeat(np.arange(n), np.diff(start)), amount)
    np.add.at(planned, head, amount)
    kernel = kernels("tasks.along")
    sequence, reached = kernel.sending_order(start, head, amount)
    if reached < n:
        kernel.cancel_cycles(start, head, amount)
        sequence, _ = kernel.sending_order(start, head, amount)
    hops = kernel.send_along(
        size, node, movable, load, np.maximum(cap, planned), sequence, start, head, amount,
        plan.limited,
    )  # fmt: skip
    sent = node.copy()
    first, neighbour, _ = _by_sender(plan.links, np.zeros(len(plan.links), np.int64), n)
    lower(problem, size, node, movable, load, cap, first, neighbour)
    more = shortest_hops(sent, node, n, plan.links)
    hops = np.concatenate([hops, more], axis=1)
    hops[0] = order[hops[0]]
    owner = np.empty(len(order), np.int64)
    owner[order] = node
    links = np.concatenate([plan.arcs, plan.links])
    return owner, hop_paths(hops, problem.owner, n, links)


def _by_sender(
    arcs: Integers, amounts: Integers, nodes: int
) -> tuple[Integers, Integers, Integers]:
    order = np.lexsort((arcs[:, 1], arcs[:, 0]))
    start = np.searchsorted(arcs[order, 0], np.arange(nodes + 1))
    return start, np.ascontiguousarray(arcs[order, 1]), amounts[order]


def _units(amounts: NDArray[Any], problem: Problem) -> Integers:
    """Return amounts in the units of the sizes, rounded to the nearest."""
    per_one = problem.scale.per_one
    units = [round(Fraction(amount) * per_one) for amount in amounts.tolist()]
    if max(units, default=0) >= 2**62:
        raise OverflowError("along must have amounts below 2**62 in units of the sizes")
    return np.array(units, np.int64)
