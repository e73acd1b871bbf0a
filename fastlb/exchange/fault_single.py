"""One network under a plan of fault-tolerant DEM, with the least of Python around the kernel."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from ..accelerate import compiled, kernels
from .fault_batches import INTEGERS, growth
from .result import INT32_MAX, Balance, balance_of, loads_alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from .fault_plans import FaultPlan

# Nodes of a network that is balanced in one go: the table of a plan grows faster than they do.
FEW = 2**11
# The plan and the record of the last call, its kernel and what that takes besides loads. A host
# program asks for the same in every step: to see that by identity saves a sixth of the call. One
# tuple, put in as a whole: no thread meets half of another's.
_last: list[tuple[Any, ...]] = [(object(), "", None, None)]


def in_one_go(
    plan: FaultPlan, loads: ArrayLike, record: str, out: NDArray[Any] | None
) -> Balance | None:
    """Balance one small network of integers as it is, or return None.

    For a host program that balances in every step; the whole way is for all that is refused or
    takes a conversion: 18 times as long on a 10-cube with one faulty link, and 100 with eight. The
    kernel itself looks at types, lengths and values and works out the figures.
    """
    # ``np.ndarray`` would be looked up twice.
    if type(loads) is not ndarray or (loads.ndim != 1 and loads.shape != plan.topology.shape):
        return None
    if out is None:
        try:
            result = np.empty_like(loads)
        except MemoryError:
            # The whole way tells first what else is wrong: a view of one load may have any length.
            return None
    elif type(out) is ndarray and out.shape == loads.shape:
        result = out
    else:
        return None
    of_plan, of_record, kernel, table = _last[0]
    if plan is of_plan and record is of_record:
        found = kernel(loads, result, table)
        code = found if record == "loads" else found[0]
    else:
        code = None
    if code != 0:
        # Another plan or other arrays than in the last call, or none that can be balanced.
        found = _found(plan, loads, record, result)
        if found is None:
            return None
    if record == "loads":
        return loads_alone("fault_tolerant_dem", plan.topology, result)
    _, before, after, moved, local, first, last, cost, locality = found
    fields = {
        "difference": after,
        "initial_difference": before,
        "imbalance": last,
        "initial_imbalance": first,
        "moved": moved,
        "cost": cost,
        "local": local,
        "locality": locality,
        "sweeps": 1,
        "steps": plan.steps,
    }
    return balance_of("fault_tolerant_dem", plan.topology, record, result, fields)


def _found(plan: FaultPlan, loads: NDArray[Any], record: str, result: NDArray[Any]) -> Any:
    """Return what the kernel of the narrowest lanes finds, or None if none balances the loads."""
    for wide in (False, True):
        kernel = _kernel(loads.dtype, record, wide)
        table = plan.wide_table if wide else plan.table
        if kernel is None or table is None:
            return None
        found = kernel(loads, result, table)
        code = found if record == "loads" else found[0]
        if code == kernels("faults.single").DONE:
            _last[0] = plan, record, kernel, table
            return found
        if code != kernels("faults.single").WIDER:
            return None
    return None


def table(plan: FaultPlan, *, wide: bool) -> NDArray[np.int64] | None:
    """Return a plan as the kernel takes it, for 32-bit lanes or 16-bit ones, or None."""
    if plan.topology.size > FEW:
        return None
    lanes = 16 if wide else 32
    # Beyond that no load but 0 is taken.
    times = min(growth(plan), INT32_MAX)
    made: NDArray[np.int64] = kernels("faults.single").table(
        plan.program, plan.order == "lowest", plan.topology.n, times, lanes
    )
    return made


@lru_cache(maxsize=64)
def _kernel(T: np.dtype[Any], record: str, wide: bool) -> Callable[..., Any] | None:
    """Return what balances loads of a dtype, or None if there is nothing."""
    if T not in INTEGERS or record not in ("loads", "metrics"):
        return None
    module = kernels("faults.single")
    if record == "loads":
        entry = module.final_wide if wide else module.final
    else:
        entry = module.measured_wide if wide else module.measured
    row = np.empty(1, T)
    return compiled(entry, row, row, np.empty(1, np.int64), flat=True)
