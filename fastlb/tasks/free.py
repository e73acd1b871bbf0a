"""Whole tasks to any node, and exchanges that lower the fullest."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..accelerate import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .problem import Problem
    from .units import Integers

# An excess of this part of the mean load counts as none.
TOLERANCE_BITS = 30
# Where the largest load is above its aim by more than this part, subsets are exchanged, and all
# tasks are placed anew.
GOOD_BITS = 14
# Where more than so many times the excess moves, exchanges that move less are tried, and all are
# placed anew.
MANY_MOVES = 1.25
# Such exchanges bring loads to their aim within parts of the mean that are halved again and again,
# from the first, and moving another pair of tasks counts as moving a part of the mean.
COARSEST_BITS, STEP_COST = 8, 2.0**-10
# Steps spent on exchanges: of so many a task and a node, and in all.
STEPS_OF_A_TASK, STEPS_OF_A_NODE, STEPS = 32, 2**12, 2**27
EMPTY = np.zeros(0, np.int64)


def assign_free(problem: Problem, largest: Fraction) -> Integers:
    """Return owners (T,) with no load by weight above ``largest``, or as low as was found.

    An excess below a small part of the mean counts as none where that saves moves.
    """
    order, cap, slowness = problem.falling, problem.caps(largest), problem.slowness
    size, movable = problem.units[order], problem.movable[order]
    start = problem.owner[order]
    best: tuple[tuple[float, int], Integers] | None = None
    initial = problem.unit_loads(problem.owner)
    good = int(initial.sum()) // len(initial) >> GOOD_BITS
    excess = int(np.maximum(initial - cap, 0).sum())
    kernel = kernels("tasks.free")
    for kind, sparing in (
        (kernel.EXCESS, False), (kernel.EXCESS, True), (kernel.ALL_AT_HOME, False),
        (kernel.ALL, False),
    ):  # fmt: skip
        node, load = start.copy(), initial.copy()
        leaving, count = kernel.take_off(size, node, movable, load, cap, slowness, kind)
        if count:
            kernel.place(size, node, load, cap, slowness, kind, leaving, count)
        if sparing:
            lower_sparingly(problem, largest, size, node, movable, load)
        elif best is None or best[0][0] > 0:
            # Else only a placement that needs no exchange is compared.
            lower(problem, size, node, movable, load, cap, EMPTY, EMPTY)
        above = float(((load - cap) * slowness).max())
        rank = above if above > good else 0.0, int(size[node != start].sum())
        if best is None or rank < best[0]:
            best = rank, node
        few_moves = best[0][1] <= MANY_MOVES * excess
        if best[0][0] == 0 and (kind == kernel.ALL_AT_HOME or few_moves):
            break
    assert best is not None
    owner = np.empty(len(order), np.int64)
    owner[order] = best[1]
    return owner


def lower_sparingly(
    problem: Problem,
    largest: Fraction,
    size: Integers,
    node: Integers,
    movable: NDArray[np.bool_],
    load: Integers,
) -> None:
    """Exchange tasks, numbered by falling size, so that few move, in place.

    First loads come near their aim, by exchanges that move little, and then nearer and nearer.
    """
    mean = int(load.sum()) // len(load)
    slack = largest - problem.mean
    lists = kernels("tasks.exchange").new_lists(size, node, movable, problem.nodes)
    origin = problem.owner[problem.falling]
    effort = steps_for(problem)
    for bits in range(COARSEST_BITS, TOLERANCE_BITS):
        tolerance = np.int64(mean >> bits)
        # What is above the mean by the tolerance at most is not above ``largest``, if possible.
        blur = Fraction(int(tolerance)) / problem.scale.per_one / min(filter(None, problem.weights))
        cap = problem.caps(max(problem.mean, largest - blur))
        effort = kernels("tasks.sparing").exchange_sparingly(
            lists, size, origin, node, load, cap, problem.slowness, tolerance, STEP_COST * mean,
            np.int64(effort),
        )  # fmt: skip
        if bits >= GOOD_BITS and (slack == 0 or blur <= slack):
            break


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
    effort = steps_for(problem)
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


def steps_for(problem: Problem) -> np.int64:
    """Return the most steps spent on exchanges."""
    return np.int64(STEPS + STEPS_OF_A_TASK * len(problem.units) + STEPS_OF_A_NODE * problem.nodes)
