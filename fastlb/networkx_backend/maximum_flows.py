"""Maximum flows and minimum cuts, as NetworkX returns them.

Any maximum flow is an answer; NetworkX's minimum cut, whose other side has the nodes that can still
reach the sink, is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fsum, inf
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..errors import UnboundedError
from ..flows.maximum import UNLIMITED, max_flow
from ..flows.scaling import LARGEST_TOTAL, exact_sum
from .dictionaries import by_node
from .graph import Attribute, ConvertedGraph
from .numbers import as_numbers
from .scaling import Numbers, as_python, exponent_of, in_units

FlowFunction = Callable[..., Any] | None
# Floats are rounded to the unit of which the most that can flow has so many bits.
BITS = 59


class Flow(NamedTuple):
    """The value, the flow of each arc (A,) and the source's side of the cut (N,)."""

    value: int | float
    flow: Numbers
    source_side: NDArray[np.bool_]


def maximum_flow(
    flowG: ConvertedGraph,
    _s: Any,
    _t: Any,
    capacity: Attribute = "capacity",
    flow_func: FlowFunction = None,
    **kwargs: Any,
) -> tuple[int | float, dict[Any, dict[Any, int | float]]]:
    """Return the value of a maximum flow, and the flow as ``{node: {neighbor: flow}}``."""
    result = _solve(flowG, _s, _t, capacity, flow_func, kwargs)
    return result.value, by_node(flowG, as_python(_net(flowG, result.flow)))


def maximum_flow_value(
    flowG: ConvertedGraph,
    _s: Any,
    _t: Any,
    capacity: Attribute = "capacity",
    flow_func: FlowFunction = None,
    **kwargs: Any,
) -> int | float:
    """Return the value of a maximum flow."""
    return _solve(flowG, _s, _t, capacity, flow_func, kwargs).value


def minimum_cut(
    flowG: ConvertedGraph,
    _s: Any,
    _t: Any,
    capacity: Attribute = "capacity",
    flow_func: FlowFunction = None,
    **kwargs: Any,
) -> tuple[int | float, tuple[set[Any], set[Any]]]:
    """Return the value of a minimum cut and both sides, the source's first."""
    result = _solve(flowG, _s, _t, capacity, flow_func, kwargs)
    sink_side = {flowG.nodes[v] for v in np.flatnonzero(~result.source_side).tolist()}
    return result.value, (set(flowG.nodes) - sink_side, sink_side)


def minimum_cut_value(
    flowG: ConvertedGraph,
    _s: Any,
    _t: Any,
    capacity: Attribute = "capacity",
    flow_func: FlowFunction = None,
    **kwargs: Any,
) -> int | float:
    """Return the value of a minimum cut."""
    return _solve(flowG, _s, _t, capacity, flow_func, kwargs).value


def _solve(
    graph: ConvertedGraph,
    source: Any,
    sink: Any,
    capacity: Attribute,
    flow_func: FlowFunction,
    options: dict[str, Any],
) -> Flow:
    """Return a maximum flow, or raise what NetworkX raises, in its order."""
    if flow_func is None and options:
        raise nx.NetworkXError(
            "You have to explicitly set a flow_func if you need to pass parameters via kwargs."
        )
    if flow_func is not None and not callable(flow_func):
        raise nx.NetworkXError("flow_func has to be callable.")
    for node in (source, sink):
        if node not in graph:
            raise nx.NetworkXError(f"node {node!s} not in graph")
    if source == sink:
        raise nx.NetworkXError("source and sink are the same node")
    if graph.is_multigraph():
        raise nx.NetworkXError("MultiGraph and MultiDiGraph not supported (yet).")
    return flow_between(graph, graph.index[source], graph.index[sink], capacity)


def flow_between(
    graph: ConvertedGraph, source: int, sink: int, capacity: Attribute = "capacity"
) -> Flow:
    """Return a maximum flow between two nodes by number; capacities below 0 and NaN are 0.

    Raises
    ------
    networkx.NetworkXUnbounded
        If a path from source to sink has no limit.
    NotImplementedError
        If the capacities are no numbers or too large.
    """
    values = _computed(graph, capacity) if callable(capacity) else graph.attribute(capacity, inf)
    values = np.where(values > 0, values, 0)
    values[graph.tail == graph.head] = 0
    floats = values.dtype == np.float64
    units, exponent = _rounded(graph, source, sink, values) if floats else (values, 0)
    try:
        result = max_flow(len(graph), graph.tail, graph.head, units, source, sink)
    except UnboundedError:
        # Beyond this the kernel cannot tell what is large from what is unlimited.
        if exact_sum(units[units < UNLIMITED]) >= LARGEST_TOTAL:
            raise NotImplementedError("capacities add up to 2**61 or more") from None
        raise nx.NetworkXUnbounded("Infinite capacity path, flow unbounded above.") from None
    except OverflowError as error:
        raise NotImplementedError(str(error)) from error
    if not floats:
        return Flow(result.value, result.flow, result.source_side)
    # What is full carries its capacity to the last digit, and so the value is that of the cut.
    full = (result.flow == units) & (units > 0)
    flow = np.where(full, values, np.ldexp(result.flow, exponent))
    side = result.source_side
    cut = values[side[graph.tail] & ~side[graph.head]]
    return Flow(fsum(cut.tolist()) or 0, flow, side)


def _computed(graph: ConvertedGraph, capacity: Callable[..., Any]) -> Numbers:
    """Return the capacities that a function names, called once for each link; None is 0."""
    nodes, data = graph.nodes, graph.data
    values: dict[int, Any] = {}
    for arc in np.flatnonzero(graph.once).tolist():
        value = capacity(nodes[graph.tail[arc]], graph.neighbors[arc], data[arc])
        values[id(data[arc])] = 0 if value is None else value
    return as_numbers([values[id(edge)] for edge in data])


def _rounded(
    graph: ConvertedGraph, source: int, sink: int, values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], int]:
    """Return capacities in units, and the unit's exponent; no arc is limited that was not."""
    most = min(
        float(values[graph.tail == source].sum()),
        float(values[graph.head == sink].sum()),
        float(values[values < inf].sum()) if (values == inf).any() else inf,
    )
    if most == inf:
        # Every path is unlimited, or the capacities add up beyond all floats.
        raise NotImplementedError("capacities add up to infinity")
    exponent = exponent_of(most, BITS)
    limit = 2 * np.ldexp(np.float64(1), exponent + BITS)
    return in_units(np.where(values < inf, np.minimum(values, limit), inf), exponent), exponent


def _net(graph: ConvertedGraph, flow: Numbers) -> Numbers:
    """Return the flow less what flows back: of two opposite arcs one has flow."""
    used = np.flatnonzero(flow)
    tail, head = graph.tail[used], graph.head[used]
    pair = np.minimum(tail, head) * len(graph) + np.maximum(tail, head)
    ordered = np.sort(pair)
    opposite = ordered[1:] == ordered[:-1]
    if not opposite.any():
        return flow
    both = used[np.isin(pair, ordered[1:][opposite])]
    # Arcs by both ends, and in the same places those that lead back.
    forth = both[np.lexsort((graph.head[both], graph.tail[both]))]
    back = both[np.lexsort((graph.tail[both], graph.head[both]))]
    result = flow.copy()
    result[forth] = np.maximum(flow[forth] - flow[back], 0)
    return result
