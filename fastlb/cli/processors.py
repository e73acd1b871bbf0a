"""How many processors this process may use."""

from __future__ import annotations

import os


def processors() -> int:
    """Return how many processors this process may use, which can be fewer than there are."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
