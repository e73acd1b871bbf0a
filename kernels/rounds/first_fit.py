"""First fit: each transfer, one after the other, into the first round that has room for it.

A transfer belongs to up to ``K`` groups, such as all transfers of its sender, and a round holds at
most ``limits[g]`` transfers of group g. Group 0 has no limit. A transfer may have to wait for
others: gate ``before[e]`` opens in the round after the last transfer whose ``after`` is this gate.
Nothing feeds gate 0, and nothing waits for gate 1.

``T`` transfers, ``K`` groups of each, ``G`` groups in all, ``W`` rounds at most.
"""

from typing import NamedTuple

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.words import lowest_bit

ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)


class Problem(NamedTuple):
    """Transfers, their groups and gates."""

    order: np.ndarray  # (T,) int64, with those first that others wait for
    groups: np.ndarray  # (T, K) int32
    limits: np.ndarray  # (G,) int64
    before: np.ndarray  # (T,) int64
    after: np.ndarray  # (T,) int64


@long_kernel
def first_fit(problem, rounds, counts, full, begins, opens):
    """Place transfers into ``rounds`` (T,); return how many were placed.

    It ends at the first one that has no room in W rounds. The rest is zero at first: ``counts``
    (G, W) int32, how many transfers of a group are in a round; ``full`` (G, W // 64 + 1) uint64,
    bit c % 64 of word c // 64: round c is full; ``begins`` (G,), the first word with a round that
    is not; ``opens``, the round in which each gate opens.
    """
    order, groups, limits, before, after = problem
    T, K = groups.shape
    W = counts.shape[1]
    meter = new_meter()
    placed = 0
    while placed < T and not interrupted(meter, 8):
        e = order[placed]
        word = opens[before[e]] // 64
        bits = (ONE << np.uint64(opens[before[e]] % 64)) - ONE
        for k in range(K):
            g = groups[e, k]
            # Rounds from W on are never full, so that each search ends in the last word.
            while full[g, begins[g]] == ALL:
                begins[g] += 1
            if begins[g] > word:
                word = begins[g]
                bits = np.uint64(0)
        while True:
            for k in range(K):
                bits |= full[groups[e, k], word]
            if bits != ALL:
                break
            word += 1
            bits = np.uint64(0)
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
    return placed
