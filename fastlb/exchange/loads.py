"""Loads as the user passes them, checked and laid out as rows."""

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
# Up to this many loads NumPy computes totals and extremes about as fast as a kernel.
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

    @property
    def node_shape(self) -> tuple[int, ...]:
        """The shape without the batch axes: that of the addresses, or of a flat axis."""
        return self.shape[len(self.batch) :]


class Survey(NamedTuple):
    """Total and extremes of every row, before or after balancing.

    Attributes
    ----------
    total, smallest, largest : (B,) int64 for integer loads, float64 for float loads
    """

    total: NDArray[Any]
    smallest: NDArray[Any]
    largest: NDArray[Any]


def read_loads(loads: ArrayLike, topology: Topology) -> LoadRows:
    """Lay loads out as rows; their values are not checked.

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
    """Return whether loads may have this shape, flat or by address.

    A fast form of :func:`batch_shape`, which raises the error.
    """
    on_addresses = shape[max(0, len(shape) - topology.ndim) :] == topology.shape
    return on_addresses or shape[-1:] == (topology.size,)


def survey(rows: NDArray[Any]) -> Survey:
    """Check the values of the rows (B, N), and return their totals and extremes.

    Raises
    ------
    ValueError
        If a load is negative, NaN or infinite.
    OverflowError
        If a row's total does not fit int64 (integers) or is not finite (floats).
    """
    total, smallest, largest = _totals_and_extremes(rows)
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

    Totals of floats are not computed again: rounding may take one past the largest float.
    """
    _, smallest, largest = _totals_and_extremes(rows)
    return _survey(before.total, smallest, largest)


def _survey(total: NDArray[Any], smallest: NDArray[Any], largest: NDArray[Any]) -> Survey:
    T = total.dtype
    return Survey(total, smallest.astype(T, copy=False), largest.astype(T, copy=False))


def _totals_and_extremes(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return total, least and largest load of each row; integers wrap.

    NumPy computes them for few loads, so that nothing is compiled.
    """
    T = np.float64 if rows.dtype.kind == "f" else np.int64
    if rows.size <= SUMMED_BY_NUMPY:
        if T is np.int64:
            total = np.add.reduce(rows, 1, T)
        else:
            # cumsum adds from the first node to the last, as the kernel does; sum does not.
            with np.errstate(over="ignore", invalid="ignore"):
                total = rows.cumsum(axis=1, dtype=T)[:, -1]
        return total, np.minimum.reduce(rows, 1), np.maximum.reduce(rows, 1)
    total = np.empty(len(rows), T)
    smallest, largest = np.empty((2, len(rows)), rows.dtype)
    # NumPy integers warn when they wrap if the kernel runs as plain Python.
    with np.errstate(over="ignore", invalid="ignore"):
        kernels("layout.survey").survey(rows, total, smallest, largest)
    return total, smallest, largest


def _check_totals(rows: NDArray[Any], largest: NDArray[Any]) -> None:
    """Raise ``OverflowError`` if a row's total is too large; small loads are not added up."""
    exact, N = rows.dtype.kind != "f", rows.shape[1]
    top = INT64_MAX if exact else LARGEST_FLOAT
    # Half as much for floats, as their sums are rounded.
    safe = top // N if exact else top / N / 2
    if np.maximum.reduce(largest, initial=0).item() <= safe:
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
    """Check the values of loads in one pass at the speed of memory.

    Parameters
    ----------
    rows : (B, N)
    limit : int, optional
        Integer loads up to this need no check of totals. Without it totals are not checked,
        and integers may go up to the dtype's limit.

    Raises
    ------
    ValueError, OverflowError
        As :func:`survey`.
    """
    is_float = rows.dtype.kind == "f"
    top = np.finfo(rows.dtype).max / rows.shape[1] if is_float else np.iinfo(rows.dtype).max
    if limit is not None and not is_float:
        top = min(top, limit)
    # Without a limit only negative integers fail, which survey refuses before it checks totals.
    if not all_within(rows, top):
        survey(rows)


def all_within(rows: NDArray[Any], top: float) -> bool:
    """Return whether all loads of rows (B, N) lie in ``0 .. top``; NaN and -0.0 do not."""
    kind, size = rows.dtype.kind, rows.itemsize
    if kind != "f":
        largest = 2 ** (8 * size - (kind == "i")) - 1
        if kind == "u" and top >= largest:
            return True
        top = min(top, largest)
    # As unsigned integers, negative values and NaN are larger than all others.
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
        If it is no permutation; errors call the argument ``name``.
    """
    if order is None:
        return tuple(range(count))
    try:
        entries = list(order)
        has_bool = any(isinstance(i, bool | np.bool_) for i in entries)
        permutation = (-1,) if has_bool else tuple(operator.index(i) for i in entries)
    except TypeError:
        permutation = (-1,)
    if sorted(permutation) != list(range(count)):
        raise ValueError(f"{name} must be an order of 0..{count - 1}, got {order!r}")
    return permutation


def _refuse_values(row: NDArray[Any]) -> None:
    legal = np.isfinite(row) & (row >= 0)
    node = int(np.flatnonzero(~legal)[0])
    raise ValueError(f"loads must be finite and not negative, got {row[node]} at node {node}")
