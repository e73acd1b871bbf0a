"""Dimension exchange on the hypercube (Wu-Shu Fig. 1)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np


@dataclass
class Dem:
    loads: list[Any]
    moved: Any
    local: Any
    stages: list[list[Any]]  # loads after each dimension, in the order of dims
    moved_per_dim: list[Any]  # in the order of dims
    flows: list[list[Any]]  # [array axis][node]; bit b is axis n-1-b, the link at coordinate 0
    steps: int


def dem(
    loads: Sequence[Any],
    n: int,
    dims: Sequence[int] | None = None,
    *,
    faults: Collection[tuple[int, int]] = (),
    real: bool = False,
) -> Dem:
    """Average each pair over one bit after the other.

    `real=True` takes exact means of Fractions; else the higher one sends `diff//2`.
    Links in `faults` are skipped.
    """
    broken = {frozenset(link) for link in faults}
    w = [Fraction(x) for x in loads] if real else [int(x) for x in loads]
    local = list(w)
    dims = list(range(n)) if dims is None else list(dims)
    flows = [[0 * w[0]] * 2**n for _ in range(n)]
    stages = []
    moved_per_dim = []
    for bit in dims:
        moved = 0 * w[0]
        for low in range(2**n):
            high = low | 1 << bit
            if low == high or frozenset((low, high)) in broken:
                continue
            sender, taker = (low, high) if w[low] > w[high] else (high, low)
            d = w[sender] - w[taker]
            amount = d / 2 if real else d // 2
            w[sender] -= amount
            w[taker] += amount
            local[sender] = min(local[sender], w[sender])
            flows[n - 1 - bit][low] += amount if sender == low else -amount
            moved += amount
        stages.append(list(w))
        moved_per_dim.append(moved)
    return Dem(
        w, sum(moved_per_dim, 0 * w[0]), sum(local), stages, moved_per_dim, flows, 3 * len(dims)
    )


def averaged(loads: Any, bits: Iterable[int]) -> Any:
    """Balance cubes (.., N) along some bits by whole-array arithmetic that no load overflows."""
    load = loads.copy()
    for bit in bits:
        pairs = load.reshape(-1, 2, 1 << bit)
        a, b = pairs[:, 0].copy(), pairs[:, 1].copy()
        if load.dtype.kind == "f":
            pairs[:, 0] = pairs[:, 1] = (a + b) * load.dtype.type(0.5)
        else:
            half = (np.maximum(a, b) - np.minimum(a, b)) >> load.dtype.type(1)
            pairs[:, 0] = np.where(a > b, a - half, a + half)
            pairs[:, 1] = np.where(a > b, b + half, b - half)
    return load
