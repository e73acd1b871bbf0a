"""Whole tasks whose places depend on each other: moves and exchanges of single tasks and of groups.

A group is the movable tasks of a node that use one block. See ``kernels/shared/taskstate.py`` for
the state. ``T`` tasks, ``N`` nodes; a node's excess is its work above its cap, and counts as much
as ``slowness`` says, 0 for a node that takes no task.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.taskstate import NONE, put, remove, work_of

# What the excess of nodes other than the fullest counts.
SHARE_OF_OTHERS = 2.0**-20


@long_kernel
def improve(state, tasks, cap, slowness, effort):
    """Move tasks until limits hold and no move or exchange lowers the fullest node; return whether.

    ``tasks`` (K,) may move, the longest first. The result is whether every limit of memory holds.
    """
    meter = new_meter()
    K = tasks.size
    mine = np.empty((2, K), np.int64)
    group = np.empty((2, K), np.int64)
    while True:
        u = _fullest_memory(state)
        by_memory = u != NONE
        if not by_memory:
            u = _fullest(state, cap, slowness)
            if u == NONE or work_of(state, u) <= cap[u]:
                break
        steps = _longest_that_fits(state, tasks, cap, slowness, u, by_memory)
        if steps > 0:
            steps = _best_move(state, tasks, cap, slowness, u, by_memory, mine, group)
        effort -= abs(steps)
        if steps > 0 or effort < 0 or interrupted(meter, 16 * abs(steps)):
            break
    return _fullest_memory(state) == NONE


@kernel
def _fullest_memory(state):
    """Return the node farthest above its limit of memory, or NONE."""
    best = NONE
    above = 0
    for u in range(state.load.size):
        if state.memory[u] - state.limit[u] > above:
            best = u
            above = state.memory[u] - state.limit[u]
    return best


@kernel
def _fullest(state, cap, slowness):
    """Return the node whose excess counts most, or one that takes no task and has one."""
    best = NONE
    value = 0.0
    for u in range(cap.size):
        own = (work_of(state, u) - cap[u]) * slowness[u]
        if best == NONE or own > value:
            best, value = u, own
    return best


@kernel
def _score(state, cap, slowness, u, v, by_memory):
    """Return what is to fall: memory above the limits of two nodes, or the largest excess.

    Beside two nodes' own work, messages change the work of others.
    """
    above = max(state.memory[u] - state.limit[u], 0) + max(state.memory[v] - state.limit[v], 0)
    if by_memory:
        return float(above)
    if above > 0 or slowness[v] == 0:
        return np.inf
    worst = max(
        (work_of(state, u) - cap[u]) * slowness[u], (work_of(state, v) - cap[v]) * slowness[v]
    )
    if state.other.size > 0:
        # Where several are the fullest, one after the other falls.
        total = 0.0
        for w in range(cap.size):
            own = (work_of(state, w) - cap[w]) * slowness[w]
            worst = max(worst, own)
            total += max(own, 0.0)
        worst += total * SHARE_OF_OTHERS
    return worst


@kernel
def _longest_that_fits(state, tasks, cap, slowness, u, by_memory):
    """Move the longest task off node u that leaves neither node above its cap, or a limit broken.

    It goes where the room is largest. Return the steps: negative where a task was moved.
    """
    steps = 0
    for i in range(tasks.size):
        t = tasks[i]
        if state.node[t] != u or by_memory or work_of(state, u) - state.size[t] < cap[u]:
            continue
        before = _score(state, cap, slowness, u, u, False)
        best = NONE
        best_room = 0
        remove(state, t)
        for v in range(cap.size):
            if v == u or slowness[v] == 0:
                continue
            steps += 1
            room = cap[v] - work_of(state, v) - state.size[t]
            if room >= 0 and (best == NONE or room > best_room):
                put(state, t, v)
                if _score(state, cap, slowness, u, v, False) < before:
                    best, best_room = v, room
                remove(state, t)
        if best != NONE:
            put(state, t, best)
            return -steps - 1
        put(state, t, u)
    return steps + 1


@kernel
def _best_move(state, tasks, cap, slowness, u, by_memory, mine, group):
    """Do what lowers node u most: a task or group that goes, or is exchanged for one.

    Return the steps: negative where something was moved.
    """
    N = cap.size
    K = tasks.size
    steps = 0
    # Of the best: how many tasks leave u, how many come, and the other node.
    best = 0
    best_back = 0
    best_v = NONE
    least = _score(state, cap, slowness, u, u, by_memory) / (2.0 if by_memory else 1.0)
    for i in range(K):
        if state.node[tasks[i]] != u:
            continue
        for as_group in range(2):
            count = _gather(state, tasks, i, as_group, mine[0])
            if count == 0:
                continue
            _send(state, mine[0], count, NONE)
            for v in range(N):
                if v == u or slowness[v] == 0:
                    continue
                _send(state, mine[0], count, v)
                steps += count
                score = _score(state, cap, slowness, u, v, by_memory)
                if score < least:
                    least, best, best_back, best_v = score, count, 0, v
                    _copy(mine[0], mine[1], count)
                _send(state, mine[0], count, NONE)
            for j in range(K):
                v = state.node[tasks[j]]
                if v < 0 or v == u or slowness[v] == 0:
                    continue
                for back_as_group in range(2):
                    back = _gather(state, tasks, j, back_as_group, group[0])
                    if back == 0:
                        continue
                    _send(state, group[0], back, NONE)
                    _send(state, mine[0], count, v)
                    _send(state, group[0], back, u)
                    steps += 2 * (count + back)
                    score = _score(state, cap, slowness, u, v, by_memory)
                    if score < least:
                        least, best, best_back, best_v = score, count, back, v
                        _copy(mine[0], mine[1], count)
                        _copy(group[0], group[1], back)
                    _send(state, mine[0], count, NONE)
                    _send(state, group[0], back, NONE)
                    _send(state, group[0], back, v)
            _send(state, mine[0], count, u)
    if best == 0:
        return steps + 1
    _send(state, mine[1], best, NONE)
    _send(state, group[1], best_back, NONE)
    _send(state, mine[1], best, best_v)
    _send(state, group[1], best_back, u)
    return -steps - 1


@kernel
def _gather(state, tasks, i, as_group, gathered):
    """List the task at a place, or its group where it is the first of one; return how many."""
    t = tasks[i]
    if not as_group:
        gathered[0] = t
        return 1
    b = state.block[t]
    if b == NONE:
        return 0
    count = 0
    for j in range(tasks.size):
        s = tasks[j]
        if state.node[s] == state.node[t] and state.block[s] == b:
            if j < i:
                return 0
            gathered[count] = s
            count += 1
    return count if count > 1 else 0


@kernel
def _send(state, gathered, count, u):
    """Put tasks to a node, or take them off theirs where it is NONE."""
    for i in range(count):
        if u == NONE:
            remove(state, gathered[i])
        else:
            put(state, gathered[i], u)


@kernel
def _copy(source, target, count):
    for i in range(count):
        target[i] = source[i]
