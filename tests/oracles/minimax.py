"""Minimax flow, routing schemes and the ordered search in plain rationals (sections 8 and 9)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

Rational = int | Fraction
Arc = tuple[int, int, Rational]


@dataclass
class Link:
    tail: int
    head: int
    capacity: Rational | None = None  # None: unlimited
    weight: int = 1
    traffic: Rational = 0

    def usable(self, ceiling: Rational) -> Rational:
        return ceiling if self.capacity is None else max(0, self.capacity - self.traffic)

    def within(self, beta: Rational, contention: str, ceiling: Rational) -> Rational:
        """The capacity in N(beta)."""
        if not self.weight:
            return self.usable(ceiling)
        room = beta - self.traffic if contention == "total" else beta
        return min(self.usable(ceiling), max(0, room))


@dataclass
class Minimax:
    value: Rational
    beta: Rational
    flow: list[Rational]
    iterations: int


def max_flow(
    n: int, arcs: Sequence[Arc], s: int, t: int
) -> tuple[Rational, list[Rational], set[int]]:
    """Shortest augmenting paths: value, flow per arc, nodes the source still reaches."""
    residual: list[Rational] = []
    out: list[list[int]] = [[] for _ in range(n)]
    heads: list[int] = []
    for u, v, capacity in arcs:
        out[u].append(len(heads))
        out[v].append(len(heads) + 1)
        heads += [v, u]
        residual += [capacity, 0]
    value: Rational = 0
    while True:
        entered = {s: -1}
        queue = deque([s])
        while queue and t not in entered:
            u = queue.popleft()
            for arc in out[u]:
                if residual[arc] > 0 and heads[arc] not in entered:
                    entered[heads[arc]] = arc
                    queue.append(heads[arc])
        if t not in entered:
            return value, residual[1::2], set(entered)
        path = []
        node = t
        while node != s:
            path.append(entered[node])
            node = heads[entered[node] ^ 1]
        amount = min(residual[arc] for arc in path)
        for arc in path:
            residual[arc] -= amount
            residual[arc ^ 1] += amount
        value += amount


def minimax(
    n: int, links: Sequence[Link], s: int, t: int, contention: str, *, integral: bool = False
) -> Minimax:
    """The paper's MMC01, with rho taken over the current minimum cut (section 8)."""
    ceiling = sum((link.usable(0) for link in links if link.tail == s), Fraction(0))
    usable = [(link.tail, link.head, link.usable(ceiling)) for link in links]
    target = max_flow(n, usable, s, t)[0]
    counted = [link for link in links if link.weight]
    beta: Rational = 0
    if contention == "total":
        beta = max((link.traffic for link in counted), default=0)
    for iterations in range(1, len(counted) + 2):
        limited = [(k.tail, k.head, k.within(beta, contention, ceiling)) for k in links]
        value, flow, side = max_flow(n, limited, s, t)
        if value == target:
            return Minimax(value, beta, flow, iterations)
        growing = [
            link
            for link in counted
            if link.tail in side
            and link.head not in side
            and link.within(beta, contention, ceiling) < link.usable(ceiling)
        ]
        step = Fraction(target - value) / len(growing)
        beta += -(-step // 1) if integral else step
    raise AssertionError("more iterations than counted links")


def transformed(
    n: int,
    links: Sequence[Link],
    allows: Callable[[int, int, int], bool],
    excess: dict[int, Rational],
    deficit: dict[int, Rational],
) -> tuple[int, int, list[Link], int, int]:
    """Rules R1-R5: (vertices and edges of R1-R3, all links, s, t).

    Link k has the out-vertex 2k at its tail and the in-vertex 2k + 1 at its head.
    """
    made = [Link(2 * k, 2 * k + 1, v.capacity, 1, v.traffic) for k, v in enumerate(links)]
    for k, first in enumerate(links):
        for m, second in enumerate(links):
            if first.head == second.tail and allows(first.tail, first.head, second.head):
                made.append(Link(2 * k + 1, 2 * m, None, 0))
    edges = len(made)
    base = 2 * len(links)
    s, t = base + n, base + n + 1
    for node, amount in excess.items():
        made.append(Link(s, base + node, amount, 0))
        made += [Link(base + node, 2 * k, amount, 0) for k, v in enumerate(links) if v.tail == node]
    for node, amount in deficit.items():
        made.append(Link(base + node, t, amount, 0))
        made += [
            Link(2 * k + 1, base + node, amount, 0) for k, v in enumerate(links) if v.head == node
        ]
    return 2 * len(links), edges, made, s, t


def ordered_search(
    links: Sequence[Link],
    entities: Sequence[tuple[int, Rational]],
    template: Sequence[Rational],
    s: int,
    t: int,
) -> tuple[list[list[int] | None], list[Rational]]:
    """Phase II of the heuristic (Fig. 7): paths per entity and the load on every link."""
    load: list[Rational] = [0] * len(links)
    paths: list[list[int] | None] = []
    for node, size in entities:
        path = _search(links, node, size, template, load, s, t)
        paths.append(path)
        for k in path or ():
            load[k] += size
    return paths, load


def _search(
    links: Sequence[Link],
    start: int,
    size: Rational,
    template: Sequence[Rational],
    load: Sequence[Rational],
    s: int,
    t: int,
) -> list[int] | None:
    visited = {start, s}
    nodes, path = [start], []
    while nodes:
        feasible = [
            k
            for k, link in enumerate(links)
            if link.tail == nodes[-1]
            and link.head not in visited
            and (link.capacity is None or load[k] + size <= link.usable(0))
        ]
        if not feasible:
            nodes.pop()
            if path:
                path.pop()
            continue
        best = max(feasible, key=lambda k: (template[k] - load[k], -k))
        path.append(best)
        if links[best].head == t:
            return path
        visited.add(links[best].head)
        nodes.append(links[best].head)
    return None
