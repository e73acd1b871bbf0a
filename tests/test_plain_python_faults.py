"""Without numba's compiler fault-tolerant DEM runs as plain Python, to the same integers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = [
    "tests/test_cases_faults.py",
    "tests/exchange/test_fault_batches.py",
    "tests/exchange/test_fault_single.py",
    "tests/exchange/test_properties_faults.py::test_equal_to_the_twin",
    "tests/exchange/test_properties_faults.py::test_units_times_links_beyond_int64",
]


def test_the_same_integers(full: bool) -> None:
    profile = f"--hypothesis-profile={'fastlb' if full else 'plain'}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", profile, *FILES],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
