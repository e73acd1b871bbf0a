"""Arrays that a thread uses again and again, so that their pages are asked for once."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# Bytes of a cache line.
LINE = 64


class _Kept(threading.local):
    def __init__(self) -> None:
        self.bytes: dict[str, NDArray[np.uint8]] = {}


_kept = _Kept()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of this thread, whose content is lost at the next call by the same name.

    Fresh arrays beyond the allocator's own store cost a page fault each 4 KiB, a third of the
    time of balancing them once. It begins with a cache line: vectors that straddle two take up to
    a third longer.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    kept = _kept.bytes.get(name)
    if kept is None or kept.size < size:
        fresh = np.empty(size + LINE, np.uint8)
        begin = -fresh.ctypes.data % LINE
        kept = _kept.bytes[name] = fresh[begin : begin + size]
    return kept[:size].view(dtype).reshape(shape)
