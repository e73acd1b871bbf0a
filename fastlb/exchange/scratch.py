"""Arrays that a thread reuses, so that page faults occur once."""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

# The C library's allocator keeps at most this much freed memory.
MOST_REUSED_BYTES = 2**25
# Bytes of a cache line, and of a page of the largest size.
LINE = 64
HUGE_PAGE = 2**21


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Bytes = NDArray[np.uint8]
# A block of memory, and the last array made of it: (memory, shape, dtype, array).
Block = tuple[Bytes, tuple[int, ...], DTypeLike, NDArray[Any]]


class _ThreadMemory(threading.local):
    """The memory of a thread.

    A signal handler that balances loads may run between any two steps, and must not get memory
    that is in use: memory is removed from ``idle`` and ``results`` by one ``pop`` before its use.

    Attributes
    ----------
    blocks : dict
        Blocks by the names of their arrays.
    idle : dict
        Under ``"scratch"``, the blocks of functions decorated by ``with_own_scratch``.
    results : dict
        Under ``"last"``, the memory of the last result, and a weak reference to the result.
    """

    def __init__(self) -> None:
        self.blocks: dict[str, Block] = {}
        self.idle: dict[str, dict[str, Block]] = {}
        self.results: dict[str, tuple[Bytes, Callable[[], object]]] = {}


_memory = _ThreadMemory()


def with_own_scratch(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate a function that keeps scratch arrays over several kernel calls.

    Signal handlers and finalisers that balance loads meanwhile get other arrays.
    """

    @wraps(function)
    def with_own_memory(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        outer, inner = _memory.blocks, _memory.idle.pop("scratch", {})
        _memory.blocks = inner
        try:
            return function(*arguments, **options)
        finally:
            _memory.blocks = outer
            _memory.idle["scratch"] = inner

    return with_own_memory


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of this thread, which the next call with the same name returns again.

    A signal handler may make that call: see ``with_own_scratch``.

    New memory that the allocator does not reuse costs a page fault for each 4 KiB, a third of the
    time of balancing an array once. The array is aligned to cache lines: vectors that straddle two
    take up to a third longer.
    """
    block = _memory.blocks.get(name)
    # Reusing the array itself takes a sixth of the time (0.13 us instead of 0.78).
    if block is not None and block[1] == shape and block[2] == dtype:
        return block[3]
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = block[0] if block is not None and block[0].size >= size else _fresh(size, LINE)
    array: NDArray[Any] = memory[:size].view(dtype).reshape(shape)
    _memory.blocks[name] = memory, shape, dtype, array
    return array


def result_bytes(size: int) -> NDArray[np.uint8]:
    """Return bytes for a result, those of the previous result if it is no longer in use.

    The system would reclaim the memory of large results and clear it for the next one, which
    takes as long as computing the flows of 64 16x16x16 tori. So the thread keeps up to
    ``MOST_REUSED_BYTES``. A result is in use as long as any view of it exists.
    """
    if size > MOST_REUSED_BYTES:
        return huge_pages(size)
    block, last_result = _memory.results.pop("last", (np.empty(0, np.uint8), lambda: None))
    if block.size < size or last_result() is not None:
        block = huge_pages(size)
    # NumPy follows the base of a view up to the memoryview, which keeps ``view`` alive: the weak
    # reference dies with the last view of the result.
    view = block[:size]
    _memory.results["last"] = block, weakref.ref(view)
    return np.frombuffer(view.data, np.uint8)


def huge_pages(size: int) -> NDArray[np.uint8]:
    """Return new bytes, aligned to the largest page size if they fill one."""
    return np.empty(size, np.uint8) if size < HUGE_PAGE else _fresh(size, HUGE_PAGE)


def _fresh(size: int, boundary: int) -> NDArray[np.uint8]:
    """Return new bytes whose address is a multiple of ``boundary``."""
    block = np.empty(size + boundary, np.uint8)
    start = -block.ctypes.data % boundary
    return block[start : start + size]
