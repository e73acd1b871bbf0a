"""The plan a minimax flow gives: value, contention, flow, bottleneck, routes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..accelerate import kernels
from ..display.cards import card
from ..display.drawings import BLUE, GREY, MOST_LINKS, MOST_NODES, ORANGE, network_drawing
from ..display.html import Markup
from ..display.numbers import shown
from ..display.tables import html_table
from ..quantities import Number, Quantities
from ..topologies.network import Expanded, Network
from .certificate import Level, level_values, require, verify, verify_input
from .scaling import Integers, Units, exact_sum
from .search import MaxFlow

# Links of the largest network whose routes a notebook shows, and rows of its tables.
MOST_SHOWN, LISTED = 10_000, 10


class Route(NamedTuple):
    """An amount of load that goes from a source along a path of nodes to a sink.

    Nodes are numbers, or names where ``routes(named=True)`` was asked for, which are of any type.
    """

    source: int
    sink: int
    path: tuple[int, ...]
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
    held_back : int, Fraction or float
        Load that was asked to move and has room, but that the links do not let through: 0
        where all of it moves. Pinned load and load beyond ``max_moves`` are not asked for.
    full_links : (K,) int64
        Links of the cut that proves the load moved: they are full, and the load held back
        could move only over them. Empty where nothing is held back, or where no capacities
        would let more of it move, as no links lead to the room.
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
    def held_back(self) -> Number:
        return self._number(Fraction(self.stages[0].held_back))

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

    @cached_property
    def full_links(self) -> NDArray[np.int64]:
        links = self._links_of_value_cut()
        links.flags.writeable = False
        return links

    def _links_of_value_cut(self) -> NDArray[np.int64]:
        links = np.unique(self.graph.origin[self.stages[0].full(self._flow, self._parts)])
        return links[links >= 0]

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
        numbers = self.network.capacities, self.network.traffics, self.excess
        per_one = self.units.per_one * self._parts
        verify_input(self.network.edges, *numbers, self._link_units(), per_one)
        require(np.array_equal(self.flow, self._flow_numbers()), "flow is the one of the search")
        same = np.array_equal(self.bottleneck, self._tight_links())
        require(same, "the bottleneck is the cut that proves the contention")
        same = np.array_equal(self.full_links, self._links_of_value_cut())
        require(same, "the full links are the cut that proves the load eliminated")
        return True

    @overload
    def routes(self, *, named: Literal[False] = ...) -> list[Route]: ...
    @overload
    def routes(self, *, named: bool) -> list[Any]: ...
    def routes(self, *, named: bool = False) -> list[Any]:
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
        routes: list[Route] = []
        begin = 0
        for u, v, units, end in zip(sources, sinks, amount.tolist(), ends.tolist(), strict=True):
            along = arcs[begin:end]
            if inner:
                along = along[hop[along] >= 0]
            path = (u, *entered[along].tolist())
            routes.append(Route(u, v, path, self._number(Fraction(units, self._parts))))
            begin = end
        if not named:
            return routes
        names = self.network.names
        return [
            Route(names[u], names[v], tuple(names[node] for node in path), amount)
            for u, v, path, amount in routes
        ]

    def targets(self) -> tuple[list[Fraction], list[Fraction]]:
        """Return the exact flow on the links of the search graph and into every node's room."""
        unit = self.units.per_one * self._parts
        arrived = np.zeros(self.graph.n, dtype=np.int64)
        np.add.at(arrived, self.graph.head, self._flow)
        np.subtract.at(arrived, self.graph.tail, self._flow)
        received = np.maximum(arrived[self.graph.exit], 0).tolist()
        return [f / unit for f in self._flow.tolist()], [t / unit for t in received]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON-ready values; Fractions become strings such as "7/2".

        Of a network whose nodes have names also ``names`` and ``links``, the pairs of names
        that ``flow``, ``bottleneck`` and ``full_links`` are of.
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
            "held_back": plain(self.held_back),
            "full_links": self.full_links.tolist(),
            "iterations": self.iterations,
            "quantum": self.quantum,
            **named,
        }

    def _repr_html_(self) -> str:
        network = self.network
        about: dict[str, Any] = {"eliminated": self.eliminated, "contention": self.contention}
        if len(self.stages) > 1:
            about["levels"] = self.levels
        if network.edge_count > MOST_SHOWN:
            return card(f"minimax flow on {network!r}", about)
        labels, tight = network._labels(), self.bottleneck.tolist()
        about |= {"traffic": self.traffic, "links of the bottleneck": len(tight)}
        if self.held_back:
            about |= {"cannot move": self.held_back, "full links": len(self.full_links)}
        links, full = (
            [
                [*(labels[node] for node in network.edges[k].tolist()), shown(self.flow[k])]
                for k in listed[:LISTED]
            ]
            for listed in (tight, self.full_links.tolist())
        )
        routes = [
            [" ".join(labels[node] for node in route.path), shown(route.amount)]
            for route in self.routes()[:LISTED]
        ]
        tables = (
            (["full link", ""], full),
            (["bottleneck", ""], links),
            (["route"], routes),
        )
        parts = [
            html_table([*headings, "load"], rows, names=len(headings))
            for headings, rows in tables
            if rows
        ]
        return card(f"minimax flow on {network!r}", about, *parts, *self._drawing(labels))

    def _drawing(self, labels: list[str]) -> list[Markup]:
        """Return a drawing of the links that carry load, or nothing of a large network."""
        network = self.network
        if network.size > MOST_NODES or network.edge_count > MOST_LINKS:
            return []
        sent = self.flow.astype(np.float64)
        used = np.flatnonzero(sent)
        excess = [0 if x is None else x for x in self.excess.numbers]
        colours = [ORANGE if x > 0 else BLUE if x < 0 else GREY for x in excess]
        drawing = network_drawing(
            network._places(network.links),
            network.edges[used],
            about="orange has too much, blue has room; wider carries more; bottleneck green",
            names=labels,
            colours=colours,
            flows=sent[used],
            tight=np.flatnonzero(np.isin(used, self.bottleneck)).tolist(),
        )
        return [drawing]

    def __repr__(self) -> str:
        return (
            f"MinimaxPlan(eliminated={self.eliminated}, contention={self.contention}, "
            f"traffic={self.traffic})"
        )


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
