"""The one place through which the face reaches the jitted kernels and optional libraries.

Kernels are imported on first use, so ``import fastlb`` loads neither numba nor scipy.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pickle
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import MissingExtraError

EXTRAS = {
    "click": "cli",
    "distributed": "dask",
    "highspy": "mps",
    "rich": "cli",
    "matplotlib": "plot",
    "networkx": "graph",
    "pyarrow": "table",
    "pandas": "table",
}

# Raised over a file of the cache that was cut short, or that another version of fastlb wrote, with
# types that this one lacks.
BROKEN = OSError, EOFError, ValueError, pickle.UnpicklingError, ImportError, AttributeError

_thread = threading.local()

# Links, arcs or the like from which a kernel may take so long that a thread costs nothing.
SMALL = 20_000


@cache
def kernels(name: str) -> ModuleType:
    """Import the kernel module ``fastlb.kernels.<name>`` with a cache that can be used.

    numba raises while decorating when it finds no writable folder for its cache; a
    read-only installation without a home folder must still run, so a private temporary
    folder steps in. It also raises when the cache cannot be read or written later on.
    """
    from numba import config

    # Empty unless NUMBA_CACHE_DIR is set, or a kernel module before this one needed a folder.
    configured: str = config.CACHE_DIR  # type: ignore[attr-defined]
    if not configured and not _default_cache_is_writable():
        config.CACHE_DIR = _private_folder()  # type: ignore[attr-defined]
    module = importlib.import_module(f".kernels.{name}", __package__)
    for function in vars(module).values():
        if hasattr(function, "_cache"):
            function._cache = _ForgivingCache(function._cache)
    return module


def compiled(kernel: Callable[..., Any], *likes: Any, flat: bool = False) -> Callable[..., Any]:
    """Return a kernel as compiled for arguments like these: numbers, or ``numpy.ndarray``.

    An array that is not plain, as the flags' ``carray`` tells, or not of the dtype and the number
    of axes of the one given here, arrives empty; with ``flat`` it may have any number of axes, and
    is seen as one. So callers need not look at that. That an array is a ``numpy.ndarray`` is theirs
    to know: nothing looks at it.
    """
    from .lending import lent

    return lent(kernel, likes, flat=flat)


def heeding(size: int, kernel: Callable[..., Any], *arguments: Any) -> Any:
    """Call a kernel that may take long so that Ctrl-C is heard meanwhile.

    Python hears it between its own steps alone, and numba turns one that waited for the end of
    a kernel into a ``SystemError``. So the kernel runs in a thread of its own, which is left
    behind by an interrupt. Below ``SMALL`` and outside the main thread, where no interrupt
    arrives, it is called as it is.
    """
    if size < SMALL or threading.current_thread() is not threading.main_thread():
        return kernel(*arguments)
    outcome: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(kernel(*arguments))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="fastlb-kernel", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]


def end_with(ended: threading.Event) -> None:
    """Let work of this thread that may take for ever end once the event is set."""
    _thread.ended = ended


def check_ended() -> None:
    """Raise ``KeyboardInterrupt`` in a thread that is to end: none but the main one hears Ctrl-C.

    For use between the calls of a kernel that comes back now and then.
    """
    ended: threading.Event | None = getattr(_thread, "ended", None)
    if ended is not None and ended.is_set():
        raise KeyboardInterrupt


class _ForgivingCache:
    """A function's cache that is done without when a file is broken or the disk is full."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, signature: Any, context: Any) -> Any:
        try:
            return self._cache.load_overload(signature, context)
        except BROKEN:
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(*BROKEN):
            self._cache.save_overload(signature, data)


@cache
def extra(name: str) -> ModuleType:
    """Import an optional library, or raise ``MissingExtraError`` saying what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        group = EXTRAS[name.partition(".")[0]]
        raise MissingExtraError(
            f"{name.partition('.')[0]} is needed here and not installed: "
            f"pip install 'fastlb[{group}]'"
        ) from error


@cache
def _private_folder() -> str:
    folder = tempfile.TemporaryDirectory(prefix="fastlb-numba-")
    atexit.register(folder.cleanup)
    return folder.name


def _default_cache_is_writable() -> bool:
    beside = Path(__file__).parent / "kernels"
    # Stays "~" for a user without a home, where Path.expanduser would raise.
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    return any(_writable(folder) for folder in (beside, Path(home)) if folder.is_absolute())


def _writable(folder: Path) -> bool:
    try:
        while not folder.exists():
            if folder == folder.parent:
                return False
            folder = folder.parent
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
