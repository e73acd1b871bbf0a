"""Where final loads go: the caller's ``out`` or a new array, as rows for the kernels and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .loads import LoadRows


def output_rows(
    out: NDArray[Any] | None, loads: ArrayLike, inputs: LoadRows
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the array for the result and its rows, ``out`` itself where one is given.

    The rows are a fresh copy, which :func:`finished` copies back, where ``out`` is not in C order
    or native byte order, or overlaps the loads without being them.

    Raises
    ------
    TypeError, ValueError
        If ``out`` is no writable array of the loads' shape and dtype.
    """
    if out is None:
        rows = np.empty_like(inputs.rows)
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
    as_they_are = out.flags.c_contiguous and out.dtype == inputs.rows.dtype
    if as_they_are and (out is loads or not np.may_share_memory(out, inputs.rows)):
        # As a plain array: a matrix stays two-dimensional when it is flattened for a kernel.
        return out, np.asarray(out).reshape(inputs.rows.shape)
    return out, np.empty_like(inputs.rows)


def finished(result: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """Return the result of :func:`output_rows`, the rows copied into it where they are apart."""
    if not np.may_share_memory(result, rows):
        np.copyto(result, rows.reshape(result.shape))
    return result
