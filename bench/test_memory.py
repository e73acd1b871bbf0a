"""The most memory that a process takes, against the bytes of its loads."""

import subprocess
import sys

import numpy as np

PEAK = """
import sys
import numpy as np
import fastlb as lb
from bench.memory import peak
n = int(sys.argv[1])
cube = lb.Hypercube(n)
lb.dem(np.ones(2, np.int32), lb.Hypercube(1), record="loads")
loads = np.zeros(2**n, np.int32)
loads[:2**20] = 1000
total = int(loads.sum(dtype=np.int64))
balanced = lb.dem(loads, cube, record="loads", out=loads).loads
assert np.shares_memory(balanced, loads)
assert int(loads.sum(dtype=np.int64)) == total and int(np.ptp(loads)) <= n
print(peak())
"""


def test_dimension_exchange_in_place(race, quick):
    """4 GiB of loads on a 30-cube, balanced in place: within 5 GiB for the whole process."""
    n = 20 if quick else 30
    command = [sys.executable, "-c", PEAK, str(n)]
    done = subprocess.run(command, capture_output=True, check=True)
    peak = int(done.stdout)
    assert peak <= 4 * 2**n + 2**30
    race.benchmark.pedantic(lambda: None)
    if race.timed:
        loads = np.array([4.0 * 2**n])
        name = f"DEM {n}-cube in place, int32: memory, whole process"
        race.record(name, np.array([float(peak)]), {"bytes of the loads": loads}, nodes=2**n,
                    targets={"bytes of the loads": 1.25})  # fmt: skip
