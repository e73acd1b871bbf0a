"""What importing fastlb and a first call cost a process, with an empty cache and with a warm one.

A figure is the CPU time of a whole process, Python's own start and all imports included, against
that of a process that compiles or loads an empty kernel, several of each in turn.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.race import clock

EMPTY = """
import numpy as np
from numba import njit

@njit(cache=True, nogil=True)
def empty(a):
    a[0] = 1

empty(np.zeros(1, np.int64))
"""
FASTLB = "import fastlb as lb, numpy as np; "
PROGRAMS = "c, A, b = lb.random_binary('cover', 4, 6, seed=1, trials=10_000); "
DOCTOR_COMMAND = "fastlb doctor"
# By name: what the process runs, and the most empty kernels that it may take with an empty cache.
SMALL, BATCH, STUDY, DOCTOR = 3, 5, 8, 12
CALLS = {
    "dem, 64 loads": ("lb.dem(np.arange(64), lb.Hypercube(6), record='loads')", SMALL),
    "dem, metrics": ("lb.dem(np.arange(64), lb.Hypercube(6))", SMALL),
    "dde, 8x8 mesh": ("lb.dde(np.arange(64), lb.Mesh(8, 8))", SMALL),
    "gde, 8x8 mesh": ("lb.gde(np.arange(64), lb.Mesh(8, 8))", SMALL),
    "fault_tolerant_dem, 3-cube": (
        "lb.fault_tolerant_dem(np.arange(8), lb.Hypercube(3, faults=[(0, 1)]))",
        SMALL,
    ),
    "hexa_cell, d=3": ("lb.hexa_cell(np.arange(24), lb.HyperHexaCell(3))", SMALL),
    "minimax_flow, 3-cube": (
        "lb.minimax_flow(lb.Hypercube(3).network(capacity=5), [3, 0, 0, 0, 0, 0, 0, -3])",
        SMALL,
    ),
    "maximum_flow, 3-cube": (
        "lb.maximum_flow(lb.Hypercube(3).network(capacity=5), 0, 7)",
        SMALL,
    ),
    "minimum_cost_flow, 3-cube": (
        "lb.minimum_cost_flow(lb.Hypercube(3).network(), [-3, 0, 0, 0, 0, 0, 0, 3])",
        SMALL,
    ),
    "solve_binary, 3 variables": ("lb.solve_binary([1, 2, 3], [[1, 1, 1]], [2])", SMALL),
    "search_speedup": (
        "lb.search_speedup([1, 2, 3, 4], [[1, 1, 1, 1]], [2], lb.Hypercube(1))",
        SMALL,
    ),
    "place_experts": ("lb.place_experts([[3, 2, 1, 1]], 6, 2)", SMALL),
    "sample_loads": ("lb.sample_loads('uniform:1000', 'mesh:8x8', trials=1, seed=1)", SMALL),
    "dem, batch of 10,000": (
        "lb.dem(np.arange(640_000).reshape(-1, 64), lb.Hypercube(6))",
        BATCH,
    ),
    "dde, batch of 10,000": (
        "lb.dde(np.arange(640_000).reshape(-1, 8, 8), lb.Mesh(8, 8))",
        BATCH,
    ),
    "gde, batch of 10,000": (
        "lb.gde(np.arange(640_000).reshape(-1, 8, 8), lb.Mesh(8, 8))",
        BATCH,
    ),
    "solve_binary, batch of 10,000": (f"{PROGRAMS}lb.solve_binary(c, A, b)", BATCH),
    "doctor": (DOCTOR_COMMAND, DOCTOR),
    "a study, gde and dde, 8x8 mesh, 500 trials": (
        "lb.run(lb.Study('s', ['mesh:8x8'], ['gde', 'dde'], 'uniform:1000', trials=500)).summary()",
        STUDY,
    ),
}
# Of the empty kernel's time when all is in the cache, where a call does little more.
WARM = 1.1
# Processes with an empty cache, which may take seconds each, and with a warm one.
COLD_ROUNDS, WARM_ROUNDS = 3, 9
IMPORT = """
import time
times = [time.process_time()]
for module in ("numpy", "fastlb"):
    __import__(module)
    times.append(time.process_time())
print(times[1] - times[0], times[2] - times[1])
"""
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module", autouse=True)
def byte_code():
    """Compile the sources to byte code, as an installation does."""
    python("-m", "compileall", "-q", "fastlb", "kernels")


def python(*arguments, **environment):
    """Return what a fresh process prints."""
    variables = os.environ | environment
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def cpu_seconds(processes, folder):
    """Return the CPU seconds of processes run in turn, whose kernels are cached in a folder."""
    seconds = []
    for i, arguments in enumerate(processes):
        begin = clock()
        python(*arguments, NUMBA_CACHE_DIR=str(folder / str(i)))
        seconds.append(clock() - begin)
    return seconds


def test_import(race):
    number = 21 if race.timed else 1
    taken = np.array([python("-c", IMPORT).split() for _ in range(number)], dtype=float)
    race.benchmark.pedantic(lambda: None)
    if race.timed:
        theirs, ours = taken.T
        targets = {"import numpy": 0.5}
        race.record("import fastlb after numpy", ours, {"import numpy": theirs}, targets=targets)


@pytest.mark.parametrize("name", CALLS)
def test_first_call(race, quick, tmp_path, name):
    code, cold_aim = CALLS[name]
    call = ("-m", "fastlb", "doctor") if code == DOCTOR_COMMAND else ("-c", FASTLB + code)
    race.benchmark.pedantic(lambda: None)
    if not race.timed:
        python(*call)
        return
    empty = tmp_path / "empty.py"
    empty.write_text(EMPTY)
    processes = [(str(empty),), call]
    cold = [cpu_seconds(processes, tmp_path / f"cache-{i}") for i in range(COLD_ROUNDS)]
    warm = [cpu_seconds(processes, tmp_path / "cache-0") for _ in range(WARM_ROUNDS)]
    warm_aims = {"empty kernel": WARM} if cold_aim <= BATCH else {}
    for state, taken, aims in (
        ("empty cache", cold, {"empty kernel": cold_aim}),
        ("warm cache", warm, warm_aims),
    ):
        theirs, ours = np.array(taken).T
        label = f"first call, {state}: {name}"
        race.record(label, ours, {"empty kernel": theirs}, targets=aims)
