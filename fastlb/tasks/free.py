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
# Where more than so many times the excess moves, exchanges that move less are tried.
MANY_MOVES = 1.25
# With at most so many tasks a node those are tried first: they are slow where lists are long.
FEW_TASKS = 16
# They bring loads to their caps within parts of the mean that are halved again and again, from the
# first, and one more exchange counts as moving a part of the mean.
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
    few = len(size) <= FEW_TASKS * len(initial)
    tries = [(kernel.EXCESS, few), (kernel.EXCESS, not few)]
    tries += [(kernel.ALL_AT_HOME, False), (kernel.ALL, False)]
    for kind, sparing in tries:
        node, load = start.copy(), initial.copy()
        leaving = np.empty(len(size), np.int64)
        count = kernel.take_off(size, node, movable, load, cap, slowness, kind, leaving)
        if count:
            kernel.place(size, node, load, cap, slowness, kind, leaving, count)
        if sparing:
            node, load = lower_sparingly(problem, size, node, movable, load, cap, excess)
        elif best is None or best[0][0] > 0:
            # Else only a placement that needs no exchange is compared.
            lower(problem, size, node, movable, load, cap, EMPTY, EMPTY)
        above = float(((load - cap) * slowness).max())
        rank = above if above > good else 0.0, int(size[node != start].sum())
        if best is None or rank < best[0]:
            best = rank, node
        few_moves = sparing or best[0][1] <= MANY_MOVES * excess
        if best[0][0] == 0 and (kind == kernel.ALL_AT_HOME or few_moves):
            break
    assert best is not None
    owner = np.empty(len(order), np.int64)
    owner[order] = best[1]
    return owner


def lower_sparingly(
    problem: Problem,
    size: Integers,
    node: Integers,
    movable: NDArray[np.bool_],
    load: Integers,
    cap: Integers,
    excess: int,
) -> tuple[Integers, Integers]:
    """Exchange tasks, numbered by falling size, so that few move; return nodes (T,), loads (N,).

    First loads come near their caps, then nearer and nearer. Once they are near enough, that ends
    where too many tasks would move; if they do not come so near, several tasks are exchanged at a
    time. ``node`` and ``load`` change.
    """
    if (load <= cap).all():
        return node, load
    mean = int(load.sum()) // len(load)
    start, mean_cap = problem.owner[problem.falling], problem.caps(problem.mean)
    lists = kernels("tasks.exchange").new_lists(size, node, movable, problem.nodes)
    exchange, effort = kernels("tasks.sparing").exchange_sparingly, steps_for(problem)
    result = node, load
    for bits in range(COARSEST_BITS, TOLERANCE_BITS + 1):
        tolerance = np.int64(mean >> bits)
        # What is above this by the tolerance is not above the cap, if possible.
        goal = np.minimum(np.maximum(cap - tolerance, mean_cap), cap)
        effort = np.int64(exchange(
            lists, size, start, node, load, goal, problem.slowness, tolerance, STEP_COST * mean,
            effort,
        ))  # fmt: skip
        if bits > GOOD_BITS and size[node != start].sum() > MANY_MOVES * excess:
            break
        if bits == GOOD_BITS:
            lower(problem, size, node, movable, load, goal, EMPTY, EMPTY, GOOD_BITS)
            lists = kernels("tasks.exchange").new_lists(size, node, movable, problem.nodes)
        result = node.copy(), load.copy()
        if tolerance == 0 or (load <= cap).all():
            break
    return result


def lower(
    problem: Problem,
    size: Integers,
    node: Integers,
    movable: NDArray[np.bool_],
    load: Integers,
    cap: Integers,
    start: Integers,
    neighbour: Integers,
    tolerance_bits: int = TOLERANCE_BITS,
) -> None:
    """Exchange tasks, numbered by falling size, between the fullest node and others, in place.

    An excess of the mean by ``2**-tolerance_bits`` counts as none.
    """
    slowness = problem.slowness
    mean = int(load.sum()) // len(load)
    tolerance, coarse = np.int64(mean >> tolerance_bits), mean >> GOOD_BITS
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
