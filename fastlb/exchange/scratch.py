"""Arrays that a thread uses again and again, so that their pages are asked for once."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# As much as the C library's allocator keeps at the most of what is freed.
LARGEST_KEPT = 2**25
# Bytes of a cache line, and of a page of the largest size.
LINE = 64
HUGE_PAGE = 2**21


class _Kept(threading.local):
    def __init__(self) -> None:
        self.bytes: dict[str, NDArray[np.uint8]] = {}
        # The last array made of them, and of which shape and dtype.
        self.arrays: dict[str, tuple[tuple[int, ...], DTypeLike, NDArray[Any]]] = {}
        self.handed_out = np.empty(0, np.uint8)
        self.holder: Callable[[], object] = lambda: None


_kept = _Kept()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of this thread, whose content is lost at the next call by the same name.

    Fresh arrays beyond the allocator's own store cost a page fault each 4 KiB, a third of the
    time of balancing them once. It begins with a cache line: vectors that straddle two take up to
    a third longer.
    """
    # The same again takes a sixth of the time (0.13 us for 0.78).
    last = _kept.arrays.get(name)
    if last is not None and last[0] == shape and last[1] == dtype:
        return last[2]
    size = math.prod(shape) * np.dtype(dtype).itemsize
    kept = _kept.bytes.get(name)
    if kept is None or kept.size < size:
        kept = _kept.bytes[name] = _fresh(size, LINE)
    found: NDArray[Any] = kept[:size].view(dtype).reshape(shape)
    _kept.arrays[name] = shape, dtype, found
    return found


def handed_out(size: int) -> NDArray[np.uint8]:
    """Return bytes for a result, the same as before if nobody holds the result before any more.

    Of results of some MB the system takes the memory back, and clears it for the next: for the
    flows of 64 16x16x16 tori as long as finding them. So up to ``LARGEST_KEPT`` of it stays with
    the thread. Any view of what is returned counts as holding it.
    """
    if size > LARGEST_KEPT:
        return _huge_pages(size)
    if _kept.handed_out.size < size or _kept.holder() is not None:
        _kept.handed_out = _huge_pages(size)
    # NumPy looks for the owner of a view's memory as far as a memoryview, and whoever goes on from
    # there holds what that was made of.
    lent = _kept.handed_out[:size]
    _kept.holder = weakref.ref(lent)
    return np.frombuffer(lent.data, np.uint8)


def _huge_pages(size: int) -> NDArray[np.uint8]:
    """Return fresh bytes; many of them begin with a page of the largest size."""
    return np.empty(size, np.uint8) if size < HUGE_PAGE else _fresh(size, HUGE_PAGE)


def _fresh(size: int, boundary: int) -> NDArray[np.uint8]:
    """Return fresh bytes that begin at a multiple of a number of bytes."""
    room = np.empty(size + boundary, np.uint8)
    start = -room.ctypes.data % boundary
    return room[start : start + size]
