"""What the largest load is at least, wherever the tasks go."""

from __future__ import annotations

import heapq
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

# Sums of several tasks that are added exactly, of the largest by floats.
MOST_ADDED = 8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def least_largest_load(
    falling: NDArray[Any],
    movable: NDArray[np.bool_],
    pinned: Sequence[Any],
    total: Any,
    weights: Sequence[int | Fraction],
    unit: Fraction | None,
) -> Fraction:
    """Return a bound that no assignment's largest load by weight is below.

    The largest of: the mean; the fullest node of what cannot move; the longest movable task at
    the node where it makes the least load; and for every k the shortest k + 1 of the k n + 1
    longest tasks, of which some node has k + 1. In whole units it is rounded up to a value at
    which the nodes can hold the total.

    Parameters
    ----------
    falling, movable : (T,)
        Sizes of all tasks, longest first, and whether each may move.
    pinned : (N,)
        Exact load of every node that cannot move.
    total : int or Fraction
        The exact total.
    weights : (N,) ints and Fractions
        Of every node; 0 for one that takes no task.
    unit : Fraction or None
        What all sizes are multiples of, or None where no such number is at hand.
    """
    # Nodes alike count as one kind.
    alike = Counter((w, load) for w, load in zip(weights, pinned, strict=True) if w > 0)
    kinds = [(Fraction(w), Fraction(load)) for w, load in alike]
    speeds: Counter[Fraction] = Counter()
    for (w, _), count in zip(kinds, alike.values(), strict=True):
        speeds[w] += count
    nodes = sum(speeds.values())
    bound = Fraction(total) / sum(w * count for w, count in speeds.items())
    bound = max(bound, *(load / w for w, load in kinds))
    if movable.any():
        longest = Fraction(falling[np.argmax(movable)].item())
        bound = max(bound, min((load + longest) / w for w, load in kinds))
    heaviest = max(speeds)
    bound = _several_longest(falling, nodes, bound * heaviest) / heaviest
    if unit is None:
        return bound
    return _rounded_up(bound, Fraction(total), speeds, unit)


def _several_longest(falling: NDArray[Any], nodes: int, least: Fraction) -> Fraction:
    """Return ``least``, or the largest sum, over k, of k + 1 tasks that share a node, if larger."""
    sums = np.concatenate([[0.0], np.cumsum(falling, dtype=np.float64)])
    k = np.arange(1, (len(falling) - 1) // nodes + 1)
    about = sums[k * nodes + 1] - sums[k * nodes - k]
    # Sums of floats are rounded: the few that may be the largest are added exactly.
    rounding = sums[-1] * len(falling) * np.finfo(np.float64).eps
    best = k[np.argsort(-about, kind="stable")[:MOST_ADDED]]
    for j in best[about[best - 1] >= float(least) - rounding].tolist():
        together = falling[j * nodes - j : j * nodes + 1].tolist()
        least = max(least, sum(map(Fraction, together), Fraction(0)))
    return least


def _rounded_up(
    bound: Fraction, total: Fraction, speeds: Counter[Fraction], unit: Fraction
) -> Fraction:
    """Return the least load by weight, from the bound on, at which whole units hold the total.

    ``speeds`` has how many nodes are of each weight.
    """
    held = {w: bound * w // unit for w in speeds}
    missing = int(total / unit) - sum(held[w] * count for w, count in speeds.items())
    rising = [((held[w] + 1) * unit / w, w) for w in speeds]
    if missing <= 0:
        exact = any(held[w] * unit == bound * w for w in speeds)
        return bound if exact else min(rising)[0]
    heapq.heapify(rising)
    value = bound
    while missing > 0:
        value, w = rising[0]
        heapq.heapreplace(rising, (value + unit / w, w))
        missing -= speeds[w]
    return value
