"""Task exchange along one line, round by round, for given flows (Wu-Shu Figs 5 and 6).

Link i joins node i with i + 1 mod k; on a chain the last link has no flow. All ports work at once,
full duplex; what arrives is usable in the next round. The flow of a link is sent whole:

    receive-before-send (Fig. 5)    once all that its node awaits has arrived
    send-before-receive (Fig. 6)    once its node holds as much; over the lower link first
"""

import numpy as np

from ..shared.compiling import inlined
from ..shared.interrupts import STRETCH, interrupted, long_kernel, new_meter


@inlined
def _may_send(held, flow, receive_first, strict, slack):
    """Tell whether a node that holds ``held`` and need not wait may send ``flow`` over a link."""
    if flow <= 0:
        return False
    if strict:
        return held > flow
    return receive_first or held + slack >= flow


@long_kernel
def exchange(held, resident, pending, receive_first, strict, slack):
    """Carry out the flows ``pending`` (k,), link i's positive towards i + 1; return the rounds.

    ``held`` (k,) become the final loads, ``resident`` (k,), the loads at first, the units that
    never left; all are int64 or all float64. ``receive_first`` : receive-before-send. ``strict`` :
    a node must hold more than it sends, as printed. ``slack`` : by how much less it may hold, for
    rounding of floats. What is still pending afterwards is deadlocked. A node is looked at again
    once something has come, so the work grows with nodes and transfers alone.
    """
    k = held.size
    changed = np.arange(k)
    count = k
    changed_next = np.empty(k, changed.dtype)
    # The round in which a node was last put on the list of changed ones.
    listed = np.zeros(k, np.int64)
    to = np.empty(2 * k, changed.dtype)
    amount = np.empty(2 * k, held.dtype)
    # How many arrivals each node has yet to receive.
    awaited = np.zeros(k, np.int64)
    rounds, meter = 0, new_meter()
    for i in range(k):
        if i & STRETCH - 1 == STRETCH - 1 and interrupted(meter, 8 * STRETCH):
            return rounds
        if pending[i] > 0:
            awaited[i + 1 if i < k - 1 else 0] += 1
        elif pending[i] < 0:
            awaited[i] += 1
    while True:
        sent = 0
        if interrupted(meter, 8 * min(count, STRETCH)):
            return rounds
        for c in range(count):
            if c & STRETCH - 1 == STRETCH - 1 and interrupted(meter, 8 * STRETCH):
                return rounds
            i = changed[c]
            if receive_first and awaited[i] > 0:
                continue
            below = i - 1 if i > 0 else k - 1
            down = -pending[below]
            up = pending[i]
            if _may_send(held[i], down, receive_first, strict, slack):
                held[i] -= down
                to[sent] = below
                amount[sent] = down
                sent += 1
                pending[below] = 0
            if _may_send(held[i], up, receive_first, strict, slack):
                held[i] -= up
                to[sent] = i + 1 if i < k - 1 else 0
                amount[sent] = up
                sent += 1
                pending[i] = 0
            resident[i] = min(resident[i], held[i])
        if sent == 0:
            return rounds
        rounds += 1
        count = 0
        for t in range(sent):
            if t & STRETCH - 1 == STRETCH - 1 and interrupted(meter, 8 * STRETCH):
                return rounds
            held[to[t]] += amount[t]
            awaited[to[t]] -= 1
            if listed[to[t]] < rounds:
                listed[to[t]] = rounds
                changed_next[count] = to[t]
                count += 1
        changed, changed_next = changed_next, changed
