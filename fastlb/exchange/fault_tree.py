"""Breadth-first trees of a hypercube with faulty links, for exact quotas (spec section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..accelerate import kernels
from ..aside import aside_if_large
from ..memory import require_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.hypercube import Hypercube


@dataclass(frozen=True, eq=False)
class FaultTree:
    """One breadth-first tree a connected component, rooted at its lowest node.

    Attributes
    ----------
    order : (N,) int64
        Nodes in breadth-first order, component after component.
    parent, component : (N,) int64
        Of each node; a root is its own parent.
    starts : (C + 1,) int64
        Where each component starts in ``order``.
    height : int
        The largest depth of a node.
    """

    order: NDArray[np.int64]
    parent: NDArray[np.int64]
    component: NDArray[np.int64]
    starts: NDArray[np.int64]
    height: int

    @property
    def steps(self) -> int:
        """Communication steps: the height for sums, the same for quotas, twice that for load."""
        return 4 * self.height


@lru_cache(maxsize=4)
def fault_tree(topology: Hypercube) -> FaultTree:
    """Return the breadth-first trees of a hypercube; neighbours are visited by ascending bit."""
    require_memory(48 * topology.size, f"the trees of {topology!r}")
    broken = np.zeros(topology.size, dtype=np.int64)
    ends = np.array(topology.faults, dtype=np.int64).reshape(-1, 2)
    for side in (0, 1):
        np.bitwise_or.at(broken, ends[:, side], ends[:, 0] ^ ends[:, 1])
    spanning = kernels("faults.tree").spanning
    trees = aside_if_large(topology.size, spanning, topology.n, broken)
    order, parent, component, starts, height = trees
    return FaultTree(order, parent, component, starts, int(height))
