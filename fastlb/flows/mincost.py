"""Minimum-cost flow on arrays."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..accelerate import kernels
from .maximum import UNLIMITED
from .scaling import Integers, exact_sum


class MinCost(NamedTuple):
    """A flow of least cost.

    ``flow`` is (E,) int64 along the links, ``prices`` (N,) int64; both mean something only if the
    status is ``"optimal"``, and so does ``cost``, exact whatever its size. The reduced cost of a
    link, ``cost + prices[tail] - prices[head]``, is then 0 or more where the link could carry more,
    and 0 or less where it carries anything: this proves the flow.
    """

    status: Literal["optimal", "infeasible", "unbounded"]
    cost: int
    flow: Integers
    prices: Integers


def min_cost(
    n: int,
    tail: NDArray[Any],
    head: NDArray[Any],
    capacity: Integers,
    cost: Integers,
    demand: Integers,
) -> MinCost:
    """Return the flow of least cost that meets every demand.

    Parameters
    ----------
    n : int
        Number of nodes.
    tail, head : (E,) int
        Ends of the links; parallel links and loops are allowed.
    capacity : (E,) int64
        0 or more; ``UNLIMITED``, the largest int64, is none.
    cost : (E,) int64
        Of a unit on each link, of either sign.
    demand : (N,) int64
        Negative: sends that much; positive: receives it.

    Raises
    ------
    OverflowError
        If total demand, prices or the flow on a link do not fit int64.

    Notes
    -----
    Circles of negative cost fill up; the status is ``"unbounded"`` if one is of unlimited links
    alone. ``"infeasible"`` goes before it, as in NetworkX.

    Examples
    --------
    >>> ends = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> limits, cost = np.array([4, 3, UNLIMITED]), np.array([1, 4, 2])
    >>> min_cost(3, *ends, limits, cost, np.array([-5, 0, 5])).cost
    16
    """
    # For arrays that are read-only numba would compile the kernel once more.
    links = np.require(tail, np.uint32, ("C", "W")), np.require(head, np.uint32, ("C", "W"))
    capacity, cost, demand = (np.require(x, np.int64, ("C", "W")) for x in (capacity, cost, demand))
    nothing = np.zeros(len(links[0]), np.int64), np.zeros(n, np.int64)
    total = exact_sum(np.maximum(demand, 0))
    if exact_sum(demand):
        return MinCost("infeasible", 0, *nothing)
    if total > UNLIMITED:
        raise OverflowError(f"demand must have a total that fits int64, got {total}")
    largest = max(int(cost.max(initial=0)), -int(cost.min(initial=0)))
    dear = n * largest + 1
    # Prices are within dear + n * largest, and a reduced cost is of two prices and a cost.
    if 5 * dear > UNLIMITED:
        raise OverflowError(
            f"cost must be at most {(UNLIMITED // 5 - 1) // max(n, 1)} among {n} nodes, so that "
            f"prices fit int64, got {largest}"
        )
    module = kernels("flows.network_simplex")
    solve = module.least_cost
    code, flow, price, unmet = solve(*links, capacity, cost, demand, np.int64(dear))
    if code == module.UNBOUNDED:
        # Whether demands can be met is another question, without costs.
        code, *_, unmet = solve(*links, capacity, nothing[0], demand, np.int64(1))
        return MinCost("infeasible" if unmet else "unbounded", 0, *nothing)
    if code == module.OVERFLOW:
        raise OverflowError("capacity must be such that the flow on every link fits int64")
    if unmet:
        return MinCost("infeasible", 0, *nothing)
    return MinCost("optimal", _product(cost, flow), flow, price - (price.min() if n else 0))


def _product(cost: Integers, flow: Integers) -> int:
    """Return the total cost, exactly."""
    used = np.flatnonzero(flow)
    cost, flow = cost[used], flow[used]
    most = int(np.abs(cost).max(initial=0)) * int(flow.max(initial=0)) * len(used)
    if most <= UNLIMITED:
        return int(cost @ flow)
    return sum(c * f for c, f in zip(cost.tolist(), flow.tolist(), strict=True))
