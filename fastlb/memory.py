"""A check before large allocations, so that a mistyped size is an error and not a swap storm."""

from __future__ import annotations

import os
from pathlib import Path

# Smaller needs are not worth asking the system about.
ASKED_FROM = 2**28


def available_memory() -> int | None:
    """Return the bytes the system can hand out now, or None where it does not tell."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def require_memory(needed: int, what: str, instead: str = "") -> None:
    """Raise ``MemoryError`` if ``needed`` bytes for ``what`` are plainly not there.

    The message ends with what to do ``instead``.
    """
    if needed < ASKED_FROM:
        return
    available = available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"{what} needs about {needed / 2**30:.3g} GiB, {available / 2**30:.3g} GiB are free"
            + (f"; {instead}" if instead else "")
        )
