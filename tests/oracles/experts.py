"""The published placement of experts in plain Python, one copy after the other; stable ties."""

import numpy as np


def packed(loads, packs, rounded):
    """Return (pack, place in it) of each item: longest first, to the lightest pack with room."""
    room = len(loads) // packs
    if room == 1:
        return [(i, 0) for i in range(len(loads))]
    totals, members = [rounded(0)] * packs, [0] * packs
    result = [None] * len(loads)
    for i in sorted(range(len(loads)), key=lambda i: -loads[i]):
        pack = min((p for p in range(packs) if members[p] < room), key=lambda p: totals[p])
        result[i] = pack, members[pack]
        totals[pack] = rounded(totals[pack] + rounded(loads[i]))
        members[pack] += 1
    return result


def replicated(loads, copies, rounded):
    """Return (expert, number of the copy) of all copies, and how many each expert has."""
    counts = [1] * len(loads)
    result = [(e, 0) for e in range(len(loads))]
    while len(result) < copies:
        e = max(range(len(loads)), key=lambda e: rounded(loads[e] / rounded(counts[e])))
        result.append((e, counts[e]))
        counts[e] += 1
    return result, counts


def placed(weights, replicas, gpus, nodes=1, groups=1, rounded=np.float64):
    """Return phy2log, logcnt and the copy numbers by slot of one layer."""
    E = len(weights)
    weights = np.asarray(weights, np.float32)
    size, per_node = E // groups, groups // nodes
    sums = [weights[g * size : (g + 1) * size].sum() for g in range(groups)]
    experts = [None] * E
    for g, (node, place) in enumerate(packed(sums, nodes, rounded)):
        begin = (node * per_node + place) * size
        experts[begin : begin + size] = range(g * size, g * size + size)
    slots, M, C = replicas // gpus, E // nodes, replicas // nodes
    phy2log, numbers, logcnt = [None] * replicas, [None] * replicas, [None] * E
    for node in range(nodes):
        own = experts[node * M : node * M + M]
        loads = [rounded(weights[e]) for e in own]
        copies, counts = replicated(loads, C, rounded)
        shares = [rounded(loads[e] / rounded(counts[e])) for e, _ in copies]
        for (e, number), (gpu, place) in zip(
            copies, packed(shares, gpus // nodes, rounded), strict=True
        ):
            at = node * C + gpu * slots + place
            phy2log[at], numbers[at] = own[e], number
        for e, count in zip(own, counts, strict=True):
            logcnt[e] = count
    return phy2log, logcnt, numbers


def slots_of(phy2log, numbers, experts, most):
    """Return log2phy of one layer: the slots of each expert by number of the copy, then -1."""
    log2phy = [[-1] * most for _ in range(experts)]
    for slot, (e, number) in enumerate(zip(phy2log, numbers, strict=True)):
        log2phy[e][number] = slot
    return log2phy
