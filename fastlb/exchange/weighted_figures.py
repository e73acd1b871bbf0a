"""Figures of balancing by weights: differences and imbalances of load / weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import SMALLEST
from .loads import batch_shape
from .result import RECORDED_WITH, Balance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .weights import Weights

# Loads whose ratios to weights are computed at a time.
LOADS_AT_ONCE = 2**18

Evenness = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


def evenness(rows: NDArray[Any], weights: Weights, total: NDArray[Any]) -> Evenness:
    """Return difference and imbalance of load / weight of each row (B, N) with a ``total`` (B,).

    Nodes of weight 0 do not count: the mean is that of the load of the others.
    """
    B, N = rows.shape
    difference, imbalance = np.empty((2, B))
    is_counted = weights.integers > 0
    divisors = weights.integers[is_counted].astype(np.float64)
    step = max(1, LOADS_AT_ONCE // N)
    for first in range(0, B, step):
        part = rows[first : first + step]
        counted_total = total[first : first + step]
        if len(divisors) < N:
            part = part[:, is_counted]
            counted_total = part.sum(axis=1, dtype=total.dtype)
        ratios = part / divisors
        largest, least = ratios.max(axis=1), ratios.min(axis=1)
        is_empty = counted_total == 0
        # The mean of denormal loads may underflow to 0.
        mean = np.maximum((counted_total + is_empty) / weights.total, SMALLEST)
        # A load above the largest float times its weight is infinitely many weights.
        with np.errstate(over="ignore"):
            difference[first : first + step] = (largest - least) / float(weights.unit)
        # The ratios of denormal loads are rounded by far, and none is below the mean then.
        imbalance[first : first + step] = np.maximum(largest / mean - 1 + is_empty, 0)
    return difference, imbalance


def sum_of_nodes(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of rows (B, N), of floats from the first node to the last as kernels add."""
    return rows.cumsum(axis=1)[:, -1] if rows.dtype.kind == "f" else rows.sum(axis=1)


def weighted_fields(before: Evenness, after: Evenness) -> dict[str, Any]:
    """Return the figures by name that a balance by weights has in place of those of loads."""
    return {
        "initial_difference": before[0],
        "difference": after[0],
        "initial_imbalance": before[1],
        "imbalance": after[1],
    }


def with_equal_weights(balance: Balance, weights: Weights) -> Balance:
    """Return a balance without weights as that of nodes that all have the same weight."""
    shape = balance.loads.shape
    shape = shape[len(batch_shape(shape, balance.topology)) :]
    fields = {name: balance.__dict__[name] for name in RECORDED_WITH if name in balance.__dict__}
    fields["weights"] = weights.numbers.reshape(shape)
    for name in ("difference", "initial_difference"):
        if name in fields:
            fields[name] = fields[name] / float(weights.unit)
    return Balance(balance.method, balance.topology, balance.record, fields)
