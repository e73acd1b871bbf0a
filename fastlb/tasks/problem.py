"""One assignment problem, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .bound import least_largest_load
from .units import exact_sums, falling_order, in_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.topology import Topology
    from .memory import Memory
    from .units import Integers, Scale


@dataclass(frozen=True, eq=False)
class Edges:
    """Communication between tasks: ``C`` edges.

    Attributes
    ----------
    source, target : (C,) int64
        Tasks.
    amount : (C,) int64 or float64
        Bytes.
    """

    source: Integers
    target: Integers
    amount: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """Tasks, where they are, and what limits them; ``T`` tasks, ``N`` nodes.

    Attributes
    ----------
    nodes : int
        N.
    topology : Topology or None
        Where the nodes are linked.
    sizes, owner, movable : (T,)
        int64 or float64; int64; bool.
    weights : (N,) ints and Fractions
    memory, edges : or None
    price, home_price : Fraction
        Load that a byte sent between nodes counts as, and one of a block away from its home.
    slack : Fraction
        By how much of the bound the largest load may exceed it.
    max_moves : int or None
    """

    nodes: int
    topology: Topology | None
    sizes: NDArray[Any]
    owner: Integers
    movable: NDArray[np.bool_]
    weights: tuple[int | Fraction, ...]
    memory: Memory | None
    edges: Edges | None
    price: Fraction
    home_price: Fraction
    slack: Fraction
    max_moves: int | None

    @property
    def coupled(self) -> bool:
        """Whether where a task may go, or what it costs there, depends on other tasks' places."""
        limited = self.memory is not None and self.memory.limit is not None
        priced = self.edges is not None and self.price > 0
        return limited or priced or (self.memory is not None and self.home_price > 0)

    @cached_property
    def _scaled(self) -> tuple[Integers, Scale]:
        (units,), scale = in_units("sizes", self.sizes, beside=self._most_priced())
        return units, scale

    def _most_priced(self) -> Fraction:
        """Return a load that all priced bytes, sent and received, cannot exceed."""
        most = Fraction(0)
        if self.edges is not None and self.price:
            amount = self.edges.amount
            most += 2 * self.price * exact_sums(amount, np.zeros(len(amount), np.int64), 1)[0]
        if self.memory is not None and self.home_price:
            blocks = self.memory.block_bytes
            most += 2 * self.home_price * exact_sums(blocks, np.zeros(len(blocks), np.int64), 1)[0]
        if most > np.finfo(np.float64).max:
            raise OverflowError("price and home_price must give bytes a load that fits float64")
        return most

    @property
    def units(self) -> Integers:
        """The sizes (T,) in units."""
        return self._scaled[0]

    @property
    def scale(self) -> Scale:
        return self._scaled[1]

    @cached_property
    def falling(self) -> Integers:
        """The tasks (T,), longest first; of equals the lower number."""
        return falling_order(self.units)

    @cached_property
    def slowness(self) -> NDArray[np.float64]:
        """1 over the weight of every node (N,), 0 for a node of weight 0."""
        return np.array([float(1 / w) if w else 0.0 for w in self.weights])

    @cached_property
    def weights_are_equal(self) -> bool:
        return len(set(self.weights)) == 1

    @cached_property
    def mean(self) -> Fraction:
        """The load by weight of all nodes if it could be shared at will, up to a unit a task."""
        return Fraction(int(self.units.sum())) / self.scale.per_one / sum(self.weights)

    @cached_property
    def bound(self) -> Fraction:
        """What the largest load by weight is at least, exactly."""
        order, sizes, one = self.falling, self.units, self.scale.per_one
        if not self.scale.exact:
            # Sizes that units round differently may be in another order than the units.
            order, sizes, one = np.argsort(-self.sizes, kind="stable"), self.sizes, Fraction(1)
        pinned = [0] * self.nodes
        if not self.movable.all():
            still = ~self.movable
            pinned = exact_sums(sizes[still], self.owner[still], self.nodes)
        least = least_largest_load(
            sizes[order], self.movable[order], pinned, self.weights, whole=self.scale.exact
        )
        return least / one

    @property
    def aim(self) -> Fraction:
        """The largest load by weight that is low enough."""
        return self.bound * (1 + self.slack) if self.slack else self.bound

    def caps(self, largest: Fraction) -> Integers:
        """Return the most units (N,) that keep every load by weight within ``largest``."""
        per_weight = largest * self.scale.per_one
        if self.weights_are_equal:
            return np.full(self.nodes, int(per_weight * self.weights[0]), np.int64)
        return np.array([int(per_weight * w) for w in self.weights], np.int64)

    def loads(self, owner: Integers) -> list[Any]:
        """Return the exact load of every node: ints or Fractions."""
        if not self.scale.exact:
            return exact_sums(self.sizes, owner, self.nodes)
        loads: list[Any] = self.unit_loads(owner).tolist()
        one = self.scale.per_one
        return loads if one == 1 else [amount / one for amount in loads]

    def unit_loads(self, owner: Integers) -> Integers:
        """Return the load of every node (N,) in units."""
        loads = np.zeros(self.nodes, np.int64)
        np.add.at(loads, owner, self.units)
        return loads

    def work(self, owner: Integers, loads: list[Any] | None = None) -> list[Any]:
        """Return load and priced bytes of every node, by weight; the load alone at weight 0."""
        work = self.loads(owner) if loads is None else list(loads)
        if self.edges is not None and self.price > 0:
            for node, amount in enumerate(self.exchanged(owner)):
                work[node] += self.price * amount
        if self.memory is not None and self.home_price > 0:
            for node, amount in enumerate(self.away_from_home(owner)):
                work[node] += self.home_price * amount
        if self.weights_are_equal:
            one = self.weights[0]
            return work if one == 1 else [Fraction(w) / one for w in work]
        pairs = zip(work, self.weights, strict=True)
        return [Fraction(w) / weight if weight else w for w, weight in pairs]

    def remote(self, owner: Integers) -> tuple[NDArray[Any], Integers, Integers]:
        """Return bytes, sending node and receiving node of every edge between nodes."""
        assert self.edges is not None
        source, target = owner[self.edges.source], owner[self.edges.target]
        apart = source != target
        return self.edges.amount[apart], source[apart], target[apart]

    def exchanged(self, owner: Integers) -> list[Any]:
        """Return what every node sends to others or receives from them, the larger, in bytes."""
        amount, source, target = self.remote(owner)
        sent, received = (exact_sums(amount, at, self.nodes) for at in (source, target))
        return [max(pair) for pair in zip(sent, received, strict=True)]

    def blocks_at(self, owner: Integers) -> tuple[Integers, Integers]:
        """Return every pair of a node and a block that it holds, once."""
        assert self.memory is not None
        used = self.memory.block >= 0
        count = max(1, len(self.memory.block_bytes))
        pairs = np.unique(owner[used] * count + self.memory.block[used])
        return pairs // count, pairs % count

    def away_from_home(self, owner: Integers) -> list[Any]:
        """Return the bytes of blocks that every node holds and is not the home of."""
        assert self.memory is not None
        node, block = self.blocks_at(owner)
        home = self.memory.home[block]
        away = (home >= 0) & (home != node)
        return exact_sums(self.memory.block_bytes[block[away]], node[away], self.nodes)

    def bytes_held(self, owner: Integers) -> list[Any]:
        """Return the memory that every node (N,) needs, exactly."""
        assert self.memory is not None
        node, block = self.blocks_at(owner)
        parts = [
            exact_sums(self.memory.own, owner, self.nodes),
            exact_sums(self.memory.block_bytes[block], node, self.nodes),
            exact_sums(self.memory.node, np.arange(self.nodes), self.nodes),
        ]
        peak = np.zeros(self.nodes, self.memory.working.dtype)
        np.maximum.at(peak, owner, self.memory.working)
        parts.append(list(map(Fraction, peak.tolist())))
        return [sum(amounts) for amounts in zip(*parts, strict=True)]

    def over_memory(self, owner: Integers) -> list[int]:
        """Return the nodes that need more memory than they may have."""
        if self.memory is None or self.memory.limit is None:
            return []
        pairs = zip(self.bytes_held(owner), self.memory.limit.tolist(), strict=True)
        return [node for node, (held, limit) in enumerate(pairs) if held > limit]

    def allows(self, owner: Integers) -> bool:
        """Tell whether no node of weight 0 has a task, and all limits hold."""
        alive = self.slowness > 0
        few = self.max_moves is None or np.count_nonzero(owner != self.owner) <= self.max_moves
        return bool(alive[owner].all()) and bool(few) and not self.over_memory(owner)
