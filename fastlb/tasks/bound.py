"""What the largest load is at least, wherever the tasks go."""

from __future__ import annotations

import heapq
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .units import exact_sums

# Sums of several tasks that are added exactly, of the largest by floats.
MOST_ADDED = 8

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def least_largest_load(
    falling: NDArray[Any],
    movable: NDArray[np.bool_],
    pinned: Sequence[Any],
    weights: Sequence[int | Fraction],
    *,
    whole: bool,
) -> Fraction:
    """Return a bound that no assignment's largest load by weight is below.

    The largest of: the mean; the fullest node of what cannot move; the longest movable task at
    the node where it makes the least load; and for every k the shortest k + 1 of the k n + 1
    longest tasks, of which some node has k + 1. In whole units it is rounded up to a value at
    which the nodes can hold the total.

    Parameters
    ----------
    falling, movable : (T,)
        Sizes of all tasks, longest first, int64 or float64, and whether each may move.
    pinned : (N,)
        Exact load of every node that cannot move.
    weights : (N,) ints and Fractions
        Of every node; 0 for one that takes no task.
    whole : bool
        Whether loads are whole numbers: sizes are int64, of a total below 2**63.
    """
    longest = falling[np.argmax(movable)].item() if movable.any() else None
    if whole and len(set(weights)) == 1:
        return Fraction(_of_equal_nodes(falling, longest, pinned)) / weights[0]
    (total,) = exact_sums(falling, np.zeros(len(falling), np.int64), 1)
    # Nodes alike count as one kind.
    alike = Counter(zip(weights, pinned, strict=True))
    kinds = {(Fraction(w), Fraction(load)): count for (w, load), count in alike.items() if w > 0}
    speeds: Counter[Fraction] = Counter()
    for (w, _), count in kinds.items():
        speeds[w] += count
    bound = max(total / sum(w * count for w, count in speeds.items()),
                *(load / w for w, load in kinds))  # fmt: skip
    if longest is not None:
        bound = max(bound, min((load + Fraction(longest)) / w for w, load in kinds))
    heaviest = max(speeds)
    if whole:
        several = Fraction(_several_longest(falling, speeds.total()))
    else:
        several = _several_longest_reals(falling, speeds.total(), bound * heaviest)
    bound = max(bound, several / heaviest)
    return _rounded_up(bound, total, speeds) if whole else bound


def _of_equal_nodes(falling: NDArray[np.int64], longest: int | None, pinned: Sequence[int]) -> int:
    """Return the bound of whole loads where all nodes have the weight 1."""
    nodes = len(pinned)
    bound = max(-(-int(falling.sum()) // nodes), max(pinned), _several_longest(falling, nodes))
    return bound if longest is None else max(bound, min(pinned) + longest)


def _several_longest(falling: NDArray[np.int64], nodes: int) -> int:
    """Return the largest sum, over k, of k + 1 tasks that share a node."""
    if len(falling) <= nodes:
        return 0
    sums = np.zeros(len(falling) + 1, np.int64)
    np.cumsum(falling, out=sums[1:])
    k = np.arange(1, (len(falling) - 1) // nodes + 1)
    return int((sums[k * nodes + 1] - sums[k * nodes - k]).max())


def _several_longest_reals(falling: NDArray[Any], nodes: int, least: Fraction) -> Fraction:
    """Return the same of reals, or ``least`` if that is larger.

    Sums are rounded: the few that may be the largest are added exactly.
    """
    sums = np.concatenate([[0.0], np.cumsum(falling, dtype=np.float64)])
    k = np.arange(1, (len(falling) - 1) // nodes + 1)
    about = sums[k * nodes + 1] - sums[k * nodes - k]
    rounding = sums[-1] * len(falling) * np.finfo(np.float64).eps
    best = k[np.argsort(-about, kind="stable")[:MOST_ADDED]]
    for j in best[about[best - 1] >= float(least) - rounding].tolist():
        together = falling[j * nodes - j : j * nodes + 1].tolist()
        least = max(least, sum(map(Fraction, together), Fraction(0)))
    return least


def _rounded_up(bound: Fraction, total: int, speeds: Counter[Fraction]) -> Fraction:
    """Return the least load by weight, from the bound on, at which whole loads make the total.

    ``speeds`` has how many nodes are of each weight.
    """
    most = {w: bound * w // 1 for w in speeds}
    missing = total - sum(most[w] * count for w, count in speeds.items())
    rising = [((most[w] + 1) / w, w) for w in speeds]
    if missing <= 0:
        exact = any(most[w] == bound * w for w in speeds)
        return bound if exact else min(rising)[0]
    heapq.heapify(rising)
    value = bound
    while missing > 0:
        value, w = rising[0]
        heapq.heapreplace(rising, (value + 1 / w, w))
        missing -= speeds[w]
    return value
