"""How many transfers must come before and after each one, where some wait for others.

Gates are those of ``first_fit.py``: gate ``before[e]`` opens once all transfers whose ``after`` is
this gate are done. ``T`` transfers.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter


@long_kernel
def chain_lengths(before, after, gates):
    """Return (heads (T,), tails (T,), how many transfers do not wait for themselves).

    ``heads[e]`` is the largest number of transfers in a row that must be done before e,
    ``tails[e]`` after it. Both are certain only if no transfer waits for itself.
    """
    T = before.size
    start = np.zeros(gates + 1, np.int64)
    awaited = np.zeros(gates, np.int64)
    for e in range(T):
        start[before[e] + 1] += 1
        awaited[after[e]] += 1
    for q in range(gates):
        start[q + 1] += start[q]
    waiting = np.empty(T, np.int64)
    place = start[:gates].copy()
    for e in range(T):
        waiting[place[before[e]]] = e
        place[before[e]] += 1
    heads = np.zeros(T, np.int64)
    tails = np.zeros(T, np.int64)
    behind = np.zeros(gates, np.int64)
    # Transfers in an order in which each comes after all that it waits for.
    line = np.empty(T, np.int64)
    length = 0
    meter = new_meter()
    for q in range(gates):
        if awaited[q] == 0:
            for i in range(start[q], start[q + 1]):
                line[length] = waiting[i]
                length += 1
    done = 0
    while done < length and not interrupted(meter, 8):
        e = line[done]
        done += 1
        q = after[e]
        awaited[q] -= 1
        behind[q] = max(behind[q], heads[e] + 1)
        if awaited[q] == 0:
            for i in range(start[q], start[q + 1]):
                heads[waiting[i]] = behind[q]
                line[length] = waiting[i]
                length += 1
    for q in range(gates):
        behind[q] = 0
    for i in range(length - 1, -1, -1):
        e = line[i]
        tails[e] = behind[after[e]]
        behind[before[e]] = max(behind[before[e]], tails[e] + 1)
    return heads, tails, length
