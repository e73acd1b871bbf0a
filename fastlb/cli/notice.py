"""A line on standard error if a call takes long because kernels are compiled."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..accelerate import watching_compilation

# Compilation time in all after which the line is written.
PATIENCE_SECONDS = 1.0
LINE = "fastlb: compiling, once for this machine (fastlb warmup does it ahead)\n"


@contextmanager
def announcing_compilation() -> Iterator[None]:
    """Write the line once if compilation takes long and standard error is a terminal."""
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
    """Adds up the time of compilation; a timer writes the line while one is running."""

    def __init__(self) -> None:
        self._depth = 0
        self._begin = 0.0
        self._seconds_left = PATIENCE_SECONDS
        self._written = False
        self._timer: threading.Timer | None = None

    def __call__(self, _: str, begins: bool) -> None:
        if self._written:
            return
        self._depth += 1 if begins else -1
        if begins and self._depth == 1:
            self._begin = time.monotonic()
            self._timer = threading.Timer(self._seconds_left, self._write)
            self._timer.daemon = True
            self._timer.start()
        elif not begins and self._depth == 0:
            self.cancel()
            self._seconds_left -= min(time.monotonic() - self._begin, self._seconds_left)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _write(self) -> None:
        self._written = True
        # Not bound earlier: a progress bar replaces sys.stderr by a stream that writes above it.
        sys.stderr.write(LINE)
        sys.stderr.flush()
