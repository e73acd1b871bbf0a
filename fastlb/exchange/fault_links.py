"""Fault-tolerant DEM link by link: for flows and stages, along trees, and of small networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..memory import require_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fault_schedule import FaultSchedule
    from .fault_tree import FaultTree


@dataclass(frozen=True)
class LinkByLink:
    """What is known of rows (B, N) balanced link by link, in ``S`` stages.

    Attributes
    ----------
    largest : int or float
        Largest load after a repair.
    moved : (S, B) int64 or float64
        Units that each stage moves; of int64 -1 where they do not fit.
    local : (B,) int64 or float64
        Units that never left.
    flows, stages : (B, n, N) and (S, B, N), or None
        What goes over each link from its lower end, and the loads after each stage.
    """

    largest: Any
    moved: NDArray[Any]
    local: NDArray[Any]
    flows: NDArray[Any] | None
    stages: NDArray[Any] | None


def link_by_link(
    plan: FaultSchedule | None,
    tree: FaultTree | None,
    rows: NDArray[Any],
    counted: np.dtype[Any],
    *,
    recorded: bool,
) -> LinkByLink:
    """Balance rows (B, N) in place: by a plan, along a tree, or both; ``recorded`` with flows."""
    B, N = rows.shape
    n = N.bit_length() - 1
    S = 2 * (plan is not None) + (tree is not None)
    require_memory(recorded * B * N * (8 * n + S * rows.itemsize), "the flows")
    flows = np.zeros((B, n, N), counted) if recorded else None
    stages = np.empty((S, B, N), rows.dtype) if recorded else None
    moved = np.zeros((S, B), counted)
    resident_min = rows.copy()
    largest = counted.type(0)
    if plan is not None:
        after = None if stages is None else stages[:2]
        largest = kernels("faults.single").balance_links(
            rows, resident_min, flows, after, plan.program, plan.order == "lowest", moved[:2]
        )
    if tree is not None:
        branches = tree.order, tree.parent, tree.component, tree.starts
        kernels("faults.tree").give_quotas(
            rows, resident_min, flows, branches, ranks(rows, tree), moved[-1]
        )
        if stages is not None:
            stages[-1] = rows
    if rows.dtype.kind == "f":
        # One after the other, as everywhere, from 0 on, so that no sum is -0.
        local = np.add.accumulate(resident_min, axis=1)[:, -1] + 0.0
    else:
        local = resident_min.sum(axis=1, dtype=counted)
    return LinkByLink(largest, moved, local, flows, stages)


def ranks(rows: NDArray[Any], tree: FaultTree) -> NDArray[np.int64]:
    """Return the place of each node (B, N) in its component by its load, the most loaded first.

    Of equal loads the lower node comes first.
    """
    components = np.broadcast_to(tree.component, rows.shape)
    order = np.lexsort((-rows, components), axis=-1)
    first = np.repeat(tree.starts[:-1], np.diff(tree.starts))
    places = np.broadcast_to(np.arange(rows.shape[1]) - first, rows.shape)
    result = np.empty(rows.shape, np.int64)
    np.put_along_axis(result, order, places, axis=1)
    return result
