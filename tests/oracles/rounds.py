"""Rounds of transfers in plain Python: a validator, first fit, the bound, and the least number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

Transfer = tuple[int, int]
Limits = Mapping[str, int | Mapping[int, int]]


def groups(transfer: Transfer, limits: Limits) -> list[tuple[str, object, int]]:
    """The limits that a transfer counts for: name, node or link, and how many there may be."""
    u, v = transfer
    listed: list[tuple[str, object, int]] = []
    for name, limit in limits.items():
        ends = {"per_node": (u, v), "send": (u,), "receive": (v,), "per_link": ((u, v),)}[name]
        listed += [(name, end, limit if isinstance(limit, int) else limit[end]) for end in ends]
    return listed


def broken(transfers: Sequence[Transfer], rounds: Sequence[int], limits: Limits) -> list[object]:
    """What is wrong with the rounds: limits that do not hold, and rounds that are empty."""
    wrong: list[object] = []
    if len(rounds) != len(transfers):
        wrong.append("lengths")
    if set(rounds) != set(range(max(rounds, default=-1) + 1)):
        wrong.append("empty rounds")
    counts: Counter[object] = Counter()
    for transfer, number in zip(transfers, rounds, strict=True):
        for name, end, most in groups(transfer, limits):
            counts[number, name, end] += 1
            if counts[number, name, end] > most:
                wrong.append((number, name, end))
    return wrong


def bound(transfers: Sequence[Transfer], limits: Limits) -> int:
    """The largest ``ceil(transfers / limit)``; 1 without limits."""
    totals: Counter[object] = Counter()
    least = 1 if transfers else 0
    for transfer in transfers:
        for name, end, most in groups(transfer, limits):
            totals[name, end] += 1
            least = max(least, -(-totals[name, end] // most))
    return least


def first_fit(transfers: Sequence[Transfer], limits: Limits) -> list[int]:
    """Each transfer, in this order, in the first round that has room for it."""
    counts: Counter[object] = Counter()
    rounds = []
    for transfer in transfers:
        own = groups(transfer, limits)
        number = 0
        while any(counts[number, name, end] >= most for name, end, most in own):
            number += 1
        for name, end, _ in own:
            counts[number, name, end] += 1
        rounds.append(number)
    return rounds


def least(transfers: Sequence[Transfer], limits: Limits) -> int:
    """The least number of rounds, by trying all; for a dozen transfers."""
    count = bound(transfers, limits)
    while not _possible(transfers, limits, count, 0, Counter(), 0):
        count += 1
    return count


def _possible(
    transfers: Sequence[Transfer],
    limits: Limits,
    count: int,
    i: int,
    counts: Counter[object],
    used: int,
) -> bool:
    if i == len(transfers):
        return True
    own = groups(transfers[i], limits)
    # Rounds that hold nothing yet are all alike.
    for number in range(min(count, used + 1)):
        if all(counts[number, name, end] < most for name, end, most in own):
            for name, end, _ in own:
                counts[number, name, end] += 1
            if _possible(transfers, limits, count, i + 1, counts, max(used, number + 1)):
                return True
            for name, end, _ in own:
                counts[number, name, end] -= 1
    return False


def two_sided(transfers: Sequence[Transfer]) -> bool:
    """Whether the nodes have two sides so that each transfer goes from one to the other."""
    near: dict[int, list[int]] = {}
    for u, v in transfers:
        near.setdefault(u, []).append(v)
        near.setdefault(v, []).append(u)
    side: dict[int, int] = {}
    for root in near:
        if root in side:
            continue
        side[root] = 0
        line = [root]
        for u in line:
            for v in near[u]:
                if v not in side:
                    side[v] = 1 - side[u]
                    line.append(v)
                elif side[v] == side[u]:
                    return False
    return True
