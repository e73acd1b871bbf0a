"""Maximum flow in a network: the most that gets from some nodes to others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..display.cards import card
from ..display.html import Markup
from ..display.numbers import shown
from ..display.tables import html_table
from ..quantities import Number, Quantities
from ..topologies.network import Network
from ..topologies.parse import network_of
from ..topologies.topology import Topology
from .amounts import (
    SUM_BITS,
    Capacities,
    Scale,
    available_capacity,
    exactly_available,
    outflow,
)
from .certificate import require, within
from .ends import read_nodes
from .maximum import bounded_flow
from .plan import plain
from .problem import Nodes
from .scaling import Integers, common_kind, exact_sum

# Rows of a notebook's table.
LISTED = 10


def maximum_flow(network: Topology | str, source: Any, sink: Any) -> MaximumFlow:
    """Send as much as possible from some nodes of a network to others.

    Parameters
    ----------
    network : Network, Topology or str
        Links with capacity C and existing traffic F; ``max(0, C - F)`` is left. Another topology
        or its spelling, ``"hypercube:3"``, means both directions of its links, unlimited.
    source, sink : node or several
        Where it comes from and goes to: names of nodes, or numbers where those are no names.

    Returns
    -------
    MaximumFlow
        The value, the flow on every link, and the cut that proves that no more passes.

    Raises
    ------
    UnboundedError
        If unlimited links lead from a source to a sink.
    OverflowError
        If the value does not fit int64, of rationals in units of their common denominator.
    ValueError, TypeError
        If a node is not there, or is both source and sink.

    Notes
    -----
    Integers and Fractions are exact. Floats are rounded down to a power of two so small that their
    sum has 61 bits: the flow keeps to every capacity, and the value is within ``quantum`` of the
    largest.

    Examples
    --------
    >>> network = Network([(0, 1), (0, 2), (1, 2)], capacity=[4, "1/2", 3])
    >>> f = maximum_flow(network, 0, 2)
    >>> f.value, f.cut.tolist(), f.verify()
    (Fraction(7, 2), [1, 2], True)
    """
    network = network_of(network)
    sources, sinks = read_nodes("source", source, network), read_nodes("sink", sink, network)
    both = np.intersect1d(sources, sinks)
    if both.size:
        raise ValueError(f"source and sink must differ, got node {network.names[both[0]]!r} twice")
    is_float = common_kind(network.capacities, network.traffics) == "float"
    most = _most(network, sources, sinks) if is_float else math.inf
    available = available_capacity(network, most)
    scale = Scale.of(SUM_BITS, available)
    capacities = Capacities.of(available, scale)
    limits = capacities.units, capacities.unlimited, capacities.total
    tail, head, graph = network.graph.tail, network.graph.head, network.graph.residual
    found = bounded_flow(network.size, tail, head, *limits, sources, sinks, graph)
    flow, side = found.flow, found.source_side
    flow.flags.writeable = side.flags.writeable = False
    result = MaximumFlow(network, sources, sinks, side, scale, flow, found.value)
    # Capacities beyond int64 were cut off.
    cut_off = available.values.dtype == object and scale.kind != "float"
    if cut_off and result._cut_capacity() != result.value:
        raise OverflowError(f"the maximum flow must fit int64, but it exceeds {found.value}")
    return result


def _most(network: Network, sources: Integers, sinks: Integers) -> float:
    """Return what can leave the sources, or reach the sinks, at most; roughly."""
    limits = np.where(network.capacities.unlimited, np.inf, network.capacities.values)
    ends = zip(network.edges.T, (sources, sinks), strict=True)
    return 2 * min(float(limits[np.isin(end, nodes)].sum()) for end, nodes in ends)


@dataclass(frozen=True, eq=False, repr=False)
class MaximumFlow:
    """A flow of the largest value, and a cut that proves it.

    Numbers are ints for integer data, Fractions for rationals, floats where any number is one.

    Attributes
    ----------
    network : Network
        The network it was made for.
    sources, sinks : (K,) int64
        Numbers of the nodes.
    value : int, Fraction or float
        What leaves the sources and reaches the sinks.
    flow : (E,) int64, float64 or object
        What is sent along every link of ``network.edges``.
    source_side : (N,) bool
        The nodes on the sources' side of the cut.
    cut : (K,) int64
        The links from there to the other nodes: all they can carry together is the value.
    quantum : float or 0
        Float data: how far the value is from the largest one at most. 0 for exact data.

    Examples
    --------
    >>> import fastlb as lb
    >>> links = [("fra", "ams"), ("fra", "par"), ("ams", "par")]
    >>> names = ["fra", "ams", "par"]
    >>> edges = [[names.index(name) for name in link] for link in links]
    >>> network = lb.Network(edges, capacity=[40, 10, 25], names=names)
    >>> lb.maximum_flow(network, "fra", "par")
    <MaximumFlow: 35 from 1 node to 1 node, cut of 2 links>
    """

    network: Network
    sources: Integers
    sinks: Integers
    source_side: Nodes
    _scale: Scale
    _units: Integers
    _sent: int

    @property
    def value(self) -> Number:
        return self._scale.number(self._sent)

    @cached_property
    def flow(self) -> NDArray[Any]:
        flow = self._scale.numbers(self._units)
        flow.flags.writeable = False
        return flow

    @cached_property
    def cut(self) -> Integers:
        side, edges = self.source_side, self.network.edges
        return np.flatnonzero(side[edges[:, 0]] & ~side[edges[:, 1]])

    @property
    def quantum(self) -> Number:
        if self._scale.kind != "float":
            return 0
        return float(max(1, len(self.cut)) * (1 / self._scale.per_one))

    def _cut_capacity(self) -> Any:
        """Return what the links of the cut carry together, exactly, from the user's numbers."""
        column = self.network.capacities
        if column.unlimited[self.cut].any():
            return None
        if self._scale.kind == "float":
            column = available_capacity(self.network)
            units = self._scale.units(Quantities(column.values[self.cut], self.cut < 0), np.floor)
            return self._scale.number(exact_sum(units))
        available = exactly_available(self.network)[self.cut]
        return exact_sum(available) if available.dtype.kind == "i" else sum(available.tolist())

    def verify(self) -> bool:
        """Check the flow and the cut against the user's numbers, exactly.

        Returns
        -------
        bool
            True.

        Raises
        ------
        ValueError
            If anything does not hold, naming it.
        """
        network, units, side = self.network, self._units, self.source_side
        require(bool((units >= 0).all()), "no flow is negative")
        used = np.flatnonzero((units > 0) & ~network.capacities.unlimited)
        limits = exactly_available(network)[used]
        fits = within(units[used], self._scale.per_one, limits)
        require(fits, "no flow exceeds the capacity left by traffic")
        net = outflow(network, units)
        ends = np.zeros(network.size, bool)
        ends[self.sources] = ends[self.sinks] = True
        require(not net[~ends].any(), "what enters other nodes leaves them")
        arrives = -exact_sum(net[self.sinks])
        require(
            exact_sum(net[self.sources]) == arrives, "what leaves the sources reaches the sinks"
        )
        sides = bool(side[self.sources].all()) and not side[self.sinks].any()
        require(sides, "a cut parts the sources from the sinks")
        require(self._sent == arrives, "the value is what is sent")
        require(self.value == self._cut_capacity(), "the value is the capacity of the cut")
        require(np.array_equal(self.flow, self._scale.numbers(units)), "flow is the one computed")
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values; Fractions become strings such as "7/2"."""
        return {
            "value": plain(self.value),
            "sources": self.sources.tolist(),
            "sinks": self.sinks.tolist(),
            "flow": [plain(amount) for amount in self.flow.tolist()],
            "source_side": self.source_side.tolist(),
            "cut": self.cut.tolist(),
            "quantum": self.quantum,
        }

    def _repr_html_(self) -> Markup:
        labels, edges = self.network._labels(), self.network.edges
        about = {
            "value": self.value,
            "sources": len(self.sources),
            "sinks": len(self.sinks),
            "links of the cut": len(self.cut),
        }
        rows = [
            [*(labels[node] for node in edges[k].tolist()), shown(self.flow[k])]
            for k in self.cut[:LISTED].tolist()
        ]
        tables = [html_table(["cut", "", "carries"], rows, names=2)] if rows else []
        return card(f"maximum flow on {self.network!r}", about, *tables)

    def __repr__(self) -> str:
        sources, sinks = (
            f"{len(nodes):,} node{'' if len(nodes) == 1 else 's'}"
            for nodes in (self.sources, self.sinks)
        )
        cut = f"{len(self.cut):,} link{'' if len(self.cut) == 1 else 's'}"
        return f"<MaximumFlow: {shown(self.value)} from {sources} to {sinks}, cut of {cut}>"
