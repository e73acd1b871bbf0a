"""Direct dimension exchange (Wu-Shu Figs 3, 8 and 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracles import exchange, topology


@dataclass
class Line:
    suffix_sums: list[Any]  # W
    quotas: list[Any]  # q
    suffix_quotas: list[Any]  # Q
    shift: Any  # x_m
    flows: list[Any]  # flows[i] from i to i+1, the last one on the wrap link


def quotas(loads: Sequence[Any], real: bool = False) -> list[Any]:
    k = len(loads)
    if real:
        return [sum(map(Fraction, loads)) / k] * k
    average, remainder = divmod(sum(loads), k)
    return [average + 1 if i < remainder else average for i in range(k)]


def dde_line(loads: Sequence[Any], ring: bool = False, *, real: bool = False) -> Line:
    """DDE-chain, and DDE-ring on top of it."""
    w = [Fraction(x) for x in loads] if real else [int(x) for x in loads]
    k = len(w)
    q = quotas(w, real)
    suffix_sums = [sum(w[i:]) for i in range(k)]
    suffix_quotas = [sum(q[i:]) for i in range(k)]
    flows = [suffix_quotas[i] - suffix_sums[i] for i in range(1, k)] + [0 * w[0]]
    shift = 0 * w[0]
    if ring:
        m = (k + 1) // 2
        positive = sorted((x for x in flows if x > 0), reverse=True)
        negative = sorted(x for x in flows if x < 0)
        if len(positive) > k - len(positive):
            shift = positive[m - 1]
        elif len(negative) > k - len(negative):
            shift = negative[m - 1]
    return Line(suffix_sums, q, suffix_quotas, shift, [x - shift for x in flows])


@dataclass
class Dde:
    loads: list[Any]
    flows: list[list[Any]]  # [array axis][node], to the successor; the wrap link on the last node
    moved: Any
    moved_per_axis: list[Any]  # in the order of axes, like all that follow
    rounds_per_axis: list[int]  # the largest over that axis's lines
    stages: list[list[Any]]
    local: Any
    steps: int  # 2k a mesh axis, k + k//2 a torus axis
    simulated_steps: int  # k an axis, and the rounds


def dde(
    loads: Sequence[Any],
    shape: Sequence[int],
    wrap: Sequence[bool],
    axes: Sequence[int] | None = None,
    mode: str = "rbs",
    *,
    real: bool = False,
) -> Dde:
    """Balance every line of one axis after the other."""
    w = [Fraction(x) for x in loads] if real else [int(x) for x in loads]
    local = list(w)
    axes = list(range(len(shape))) if axes is None else list(axes)
    flows = [[0 * w[0]] * len(w) for _ in shape]
    moved_per_axis = []
    rounds_per_axis = []
    stages = []
    for axis in axes:
        moved = 0 * w[0]
        rounds = 0
        for nodes in topology.lines(shape, axis):
            held = [w[node] for node in nodes]
            line = dde_line(held, wrap[axis], real=real)
            taken, kept = exchange.exchange_rounds(
                held, line.flows, mode, [local[node] for node in nodes]
            )
            rounds = max(rounds, taken)
            moved += sum(map(abs, line.flows))
            for i, node in enumerate(nodes):
                flows[axis][node] = line.flows[i]
                local[node] = kept[i]
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
