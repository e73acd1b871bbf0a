"""Exchanges of whole tasks between the fullest node and another, as long as they lower it.

Tasks are numbered by falling size. ``T`` tasks, ``N`` nodes; sizes, loads and caps are int64 units.
A node's excess is its load above its cap; by how much that counts is ``slowness``, 1 over the
node's weight, 0 for a node that takes no task.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tasklists import (
    NONE,
    SUBSET_TASKS,
    UNREACHED,
    nearest_exchange,
    nearest_subsets,
    new_lists,
    subset_sums,
    transfer,
)

# What is exchanged: one task for one or none; a long one for many; some for some.
ONE, MANY, SOME = 0, 1, 2
# Long tasks of the fullest node that are offered for many.
MOST_OFFERED = 8


@long_kernel
def exchange(size, node, movable, load, cap, slowness, start, neighbour, tolerance, effort):
    """Exchange tasks until no load is above its cap, or no exchange lowers the fullest node.

    ``node`` (T,) and ``load`` (N,) change. The neighbours of node u are
    ``neighbour[start[u]:start[u+1]]``: the fullest node tries near nodes first, and none that it
    cannot reach; where ``start`` is empty, those with the most room first. ``tolerance`` is an
    excess that counts as none, ``effort`` the most steps.
    """
    N = load.size
    lists = new_lists(size, node, movable, N)
    # Rows 0: the exchange in hand; rows 1: the best.
    give = np.empty((2, size.size + SUBSET_TASKS), np.int64)
    back = np.empty((2, size.size + SUBSET_TASKS), np.int64)
    order = np.empty(N, np.int64)
    tried = np.zeros(N, np.int64)
    trial = 0
    meter = new_meter()
    lowered = True
    while lowered and effort > 0:
        lowered = False
        u = _fullest(load, cap, slowness)
        if u == NONE or load[u] - cap[u] <= tolerance:
            break
        reached = N
        if start.size > 0:
            reached = _near_first(start, neighbour, slowness, u, order, tried, trial + 1)
            effort -= 2 * N
            trial += 1
        for kind in range(3):
            best_v = NONE
            best_gives = 0
            best_backs = 0
            best_value = (load[u] - cap[u]) * slowness[u]
            if start.size == 0:
                trial += 1
                tried[u] = trial
            for i in range(1, reached):
                v = order[i]
                if start.size == 0:
                    v = _emptiest(load, cap, slowness, tried, trial)
                    effort -= N
                    if v == NONE:
                        break
                    tried[v] = trial
                low, high = _aim(load, cap, slowness, u, v, tolerance)
                if high <= 0 or effort <= 0:
                    continue
                gives, backs, amount, steps = _proposal(
                    lists, size, u, v, low, high, kind, give[0], back[0]
                )
                effort -= steps
                value = max(
                    (load[u] - amount - cap[u]) * slowness[u],
                    (load[v] + amount - cap[v]) * slowness[v],
                )
                if amount <= 0 or value >= best_value:
                    continue
                best_v, best_gives, best_backs, best_value = v, gives, backs, value
                _copy(give, gives)
                _copy(back, backs)
                if 2 * amount >= low and load[v] + amount - cap[v] <= tolerance:
                    break
            if interrupted(meter, 64 * N):
                effort = 0
            if best_v != NONE:
                lowered = True
                for j in range(best_gives):
                    transfer(lists, size, node, load, give[1, j], best_v)
                for j in range(best_backs):
                    transfer(lists, size, node, load, back[1, j], u)
                break


@kernel
def _fullest(load, cap, slowness):
    """Return the node whose excess counts most, or NONE."""
    best = NONE
    best_value = 0.0
    for u in range(load.size):
        if slowness[u] > 0:
            value = (load[u] - cap[u]) * slowness[u]
            if best == NONE or value > best_value:
                best, best_value = u, value
    return best


@kernel
def _emptiest(load, cap, slowness, tried, trial):
    """Return the node with the most room of those not tried, or NONE."""
    best = NONE
    for u in range(load.size):
        usable = slowness[u] > 0 and tried[u] != trial
        if usable and (best == NONE or cap[u] - load[u] > cap[best] - load[best]):
            best = u
    return best


@kernel
def _near_first(start, neighbour, slowness, source, order, seen, trial):
    """List the nodes by how many links they are away; return how many can be reached."""
    seen[source] = trial
    order[0] = source
    reached = 1
    done = 0
    while done < reached:
        u = order[done]
        done += 1
        for j in range(start[u], start[u + 1]):
            v = neighbour[j]
            if seen[v] != trial and slowness[v] > 0:
                seen[v] = trial
                order[reached] = v
                reached += 1
    return reached


@kernel
def _aim(load, cap, slowness, u, v, tolerance):
    """Return the least and the largest amount that node u should give node v.

    All its excess where that fits, else what fits; where v has no room, half of the difference.
    """
    excess = load[u] - cap[u]
    room = cap[v] - load[v]
    if room > 0:
        return max(min(excess, room) - tolerance, 1), room + tolerance
    even = np.int64((excess * slowness[u] + room * slowness[v]) / (slowness[u] + slowness[v]))
    return even, even


@kernel
def _proposal(lists, size, u, v, low, high, kind, give, back):
    """List the tasks that u gives v and gets back; return how many, the amount and the steps."""
    if kind == ONE:
        t, s, amount, steps = nearest_exchange(lists, size, u, v, low, high)
        give[0] = t
        back[0] = s
        return np.int64(t != NONE), np.int64(s != NONE), amount, steps
    if kind == MANY:
        return _one_for_many(lists, size, u, v, low, high, give, back)
    return _some_for_some(lists, size, u, v, low, high, give, back)


@kernel
def _one_for_many(lists, size, u, v, low, high, give, back):
    """Offer each of the longest tasks of node u for many of v, longest first."""
    best = NONE
    best_miss = UNREACHED
    steps = 0
    t = lists.longest[u]
    for _ in range(MOST_OFFERED):
        if t == NONE or size[t] <= low or best_miss == 0:
            break
        missing = size[t] - low
        s = lists.longest[v]
        while s != NONE and missing > 0:
            steps += 1
            if size[s] <= missing:
                missing -= size[s]
            s = lists.shorter[s]
        miss = max(low + missing - high, 0)
        if miss < best_miss:
            best, best_miss = t, miss
        t = lists.shorter[t]
    if best == NONE:
        return 0, 0, 0, steps
    give[0] = best
    missing = size[best] - low
    backs = 0
    s = lists.longest[v]
    while s != NONE and missing > 0:
        if size[s] <= missing:
            missing -= size[s]
            back[backs] = s
            backs += 1
        s = lists.shorter[s]
    return 1, backs, low + missing, steps


@kernel
def _some_for_some(lists, size, u, v, low, high, give, back):
    """Choose among all subsets of some tasks of both nodes."""
    tasks = np.empty((2, SUBSET_TASKS), np.int64)
    sums = np.empty((2, 2**SUBSET_TASKS), np.int64)
    subsets = np.empty((2, 2**SUBSET_TASKS), np.int64)
    mine = subset_sums(lists, size, u, tasks[0], sums[0], subsets[0])
    other = subset_sums(lists, size, v, tasks[1], sums[1], subsets[1])
    i, j, amount = nearest_subsets(sums[0], mine, sums[1], other, low, high)
    gives = 0
    backs = 0
    for k in range(SUBSET_TASKS):
        if subsets[0, i] >> k & 1:
            give[gives] = tasks[0, k]
            gives += 1
        if subsets[1, j] >> k & 1:
            back[backs] = tasks[1, k]
            backs += 1
    return gives, backs, amount, 3 * (mine + other)


@kernel
def _copy(rows, count):
    for i in range(count):
        rows[1, i] = rows[0, i]
