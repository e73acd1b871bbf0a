"""The plan of link-fault-tolerant DEM, made from the faulty links alone (More-Wu section 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import one_of
from ..display.cards import card
from ..display.tables import html_table
from ..errors import FaultError
from ..memory import require_memory
from ..topologies.hypercube import Hypercube
from ..topologies.kinds import topology_for

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .result import Balance

ORDERS = ("lowest", "highest")
DONORS = ("latest", "earliest")

# Repairs that a notebook shows.
LISTED_REPAIRS = 10
# First column of FaultPlan.program.
SPLIT, WHOLE, REPAIR = 0, 1, 2
# First column of FaultPlan.pairs.
EXCHANGE, REGISTER, SHIFT, REPAY = 0, 1, 2, 3


@dataclass(frozen=True)
class Subcube:
    """The nodes that agree with ``base`` in every bit outside the mask ``free``.

    Attributes
    ----------
    base : int
        Its lowest node.
    free : int
        Mask of the bits that vary.
    """

    base: int
    free: int

    @property
    def bits(self) -> tuple[int, ...]:
        """The bits that vary, ascending."""
        return tuple(_bits(self.free))

    @property
    def dimensions(self) -> int:
        """How many bits vary, ``k``; it has ``2**k`` nodes."""
        return self.free.bit_count()

    @property
    def nodes(self) -> NDArray[np.int64]:
        """Its nodes, shape (2**k,), ascending."""
        found = np.array([self.base], dtype=np.int64)
        for bit in self.bits:
            found = np.concatenate([found, found | 1 << bit])
        return found

    def neighbour(self, bit: int) -> Subcube:
        """Return the same subcube on the other side of a bit that does not vary."""
        return Subcube(self.base ^ 1 << bit, self.free)


@dataclass(frozen=True)
class Split:
    """A subcube with faults, balanced along its fault-free ``bit`` and halved there."""

    subcube: Subcube
    bit: int


@dataclass(frozen=True)
class Repair:
    """A stuck subcube and the fault-free ``donor`` across ``bit`` for its pegs and holes."""

    stuck: Subcube
    donor: Subcube
    bit: int


@dataclass(frozen=True, repr=False)
class FaultPlan:
    """What fault-tolerant DEM does on one faulty cube, whatever the loads.

    Attributes
    ----------
    topology : Hypercube
    order, donor : str
        The choices it was made with.
    splits : tuple of Split
        Subcubes with faults and the bit each is split along, a subcube before its halves.
    whole : tuple of Subcube
        Fault-free subcubes that are left, each balanced along all its bits in ``order``.
    repairs : tuple of Repair
        Stuck subcubes with their donors, in the order of their repair.
    program : (M, 4) int64
        All of it as rows ``kind, base, free, bit`` to be carried out from top to bottom, depth
        first: SPLIT (0), WHOLE (1, no bit) and REPAIR (2, the stuck subcube).

    Examples
    --------
    >>> plan = fault_plan(Hypercube(3, faults=[(0, 4), (5, 7)]))
    >>> [split.bit for split in plan.splits]
    [0, 1, 2]
    >>> [(r.stuck.nodes.tolist(), r.donor.nodes.tolist()) for r in plan.repairs]
    [([0, 4], [2, 6]), ([5, 7], [1, 3])]
    """

    topology: Hypercube
    order: str
    donor: str
    splits: tuple[Split, ...]
    whole: tuple[Subcube, ...]
    repairs: tuple[Repair, ...]
    program: NDArray[np.int64]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FaultPlan):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        counts = {"splits": len(self.splits), "repairs": len(self.repairs), "steps": self.steps}
        listed = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        return f"<FaultPlan of {_brief(self.topology)}: {listed}>"

    @property
    def _key(self) -> tuple[object, ...]:
        return self.topology, self.order, self.donor

    @property
    def stuck(self) -> tuple[Subcube, ...]:
        """Subcubes every bit of which has a fault, in the order of their repair."""
        return tuple(repair.stuck for repair in self.repairs)

    @property
    def donors(self) -> tuple[Subcube, ...]:
        """The donor of each stuck subcube."""
        return tuple(repair.donor for repair in self.repairs)

    @cached_property
    def steps(self) -> int:
        """Communication steps: 3 an exchange, as DEM counts them.

        Subcubes work side by side, so splitting takes ``3n``, or less where all are stuck.
        Repairs follow one another: 3 to compare loads and send pegs, 3 a bit of the donor, 1
        to repay the holes.
        """
        depths = [self.topology.n] * bool(self.whole)
        depths += [self.topology.n - stuck.dimensions for stuck in self.stuck]
        return 3 * max(depths) + sum(3 * stuck.dimensions + 4 for stuck in self.stuck)

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        """The program in positions: the dimension split first is the outermost bit."""
        if self.order == "highest":
            return self.program
        n = self.topology.n
        placed = self.program.copy()
        placed[:, 1:3] = 0
        for bit in range(n):
            placed[:, 1:3] |= (self.program[:, 1:3] >> bit & 1) << (n - 1 - bit)
        placed[:, 3] = np.where(self.program[:, 3] < 0, -1, n - 1 - self.program[:, 3])
        placed.flags.writeable = False
        return placed

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """The plan between nodes, shape (K, 3) int64: rows ``kind, u, v``, in order.

        For programs that move more than numbers. ``load`` is what nodes hold, ``pegs`` and
        ``holes`` belong to the repair at hand, and a negative amount goes from v to u:

        - EXCHANGE (0): the higher of ``load[u], load[v]`` sends half the difference, rounded
          down.
        - REGISTER (1), u stuck, v in the donor: ``pegs[v] = load[u] - load[v]``,
          ``holes[v] = max(0, -pegs[v])``; u sends ``max(0, pegs[v])`` to v.
        - SHIFT (2), both in the donor: the higher of ``pegs[u], pegs[v]`` sends half the
          difference, rounded down, at most its load minus its holes; pegs change by as much.
        - REPAY (3), u stuck, v in the donor: v sends ``holes[v]`` to u.
        """
        halves = 0
        for kind, _, free, _ in self.program.tolist():
            bits = free.bit_count()
            halves += (1 if kind == SPLIT else bits if kind == WHOLE else bits + 4) << bits
        # Every row three numbers, and as much again while they are joined.
        require_memory(24 * halves, f"the pairs of the plan of {_brief(self.topology)}")
        rows = [np.empty((0, 3), np.int64)]
        for kind, base, free, bit in self.program.tolist():
            subcube = Subcube(base, free)
            if kind == SPLIT:
                rows.append(_crossing(EXCHANGE, subcube, bit))
            elif kind == WHOLE:
                bits = subcube.bits if self.order == "lowest" else subcube.bits[::-1]
                rows += [_crossing(EXCHANGE, subcube, b) for b in bits]
            else:
                nodes, donor = subcube.nodes, subcube.neighbour(bit)
                rows.append(_listed(REGISTER, nodes, nodes ^ 1 << bit))
                rows += [_crossing(SHIFT, donor, b) for b in donor.bits]
                rows.append(_listed(REPAY, nodes, nodes ^ 1 << bit))
        return np.concatenate(rows)

    def _repr_html_(self) -> str:
        about = {
            "splits": len(self.splits),
            "fault-free subcubes": len(self.whole),
            "stuck subcubes": len(self.repairs),
            "steps": self.steps,
        }
        rows = [
            [*map(_nodes_text, (repair.stuck, repair.donor)), str(repair.bit)]
            for repair in self.repairs[:LISTED_REPAIRS]
        ]
        headings = ["stuck nodes", "donor nodes", "across bit"]
        listed = [html_table(headings, rows, names=2)] if rows else []
        return card(f"fault plan of {_brief(self.topology)}", about, *listed)

    def apply(
        self,
        loads: ArrayLike,
        *,
        finish: str | None = None,
        record: str = "metrics",
        out: NDArray[Any] | None = None,
    ) -> Balance:
        """Balance any batch of loads by this plan; see :func:`fastlb.fault_tolerant_dem`."""
        return _apply_plan()(self, loads, finish=finish, record=record, out=out)


def _nodes_text(subcube: Subcube) -> str:
    if subcube.dimensions > 3:
        return f"{2**subcube.dimensions:,} from {subcube.base} on"
    return " ".join(map(str, subcube.nodes.tolist()))


@cache
def _apply_plan() -> Callable[..., Balance]:
    """Import what carries out plans, once: a plan that was pickled has its method, too."""
    from .fault_tolerance import apply_plan

    return apply_plan


def fault_plan(
    topology: Hypercube | str, *, order: str = "lowest", donor: str = "latest"
) -> FaultPlan:
    """Plan fault-tolerant DEM on a hypercube; the work grows with the faults, not the nodes.

    With at most ``n - 1`` faulty links a plan always exists (More-Wu section 2.2).

    Parameters
    ----------
    topology : Hypercube or str
        With its faulty links; or its spelling, ``"hypercube:3:faults=0-4,5-7"``.
    order : {"lowest", "highest"}
        Which fault-free dimension of a subcube is split first.
    donor : {"latest", "earliest"}
        Which donor a stuck subcube takes: the one across the dimension it was split along most
        recently, or first. Donors that overlap no stuck subcube still waiting go before others.

    Raises
    ------
    TypeError
        If the topology is no :class:`Hypercube`.
    ValueError
        If ``order`` or ``donor`` is none of those named.
    FaultError
        If a stuck subcube has no fault-free neighbour across any dimension it was split along.

    Examples
    --------
    >>> fault_plan(Hypercube(2, faults=[(0, 1)])).stuck
    (Subcube(base=0, free=1),)
    """
    cube = topology_for("fault_tolerant_dem", topology)
    one_of("order", order, ORDERS)
    one_of("donor", donor, DONORS)
    return _planned(cube, order, donor)


@lru_cache(maxsize=256)
def _planned(topology: Hypercube, order: str, donor: str) -> FaultPlan:
    links = np.array(topology.faults, dtype=np.int64).reshape(-1, 2)
    splits: list[Split] = []
    whole: list[Subcube] = []
    stuck: list[tuple[Subcube, tuple[int, ...]]] = []
    rows: list[tuple[int, int, int, int]] = []
    # Depth first, the lower half first: (subcube, faults inside, bits split along so far).
    todo: list[tuple[Subcube, NDArray[np.int64], tuple[int, ...]]] = [
        (Subcube(0, (1 << topology.n) - 1), links, ())
    ]
    while todo:
        subcube, inside, path = todo.pop()
        if not len(inside):
            whole.append(subcube)
            rows.append((WHOLE, subcube.base, subcube.free, -1))
            continue
        broken = int(np.bitwise_or.reduce(inside[:, 0] ^ inside[:, 1]))
        healthy = subcube.free & ~broken
        if not healthy:
            stuck.append((subcube, path))
            continue
        bit = (healthy & -healthy if order == "lowest" else healthy).bit_length() - 1
        splits.append(Split(subcube, bit))
        rows.append((SPLIT, subcube.base, subcube.free, bit))
        side = inside[:, 0] >> bit & 1
        for value in (1, 0):
            half = Subcube(subcube.base | value << bit, subcube.free & ~(1 << bit))
            todo.append((half, inside[side == value], (*path, bit)))
    stuck.sort(key=lambda item: (item[0].dimensions, item[0].base))
    repairs = _donated(topology, links, stuck, donor)
    rows += [(REPAIR, r.stuck.base, r.stuck.free, r.bit) for r in repairs]
    program = np.array(rows, dtype=np.int64).reshape(-1, 4)
    program.flags.writeable = False
    return FaultPlan(topology, order, donor, tuple(splits), tuple(whole), repairs, program)


def _donated(
    topology: Hypercube,
    links: NDArray[np.int64],
    stuck: list[tuple[Subcube, tuple[int, ...]]],
    donor: str,
) -> tuple[Repair, ...]:
    """Give each stuck subcube its donor, or raise ``FaultError`` for the first without one."""
    bases = np.array([subcube.base for subcube, _ in stuck], dtype=np.int64)
    frees = np.array([subcube.free for subcube, _ in stuck], dtype=np.int64)
    repairs = []
    for i, (subcube, path) in enumerate(stuck):
        candidates = path[::-1] if donor == "latest" else path
        whole = [bit for bit in candidates if not _has_fault(links, subcube.neighbour(bit))]
        if not whole:
            tried = "it was never split" if not path else "every neighbour subcube has one too"
            raise FaultError(
                f"faults of {_brief(topology)} leave no plan: nodes {_named(subcube)} have a "
                f"faulty link in every dimension, and {tried}"
            )
        apart = (
            bit
            for bit in whole
            if not _overlaps(subcube.neighbour(bit), bases[i + 1 :], frees[i + 1 :])
        )
        bit = next(apart, whole[0])
        repairs.append(Repair(subcube, subcube.neighbour(bit), bit))
    return tuple(repairs)


def _has_fault(links: NDArray[np.int64], subcube: Subcube) -> bool:
    return bool(((links & ~subcube.free) == subcube.base).all(axis=1).any())


def _overlaps(subcube: Subcube, bases: NDArray[np.int64], frees: NDArray[np.int64]) -> bool:
    """Tell whether a subcube shares a node with any of the others."""
    return bool((((bases ^ subcube.base) & ~frees & ~subcube.free) == 0).any())


def _crossing(kind: int, subcube: Subcube, bit: int) -> NDArray[np.int64]:
    """List the pairs of a subcube across one of its bits."""
    lower = Subcube(subcube.base, subcube.free & ~(1 << bit)).nodes
    return _listed(kind, lower, lower | 1 << bit)


def _listed(kind: int, u: NDArray[np.int64], v: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.stack([np.full_like(u, kind), u, v], axis=1)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def _named(subcube: Subcube) -> str:
    shown = [str(node) for node in Subcube(subcube.base, _lowest_two(subcube.free)).nodes]
    return "{" + ", ".join(shown) + (", ..}" if subcube.dimensions > 2 else "}")


def _lowest_two(mask: int) -> int:
    first = mask & -mask
    rest = mask ^ first
    return first | (rest & -rest)


def _brief(topology: Hypercube) -> str:
    return repr(topology) if len(topology.faults) <= 8 else f"Hypercube({topology.n}, ..)"
