"""Calls of a library that hears no limit, in threads that can be left behind."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_left: list[threading.Thread] = []
_interrupted = False


def within(seconds: float | None, call: Callable[[], Any]) -> Any:
    """Return what a function returns, computed in a thread, or None after so many seconds.

    Python hears Ctrl-C while it waits. The thread is then left behind, as after the seconds: it
    goes on, at the latest until the process ends.
    """
    global _interrupted
    results: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="fastlb-highs", daemon=True)
    thread.start()
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
    return results[0] if results else None


def left_behind() -> list[threading.Thread]:
    """Return the threads that were left behind and still work."""
    return [thread for thread in _left if thread.is_alive()]


def exit_at_once(code: int) -> None:
    """End the process without waiting for the threads left behind, which would abort it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@atexit.register
def _end() -> None:
    """Wait for threads whose time is limited; after Ctrl-C there may be no end to wait for."""
    if _interrupted and left_behind():
        exit_at_once(130)
    for thread in left_behind():
        thread.join()
