"""Link-fault-tolerant DEM written out node by node (algorithms, section 6; More-Wu 2.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Link = tuple[int, int]


class NoPlan(Exception):
    """A stuck subcube has no fault-free neighbour across any dimension it was split along."""


@dataclass(frozen=True)
class Subcube:
    base: int
    free: tuple[int, ...]  # bits that vary, ascending
    path: tuple[int, ...]  # bits it was split along, first one first

    @property
    def nodes(self) -> list[int]:
        found = [self.base]
        for bit in self.free:
            found += [node | 1 << bit for node in found]
        return sorted(found)


@dataclass
class Plan:
    splits: list[tuple[Subcube, int]] = field(default_factory=list)
    stuck: list[Subcube] = field(default_factory=list)  # in the order of their repair
    donors: list[int] = field(default_factory=list)  # the bit across which each donor lies


def _inside(subcube: Subcube, faults: Collection[Link]) -> list[Link]:
    nodes = set(subcube.nodes)
    return [(u, v) for u, v in faults if u in nodes and v in nodes]


def plan(n: int, faults: Collection[Link], order: str = "lowest", donor: str = "latest") -> Plan:
    found = Plan()

    def split(subcube: Subcube) -> None:
        broken = {(u ^ v).bit_length() - 1 for u, v in _inside(subcube, faults)}
        healthy = [bit for bit in subcube.free if bit not in broken]
        if not subcube.free:
            return
        if not healthy:
            found.stuck.append(subcube)
            return
        bit = min(healthy) if order == "lowest" else max(healthy)
        found.splits.append((subcube, bit))
        rest = tuple(b for b in subcube.free if b != bit)
        for base in (subcube.base, subcube.base | 1 << bit):
            split(Subcube(base, rest, (*subcube.path, bit)))

    split(Subcube(0, tuple(range(n)), ()))
    found.stuck.sort(key=lambda s: (len(s.free), s.base))
    for i, subcube in enumerate(found.stuck):
        waiting = {node for other in found.stuck[i + 1 :] for node in other.nodes}
        path = subcube.path[::-1] if donor == "latest" else subcube.path
        neighbours = {bit: Subcube(subcube.base ^ 1 << bit, subcube.free, ()) for bit in path}
        whole = [bit for bit in path if not _inside(neighbours[bit], faults)]
        apart = [bit for bit in whole if waiting.isdisjoint(neighbours[bit].nodes)]
        if not whole:
            raise NoPlan(subcube)
        found.donors.append((apart or whole)[0])
    return found


@dataclass
class Run:
    """A network being balanced: every unit moved is booked on the link it takes."""

    loads: list[Any]
    n: int
    moved: Any = 0
    stages: list[list[Any]] = field(default_factory=list)
    moved_per_stage: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.least = list(self.loads)
        self.flows = [[0] * len(self.loads) for _ in range(self.n)]
        self.used: set[Link] = set()

    @property
    def local(self) -> Any:
        return sum(self.least)

    def send(self, source: int, target: int, amount: Any) -> None:
        assert 0 <= amount <= self.loads[source]
        if amount == 0:
            return
        self.loads[source] -= amount
        self.loads[target] += amount
        self.least[source] = min(self.least[source], self.loads[source])
        self.moved += amount
        axis = self.n - (source ^ target).bit_length()
        low = min(source, target)
        self.flows[axis][low] += amount if source == low else -amount
        self.used.add((low, max(source, target)))

    def end_stage(self) -> None:
        self.stages.append(list(self.loads))
        self.moved_per_stage.append(self.moved - sum(self.moved_per_stage))


def fault_tolerant_dem(
    loads: Sequence[Any],
    faults: Collection[Link],
    order: str = "lowest",
    donor: str = "latest",
    *,
    finish: str | None = None,
    real: bool = False,
) -> Run:
    """Balance by the plan; stages are the splits, the repairs and the finish.

    `real=True` takes exact halves of Fractions.
    """
    n = len(loads).bit_length() - 1
    made = plan(n, faults, order, donor)
    run = Run([Fraction(x) if real else int(x) for x in loads], n)
    for subcube, bit in made.splits:
        for node in subcube.nodes:
            if not node >> bit & 1:
                _even_out(run, run.loads, node, node | 1 << bit, real)
    run.end_stage()
    for subcube, bit in zip(made.stuck, made.donors, strict=True):
        _repair(run, subcube, bit, real)
    run.end_stage()
    if finish == "tree":
        _tree(run, faults, real)
        run.end_stage()
    return run


def tree(loads: Sequence[Any], faults: Collection[Link], *, real: bool = False) -> Run:
    """Exact quotas along one breadth-first tree a connected component."""
    run = Run([Fraction(x) if real else int(x) for x in loads], len(loads).bit_length() - 1)
    _tree(run, faults, real)
    run.end_stage()
    return run


def _even_out(run: Run, value: list[Any], u: int, v: int, real: bool) -> None:
    if value[u] < value[v]:
        u, v = v, u
    difference = value[u] - value[v]
    run.send(u, v, difference / 2 if real else difference // 2)


def _repair(run: Run, stuck: Subcube, bit: int, real: bool) -> None:
    step = 1 << bit
    donor = [node ^ step for node in stuck.nodes]
    pegs = {}
    holes = {}
    for node in donor:
        pegs[node] = run.loads[node ^ step] - run.loads[node]
        holes[node] = max(0, -pegs[node])
        run.send(node ^ step, node, max(0, pegs[node]))
    for inner in stuck.free:
        for u in donor:
            v = u ^ 1 << inner
            if pegs[u] <= pegs[v]:
                continue
            difference = pegs[u] - pegs[v]
            amount = difference / 2 if real else difference // 2
            amount = min(amount, run.loads[u] - holes[u])
            pegs[u] -= amount
            pegs[v] += amount
            run.send(u, v, amount)
    for node in donor:
        run.send(node, node ^ step, holes[node])


def components(n: int, faults: Collection[Link]) -> list[list[tuple[int, int]]]:
    """(node, parent) in breadth-first order from the lowest node, neighbours by ascending bit."""
    broken = {frozenset(link) for link in faults}
    seen: set[int] = set()
    found = []
    for root in range(2**n):
        if root in seen:
            continue
        seen.add(root)
        order = [(root, root)]
        for node, _ in order:
            for bit in range(n):
                other = node ^ 1 << bit
                if other not in seen and frozenset((node, other)) not in broken:
                    seen.add(other)
                    order.append((other, node))
        found.append(order)
    return found


def _tree(run: Run, faults: Collection[Link], real: bool) -> None:
    """The T % k most loaded nodes of a component of k keep the extra unit (ties: lower number).

    A node sends only after all its arrivals: first everything that goes up, leaves first, then
    everything that goes down; a node gives to its parent before it gives to its children.
    """
    for order in components(run.n, faults):
        nodes = [node for node, _ in order]
        total = sum(run.loads[node] for node in nodes)
        if real:
            quota = dict.fromkeys(nodes, total / len(nodes))
        else:
            average, extra = divmod(total, len(nodes))
            ranked = sorted(nodes, key=lambda node: (-run.loads[node], node))
            quota = {node: average + (rank < extra) for rank, node in enumerate(ranked)}
        surplus = {node: run.loads[node] - quota[node] for node in nodes}
        for node, parent in order[:0:-1]:
            surplus[parent] += surplus[node]
        for node, parent in order[:0:-1]:
            run.send(node, parent, max(0, surplus[node]))
        for node, parent in order[1:]:
            run.send(parent, node, max(0, -surplus[node]))
