"""A check before large allocations, so that a mistyped size is an error and not a swap storm."""

from __future__ import annotations

import os


def available_memory() -> int | None:
    """Return the bytes the system can hand out now, or None where it does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def require_memory(needed: int, what: str) -> None:
    """Raise ``MemoryError`` if ``needed`` bytes for ``what`` are plainly not there."""
    if needed < 2**28:
        return
    available = available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"{what} needs about {needed / 2**30:.3g} GiB, {available / 2**30:.3g} GiB are free"
        )
