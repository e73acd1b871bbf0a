"""Flows of minimum cost, as NetworkX returns them."""

from __future__ import annotations

from math import fsum, inf
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..flows.mincost import min_cost
from .dictionaries import by_node
from .graph import Attribute, ConvertedGraph
from .maximum_flows import maximum_flow_value
from .numbers import MAX_EXACT, UNLIMITED, as_numbers
from .scaling import Numbers, as_python, exactly_in_units, exponent_of, in_units

FlowDict = dict[Any, Any]
# Float amounts are whole numbers of a unit of which their sum has so many bits; float costs are
# rounded to as many bits as the kernel's prices have room for, at least these.
AMOUNT_BITS, LEAST_COST_BITS = 60, 40
UNBOUNDED_SIMPLEX = "negative cycle with infinite capacity found"
UNBOUNDED_SCALING = (
    "Negative cost cycle of infinite capacity found. Min cost flow may be unbounded below."
)


class Problem(NamedTuple):
    """Demands of nodes (N,); capacities, at least 0, and weights of arcs (A,)."""

    demand: Numbers
    capacity: Numbers
    weight: Numbers

    def is_bad(self) -> bool:
        """Return whether NetworkX refuses it before it computes anything."""
        return (
            bool(_is_infinite(self.demand).any() or _is_infinite(self.weight).any())
            or sum(self.demand.tolist()) != 0
            or bool((self.capacity < 0).any())
        )


def network_simplex(
    G: ConvertedGraph,
    demand: str = "demand",
    capacity: Attribute = "capacity",
    weight: str = "weight",
) -> tuple[int | float, FlowDict]:
    """Return the least cost of a flow that meets all demands, and that flow."""
    problem = _problem(G, demand, capacity, weight) if G.is_directed() and len(G) else None
    if problem is None or problem.is_bad():
        return nx.network_simplex(G.original, demand, capacity, weight, backend="networkx")
    return _simplex(G, problem)


def min_cost_flow(
    G: ConvertedGraph,
    demand: str = "demand",
    capacity: Attribute = "capacity",
    weight: str = "weight",
) -> FlowDict:
    """Return a flow of least cost that meets all demands."""
    return network_simplex(G, demand, capacity, weight)[1]


def min_cost_flow_cost(
    G: ConvertedGraph,
    demand: str = "demand",
    capacity: Attribute = "capacity",
    weight: str = "weight",
) -> int | float:
    """Return the least cost of a flow that meets all demands."""
    return network_simplex(G, demand, capacity, weight)[0]


def max_flow_min_cost(
    G: ConvertedGraph, s: Any, t: Any, capacity: Attribute = "capacity", weight: str = "weight"
) -> FlowDict:
    """Return a maximum flow of least cost."""
    value = maximum_flow_value(G, s, t, capacity)
    # NetworkX heeds demands that the nodes of the graph have besides.
    demands = G.node_values("demand", 0)
    demands[G.index[s]], demands[G.index[t]] = -value, value
    capacities = G.attribute(capacity, inf)
    problem = Problem(as_numbers(demands), capacities, G.attribute(weight, 0))
    if problem.is_bad():
        return nx.max_flow_min_cost(G.original, s, t, capacity, weight, backend="networkx")
    return _simplex(G, problem)[1]


def capacity_scaling(
    G: ConvertedGraph,
    demand: str = "demand",
    capacity: Attribute = "capacity",
    weight: str = "weight",
    heap: type | None = None,
) -> tuple[int | float, FlowDict]:
    """Return the least cost of a flow that meets all demands, and that flow."""
    problem = _problem(G, demand, capacity, weight)
    if not G.is_directed() or sum(problem.demand.tolist()) or not _active(G, problem).any():
        return nx.capacity_scaling(G.original, demand, capacity, weight, backend="networkx")
    if problem.demand.dtype == np.float64 or problem.capacity.dtype == np.float64:
        raise NotImplementedError("capacity scaling is of whole amounts")
    problem = problem._replace(capacity=np.maximum(problem.capacity, 0))
    endless = (problem.capacity == UNLIMITED) & (problem.weight < 0)
    if endless.any():
        # Here unbounded goes before infeasible: without demands there is always a flow.
        nothing = problem._replace(demand=np.zeros_like(problem.demand))
        if _solve(G, nothing) == "unbounded":
            raise nx.NetworkXUnbounded(UNBOUNDED_SCALING)
    result = _solve(G, problem)
    if isinstance(result, str):
        raise nx.NetworkXUnfeasible("No flow satisfying all demands.")
    cost, flow = result
    return cost, by_node(G, as_python(flow))


