"""Algorithms A, B and C on the Hyper Hexa-Cell network (algorithms, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

UNIT_BY_UNIT = 5000


@dataclass
class Balancing:
    """A network under way: loads, and everything that is counted on the way."""

    loads: list[Any]
    local: list[Any] = field(init=False)
    flows: dict[tuple[int, int], Any] = field(default_factory=dict)
    endpoints: list[int] = field(init=False)
    information: int = 0
    load: int = 0
    time: Any = 0
    moved_per_stage: list[Any] = field(default_factory=list)
    stages: list[list[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.local = list(self.loads)
        self.endpoints = [0] * len(self.loads)

    def inform(self, sender: int, taker: int) -> None:
        self.information += 1
        self.endpoints[sender] += 1
        self.endpoints[taker] += 1

    def send(self, sender: int, taker: int, amount: Any) -> Any:
        """Move load along one link: one message where there is something to move."""
        if amount == 0:
            return amount
        assert 0 < amount <= self.loads[sender]
        self.load += 1
        self.endpoints[sender] += 1
        self.endpoints[taker] += 1
        self.loads[sender] -= amount
        self.loads[taker] += amount
        self.local[sender] = min(self.local[sender], self.loads[sender])
        link = (min(sender, taker), max(sender, taker))
        self.flows[link] = self.flows.get(link, 0) + (amount if sender < taker else -amount)
        return amount

    def end_stage(self, moved: Any, time: Any) -> None:
        self.moved_per_stage.append(moved)
        self.time += time
        self.stages.append(list(self.loads))

    @property
    def moved(self) -> Any:
        return sum(self.moved_per_stage)

    @property
    def error(self) -> Any:
        return max(self.loads) - min(self.loads)

    @property
    def counts(self) -> dict[str, Any]:
        return {
            "messages": self.information + self.load,
            "information": self.information,
            "load": self.load,
            "endpoint_max": max(self.endpoints),
            "endpoint_total": sum(self.endpoints),
            "time": self.time,
        }


def hexa_cell(
    loads: Sequence[Any],
    d: int,
    algorithm: str = "B",
    *,
    share: str = "fair",
    odd_unit: str = "higher",
    real: bool = False,
) -> Balancing:
    """Triangles, prism, then DEM over the bits of the cell number.

    `real=True` takes exact means of Fractions: no floors, and any difference is exchanged.
    """
    b = Balancing([Fraction(x) if real else int(x) for x in loads])
    cells = 2 ** (d - 1)
    moved: Any = 0
    longest: Any = 0
    for triangle in range(0, 6 * cells, 3):
        units = {"A": triangle_a, "B": triangle_b, "C": triangle_c}[algorithm](
            b, triangle, share, real
        )
        moved += units
        longest = max(longest, units)
    b.end_stage(moved, longest)
    rule = "polled" if algorithm == "C" else "higher"
    prism = [(6 * s + t, 6 * s + t + 3) for s in range(cells) for t in range(3)]
    exchange(b, prism, rule, real)
    rule = "polled" if algorithm == "C" else odd_unit
    for bit in range(d - 1):
        pairs = [
            (6 * s + t, 6 * (s | 1 << bit) + t)
            for s in range(cells)
            for t in range(6)
            if not s >> bit & 1
        ]
        exchange(b, pairs, rule, real)
    return b


def exchange(b: Balancing, pairs: Sequence[tuple[int, int]], rule: str, real: bool) -> None:
    """Every pair tells its weights and averages."""
    moved: Any = 0
    longest: Any = 0
    for pair in pairs:
        b.inform(pair[0], pair[1])
        b.inform(pair[1], pair[0])
        amount = even_out(b, *pair, rule, real)
        moved += amount
        longest = max(longest, amount)
    b.end_stage(moved, longest)


def even_out(b: Balancing, x: int, y: int, rule: str, real: bool) -> Any:
    sender, taker = (x, y) if b.loads[x] > b.loads[y] else (y, x)
    diff = b.loads[sender] - b.loads[taker]
    if real:
        amount = diff / 2
    elif rule == "higher":
        amount = diff // 2
    elif rule == "lower":
        amount = (diff + 1) // 2
    else:
        amount = (diff + 1) // 2 if diff >= 2 else 0
    return b.send(sender, taker, amount)


def triangle_average(b: Balancing, nodes: Sequence[int], real: bool) -> Any:
    total = sum(b.loads[i] for i in nodes)
    return total / 3 if real else (total + 2) // 3


def triangle_a(b: Balancing, first: int, share: str, real: bool) -> Any:
    coordinator, left, right = first, first + 1, first + 2
    b.inform(left, right)
    b.inform(right, left)
    differed = b.loads[left] != b.loads[right]
    if not real:
        differed = abs(b.loads[left] - b.loads[right]) > 1
    receiver = left if b.loads[left] < b.loads[right] else right
    units = even_out(b, left, right, "higher", real)
    b.inform(receiver if differed else right, coordinator)
    average = triangle_average(b, (coordinator, left, right), real)
    b.inform(coordinator, left)
    b.inform(coordinator, right)
    excess = b.loads[coordinator] - average
    if excess > 0:
        units += give(b, coordinator, [left, right], excess, average, share, real)
    elif excess < 0:
        for node in (left, right):
            units += b.send(node, coordinator, max(b.loads[node] - average, 0))
    return units


def triangle_b(b: Balancing, first: int, share: str, real: bool) -> Any:
    nodes = [first, first + 1, first + 2]
    for node in nodes[1:]:
        b.inform(node, first)
    average = triangle_average(b, nodes, real)
    for node in nodes[1:]:
        b.inform(first, node)
    units: Any = 0
    for node in [i for i in nodes if b.loads[i] > average]:
        takers = [i for i in nodes if b.loads[i] < average]
        units += give(b, node, takers, b.loads[node] - average, average, share, real)
    return units


def triangle_c(b: Balancing, first: int, share: str, real: bool) -> Any:
    nodes = [first, first + 1, first + 2]
    for node in nodes:
        for peer in nodes:
            if peer != node:
                b.inform(node, peer)
    average = triangle_average(b, nodes, real)
    excess = [b.loads[i] - average for i in nodes]
    units: Any = 0
    for node, left_over in zip(nodes, excess, strict=True):
        for peer in nodes:
            if peer == node or left_over <= 0:
                continue
            b.inform(node, peer)
            amount = min(left_over, max(average - b.loads[peer], 0))
            left_over -= b.send(node, peer, amount)
            units += amount
        assert left_over <= 0
    return units


def give(
    b: Balancing,
    giver: int,
    takers: Sequence[int],
    excess: Any,
    average: Any,
    share: str,
    real: bool,
) -> Any:
    """Hand out a node's excess to one or two takers in address order."""
    amounts = dict.fromkeys(takers, 0 * excess)
    if real or share == "greedy" or len(takers) == 1:
        left_over = excess
        for taker in takers:
            amounts[taker] = min(left_over, max(average - b.loads[taker], 0))
            left_over -= amounts[taker]
        assert left_over == 0
    elif excess <= UNIT_BY_UNIT:
        for _ in range(excess):
            lighter = min(takers, key=lambda i: (b.loads[i] + amounts[i], i))
            amounts[lighter] += 1
    else:
        amounts = poured(b, takers, excess)
    for taker in takers:
        b.send(giver, taker, amounts[taker])
    return excess


def poured(b: Balancing, takers: Sequence[int], excess: int) -> dict[int, int]:
    """Unit by unit to the lighter of two, told at once: level them, then take turns."""
    x, y = takers
    levelling = min(excess, abs(b.loads[x] - b.loads[y]))
    rest = excess - levelling
    amounts = {x: (rest + 1) // 2, y: rest // 2}
    amounts[x if b.loads[x] <= b.loads[y] else y] += levelling
    return amounts
