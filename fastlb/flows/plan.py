"""The plan a minimax flow gives: value, contention, flow, bottleneck, routes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..accelerate import kernels
from ..quantities import Number, Quantities
from ..topologies.network import Expanded, Network
from .certificate import Level, level_values, require, verify, verify_given
from .scaling import Integers, Units, exact_sum
from .search import MaxFlow


class Route(NamedTuple):
    """An amount of load that goes from a source along a path of nodes to a sink.

    Nodes are numbers, or names where ``routes(named=True)`` was asked for.
    """

    source: Any
    sink: Any
    path: tuple[Any, ...]
    amount: Number


@dataclass(frozen=True, eq=False, repr=False)
class MinimaxPlan:
    """A maximum flow of load with the least possible maximum contention.

    The value, the contention and the bottleneck are there at once; the flow is made when
    something that needs it is first asked for.

    Numbers are ints for whole units, Fractions for divisible exact data, floats for float data.

    Attributes
    ----------
    network : Network
        The network it was made for.
    eliminated, contention : int, Fraction or float
        Load moved, v*; the largest contention on a counted link, beta*.
    flow : (E,) int64, float64 or object
        Load sent along every link of ``network.edges``.
    traffic : int, Fraction or float
        Units times links.
    bottleneck : (K,) int64
        Links of the cut that proves the contention: at any smaller one they, together, let less
        through. Where existing traffic alone makes the contention, the links that carry it.
    levels : tuple
        The contention of every level asked for, largest first.
    iterations : int
        Values of beta tried.
    quantum : float or 0
        Float data: ``eliminated`` and ``contention`` are within it of those of the data before
        they were rounded. 0 for exact data.
    """

    network: Network
    excess: Quantities
    units: Units
    whole: bool
    graph: Expanded
    stages: tuple[Level, ...]
    iterations: int
    _planner: MaxFlow
    _at_hand: tuple[Integers, int] | None

    @cached_property
    def _sent(self) -> tuple[Integers, int]:
        """The flow on the links of the search graph, made when first asked for, and its parts."""
        last = self.stages[-1]
        if self._at_hand is not None:
            flow, q = self._at_hand
        else:
            _, flow, _, q = self._planner(last.problem, last.beta)
        return flow, q * last.parts

    @property
    def _flow(self) -> Integers:
        return self._sent[0]

    @property
    def _parts(self) -> int:
        return self._sent[1]

    def _number(self, amount: Fraction) -> Number:
        """Return an amount in units as a number; as a float never less than it is."""
        real = amount / self.units.per_one
        if self.units.kind == "float":
            return _float_above(real)
        return int(real) if self.whole else real

    @property
    def eliminated(self) -> Number:
        return self._number(Fraction(self.stages[0].problem.limit))

    @property
    def contention(self) -> Number:
        return self._number(self.stages[0].beta)

    @property
    def levels(self) -> tuple[Number, ...]:
        return tuple(self._number(value) for value in level_values(self.stages))

    @property
    def quantum(self) -> Number:
        if self.units.kind != "float":
            return 0
        beta = self.stages[0].beta / self.units.per_one
        # Existing traffic may make the contention longer than the digits of a float.
        return _float_above(self.units.blur / self.units.per_one + Fraction(self.contention) - beta)

    @cached_property
    def flow(self) -> NDArray[Any]:
        flow = self._flow_numbers()
        flow.flags.writeable = False
        return flow

    def _link_units(self) -> Integers:
        """Return the flow (E,) on the links of the network in units of 1/parts."""
        return self.graph.on_network(self._flow)

    def _flow_numbers(self) -> NDArray[Any]:
        units = self._link_units()
        if self.units.kind == "float":
            return np.ldexp(units.astype(np.float64), _exponent(1 / self.units.per_one))
        if self.whole:
            return units.copy()
        different, place = np.unique(units, return_inverse=True)
        numbers = np.empty(len(different), dtype=object)
        numbers[:] = [self._number(Fraction(f, self._parts)) for f in different.tolist()]
        exact: NDArray[Any] = numbers[place]
        return exact

    @property
    def traffic(self) -> Number:
        on_links = self._flow[self.graph.origin >= 0]
        return self._number(Fraction(exact_sum(on_links), self._parts))

    @cached_property
    def bottleneck(self) -> NDArray[np.int64]:
        links = self._tight_links()
        links.flags.writeable = False
        return links

    def _tight_links(self) -> NDArray[np.int64]:
        return self.graph.origin[self.stages[0].tight()]

    def verify(self) -> bool:
        """Check feasibility, value and both cuts in exact arithmetic, whatever solver was used.

        The flow is held against the numbers as they were given, not as they were scaled.

        Returns
        -------
        bool
            True.

        Raises
        ------
        ValueError
            If anything does not hold, naming it.
        """
        verify(self.stages, self._flow, self._parts, self.whole)
        given = self.network.capacities, self.network.traffics, self.excess
        per_one = self.units.per_one * self._parts
        verify_given(self.network.edges, *given, self._link_units(), per_one)
        require(np.array_equal(self.flow, self._flow_numbers()), "flow is the one that was found")
        same = np.array_equal(self.bottleneck, self._tight_links())
        require(same, "the bottleneck is the cut that proves the contention")
        return True

    def routes(self, *, named: bool = False) -> list[Route]:
        """Return the flow as routes without cycles, whose amounts add up to it.

        With a routing scheme every route obeys it. With ``named`` nodes are called by their
        names, not by their numbers.
        """
        problem = self.stages[0].problem
        link = problem.residual.link
        count, source, sink, amount, ends, arcs = kernels("flows.routes").decompose(
            problem.residual, self._flow
        )
        if not count:
            return []
        source, sink, amount, ends = source[:count], sink[:count], amount[:count], ends[:count]
        nodes = np.argsort(self.graph.entry), np.argsort(self.graph.exit)
        entry, exit_ = np.sort(self.graph.entry), np.sort(self.graph.exit)
        sources = nodes[0][np.searchsorted(entry, source)].tolist()
        sinks = nodes[1][np.searchsorted(exit_, sink)].tolist()
        # Paths may hold 10**8 nodes: one object a node serves them all.
        node = np.arange(self.network.size).astype(object)
        hop = np.where(link >= 0, self.graph.origin[link], -1)
        entered = node[self.network.edges[hop, 1]]
        inner = bool((self.graph.origin < 0).any())
        found = []
        begin = 0
        for u, v, units, end in zip(sources, sinks, amount.tolist(), ends.tolist(), strict=True):
            along = arcs[begin:end]
            if inner:
                along = along[hop[along] >= 0]
            path = (u, *entered[along].tolist())
            found.append(Route(u, v, path, self._number(Fraction(units, self._parts))))
            begin = end
        if not named:
            return found
        names = self.network.names
        return [
            Route(names[u], names[v], tuple(names[node] for node in path), amount)
            for u, v, path, amount in found
        ]

    def targets(self) -> tuple[list[Fraction], list[Fraction]]:
        """Return the exact flow on the links of the search graph and into every node's room."""
        unit = self.units.per_one * self._parts
        arrived = np.zeros(self.graph.n, dtype=np.int64)
        np.add.at(arrived, self.graph.head, self._flow)
        np.subtract.at(arrived, self.graph.tail, self._flow)
        taken = np.maximum(arrived[self.graph.exit], 0).tolist()
        return [f / unit for f in self._flow.tolist()], [t / unit for t in taken]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready values; Fractions become strings such as "7/2".

        Of a network whose nodes have names also ``names`` and ``links``, the pairs of names
        that ``flow`` and ``bottleneck`` are of.
        """
        named: dict[str, Any] = {}
        if self.network.is_named:
            names = list(map(str, self.network.names))
            links = [[names[u], names[v]] for u, v in self.network.edges.tolist()]
            named = {"names": names, "links": links}
        return {
            "eliminated": plain(self.eliminated),
            "contention": plain(self.contention),
            "levels": [plain(level) for level in self.levels],
            "flow": [plain(f) for f in self.flow.tolist()],
            "traffic": plain(self.traffic),
            "bottleneck": self.bottleneck.tolist(),
            "iterations": self.iterations,
            "quantum": self.quantum,
            **named,
        }

    def __repr__(self) -> str:
        return (
            f"MinimaxPlan(eliminated={self.eliminated}, contention={self.contention}, "
            f"traffic={self.traffic})"
        )


class MinimaxBatch(Sequence[MinimaxPlan]):
    """Plans for a batch of excess vectors on one network; attributes are stacked.

    Scalars of a plan become arrays of the batch's shape, ``flow`` has shape ``(*batch, E)``;
    ``bottleneck`` and ``routes()`` are lists, in C order of the batch.
    """

    def __init__(self, plans: Sequence[MinimaxPlan], shape: tuple[int, ...], links: int) -> None:
        self._plans = tuple(plans)
        self.shape = shape
        self._links = links

    def __len__(self) -> int:
        return len(self._plans)

    def __getitem__(self, index: Any) -> Any:
        return self._plans[index]

    def __iter__(self) -> Iterator[MinimaxPlan]:
        return iter(self._plans)

    def __repr__(self) -> str:
        return f"<MinimaxBatch: plans of shape {self.shape} on {self._links} links>"

    def _stacked(self, name: str) -> NDArray[Any]:
        numbers = [getattr(plan, name) for plan in self._plans]
        kinds = {type(number) for number in numbers}
        kind = {int: np.int64, float: np.float64}.get(kinds.pop()) if len(kinds) == 1 else object
        values = np.empty(len(numbers), dtype=kind or object)
        values[:] = numbers
        return values.reshape(self.shape)

    @property
    def eliminated(self) -> NDArray[Any]:
        return self._stacked("eliminated")

    @property
    def contention(self) -> NDArray[Any]:
        return self._stacked("contention")

    @property
    def traffic(self) -> NDArray[Any]:
        return self._stacked("traffic")

    @property
    def iterations(self) -> NDArray[Any]:
        return self._stacked("iterations")

    @property
    def quantum(self) -> NDArray[Any]:
        return self._stacked("quantum")

    @property
    def flow(self) -> NDArray[Any]:
        if not self._plans:
            return np.empty((*self.shape, self._links), dtype=np.int64)
        flows = np.stack([plan.flow for plan in self._plans])
        return flows.reshape(*self.shape, self._links)

    @property
    def bottleneck(self) -> list[NDArray[np.int64]]:
        return [plan.bottleneck for plan in self._plans]

    def routes(self) -> list[list[Route]]:
        """Return the routes of every plan."""
        return [plan.routes() for plan in self._plans]

    def verify(self) -> bool:
        """Verify every plan; see :meth:`MinimaxPlan.verify`."""
        return all(plan.verify() for plan in self._plans)


def plain(number: Number) -> int | float | str:
    """Return a number as JSON holds it: a Fraction becomes a string unless it is whole."""
    if isinstance(number, Fraction):
        return number.numerator if number.denominator == 1 else str(number)
    return number


def _float_above(real: Fraction) -> float:
    try:
        near = float(real)
    except OverflowError:
        raise OverflowError("the plan's numbers must fit a float64; they exceed 1.8e308") from None
    return near if Fraction(near) >= real else math.nextafter(near, math.inf)


def _exponent(power: Fraction) -> int:
    """Return k of a power of two ``2**k``."""
    return power.numerator.bit_length() - power.denominator.bit_length()
