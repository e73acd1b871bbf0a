"""Measurements of the tasks study: four ways of giving whole tasks to nodes.

- ``free``: :func:`~fastlb.assign_tasks`, to any node.
- ``along``: the same along the flows of DDE, over links alone.
- ``plan``: tasks follow the flows of DDE, the longest that fits first, and nothing else is done.
- ``longest first``: every task is placed anew on the least loaded node, the longest first; where
  tasks were does not count.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..exchange.direct_exchange import dde
from ..random_loads.sampling import sample_loads
from ..tasks.assign import assign_tasks
from ..topologies.grids import Chain
from ..topologies.topology import Topology

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..exchange.result import Balance
    from ..montecarlo.study import Study
    from ..random_loads.distributions import Distribution

TASKS_A_NODE = 20
WAYS = ("free", "along", "plan", "longest first")


@dataclass(frozen=True)
class Trial:
    """Figures of one trial, by way.

    Attributes
    ----------
    gap : dict
        Largest load over the bound, minus 1.
    moved, tasks : dict
        Load and number of tasks that change their node, as a share of all.
    hops : dict
        Links that a task which moves takes, on average; 0 where none moves.
    seconds : dict
        CPU time of the choice of tasks, without that of the plan.
    """

    gap: dict[str, float]
    moved: dict[str, float]
    tasks: dict[str, float]
    hops: dict[str, float]
    seconds: dict[str, float]


# By distribution of sizes and network.
Measurements = dict[str, dict[str, list[Trial]]]


def measure(
    study: Study, networks: Mapping[str, Topology], sizes: Mapping[str, Distribution]
) -> Measurements:
    """Measure all ways on every network, for every distribution of task sizes."""
    return {
        tail: {
            name: [
                _trial(topology, distribution, study.seed, trial) for trial in range(study.trials)
            ]
            for name, topology in networks.items()
        }
        for tail, distribution in sizes.items()
    }


def _trial(topology: Topology, distribution: Distribution, seed: int, trial: int) -> Trial:
    sizes, owner = random_tasks(topology, distribution, seed, trial)
    loads = np.bincount(owner, weights=sizes, minlength=topology.size).astype(np.int64)
    plan = dde(loads.reshape(topology.shape), topology, record="flows")
    begin = time.process_time()
    free = assign_tasks(sizes, owner, topology)
    middle = time.process_time()
    along = assign_tasks(sizes, owner, topology, along=plan)
    end = time.process_time()
    alone, hops = follow(plan, sizes, owner)
    anew = longest_first(sizes, topology.size)
    owners = {"free": free.owner, "along": along.owner, "plan": alone, "longest first": anew}
    moves = {way: new != owner for way, new in owners.items()}
    largest = {
        way: np.bincount(new, weights=sizes, minlength=topology.size).max()
        for way, new in owners.items()
    }
    links = {"free": free.hops, "along": along.hops, "plan": hops}
    return Trial(
        gap={way: float(largest[way]) / float(free.bound) - 1 for way in WAYS},
        moved={way: float(sizes[moves[way]].sum() / sizes.sum()) for way in WAYS},
        tasks={way: float(moves[way].mean()) for way in WAYS},
        hops={way: links[way] / max(1, int(moves[way].sum())) for way in links},
        seconds={"free": middle - begin, "along": end - middle},
    )


def random_tasks(
    topology: Topology, distribution: Distribution, seed: int, trial: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return sizes (T,) and owners (T,) of tasks, as many a node as its random popularity says."""
    count = TASKS_A_NODE * topology.size
    (drawn,) = sample_loads(distribution, Chain(count), trials=1, seed=seed, start=trial)
    rng = np.random.default_rng([seed, trial])
    popularity = rng.exponential(size=topology.size)
    owner = rng.choice(topology.size, count, p=popularity / popularity.sum())
    return drawn.astype(np.int64), owner.astype(np.int64)


def longest_first(sizes: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
    """Return the owners (T,) that placing the longest task on the least loaded node leads to.

    Examples
    --------
    >>> longest_first(np.array([2, 5, 3]), 2).tolist()
    [1, 0, 1]
    """
    owner = np.empty(len(sizes), dtype=np.int64)
    heap = [(0, node) for node in range(nodes)]
    for task in np.argsort(-sizes, kind="stable").tolist():
        load, node = heap[0]
        heapq.heapreplace(heap, (load + int(sizes[task]), node))
        owner[task] = node
    return owner


def follow(
    plan: Balance, sizes: NDArray[np.int64], owner: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Return the owners that the flows of DDE lead to, axis by axis, and the links taken.

    A node sends over each link the longest of its tasks that the rest of the link's flow still
    holds, one after the other.
    """
    topology = plan.topology
    flows = plan.flows.reshape(topology.ndim, -1)
    place = np.arange(topology.size).reshape(topology.shape)
    owner = owner.copy()
    held: list[list[int]] = [[] for _ in range(topology.size)]
    for task in np.argsort(sizes, kind="stable").tolist():
        held[owner[task]].append(task)
    hops = 0
    for axis in range(topology.ndim):
        successor = np.roll(place, -1, axis).reshape(-1).tolist()
        waiting = [
            (node, successor[node], flow) if flow > 0 else (successor[node], node, -flow)
            for node, flow in enumerate(flows[axis].tolist())
            if flow
        ]
        while waiting:
            # Nodes that still receive send later, so that they can pass tasks on.
            receivers = {receiver for _, receiver, _ in waiting}
            ready = [entry for entry in waiting if entry[0] not in receivers] or waiting
            waiting = [entry for entry in waiting if entry not in ready]
            for sender, receiver, amount in ready:
                sent = _fitting(held[sender], sizes, amount)
                hops += len(sent)
                held[receiver] = sorted(held[receiver] + sent, key=lambda task: int(sizes[task]))
    for node, tasks in enumerate(held):
        owner[tasks] = node
    return owner, hops


def _fitting(tasks: list[int], sizes: NDArray[Any], amount: int) -> list[int]:
    """Take the tasks of at most this amount in all off a list by rising size, longest first."""
    sent = []
    for i in range(len(tasks) - 1, -1, -1):
        if sizes[tasks[i]] <= amount:
            amount -= int(sizes[tasks[i]])
            sent.append(tasks.pop(i))
    return sent
