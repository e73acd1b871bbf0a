"""Whole tasks whose places depend on each other: moves and exchanges of single tasks and of groups.

A group is the movable tasks of a node that use one block. See ``kernels/shared/taskstate.py`` for
the state. ``T`` tasks, ``N`` nodes; a node's excess is its work above its cap, and counts as much
as ``slowness`` says, 0 for a node that takes no task.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.taskstate import NONE, put, work_of

# Steps that putting a task elsewhere and back counts as.
STEPS_OF_A_TRIAL = 64
# What the excess of nodes other than the fullest counts.
SHARE_OF_OTHERS = 2.0**-20


@kernel
def put_some(state, tasks, nodes):
    """Put each of some tasks to its node, or nowhere."""
    for k in range(tasks.size):
        put(state, tasks[k], nodes[k])


@long_kernel
def lower(state, tasks, cap, slowness, thorough, effort):
    """Lower the fullest node as long as that works; return the effort that remains.

    First that farthest above its limit of memory, then that of the largest excess. ``tasks`` (K,)
    may move, the longest first. Either the longest task goes that its excess has room for; or, if
    ``thorough``, once, what lowers it most: a task or group that goes, or is exchanged for one.
    """
    K = tasks.size
    N = cap.size
    # Rows 0: what is tried; rows 1: the best.
    gives = np.empty((2, K), np.int64)
    backs = np.empty((2, K), np.int64)
    # Whether sizes alone make up the work.
    by_size = state.other.size == 0
    for b in range(state.home_cost.size):
        by_size = by_size and state.home_cost[b] == 0
    meter = new_meter()
    lowered = True
    while lowered and effort > 0:
        lowered = False
        u = _fullest(state, cap, slowness)
        by_memory = state.memory[u] > state.limit[u]
        if not by_memory and work_of(state, u) <= cap[u]:
            break
        least = _score(state, cap, slowness, u, u, by_memory)
        steps = N
        best = 0
        best_back = 0
        best_v = NONE
        # Each task of node u, and, after the first of a group, the whole group.
        for item in range(2 * K):
            if (best > 0 and not thorough) or steps > effort:
                break
            i = item // 2
            if state.node[tasks[i]] != u or (item % 2 == 1 and not thorough):
                continue
            if not (thorough or by_memory) and work_of(state, u) - state.size[tasks[i]] < cap[u]:
                continue
            count = _gather(state, tasks, i, item % 2, gives[0])
            steps += N + K
            if thorough:
                steps += 2 * K
            going = 0
            for k in range(count):
                going += state.size[gives[0, k]]
            if interrupted(meter, 16 * (N + K)):
                effort = 0
            # It goes to every node for nothing; then to another for each task and group there.
            for other in range(N + 2 * K if thorough else N):
                back = 0
                v = other
                if other >= N:
                    j = (other - N) // 2
                    v = state.node[tasks[j]]
                    if v != u and count > 0:
                        back = _gather(state, tasks, j, (other - N) % 2, backs[0])
                    if back == 0:
                        continue
                if v == u or slowness[v] == 0 or count == 0:
                    continue
                amount = going
                for k in range(back):
                    amount -= state.size[backs[0, k]]
                mine = (work_of(state, u) - amount - cap[u]) * slowness[u]
                theirs = (work_of(state, v) + amount - cap[v]) * slowness[v]
                if by_size and not by_memory and max(mine, theirs) >= least:
                    continue
                for k in range(count):
                    put(state, gives[0, k], v)
                for k in range(back):
                    put(state, backs[0, k], u)
                steps += STEPS_OF_A_TRIAL * (count + back)
                score = _score(state, cap, slowness, u, v, by_memory)
                if score < least:
                    least, best, best_back, best_v = score, count, back, v
                    for k in range(count):
                        gives[1, k] = gives[0, k]
                    for k in range(back):
                        backs[1, k] = backs[0, k]
                for k in range(count):
                    put(state, gives[0, k], u)
                for k in range(back):
                    put(state, backs[0, k], v)
        for k in range(best):
            put(state, gives[1, k], best_v)
        for k in range(best_back):
            put(state, backs[1, k], u)
        lowered = best > 0 and not thorough
        effort -= steps + K // 4
    return effort


@kernel
def _fullest(state, cap, slowness):
    """Return the node farthest above its limit of memory, or else that of the largest excess."""
    best = 0
    above = 0
    value = -np.inf
    for u in range(cap.size):
        if state.memory[u] - state.limit[u] > above:
            best = u
            above = state.memory[u] - state.limit[u]
        own = (work_of(state, u) - cap[u]) * slowness[u]
        if above == 0 and slowness[u] > 0 and own > value:
            best, value = u, own
    return best


@kernel
def _score(state, cap, slowness, u, v, by_memory):
    """Return what is to fall: memory above the limits of two nodes, or the largest excess."""
    above = max(state.memory[u] - state.limit[u], 0)
    if v != u:
        above += max(state.memory[v] - state.limit[v], 0)
    if by_memory:
        return float(above)
    if above > 0:
        return np.inf
    worst = max(
        (work_of(state, u) - cap[u]) * slowness[u], (work_of(state, v) - cap[v]) * slowness[v]
    )
    if state.other.size > 0:
        # Messages change the work of other nodes; where several are the fullest, one after the
        # other falls.
        total = 0.0
        for w in range(cap.size):
            own = (work_of(state, w) - cap[w]) * slowness[w]
            worst = max(worst, own)
            total += max(own, 0.0)
        worst += total * SHARE_OF_OTHERS
    return worst


@inlined
def _gather(state, tasks, i, as_group, gathered):
    """List the task at a place, or its group where it is the first of one; return how many."""
    t = tasks[i]
    count = 1
    gathered[0] = t
    if as_group == 1:
        count = 0
        for j in range(tasks.size):
            s = tasks[j]
            same = state.block[t] != NONE and state.block[s] == state.block[t]
            if same and state.node[s] == state.node[t]:
                if j < i:
                    break
                gathered[count] = s
                count += 1
        if count == 1:
            count = 0
    return count
