"""Indivisible loads: entities that go whole, each along one path (Minimax section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..accelerate import kernels
from ..arguments import one_of, whole_number
from ..display.cards import Displayed
from ..quantities import Number, Numbers, Quantities, read_number, read_quantities
from ..topologies.network import Expanded, Network
from ..topologies.parse import network_of
from ..topologies.topology import Topology
from .minimax import minimax_flow
from .plan import MinimaxPlan
from .routing import Routing, expand
from .scaling import Integers, Units, checked, common_kind, exact_sum, scale

if TYPE_CHECKING:
    from ..kernels.flows.entities import Links

METHODS = ("budget", "odfs")


@dataclass(frozen=True, eq=False, repr=False)
class EntityRoutes(Displayed):
    """Paths of indivisible entities.

    Attributes
    ----------
    paths : list
        For every entity the indices of its links in ``network.edges``: ``[]`` where it stays
        at its own node, None where it finds no way.
    load : (E,) array
        Load on every link.
    eliminated, contention, traffic : number
        Load that found room; the largest load on a link; units times links.
    bound : number
        No routing of this much load has a smaller contention.
    unrouted : list of int
        Entities that found no way.
    """

    paths: list[list[int] | None]
    load: NDArray[Any]
    eliminated: Number
    contention: Number
    traffic: Number
    bound: Number
    unrouted: list[int]

    def __repr__(self) -> str:
        return (
            f"EntityRoutes(eliminated={self.eliminated}, contention={self.contention}, "
            f"bound={self.bound}, unrouted={len(self.unrouted)})"
        )


@dataclass(frozen=True, eq=False)
class _Work:
    """A scaled problem of K entities; see ``kernels/flows/entities.py`` for the arrays."""

    network: Network
    routing: Routing
    graph: Expanded
    units: Units
    at: Integers  # (K,) nodes of the network
    sizes: list[Any]  # (K,) as given
    rooms: list[Any]  # (N,) as given
    size: Integers  # (K,) scaled
    links: Links  # of the graph
    room: Integers

    @property
    def excess(self) -> list[Any]:
        """What every node (N,) holds in entities less its room, exactly."""
        excess = [-_exact(room) for room in self.rooms]
        for node, size in zip(self.at.tolist(), self.sizes, strict=True):
            excess[node] += _exact(size)
        return excess

    @property
    def kept(self) -> list[Any]:
        """What every node (N,) could keep of its own load, were it divisible."""
        pairs = zip(self.excess, self.rooms, strict=True)
        return [_exact(room) + min(excess, 0) for excess, room in pairs]

    @property
    def rounded_excess(self) -> list[Any]:
        """The same as floats where there are floats among the data."""
        real = self.units.kind == "float"
        return [float(x) if real and isinstance(x, Fraction) else x for x in self.excess]

    def divisible(self, most: Number | None = None) -> MinimaxPlan:
        """Phase I: the minimax flow of the same load as if divisible, own room taken first."""
        plan = minimax_flow(
            self.network, self.rounded_excess, routing=self.routing, integral=False, max_moves=most
        )
        assert isinstance(plan, MinimaxPlan)
        return plan

    def largest_first(self) -> Integers:
        return np.argsort(-self.size, kind="stable")

    def number(self, amount: int) -> Number:
        real = amount / self.units.per_one
        if self.units.kind == "float":
            return float(real)
        return int(real) if real.denominator == 1 else real


def route_entities(
    network: Topology | str,
    entities: Iterable[tuple[int, Any]],
    room: Numbers,
    *,
    method: str = "budget",
    orders: int = 1,
    seed: int = 0,
    template: Numbers | None = None,
    routing: Routing = None,
) -> EntityRoutes:
    """Route entities of load whole, each along one path to a node with room for it.

    Parameters
    ----------
    network : Network, Topology or str
        As for :func:`minimax_flow`.
    entities : iterable of (node, size)
        Where each entity is and how large; int, float, Fraction or "41/7".
    room : (N,)
        Load every node can take.
    method : {"budget", "odfs"}
        Shortest paths within a contention budget that rises when nothing is left, or the
        paper's ordered depth-first search towards a template flow. Both take the largest
        entities first (ties: in the order given).
    orders : int
        "budget": how many orders to try; the first is largest first, the others are drawn from
        ``seed``. The one that moves most is kept, then least contention, then least traffic.
    template : (E,) or (E + N,), optional
        "odfs": target load on every link, then into the room of every node. Default: the
        minimax flow of the load as if it were divisible.
    routing : optional
        A routing scheme, as for :func:`minimax_flow`; the search runs on its graph.

    Raises
    ------
    ValueError, TypeError
        If an argument is not what it should be.
    OverflowError
        If scaled totals exceed ``2**61``.

    Notes
    -----
    Minimax section 5, Fig. 7. Finding the best routing is NP-hard (Theorem 2), so compare
    ``contention`` with ``bound``.

    Examples
    --------
    >>> r = route_entities(Network([(0, 1), (0, 2), (2, 1)]), [(0, 3), (0, 2)], [0, 9, 0])
    >>> r.paths, r.contention, r.bound
    ([[0], [1, 2]], 3, 3)
    """
    one_of("method", method, METHODS)
    network = network_of(network)
    orders = whole_number("orders", orders, 1)
    seed = whole_number("seed", seed, 0, below=2**128)
    at, sizes = _entities(entities, network.size)
    rooms = read_quantities("room", room, network.size, "nodes")
    work = _work(network, routing, at, sizes, rooms)
    plan = work.divisible()
    if method == "odfs":
        order = work.largest_first()
        return _result(work, plan, order, *_ordered(work, plan, order, template))
    return _result(work, plan, *_budget(work, plan, orders, seed))


def _entities(entities: Iterable[tuple[int, Any]], n: int) -> tuple[Integers, Quantities]:
    pairs = list(entities)
    node = np.empty(len(pairs), dtype=np.int64)
    sizes = []
    for i, pair in enumerate(pairs):
        try:
            at, size = pair
        except (TypeError, ValueError):
            raise ValueError(f"entities must be (node, size) pairs, got {pair!r} at {i}") from None
        if isinstance(at, bool) or not isinstance(at, int | np.integer) or not 0 <= at < n:
            raise ValueError(f"entities must be at nodes 0..{n - 1}, got {at!r} at {i}")
        node[i] = at
        sizes.append(read_number("size of an entity", size))
    return node, read_quantities("size of an entity", sizes, len(sizes), "entities")


def _work(
    network: Network, routing: Routing, at: Integers, sizes: Quantities, rooms: Quantities
) -> _Work:
    both = np.concatenate([sizes.values, -rooms.values])
    given = Quantities(both, np.zeros(len(both), dtype=bool))
    kind = common_kind(given, network.capacities, network.traffics)
    scaled = scale(kind, given, network.capacities, network.traffics)
    per_one = scaled.units.per_one
    # Rounded up, so that what fits the scaled capacities fits the given ones.
    size = [-math.floor(-Fraction(s) * per_one) for s in sizes.values.tolist()]
    total = checked("total size", sum(size))
    fits = [min(math.floor(Fraction(r) * per_one), total) for r in rooms.values.tolist()]
    graph = expand(network, routing)
    counted = graph.origin >= 0
    usable = np.full(len(counted), total)
    limits = np.where(network.capacities.unlimited, total, scaled.usable)
    usable[counted] = limits[graph.origin[counted]]
    room = np.zeros(graph.n, dtype=np.int64)
    room[graph.exit] = fits
    out = np.argsort(graph.tail, kind="stable")
    return _Work(
        network,
        routing,
        graph,
        scaled.units,
        at,
        sizes.values.tolist(),
        rooms.values.tolist(),
        np.array(size, dtype=np.int64),
        kernels("flows.entities").Links(
            np.searchsorted(graph.tail[out], np.arange(graph.n + 1)),
            out,
            graph.tail,
            graph.head,
            usable,
            counted,
        ),
        room,
    )


Found = tuple[Integers, Integers, Integers, Integers]  # ends, paths, sink, load of a kernel


def _budget(
    work: _Work, plan: MinimaxPlan, orders: int, seed: int
) -> tuple[Integers, Integers, Integers, Integers, Integers]:
    lowest = math.ceil(Fraction(plan.contention) * work.units.per_one)
    budget = np.int64(max(lowest, int(work.size.max(initial=0))))
    search = kernels("flows.entities").budget_search
    graph = work.graph
    draws = np.random.default_rng(seed)
    best: tuple[Any, ...] | None = None
    for trial in range(orders):
        order = work.largest_first()
        if trial:
            # Sizes blurred by up to a factor of two: still large before small, on the whole.
            order = np.argsort(-work.size * draws.uniform(0.5, 1.0, len(order)), kind="stable")
        found = search(
            work.links,
            work.room,
            graph.entry[work.at[order]],
            work.size[order],
            budget,
        )
        _, _, sink, load = found
        on_links = load[work.links.counted]
        moved = exact_sum(work.size[order][sink >= 0])
        rank = (-moved, int(on_links.max(initial=0)), exact_sum(on_links))
        if best is None or rank < best[0]:
            best = (rank, order, *found)
    assert best is not None
    return best[1], best[2], best[3], best[4], best[5]


def _ordered(work: _Work, plan: MinimaxPlan, order: Integers, template: Numbers | None) -> Found:
    target, room_target, parts = _template(work, plan, template)
    checked("total size times the template's denominator", exact_sum(work.size) * parts)
    found: Found = kernels("flows.entities").ordered_search(
        work.links,
        work.room,
        work.graph.entry[work.at[order]],
        work.size[order],
        target,
        room_target,
        np.int64(parts),
    )
    return found


def _template(
    work: _Work, plan: MinimaxPlan, template: Numbers | None
) -> tuple[Integers, Integers, int]:
    """Return the targets of links and rooms in units of 1/parts, and parts."""
    E, n = work.network.edge_count, work.network.size
    if template is None:
        wanted, inner = plan.targets()
        rooms = [Fraction(kept) + taken for kept, taken in zip(work.kept, inner, strict=True)]
    else:
        listed = list(template) if isinstance(template, Iterable) else template
        count = E + n if isinstance(listed, list) and len(listed) == E + n else E
        given = read_quantities("template", listed, count, "links", signed=True).values.tolist()
        wanted = [Fraction(0)] * len(work.links.counted)
        for k, link in enumerate(work.graph.origin.tolist()):
            if link >= 0:
                wanted[k] = Fraction(given[link])
        rooms = [Fraction(amount) for amount in given[E:]] or [Fraction(0)] * n
    units = work.units.per_one
    parts = math.lcm(*{(amount * units).denominator for amount in (*wanted, *rooms)})
    scaled = [int(amount * units * parts) for amount in (*wanted, *rooms)]
    checked("template, scaled,", max(map(abs, scaled), default=0))
    room_target = np.zeros(work.graph.n, dtype=np.int64)
    room_target[work.graph.exit] = scaled[len(wanted) :]
    return np.array(scaled[: len(wanted)], dtype=np.int64), room_target, parts


def _result(
    work: _Work,
    plan: MinimaxPlan,
    order: Integers,
    ends: Integers,
    links: Integers,
    sink: Integers,
    load: Integers,
) -> EntityRoutes:
    paths: list[list[int] | None] = [None] * len(order)
    origin = work.graph.origin
    begin = 0
    for entity, end, at in zip(order.tolist(), ends.tolist(), sink.tolist(), strict=True):
        hops = origin[links[begin:end]]
        if at >= 0:
            paths[entity] = hops[hops >= 0].tolist()
        begin = end
    unrouted = [i for i, path in enumerate(paths) if path is None]
    moved = [size for size, path in zip(work.sizes, paths, strict=True) if path is not None]
    eliminated = sum(moved)
    on_links = np.zeros(work.network.edge_count, dtype=np.int64)
    on_links[origin[work.links.counted]] = load[work.links.counted]
    carried = [work.number(units) for units in on_links.tolist()]
    return EntityRoutes(
        paths,
        np.array(carried, dtype=None if work.units.kind != "rational" else object),
        eliminated,
        work.number(int(on_links.max(initial=0))),
        work.number(exact_sum(on_links)),
        _bound(work, plan, moved, unrouted),
        unrouted,
    )


def _exact(number: Number) -> Any:
    return Fraction(number) if isinstance(number, float) else number


def _surely(work: _Work, plan: MinimaxPlan) -> Number:
    """Return what the contention is at least for the data before any rounding.

    Entities make whole units where no number had to be rounded, and beta* is one then.
    """
    pairs = zip(work.excess, work.rounded_excess, strict=True)
    off = sum(math.ulp(near) for exact, near in pairs if near != exact)
    if plan.units.blur <= 1 and off == 0:
        return plan.contention
    return math.nextafter(max(plan.contention - plan.quantum - off, 0.0), 0.0)


def _bound(work: _Work, plan: MinimaxPlan, moved: list[Any], unrouted: list[int]) -> Number:
    """Return a contention that no routing of the sizes moved (K,) undercuts.

    When everything is routed it is at least the largest entity that cannot stay at its node;
    else the least contention of the routed amount, were it divisible.
    """
    if unrouted:
        away = sum(map(_exact, moved)) - sum(work.kept)
        contention = _surely(work, work.divisible(max(away, 0))) if away > 0 else 0
        sizes: list[Number] = []
    else:
        contention = _surely(work, plan)
        pairs = zip(work.at.tolist(), work.sizes, strict=True)
        sizes = [size for node, size in pairs if size > work.rooms[node]]
    bound: Number = max([contention, *sizes])
    whole = isinstance(bound, Fraction) and bound.denominator == 1
    return int(bound) if whole else bound
