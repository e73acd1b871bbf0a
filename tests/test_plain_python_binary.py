"""Without numba's compiler the kernels of 0-1 programs give the same integers."""

import os
import subprocess
import sys
from pathlib import Path

MANY_PROGRAMS = "tests/programs/test_binary_solution.py", "tests/programs/test_batches.py"
ROOT = Path(__file__).resolve().parents[1]


def test_the_cases_hold_without_compilation() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/test_cases_binary.py", *MANY_PROGRAMS],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
