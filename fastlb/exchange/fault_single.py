"""Prepared calls of fault-tolerant DEM for one network of integers; see ``prepared.py``."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..errors import FaultError
from ..topologies.hypercube import Hypercube
from .casting import INT32_MAX, INT64_MAX
from .fault_batches import INTEGERS, all_bits_set, growth, largest_stuck, positions_of_nodes
from .fault_planning import fault_schedule
from .fault_schedule import SPLIT, WHOLE, FaultSchedule, Subcube
from .prepared import PreparedCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Nodes up to which a network alone is balanced link by link, as other kernels are no faster, and up
# to which calls are prepared.
LINK_BY_LINK, PREPARED = 2**6, 2**11


@lru_cache(maxsize=256)
def prepare_call(
    topology: Hypercube,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    record: str,
    order: str,
    donor: str,
) -> PreparedCall | None:
    """Return the prepared call for one network of integers, or None."""
    if not isinstance(topology, Hypercube) or dtype not in INTEGERS:
        return None
    if shape not in (topology.shape, (topology.size,)) or topology.size > PREPARED:
        return None
    try:
        plan = fault_schedule(topology, order=order, donor=donor)
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
        return PreparedCall(
            kernels("faults.single").balance_small,
            (plan.program, lowest, all_bits_set(top)),
            fields,
        )
    # In a pass a lane of 32 bits counts at most twelve halves of loads.
    top = all_bits_set(min(largest, INT32_MAX // max(times, 6)))
    settings = not lowest, largest_stuck(plan), top
    # Unsigned, so that numba does not look for negative indices.
    positions = positions_of_nodes(topology.n, lowest).astype(np.uint32)
    constants = positions, steps_of(plan), plan.positions, settings, measured
    return PreparedCall(kernels("faults.steps").balance_one, constants, fields)


@lru_cache(maxsize=64)
def steps_of(plan: FaultSchedule) -> NDArray[np.int64]:
    """Return the exchanges of a plan as ``kernels/faults/steps.py`` takes them."""
    kernel = kernels("faults.steps")
    n, N, L = plan.topology.n, plan.topology.size, kernel.LANES
    # The bit of each position's t-th exchange, or -1.
    bits, counts = np.full((n, N), -1), np.zeros(N, np.int64)
    for kind, base, free, split in plan.positions.tolist():
        outermost_first = [bit for bit in range(n)[::-1] if free >> bit & 1]
        for bit in [split] if kind == SPLIT else outermost_first if kind == WHOLE else []:
            nodes = Subcube(base, free).nodes
            bits[counts[nodes], nodes] = bit
            counts[nodes] += 1
    segments: list[NDArray[np.int64]] = []
    for turn in bits:
        for bit in range(n):
            lanes = (turn == bit).reshape(-1, L) @ (1 << np.arange(L))
            rows = np.flatnonzero(lanes)
            # Of two rows that exchange, the step names the lower one.
            rows = rows[(rows * L & 1 << bit) == 0]
            if rows.size:
                steps = rows * L | lanes[rows] << kernel.LANES_FROM
                segments.append(np.array([1 << bit, rows.size, *steps]))
    return np.concatenate(segments)


def _metrics(steps: int) -> Callable[..., dict[str, Any]]:
    # A dict display takes a third of the time of zipping names and numbers.
    def fields(
        initial_difference: int, difference: int, moved: int, local: int,
        initial_imbalance: float, imbalance: float, cost: float, locality: float,
    ) -> dict[str, Any]:  # fmt: skip
        return {
            "difference": difference,
            "initial_difference": initial_difference,
            "imbalance": imbalance,
            "initial_imbalance": initial_imbalance,
            "moved": moved,
            "cost": cost,
            "local": local,
            "locality": locality,
            "sweeps": 1,
            "steps": steps,
        }

    return fields


def _no_metrics(*_: float) -> dict[str, Any]:
    return {}
