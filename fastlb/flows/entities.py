"""Indivisible loads: entities that move whole, each along one path (Minimax section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

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
        at its own node, None where there is no path for it.
    load : (E,) array
        Load on every link.
    eliminated, contention, traffic : number
        Load that was routed; the largest load on a link; units times links.
    bound : number
        No routing of this much load has a smaller contention.
    unrouted : list of int
        Entities without a path.
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
class _Problem:
    """K entities to be routed, in exact amounts and in the kernels' units.

    For ``links`` see ``kernels/flows/entities.py``.
    """

    network: Network
    routing: Routing
    graph: Expanded
    units: Units
    node: Integers  # (K,) nodes of the network
    sizes: list[Any]  # (K,) as the user passed them
    rooms: list[Any]  # (N,) as the user passed them
    scaled_size: Integers  # (K,)
    scaled_room: Integers  # (n,) of the graph's nodes
    links: Links  # of the graph

    @property
    def excess(self) -> list[Any]:
        """The entities at each node (N,) less its room, exactly."""
        excess = [-_exact(room) for room in self.rooms]
        for node, size in zip(self.node.tolist(), self.sizes, strict=True):
            excess[node] += _exact(size)
        return excess

    @property
    def retained(self) -> list[Any]:
        """The load of each node (N,) that fits its own room, were the load divisible."""
        pairs = zip(self.excess, self.rooms, strict=True)
        return [_exact(room) + min(excess, 0) for excess, room in pairs]

    @property
    def rounded_excess(self) -> list[Any]:
        """The excess, as floats if any number is a float."""
        real = self.units.kind == "float"
        return [float(x) if real and isinstance(x, Fraction) else x for x in self.excess]

    def divisible(self, max_moves: Number | None = None) -> MinimaxPlan:
        """Return the minimax flow of the load as if divisible, after nodes fill their own room.

        This is phase I of the paper's method.
        """
        plan = minimax_flow(
            self.network,
            self.rounded_excess,
            routing=self.routing,
            integral=False,
            max_moves=max_moves,
        )
        assert isinstance(plan, MinimaxPlan)
        return plan

    def largest_first(self) -> Integers:
        return np.argsort(-self.scaled_size, kind="stable")

    def in_order(self, order: Integers) -> tuple[Integers, Integers]:
        """Return the graph's node and the scaled size of each entity, in an order of entities."""
        return self.graph.entry[self.node[order]], self.scaled_size[order]

    def number(self, amount: int) -> Number:
        """Return a scaled amount in the user's units."""
        real = amount / self.units.per_one
        if self.units.kind == "float":
            return float(real)
        return int(real) if real.denominator == 1 else real


class _Routed(NamedTuple):
    """The result of a search for entities in some order; see ``kernels/flows/entities.py``."""

    order: Integers
    ends: Integers
    paths: Integers
    sink: Integers
    load: Integers


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
        Shortest paths within a contention budget that rises when no entity fits it any more, or
        the paper's ordered depth-first search towards a template flow. Both route the largest
        entities first (ties: in the order of ``entities``).
    orders : int
        "budget": how many orders to try; the first is largest first, the others are drawn from
        ``seed``. The result is of the order that moves most, then has the least contention, then
        the least traffic.
    template : (E,) or (E + N,), optional
        "odfs": target load on every link, then into the room of every node. Default: the
        minimax flow of the load as if it were divisible.
    routing : optional
        A routing scheme, as for :func:`minimax_flow`; the search runs on its graph.

    Raises
    ------
    ValueError, TypeError
        On arguments that do not fit.
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
    node, sizes = _read_entities(entities, network.size)
    rooms = read_quantities("room", room, network.size, "nodes")
    problem = _scaled_problem(network, routing, node, sizes, rooms)
    plan = problem.divisible()
    if method == "odfs":
        return _result(problem, plan, _ordered_search(problem, plan, template))
    return _result(problem, plan, _budget_search(problem, plan, orders, seed))


