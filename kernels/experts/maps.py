"""Maps of a placement: which copy stands in which slot.

``L`` layers, ``E`` experts, ``R`` slots, as many on each GPU. A copy is a word, ``expert << 32 |
number``; the copies of an expert are numbered from 0.
"""

import numpy as np

from ..shared.compiling import kernel

NUMBER = 2**32 - 1


@kernel
def slots_of_copies(copies, log2phy):
    """Write the slot of each of the ``copies`` (L, R) to ``log2phy[layer, expert, number]``.

    Where there is no such copy, ``log2phy`` (L, E, X) receives -1.
    """
    L, R = copies.shape
    _, E, X = log2phy.shape
    for layer in range(L):
        for expert in range(E):
            for number in range(X):
                log2phy[layer, expert, number] = -1
        for slot in range(R):
            copy = copies[layer, slot]
            log2phy[layer, copy >> 32, copy & NUMBER] = slot


@kernel
def number_copies(phy2log, experts, copies):
    """Count the copies of each of so many experts by rising slot, for ``copies`` (L, R)."""
    L, R = phy2log.shape
    count = np.empty(experts, np.int64)
    for layer in range(L):
        for expert in range(experts):
            count[expert] = 0
        for slot in range(R):
            expert = phy2log[layer, slot]
            copies[layer, slot] = expert << 32 | count[expert]
            count[expert] += 1


@kernel
def keep_slots(previous, gpus, phy2log):
    """Put experts that stay on a GPU back into the slots that they had in ``previous`` (L, R).

    The others fill the free slots of the GPU in the order in which they stand in ``phy2log``.
    """
    L, R = phy2log.shape
    S = R // gpus
    arriving = np.empty(S, np.int64)
    is_free = np.empty(S, np.bool_)
    for layer in range(L):
        for first in range(0, R, S):
            count = 0
            for k in range(S):
                is_free[k] = True
            for k in range(S):
                expert = phy2log[layer, first + k]
                at = 0
                while at < S and not (is_free[at] and previous[layer, first + at] == expert):
                    at += 1
                if at < S:
                    is_free[at] = False
                else:
                    arriving[count] = expert
                    count += 1
            used = 0
            for k in range(S):
                if is_free[k]:
                    phy2log[layer, first + k] = arriving[used]
                    used += 1
                else:
                    phy2log[layer, first + k] = previous[layer, first + k]
