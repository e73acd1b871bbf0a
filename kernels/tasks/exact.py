"""Few movable tasks: whether any owners keep every node's work within its cap.

Depth first, the longest task first. Work and memory only grow as tasks are put, so a node above its
cap or limit ends a branch. ``K`` movable tasks, ``N`` nodes.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.taskstate import NONE, put, work_of

FOUND, NONE_EXISTS, GAVE_UP = 1, 0, -1


@long_kernel
def search(state, tasks, origin, cap, usable, most_moves, effort):
    """Put tasks within all caps and limits; return FOUND, NONE_EXISTS or GAVE_UP.

    ``state`` has the movable ``tasks`` (K,) nowhere, the longest first, and the others at their
    nodes; where the result is FOUND, all are put. ``origin`` (K,) is where each was, ``cap`` (N,)
    the most work, ``usable`` (N,) whether a node takes tasks, ``most_moves`` how many may move.
    """
    K = tasks.size
    N = cap.size
    # choice[k]: how many nodes were tried for the task in hand, its origin first.
    choice = np.zeros(K + 1, np.int64)
    # remaining[k], memory[k]: of tasks k and on, the sums of their sizes and of their own memory.
    remaining = np.zeros(K + 1, np.int64)
    memory = np.zeros(K + 1, np.int64)
    shortest = np.int64(0)
    for k in range(K - 1, -1, -1):
        remaining[k] = remaining[k + 1] + state.size[tasks[k]]
        memory[k] = memory[k + 1] + state.own[tasks[k]]
        shortest = state.size[tasks[K - 1]]
    meter = new_meter()
    moves = 0
    k = 0
    if not _hopeful(state, cap, usable, remaining[0], shortest, memory[0]):
        return NONE_EXISTS
    while k >= 0:
        if k == K:
            return FOUND
        t = tasks[k]
        if state.node[t] != NONE:
            if state.node[t] != origin[k]:
                moves -= 1
            put(state, t, NONE)
        descended = False
        while choice[k] < N and not descended:
            u = _candidate(choice[k], origin[k])
            choice[k] += 1
            if not usable[u] or (u != origin[k] and moves == most_moves):
                continue
            if state.load[u] + state.size[t] > cap[u]:
                continue
            if most_moves >= K and _seen(state, cap, usable, choice[k] - 1, origin[k], u):
                continue
            put(state, t, u)
            effort -= N
            if _hopeful(state, cap, usable, remaining[k + 1], shortest, memory[k + 1]):
                descended = True
            else:
                put(state, t, NONE)
        if descended:
            if u != origin[k]:
                moves += 1
            k += 1
            choice[k] = 0
        else:
            k -= 1
        if effort < 0 or interrupted(meter, 8 * N):
            for k in range(K):
                put(state, tasks[k], NONE)
            return GAVE_UP
    return NONE_EXISTS


@inlined
def _candidate(place, origin):
    """Return the node tried at a place of the order: the origin, then all others by number."""
    candidate = place
    if place == 0:
        candidate = origin
    elif place <= origin:
        candidate = place - 1
    return candidate


@kernel
def _seen(state, cap, usable, places, origin, u):
    """Tell whether a node tried before is like node u in all that matters."""
    for b in range(state.users.shape[1]):
        if state.users[u, b] != 0 or state.home_cost[b] != 0:
            return False
    if state.other.size > 0:
        return False
    for place in range(places):
        v = _candidate(place, origin)
        same = usable[v] and state.load[v] == state.load[u] and cap[v] == cap[u]
        same = same and state.peak[v] == state.peak[u]
        if same and state.memory[v] == state.memory[u] and state.limit[v] == state.limit[u]:
            empty = True
            for b in range(state.users.shape[1]):
                if state.users[v, b] != 0:
                    empty = False
            if empty:
                return True
    return False


@kernel
def _hopeful(state, cap, usable, remaining, shortest, memory):
    """Tell whether all nodes keep their limits, and have room for what remains.

    ``remaining`` and ``memory`` are sums, of sizes and memory; ``shortest`` is the least size.
    """
    room = 0
    free = 0
    for u in range(cap.size):
        here = cap[u] - work_of(state, u)
        if here < 0 or state.memory[u] > state.limit[u]:
            return False
        # Room for less than the shortest task that remains is of no use.
        if usable[u] and here >= shortest:
            room = min(room + min(here, remaining), remaining)
            free = min(free + min(state.limit[u] - state.memory[u], memory), memory)
    return room >= remaining and free >= memory
