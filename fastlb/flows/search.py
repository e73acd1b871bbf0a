"""The least contention at which an amount passes: three methods over one scaled problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ..accelerate import kernels
from .problem import Nodes, Problem
from .scaling import Integers, exact_sum
from .scipyflow import scipy_flow

METHODS = ("fused", "mmc01", "scipy")
# Room for the products of the search above the largest scaled total.
SEARCH_TOTAL = 2**60
# Arcs from which it pays to ask first whether links that never limit anything join all nodes.
MANY_ARCS = 1000


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search, in units of the problem.

    Attributes
    ----------
    value : int
        Units that pass, v* or the limit.
    beta : Fraction
        The least contention at which they do.
    value_side : (N,) bool
        Source side of the cut that proves the value, unless excess, room or limit prove it.
    beta_side : (N,) bool or None
        Source side of the cut that proves beta; None where beta is what exists already.
    iterations : int
        Values of beta tried.
    flow : ((E,) int64, int) or None
        A short flow of that value within beta, in units of 1/q, and q, where one is at hand.
    """

    value: int
    beta: Fraction
    value_side: Nodes
    beta_side: Nodes | None
    iterations: int
    flow: tuple[Integers, int] | None


MaxFlow = Callable[[Problem, Fraction | None], tuple[int, Integers, Nodes, int]]


def search(problem: Problem, method: str, *, whole: bool) -> SearchResult:
    """Find v* and beta* of a problem.

    Parameters
    ----------
    method : str
        ``"fused"``, ``"mmc01"`` or ``"scipy"``.
    whole : bool
        Whether beta is rounded up to whole units.
    """
    engine: MaxFlow = scipy_flow if method == "scipy" else short_flow
    beta = Fraction(problem.lowest)
    if method == "fused":
        value, side = _fused_value(problem)
        fixed = problem if value == problem.limit else replace(problem, limit=value)
        beta, beta_side, raises, proved = _fused_beta(fixed, whole)
        if proved:
            fixed.check_beta(beta)
            return SearchResult(value, beta, side, beta_side, raises + 1, None)
        return _newton(fixed, side, beta, beta_side, raises, engine, whole=whole)
    value, _, side, _ = engine(problem, None)
    fixed = replace(problem, limit=value)
    return _newton(fixed, side, beta, None, 0, engine, whole=whole)


def short_flow(problem: Problem, beta: Fraction | None) -> tuple[int, Integers, Nodes, int]:
    """Return (value, flow, cut side, q) of a short maximum flow at ``beta``, in units of 1/q."""
    capacity, q = problem.capacity(beta)
    scaled = problem.scaled(q)
    value, flow, side = kernels("flows.dinic").short_plan(
        problem.residual,
        capacity,
        scaled.excess,
        scaled.room,
        np.int64(scaled.limit),
    )
    return int(value), flow, side, q


def least_flow(problem: Problem, beta: Fraction | None) -> tuple[int, Integers, Nodes, int]:
    """Return the same of least total traffic; the value must be possible at ``beta``."""
    capacity, q = problem.capacity(beta)
    scaled = problem.scaled(q)
    value, flow = kernels("flows.primal_dual").least_plan(
        problem.residual,
        capacity,
        problem.graph.costs,
        scaled.excess,
        scaled.room,
        np.int64(scaled.limit),
    )
    return int(value), flow, np.zeros(len(scaled.room), dtype=bool), q


def _newton(
    problem: Problem,
    value_side: Nodes,
    beta: Fraction,
    beta_side: Nodes | None,
    raises: int,
    engine: MaxFlow,
    *,
    whole: bool,
) -> SearchResult:
    """MMC01 (Fig. 2): raise beta by the root of the current minimum cut until the value passes."""
    target = problem.limit
    while True:
        value, flow, side, q = engine(problem, beta)
        if value == target * q:
            break
        growing = int(problem.growing(side, beta).sum())
        step = (target - Fraction(value, q)) / growing
        beta += -(-step // 1) if whole else step
        beta_side = side
        raises += 1
    at_hand = (flow, q) if engine is short_flow else None
    return SearchResult(target, beta, value_side, beta_side, raises + 1, at_hand)


def _fused_value(problem: Problem) -> tuple[int, Nodes]:
    nobody = np.zeros(len(problem.excess), dtype=bool)
    limit = np.int64(problem.limit)
    if limit == 0:
        return 0, nobody
    if len(problem.residual.head) >= MANY_ARCS and _joined(problem, problem.usable >= limit):
        return problem.limit, nobody
    value, _, _, side, *_ = kernels("flows.push_relabel").fused_search(
        problem.residual,
        problem.usable,
        problem.base,
        np.zeros(len(problem.usable), dtype=bool),
        problem.excess,
        problem.room,
        limit,
        np.int64(0),
    )
    return int(value), side


def _joined(problem: Problem, ample: Nodes) -> bool:
    """Return whether the ample links (E,) lead from every node to every other."""
    if ample.all():
        return problem.graph.joined
    return bool(kernels("flows.residual").strongly_connected(problem.residual, ample))


def _fused_beta(problem: Problem, whole: bool) -> tuple[Fraction, Nodes | None, int, bool]:
    """Return a lower bound of beta*, its cut, the number of raises, and whether it is beta*.

    Divisible load is searched in units so fine that beta*, a fraction of at most as many
    parts as there are counted links, is the root of the last cut. Where the totals leave no
    room for that, the root is a bound to go on from.
    """
    exact_bits = bits = 0
    if not whole:
        exact_bits = 2 * int(problem.counted.sum()).bit_length()
        largest = max(exact_sum(problem.excess), exact_sum(problem.room), problem.lowest, 1)
        bits = max(0, min(exact_bits, SEARCH_TOTAL.bit_length() - 1 - largest.bit_length()))
    fine = 1 << bits
    scaled = problem.scaled(fine)
    _, beta, raises, side, before, short, rho = kernels("flows.push_relabel").fused_search(
        problem.residual,
        scaled.usable,
        scaled.base,
        problem.counted,
        scaled.excess,
        scaled.room,
        np.int64(scaled.limit),
        np.int64(scaled.lowest),
    )
    if raises == 0:
        return Fraction(problem.lowest), None, 0, True
    if whole:
        return Fraction(int(beta)), side, int(raises), True
    root = Fraction(int(before) * int(rho) + int(short), int(rho) * fine)
    return root, side, int(raises), bits == exact_bits
