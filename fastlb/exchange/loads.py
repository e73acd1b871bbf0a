"""The door for loads: what comes in, checked and laid out as rows."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..accelerate import kernels
from ..arguments import as_array, one_of, refused_dtype
from .casting import INT64_MAX

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..topologies.topology import Topology

RECORDS = ("loads", "metrics", "flows")
LARGEST_FLOAT = float(np.finfo(np.float64).max)
# Up to so many loads NumPy takes as long for their totals and extremes as a kernel, or a
# microsecond more.
SUMMED_BY_NUMPY = 2**12


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


class Survey(NamedTuple):
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
    array = _as_array(loads)
    batch = batch_shape(array.shape, topology)
    rows = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return LoadRows(rows.reshape(-1, topology.size), batch, array.shape)


def _as_array(loads: ArrayLike) -> NDArray[Any]:
    if isinstance(loads, np.ma.MaskedArray):
        raise TypeError("loads must not be a masked array: every node has a load")
    try:
        array = as_array("loads", loads)
    except ValueError:
        raise ValueError("loads must be an array, got rows of unequal length") from None
    kind, width = array.dtype.kind, array.dtype.itemsize
    if kind in "iu" or (kind == "f" and width in (4, 8)):
        return array
    got = refused_dtype("loads", array.dtype)
    raise TypeError(f"loads must be integers, float32 or float64, got {got}")


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
    total, smallest, largest = _summed_up(rows)
    if rows.dtype.kind == "f":
        # NaN anywhere makes the total NaN.
        legal = (smallest >= 0) & np.isfinite(largest) & ~np.isnan(total)
        if not legal.all():
            _refuse_values(rows[np.flatnonzero(~legal)[0]])
    elif rows.dtype.kind == "i" and np.minimum.reduce(smallest, initial=0) < 0:
        _refuse_values(rows[np.flatnonzero(smallest < 0)[0]])
    _check_totals(rows, largest)
    return _survey(total, smallest, largest)


def survey_after(before: Survey, rows: NDArray[Any]) -> Survey:
    """Return the survey of balanced rows, whose totals are those before.

    Float loads are not added up again: rounding may take a total past the largest float.
    """
    _, smallest, largest = _summed_up(rows)
    return _survey(before.total, smallest, largest)


def _survey(total: NDArray[Any], smallest: NDArray[Any], largest: NDArray[Any]) -> Survey:
    T = total.dtype
    return Survey(total, smallest.astype(T, copy=False), largest.astype(T, copy=False))


def _summed_up(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return total, least and largest load of each row; integers wrap.

    Few loads are summed up by NumPy, for which nothing is compiled.
    """
    T = np.float64 if rows.dtype.kind == "f" else np.int64
    if rows.size <= SUMMED_BY_NUMPY:
        if T is np.int64:
            total = np.add.reduce(rows, 1, T)
        else:
            # From the first node to the last, as the kernel does: ``sum`` has an order of its own.
            with np.errstate(over="ignore", invalid="ignore"):
                total = rows.cumsum(axis=1, dtype=T)[:, -1]
        return total, np.minimum.reduce(rows, 1), np.maximum.reduce(rows, 1)
    total = np.empty(len(rows), T)
    smallest, largest = np.empty((2, len(rows)), rows.dtype)
    # For the kernel as plain Python, in which integers of NumPy warn where they wrap.
    with np.errstate(over="ignore", invalid="ignore"):
        kernels("layout.survey").survey(rows, total, smallest, largest)
    return total, smallest, largest


def _check_totals(rows: NDArray[Any], largest: NDArray[Any]) -> None:
    """Raise ``OverflowError`` if the total of a row is too large, as only large loads make it."""
    exact, N = rows.dtype.kind != "f", rows.shape[1]
    top = INT64_MAX if exact else LARGEST_FLOAT
    # Of floats half as much, as their sums are rounded.
    harmless = top // N if exact else top / N / 2
    if np.maximum.reduce(largest, initial=0).item() <= harmless:
        return
    for b, row in enumerate(rows.tolist()):
        total = 0
        for load in row:
            if load > top - total:
                kind = "int64" if exact else "float64"
                raise OverflowError(
                    f"loads must have a total that fits {kind}, got more in row {b}"
                )
            total += load


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
    # With no limit only negative integers lie outside, which the survey refuses before totals.
    if not all_within(rows, top):
        survey(rows)


def all_within(rows: NDArray[Any], top: float) -> bool:
    """Tell whether all loads of rows (B, N) lie in ``0 .. top``; NaN does not, nor does -0.0."""
    kind, size = rows.dtype.kind, rows.itemsize
    if kind != "f":
        largest = 2 ** (8 * size - (kind == "i")) - 1
        if kind == "u" and top >= largest:
            return True
        top = min(top, largest)
    # Read without a sign, what is negative or NaN is larger than all others: one pass.
    unsigned = f"u{size}"
    most = np.maximum.reduce(rows.view(unsigned), None, initial=0)
    return bool(most <= np.asarray(top, rows.dtype).view(unsigned))


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
        entries = list(order)
        flags = any(isinstance(i, bool | np.bool_) for i in entries)
        listed = (-1,) if flags else tuple(operator.index(i) for i in entries)
    except TypeError:
        listed = (-1,)
    if sorted(listed) != list(range(count)):
        raise ValueError(f"{name} must be an order of 0..{count - 1}, got {order!r}")
    return listed


def _refuse_values(row: NDArray[Any]) -> None:
    legal = np.isfinite(row) & (row >= 0)
    node = int(np.flatnonzero(~legal)[0])
    raise ValueError(f"loads must be finite and not negative, got {row[node]} at node {node}")
