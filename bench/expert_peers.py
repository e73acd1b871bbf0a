"""The published placement of experts as serving engines compute it with NumPy.

Whole layers at once while experts are replicated, copy by copy while they are packed; of equal
loads the lower number comes first.
"""

from __future__ import annotations

import numpy as np


def place(
    weights: np.ndarray, replicas: int, gpus: int, nodes: int = 1, groups: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return phy2log (L, R), log2phy (L, E, X) and logcnt (L, E) for weights (L, E)."""
    weights = weights.astype(np.float32)
    L, E = weights.shape
    size = E // groups
    sums = weights.reshape(L, groups, size).sum(axis=-1)
    pack, rank = packed(sums, nodes)
    of_expert = (pack * (groups // nodes) + rank)[..., None] * size + np.arange(size)
    of_expert = of_expert.reshape(L, E)
    experts = inverse(of_expert)
    loads = np.take_along_axis(weights, experts, axis=1).reshape(L * nodes, E // nodes)
    copies, numbers, counts = replicated(loads, replicas // nodes)
    shares = np.take_along_axis(loads / counts, copies, axis=1)
    pack, rank = packed(shares, gpus // nodes)
    slots = inverse(pack * (replicas // gpus) + rank)
    phy2log = np.take_along_axis(copies, slots, axis=1).reshape(L, nodes, -1)
    phy2log = (phy2log + np.arange(0, E, E // nodes)[:, None]).reshape(L, replicas)
    phy2log = np.take_along_axis(experts, phy2log, axis=1)
    numbers = np.take_along_axis(numbers, slots, axis=1).reshape(L, replicas)
    logcnt = np.take_along_axis(counts.reshape(L, E), of_expert, axis=1)
    most = int(logcnt.max())
    log2phy = np.full((L, E * most), -1)
    places = np.broadcast_to(np.arange(replicas), (L, replicas))
    np.put_along_axis(log2phy, phy2log * most + numbers, places, axis=1)
    return phy2log, log2phy.reshape(L, E, most), logcnt


def packed(loads: np.ndarray, packs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pack of each item (L, n) and its place there."""
    L, n = loads.shape
    room = n // packs
    if room == 1:
        return np.tile(np.arange(n), (L, 1)), np.zeros((L, n), np.int64)
    order = np.argsort(-loads, axis=-1, kind="stable")
    pack_of, rank = np.empty((2, L, n), np.int64)
    totals = np.zeros((L, packs))
    members = np.zeros((L, packs), np.int64)
    for layer in range(L):
        total, member = totals[layer], members[layer]
        for item in order[layer]:
            pack = int(np.argmin(total))
            pack_of[layer, item] = pack
            rank[layer, item] = member[pack]
            total[pack] += loads[layer, item]
            member[pack] += 1
            if member[pack] == room:
                total[pack] = np.inf
    return pack_of, rank


def replicated(loads: np.ndarray, copies: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the experts (L, C) of all copies, the copies' numbers, and counts (L, E)."""
    L, E = loads.shape
    expert = np.tile(np.arange(copies), (L, 1))
    number = np.zeros((L, copies), np.int64)
    counts = np.ones((L, E), np.int64)
    layers = np.arange(L)
    for copy in range(E, copies):
        heaviest = np.argmax(loads / counts, axis=-1)
        expert[:, copy] = heaviest
        number[:, copy] = counts[layers, heaviest]
        counts[layers, heaviest] += 1
    return expert, number, counts


def inverse(order: np.ndarray) -> np.ndarray:
    """Return the inverse of each row's permutation."""
    result = np.empty_like(order)
    np.put_along_axis(result, order, np.arange(order.shape[1])[None, :], axis=1)
    return result
