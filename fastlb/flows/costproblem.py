"""A minimum-cost flow in whole units, and proofs that there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .maximum import UNLIMITED, max_flow
from .mincost import min_cost
from .scaling import exact_sum

if TYPE_CHECKING:
    from .problem import Nodes
    from .scaling import Integers


@dataclass(frozen=True, eq=False)
class CostProblem:
    """What a minimum-cost flow is computed from, in units.

    Attributes
    ----------
    tail, head : (E,) int64
    capacity, cost : (E,) int64
        ``UNLIMITED`` is no capacity.
    demand : (N,) int64
    """

    tail: Integers
    head: Integers
    capacity: Integers
    cost: Integers
    demand: Integers

    @property
    def arrays(self) -> tuple[Integers, Integers, Integers, Integers, Integers]:
        """All of them, in the order in which :func:`min_cost` takes them."""
        return self.tail, self.head, self.capacity, self.cost, self.demand

    def short_side(self) -> Nodes:
        """Return a side (N,) of nodes that more has to leave than its links carry.

        That of a minimum cut between a node that supplies all that send and one that all that
        receive supply.
        """
        n, demand = len(self.demand), self.demand
        sends, receives = np.flatnonzero(demand < 0), np.flatnonzero(demand > 0)
        result = max_flow(
            n + 2,
            np.concatenate([self.tail, np.full(len(sends), n), receives]),
            np.concatenate([self.head, sends, np.full(len(receives), n + 1)]),
            np.concatenate([self.capacity, -demand[sends], demand[receives]]),
            n,
            n + 1,
        )
        return result.source_side[:n]

    def cut(self, side: Nodes) -> Integers:
        """Return the links from a side to the other nodes."""
        return np.flatnonzero(side[self.tail] & ~side[self.head])

    def is_short(self, side: Nodes) -> bool:
        """Tell whether more has to leave a side than its links carry."""
        limits = self.capacity[self.cut(side)]
        return UNLIMITED not in limits and exact_sum(limits) < -exact_sum(self.demand[side])

    def circle(self) -> Integers:
        """Return unlimited links along which a unit goes round at a cost below 0, if there are."""
        free = np.flatnonzero(self.capacity == UNLIMITED)
        ones, nothing = np.ones(len(free), np.int64), np.zeros_like(self.demand)
        ends = self.tail[free], self.head[free]
        result = min_cost(len(self.demand), *ends, ones, self.cost[free], nothing)
        return free[result.flow > 0]

    def is_endless(self, links: Integers) -> bool:
        """Tell whether unlimited links lead in circles and cost less than nothing together."""
        n = len(self.demand)
        leaves = np.bincount(self.tail[links], minlength=n)
        closed = np.array_equal(leaves, np.bincount(self.head[links], minlength=n))
        unlimited = bool((self.capacity[links] == UNLIMITED).all())
        return closed and unlimited and exact_sum(self.cost[links]) < 0
