"""Calls of what hears no signals and no time limits, such as a compiler or a solver, ``aside``.

Python hears a signal between its own steps alone, in the main thread, and libraries swallow what
handlers raise in functions that they call back: a Ctrl-C that comes while LLVM hands numba a
compiled function is lost. So the main thread only waits for such a call, which a thread of its own
makes; an interrupt, or the end of a time limit, leaves it behind.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

# Seconds that the end of a process waits for what an interrupt has left behind.
PATIENCE = 0.5
# Numbers from which on a few operations of NumPy take a tenth of a second.
LARGE = 2**20

_left: list[threading.Thread] = []
_interrupted = False


def aside(function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Any:
    """Return ``function(*arguments)``, or raise what it raises; meanwhile signals are heard.

    What is left behind goes on, at the latest until the process ends: what is being compiled is
    compiled then for the next call. It must not write to what belongs to the caller.

    Parameters
    ----------
    seconds : float, optional
        How long to wait. Without, other threads than the main one, which hear no signals, make the
        call themselves.

    Raises
    ------
    TimeoutError
        After so many seconds.
    """
    global _interrupted
    if seconds is None and threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    results: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function(*arguments))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="fastlb-aside", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # Python starts no threads while it ends.
        return function(*arguments)
    try:
        thread.join(seconds)
    except BaseException:
        _interrupted = True
        raise
    finally:
        if thread.is_alive():
            _left.append(thread)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no result after {seconds} s")
    return results[0]


def aside_if_large(size: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(*arguments)``, aside where it works on so many numbers that it is slow."""
    return aside(function, *arguments) if size >= LARGE else function(*arguments)


def left_behind() -> list[threading.Thread]:
    """Return the threads that were left behind and still work."""
    return [thread for thread in _left if thread.is_alive()]


def exit_at_once(code: int) -> NoReturn:
    """End the process without waiting for the threads left behind, which would abort it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@atexit.register
def _end() -> None:
    """Wait for threads whose time is limited; end what Ctrl-C has left behind."""
    for thread in left_behind():
        if not _interrupted:
            thread.join()
        # What is raised in a thread may be swallowed there, hence again and again.
        tries = int(PATIENCE / 0.02)
        while thread.is_alive() and tries > 0:
            number, error = ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(number, error)
            thread.join(0.02)
            tries -= 1
    if left_behind():
        exit_at_once(130)
