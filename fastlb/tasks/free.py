"""Whole tasks to any node, and exchanges that lower the fullest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..accelerate import kernels

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from .problem import Problem
    from .units import Integers

# An excess of this part of the mean load counts as none.
TOLERANCE_BITS = 30
# Where the largest load is above its aim by more than this part, subsets are exchanged, and all
# tasks are placed anew.
GOOD_BITS = 14
# All are placed anew as well where more than so many times the excess moves.
MANY_MOVES = 1.25
# Steps spent on exchanges: of so many a task and a node, and in all.
STEPS_OF_A_TASK, STEPS_OF_A_NODE, STEPS = 32, 2**12, 2**27
EMPTY = np.zeros(0, np.int64)


def assign_free(problem: Problem, largest: Fraction) -> Integers:
    """Return owners (T,) with no load by weight above ``largest``, or as low as was found."""
    order, cap, slowness = problem.falling, problem.caps(largest), problem.slowness
    size, movable = problem.units[order], problem.movable[order]
    start = problem.owner[order]
    best: tuple[tuple[float, int], Integers] | None = None
    excess = int(np.maximum(problem.unit_loads(problem.owner) - cap, 0).sum())
    kernel = kernels("tasks.free")
    for kind in (kernel.EXCESS, kernel.ALL_AT_HOME, kernel.ALL):
        node, load = start.copy(), problem.unit_loads(problem.owner)
        leaving, count = kernel.take_off(size, node, movable, load, cap, slowness, kind)
        if count:
            kernel.place(size, node, load, cap, slowness, kind, leaving, count)
        # Where the load is low enough already, only a placement that needs no exchange is compared.
        if best is None or best[0][0] > 0:
            lower(problem, size, node, movable, load, cap, EMPTY, EMPTY)
        good = int(load.sum()) // len(load) >> GOOD_BITS
        above = float(((load - cap) * slowness).max())
        rank = above if above > good else 0.0, int(size[node != start].sum())
        if best is None or rank < best[0]:
            best = rank, node
        if best[0][0] == 0 and (kind > kernel.EXCESS or best[0][1] <= MANY_MOVES * excess):
            break
    assert best is not None
    owner = np.empty(len(order), np.int64)
    owner[order] = best[1]
    return owner


def lower(
    problem: Problem,
    size: Integers,
    node: Integers,
    movable: NDArray[np.bool_],
    load: Integers,
    cap: Integers,
    start: Integers,
    neighbour: Integers,
) -> None:
    """Exchange tasks, numbered by falling size, between the fullest node and others, in place."""
    slowness = problem.slowness
    mean = int(load.sum()) // len(load)
    tolerance, coarse = np.int64(mean >> TOLERANCE_BITS), mean >> GOOD_BITS
    if (load - cap).max() <= tolerance:
        return
    effort = np.int64(STEPS + STEPS_OF_A_TASK * len(size) + STEPS_OF_A_NODE * len(load))
    kernel = kernels("tasks.exchange")
    lists = kernel.new_lists(size, node, movable, problem.nodes)
    arguments = lists, size, node, load, cap, slowness, start, neighbour, tolerance
    while effort > 0:
        effort = kernel.exchange(*arguments, effort)
        above = (load - cap)[slowness > 0].max()
        if effort <= 0 or above <= tolerance:
            break
        several = kernels("tasks.several").exchange_several
        remaining = several(*arguments, effort, False)
        if remaining == 0 and above > coarse:
            remaining = several(*arguments, effort, True)
        effort = np.int64(remaining)
