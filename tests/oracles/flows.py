"""Plain twin of minimum-cost flow, in Python's integers; that of maximum flow is in minimax.py.

Links are (tail, head, capacity, cost); a capacity of None is none.
"""

from __future__ import annotations

import math
from typing import Any


def least_cost(n: int, links: list[Any], demand: list[int]) -> tuple[str, int]:
    """Return (status, cost) of a minimum-cost flow, by cancelling circles (Klein 1967).

    The first flow is along artificial links through a node of its own, which cost more than any
    other way.
    """
    dear = 1 + sum(abs(cost) for *_, cost in links)
    arcs = [[u, v, math.inf if c is None else c, 0, cost] for u, v, c, cost in links]
    for v, amount in enumerate(demand):
        ends = (n, v) if amount > 0 else (v, n)
        arcs.append([*ends, math.inf, abs(amount), dear])
    unbounded = False
    while circle := _circle(n + 1, arcs):
        rooms = [arc[2] - arc[3] if ahead else arc[3] for arc, ahead in circle]
        amount = min(rooms)
        if amount == math.inf:
            # More of it changes nothing about whether demands can be met.
            unbounded = True
            for arc, _ in circle:
                arc[4] = 0
            continue
        for arc, ahead in circle:
            arc[3] += amount if ahead else -amount
    if any(arc[3] for arc in arcs[len(links) :]):
        return "infeasible", 0
    if unbounded:
        return "unbounded", 0
    return "optimal", sum(arc[3] * arc[4] for arc in arcs)


def _circle(n: int, arcs: list[Any]) -> list[Any]:
    """Return arcs and directions of a circle with room that costs less than nothing, or none."""
    distance = [0] * n
    before: list[Any] = [None] * n
    last = -1
    for _ in range(n):
        last = -1
        for arc in arcs:
            u, v, capacity, sent, cost = arc
            if sent < capacity and distance[u] + cost < distance[v]:
                distance[v], before[v], last = distance[u] + cost, (arc, True, u), v
            if sent > 0 and distance[v] - cost < distance[u]:
                distance[u], before[u], last = distance[v] - cost, (arc, False, v), u
        if last < 0:
            return []
    v = last
    for _ in range(n):
        v = before[v][2]
    circle, first = [], v
    while True:
        arc, ahead, v = before[v]
        circle.append((arc, ahead))
        if v == first:
            return circle
