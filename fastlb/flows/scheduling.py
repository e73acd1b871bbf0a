"""Theorem 2's reduction: multiprocessor scheduling as a problem of indivisible loads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..quantities import Number
from ..topologies.network import Network

Instance = tuple[Network, list[tuple[int, Number]], list[Number]]


def scheduling_network(lengths: Sequence[Number], processors: int, deadline: Number) -> Instance:
    """Return the network, entities and room of the paper's reduction (Fig. 6).

    All entities can be moved exactly where the tasks can be scheduled: task ``i`` is an entity
    at node ``i``; all meet at ``u``, go on to ``v`` over one of ``processors`` disjoint paths of
    capacity ``deadline``, and end at the last node, which has room for all.

    Parameters
    ----------
    lengths : sequence of number
        Lengths of the tasks.
    processors : int
        Number of processors, at least 1.
    deadline : number
        When every processor has to be done.

    Examples
    --------
    >>> network, entities, room = scheduling_network([3, 2, 1], 2, 3)
    >>> network.size, room[-1]
    (8, 6)
    """
    if processors < 1:
        raise ValueError(f"processors must be at least 1, got {processors}")
    tasks = len(lengths)
    u, v, t = tasks, tasks + processors + 1, tasks + processors + 2
    machines = range(u + 1, v)
    edges = [(i, u) for i in range(tasks)]
    edges += [(u, w) for w in machines] + [(w, v) for w in machines] + [(v, t)]
    capacity = [None] * tasks + [deadline] * (2 * processors) + [None]
    room: list[Number] = [0] * (t + 1)
    room[t] = sum(lengths)
    return Network(edges, n=t + 1, capacity=capacity), list(enumerate(lengths)), room


def perfect_packing(processors: int, deadline: int, tasks_each: int, *, seed: int = 0) -> list[int]:
    """Return whole lengths of tasks that fill every processor exactly to the deadline.

    Parameters
    ----------
    processors, deadline : int
        How many processors, and how long each works.
    tasks_each : int
        Tasks of a processor, at most ``deadline``.
    seed : int
        What the lengths are drawn from.

    Examples
    --------
    >>> sum(perfect_packing(3, 10, 4))
    30
    """
    if not 1 <= tasks_each <= deadline:
        raise ValueError(f"tasks_each must be in 1..{deadline}, got {tasks_each}")
    draws = np.random.default_rng(seed)
    lengths: list[int] = []
    for _ in range(processors):
        cuts = np.sort(draws.choice(deadline - 1, tasks_each - 1, replace=False) + 1)
        lengths += np.diff(np.concatenate([[0], cuts, [deadline]])).tolist()
    return [lengths[i] for i in draws.permutation(len(lengths))]
