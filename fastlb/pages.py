"""Large arrays made and copied in parts, between which Python hears signals.

The system hands out memory page by page when it is first written to, which takes it seconds a
gigabyte: longer than what kernels then do with it. NumPy, and a kernel, hear no Ctrl-C meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# Bytes of the smallest pages, and of what is written at once.
PAGE, PART = 2**12, 2**24
# Bytes from which on pages are asked for ahead: in smaller arrays it would take a kernel that
# writes them once 1.2 times as long, as their first pages have left the caches by then.
LARGE = 2**28


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return ``numpy.empty(shape, dtype)``; the pages of a large array are there already."""
    array: NDArray[Any] = np.empty(shape, dtype)
    if array.nbytes > LARGE:
        pages, count = array.reshape(-1).view(np.uint8)[::PAGE], PART // PAGE
        for first in range(0, len(pages), count):
            pages[first : first + count] = 0
    return array


def empty_like(array: NDArray[Any]) -> NDArray[Any]:
    """Return ``numpy.empty_like(array)`` of an array in C order, as :func:`empty` does."""
    return np.empty_like(array) if array.nbytes <= LARGE else empty(array.shape, array.dtype)


def copied(array: NDArray[Any], dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return ``array.astype(dtype)``, a copy in C order."""
    if array.nbytes <= PART:
        return array.copy() if dtype is None else array.astype(dtype, "C")
    target: NDArray[Any] = np.empty(array.shape, array.dtype if dtype is None else dtype)
    copy_into(target, array)
    return target


def copy_into(target: NDArray[Any], source: NDArray[Any]) -> None:
    """Copy numbers to an array of the same shape, whose dtype they fit."""
    if target.nbytes <= PART or not (target.flags.c_contiguous and source.flags.c_contiguous):
        np.copyto(target, source, casting="unsafe")
        return
    count = PART // target.itemsize
    numbers, copies = source.reshape(-1), target.reshape(-1)
    for first in range(0, target.size, count):
        part = slice(first, first + count)
        np.copyto(copies[part], numbers[part], casting="unsafe")
