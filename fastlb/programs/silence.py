"""HiGHS prints lines to C's standard output now and then that none of its options turns off."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# The variable that C's own functions print to. Other libraries have none, or one that is constant.
_NAMES = {"linux": "stdout", "darwin": "__stdoutp"}
_lock = threading.Lock()
_silent = 0
_previous: int | None = None


@contextmanager
def silent_stdout() -> Iterator[None]:
    """Drop what compiled libraries print meanwhile; what Python prints is not touched.

    C's ``stdout`` is pointed at the null device and back, unlike file descriptor 1, which Python
    and other threads write to. It does so with glibc and on macOS, and nothing elsewhere.
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
    global _silent, _previous
    with _lock:
        _silent += 1
        variable = _variable() if _silent == 1 else None
        if variable is not None:
            library = ctypes.CDLL(None)
            library.fopen.restype = ctypes.c_void_p
            stream = library.fopen(os.devnull.encode(), b"w")
            if stream:
                _previous, variable.value = variable.value, stream


def _leave() -> None:
    global _silent, _previous
    with _lock:
        _silent -= 1
        variable = _variable()
        if _silent == 0 and _previous is not None and variable is not None:
            stream, variable.value, _previous = variable.value, _previous, None
            library = ctypes.CDLL(None)
            library.fclose.argtypes = [ctypes.c_void_p]
            library.fclose(stream)
