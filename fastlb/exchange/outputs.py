"""The array for final loads, the caller's ``out`` or a new one, and its rows for kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..pages import copy_into, empty_like

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .loads import LoadRows


def output_rows(
    out: NDArray[Any] | None, loads: ArrayLike, inputs: LoadRows
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the array for the result, ``out`` or a new one, and its rows.

    The rows are a new array, which :func:`finished` copies to ``out``, if ``out`` is not in C
    order or native byte order, or overlaps the loads without being the same array.

    Raises
    ------
    TypeError, ValueError
        If ``out`` is no writable array of the loads' shape and dtype.
    """
    if out is None:
        rows = empty_like(inputs.rows)
        return rows.reshape(inputs.shape), rows
    if not isinstance(out, np.ndarray) or isinstance(out, np.ma.MaskedArray):
        raise TypeError(f"out must be an array, got {type(out).__name__}")
    if out.shape != inputs.shape or out.dtype.newbyteorder("=") != inputs.rows.dtype:
        raise ValueError(
            f"out must have the loads' shape {inputs.shape} and dtype {inputs.rows.dtype}, "
            f"got {out.shape} and {out.dtype}"
        )
    if not out.flags.writeable:
        raise ValueError("out must be writable, got a read-only array")
    is_direct = out.flags.c_contiguous and out.dtype == inputs.rows.dtype
    if is_direct and (out is loads or not np.may_share_memory(out, inputs.rows)):
        # np.asarray, because a np.matrix stays two-dimensional when it is reshaped.
        return out, np.asarray(out).reshape(inputs.rows.shape)
    return out, empty_like(inputs.rows)


def finished(result: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """Return the result of :func:`output_rows`, after copying the rows to it if they are apart."""
    if not np.may_share_memory(result, rows):
        copy_into(result, rows.reshape(result.shape))
    return result
