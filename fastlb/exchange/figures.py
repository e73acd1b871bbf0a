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

# What ``lanes.figures`` works out for every method: four columns of int64, four of float64.
COLUMNS = (
    "initial_difference", "difference", "moved", "local",
    "initial_imbalance", "imbalance", "cost", "locality",
)  # fmt: skip

# Of the floats above 0.
SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


def figures(
    before: Survey, after: Survey, size: int, moved: NDArray[Any], local: NDArray[Any]
) -> dict[str, Any]:
    """Return the figures that every method shares, for :func:`per_batch` (Wu-Shu section 6).

    Parameters
    ----------
    before, after : Survey
        Of the rows before and after balancing.
    size : int
        Number of nodes.
    moved : (B,) or (B, S)
        Units times links, in all or per stage.
    local : (B,) or (B, N)
        Units that never left, in all or per node.
    """
    if len(before.total) == 1:
        units = (sum_moved(moved) if moved.ndim == 2 else moved).item()
        stayed = (local.sum(axis=1, dtype=moved.dtype) if local.ndim == 2 else local).item()
        first, last = ((rows.smallest.item(), rows.largest.item()) for rows in (before, after))
        return figures_of_one(before.total.item(), first, last, size, units, stayed)
    total = before.total
    empty = total == 0
    something = total + empty
    # Not 0 even where the mean of denormal loads is.
    mean = np.maximum(something / size, SMALLEST)
    moved = sum_moved(moved) if moved.ndim == 2 else moved
    local = local.sum(axis=1, dtype=moved.dtype) if local.ndim == 2 else local
    return {
        "difference": after.largest - after.smallest,
        "initial_difference": before.largest - before.smallest,
        "imbalance": after.largest / mean - 1 + empty,
        "initial_imbalance": before.largest / mean - 1 + empty,
        "moved": moved,
        "cost": moved / something,
        "local": local,
        "locality": (local + empty) / something,
        "sweeps": np.ones(len(total), np.int64),
    }


def room_for_figures(B: int, whole: int = 4) -> FigureColumns:
    """Return room for figures (4, B) int64, or of more ``whole`` numbers, and (4, B) float64.

    In one array: what was freed of the last is had again, whereas the pages of many small ones
    are given back, and cost a fault each. Large pages are faults and zeros for half the time, and
    threads wait less for each other's; they are taken where hardly any of the last one is wasted.
    """
    rows = whole + 4
    size = rows * B * np.dtype(np.int64).itemsize
    large = -size % HUGE_PAGE <= size // 8
    memory = huge_pages(size) if large else np.empty(size, np.uint8)
    room = memory.view(np.int64).reshape(rows, B)
    return room[:whole], room[whole:].view(np.float64)


def figures_in(columns: FigureColumns) -> dict[str, NDArray[Any]]:
    """Return the figures that stand in columns, by name."""
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
    """Return the figures of one network as numbers, a tenth of the time and the same bits.

    ``before``, ``after`` : least and largest load.
    """
    # As NumPy divides integers: as floats, which Python would not.
    something = float(total) if total > 0 else 1.0
    mean = max(something / size, SMALLEST)
    return {
        "difference": after[1] - after[0],
        "initial_difference": before[1] - before[0],
        "imbalance": float(after[1]) / mean - 1 if total > 0 else 0.0,
        "initial_imbalance": float(before[1]) / mean - 1 if total > 0 else 0.0,
        "moved": moved,
        "cost": float(moved) / something if total > 0 else 0.0,
        "local": local,
        "locality": float(local) / something if total > 0 else 1.0,
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

    Those of one network may be scalars already.
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
