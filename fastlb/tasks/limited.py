"""As low a largest load as a limited number of moves gives."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..accelerate import kernels
from .coupling import Coupling, couple
from .free import steps_for

if TYPE_CHECKING:
    from .problem import Problem
    from .units import Integers

# Largest loads aimed at: the range is halved so many times.
AIMS = 16


class _Places(NamedTuple):
    """Where tasks are, for the kernels; ``node`` (K,) and ``load`` (N,) by falling size."""

    state: Any
    lists: Any
    node: Integers
    load: Integers


def assign_limited(problem: Problem, owner: Integers) -> Integers:
    """Return the best owners (T,) that steps within ``max_moves`` lead to.

    From where tasks are: by the steps that lower the fullest node most, and by fewest moves to the
    least largest load that can be reached so; then by improving the better of these, and of
    ``owner``, which keeps all limits, by steps and exchanges.
    """
    coupling = couple(problem if problem.coupled else replace(problem, memory=None, edges=None))
    if not coupling.by_size:
        return owner
    search = _Search(problem, coupling)
    results = [owner]
    if problem.allows(problem.owner):
        results += [search.descended(problem.owner, exchanges=False), search.reached(owner)]
        results.append(search.descended(problem.owner, exchanges=True))
    improved = [search.descended(result, exchanges=True) for result in results[:3]]
    return min([*results, *improved], key=search.rank)


class _Search:
    """Steps within the moves that a problem allows."""

    def __init__(self, problem: Problem, coupling: Coupling) -> None:
        assert problem.max_moves is not None
        self.problem, self.coupling, self.most = problem, coupling, problem.max_moves
        order = problem.falling
        self.tasks = order[problem.movable[order] & (coupling.size[order] > 0)]
        self.size, self.origin = coupling.size[self.tasks], problem.owner[self.tasks]
        self.bounded = problem.memory is not None and problem.memory.limit is not None
        self.slowness, self.effort = problem.slowness, steps_for(problem)
        self.enough = coupling.caps(problem.aim)

    def rank(self, owner: Integers) -> tuple[Fraction, int]:
        """Return the largest load by weight, and how many tasks moved."""
        loads = np.zeros(self.problem.nodes, np.int64)
        np.add.at(loads, owner, self.coupling.size)
        pairs = zip(loads.tolist(), self.problem.weights, strict=True)
        largest = max(Fraction(amount) / w for amount, w in pairs if w)
        return largest, int(np.count_nonzero(owner != self.problem.owner))

    def descended(self, owner: Integers, exchanges: bool) -> Integers:
        """Return owners after steps that lower the fullest node most."""
        remaining = self.most - self.rank(owner)[1]
        at = self._places(owner)
        kernels("tasks.limited").descend(
            at.state, self.tasks, self.bounded, at.lists, self.size, self.origin, at.node, at.load,
            self.enough, self.slowness, exchanges, np.int64(remaining), self.effort,
        )  # fmt: skip
        return self._owner(owner, at)

    def reached(self, owner: Integers) -> Integers:
        """Return the owners of the least largest load that few enough moves lead to."""
        start = self.problem.owner
        low, high = self.problem.bound, self.rank(start)[0] / self.coupling.per_one
        best = owner
        for _ in range(AIMS):
            middle = (low + high) / 2
            at, cap = self._places(start), self.coupling.caps(middle)
            kernels("tasks.limited").reach(
                at.state, self.tasks, self.bounded, at.lists, self.size, at.node, at.load, cap,
                self.slowness, np.int64(self.most), self.effort,
            )  # fmt: skip
            result = self._owner(start, at)
            best = min(best, result, key=self.rank)
            if ((at.load <= cap) | (self.slowness == 0)).all():
                high = middle
            else:
                low = middle
        return best

    def _places(self, owner: Integers) -> _Places:
        node, load = owner[self.tasks], np.zeros(self.problem.nodes, np.int64)
        np.add.at(load, owner, self.coupling.size)
        movable = np.ones(len(node), dtype=bool)
        lists = kernels("tasks.exchange").new_lists(self.size, node, movable, len(load))
        return _Places(self.coupling.state(owner), lists, node, load)

    def _owner(self, owner: Integers, at: _Places) -> Integers:
        result = owner.copy()
        result[self.tasks] = at.node
        return result
