"""Routing schemes that a plan obeys: rules R1-R3 and their layered shortcut (Minimax section 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..accelerate import kernels
from ..arguments import written
from ..display.cards import Displayed
from ..quantities import Number
from ..topologies.grids import Grid
from ..topologies.hypercube import Hypercube
from ..topologies.network import Expanded, Network
from ..topologies.parse import network_of
from ..topologies.topology import Topology
from .scaling import Integers

Rule = Callable[[int, int, int], bool]


@dataclass(frozen=True)
class RoutingScheme:
    """A routing scheme with the paper's properties P1-P3, given by its two-link paths.

    Parameters
    ----------
    allows : callable
        ``allows(u, via, w)`` tells whether a message may go from ``u`` over ``via`` to ``w``.
        With P1-P3 a longer path is feasible exactly where all its two-link parts are.
    feasible : callable, optional
        ``feasible(path)`` on whole paths, for :func:`check_routing` of schemes that look
        further than two links.

    Examples
    --------
    >>> upwards = RoutingScheme(lambda u, via, w: u < via < w)
    >>> routing_graph(Network([(0, 1), (1, 2)]), upwards).n
    4
    """

    allows: Rule
    feasible: Callable[[Sequence[int]], bool] | None = None


@dataclass(frozen=True)
class DimensionOrder:
    """Dimension-order routing: all moves along one axis before any along the next."""

    axes: tuple[int, ...] | None = None


Routing = None | str | RoutingScheme | DimensionOrder


def dimension_order(axes: Sequence[int] | None = None) -> DimensionOrder:
    """Return dimension-order routing with this order of array axes, by default 0, 1, ...

    Axis 0 first is the paper's row-column routing, axis 1 first its column-row routing.

    Examples
    --------
    >>> dimension_order((1, 0))
    DimensionOrder(axes=(1, 0))
    """
    return DimensionOrder(None if axes is None else tuple(int(a) for a in axes))


@dataclass(frozen=True, eq=False)
class RoutingGraph(Displayed):
    """The transformed graph of rules R1-R3.

    Link ``k`` of the network is edge ``k``, from its out-vertex ``2k`` to its in-vertex
    ``2k + 1``. The other edges are the allowed two-link paths, unlimited and of weight 0
    (the paper prints capacity 1 for the infinity sign).

    Attributes
    ----------
    n : int
        Number of vertices, ``2E``.
    edges : (G, 2) int64
        Directed edges.
    capacity : tuple
        One value an edge, None where unlimited.
    weight : (G,) int64
        1 on links of the network, 0 on the others.
    """

    n: int
    edges: NDArray[np.int64]
    capacity: tuple[Number | None, ...]
    weight: NDArray[np.int64]


def routing_graph(network: Topology | str, scheme: Routing) -> RoutingGraph:
    """Return the paper's transformed graph of a routing scheme (rules R1-R3).

    Raises
    ------
    ValueError
        If the scheme does not apply to the network.
    """
    network = network_of(network)
    pairs = _link_pairs(network, _rule(network, scheme))
    E = network.edge_count
    links = np.stack([2 * np.arange(E), 2 * np.arange(E) + 1], axis=1)
    inner = np.stack([2 * pairs[:, 0] + 1, 2 * pairs[:, 1]], axis=1)
    weight = np.repeat(np.array([1, 0]), [E, len(pairs)])
    capacity = (*network.capacity, *(None,) * len(pairs))
    return RoutingGraph(2 * E, np.concatenate([links, inner]), capacity, weight)


def expand(network: Network, routing: Routing) -> Expanded:
    """Return the graph on which plans for this network and routing are computed."""
    if isinstance(routing, RoutingScheme):
        return _two_link_graph(network, routing)
    if routing is not None:
        topology, order = ordered_axes(network, routing)
        if network.edge_count:
            return _layered_graph(network, topology, order)
    return network.graph


def _two_link_graph(network: Network, scheme: RoutingScheme) -> Expanded:
    """Return the graph of rules R1-R5.

    The nodes of R4 are split into an entry and an exit, so that no route passes through them.
    Load that stays goes from the entry of its node straight to its exit.
    """
    E, n = network.edge_count, network.size
    tail, head = network.edges.T
    pairs = _link_pairs(network, scheme.allows)
    links = np.arange(E)
    entry, exit_ = 2 * E + np.arange(n), 2 * E + n + np.arange(n)
    return _expanded(
        2 * E + 2 * n,
        np.concatenate([2 * links, 2 * pairs[:, 0] + 1, entry[tail], 2 * links + 1, entry]),
        np.concatenate([2 * links + 1, 2 * pairs[:, 1], 2 * links, exit_[head], exit_]),
        np.concatenate([links, np.full(len(pairs) + 2 * E + n, -1)]),
        entry,
        exit_,
    )


def _layered_graph(network: Network, topology: Topology, order: tuple[int, ...]) -> Expanded:
    """Return a graph with a copy of the nodes per axis; links along an axis stay in its copy.

    On an unwrapped axis a route that turns back would use a link in both directions, which a net
    flow never does. A ring of three is crossed in one hop, so its links lead to the next copy.
    """
    n, E = network.size, network.edge_count
    shape = np.array(topology.shape)
    steps = _coordinates(topology, network.edges[:, 1]) - _coordinates(
        topology, network.edges[:, 0]
    )
    axis = np.argmax(steps != 0, axis=0) if E else np.empty(0, np.int64)
    rank = np.empty(len(shape), dtype=np.int64)
    rank[list(order)] = np.arange(len(order))
    layer = rank[axis]
    last = _wraps(topology)[axis] & (shape[axis] == 3)
    layers = len(order) + int(bool(last.any()))
    nodes = np.arange(n)
    stay = [np.arange(n * (layers - 1)), np.arange(n, n * layers)]
    return _expanded(
        n * layers,
        np.concatenate([layer * n + network.edges[:, 0], stay[0]]),
        np.concatenate([(layer + last) * n + network.edges[:, 1], stay[1]]),
        np.concatenate([np.arange(E), np.full(n * (layers - 1), -1)]),
        nodes,
        nodes + n * (layers - 1),
    )


def _expanded(
    n: int, tail: Integers, head: Integers, origin: Integers, entry: Integers, exit_: Integers
) -> Expanded:
    residual = kernels("flows.residual").residual_graph(n, tail, head)
    return Expanded(n, tail, head, origin, entry, exit_, residual)


def _coordinates(topology: Topology, nodes: Integers) -> Integers:
    return np.stack(np.unravel_index(nodes, topology.shape))


def _wraps(topology: Topology) -> NDArray[np.bool_]:
    flags = topology.wrap if isinstance(topology, Grid) else (False,) * topology.ndim
    return np.array(flags, dtype=bool)


def ordered_axes(
    network: Network, routing: str | DimensionOrder
) -> tuple[Topology, tuple[int, ...]]:
    """Return the topology a named scheme runs on and its order of axes."""
    topology = network.topology
    named = isinstance(routing, str) and routing in ("e-cube", "dimension-order")
    if not (named or isinstance(routing, DimensionOrder)):
        kind = ValueError if isinstance(routing, str) else TypeError
        raise kind(
            "routing must be None, 'e-cube', 'dimension-order' or a RoutingScheme, "
            f"got {written(routing)}"
        )
    if not isinstance(topology, Grid | Hypercube):
        raise ValueError(
            f"routing {_name(routing)} needs a network made by topology.network() of a grid or "
            f"hypercube, got {network!r}"
        )
    _check_links(network, topology)
    axes = tuple(range(topology.ndim))
    if routing == "e-cube":
        if not isinstance(topology, Hypercube):
            raise ValueError(f"routing 'e-cube' needs a hypercube, got {topology!r}")
        return topology, axes[::-1]
    if isinstance(routing, DimensionOrder) and routing.axes is not None:
        if sorted(routing.axes) != list(axes):
            raise ValueError(f"axes must be an order of {axes} on {topology!r}, got {routing.axes}")
        axes = routing.axes
    long = [k for k, wrap in zip(topology.shape, _wraps(topology), strict=True) if wrap and k > 3]
    if long:
        raise ValueError(
            f"routing {_name(routing)} cannot be used on {topology!r}: on a ring of {long[0]} two "
            "shortest paths that overlap in a link may join into one that is not shortest, which "
            "violates P3; route on the mesh, or without a scheme"
        )
    return topology, axes


def _check_links(network: Network, topology: Grid | Hypercube) -> None:
    """Refuse links that are not the topology's, which users may pass to Network themselves."""
    if network.size != topology.size:
        raise ValueError(
            f"network must have the {topology.size} nodes of {topology!r}, got {network.size}"
        )
    if not network.edge_count:
        return
    distances = np.abs(np.diff(_coordinates(topology, network.edges.T), axis=1))[:, 0]
    shape = np.array(topology.shape).reshape(-1, 1)
    wraps = _wraps(topology).reshape(-1, 1)
    near = (distances == 1) | wraps & (distances == shape - 1) & (shape > 1)
    fits = (near | (distances == 0)).all(axis=0) & ((distances > 0).sum(axis=0) == 1)
    if not fits.all():
        u, v = network.edges[int(np.argmin(fits))].tolist()
        raise ValueError(f"network must have links of {topology!r} alone, got {(u, v)}")


