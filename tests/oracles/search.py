"""Branch and bound on a simulated hypercube, unit by unit (algorithms, section 10; More-Wu 4)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.oracles.binary import dot, exact_program, sequence
from tests.oracles.fault_tolerant_dem import Link, Plan, plan


@dataclass
class Item:
    """Rows lo..hi-1 of a sequence, and its cost test while `first`."""

    x: int
    lo: int
    hi: int
    first: bool

    @property
    def tests(self) -> int:
        return self.hi - self.lo + self.first


@dataclass
class Search:
    units: int = 0
    time: Any = 0
    work: list[int] = field(default_factory=list)
    moved: int = 0
    balances: int = 0
    optimum: Any = None
    argmin: int | None = None


class Machine:
    def __init__(self, processors: int, granularity: str) -> None:
        self.queues: list[list[Item]] = [[] for _ in range(processors)]
        self.granularity = granularity
        self.traffic = [0] * processors

    def load(self, p: int) -> int:
        return sum(item.tests for item in self.queues[p])

    def send(self, source: int, target: int, amount: int) -> int:
        """Move whole items from the tail, split the last by rows; return the tests moved."""
        left = amount
        while left > 0 and self.queues[source]:
            item = self.queues[source][-1]
            if item.tests <= left:
                self.queues[target].append(self.queues[source].pop())
                left -= item.tests
            elif self.granularity == "row":
                self.queues[target].append(Item(item.x, item.hi - left, item.hi, False))
                item.hi -= left
                left = 0
            else:
                break
        self.traffic[source] += amount - left
        self.traffic[target] += amount - left
        return amount - left

    def drop(self, dead: Collection[int]) -> None:
        self.queues = [[item for item in queue if item.x not in dead] for queue in self.queues]


def balance(machine: Machine, made: Plan) -> int:
    """Carry the plan out on items; return the tests moved, times links."""
    moved = 0
    for subcube, bit in made.splits:
        for u in subcube.nodes:
            v = u | 1 << bit
            if u != v:
                high, low = (u, v) if machine.load(u) > machine.load(v) else (v, u)
                moved += machine.send(high, low, (machine.load(high) - machine.load(low)) // 2)
    for stuck, bit in zip(made.stuck, made.donors, strict=True):
        pegs: dict[int, int] = {}
        holes: dict[int, int] = {}
        for u in stuck.nodes:
            v = u ^ 1 << bit
            surplus = machine.load(u) - machine.load(v)
            holes[v] = max(0, -surplus)
            pegs[v] = machine.send(u, v, surplus) if surplus > 0 else surplus
            moved += max(0, pegs[v])
        for inner in stuck.free:
            for u in pegs:
                v = u ^ 1 << inner
                if pegs[u] > pegs[v]:
                    amount = min((pegs[u] - pegs[v]) // 2, machine.load(u) - holes[u])
                    sent = machine.send(u, v, amount)
                    pegs[u] -= sent
                    pegs[v] += sent
                    moved += sent
        for v, amount in holes.items():
            moved += machine.send(v, v ^ 1 << bit, amount)
    return moved


def simulate(
    c: Sequence[Any],
    A: Sequence[Sequence[Any]],
    b: Sequence[Any],
    dim: int,
    faults: Collection[Link] = (),
    *,
    balanced: bool = False,
    trigger: str = "idle",
    period: int = 1,
    round_cost: Any = 0,
    unit_cost: Any = 0,
    granularity: str = "row",
    assignment: str = "modular",
    numbers: type = Fraction,
) -> Search:
    """Let 2**dim processors step together until no test is left.

    A unit: hand out (central), balance if triggered, one test a processor, then the dead
    sequences are dropped and the least cost found is published. Numbers are taken as exact
    decimals; `numbers=int` takes integers as they are.
    """
    if numbers is Fraction:
        c, A, b = exact_program(c, A, b)
    n, m, processors = len(c), len(A), 2**dim
    machine = Machine(processors, granularity)
    made = plan(dim, faults) if balanced else Plan()
    waiting = [Item(x, 0, m, True) for x in range(2**n)]
    if assignment == "modular":
        for item in waiting:
            machine.queues[item.x % processors].append(item)
        waiting = []
    passed = [0] * 2**n
    found = Search(work=[0] * processors)
    while True:
        for queue in machine.queues:
            if waiting and not queue:
                queue.append(waiting.pop(0))
        loads = [machine.load(p) for p in range(processors)]
        if not any(loads):
            return found
        due = trigger == "always" or found.units % period == 0
        if balanced and due and (trigger != "idle" or (min(loads) == 0 and max(loads) > 1)):
            machine.traffic = [0] * processors
            found.moved += balance(machine, made)
            found.balances += 1
            found.time += round_cost + unit_cost * max(machine.traffic)
        dead = set()
        new = []
        for p, queue in enumerate(machine.queues):
            if not queue:
                continue
            found.work[p] += 1
            item = queue[0]
            x = sequence(item.x, n)
            if item.first:
                if found.argmin is not None and dot(c, x) >= found.optimum:
                    dead.add(item.x)
                    continue
                item.first = False
            else:
                if dot(A[item.lo], x) < b[item.lo]:
                    dead.add(item.x)
                    continue
                item.lo += 1
            passed[item.x] += 1
            if passed[item.x] == m + 1:
                new.append((dot(c, x), item.x))
            if item.tests == 0:
                queue.pop(0)
        machine.drop(dead)
        for cost, number in sorted(new):
            if found.argmin is None or (cost, number) < (found.optimum, found.argmin):
                found.optimum, found.argmin = cost, number
        found.units += 1
        found.time += 1
