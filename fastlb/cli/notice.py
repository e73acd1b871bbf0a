"""A line on standard error when kernels are being compiled, which is why a call takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..accelerate import watching_compilation

# What compiling may take in all before it is told.
PATIENCE_SECONDS = 1.0
LINE = "fastlb: compiling, once for this machine (fastlb warmup does it ahead)\n"


@contextmanager
def compilation_told() -> Iterator[None]:
    """Say once that kernels are compiled if that takes long and standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    notice = _Notice()
    try:
        with watching_compilation(notice):
            yield
    finally:
        notice.cancel()


class _Notice:
    """Adds up the time of compiling; a timer speaks while compiling is under way."""

    def __init__(self) -> None:
        self._depth = 0
        self._begin = 0.0
        self._seconds_left = PATIENCE_SECONDS
        self._said = False
        self._timer: threading.Timer | None = None

    def __call__(self, _: str, begins: bool) -> None:
        if self._said:
            return
        self._depth += 1 if begins else -1
        if begins and self._depth == 1:
            self._begin = time.monotonic()
            self._timer = threading.Timer(self._seconds_left, self._say)
            self._timer.daemon = True
            self._timer.start()
        elif not begins and self._depth == 0:
            self.cancel()
            self._seconds_left -= min(time.monotonic() - self._begin, self._seconds_left)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _say(self) -> None:
        self._said = True
        # Looked up now: a progress bar puts a stream there that writes above it.
        sys.stderr.write(LINE)
        sys.stderr.flush()
