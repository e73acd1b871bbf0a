"""The one place through which kernels are reached.

Kernels are imported on first use, so ``import fastlb`` loads neither numba nor scipy.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

from .aside import aside

# Called with the name of a kernel, and with True when it begins to be compiled, False at the end.
CompileWatcher = Callable[[str, bool], None]
_watchers: list[CompileWatcher] = []


@cache
def kernels(name: str) -> ModuleType:
    """Import the kernel module ``fastlb.kernels.<name>``."""
    compiling: Any = importlib.import_module(".kernels.shared.compiling", __package__)
    compiling.compile_through = aside
    module = importlib.import_module(f".kernels.{name}", __package__)
    if _watchers:
        _listen_to_numba()
    return module


@contextmanager
def watching_compilation(watcher: CompileWatcher) -> Iterator[None]:
    """Call a function whenever a kernel begins and ends to be compiled, not when it is loaded.

    Kernels that a kernel calls are compiled, and announced, before it ends. The function may be
    called from any thread, from one at a time. It costs nothing as long as numba is not imported.
    """
    _watchers.append(watcher)
    if "numba" in sys.modules:
        _listen_to_numba()
    try:
        yield
    finally:
        _watchers.remove(watcher)


@cache
def _listen_to_numba() -> None:
    from numba.core.event import Listener, register

    def tell(event: Any, begins: bool) -> None:
        function = event.data["dispatcher"].py_func
        for watcher in tuple(_watchers):
            watcher(f"{function.__module__}.{function.__qualname__}", begins)

    class Forwarder(Listener):
        """Hands numba's events on."""

        def on_start(self, event: Any) -> None:
            tell(event, True)

        def on_end(self, event: Any) -> None:
            tell(event, False)

    register("numba:compile", Forwarder())  # type: ignore[no-untyped-call]
