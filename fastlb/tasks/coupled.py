"""Whole tasks whose places depend on each other: searches for owners, and proofs for few tasks."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .coupling import NOWHERE, Coupling, couple
from .free import GOOD_BITS, TOLERANCE_BITS

if TYPE_CHECKING:
    from .problem import Problem
    from .units import Integers

# Most movable tasks for which the optimum is proven, and steps spent on that.
MOST_PROVEN, PROOF_STEPS = 15, 2**31
# Steps spent on moves and exchanges, and on those that sizes alone decide.
STEPS, STEPS_BY_SIZE = 2**25, 2**28
# Most tasks of which all pairs are tried where sizes alone decide.
MOST_PAIRED = 2**10
# Nodes with which the fullest one shares its tasks anew, one at a time or two, the emptiest first;
# how many tasks they have at most, and steps spent on each try.
MOST_PARTNERS, FEWER_PARTNERS, MOST_REARRANGED, REARRANGING_STEPS = 32, 8, 24, 2**22


def assign_coupled(problem: Problem, largest: Fraction, starts: list[Integers]) -> Integers:
    """Return the best owners (T,) that moves and exchanges lead to, from any of the starts."""
    coupling = couple(problem)
    order = problem.falling
    tasks = order[problem.movable[order]]
    best: tuple[Any, ...] | None = None
    for start in starts:
        state = coupling.state(_off_dead_nodes(problem, start))
        _lower(coupling, state, tasks, coupling.caps(largest))
        fits = bool((state.memory <= state.limit).all())
        moved = int(np.count_nonzero(state.node != problem.owner))
        rank = (not fits, max(coupling.largest(state), largest * coupling.per_one), moved)
        if best is None or rank < best[0]:
            best = rank, state.node
    assert best is not None
    owner: Integers = best[1]
    return owner


def _lower(coupling: Coupling, state: Any, tasks: Integers, cap: Integers) -> None:
    """Move and exchange tasks as long as that lowers the fullest node."""
    problem = coupling.problem
    if coupling.by_size:
        if (state.memory > state.limit).any():
            _move(coupling, state, tasks, np.full(problem.nodes, coupling.most))
        if (state.memory <= state.limit).all():
            _exchange(coupling, state, tasks, cap)
    if len(tasks) <= MOST_PAIRED or not coupling.by_size:
        _move(coupling, state, tasks, cap)


def _exchange(coupling: Coupling, state: Any, tasks: Integers, cap: Integers) -> None:
    """Exchange tasks whose blocks are held, groups that use one block, and parts of groups."""
    problem, effort = coupling.problem, np.int64(STEPS_BY_SIZE)
    slowness = problem.slowness
    mean = int(state.load.sum()) // problem.nodes
    kernel = kernels("tasks.groups")
    for tolerance in (np.int64(mean >> GOOD_BITS), np.int64(mean >> TOLERANCE_BITS)):
        changed = True
        while changed and effort > 0:
            before = state.node.copy()
            effort = _exchange_fitting(state, tasks, cap, slowness, tolerance, effort)
            groups = _groups(coupling, state, tasks)
            effort = kernel.exchange_groups(state, groups, cap, slowness, effort)
            changed = not np.array_equal(state.node, before)


def _groups(coupling: Coupling, state: Any, tasks: Integers) -> Any:
    """Return the kernels' groups of the tasks that may move, the longest first."""
    n, blocks = coupling.problem.nodes, len(coupling.block_bytes)
    members = tasks[state.block[tasks] >= 0]
    members = members[np.argsort(state.block[members], kind="stable")]
    first = np.searchsorted(state.block[members], np.arange(blocks + 1))
    tables = [np.zeros((n, blocks), np.int64) for _ in range(3)]
    kernel = kernels("tasks.groups")
    groups = kernel.Groups(members, first, np.zeros(blocks, np.int64), *tables)
    kernel.add_members(state, groups)
    return groups


def _exchange_fitting(
    state: Any, tasks: Integers, cap: Integers, slowness: Any, tolerance: Any, effort: Any
) -> Any:
    """Exchange single tasks where memory allows it without blocks; return the effort left."""
    size, node, load = state.size[tasks], state.node[tasks], state.load.copy()
    lists = kernels("tasks.exchange").new_lists(size, node, np.ones(len(size), bool), len(load))
    return kernels("tasks.fitting").exchange_fitting(
        state, tasks, lists, size, node, load, cap, slowness, tolerance, effort
    )


