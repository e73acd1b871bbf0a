"""Whole tasks to any node, and exchanges that lower the fullest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..accelerate import kernels

if TYPE_CHECKING:
    from fractions import Fraction

    from .problem import Problem
    from .units import Integers

# An excess of this part of the mean load counts as none.
TOLERANCE_BITS = 30
# Where the largest load is above its aim by more than this part, all tasks are placed anew.
GOOD_BITS = 14
# Steps spent on exchanges: of so many a task and a node, and in all.
STEPS_OF_A_TASK, STEPS_OF_A_NODE, STEPS = 32, 2**12, 2**27
EMPTY = np.zeros(0, np.int64)


def assign_free(problem: Problem, largest: Fraction) -> Integers:
    """Return owners (T,) with no load by weight above ``largest``, or as low as was found."""
    order, cap, slowness = problem.falling, problem.caps(largest), problem.slowness
    size, movable = problem.units[order], problem.movable[order]
    start = problem.owner[order]
    best: tuple[int, Integers] | None = None
    kernel = kernels("tasks.free")
    for kind in (kernel.EXCESS, kernel.ALL_AT_HOME, kernel.ALL):
        node, load = start.copy(), problem.unit_loads(problem.owner)
        kernel.place(size, node, movable, load, cap, slowness, kind)
        lower(problem, size, node, movable, load, cap, EMPTY, EMPTY)
        above = int(((load - cap) * slowness).max())
        if best is None or above < best[0]:
            best = above, node
        if best[0] <= int(load.sum()) // len(load) >> GOOD_BITS:
            break
    assert best is not None
    owner = np.empty(len(order), np.int64)
    owner[order] = best[1]
    return owner


def lower(
    problem: Problem,
    size: Integers,
    node: Integers,
    movable: Integers,
    load: Integers,
    cap: Integers,
    start: Integers,
    neighbour: Integers,
) -> None:
    """Exchange tasks, numbered by falling size, between the fullest node and others, in place."""
    tolerance = int(load.sum()) // len(load) >> TOLERANCE_BITS
    effort = STEPS + STEPS_OF_A_TASK * len(size) + STEPS_OF_A_NODE * len(load)
    kernels("tasks.exchange").exchange(
        size, node, movable, load, cap, problem.slowness, start, neighbour,
        np.int64(tolerance), np.int64(effort),
    )  # fmt: skip