def _read_entities(entities: Iterable[tuple[int, Any]], n: int) -> tuple[Integers, Quantities]:
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


def _scaled_problem(
    network: Network, routing: Routing, node: Integers, sizes: Quantities, rooms: Quantities
) -> _Problem:
    values = np.concatenate([sizes.values, -rooms.values])
    amounts = Quantities(values, np.zeros(len(values), dtype=bool))
    kind = common_kind(amounts, network.capacities, network.traffics)
    scaled = scale(kind, amounts, network.capacities, network.traffics)
    per_one = scaled.units.per_one
    # Sizes are rounded up and rooms down, so that what fits in scaled amounts fits exactly.
    size = [-math.floor(-Fraction(s) * per_one) for s in sizes.values.tolist()]
    total = checked("total size", sum(size))
    room = [min(math.floor(Fraction(r) * per_one), total) for r in rooms.values.tolist()]
    graph = expand(network, routing)
    counted = graph.origin >= 0
    usable = np.full(len(counted), total)
    limits = np.where(network.capacities.unlimited, total, scaled.usable)
    usable[counted] = limits[graph.origin[counted]]
    scaled_room = np.zeros(graph.n, dtype=np.int64)
    scaled_room[graph.exit] = room
    out = np.argsort(graph.tail, kind="stable")
    start = np.searchsorted(graph.tail[out], np.arange(graph.n + 1))
    return _Problem(
        network=network,
        routing=routing,
        graph=graph,
        units=scaled.units,
        node=node,
        sizes=sizes.values.tolist(),
        rooms=rooms.values.tolist(),
        scaled_size=np.array(size, dtype=np.int64),
        scaled_room=scaled_room,
        links=kernels("flows.entities").Links(start, out, graph.tail, graph.head, usable, counted),
    )


def _budget_search(problem: _Problem, plan: MinimaxPlan, orders: int, seed: int) -> _Routed:
    """Route in several orders; return what moves most, then has least contention and traffic."""
    lowest = math.ceil(Fraction(plan.contention) * problem.units.per_one)
    budget = np.int64(max(lowest, int(problem.scaled_size.max(initial=0))))
    search = kernels("flows.entities").budget_search
    generator = np.random.default_rng(seed)
    order = problem.largest_first()
    best: _Routed | None = None
    best_rank: tuple[int, int, int] | None = None
    for _ in range(orders):
        routed = _Routed(
            order, *search(problem.links, problem.scaled_room, *problem.in_order(order), budget)
        )
        on_links = routed.load[problem.links.counted]
        moved = exact_sum(problem.scaled_size[order][routed.sink >= 0])
        rank = -moved, int(on_links.max(initial=0)), exact_sum(on_links)
        if best_rank is None or rank < best_rank:
            best, best_rank = routed, rank
        # Sizes are scaled at random by up to a factor of two: larger entities tend to come first.
        weights = generator.uniform(0.5, 1.0, len(order))
        order = np.argsort(-problem.scaled_size * weights, kind="stable")
    assert best is not None
    return best


def _ordered_search(problem: _Problem, plan: MinimaxPlan, template: Numbers | None) -> _Routed:
    """Route by the paper's ordered depth-first search."""
    order = problem.largest_first()
    target, room_target, parts = _template(problem, plan, template)
    total = exact_sum(problem.scaled_size)
    checked("total size times the template's denominator", total * parts)
    search = kernels("flows.entities").ordered_search
    return _Routed(
        order,
        *search(
            problem.links,
            problem.scaled_room,
            *problem.in_order(order),
            target,
            room_target,
            np.int64(parts),
        ),
    )


