"""First fit: each transfer, one after the other, into the first round that has room for it.

A transfer belongs to up to ``K`` groups, such as all transfers of its sender, and a round holds at
most ``limits[g]`` transfers of group g. Group 0 has no limit. A transfer may have to wait for
others: gate ``before[e]`` opens in the round after the last transfer whose ``after`` is this gate.
Nothing feeds gate 0, and nothing waits for gate 1.

``T`` transfers, ``G`` groups, ``W`` rounds at most.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.words import lowest_bit

ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)


@long_kernel
def first_fit(order, groups, limits, before, after, gates, W):
    """Place the transfers in the order (T,); return (their rounds (T,), how many were placed).

    It ends at the first transfer that has no room in W rounds. ``groups`` (T, K) int32; ``before``
    and ``after`` (T,) are gates below ``gates``; the order has first what others wait for.
    """
    T, K = groups.shape
    rounds = np.empty(T, np.int64)
    counts = np.zeros((limits.size, W), np.int32)
    # Bit c % 64 of word c // 64: round c is full. Rounds from W on never are, so that each search
    # ends in the last word.
    full = np.zeros((limits.size, W // 64 + 1), np.uint64)
    opens = np.zeros(gates, np.int64)
    meter = new_meter()
    placed = 0
    while placed < T and not interrupted(meter, 8):
        e = order[placed]
        word = opens[before[e]] // 64
        bits = (ONE << np.uint64(opens[before[e]] % 64)) - ONE
        for k in range(K):
            bits |= full[groups[e, k], word]
        while bits == ALL:
            word += 1
            bits = np.uint64(0)
            for k in range(K):
                bits |= full[groups[e, k], word]
        c = 64 * word + lowest_bit(~bits)
        if c >= W:
            break
        rounds[e] = c
        for k in range(K):
            g = groups[e, k]
            counts[g, c] += 1
            if counts[g, c] == limits[g]:
                full[g, word] |= ONE << np.uint64(c % 64)
        opens[after[e]] = max(opens[after[e]], c + 1)
        placed += 1
    return rounds, placed