def _name(routing: str | DimensionOrder) -> str:
    return repr(routing) if isinstance(routing, str) else "'dimension-order'"


def _rule(network: Network, scheme: Routing) -> Rule:
    if isinstance(scheme, RoutingScheme):
        return scheme.allows
    if not isinstance(scheme, str | DimensionOrder):
        raise TypeError(f"scheme must be a name or a RoutingScheme, got {written(scheme)}")
    topology, order = ordered_axes(network, scheme)
    rank = {axis: i for i, axis in enumerate(order)}
    wraps = _wraps(topology)

    def move(u: int, v: int) -> tuple[int, int]:
        pairs = zip(topology.address(u), topology.address(v), strict=True)
        return next((axis, b - a) for axis, (a, b) in enumerate(pairs) if a != b)

    def rule(u: int, via: int, w: int) -> bool:
        (first, step), (second, next_step) = move(u, via), move(via, w)
        if first == second:
            return step == next_step and not wraps[first]
        return rank[first] < rank[second]

    return rule


def _link_pairs(network: Network, rule: Rule) -> Integers:
    """Return the pairs of links (T, 2) that may follow each other."""
    leaving: list[list[int]] = [[] for _ in range(network.size)]
    ends = network.edges.tolist()
    for k, (u, _) in enumerate(ends):
        leaving[u].append(k)
    pairs = [
        (k, m) for k, (u, via) in enumerate(ends) for m in leaving[via] if rule(u, via, ends[m][1])
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
