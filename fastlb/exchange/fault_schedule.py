"""What fault-tolerant DEM does on one faulty cube, as data (More-Wu section 2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..memory import require_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.hypercube import Hypercube

# First column of FaultSchedule.program.
SPLIT, WHOLE, REPAIR = 0, 1, 2
# First column of FaultSchedule.pairs.
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
        nodes = np.array([self.base], dtype=np.int64)
        for bit in self.bits:
            nodes = np.concatenate([nodes, nodes | 1 << bit])
        return nodes

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


@dataclass(frozen=True)
class FaultSchedule:
    """The data of a :class:`FaultPlan`, which describes the attributes and balances by them."""

    topology: Hypercube
    order: str
    donor: str
    splits: tuple[Split, ...]
    whole: tuple[Subcube, ...]
    repairs: tuple[Repair, ...]
    program: NDArray[np.int64]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FaultSchedule):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

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
        program = self.program.copy()
        program[:, 1:3] = 0
        for bit in range(n):
            program[:, 1:3] |= (self.program[:, 1:3] >> bit & 1) << (n - 1 - bit)
        program[:, 3] = np.where(self.program[:, 3] < 0, -1, n - 1 - self.program[:, 3])
        program.flags.writeable = False
        return program

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
        # Three numbers a row, and as much again during np.concatenate.
        require_memory(24 * halves, f"the pairs of the plan of {brief(self.topology)}")
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


def brief(topology: Hypercube) -> str:
    """Return a cube as text, without its faults where they are many."""
    return repr(topology) if len(topology.faults) <= 8 else f"Hypercube({topology.n}, ..)"
