"""Tasks whose places depend on each other, as integers for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..memory import require_memory
from .units import LARGEST_TOTAL, TOTAL_BITS, in_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .problem import Problem
    from .units import Integers

# In the place of a node, of a task that has none yet.
NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Coupling:
    """Sizes and costs in common units of load, memory in units of its own; see ``State``.

    Attributes
    ----------
    per_one : Fraction
        Units in a load of 1.
    """

    problem: Problem
    per_one: Fraction
    size: Integers
    amount: Integers
    home_cost: Integers
    own: Integers
    working: Integers
    block_bytes: Integers
    node_bytes: Integers
    limit: Integers

    def state(self, owner: Integers) -> Any:
        """Return the kernels' state, with tasks at their owners or ``NOWHERE``."""
        problem, n = self.problem, self.problem.nodes
        memory = problem.memory
        blocks = len(self.block_bytes)
        require_memory(32 * n * blocks, f"tables of {blocks} blocks and {n} nodes")
        first, other, out, into = self._neighbours()
        nodes = [np.zeros(n, np.int64) for _ in range(4)]
        nowhere, unused = (np.full(len(owner), NOWHERE, np.int64) for _ in range(2))
        state = kernels("shared.taskstate").State(
            nowhere, self.size, self.own, self.working,
            unused if memory is None else memory.block, first, other, out, into,
            self.block_bytes, nodes[0][:0] if memory is None else memory.home, self.home_cost,
            nodes[0], nodes[1], nodes[2], self.node_bytes.copy(), nodes[3], self.limit,
            np.zeros((n, blocks), np.int64),
        )  # fmt: skip
        kernels("tasks.coupled").put_some(state, np.arange(len(owner)), owner)
        return state

    def _neighbours(self) -> tuple[Integers, Integers, Integers, Integers]:
        """Return the priced edges of every task, each edge at both of its ends."""
        edges, tasks = self.problem.edges, len(self.size)
        if edges is None or not self.amount.any():
            empty = np.zeros(0, np.int64)
            return np.zeros(tasks + 1, np.int64), empty, empty, empty
        apart = edges.source != edges.target
        source, target, amount = edges.source[apart], edges.target[apart], self.amount[apart]
        nothing = np.zeros(len(amount), np.int64)
        at = np.concatenate([source, target])
        order = np.argsort(at, kind="stable")
        return (
            np.searchsorted(at[order], np.arange(tasks + 1)),
            np.concatenate([target, source])[order],
            np.concatenate([amount, nothing])[order],
            np.concatenate([nothing, amount])[order],
        )

    def caps(self, largest: Fraction) -> Integers:
        """Return the most units of work (N,) within ``largest`` by weight."""
        total = self.most
        caps = [min(int(largest * self.per_one * w), total) for w in self.problem.weights]
        return np.array(caps, np.int64)

    def caps_below(self, largest: Fraction) -> Integers:
        """Return the most units of work (N,) that by weight are below ``largest`` units."""
        below = [-int(-largest * w // 1) - 1 if w else 0 for w in self.problem.weights]
        return np.array(below, np.int64)

    @property
    def by_size(self) -> bool:
        """Whether sizes alone make up the work of a node."""
        return not (self.amount.any() or self.home_cost.any())

    @property
    def most(self) -> int:
        """The work of a node that has everything."""
        return int(self.size.sum()) + 2 * int(self.amount.sum()) + int(self.home_cost.sum())

    def largest(self, state: Any) -> Fraction:
        """Return the largest work in units, by weight."""
        work = state.load + np.maximum(state.sent, state.received)
        pairs = zip(work.tolist(), self.problem.weights, strict=True)
        return max(Fraction(amount) / w for amount, w in pairs if w)


def couple(problem: Problem) -> Coupling:
    """Return a problem's numbers in the units of the kernels.

    Raises
    ------
    OverflowError
        If whole numbers have too large a total.
    """
    edges, memory = problem.edges, problem.memory
    priced: list[Fraction] = []
    if edges is not None and problem.price:
        priced = [problem.price * Fraction(a) for a in edges.amount.tolist()]
    homes: list[Fraction] = []
    if memory is not None and problem.home_price:
        homes = [problem.home_price * Fraction(a) for a in memory.block_bytes.tolist()]
        at_home = (memory.home >= 0).tolist()
        homes = [cost if home else Fraction(0) for cost, home in zip(homes, at_home, strict=True)]
    size, per_one, costs = _common_units(problem, [*priced, *homes])
    amount = costs[: len(priced)]
    home_cost = costs[len(priced) :]
    if memory is None:
        nothing = np.zeros(len(size), np.int64)
        empty = np.zeros(0, np.int64)
        free = np.zeros(problem.nodes, np.int64)
        return Coupling(problem, per_one, size, amount, empty, nothing, nothing, empty, free, free)
    own, working, block_bytes, node_bytes, limit = _memory_units(problem)
    if not homes:
        home_cost = np.zeros(len(block_bytes), np.int64)
    return Coupling(
        problem, per_one, size, amount, home_cost, own, working, block_bytes, node_bytes, limit
    )


def _common_units(problem: Problem, costs: list[Fraction]) -> tuple[Integers, Fraction, Integers]:
    """Return sizes in units, units in a load of 1, and costs in units, exact where that fits."""
    units, per_one = problem.units, problem.scale.per_one
    scaled = [cost * per_one for cost in costs]
    finer = lcm(*(cost.denominator for cost in scaled))
    total = int(units.sum()) + 2 * sum(scaled)
    if total * finer < 2**TOTAL_BITS:
        per_one *= finer
        units = units * finer
    elif total >= LARGEST_TOTAL:
        raise OverflowError(f"sizes and priced bytes must have a total below 2**62, got {total}")
    costs_in_units = [round(cost * per_one) for cost in costs]
    return units, per_one, np.array(costs_in_units, np.int64)


def _memory_units(problem: Problem) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    """Return own and working bytes, those of blocks and nodes, and limits, less any rounding."""
    memory = problem.memory
    assert memory is not None
    parts: list[NDArray[Any]] = [memory.own, memory.working, memory.block_bytes, memory.node]
    (own, working, blocks, node), scale = in_units("memory", *parts)
    all_of_it = sum(int(part.sum()) for part in (own, blocks, node, working))
    most = [all_of_it] * problem.nodes
    if memory.limit is not None:
        # Rounded units: up to half a unit off each.
        blur = 0 if scale.exact else len(own) + len(blocks) + 2
        most = [
            min(all_of_it, int(Fraction(limit) * scale.per_one) - blur) if limit < np.inf else m
            for limit, m in zip(memory.limit.tolist(), most, strict=True)
        ]
    return own, working, blocks, node, np.array(most, np.int64)