def _move(coupling: Coupling, state: Any, tasks: Integers, cap: Integers) -> None:
    """Try all moves and exchanges of tasks and groups, messages and homes included."""
    problem = coupling.problem
    lower, effort = kernels("tasks.coupled").lower, np.int64(STEPS)
    while effort > 0:
        effort = lower(state, tasks, cap, problem.slowness, False, effort)
        before = state.node.copy()
        effort = lower(state, tasks, cap, problem.slowness, True, effort)
        if (state.node == before).all() and not _rearrange(coupling, state, tasks, cap):
            break


def _rearrange(coupling: Coupling, state: Any, tasks: Integers, cap: Integers) -> bool:
    """Share the tasks of the fullest node and few others anew, by search; return whether it did.

    All limits hold before and after, and the largest work of these nodes is less.
    """
    problem = coupling.problem
    work = state.load + np.maximum(state.sent, state.received)
    over = (work - cap) * problem.slowness
    fullest = int(np.argmax(np.where(problem.slowness > 0, over, -np.inf)))
    if (state.memory > state.limit).any() or over[fullest] <= 0:
        return False
    at = state.node[tasks]
    others = [u for u in np.argsort(over, kind="stable").tolist() if u != fullest]
    others = [u for u in others if problem.slowness[u] > 0][:MOST_PARTNERS]
    groups = [(u,) for u in others] + list(combinations(others[:FEWER_PARTNERS], 2))
    search = kernels("tasks.exact").search
    below = coupling.caps_below(Fraction(int(work[fullest])) / problem.weights[fullest])
    caps = np.maximum(below, work)
    for group in groups:
        nodes = [fullest, *group]
        chosen = tasks[np.isin(at, nodes)]
        if len(chosen) > MOST_REARRANGED:
            continue
        caps[nodes] = below[nodes]
        usable = np.zeros(problem.nodes, dtype=bool)
        usable[nodes] = True
        before = state.node[chosen].copy()
        place = kernels("tasks.coupled").put_some
        place(state, chosen, np.full(len(chosen), NOWHERE))
        result = search(
            state,
            chosen,
            problem.owner[chosen],
            caps,
            usable,
            np.int64(len(chosen)),
            np.int64(REARRANGING_STEPS),
        )
        if result == kernels("tasks.exact").FOUND:
            return True
        place(state, chosen, before)
        caps[nodes] = np.maximum(below, work)[nodes]
    return False


def _off_dead_nodes(problem: Problem, owner: Integers) -> Integers:
    """Put the tasks of nodes of weight 0 to those of the least load by weight."""
    alive = problem.slowness > 0
    if alive[owner].all():
        return owner
    owner = owner.copy()
    load = np.zeros(problem.nodes, np.int64)
    np.add.at(load, owner, problem.units)
    for task in problem.falling[~alive[owner[problem.falling]]].tolist():
        after = np.where(alive, (load + problem.units[task]) * problem.slowness, np.inf)
        owner[task] = int(np.argmin(after))
        load[owner[task]] += problem.units[task]
    return owner


def prove(problem: Problem, owner: Integers) -> tuple[Integers, str]:
    """Improve owners until that is proven impossible; return them, and a status.

    ``"optimal"``, ``"infeasible"``, or ``""`` where the search gave up.
    """
    kernel = kernels("tasks.exact")
    coupling = couple(problem)
    order = problem.falling
    tasks = order[problem.movable[order]]
    most = len(tasks) if problem.max_moves is None else min(problem.max_moves, len(tasks))
    usable = problem.slowness > 0
    fits = problem.allows(owner)
    caps = np.full(problem.nodes, coupling.most, np.int64)
    if fits:
        caps = coupling.caps_below(coupling.largest(coupling.state(owner)))
    aim = problem.bound * coupling.per_one
    while True:
        if fits and coupling.largest(coupling.state(owner)) <= aim:
            return owner, "optimal"
        waiting = owner.copy()
        waiting[tasks] = NOWHERE
        state = coupling.state(waiting)
        result = kernel.search(
            state, tasks, problem.owner[tasks], caps, usable, np.int64(most), np.int64(PROOF_STEPS)
        )
        if result == kernel.GAVE_UP:
            return owner, ""
        if result == kernel.NONE_EXISTS:
            return owner, "optimal" if fits else "infeasible"
        owner, fits = state.node, True
        caps = coupling.caps_below(coupling.largest(state))
