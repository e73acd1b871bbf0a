"""One network of integers under a plan of fault-tolerant DEM: the calls that programs repeat."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..errors import FaultError
from ..topologies.hypercube import Hypercube
from .fault_batches import INTEGERS, all_bits_set, growth, largest_stuck, positions_of_nodes
from .fault_plans import fault_plan
from .prepared import PreparedCall
from .result import INT32_MAX, INT64_MAX

if TYPE_CHECKING:
    from collections.abc import Callable

# Nodes of a network that is balanced link by link, the largest one for which that is worth no
# other kernel; and the largest that is prepared at all.
LINK_BY_LINK, PREPARED = 2**6, 2**11
FIGURES = (
    "initial_difference", "difference", "moved", "local",
    "initial_imbalance", "imbalance", "cost", "locality",
)  # fmt: skip


@lru_cache(maxsize=256)
def prepare_call(
    topology: Hypercube,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    record: str,
    order: str,
    donor: str,
) -> PreparedCall | None:
    """Return what balances one network of integers by a plan, or None; see ``prepared.py``."""
    if not isinstance(topology, Hypercube) or dtype not in INTEGERS:
        return None
    if shape not in (topology.shape, (topology.size,)) or topology.size > PREPARED:
        return None
    try:
        plan = fault_plan(topology, order=order, donor=donor)
    except (FaultError, ValueError):
        return None
    if record not in ("loads", "metrics"):
        return None
    measured = True if record == "metrics" else None
    fields = _metrics(plan.steps) if measured else _no_metrics
    times, lowest = growth(plan), order == "lowest"
    largest = int(np.iinfo(dtype).max) // times
    if topology.size <= LINK_BY_LINK:
        top = min(largest, INT64_MAX // (topology.size * max(1, plan.steps)))
        constants = plan.program, lowest, all_bits_set(top)
        return PreparedCall(kernels("faults.single").balance_small, constants, fields)
    # In a pass a lane of 32 bits counts twelve halves of loads.
    settings = (
        not lowest,
        largest_stuck(plan),
        all_bits_set(min(largest, INT32_MAX // max(times, 6))),
    )
    place = positions_of_nodes(topology.n, lowest)
    return PreparedCall(
        kernels("faults.stretches").balance_one,
        (place, plan.positions, settings, measured),
        fields,
    )


def _metrics(steps: int) -> Callable[..., dict[str, Any]]:
    def fields(*numbers: float) -> dict[str, Any]:
        return {**dict(zip(FIGURES, numbers, strict=True)), "sweeps": 1, "steps": steps}

    return fields


def _no_metrics(*_: float) -> dict[str, Any]:
    return {}
