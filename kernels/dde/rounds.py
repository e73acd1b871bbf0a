"""Task exchange along lines, round by round (Wu-Shu Figs 5 and 6).

``exchange`` is for any flows, and tells where they deadlock. ``send_first`` is for the flows of
DDE itself, which never do: it counts what send-before-receive makes of them. What
receive-before-send makes of them is known without this, see ``shared/lines.py``.

Only nodes whose state has changed are looked at, so the work grows with nodes and transfers alone.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.lines import rounding


@inlined
def _may_send(held, flow, receive_first, strict, slack):
    """Tell whether a link's whole ``flow`` may be sent by a node with nothing to wait for."""
    if flow <= 0:
        return False
    if strict:
        return held > flow
    return receive_first or held + slack >= flow


@kernel
def exchange(held, resident, pending, receive_first, strict, slack, together):
    """Carry out ``pending`` (k,), link i from node i to i + 1 mod k; return the rounds made.

    ``held`` (k,) become the final loads, ``resident`` (k,) the units that never left; all are int64
    or all float64. With ``receive_first`` a node sends once all its arrivals are in, else a
    link's flow once it holds as much, ``strict`` more; the lower link first. What is still pending
    afterwards is deadlocked. All ports work at once, full duplex; what arrives is usable in the
    next round. ``slack`` forgives rounding of floats; ``together`` : two arrivals of a round are
    added up before they are added to what is held, which rounds otherwise.
    """
    k = held.size
    changed = np.arange(k)
    count = k
    changed_next = np.empty(k, changed.dtype)
    # The round in which a node was last put on the list of changed ones, with what it held then.
    listed = np.zeros(k, np.int64)
    before = np.empty(k, held.dtype)
    first = np.empty(k, held.dtype)
    to = np.empty(2 * k, changed.dtype)
    amount = np.empty(2 * k, held.dtype)
    awaited = np.zeros(k, np.int64)
    for i in range(k):
        if pending[i] > 0:
            awaited[i + 1 if i < k - 1 else 0] += 1
        elif pending[i] < 0:
            awaited[i] += 1
    rounds = 0
    while True:
        sent = 0
        for c in range(count):
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
            i = to[t]
            awaited[i] -= 1
            if listed[i] < rounds:
                listed[i] = rounds
                changed_next[count] = i
                count += 1
                before[i], first[i] = held[i], amount[t]
                held[i] += amount[t]
            elif together:
                held[i] = before[i] + (first[i] + amount[t])
            else:
                held[i] += amount[t]
        changed, changed_next = changed_next, changed


@kernel
def send_first(loads, stages, flows, axes, local, rounds):
    """Count what send-before-receive makes of the flows of networks that DDE has balanced.

    Legend: ``B`` networks, ``N`` nodes, ``S`` axes in the order balanced.

    Parameters
    ----------
    loads, stages : (B, N), (S, B, N)
        Before balancing and after each axis, of the dtype of the flows or narrower.
    flows : (B, S, N) int64 or float64
        Of each axis by its number.
    axes : (S, 3 or more) int64
        The number of each, its length, and its stride in nodes.
    local, rounds : (B,), (S, B)
        Receive the units that never left, and the rounds of each axis.
    """
    B, N = loads.shape
    resident = np.empty(N, flows.dtype)
    longest = 1
    for s in range(axes.shape[0]):
        longest = max(longest, axes[s, 1])
    room = np.empty((3, longest), flows.dtype)
    for b in range(B):
        for i in range(N):
            resident[i] = loads[b, i]
        for s in range(axes.shape[0]):
            number, k, stride = axes[s, 0], axes[s, 1], axes[s, 2]
            held, least, pending = room[0, :k], room[1, :k], room[2, :k]
            rounds[s, b] = 0
            for line in range(N // k):
                first = line // stride * stride * k + line % stride
                for i in range(k):
                    node = first + i * stride
                    held[i] = loads[b, node] if s == 0 else stages[s - 1, b, node]
                    least[i] = resident[node]
                    pending[i] = flows[b, number, node]
                slack = rounding(held)
                made = exchange(held, least, pending, False, False, slack, True)
                rounds[s, b] = max(rounds[s, b], made)
                for i in range(k):
                    resident[first + i * stride] = max(least[i], 0)
        total = resident[0]
        for i in range(1, N):
            total += resident[i]
        local[b] = total
