"""Recursive doubling: chain quotas along a binomial tree (Wu-Shu Fig. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.oracles import dde, exchange


@dataclass
class Doubling:
    loads: list[int]
    flows: list[int]  # from i to its parent i & (i-1); 0 at the root
    exchange_steps: int
    info_steps: int
    total_steps: int
    bound: int


def parent(i: int) -> int:
    return i & (i - 1)


def subtree(i: int, k: int) -> list[int]:
    """The nodes whose way up to the root passes i."""
    members = []
    for node in range(k):
        above = node
        while above not in (i, 0):
            above = parent(above)
        if above == i:
            members.append(node)
    return members


def recursive_doubling(loads: Sequence[int]) -> Doubling:
    k = len(loads)
    quotas = dde.quotas(loads)
    flows = [sum(loads[j] - quotas[j] for j in subtree(i, k)) if i else 0 for i in range(k)]
    transfers = [
        (i, parent(i), flow) if flow > 0 else (parent(i), i, -flow)
        for i, flow in enumerate(flows)
        if flow
    ]
    rounds, _ = exchange.run(loads, transfers, "rbs")
    depth = 0
    while 2**depth < k:
        depth += 1
    return Doubling(quotas, flows, rounds, 2 * depth, 2 * depth + rounds, 4 * depth)
