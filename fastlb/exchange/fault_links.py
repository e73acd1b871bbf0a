"""Fault-tolerant DEM link by link, for flows and stages, for trees, and for small networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..memory import require_memory
from ..pages import copied
from .fault_rows import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fault_schedule import FaultSchedule
    from .fault_tree import FaultTree


def link_by_link(
    plan: FaultSchedule | None,
    tree: FaultTree | None,
    rows: NDArray[Any],
    units_dtype: np.dtype[Any],
    *,
    with_flows: bool,
) -> Result:
    """Balance rows (B, N) in place by a plan, a tree, or first the plan and then the tree.

    Units that do not fit int64 are -1.
    """
    B, N = rows.shape
    n = N.bit_length() - 1
    S = 2 * (plan is not None) + (tree is not None)
    flows: NDArray[Any] | None = None
    stages: NDArray[Any] | None = None
    if with_flows:
        require_memory(B * N * (8 * n + S * rows.itemsize), "the flows")
        flows, stages = np.zeros((B, n, N), units_dtype), np.empty((S, B, N), rows.dtype)
    moved = np.zeros((S, B), units_dtype)
    resident_min = copied(rows)
    largest = units_dtype.type(0)
    if plan is not None:
        kernel, program = kernels("faults.single"), plan.program
        # The program's last rows are the repairs.
        repairs = int((program[:, 0] > kernel.WHOLE).argmax()) if plan.repairs else len(program)
        for stage, part in enumerate((program[:repairs], program[repairs:])):
            largest = kernel.balance_links(
                rows, resident_min, flows, part, plan.order == "lowest", moved[stage]
            )
            if stages is not None:
                stages[stage] = rows
    if tree is not None:
        branches = tree.order, tree.parent, tree.component, tree.starts
        kernels("faults.tree").give_quotas(
            rows, resident_min, flows, branches, ranks(rows, tree), moved[-1]
        )
        if stages is not None:
            stages[-1] = rows
    if rows.dtype.kind == "f":
        # All kernels add loads in the order of the nodes. Adding 0.0 turns -0.0 into 0.0.
        local = np.add.accumulate(resident_min, axis=1)[:, -1] + 0.0
    else:
        local = resident_min.sum(axis=1, dtype=units_dtype)
    return Result(largest, moved.T, local, None, flows, stages)


def ranks(rows: NDArray[Any], tree: FaultTree) -> NDArray[np.int64]:
    """Return the rank of each node (B, N) in its component by load, the most loaded first.

    Of equal loads the lower node comes first.
    """
    components = np.broadcast_to(tree.component, rows.shape)
    order = np.lexsort((-rows, components), axis=-1)
    first = np.repeat(tree.starts[:-1], np.diff(tree.starts))
    positions = np.broadcast_to(np.arange(rows.shape[1]) - first, rows.shape)
    result = np.empty(rows.shape, np.int64)
    np.put_along_axis(result, order, positions, axis=1)
    return result
