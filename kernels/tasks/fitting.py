"""Exchanges of one task for one or none that keep limits of memory, and bring no block anywhere.

Tasks are numbered by falling size: number k is ``tasks[k]`` of the state. See
``kernels/shared/taskstate.py`` for the state; sizes alone make up the work here, and no node is
above its limit of memory. ``K`` tasks, ``N`` nodes.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tasklists import NONE, UNREACHED, aim, fullest, transfer, value_after
from ..shared.taskstate import put


@long_kernel
def exchange_fitting(state, tasks, lists, size, node, load, cap, slowness, tolerance, effort):
    """Exchange tasks until no load is above its cap, or none lowers the fullest node.

    ``lists``, ``size`` (K,), ``node`` (K,) and ``load`` (N,) are by number, and change as the state
    does. ``tolerance`` is an excess that counts as none, ``effort`` the most steps; return how many
    remain.
    """
    N = load.size
    meter = new_meter()
    lowered = True
    while lowered and effort > 0:
        lowered = False
        u = fullest(load, cap, slowness)
        if load[u] - cap[u] <= tolerance:
            break
        total = 2 * N
        best_v = NONE
        best_task = NONE
        best_back = NONE
        best_value = value_after(load, cap, slowness, u, u, 0)
        for v in range(N):
            low, high = aim(load, cap, slowness, u, v, tolerance)
            if v == u or slowness[v] == 0 or high <= 0 or total > effort:
                continue
            k, back, amount, steps = _nearest_fitting(state, tasks, lists, size, u, v, low, high)
            total += steps
            value = value_after(load, cap, slowness, u, v, amount)
            if k != NONE and value < best_value:
                best_v, best_task, best_back, best_value = v, k, back, value
                if 2 * amount >= low and load[v] + amount - cap[v] <= tolerance:
                    break
        if best_v != NONE:
            lowered = True
            for k, v in ((best_task, best_v), (best_back, u)):
                if k != NONE:
                    transfer(lists, size, node, load, k, v)
                    put(state, tasks[k], v)
        effort -= total
        if interrupted(meter, 4 * total):
            effort = 0
    return effort


@kernel
def _nearest_fitting(state, tasks, lists, size, u, v, low, high):
    """Return the exchange that takes an amount within low .. high, or nearest to it, off node u.

    As ``nearest_exchange`` does, of tasks that both nodes have memory for.
    """
    longer = lists.longer
    best = NONE
    best_back = NONE
    best_amount = np.int64(0)
    best_miss = UNREACHED
    back = NONE
    next_back = _held(state, tasks, longer, lists.shortest[v], u)
    k = _held(state, tasks, longer, lists.shortest[u], v)
    steps = 0
    while k != NONE and best_miss > 0:
        steps += 1
        while next_back != NONE and size[next_back] <= size[k] - low:
            back = next_back
            next_back = _held(state, tasks, longer, longer[next_back], u)
            steps += 1
        for s in (back, next_back):
            amount = size[k]
            if s != NONE:
                amount -= size[s]
            miss = max(low - amount, amount - high, 0)
            if amount > 0 and miss < best_miss and _fits(state, tasks, u, v, k, s):
                best, best_back, best_amount, best_miss = k, s, amount, miss
        k = _held(state, tasks, longer, longer[k], v)
    return best, best_back, best_amount, steps


@inlined
def _held(state, tasks, longer, k, u):
    """Return task k or the next longer one of its list whose block node u holds, NONE if none."""
    while k != NONE:
        b = state.block[tasks[k]]
        if b == NONE or state.users[u, b] > 0:
            break
        k = longer[k]
    return k


@inlined
def _fits(state, tasks, u, v, k, back):
    """Tell whether two nodes keep their limits of memory if k goes to v, and ``back`` to u."""
    t = tasks[k]
    here = state.memory[u] - state.own[t]
    there = state.memory[v] + state.own[t] + max(state.working[t] - state.peak[v], 0)
    if back != NONE:
        s = tasks[back]
        here += state.own[s] + max(state.working[s] - state.peak[u], 0)
        there -= state.own[s]
    return here <= state.limit[u] and there <= state.limit[v]
