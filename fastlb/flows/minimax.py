"""Minimax flow: the most load moved at the least contention (Minimax sections 2-4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import one_of, tensor_as_array, whole_number
from ..quantities import Kind, Number, Numbers, Quantities, Vector, read_number, read_quantities
from ..topologies.network import Expanded, Network
from ..topologies.parse import network_of, read_topology
from ..topologies.topology import Topology
from .certificate import Level, level_values
from .plan import MinimaxPlan
from .planbatch import MinimaxBatch
from .problem import Nodes, Problem
from .routing import Routing, expand
from .scaling import Integers, Scaled, common_kind, scale
from .search import METHODS, MaxFlow, least_flow, search, short_flow

PLANS: dict[str, MaxFlow] = {"short": short_flow, "least": least_flow}


class FlowOptions(TypedDict, total=False):
    """The options of :func:`minimax_flow`."""

    contention: str
    integral: bool | None
    routing: Routing
    counted: ArrayLike | None
    pinned: ArrayLike | None
    max_moves: Any
    plan: str
    levels: int
    method: str


@overload
def minimax_flow(
    network: Topology | str,
    excess: Sequence[Number | str] | Vector,
    **options: Unpack[FlowOptions],
) -> MinimaxPlan: ...
@overload
def minimax_flow(
    network: Topology | str,
    excess: Sequence[Sequence[Any] | Vector],
    **options: Unpack[FlowOptions],
) -> MinimaxBatch: ...
# For arrays, whose number of axes is unknown to type checkers.
@overload
def minimax_flow(
    network: Topology | str, excess: Numbers, **options: Unpack[FlowOptions]
) -> Any: ...
def minimax_flow(
    network: Topology | str,
    excess: Numbers,
    *,
    contention: str = "transfer",
    integral: bool | None = None,
    routing: Routing = None,
    counted: ArrayLike | None = None,
    pinned: ArrayLike | None = None,
    max_moves: Any = None,
    plan: str = "short",
    levels: int = 1,
    method: str = "fused",
) -> MinimaxPlan | MinimaxBatch:
    """Move as much excess load as possible, with the least possible maximum contention.

    Parameters
    ----------
    network : Network, Topology or str
        Links with capacity C and existing traffic F; ``max(0, C - F)`` is left for load. Another
        topology or its spelling, ``"hypercube:3"``, means both directions of its links, unlimited.
    excess : (*batch, N)
        Positive: overloaded by that much; negative: room for that much. int, float, Fraction
        or strings such as "41/7".
    contention : {"transfer", "total"}
        What is kept low: the load on a link (the paper's C2) or existing traffic plus load (C1).
    integral : bool, optional
        Whether whole units move. Default: yes for integer data, no otherwise.
    routing : None, "e-cube", "dimension-order", dimension_order(axes) or RoutingScheme
        Scheme that all routes obey (section 4).
    counted : (E,) bool, optional
        Links whose contention counts (the paper's 0/1 weight). Default all.
    pinned : (N,) bool or node numbers, optional
        Nodes whose own load stays: they neither give nor take, and still forward.
    max_moves : number, optional
        Most load to move in all; rounded down to whole units where only those move. A float
        means its shortest decimal where the other data are exact.
    plan : {"short", "least"}
        Routes along shortest layers, or the exact least traffic at the least contention.
    levels : int
        Minimise that many distinct contentions one after the other: the worst links, then the
        second worst, and so on. More than 1 needs divisible load.
    method : {"fused", "mmc01", "scipy"}
        The fused kernel, the paper's iteration, or the latter over scipy's 32-bit maximum flow.

    Returns
    -------
    MinimaxPlan
        Or a MinimaxBatch where ``excess`` has batch axes.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks a rule; the message names it.
    OverflowError
        If scaled totals exceed ``2**61`` (``2**30`` for method "scipy").

    Notes
    -----
    Minimax section 2.2, Fig. 2. The step of MMC01 counts the links of the current minimum cut
    that can still grow; counting all saturated links, as the text may be read, need not end.
    Float data are rounded so that the plan never exceeds what was given; ``eliminated`` and
    ``contention`` are within ``quantum`` of those of the data before that.

    Examples
    --------
    >>> p = minimax_flow(Network([(0, 1), (0, 2), (2, 1)]), [7, -7, 0], integral=False)
    >>> p.eliminated, p.contention
    (Fraction(7, 1), Fraction(7, 2))
    """
    one_of("contention", contention, ("transfer", "total"))
    one_of("plan", plan, PLANS)
    one_of("method", method, METHODS)
    levels = whole_number("levels", levels, 1)
    # Before anything of the network's size is laid out.
    rows, shape = _rows(excess, read_topology(network, "network").size)
    network = network_of(network)
    weights = _mask("counted", counted, network.edge_count, "links", default=True)
    pinned_nodes = _pinned(pinned, network.size)
    graph = expand(network, routing)
    capacities, traffics, most = (
        network.capacities,
        _traffic(network, contention),
        _move_limit(max_moves),
    )
    plans = []
    for row in rows:
        quantities = read_quantities("excess", row, network.size, "nodes", signed=True)
        kind = common_kind(quantities, capacities, network.traffics)
        whole = _whole(integral, kind, levels)
        movable = _without_pinned(quantities, pinned_nodes)
        scaled = scale(kind, movable, capacities, traffics, most, whole=whole)
        problem = _problem(graph, scaled, weights, contention)
        stages, iterations, last_flow = _search(problem, whole or kind == "float", levels, method)
        planner = PLANS[plan]
        result = MinimaxPlan(
            network,
            movable,
            scaled.units,
            whole,
            graph,
            stages,
            iterations,
            planner,
            last_flow if planner is short_flow else None,
        )
        plans.append(result)
    if shape is None:
        return plans[0]
    return MinimaxBatch(plans, shape, network.edge_count)


def _search(
    problem: Problem, rounded: bool, levels: int, method: str
) -> tuple[tuple[Level, ...], int, tuple[Integers, int] | None]:
    """Return the levels of contention, the number of betas tried, and the last flow or None."""
    stages: list[Level] = []
    iterations = 0
    parts = 1
    while True:
        result = search(problem, method, whole=rounded)
        fixed = replace(problem, limit=result.value)
        stage = Level(
            fixed, problem.limit, result.beta, result.value_side, result.beta_side, rounded, parts
        )
        stages.append(stage)
        iterations += result.iterations
        distinct = len(level_values(stages))
        if result.beta == 0 or distinct == levels:
            break
        problem = stage.next_problem()
        if not problem.counted.any():
            break
        parts *= result.beta.denominator
    return tuple(stages), iterations, result.flow


def _problem(graph: Expanded, scaled: Scaled, weights: Nodes, contention: str) -> Problem:
    counted = graph.on_links(weights, False)
    base = np.zeros(len(counted), dtype=np.int64)
    if contention == "total":
        base = np.where(counted, graph.on_links(scaled.traffic, 0), 0)
    return Problem(
        graph,
        graph.on_links(scaled.usable, scaled.sendable),
        base,
        counted,
        graph.on_nodes(scaled.excess, graph.entry),
        graph.on_nodes(scaled.room, graph.exit),
        scaled.limit,
    )


def _move_limit(max_moves: Any) -> Number:
    if max_moves is None:
        return math.inf
    most = read_number("max_moves", max_moves)
    if not most >= 0:
        raise ValueError(f"max_moves must not be negative or NaN, got {max_moves!r}")
    return most


def _whole(integral: bool | None, kind: Kind, levels: int) -> bool:
    if integral is not None and not isinstance(integral, bool | np.bool_):
        raise TypeError(f"integral must be True, False or None, got {integral!r}")
    if integral and kind != "integer":
        raise ValueError(f"integral=True needs integer data, got {kind} data")
    whole = kind == "integer" if integral is None else bool(integral)
    if whole and levels > 1:
        raise ValueError("levels above 1 need divisible load: pass integral=False (--divisible)")
    return whole


def _traffic(network: Network, contention: str) -> Quantities:
    """Return the traffic, with 0 on unlimited links unless traffic counts as contention."""
    unlimited, traffics = network.capacities.unlimited, network.traffics
    if contention == "total" or not unlimited.any() or not traffics.values.any():
        return traffics
    return Quantities(np.where(unlimited, 0, traffics.values), traffics.unlimited)


def _rows(excess: Numbers, n: int) -> tuple[list[Any], tuple[int, ...] | None]:
    """Return the excess vectors and the shape of the batch, None without batch axes."""
    excess = tensor_as_array("excess", excess)
    if isinstance(excess, np.ndarray):
        vectors = excess
    else:
        values = list(cast(Any, excess)) if hasattr(excess, "__iter__") else excess
        if isinstance(values, list) and not any(
            hasattr(x, "__len__") and not isinstance(x, str) for x in values
        ):
            if len(values) != n:
                raise ValueError(
                    f"excess must be one value for each of {n} nodes, got {len(values)}"
                )
            return [values], None
        vectors = np.array(values, dtype=object)
        if vectors.ndim < 1:
            raise TypeError(f"excess must be one number for each of {n} nodes, got {excess!r}")
    if vectors.ndim == 0 or vectors.shape[-1] != n:
        raise ValueError(f"excess must end in an axis of {n} nodes, got shape {vectors.shape}")
    if vectors.ndim == 1:
        return [vectors], None
    return list(vectors.reshape(-1, n)), vectors.shape[:-1]


def _without_pinned(excess: Quantities, pinned: Nodes) -> Quantities:
    if not pinned.any():
        return excess
    values = excess.values.copy()
    values[pinned] = 0
    return Quantities(values, excess.unlimited)


def _pinned(pinned: ArrayLike | None, n: int) -> Nodes:
    if pinned is None:
        return np.zeros(n, dtype=bool)
    nodes = np.asarray(pinned)
    if nodes.dtype == bool:
        return _mask("pinned", nodes, n, "nodes", default=False)
    if nodes.size and nodes.dtype.kind not in "iu":
        raise TypeError(f"pinned must be node numbers or a mask of {n} nodes, got {nodes.dtype}")
    bad = nodes[(nodes < 0) | (nodes >= n)]
    if bad.size:
        raise ValueError(f"pinned must be nodes 0..{n - 1}, got {int(bad.flat[0])}")
    mask = np.zeros(n, dtype=bool)
    mask[nodes.astype(np.int64)] = True
    return mask


def _mask(name: str, flags: ArrayLike | None, count: int, of: str, *, default: bool) -> Nodes:
    if flags is None:
        return np.full(count, default)
    mask: NDArray[Any] = np.asarray(flags)
    if mask.size == 0:
        mask = mask.astype(bool)
    whole = mask.dtype.kind in "iu" and bool(np.isin(mask, (0, 1)).all())
    if not (mask.dtype == bool or whole) or mask.shape != (count,):
        raise ValueError(
            f"{name} must be a bool for each of {count} {of}, got {mask.dtype} of {mask.shape}"
        )
    return mask.astype(bool)
