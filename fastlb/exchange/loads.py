"""The door for loads: what comes in, checked and laid out as rows."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import as_array, one_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..topologies.topology import Topology

RECORDS = ("loads", "metrics", "flows")


@dataclass(frozen=True)
class LoadRows:
    """Loads as rows, ``B`` networks of ``N`` nodes.

    Attributes
    ----------
    rows : (B, N), C order, the input's dtype in native byte order; a view where possible
    batch : leading axes of the input
    shape : shape of the input
    """

    rows: NDArray[Any]
    batch: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Survey:
    """What one pass over the rows tells of each: the figures before or after balancing.

    Attributes
    ----------
    total, smallest, largest : (B,) int64 for integer loads, float64 for float loads
    """

    total: NDArray[Any]
    smallest: NDArray[Any]
    largest: NDArray[Any]


def read_loads(loads: ArrayLike, topology: Topology) -> LoadRows:
    """Lay loads out as rows; their values are not looked at.

    Parameters
    ----------
    loads : array_like, shape (*batch, *topology.shape) or (*batch, topology.size)
        Any integer dtype, float32 or float64. The address shape wins where both readings fit.

    Raises
    ------
    TypeError
        If the loads are no array of integers, float32 or float64.
    ValueError
        If the shape fits the topology in neither reading.
    """
    given = _as_array(loads)
    batch = batch_shape(given.shape, topology)
    rows = np.ascontiguousarray(given, dtype=given.dtype.newbyteorder("="))
    return LoadRows(rows.reshape(-1, topology.size), batch, given.shape)


def _as_array(loads: ArrayLike) -> NDArray[Any]:
    if isinstance(loads, np.ma.MaskedArray):
        raise TypeError("loads must not be a masked array: every node has a load")
    try:
        given = as_array("loads", loads)
    except ValueError:
        raise ValueError("loads must be an array, got rows of unequal length") from None
    kind, width = given.dtype.kind, given.dtype.itemsize
    if kind in "iu" or (kind == "f" and width in (4, 8)):
        return given
    raise TypeError(f"loads must be integers, float32 or float64, got dtype {given.dtype}")


def batch_shape(shape: tuple[int, ...], topology: Topology) -> tuple[int, ...]:
    """Return the leading batch axes of loads of this shape, or raise ``ValueError``."""
    depth = len(shape) - topology.ndim
    if depth >= 0 and shape[depth:] == topology.shape:
        single_node_as_flat = topology.ndim == 0 and shape[-1:] == (1,)
        return shape[:-1] if single_node_as_flat else shape[:depth]
    if shape and shape[-1] == topology.size:
        return shape[:-1]
    shapes = dict.fromkeys([topology.shape, (topology.size,)])
    spelled = " or ".join(f"(*batch, {', '.join(map(str, axes))})" for axes in shapes if axes)
    raise ValueError(f"loads must have shape {spelled} on {topology!r}, got {shape}")


def fits(shape: tuple[int, ...], topology: Topology) -> bool:
    """Tell whether loads may have this shape, flat or by address.

    Of loads with one or two axes the kernels themselves look at the last one.
    """
    on_addresses = shape[max(0, len(shape) - topology.ndim) :] == topology.shape
    return on_addresses or shape[-1:] == (topology.size,)


def survey(rows: NDArray[Any]) -> Survey:
    """Check the values of the rows (B, N) and sum them up.

    Raises
    ------
    ValueError
        If a load is negative, NaN or infinite.
    OverflowError
        If a row's total does not fit int64 (integers) or is not finite (floats).
    """
    kernel = kernels("layout.survey")
    code, row, total, smallest, largest = kernel.survey(rows)
    if code == kernel.BAD_VALUE:
        _refuse_values(rows[row])
    if code == kernel.TOTAL_TOO_LARGE:
        kind = "int64" if rows.dtype.kind in "iu" else "float64"
        raise OverflowError(f"loads must have a total that fits {kind}, got more in row {row}")
    return Survey(total, smallest, largest)


def survey_after(before: Survey, rows: NDArray[Any]) -> Survey:
    """Return the survey of balanced rows, whose totals are those before.

    Float loads are not added up again: rounding may take a total past the largest float.
    """
    _, _, _, smallest, largest = kernels("layout.survey").survey(rows)
    return Survey(before.total, smallest, largest)


def check_values(rows: NDArray[Any], *, limit: int | None = None) -> None:
    """Check the values alone, in one pass at the speed of memory.

    Parameters
    ----------
    rows : (B, N)
    limit : int, optional
        Largest integer load for which totals need not be looked at; without it they are not,
        and integers may go up to the dtype's limit.

    Raises
    ------
    ValueError, OverflowError
        As :func:`survey`.
    """
    floats = rows.dtype.kind == "f"
    top = np.finfo(rows.dtype).max / rows.shape[1] if floats else np.iinfo(rows.dtype).max
    if limit is not None and not floats:
        top = min(top, limit)
    if rows.dtype.kind == "u" and top == np.iinfo(rows.dtype).max:
        return
    # With no limit only negative integers lie outside, which the survey refuses before totals.
    if kernels("layout.survey").count_outside(rows.reshape(-1), rows.dtype.type(top)):
        survey(rows)


def all_within(rows: NDArray[Any], top: int) -> bool:
    """Tell whether all integers of rows (B, N) lie in ``0 .. top``."""
    top = min(top, int(np.iinfo(rows.dtype).max))
    outside: int = kernels("layout.survey").count_outside(rows.reshape(-1), rows.dtype.type(top))
    return outside == 0


def computing_dtype(rows: NDArray[Any], largest: float) -> type[np.generic]:
    """Return the dtype in which a kernel computes: float64, or the least of int32 and int64.

    ``largest`` is the largest integer that comes up. Half the width is twice the lanes of a
    vector, and fewer dtypes are fewer compilations.
    """
    if rows.dtype.kind == "f":
        return np.float64
    return np.int32 if largest < 2**31 else np.int64


def check_record(record: str) -> None:
    """Raise ``ValueError`` unless ``record`` is one of the levels."""
    one_of("record", record, RECORDS)


def check_order(name: str, order: Any, count: int) -> tuple[int, ...]:
    """Return ``order`` as a permutation of ``0 .. count-1``; None means ascending.

    Raises
    ------
    ValueError
        If it is no permutation; ``name`` is the argument to blame.
    """
    if order is None:
        return tuple(range(count))
    try:
        given = list(order)
        flags = any(isinstance(i, bool | np.bool_) for i in given)
        listed = (-1,) if flags else tuple(operator.index(i) for i in given)
    except TypeError:
        listed = (-1,)
    if sorted(listed) != list(range(count)):
        raise ValueError(f"{name} must be an order of 0..{count - 1}, got {order!r}")
    return listed


def _refuse_values(row: NDArray[Any]) -> None:
    legal = np.isfinite(row) & (row >= 0)
    node = int(np.flatnonzero(~legal)[0])
    raise ValueError(f"loads must be finite and not negative, got {row[node]} at node {node}")
