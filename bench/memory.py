"""The most memory that a process has taken."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak() -> int:
    """Return the most bytes of memory that this process has taken so far.

    What ``getrusage`` counts begins, on Linux, with the memory of the process that started this
    one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
