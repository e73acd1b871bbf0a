"""Whole tasks to any node."""

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
# Steps spent on exchanges: of so many a task and a node, and in all.
STEPS_OF_A_TASK, STEPS_OF_A_NODE, STEPS = 32, 2**12, 2**20


def assign_free(problem: Problem, largest: Fraction) -> Integers:
    """Return owners (T,) with no load by weight above ``largest``, or as low as was found."""
    order = problem.falling
    size, node = problem.units[order], problem.owner[order]
    load = np.zeros(problem.nodes, np.int64)
    np.add.at(load, node, size)
    kernels("tasks.free").assign_freely(
        size, node, problem.movable[order], load, problem.caps(largest), problem.slowness,
        tolerance_of(load), effort_of(problem),
    )  # fmt: skip
    owner = np.empty(len(order), np.int64)
    owner[order] = node
    return owner


def tolerance_of(load: Integers) -> np.int64:
    """Return the excess, in units, that counts as none: 0 where units are coarse."""
    return np.int64(int(load.sum()) // len(load) >> TOLERANCE_BITS)


def effort_of(problem: Problem) -> np.int64:
    """Return the most steps to spend on exchanges."""
    tasks, nodes = len(problem.sizes), problem.nodes
    return np.int64(STEPS + STEPS_OF_A_TASK * tasks + STEPS_OF_A_NODE * nodes)
