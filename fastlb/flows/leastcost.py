"""Minimum-cost flow in a network: what every node demands, along the cheapest links."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import written
from ..display.cards import card
from ..display.html import Markup
from ..display.numbers import shown
from ..display.tables import html_table
from ..quantities import MixedNumbers, Number, Quantities, read_quantities
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
from .costproblem import CostProblem
from .ends import read_demand
from .maximum import UNLIMITED
from .mincost import MinCost, min_cost
from .plan import plain
from .problem import Nodes
from .scaling import Integers, exact_sum

if TYPE_CHECKING:
    from collections.abc import Mapping

# Rows of a notebook's table.
LISTED = 10
# Costs of floats have at most so many bits, less those of the number of nodes.
COST_BITS = 59
# Demands of floats whose sum is off by no more than their rounding balance.
EPSILON = 2.0**-52


def minimum_cost_flow(
    network: Topology | str,
    demand: MixedNumbers | Mapping[Any, Any],
    *,
    cost: MixedNumbers = 1,
) -> MinimumCostFlow:
    """Meet the demands of all nodes at the least total cost.

    Parameters
    ----------
    network : Network, Topology or str
        Links with capacity C and existing traffic F; ``max(0, C - F)`` is left. Another topology
        or its spelling, ``"torus:4x4"``, means both directions of its links, unlimited.
    demand : (N,) or dict
        Negative: the node sends that much; positive: it receives it, as in NetworkX. A dict is by
        names of nodes, or numbers where those are no names; others have none. The sum is 0.
    cost : scalar or (E,)
        Of a unit on each link, of either sign. int, float, Fraction or strings such as "41/7".

    Returns
    -------
    MinimumCostFlow
        The flow, its cost, and prices of the nodes that prove it; or a status that says that
        demands cannot be met, or that a circle of unlimited links costs less than nothing.

    Raises
    ------
    OverflowError
        If total demand, prices or the flow on a link do not fit int64, of rationals in units of
        their common denominator.
    ValueError, TypeError
        If demands do not add up to 0, or something is no number or no node.

    Notes
    -----
    Network simplex; ``kernels/flows/network_simplex.py`` names the papers. Integers and Fractions
    are exact. Capacities and demands of floats are rounded to a power of two so small that their
    sum has 61 bits, costs so that the largest has about 59 less those of the number of nodes: the
    flow is the best one for what was rounded. Demands of floats balance if their sum is within
    their rounding; what is missing goes to the largest.

    Examples
    --------
    >>> network = Network([(0, 1), (0, 2), (1, 2)], capacity=[4, 3, 5])
    >>> f = minimum_cost_flow(network, [-5, 0, 5], cost=[1, 4, 2])
    >>> f.cost, f.flow.tolist(), f.prices.tolist(), f.verify()
    (16, [4, 1, 4], [0, 2, 4], True)
    """
    network = network_of(network)
    demands = read_demand(demand, network)
    costs = read_quantities("cost", cost, network.edge_count, "links", signed=True)
    available = available_capacity(network, _most(demands, costs))
    scale = Scale.of(SUM_BITS, available, demands)
    capacities = Capacities.of(available, scale)
    # What does not fit int64 is cut off; it makes no difference unless a flow comes to that.
    too_large = ~capacities.unlimited & (capacities.units == UNLIMITED)
    limits = capacities.units - too_large
    cost_scale = _cost_scale(costs, network.size)
    tail, head = np.ascontiguousarray(network.edges.T)
    problem = CostProblem(
        tail,
        head,
        limits,
        _in_int64("cost", cost_scale.units(costs)),
        _in_int64("demand", _balanced(demands, scale)),
    )
    found = min_cost(network.size, *problem.arrays)
    if (found.flow[too_large] == UNLIMITED - 1).any():
        raise OverflowError("capacity must be such that the flow on every link fits int64")
    found.flow.flags.writeable = found.prices.flags.writeable = False
    return MinimumCostFlow(network, found.status, problem, scale, cost_scale, found)


def _most(demands: Quantities, costs: Quantities) -> float:
    """Return what a link carries at most, roughly: no more than is sent, without negative costs."""
    if costs.values.min(initial=0) < 0:
        return math.inf
    with np.errstate(over="ignore"):
        return 2 * float(np.abs(demands.values).sum())


def _cost_scale(costs: Quantities, n: int) -> Scale:
    if costs.kind != "float":
        return Scale.of(0, costs)
    largest = float(np.abs(costs.values).max(initial=0))
    one = Quantities(np.array([largest]), np.zeros(1, bool))
    return Scale.of(COST_BITS - n.bit_length(), one)


def _balanced(demands: Quantities, scale: Scale) -> NDArray[Any]:
    """Return demands in units, whose sum is 0."""
    exact = sum(map(Fraction, demands.values.tolist()), Fraction(0))
    units = scale.units(demands)
    if scale.kind == "float":
        rounding = EPSILON * float(np.abs(demands.values).sum())
        if abs(exact) <= rounding:
            units[np.argmax(np.abs(units))] -= exact_sum(units)
            exact = Fraction(0)
    if exact:
        raise ValueError(f"demand must have a sum of 0, got {shown(_plainly(exact))}")
    return units


def _plainly(number: Fraction) -> Number:
    return int(number) if number.denominator == 1 else number


def _in_int64(name: str, units: NDArray[Any]) -> Integers:
    largest = max((abs(x) for x in units.tolist()), default=0) if units.dtype == object else 0
    if largest >= 2**63:
        raise OverflowError(
            f"{name} must fit int64 in units of the common denominator, got {written(largest)}"
        )
    return units.astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False, repr=False)
class MinimumCostFlow:
    """A flow of the least cost, and the prices that prove it.

    Numbers are ints for integer data, Fractions for rationals, floats where any number is one.

    Attributes
    ----------
    network : Network
        The network it was made for.
    status : str
        ``"optimal"``; ``"infeasible"``: the links do not let enough through, which ``cut`` proves;
        ``"unbounded"``: demands can be met, and ``circle`` costs less than nothing.
    value : int, Fraction or float
        What is sent in all.
    cost : int, Fraction, float or None
        The sum of cost times flow; None unless optimal.
    flow : (E,) int64, float64 or object, or None
        What is sent along every link of ``network.edges``.
    prices : (N,) int64, float64 or object, or None
        What a unit is worth at every node: it pays to carry one more along a link if
        ``cost + prices[tail] - prices[head] < 0``. So no link does that is not full, and links
        that carry anything do not cost more than they earn. The smallest is 0.
    cut : (K,) int64
        Infeasible: links that together carry less than has to pass them.
    circle : (K,) int64
        Unbounded: unlimited links that lead in circles and cost less than nothing together.
    """

    network: Network
    status: str
    _problem: CostProblem
    _scale: Scale
    _cost_scale: Scale
    _found: MinCost

    @property
    def value(self) -> Number:
        return self._scale.number(exact_sum(np.maximum(self._problem.demand, 0)))

    @cached_property
    def cost(self) -> Number | None:
        if self.status != "optimal":
            return None
        exact = self._found.cost / (self._scale.per_one * self._cost_scale.per_one)
        kinds = {self._scale.kind, self._cost_scale.kind}
        if "float" in kinds:
            return float(exact)
        return int(exact) if kinds == {"integer"} else exact

    @cached_property
    def flow(self) -> NDArray[Any] | None:
        return self._numbers(self._scale, self._found.flow)

    @cached_property
    def prices(self) -> NDArray[Any] | None:
        return self._numbers(self._cost_scale, self._found.prices)

    def _numbers(self, scale: Scale, units: Integers) -> NDArray[Any] | None:
        if self.status != "optimal":
            return None
        numbers = scale.numbers(units)
        numbers.flags.writeable = False
        return numbers

    @cached_property
    def cut(self) -> Integers:
        none = np.empty(0, np.int64)
        return self._problem.cut(self._side) if self.status == "infeasible" else none

    @cached_property
    def _side(self) -> Nodes:
        return self._problem.short_side()

    @cached_property
    def circle(self) -> Integers:
        none = np.empty(0, np.int64)
        return self._problem.circle() if self.status == "unbounded" else none

    def verify(self) -> bool:
        """Check the flow and the prices, or the cut or circle, against the user's numbers.

        Returns
        -------
        bool
            True.

        Raises
        ------
        ValueError
            If anything does not hold, naming it.
        """
        problem = self._problem
        if self.status == "infeasible":
            require(problem.is_short(self._side), "a cut carries less than has to pass")
            return True
        if self.status == "unbounded":
            require(problem.is_endless(self.circle), "a circle costs less than nothing")
            return True
        units, prices = self._found.flow, self._found.prices
        require(bool((units >= 0).all()), "no flow is negative")
        used = np.flatnonzero((units > 0) & ~self.network.capacities.unlimited)
        limits = exactly_available(self.network)[used]
        fits = within(units[used], self._scale.per_one, limits)
        require(fits, "no flow exceeds the capacity left by traffic")
        meets = np.array_equal(-outflow(self.network, units), problem.demand)
        require(meets, "every demand is met")
        reduced = problem.cost + prices[problem.tail] - prices[problem.head]
        spare = units < problem.capacity
        require(bool((reduced[spare] >= 0).all()), "no link with room is worth using more")
        require(bool((reduced[units > 0] <= 0).all()), "no link that is used is worth using less")
        pairs = zip(problem.cost.tolist(), units.tolist(), strict=True)
        total = sum(cost * sent for cost, sent in pairs)
        require(total == self._found.cost, "the cost is that of the flow")
        same = np.array_equal(self.flow, self._scale.numbers(units))  # type: ignore[arg-type]
        require(same, "flow is the one computed")
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready values; Fractions become strings such as "7/2"."""
        columns: dict[str, Any] = {"cost": None, "flow": None, "prices": None}
        if self.flow is not None and self.prices is not None and self.cost is not None:
            columns = {
                "cost": plain(self.cost),
                "flow": [plain(amount) for amount in self.flow.tolist()],
                "prices": [plain(price) for price in self.prices.tolist()],
            }
        return {
            "status": self.status,
            "value": plain(self.value),
            **columns,
            "cut": self.cut.tolist(),
            "circle": self.circle.tolist(),
        }

    def _repr_html_(self) -> Markup:
        labels, edges = self.network._labels(), self.network.edges
        about = {"status": self.status, "value": self.value, "cost": self.cost}
        used: Any = self.cut if self.status == "infeasible" else self.circle
        name, amounts = ("cut" if self.status == "infeasible" else "circle"), None
        if self.flow is not None:
            name, amounts = "link", self.flow
            used = np.argsort(-self._found.flow, kind="stable")[:LISTED]
        rows = [
            [
                *(labels[node] for node in edges[k].tolist()),
                shown(0 if amounts is None else amounts[k]),
            ]
            for k in used[:LISTED].tolist()
        ]
        tables = [html_table([name, "", "carries"], rows, names=2)] if rows else []
        return card(f"minimum-cost flow on {self.network!r}", about, *tables)

    def __repr__(self) -> str:
        cost = "" if self.cost is None else f" at a cost of {shown(self.cost)}"
        return f"<MinimumCostFlow: {self.status}, {shown(self.value)} sent{cost}>"