def _problem(graph: ConvertedGraph, demand: str, capacity: Attribute, weight: str) -> Problem:
    return Problem(
        as_numbers(graph.node_values(demand, 0)),
        graph.attribute(capacity, inf),
        graph.attribute(weight, 0),
    )


def _simplex(graph: ConvertedGraph, problem: Problem) -> tuple[int | float, FlowDict]:
    """Return what NetworkX's network simplex method returns, or raise what it raises."""
    result = _solve(graph, problem)
    if result == "unbounded":
        raise nx.NetworkXUnbounded(UNBOUNDED_SIMPLEX)
    if isinstance(result, str):
        raise nx.NetworkXUnfeasible("no flow satisfies all node demands")
    cost, flow = result
    # NetworkX writes loops and links without capacity after all others.
    return cost, by_node(graph, as_python(flow), last=~_active(graph, problem))


def _solve(graph: ConvertedGraph, problem: Problem) -> tuple[int | float, Numbers] | str:
    """Return the least cost and the flow of each arc, or why there is none."""
    demand, capacity, amounts = _amounts(problem)
    weight = _costs(problem.weight, len(graph))
    active = _active(graph, problem)
    loops = (graph.tail == graph.head) & (problem.weight < 0)
    try:
        ends = graph.tail[active], graph.head[active]
        result = min_cost(len(graph), *ends, capacity[active], weight[active], demand)
    except OverflowError as error:
        raise NotImplementedError(str(error)) from error
    if result.status != "optimal":
        return result.status
    if (capacity[loops] == UNLIMITED).any():
        return "unbounded"
    units = np.where(loops, capacity, 0)
    units[active] = result.flow
    flow = units if amounts is None else np.ldexp(units, amounts)
    return _cost(problem.weight, flow), flow


def _active(graph: ConvertedGraph, problem: Problem) -> NDArray[np.bool_]:
    """Return a mask of the arcs that a flow may use, loops left out."""
    active: NDArray[np.bool_] = (graph.tail != graph.head) & (problem.capacity > 0)
    return active


def _is_infinite(values: Numbers) -> NDArray[np.bool_]:
    infinite: NDArray[np.bool_] = (np.abs(values) == inf) | (values == UNLIMITED)
    return infinite


def _amounts(problem: Problem) -> tuple[NDArray[np.int64], NDArray[np.int64], int | None]:
    """Return demands and capacities in units, and the exponent of a unit of floats."""
    demand, capacity = problem.demand, problem.capacity
    if demand.dtype != np.float64 and capacity.dtype != np.float64:
        return demand, capacity, None
    demand, capacity = _floats(demand), _floats(capacity)
    finite = capacity[capacity < inf]
    most = max(float(np.abs(demand).sum()), float(finite.max(initial=0)))
    if not most < inf:
        raise NotImplementedError("demands and capacities are not all numbers")
    exponent = exponent_of(most, AMOUNT_BITS)
    demand = exactly_in_units(demand, exponent)
    if sum(demand.tolist()):
        raise NotImplementedError("demands add up to 0 by rounding alone")
    return demand, exactly_in_units(capacity, exponent), exponent


def _costs(weight: Numbers, n: int) -> NDArray[np.int64]:
    """Return weights as whole numbers, floats rounded to a unit."""
    if weight.dtype != np.float64:
        return weight
    largest = float(np.abs(weight).max(initial=0))
    bits = ((UNLIMITED // 5 - 1) // n).bit_length() - 1
    if not largest < inf or bits < LEAST_COST_BITS:
        raise NotImplementedError("float weights need a smaller graph, and must be numbers")
    return in_units(weight, exponent_of(largest, bits))


def _cost(weight: Numbers, flow: Numbers) -> int | float:
    """Return the cost of a flow, exactly, or rounded once where anything is a float."""
    used = np.flatnonzero(flow)
    pairs = zip(weight[used].tolist(), flow[used].tolist(), strict=True)
    products = [w * x for w, x in pairs]
    if weight.dtype == np.float64 or flow.dtype == np.float64:
        return fsum(products) or 0
    return int(sum(products))


def _floats(values: Numbers) -> NDArray[np.float64]:
    """Return whole numbers as floats of the same value, ``UNLIMITED`` as infinity."""
    endless = values == UNLIMITED
    if values.dtype != np.float64 and (np.abs(values[~endless]) > MAX_EXACT).any():
        raise NotImplementedError("whole numbers above 2**53 would lose digits among floats")
    return np.where(endless, inf, values)
