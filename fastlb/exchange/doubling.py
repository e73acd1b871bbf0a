"""Recursive doubling: balancing a chain along a binomial tree (Wu-Shu Fig. 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..aside import aside_if_large
from ..display.cards import Displayed
from .lines import ROUNDING, DdeLine, dde_line

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Doubling(Displayed):
    """The result of :func:`recursive_doubling`.

    Attributes
    ----------
    loads : (k,) final loads, the quotas of DDE-chain
    flows : (k,) net units from node i to its parent ``i & (i - 1)``; 0 at the root
    exchange_steps : rounds of receive-before-send along the tree
    info_steps : ``2 * ceil(log2 k)``, collection and broadcast
    total_steps : both
    bound : ``4 * ceil(log2 k)``, the paper's bound on the total
    """

    loads: NDArray[Any]
    flows: NDArray[Any]
    exchange_steps: int
    info_steps: int
    total_steps: int
    bound: int


def recursive_doubling(loads: ArrayLike) -> Doubling:
    """Balance a chain of any length along a binomial tree (Wu-Shu section 3, Fig. 7).

    The figure is lost; the tree is the one in which node i's parent is ``i & (i - 1)``, so the
    subtree of i is the run of nodes ``i .. i + lowest set bit of i - 1``.

    Parameters
    ----------
    loads : array_like, shape (k,)
        Tasks per node, not negative: integers, float32 or float64.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As :func:`dde_line`.

    Examples
    --------
    >>> recursive_doubling([9, 7, 4, 1, 4, 6, 1, 5]).total_steps
    9
    """
    line = dde_line(loads)
    doubling: Doubling = aside_if_large(len(line.quotas), _of_line, line)
    return doubling


def _of_line(line: DdeLine) -> Doubling:
    k = len(line.quotas)
    nodes = np.arange(k)
    ends = np.minimum(nodes + (nodes & -nodes), k)
    # The chain's flow into node i is the deficit of nodes i .. k-1.
    deficits = np.concatenate([line.flows[-1:], line.flows])
    flows = deficits[ends] - deficits[:-1]
    if flows.dtype.kind == "f":
        flows[np.abs(flows) <= line.suffix_sums[0] * ROUNDING] = 0
    flows[0] = 0
    levels = max(0, (k - 1).bit_length())
    steps = _rounds(flows, levels)
    info = 2 * levels
    return Doubling(line.quotas, flows, steps, info, steps + info, 4 * levels)


def _rounds(flows: NDArray[Any], levels: int) -> int:
    """Return the number of rounds of receive-before-send.

    ``ready[i]`` is the round after which node i has received everything; it sends in the next.
    """
    nodes = np.arange(len(flows))
    parents = nodes & (nodes - 1)
    lowest = nodes & -nodes
    ready = np.zeros(len(flows), dtype=np.int64)
    latest = 0
    for level in range(levels):
        rising = nodes[(lowest == 1 << level) & (flows > 0)]
        np.maximum.at(ready, parents[rising], ready[rising] + 1)
        latest = max(latest, int(ready[rising].max(initial=-1)) + 1)
    for level in reversed(range(levels)):
        falling = nodes[(lowest == 1 << level) & (flows < 0)]
        ready[falling] = np.maximum(ready[falling], ready[parents[falling]] + 1)
        latest = max(latest, int(ready[falling].max(initial=0)))
    return latest
