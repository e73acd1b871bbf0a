"""Arrays that a thread uses again and again, so that their pages are asked for once."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

# The C library's allocator keeps at most as much of what is freed.
MOST_REUSED_BYTES = 2**25
# Bytes of a cache line, and of a page of the largest size.
LINE = 64
HUGE_PAGE = 2**21


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Bytes = NDArray[np.uint8]
# Some memory, and the last array made of it with its shape and dtype.
Room = tuple[Bytes, tuple[int, ...], DTypeLike, NDArray[Any]]


class _ThreadMemory(threading.local):
    """The memory of a thread: arrays by name in use, those not in use, and that of results.

    Each is removed with one ``pop`` before it is used: a signal handler that balances loads too
    may run between any two steps, and must not get the same memory.
    """

    def __init__(self) -> None:
        self.rooms: dict[str, Room] = {}
        self.idle: dict[str, dict[str, Room]] = {}
        self.handed_out: dict[str, tuple[Bytes, Callable[[], object]]] = {}


_memory = _ThreadMemory()


def with_own_scratch(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let a function have scratch to itself until it returns, through several kernels.

    Signal handlers and finalisers that balance loads meanwhile get other memory.
    """

    @wraps(function)
    def apart(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        before, own = _memory.rooms, _memory.idle.pop("scratch", {})
        _memory.rooms = own
        try:
            return function(*arguments, **options)
        finally:
            _memory.rooms = before
            _memory.idle["scratch"] = own

    return apart


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of this thread, whose content is lost at the next call by the same name.

    That may come from a signal's handler: see ``with_own_scratch``.

    Fresh arrays beyond the allocator's own store cost a page fault each 4 KiB, a third of the
    time of balancing them once. It begins with a cache line: vectors that straddle two take up to
    a third longer.
    """
    room = _memory.rooms.get(name)
    # The same again takes a sixth of the time (0.13 us for 0.78).
    if room is not None and room[1] == shape and room[2] == dtype:
        return room[3]
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = room[0] if room is not None and room[0].size >= size else _fresh(size, LINE)
    array: NDArray[Any] = memory[:size].view(dtype).reshape(shape)
    _memory.rooms[name] = memory, shape, dtype, array
    return array


def handed_out(size: int) -> NDArray[np.uint8]:
    """Return bytes for a result, the same as before if nobody holds the result before any more.

    The system takes the memory of large results back and clears it for the next one, which takes
    as long as computing the flows of 64 16x16x16 tori. So the thread keeps up to
    ``MOST_REUSED_BYTES`` of it. A result is in use as long as any view of it exists.
    """
    if size > MOST_REUSED_BYTES:
        return huge_pages(size)
    room, holder = _memory.handed_out.pop("result", (np.empty(0, np.uint8), lambda: None))
    if room.size < size or holder() is not None:
        room = huge_pages(size)
    # NumPy looks for the owner of a view's memory as far as a memoryview, and whoever goes on from
    # there holds what that was made of.
    view = room[:size]
    _memory.handed_out["result"] = room, weakref.ref(view)
    return np.frombuffer(view.data, np.uint8)


def huge_pages(size: int) -> NDArray[np.uint8]:
    """Return fresh bytes; many of them begin with a page of the largest size."""
    return np.empty(size, np.uint8) if size < HUGE_PAGE else _fresh(size, HUGE_PAGE)


def _fresh(size: int, boundary: int) -> NDArray[np.uint8]:
    """Return fresh bytes that begin at a multiple of a number of bytes."""
    room = np.empty(size + boundary, np.uint8)
    start = -room.ctypes.data % boundary
    return room[start : start + size]
