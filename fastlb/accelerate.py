"""The one place through which kernels are reached.

Kernels are imported on first use, so ``import fastlb`` loads neither numba nor scipy.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

_thread = threading.local()

# Links, arcs or the like from which a kernel may take so long that a thread costs nothing.
SMALL = 20_000


# Called with the name of a kernel, and with True when it begins to be compiled, False at the end.
CompileWatcher = Callable[[str, bool], None]
_watchers: list[CompileWatcher] = []


@cache
def kernels(name: str) -> ModuleType:
    """Import the kernel module ``fastlb.kernels.<name>``."""
    module = importlib.import_module(f".kernels.{name}", __package__)
    if _watchers:
        _listen_to_numba()
    return module


@contextmanager
def watching_compilation(watcher: CompileWatcher) -> Iterator[None]:
    """Call a function whenever a kernel begins and ends to be compiled, not when it is loaded.

    Kernels that a kernel calls are compiled, and told, before it ends. The function may be called
    from any thread, from one at a time. It costs nothing as long as numba is not imported.
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
