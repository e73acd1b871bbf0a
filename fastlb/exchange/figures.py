"""The figures that all methods have in common (Wu-Shu section 6), of one network and of batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .casting import INT64_MAX
from .scratch import HUGE_PAGE, huge_pages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .loads import Survey

FigureColumns = tuple["NDArray[np.int64]", "NDArray[np.float64]"]

# Columns of ``layout.figures``: four of int64, then four of float64.
COLUMNS = (
    "initial_difference", "difference", "moved", "local",
    "initial_imbalance", "imbalance", "cost", "locality",
)  # fmt: skip

# The smallest float64 above 0.
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


def figures(
    before: Survey, after: Survey, size: int, moved: NDArray[Any], local: NDArray[Any]
) -> dict[str, Any]:
    """Return the figures that every method shares, for :func:`per_batch` (Wu-Shu section 6).

    Parameters
    ----------
    before, after : Survey
        Totals and extremes of the rows before and after balancing.
    size : int
        Number of nodes.
    moved : (B,) or (B, S)
        Units times links, summed or per stage.
    local : (B,) or (B, N)
        Units that never left, summed or per node.
    """
    if len(before.total) == 1:
        units = (sum_moved(moved) if moved.ndim == 2 else moved).item()
        stayed = (local.sum(axis=1, dtype=moved.dtype) if local.ndim == 2 else local).item()
        first, last = ((rows.smallest.item(), rows.largest.item()) for rows in (before, after))
        return figures_of_one(before.total.item(), first, last, size, units, stayed)
    total = before.total
    is_empty = total == 0
    divisor = total + is_empty
    # The mean of denormal loads may underflow to 0.
    mean = np.maximum(divisor / size, SMALLEST)
    moved = sum_moved(moved) if moved.ndim == 2 else moved
    local = local.sum(axis=1, dtype=moved.dtype) if local.ndim == 2 else local
    return {
        "difference": after.largest - after.smallest,
        "initial_difference": before.largest - before.smallest,
        "imbalance": after.largest / mean - 1 + is_empty,
        "initial_imbalance": before.largest / mean - 1 + is_empty,
        "moved": moved,
        "cost": moved / divisor,
        "local": local,
        "locality": (local + is_empty) / divisor,
        "sweeps": np.ones(len(total), np.int64),
    }


def empty_figures(B: int, whole: int = 4) -> FigureColumns:
    """Return empty arrays for figures: (``whole``, B) int64 and (4, B) float64.

    Both are views of one block, which the allocator reuses; pages of many small arrays would be
    returned to the system and cost a page fault each. Large pages halve the time of faults; they
    are used if at most an eighth is wasted.
    """
    rows = whole + 4
    size = rows * B * np.dtype(np.int64).itemsize
    large = -size % HUGE_PAGE <= size // 8
    memory = huge_pages(size) if large else np.empty(size, np.uint8)
    arrays = memory.view(np.int64).reshape(rows, B)
    return arrays[:whole], arrays[whole:].view(np.float64)


def figures_in(columns: FigureColumns) -> dict[str, NDArray[Any]]:
    """Return the columns as figures by name."""
    whole, real = columns
    return dict(zip(COLUMNS, (*whole, *real), strict=True))


def figures_of_one(
    total: int | float,
    before: tuple[Any, Any],
    after: tuple[Any, Any],
    size: int,
    moved: int | float,
    local: int | float,
) -> dict[str, Any]:
    """Return the figures of one network as Python numbers: the same bits in a tenth of the time.

    ``before`` and ``after`` are (least, largest) load.
    """
    # NumPy divides integers as floats; Python's division of large integers differs.
    divisor = float(total) if total > 0 else 1.0
    mean = max(divisor / size, SMALLEST)
    return {
        "difference": after[1] - after[0],
        "initial_difference": before[1] - before[0],
        "imbalance": float(after[1]) / mean - 1 if total > 0 else 0.0,
        "initial_imbalance": float(before[1]) / mean - 1 if total > 0 else 0.0,
        "moved": moved,
        "cost": float(moved) / divisor if total > 0 else 0.0,
        "local": local,
        "locality": float(local) / divisor if total > 0 else 1.0,
        "sweeps": 1,
    }


def sum_moved(moved: NDArray[Any]) -> NDArray[Any]:
    """Add up the units of all stages, (B, S) to (B,).

    Raises
    ------
    OverflowError
        If a sum does not fit int64, or is not finite.
    """
    exact = moved.dtype.kind != "f"
    if exact and moved.max(initial=0) > INT64_MAX // max(1, moved.shape[1]):
        for b, stages in enumerate(moved.tolist()):
            if sum(stages) > INT64_MAX:
                raise OverflowError(f"moved must fit int64, got {sum(stages)} units in row {b}")
    with np.errstate(over="ignore"):
        total: NDArray[Any] = moved.sum(axis=1)
    if not exact and not np.isfinite(total).all():
        row = int(np.flatnonzero(~np.isfinite(total))[0])
        raise OverflowError(f"moved must fit float64, got more units in row {row}")
    return total


def per_batch(fields: dict[str, Any], batch: tuple[int, ...]) -> dict[str, Any]:
    """Give (B,) figures the batch's shape; without a batch they become Python scalars.

    Figures of one network may already be scalars.
    """
    if batch:
        return {
            name: values.reshape(batch)
            if isinstance(values, np.ndarray)
            else np.array(values, ndmin=len(batch))
            for name, values in fields.items()
        }
    return {
        name: values.item() if isinstance(values, np.ndarray) else values
        for name, values in fields.items()
    }
