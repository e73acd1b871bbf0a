"""Plain twins for whole tasks: the bound, the best owners by trying all, and a validator.

All numbers are Fractions: a float stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import gcd, lcm
from typing import Any


@dataclass
class Problem:
    """Tasks and what limits them; ``blocks`` maps a block to its bytes, ``block`` a task to one."""

    sizes: Sequence[Any]
    owner: Sequence[int]
    nodes: int
    movable: Sequence[bool] | None = None
    weights: Sequence[Any] | None = None
    memory: Sequence[Any] | None = None
    working: Sequence[Any] | None = None
    block: Sequence[int] | None = None
    blocks: Sequence[Any] = ()
    home: Sequence[int] | None = None
    base: Sequence[Any] | None = None
    memory_limit: Sequence[Any] | None = None
    edges: Sequence[tuple[int, int, Any]] = ()
    price: Any = 0
    home_price: Any = 0
    max_moves: int | None = None
    size: list[Fraction] = field(init=False)
    weight: list[Fraction] = field(init=False)
    free: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        self.size = [Fraction(size) for size in self.sizes]
        self.weight = [Fraction(w) for w in self.weights or [1] * self.nodes]
        self.free = [bool(m) for m in (self.movable or [True] * len(self.size))]

    def loads(self, owner: Sequence[int]) -> list[Fraction]:
        loads = [Fraction(0)] * self.nodes
        for size, node in zip(self.size, owner, strict=True):
            loads[node] += size
        return loads

    def bytes(self, owner: Sequence[int]) -> list[Fraction]:
        """Return the memory of every node; a block is held once by a node that uses it."""
        held = [Fraction(b) for b in self.base or [0] * self.nodes]
        for task, node in enumerate(owner):
            held[node] += Fraction(self.memory[task]) if self.memory else 0
        for node in range(self.nodes):
            here = [w for w, at in zip(self.working or [], owner, strict=False) if at == node]
            held[node] += Fraction(max(here, default=0))
        if self.block:
            for node, block in {(n, b) for n, b in zip(owner, self.block, strict=True) if b >= 0}:
                held[node] += Fraction(self.blocks[block])
        return held

    def fits(self, owner: Sequence[int]) -> bool:
        if self.memory_limit is None:
            return True
        pairs = zip(self.bytes(owner), self.memory_limit, strict=True)
        return all(held <= Fraction(limit) for held, limit in pairs)

    def allowed(self, owner: Sequence[int]) -> bool:
        """Whether owners are in range, what may not move stays, and every limit holds."""
        if not all(0 <= node < self.nodes for node in owner):
            return False
        moves = [a != b for a, b in zip(owner, self.owner, strict=True)]
        if any(moved and not free for moved, free in zip(moves, self.free, strict=True)):
            return False
        if any(self.weight[node] == 0 for node in owner):
            return False
        return self.fits(owner) and (self.max_moves is None or sum(moves) <= self.max_moves)

    def work(self, owner: Sequence[int]) -> list[Fraction]:
        """Return load and priced bytes of every node, by weight."""
        sent = [Fraction(0)] * self.nodes
        received = [Fraction(0)] * self.nodes
        for a, b, amount in self.edges:
            if owner[a] != owner[b]:
                sent[owner[a]] += Fraction(amount)
                received[owner[b]] += Fraction(amount)
        work = self.loads(owner)
        for node in range(self.nodes):
            work[node] += Fraction(self.price) * max(sent[node], received[node])
        if self.block and self.home:
            for node, block in {(n, b) for n, b in zip(owner, self.block, strict=True) if b >= 0}:
                if self.home[block] not in (-1, node):
                    work[node] += Fraction(self.home_price) * Fraction(self.blocks[block])
        return [w / k if k else w for w, k in zip(work, self.weight, strict=True)]

    def every_owner(self) -> Iterator[tuple[int, ...]]:
        choices = [
            range(self.nodes) if free else (node,)
            for free, node in zip(self.free, self.owner, strict=True)
        ]
        return product(*choices)


def best(problem: Problem) -> Fraction | None:
    """Return the least possible largest work, or None where no owners are allowed."""
    works = (max(problem.work(o)) for o in problem.every_owner() if problem.allowed(o))
    return min(works, default=None)


def greedy(problem: Problem, moves: int) -> Fraction:
    """Return the largest load that single moves lead to, each the best from the fullest node."""
    owner = list(problem.owner)
    by_size = sorted(range(len(owner)), key=lambda task: -problem.size[task])
    for _ in range(moves):
        work = problem.work(owner)
        fullest = work.index(max(work))
        best, best_owner = work[fullest], owner
        for node in sorted(range(problem.nodes), key=lambda node: work[node]):
            for task in by_size:
                if owner[task] != fullest or node == fullest or not problem.free[task]:
                    continue
                tried = [*owner[:task], node, *owner[task + 1 :]]
                after = problem.work(tried)
                value = max(after[fullest], after[node])
                if value < best and problem.weight[node] and problem.fits(tried):
                    best, best_owner = value, tried
        if best_owner is owner:
            break
        owner = best_owner
    return max(problem.work(owner))


def bound(problem: Problem) -> Fraction:
    """Return what the largest load by weight is at least, in the words of its definition."""
    size, weight = problem.size, problem.weight
    alive = [node for node in range(problem.nodes) if weight[node] > 0]
    total = sum(size, Fraction(0))
    pinned = [Fraction(0)] * problem.nodes
    for s, node, free in zip(size, problem.owner, problem.free, strict=True):
        pinned[node] += 0 if free else s
    bounds = [total / sum(weight)]
    bounds += [pinned[node] / weight[node] for node in alive]
    movable = [s for s, free in zip(size, problem.free, strict=True) if free]
    if movable:
        bounds.append(min((pinned[node] + max(movable)) / weight[node] for node in alive))
    longest = sorted(size, reverse=True)
    n = len(alive)
    for k in range(1, (len(longest) - 1) // n + 1):
        bounds.append(sum(longest[k * n - k : k * n + 1]) / max(weight))
    return rounded_up(max(bounds), problem, total)


def rounded_up(least: Fraction, problem: Problem, total: Fraction) -> Fraction:
    """Return the least value from ``least`` on at which whole units can hold the total."""
    parts = lcm(*(s.denominator for s in problem.size)) if problem.size else 1
    unit = Fraction(gcd(*(int(s * parts) for s in problem.size)), parts)
    if unit == 0:
        return least
    alive = [w for w in problem.weight if w > 0]
    value = least
    while True:
        counts = [value * w // unit for w in alive]
        values = [c * unit / w for c, w in zip(counts, alive, strict=True)]
        if sum(counts) * unit >= total and value in values:
            return value
        value = min((c + 1) * unit / w for c, w in zip(counts, alive, strict=True))


def check(problem: Problem, assignment: Any) -> None:
    """Assert that an assignment is what it says, against the problem alone."""
    owner = [int(node) for node in assignment.owner]
    assert len(owner) == len(problem.size)
    assert all(0 <= node < problem.nodes for node in owner)
    for node, start, free in zip(owner, problem.owner, problem.free, strict=True):
        assert free or node == start
    loads = problem.loads(owner)
    assert [type(x)(y) for x, y in zip(assignment.loads.tolist(), loads, strict=True)] == (
        assignment.loads.tolist()
    )
    moved = [i for i in range(len(owner)) if owner[i] != problem.owner[i]]
    assert sorted(move.task for move in assignment.moves) == moved
    for move in assignment.moves:
        assert (move.source, move.target) == (problem.owner[move.task], owner[move.task])
        assert (move.path[0], move.path[-1]) == (move.source, move.target)
        assert len(set(move.path)) == len(move.path)
    assert float(assignment.moved) == float(sum((problem.size[i] for i in moved), Fraction(0)))
    assert assignment.hops == sum(len(move.path) - 1 for move in assignment.moves)
    assert float(assignment.bound) <= float(assignment.largest) * (1 + 1e-15)
    if assignment.status in ("optimal", "feasible"):
        assert problem.fits(owner)
        assert problem.max_moves is None or len(moved) <= problem.max_moves
