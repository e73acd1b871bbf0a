"""Task exchange along one line, round by round (Wu-Shu Figs 5 and 6)."""

import numpy as np
from numba import njit

RECEIVE_FIRST = 0
SEND_FIRST = 1
SEND_FIRST_STRICT = 2


@njit(cache=True, nogil=True)
def exchange(held, kept, pending, mode, slack):
    """Carry out ``pending`` (k,), link i from node i to i + 1 mod k; return the rounds made.

    ``held`` (k,) become the final loads, ``kept`` (k,) the units that never left. What is
    still pending afterwards is deadlocked. All ports work at once, full duplex; what arrives is
    usable in the next round. Only nodes whose state has changed are looked at, so the work is
    proportional to nodes and transfers. ``slack`` forgives rounding of floats.
    """
    k = held.size
    waiting = np.arange(k)
    count = k
    following = np.empty(k, waiting.dtype)
    queued = np.zeros(k, np.int64)
    to = np.empty(2 * k, waiting.dtype)
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
            i = waiting[c]
            below = i - 1 if i > 0 else k - 1
            down = -pending[below]
            up = pending[i]
            ready = mode != RECEIVE_FIRST or awaited[i] == 0
            strict = mode == SEND_FIRST_STRICT
            enough = held[i] > down if strict else held[i] + slack >= down
            if k > 1 and ready and down > 0 and (enough or mode == RECEIVE_FIRST):
                held[i] -= down
                to[sent] = below
                amount[sent] = down
                sent += 1
                pending[below] = 0
            enough = held[i] > up if strict else held[i] + slack >= up
            if k > 1 and ready and up > 0 and (enough or mode == RECEIVE_FIRST):
                held[i] -= up
                to[sent] = i + 1 if i < k - 1 else 0
                amount[sent] = up
                sent += 1
                pending[i] = 0
            kept[i] = min(kept[i], held[i])
        if sent == 0:
            return rounds
        rounds += 1
        count = 0
        for t in range(sent):
            held[to[t]] += amount[t]
            awaited[to[t]] -= 1
            if queued[to[t]] < rounds:
                queued[to[t]] = rounds
                following[count] = to[t]
                count += 1
        waiting, following = following, waiting