def _template(
    problem: _Problem, plan: MinimaxPlan, template: Numbers | None
) -> tuple[Integers, Integers, int]:
    """Return the targets of links and rooms in units of 1/parts, and parts."""
    E, n = problem.network.edge_count, problem.network.size
    if template is None:
        targets, received = plan.targets()
        rooms = [
            Fraction(retained) + amount
            for retained, amount in zip(problem.retained, received, strict=True)
        ]
    else:
        listed = list(template) if isinstance(template, Iterable) else template
        count = E + n if isinstance(listed, list) and len(listed) == E + n else E
        values = read_quantities("template", listed, count, "links", signed=True).values.tolist()
        targets = [
            Fraction(values[link] if link >= 0 else 0) for link in problem.graph.origin.tolist()
        ]
        rooms = [Fraction(amount) for amount in values[E:]] or [Fraction(0)] * n
    units = problem.units.per_one
    parts = math.lcm(*{(amount * units).denominator for amount in (*targets, *rooms)})
    scaled = [int(amount * units * parts) for amount in (*targets, *rooms)]
    checked("template, scaled,", max(map(abs, scaled), default=0))
    room_target = np.zeros(problem.graph.n, dtype=np.int64)
    room_target[problem.graph.exit] = scaled[len(targets) :]
    return np.array(scaled[: len(targets)], dtype=np.int64), room_target, parts


def _result(problem: _Problem, plan: MinimaxPlan, routed: _Routed) -> EntityRoutes:
    paths: list[list[int] | None] = [None] * len(routed.order)
    origin, counted = problem.graph.origin, problem.links.counted
    begin = 0
    numbers = zip(routed.order.tolist(), routed.ends.tolist(), routed.sink.tolist(), strict=True)
    for entity, end, sink in numbers:
        links = origin[routed.paths[begin:end]]
        if sink >= 0:
            # Links that the routing scheme added have no origin.
            paths[entity] = links[links >= 0].tolist()
        begin = end
    unrouted = [i for i, path in enumerate(paths) if path is None]
    moved = [size for size, path in zip(problem.sizes, paths, strict=True) if path is not None]
    on_links = np.zeros(problem.network.edge_count, dtype=np.int64)
    on_links[origin[counted]] = routed.load[counted]
    load = [problem.number(amount) for amount in on_links.tolist()]
    return EntityRoutes(
        paths=paths,
        load=np.array(load, dtype=None if problem.units.kind != "rational" else object),
        eliminated=sum(moved),
        contention=problem.number(int(on_links.max(initial=0))),
        traffic=problem.number(exact_sum(on_links)),
        bound=_bound(problem, plan, moved, unrouted),
        unrouted=unrouted,
    )


def _exact(number: Number) -> Any:
    return Fraction(number) if isinstance(number, float) else number


def _least_contention(problem: _Problem, plan: MinimaxPlan) -> Number:
    """Return a lower bound of the contention for the data before any rounding.

    Entities make whole units where no number had to be rounded, and then the plan's contention is
    exact.
    """
    pairs = zip(problem.excess, problem.rounded_excess, strict=True)
    error = sum(math.ulp(rounded) for exact, rounded in pairs if rounded != exact)
    if plan.units.blur <= 1 and error == 0:
        return plan.contention
    return math.nextafter(max(plan.contention - plan.quantum - error, 0.0), 0.0)


def _bound(problem: _Problem, plan: MinimaxPlan, moved: list[Any], unrouted: list[int]) -> Number:
    """Return a contention that no routing of the sizes ``moved`` falls below.

    It is the least contention of the routed amount, were it divisible. When everything is routed,
    it is also at least the largest entity that cannot stay at its node.
    """
    sizes: list[Number] = []
    if unrouted:
        away = sum(map(_exact, moved)) - sum(problem.retained)
        contention: Number = 0
        if away > 0:
            contention = _least_contention(problem, problem.divisible(away))
    else:
        contention = _least_contention(problem, plan)
        pairs = zip(problem.node.tolist(), problem.sizes, strict=True)
        sizes = [size for node, size in pairs if size > problem.rooms[node]]
    bound: Number = max([contention, *sizes])
    whole = isinstance(bound, Fraction) and bound.denominator == 1
    return int(bound) if whole else bound
