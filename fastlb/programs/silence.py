"""Silence for C's standard output, where HiGHS prints lines that no option of it turns off."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Name of C's variable for its standard output; other C libraries have none, or a constant.
_NAMES = {"linux": "stdout", "darwin": "__stdoutp"}
_lock = threading.Lock()
_depth = 0
_previous: int | None = None


@contextmanager
def silent_stdout() -> Iterator[None]:
    """Drop what compiled libraries print inside the context; Python's output is not touched.

    C's variable ``stdout`` is set to the null device and back. File descriptor 1 is not changed,
    because Python and other threads write to it. This is possible with glibc and on macOS;
    elsewhere nothing is dropped.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _variable() -> ctypes.c_void_p | None:
    """Return C's variable ``stdout``, or None where it cannot be set."""
    name = _NAMES.get(sys.platform)
    if name is None:
        return None
    try:
        if sys.platform == "linux" and not os.confstr("CS_GNU_LIBC_VERSION"):
            return None
        return ctypes.c_void_p.in_dll(ctypes.CDLL(None), name)
    except (ValueError, OSError):
        return None


def _enter() -> None:
    global _depth, _previous
    with _lock:
        _depth += 1
        variable = _variable() if _depth == 1 else None
        if variable is not None:
            library = ctypes.CDLL(None)
            library.fopen.restype = ctypes.c_void_p
            stream = library.fopen(os.devnull.encode(), b"w")
            if stream:
                _previous, variable.value = variable.value, stream


def _leave() -> None:
    global _depth, _previous
    with _lock:
        _depth -= 1
        variable = _variable()
        if _depth == 0 and _previous is not None and variable is not None:
            stream, variable.value, _previous = variable.value, _previous, None
            library = ctypes.CDLL(None)
            library.fclose.argtypes = [ctypes.c_void_p]
            library.fclose(stream)
