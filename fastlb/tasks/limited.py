"""As low a largest load as a limited number of moves gives."""

from __future__ import annotations

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
AIMS = 10
# Steps spent on exchanges within a number of moves, and those of a task.
STEPS, STEPS_OF_A_TASK = 2**20, 8


class _Places(NamedTuple):
    """Where tasks are, for the kernels; ``node`` (K,) and ``load`` (N,) by falling size."""

    state: Any
    lists: Any
    node: Integers
    load: Integers


def assign_limited(problem: Problem, owner: Integers) -> Integers:
    """Return the best owners (T,) that steps within ``max_moves`` lead to.

    Tasks go from where they are in two ways: by the steps that lower the fullest node most, and by
    the longest tasks that fit, for the least largest load that so few moves reach. The results, and
    ``owner``, which keeps all limits, are then improved by steps and exchanges. Where messages or
    homes have a price, ``owner`` is returned as it is.
    """
    coupling = couple(problem) if problem.coupled else None
    if coupling is not None and not coupling.by_size:
        return owner
    search = _Search(problem, coupling)
    results = [owner]
    if problem.allows(problem.owner):
        results += [search.descended(problem.owner, exchanges=False), search.reached(owner)]
    improved = [search.descended(result, exchanges=True) for result in results]
    return min([*results, *improved], key=search.rank)


class _Search:
    """Steps within the moves that a problem allows."""

    def __init__(self, problem: Problem, coupling: Coupling | None) -> None:
        assert problem.max_moves is not None
        self.problem, self.coupling, self.most = problem, coupling, problem.max_moves
        order = problem.falling
        self.tasks = order[problem.movable[order] & (problem.units[order] > 0)]
        self.size, self.origin = problem.units[self.tasks], problem.owner[self.tasks]
        self.slowness, self.effort = problem.slowness, steps_for(problem)
        self.enough, self.aim = problem.caps(problem.aim), problem.aim * problem.scale.per_one

    def rank(self, owner: Integers) -> tuple[Fraction, int]:
        """Return the largest load by weight, no less than the aim, and how many tasks moved."""
        moved = int(np.count_nonzero(owner != self.problem.owner))
        return max(self.largest(self.problem.unit_loads(owner)), self.aim), moved

    def largest(self, loads: Integers) -> Fraction:
        """Return the largest load by weight, in units."""
        weights = self.problem.weights
        if self.problem.weights_are_equal:
            return Fraction(int(loads.max())) / weights[0]
        pairs = zip(loads.tolist(), weights, strict=True)
        return max(Fraction(amount) / w for amount, w in pairs if w)

    def descended(self, owner: Integers, exchanges: bool) -> Integers:
        """Return owners after steps that lower the fullest node most."""
        remaining = self.most - self.rank(owner)[1]
        at = self._places(owner)
        effort = self.effort
        if exchanges:
            effort = np.int64(STEPS + STEPS_OF_A_TASK * len(self.tasks))
        kernels("tasks.limited").descend(
            at.state, self.tasks, at.lists, self.size, self.origin, at.node, at.load,
            self.enough, self.slowness, exchanges, np.int64(remaining), effort,
        )  # fmt: skip
        return self._owner(owner, at)

    def reached(self, owner: Integers) -> Integers:
        """Return the owners of the least largest load that few enough moves lead to."""
        start = self.problem.owner
        low, high = self.problem.aim, self.rank(start)[0] / self.problem.scale.per_one
        best, least = owner, self.rank(owner)[0]
        for _ in range(AIMS):
            middle = (low + high) / 2
            at, cap = self._places(start), self.problem.caps(middle)
            kernels("tasks.limited").reach(
                at.state, self.tasks, at.lists, self.size, at.node, at.load, cap,
                self.slowness, np.int64(self.most), self.effort,
            )  # fmt: skip
            largest = self.largest(at.load)
            if largest < least:
                best, least = self._owner(start, at), largest
            if ((at.load <= cap) | (self.slowness == 0)).all():
                high = middle
            else:
                low = middle
        return best

    def _places(self, owner: Integers) -> _Places:
        node, load = owner[self.tasks], self.problem.unit_loads(owner)
        movable = np.ones(len(node), dtype=bool)
        lists = kernels("tasks.exchange").new_lists(self.size, node, movable, len(load))
        state = None if self.coupling is None else self.coupling.state(owner)
        return _Places(state, lists, node, load)

    def _owner(self, owner: Integers, at: _Places) -> Integers:
        result = owner.copy()
        result[self.tasks] = at.node
        return result
