"""As low a largest load as few moves give, by single tasks that go and exchanges, of two moves.

Tasks are numbered by falling size: number k is ``tasks[k]`` of the state, which is None where no
node has a limit of memory; then nothing of it is compiled. Sizes alone make up the work. A task is
moved while it is not at its ``origin`` (K,), so that a task that goes back gives a move back. See
``kernels/shared/taskstate.py`` and ``kernels/shared/tasklists.py``. ``K`` tasks, ``N`` nodes.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tasklists import NONE, fullest, nearest_exchange, transfer
from ..shared.taskstate import put


@long_kernel
def descend(
    state, tasks, lists, size, origin, node, load, enough, slowness, exchanges, moves,
    effort,
):  # fmt: skip
    """Lower the fullest node, each time as far as one step does, within a number of moves.

    A step is the move, or with ``exchanges`` the exchange, after which the larger of the loads of
    its two nodes is least by weight. Where none helps, a moved task that goes back frees a move for
    one. That ends once no load is above ``enough`` (N,). ``lists``, ``node`` (K,), ``load`` (N,)
    and the state change. ``moves`` is how many remain, ``effort`` the most steps of the search;
    return both, as they remain.
    """
    K = size.size
    nothing = np.zeros(load.size, np.int64)
    meter = new_meter()
    lowered = True
    while lowered and effort > 0:
        lowered = False
        u = fullest(load, nothing, slowness)
        if load[u] <= enough[u]:
            break
        # Place -1: no task goes back before the step.
        k = np.int64(-1)
        while k < K and not lowered and effort > 0:
            place = NONE
            if k >= 0:
                place = node[k]
                home = origin[k]
                returns = place != home and slowness[home] > 0
                if returns:
                    returns = (load[home] + size[k]) * slowness[home] < load[u] * slowness[u]
                if not returns or not _fits(state, tasks, k, NONE, home):
                    k += 1
                    continue
                _go(state, tasks, lists, size, node, load, k, home)
                moves += 1
            v, going, back, change, steps = _best_step(
                state, tasks, lists, size, origin, load, slowness, u, exchanges, moves,
                effort,
            )  # fmt: skip
            effort -= steps
            if interrupted(meter, 4 * steps):
                effort = 0
            if v != NONE:
                lowered = True
                moves -= change
                for t, w in ((going, v), (back, u)):
                    if t != NONE:
                        _go(state, tasks, lists, size, node, load, t, w)
            elif place != NONE:
                _go(state, tasks, lists, size, node, load, k, place)
                moves -= 1
            if not exchanges:
                break
            k += 1
    return moves, effort


@kernel
def _best_step(state, tasks, lists, size, origin, load, slowness, u, exchanges, moves, effort):
    """Return the step that lowers node u most: where to, the task, one for it or NONE.

    Then how many moves it takes, and the steps of the search. The node is NONE if there is none.
    """
    N = load.size
    best_v = NONE
    best_task = NONE
    best_back = NONE
    best_change = np.int64(0)
    best = load[u] * slowness[u]
    emptiest = NONE
    for v in range(N):
        if slowness[v] == 0 or v == u:
            continue
        if emptiest == NONE or load[v] * slowness[v] < load[emptiest] * slowness[emptiest]:
            emptiest = np.int64(v)
    steps = np.int64(2 * N)
    # The emptiest node comes first, then all others by number.
    for place in range(-1, N):
        v = emptiest if place < 0 else np.int64(place)
        if emptiest == NONE or v == u or slowness[v] == 0 or place == emptiest:
            continue
        # Where both would be equal by weight is below any step.
        if (load[u] + load[v]) / (1 / slowness[u] + 1 / slowness[v]) >= best or steps > effort:
            continue
        t = lists.longest[u]
        s = lists.longest[v]
        while t != NONE and (load[u] - size[t]) * slowness[u] < best:
            steps += 1
            change = _change(origin, t, u, v)
            value = _larger(load, slowness, u, v, size[t])
            if value < best and change <= moves and _fits(state, tasks, t, NONE, v):
                best_v, best_task, best_back, best_change, best = v, t, NONE, change, value
            if exchanges:
                # Tasks for which u gives too little go by for all shorter t as well.
                while s != NONE and (load[u] - size[t] + size[s]) * slowness[u] >= best:
                    s = lists.shorter[s]
                    steps += 1
                back = s
                while back != NONE and (load[v] + size[t] - size[back]) * slowness[v] < best:
                    steps += 1
                    if steps > effort:
                        break
                    both = change + _change(origin, back, v, u)
                    value = _larger(load, slowness, u, v, size[t] - size[back])
                    fits = value < best and both <= moves
                    if fits and _fits(state, tasks, t, back, v):
                        best_v, best_task, best_back, best_change, best = v, t, back, both, value
                    back = lists.shorter[back]
            t = lists.shorter[t]
    return best_v, best_task, best_back, best_change, steps


@long_kernel
def reach(state, tasks, lists, size, node, load, cap, slowness, moves, effort):
    """Bring all loads to their caps (N,) with few moves, as far as that works.

    The node of the largest excess gives first. Of its tasks that fit a node, the shortest that is
    no shorter than the excess goes, or else the longest; or tasks are exchanged if that takes off
    more a move.
    ``lists``, ``node`` (K,), ``load`` (N,) and the state change. Return how many of the ``moves``
    and of the ``effort`` remain.
    """
    N = load.size
    meter = new_meter()
    going = True
    while going and moves > 0 and effort > 0:
        u = fullest(load, cap, slowness)
        excess = load[u] - cap[u]
        if excess <= 0:
            break
        steps = np.int64(2 * N)
        best_v = NONE
        best_task = NONE
        best_back = NONE
        widest = np.int64(0)
        for v in range(N):
            if v != u and slowness[v] > 0:
                widest = max(widest, cap[v] - load[v])
        t = lists.longest[u]
        while t != NONE and (best_task == NONE or size[t] >= excess):
            following = lists.shorter[t]
            # Without limits of memory the following one fits where this one does.
            shorter = state is None and following != NONE and size[following] >= excess
            if size[t] > widest or shorter:
                steps += 1
                t = following
                continue
            # The node that has least room for it, but enough.
            target = NONE
            for v in range(N):
                room = cap[v] - load[v] - size[t]
                if v == u or slowness[v] == 0 or room < 0:
                    continue
                nearer = target == NONE or room < cap[target] - load[target] - size[t]
                if nearer and _fits(state, tasks, t, NONE, v):
                    target = v
            steps += N
            if target != NONE:
                best_v, best_task = target, t
            t = following
        amount = np.int64(0)
        longest = np.int64(0)
        if best_task != NONE:
            amount = min(size[best_task], excess)
        if lists.longest[u] != NONE:
            longest = size[lists.longest[u]]
        for v in range(N):
            room = min(excess, cap[v] - load[v])
            if v == u or slowness[v] == 0 or moves < 2 or min(room, longest) <= 2 * amount:
                continue
            t, back, off, some = nearest_exchange(lists, size, u, v, room, cap[v] - load[v])
            steps += some
            if back == NONE or off > cap[v] - load[v] or min(off, excess) <= 2 * amount:
                continue
            if _fits(state, tasks, t, back, v):
                best_v, best_task, best_back = v, t, back
                amount = min(off, excess) // 2
        going = best_v != NONE
        if going:
            for t, v in ((best_task, best_v), (best_back, u)):
                if t != NONE:
                    _go(state, tasks, lists, size, node, load, t, v)
                    moves -= 1
        effort -= steps
        if interrupted(meter, 4 * steps):
            effort = 0
    return moves, effort


@inlined
def _larger(load, slowness, u, v, amount):
    """Return the larger of the loads of two nodes, by weight, once u gave v an amount."""
    return max((load[u] - amount) * slowness[u], (load[v] + amount) * slowness[v])


@inlined
def _change(origin, t, source, target):
    """Return how many more tasks are moved once a task goes from one node to another."""
    change = np.int64(0)
    if origin[t] == source:
        change = np.int64(1)
    elif origin[t] == target:
        change = np.int64(-1)
    return change


@kernel
def _go(state, tasks, lists, size, node, load, t, v):
    """Move a task to a node, in the state as well where memory counts."""
    transfer(lists, size, node, load, t, v)
    if state is not None:
        put(state, tasks[t], v)


@kernel
def _fits(state, tasks, t, back, v):
    """Tell whether two nodes keep their limits of memory if t goes to v, for one or NONE."""
    if state is None:
        return True
    u = state.node[tasks[t]]
    put(state, tasks[t], v)
    if back != NONE:
        put(state, tasks[back], u)
    fits = state.memory[u] <= state.limit[u] and state.memory[v] <= state.limit[v]
    put(state, tasks[t], u)
    if back != NONE:
        put(state, tasks[back], v)
    return fits
