"""Exact certificates of a minimax flow: a feasible plan, a cut for v*, a cut for beta*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..quantities import Quantities
from .problem import Nodes, Problem
from .scaling import Integers, exact_sum


@dataclass(frozen=True, eq=False)
class Level:
    """One level of contention: a problem, its beta* and the cuts that prove them.

    Attributes
    ----------
    problem : Problem
        Scaled data; ``limit`` is the value v* that is moved.
    asked : int
        Most units that were allowed to move.
    beta : Fraction
        The least contention at which they move.
    value_side, beta_side : (N,) bool
        Source sides of the two cuts; ``beta_side`` None where existing traffic makes beta.
    whole : bool
        Whether beta is the least in whole units.
    parts : int
        Units of the problem in a unit of the first level's.
    """

    problem: Problem
    asked: int
    beta: Fraction
    value_side: Nodes
    beta_side: Nodes | None
    whole: bool
    parts: int

    @property
    def complete(self) -> bool:
        """Whether all was moved that was asked and has room."""
        return self.held_back == 0

    @property
    def held_back(self) -> int:
        """Units that were asked for and have room, and that the links do not let through."""
        sendable = min(exact_sum(self.problem.excess), exact_sum(self.problem.room), self.asked)
        return sendable - self.problem.limit

    @property
    def contention(self) -> Fraction:
        """Beta in units of the first level."""
        return self.beta / self.parts

    def next_problem(self) -> Problem:
        """Return the problem of the next level: links that are tight here stay at this beta."""
        p = self.beta.numerator
        scaled = self.problem.scaled(self.beta.denominator)
        tight = self.tight()
        usable = np.where(tight, np.minimum(scaled.usable, p - scaled.base), scaled.usable)
        counted = self.problem.counted & ~tight
        base = np.where(counted, scaled.base, 0)
        return replace(scaled, usable=usable, counted=counted, base=base)

    def full(self, flow: Integers, parts: int) -> NDArray[np.bool_]:
        """Mark the full links (E,) that keep load from moving under a flow in units of 1/parts.

        They are links of the cut that proves the value. Of a cut's links some matter to nobody:
        no load that is left could come to them, or from them to room, were no link limited.
        """
        problem, side = self.problem, self.value_side
        across = side[problem.tail] & ~side[problem.head]
        if self.complete:
            return np.zeros_like(across)
        net = _net(problem, flow)
        # Load can go along every link, and take the place of load that is sent along it.
        back = flow > 0
        tail = np.concatenate([problem.tail, problem.head[back]])
        head = np.concatenate([problem.head, problem.tail[back]])
        reached = _reached(tail, head, problem.excess * parts > np.maximum(net, 0))
        leading = _reached(head, tail, problem.room * parts > np.maximum(-net, 0))
        return np.asarray(across & reached[problem.tail] & leading[problem.head])

    def tight(self) -> NDArray[np.bool_]:
        """Mark the links (E,) of the cut that a smaller beta would narrow."""
        problem = self.problem
        if self.beta_side is None:
            carried = (problem.base > 0) & (problem.base == self.beta.numerator)
            return np.asarray(problem.counted & carried)
        across = self.beta_side[problem.tail] & ~self.beta_side[problem.head] & problem.counted
        p, q = self.beta.numerator, self.beta.denominator
        top = (problem.usable + problem.base) * q
        if self.whole:
            narrowed = (p - q < top) & (problem.usable > 0)
        else:
            narrowed = (p <= top) & (p > problem.base * q)
        return np.asarray(across & narrowed)


def level_values(stages: Sequence[Level]) -> list[Fraction]:
    """Return the distinct contentions of the levels, largest first, in the first level's units.

    Where beta is rounded up to whole units, values closer than one unit a link are one value.
    """
    values: list[Fraction] = []
    for stage in stages:
        blur = len(stage.problem.tail) if stage.whole else 0
        if not values or values[-1] - stage.contention > blur:
            values.append(stage.contention)
    return values


def cut_capacity(problem: Problem, side: Nodes, beta: Fraction | None) -> Fraction:
    """Return what a cut lets pass at ``beta``: excess outside, room inside and links across."""
    capacity, q = problem.capacity(beta)
    across = side[problem.tail] & ~side[problem.head]
    ends = exact_sum(problem.excess[~side]) + exact_sum(problem.room[side])
    return Fraction(exact_sum(capacity[across]), q) + ends


def verify(stages: Sequence[Level], flow: Integers, parts: int, whole: bool) -> None:
    """Check a plan (E,) in units of 1/parts against the data and the cuts.

    Raises
    ------
    ValueError
        If anything does not hold.
    """
    first = stages[0]
    _feasible(first.problem, flow, parts)
    if whole:
        require(parts == 1, "the flow moves whole units")
    value, beta = first.problem.limit, first.beta
    require(_sent(first.problem, flow) == value * parts, "the flow moves the load eliminated")
    require(
        first.complete or value == cut_capacity(first.problem, first.value_side, None),
        "a cut proves the load eliminated",
    )
    require(beta >= first.problem.lowest, "the contention is at least the existing one")
    for stage in stages:
        problem = stage.problem
        factor = parts // stage.parts
        contentions = (problem.base * factor + flow)[problem.counted & (flow > 0)]
        worst = max(Fraction(int(contentions.max(initial=0)), factor), Fraction(problem.lowest))
        require(worst <= stage.beta, "no counted link exceeds the contention")
        require(_proved(stage), "a cut proves the contention")


def verify_given(
    edges: Integers,
    capacity: Quantities,
    traffic: Quantities,
    excess: Quantities,
    flow: Integers,
    per_one: Fraction,
) -> None:
    """Check a flow (E,), ``per_one`` units a number, against the user's numbers, before scaling.

    Raises
    ------
    ValueError
        If it exceeds a capacity, an excess or a room.
    """
    used = np.flatnonzero((flow > 0) & ~capacity.unlimited)
    available = difference(capacity.values[used], traffic.values[used])
    require(within(flow[used], per_one, available), "no flow exceeds the capacity left by traffic")
    net = np.zeros(len(excess.values), dtype=np.int64)
    np.add.at(net, edges[:, 0], flow)
    np.subtract.at(net, edges[:, 1], flow)
    senders, receivers = np.flatnonzero(net > 0), np.flatnonzero(net < 0)
    require(within(net[senders], per_one, excess.values[senders]), "no node gives more than it has")
    nothing = np.zeros(len(receivers), dtype=np.int64)
    room = difference(nothing, excess.values[receivers])
    require(within(-net[receivers], per_one, room), "no node takes more than it has room for")


def difference(large: NDArray[Any], small: NDArray[Any]) -> NDArray[Any]:
    """Return the exact difference of given numbers (K,)."""
    if large.dtype.kind == small.dtype.kind == "i":
        difference: NDArray[Any] = np.asarray(large - small)
        if not (((large ^ small) & (large ^ difference)) < 0).any():
            return difference
    pairs = zip(large.tolist(), small.tolist(), strict=True)
    exact = np.empty(len(large), dtype=object)
    exact[:] = [Fraction(a) - Fraction(b) for a, b in pairs]
    return exact


def within(amounts: Integers, per_one: Fraction, limits: NDArray[Any]) -> bool:
    """Tell whether amounts (K,) above 0, ``per_one`` units a number, keep to given limits."""
    units = per_one.numerator
    if limits.dtype.kind == "i" and per_one.denominator == 1 and units < 2**62:
        return bool((-(-amounts // units) <= limits).all())
    pairs = zip(amounts.tolist(), limits.tolist(), strict=True)
    return all(amount <= Fraction(limit) * per_one for amount, limit in pairs)


def _proved(stage: Level) -> bool:
    problem, side, beta = stage.problem, stage.beta_side, stage.beta
    if side is None:
        return beta == problem.lowest
    if stage.whole:
        return cut_capacity(problem, side, beta - 1) < problem.limit
    return cut_capacity(problem, side, beta) == problem.limit and bool(stage.tight().any())


def _feasible(problem: Problem, flow: Integers, parts: int) -> None:
    require(bool((flow >= 0).all()), "no flow is negative")
    require(bool((flow <= problem.usable * parts).all()), "no flow exceeds a capacity")
    net = _net(problem, flow)
    require(bool((net <= problem.excess * parts).all()), "no node gives more than its excess")
    require(bool((-net <= problem.room * parts).all()), "no node takes more than its room")


def _reached(tail: Integers, head: Integers, starts: Nodes) -> Nodes:
    """Mark the nodes (N,) that links lead to from the marked ones, these included."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    n = len(starts)
    first = np.flatnonzero(starts)
    rows = np.concatenate([tail, np.full(len(first), n)])
    columns = np.concatenate([head, first])
    links = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n + 1, n + 1))
    mask = np.zeros(n + 1, dtype=bool)
    mask[breadth_first_order(links, n, return_predecessors=False)] = True
    return mask[:n]


def _sent(problem: Problem, flow: Integers) -> int:
    net = _net(problem, flow)
    return exact_sum(net[net > 0])


def _net(problem: Problem, flow: Integers) -> Integers:
    """Return the outflow of every node minus its inflow; sums that wrap cancel out."""
    net = np.zeros(len(problem.excess), dtype=np.int64)
    np.add.at(net, problem.tail, flow)
    np.subtract.at(net, problem.head, flow)
    return net


def require(holds: bool, what: str) -> None:
    """Raise a ValueError unless a condition of the plan holds."""
    if not holds:
        raise ValueError(f"the plan does not hold: it should be that {what}")
