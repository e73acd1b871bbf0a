"""What importing fastlb, and its first call with a warm cache, cost a process; one node a process.

Each figure is read inside a fresh process, as CPU time, several processes in turn.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

TIMED = """
import json, sys, time
taken = []
for code in json.loads(sys.argv[1]):
    begin = time.process_time()
    exec(code)
    taken.append(time.process_time() - begin)
print(json.dumps(taken))
"""
EMPTY = """
import numpy as np
from numba import njit

@njit(cache=True, nogil=True)
def empty(a):
    a[0] = 1

empty(np.zeros(1, np.int64))
"""
FIRST_CALLS = {
    "dem": "lb.dem([1, 2], lb.Hypercube(1))",
    "gde": "lb.gde([1, 2], lb.Chain(2))",
    "dde": "lb.dde([1, 2], lb.Chain(2))",
    "hexa_cell": "lb.hexa_cell([1, 2, 3, 4, 5, 6], lb.HyperHexaCell(1))",
    "minimax_flow": "lb.minimax_flow(lb.Chain(2).network(), [1, -1])",
    "solve_binary": "lb.solve_binary([1, 1], [[1, 1]], [1])",
}


def seconds(*steps):
    """Return the CPU seconds that each step takes in a fresh process."""
    command = [sys.executable, "-c", TIMED, json.dumps(steps)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def rounds(race, *processes, most=21):
    """Return the rounds of each step of each process, the processes in turn.

    The first round, which compiles what is not cached, does not count.
    """
    race.benchmark.pedantic(lambda: [seconds(*steps) for steps in processes], rounds=1)
    number = most if race.timed else 1
    taken = [[seconds(*steps) for steps in processes] for _ in range(number)]
    return [np.array(each).T for each in zip(*taken, strict=True)]


def test_import(race):
    ((numpy, fastlb),) = rounds(race, ["import numpy", "import fastlb"])
    if race.timed:
        targets = {"import numpy": 0.5}
        race.record("import fastlb after numpy", fastlb, {"import numpy": numpy}, targets=targets)


@pytest.mark.parametrize("name", FIRST_CALLS)
def test_first_call(race, tmp_path, name):
    """Numba's import, loading compiled kernels, and the work, against a kernel that does nothing.

    numba's own import alone is no yardstick: the first call of any kernel loads more of numba,
    and scipy's linear algebra with it.
    """
    (tmp_path / "empty.py").write_text(EMPTY)
    find = f"import numpy, sys; sys.path.insert(0, {str(tmp_path)!r})"
    fastlb = ["import numpy; import fastlb as lb", f"import numba; {FIRST_CALLS[name]}"]
    (_, call), (_, empty) = rounds(race, fastlb, [find, "import empty"], most=9)
    if race.timed:
        others = {"empty kernel": empty}
        race.record(f"first call of {name}, warm cache, with numba's import", call, others)
