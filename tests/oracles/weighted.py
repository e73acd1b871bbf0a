"""Balancing by weights, the plain way: shares as Fractions, nodes and links one by one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import ceil, floor
from typing import Any

from tests.oracles import exchange, topology
from tests.oracles.dde import Dde, Line
from tests.oracles.gde import Gde, Pair

Weights = Sequence[int | Fraction]


def shares(total: Any, weights: Weights) -> list[Fraction]:
    """What each node would have if units could be divided; nothing where nobody has a weight."""
    whole = sum(map(Fraction, weights))
    return [Fraction(total) * Fraction(w) / whole if whole else Fraction(0) for w in weights]


def quotas(total: int, weights: Weights) -> list[int]:
    """The floors, and one unit more for the largest remainders, of equal ones the lower node."""
    exact = shares(total, weights)
    floors = [floor(x) for x in exact]
    order = sorted(range(len(exact)), key=lambda i: (floors[i] - exact[i], i))
    for i in order[: total - sum(floors)]:
        floors[i] += 1
    return floors


def quotas_by_time(total: int, weights: Weights) -> list[int]:
    """After the floors, unit by unit to where it ends first, of equal ones to the lower node."""
    result = [floor(x) for x in shares(total, weights)]
    fast = [i for i, w in enumerate(weights) if w]
    while sum(result) < total:
        result[min(fast, key=lambda i: (Fraction(result[i] + 1) / Fraction(weights[i]), i))] += 1
    return result


def least_time(total: int, weights: Weights) -> Fraction:
    """The least possible largest load / weight, by trying all ways to place all units."""
    fast = [i for i, w in enumerate(weights) if w]
    return min(
        max(Fraction(placed.count(i)) / Fraction(weights[i]) for i in fast)
        for placed in combinations_with_replacement(fast, total)
    )


def marginal(
    weights: Weights, shape: Sequence[int], balanced: Collection[int]
) -> list[int | Fraction]:
    """For each node, the sum of weights of nodes that agree with it on the balanced axes."""
    keys = [
        tuple(topology.coordinate(node, shape, axis) for axis in sorted(balanced))
        for node in range(len(weights))
    ]
    sums: dict[tuple[int, ...], Any] = {}
    for key, weight in zip(keys, weights, strict=True):
        sums[key] = sums.get(key, 0) + weight
    return [sums[key] for key in keys]


def dde_line(
    loads: Sequence[Any], weights: Weights, ring: bool = False, *, real: bool = False
) -> Line:
    """DDE-chain and DDE-ring with quotas by weight."""
    w = [Fraction(x) for x in loads] if real else [int(x) for x in loads]
    k = len(w)
    q: list[Any] = shares(sum(w), weights) if real else quotas(sum(w), weights)  # type: ignore[arg-type]
    suffix_sums = [sum(w[i:]) for i in range(k)]
    suffix_quotas = [sum(q[i:]) for i in range(k)]
    flows = [suffix_quotas[i] - suffix_sums[i] for i in range(1, k)] + [0 * w[0]]
    shift = 0 * w[0]
    if ring and k > 2:
        ordered = sorted(flows)
        lower, upper = ordered[(k - 1) // 2], ordered[k // 2]
        shift = upper if lower > 0 else lower if upper < 0 else shift
    return Line(suffix_sums, q, suffix_quotas, shift, [x - shift for x in flows])


def dde(
    loads: Sequence[Any],
    weights: Weights,
    shape: Sequence[int],
    wrap: Sequence[bool],
    axes: Sequence[int] | None = None,
    mode: str = "rbs",
    *,
    real: bool = False,
) -> Dde:
    """Balance every line of one axis after the other, by the weights of the axes still to come."""
    w = [Fraction(x) for x in loads] if real else [int(x) for x in loads]
    local = list(w)
    axes = list(range(len(shape))) if axes is None else list(axes)
    flows = [[0 * w[0]] * len(w) for _ in shape]
    moved_per_axis, rounds_per_axis, stages = [], [], []
    for s, axis in enumerate(axes):
        on_axis = marginal(weights, shape, axes[: s + 1])
        moved, rounds = 0 * w[0], 0
        for nodes in topology.lines(shape, axis):
            held = [w[node] for node in nodes]
            line = dde_line(held, [on_axis[node] for node in nodes], wrap[axis], real=real)
            taken, resident = exchange.exchange_rounds(
                held, line.flows, mode, [local[node] for node in nodes]
            )
            rounds = max(rounds, taken)
            moved += sum(map(abs, line.flows))
            for i, node in enumerate(nodes):
                flows[axis][node] = line.flows[i]
                local[node] = resident[i]
                w[node] += line.flows[i - 1] - line.flows[i]
        moved_per_axis.append(moved)
        rounds_per_axis.append(rounds)
        stages.append(list(w))
    formula = [k + k // 2 if wrapped else 2 * k for k, wrapped in zip(shape, wrap, strict=True)]
    return Dde(
        w,
        flows,
        sum(moved_per_axis, 0 * w[0]),
        moved_per_axis,
        rounds_per_axis,
        stages,
        sum(local),
        sum(formula[axis] for axis in axes),
        sum(shape[axis] for axis in axes) + sum(rounds_per_axis),
    )


def nearest_share(a: int, b: int, first: int | Fraction, second: int | Fraction) -> int:
    """What the first of a pair has nearest its share of both; of two the one nearer to ``a``."""
    exact = shares(a + b, [first, second])[0]
    return min(range(a + b + 1), key=lambda x: (abs(x - exact), abs(x - a)))


@dataclass
class WeightedDem:
    loads: list[Any]
    moved: Any
    local: Any
    stages: list[list[Any]]
    moved_per_dim: list[Any]
    flows: list[list[Any]]


def dem(
    loads: Sequence[Any],
    weights: Weights,
    n: int,
    dims: Sequence[int] | None = None,
    *,
    faults: Collection[tuple[int, int]] = (),
    real: bool = False,
) -> WeightedDem:
    """Bring each pair to the nearest share by the weights of the dimensions still to come."""
    broken = {frozenset(link) for link in faults}
    w = [Fraction(x) for x in loads] if real else [int(x) for x in loads]
    local = list(w)
    dims = list(range(n)) if dims is None else list(dims)
    flows = [[0 * w[0]] * 2**n for _ in range(n)]
    stages, moved_per_dim = [], []
    for s, bit in enumerate(dims):
        on_bit = marginal(weights, (2,) * n, [n - 1 - b for b in dims[: s + 1]])
        moved = 0 * w[0]
        for low in range(2**n):
            high = low | 1 << bit
            if low == high or frozenset((low, high)) in broken or not on_bit[low] + on_bit[high]:
                continue
            both, pair = w[low] + w[high], (on_bit[low], on_bit[high])
            after = shares(both, pair)[0] if real else nearest_share(w[low], w[high], *pair)
            amount = w[low] - after
            w[low], w[high] = after, both - after
            local[low], local[high] = min(local[low], w[low]), min(local[high], w[high])
            flows[n - 1 - bit][low] += amount
            moved += abs(amount)
        stages.append(list(w))
        moved_per_dim.append(moved)
    return WeightedDem(w, sum(moved_per_dim, 0 * w[0]), sum(local), stages, moved_per_dim, flows)


def distances(weights: Weights, links: Sequence[Pair]) -> list[int | None]:
    """How many links there are to the next node with a weight; None where none can be reached."""
    result: list[int | None] = [0 if w else None for w in weights]
    for distance in range(1, len(weights)):
        for pair in links:
            for u, v in (pair, pair[::-1]):
                if result[u] == distance - 1 and result[v] is None:
                    result[v] = distance
    return result


def gde(
    loads: Sequence[Any],
    weights: Weights,
    colours: Sequence[Sequence[Pair]],
    lam: Fraction,
    *,
    tol: Fraction | None = None,
    max_sweeps: int | None = None,
) -> Gde:
    """Sweep until all pairs are nearest to their shares, or (with ``tol``) nearly there.

    ``2 x`` is what a pair would send twice over to reach its shares: it is a - b at equal weights.
    Whole units are sent by ``floor(lam * ceil(2 x))``, reals by ``lam * 2 x``; never more than
    there is, and by a node of weight 0 all.
    """
    real = tol is not None
    w = [Fraction(x) for x in loads] if real else list(loads)
    local = list(w)
    far = distances(weights, [pair for colour in colours for pair in colour])
    flows = {pair: 0 * w[0] for colour in colours for pair in colour}

    def pulls(u: int, v: int) -> tuple[Any, Any]:
        """The weights of a pair; of two nodes without, all goes to the one nearer to others."""
        if weights[u] or weights[v] or far[u] == far[v]:
            return weights[u], weights[v]
        return (0, 1) if far[u] > far[v] else (1, 0)  # type: ignore[operator]

    def twice(u: int, v: int) -> Fraction:
        first, second = pulls(u, v)
        if not first + second:
            return Fraction(0)
        return 2 * (Fraction(w[u]) - shares(w[u] + w[v], [first, second])[0])

    def gap(u: int, v: int) -> Any:
        return abs(twice(u, v)) if real else ceil(abs(twice(u, v)))

    def is_near(u: int, v: int) -> bool:
        """Tell whether a pair is near to its shares, and an end without weight has no load."""
        left = [w[node] for node, pull in zip((u, v), pulls(u, v), strict=True) if not pull]
        return gap(u, v) <= (1 if tol is None else tol) and not (len(left) == 1 and left[0])

    moved, sweeps, stalled = 0 * w[0], 0, False
    while True:
        converged = all(is_near(*pair) for pair in flows)
        if converged or stalled or sweeps == max_sweeps:
            break
        before = moved
        for colour in colours:
            for u, v in colour:
                giver = u if twice(u, v) > 0 else v
                amount = lam * gap(u, v) if real else floor(lam * gap(u, v))
                amount = min(amount, w[giver])
                if pulls(u, v)[giver == v] == 0 and gap(u, v):
                    amount = w[giver]
                w[giver] -= amount
                w[u + v - giver] += amount
                local[giver] = min(local[giver], w[giver])
                moved += amount
                flows[u, v] += amount if giver == u else -amount
        sweeps += 1
        stalled = moved == before
    return Gde(
        w, sweeps, stalled, converged, moved, sum(local), len(colours),
        3 * len(colours) * sweeps, flows,
    )  # fmt: skip
