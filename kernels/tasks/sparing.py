"""Exchanges with the fullest node that move little, for nodes of few tasks.

See ``exchange.py`` for the arguments. A task moves if it is not at its origin at the end: exchanges
of tasks that are elsewhere anyway cost nothing.
"""

import numpy as np

from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tasklists import NONE, aim, fullest, transfer


@long_kernel
def exchange_sparingly(
    lists, size, origin, node, load, cap, slowness, tolerance, step_cost, effort
):
    """Exchange tasks until no load is above its cap, or none lowers the fullest node.

    Of the exchanges that bring a node to its cap, within the tolerance, that is made which moves
    least for what it takes off the fullest node, and of these few exchanges: one more counts as
    moving ``step_cost``. Where there is none, the one that lowers most. ``origin`` (T,) is where
    tasks were. Return the effort that remains.
    """
    N = load.size
    meter = new_meter()
    lowered = True
    while lowered and effort > 0:
        lowered = False
        u = fullest(load, cap, slowness)
        excess = load[u] - cap[u]
        if excess <= tolerance:
            break
        steps = 2 * N
        best_v = NONE
        best_task = NONE
        best_back = NONE
        best_cost = np.inf
        best_value = excess * slowness[u]
        for v in range(N):
            low, high = aim(load, cap, slowness, u, v, tolerance)
            room = cap[v] - load[v]
            if v == u or slowness[v] == 0 or high <= 0 or steps > effort:
                continue
            # Once an exchange brings a node to its cap, only such count.
            if room <= 0 and best_cost < np.inf:
                continue
            t = lists.shortest[u]
            # The longest task of v that leaves at least ``low``, and the next longer one.
            back = NONE
            next_back = lists.shortest[v]
            while t != NONE:
                while next_back != NONE and size[next_back] <= size[t] - low:
                    back = next_back
                    next_back = lists.longer[next_back]
                    steps += 1
                s = next_back
                if s == NONE or size[s] >= size[t]:
                    s = back
                go_on = True
                while go_on:
                    steps += 1
                    amount = size[t]
                    if s != NONE:
                        amount -= size[s]
                    if low <= amount <= high and room > 0:
                        cost = step_cost + _moved(size, origin, t, u, v)
                        if s != NONE:
                            cost += _moved(size, origin, s, v, u)
                        cost /= min(excess, room)
                        if cost < best_cost:
                            best_cost = cost
                            best_v, best_task, best_back = v, t, s
                    elif best_cost == np.inf:
                        value = max((excess - amount) * slowness[u], (amount - room) * slowness[v])
                        if value < best_value:
                            best_value = value
                            best_v, best_task, best_back = v, t, s
                    go_on = s != NONE and amount <= high
                    if go_on and s == next_back:
                        s = back
                    elif go_on:
                        s = lists.shorter[s]
                t = lists.longer[t]
        if best_v != NONE:
            lowered = True
            for t, v in ((best_task, best_v), (best_back, u)):
                if t != NONE:
                    transfer(lists, size, node, load, t, v)
        effort -= steps
        if interrupted(meter, 4 * steps):
            effort = 0
    return effort


@inlined
def _moved(size, origin, t, source, target):
    """Return how much more is moved once a task goes from one node to another."""
    amount = np.int64(0)
    if origin[t] == source:
        amount = size[t]
    elif origin[t] == target:
        amount = -size[t]
    return amount
