"""The ways that moving tasks take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..accelerate import kernels

if TYPE_CHECKING:
    from ..topologies.topology import Topology
    from .units import Integers

# Entries of a table of distances that is made at a time.
MOST_DISTANCES = 2**24


@dataclass(frozen=True, eq=False)
class Paths:
    """Paths of nodes, one after the other, of the tasks that move, by number; ``M`` of them.

    Attributes
    ----------
    ends : (M,) int64
        Where each path ends in ``nodes``.
    nodes : int64
        The nodes of all paths; each path begins where its task was, and ends where it is.
    links : (L, 2) int64 or None
        Pairs of nodes that a path may follow; None: any.
    """

    ends: Integers
    nodes: Integers
    links: Integers | None

    @property
    def hops(self) -> int:
        return len(self.nodes) - len(self.ends)

    def listed(self) -> list[tuple[int, ...]]:
        nodes = self.nodes.tolist()
        ends = self.ends.tolist()
        begins = [0, *ends][: len(ends)]
        return [tuple(nodes[a:b]) for a, b in zip(begins, ends, strict=True)]

    def linked(self) -> bool:
        """Tell whether every step of every path follows a link."""
        if self.links is None or not len(self.nodes):
            return True
        inside = np.ones(len(self.nodes), dtype=bool)
        inside[self.ends - 1] = False
        at = np.flatnonzero(inside)
        count = int(max(self.nodes.max(), self.links.max(initial=0))) + 1
        steps = self.nodes[at] * count + self.nodes[at + 1]
        return bool(np.isin(steps, self.links[:, 0] * count + self.links[:, 1]).all())


def direct_paths(before: Integers, after: Integers) -> Paths:
    """Return paths straight from the old to the new node of every task that moves."""
    tasks = np.flatnonzero(before != after)
    nodes = np.empty((len(tasks), 2), np.int64)
    nodes[:, 0], nodes[:, 1] = before[tasks], after[tasks]
    return Paths(np.arange(2, nodes.size + 1, 2), nodes.reshape(-1), None)


def hop_paths(hops: Integers, before: Integers, nodes: int, links: Integers) -> Paths:
    """Return the paths that hops (2, H), tasks and where to, make up."""
    _, ends, path = kernels("tasks.along").paths_of(hops, before, nodes)
    return Paths(ends, path, links)


def shortest_paths(before: Integers, after: Integers, topology: Topology) -> Paths:
    """Return shortest paths over a topology's links.

    Raises
    ------
    ValueError
        If a task's nodes are in different parts of the network.
    """
    links = both_ways(topology.links)
    hops = shortest_hops(before, after, topology.size, links)
    paths = hop_paths(hops, before, topology.size, links)
    if len(paths.ends) < np.count_nonzero(before != after):
        raise ValueError(
            f"nodes must be linked where tasks move, got {topology!r} in several parts: "
            f"pass nodes={topology.size} to let tasks go anywhere"
        )
    return paths


def shortest_hops(before: Integers, after: Integers, nodes: int, links: Integers) -> Integers:
    """Return hops (2, H), tasks and where to, over as few links (L, 2) as possible.

    There are none where there is no way.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    tasks = np.flatnonzero(before != after)
    ones = np.ones(len(links))
    matrix = csr_array((ones, (links[:, 1], links[:, 0])), shape=(nodes, nodes))
    at, goal = before[tasks], after[tasks]
    found = [np.empty((2, 0), np.int64)]
    targets, place = np.unique(goal, return_inverse=True)
    part = max(1, MOST_DISTANCES // nodes)
    for first in range(0, len(targets), part):
        # Back from the targets, so that predecessors lead on.
        _, onward = dijkstra(
            matrix, unweighted=True, indices=targets[first : first + part], return_predecessors=True
        )
        here = np.flatnonzero((place >= first) & (place < first + part))
        while here.size:
            at[here] = onward[place[here] - first, at[here]]
            here = here[at[here] >= 0]
            found.append(np.stack([tasks[here], at[here]]))
            here = here[at[here] != goal[here]]
    return np.concatenate(found, axis=1)


def both_ways(links: Integers) -> Integers:
    """Return links (L, 2) and their reverses, shape (2 L, 2)."""
    return np.concatenate([links, links[:, ::-1]])
