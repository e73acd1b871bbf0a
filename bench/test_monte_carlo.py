"""Monte Carlo studies: draw, balance and measure every trial."""

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from bench import monte_carlo_peers, native
from bench.native import number, pointer
from bench.race import Ratio, Row
from fastlb.montecarlo.chunks import divide
from fastlb.montecarlo.measuring import run_chunk
from fastlb.topologies.colouring import colouring

SEED, MEAN = 1995, 1000
SPAN = 2 * MEAN + 1
P, Q = 723, 1000
COUNTS = tuple(
    f"counts.{name}"
    for name in ("messages", "information", "load", "endpoint_max", "endpoint_total", "time")
)
WHOLE = (
    "difference", "initial_difference", "moved", "local", "sweeps", "steps", "rounds", *COUNTS,
)  # fmt: skip
REAL = ("imbalance", "initial_imbalance", "cost", "locality")
# As numpy peers return them.
COMMON = (
    "difference", "initial_difference", "imbalance", "initial_imbalance", "moved", "cost",
    "local", "locality",
)  # fmt: skip


def chunks_of(topology, method, trials):
    """Return the chunks that a study of one method hands out."""
    study = lb.Study("race", [topology], [method], lb.Uniform(MEAN), trials=trials, seed=SEED)
    return list(divide(study))


def c_program(name, trials, figures, *arguments):
    """Return a run of the C program, which returns the named columns."""
    compiled = native.library("monte_carlo")
    if compiled is None:
        return None
    whole, real = np.empty((len(WHOLE), trials), np.int64), np.empty((len(REAL), trials))
    columns = dict(zip((*WHOLE, *REAL), (*whole, *real), strict=True))
    function = getattr(compiled, name)

    def run():
        function(
            number(SEED), number(trials), number(SPAN), *arguments, pointer(whole), pointer(real)
        )
        return tuple(columns[figure] for figure in figures)

    return run


def fastlb_program(topology, method, trials, figures):
    chunks = chunks_of(topology, method, trials)

    whole = {figure: np.empty(trials, np.int64) for figure in figures if figure in WHOLE}
    columns = whole | {figure: np.empty(trials) for figure in figures if figure in REAL}

    def run():
        for chunk in chunks:
            (found,) = run_chunk(chunk)
            for figure, column in columns.items():
                column[chunk.start : chunk.start + chunk.trials] = found[figure]
        return tuple(columns[figure] for figure in figures)

    return run


def draw(trials, shape):
    return lambda: monte_carlo_peers.uniform(SEED, trials, MEAN, shape)


def trials_of(topology, quick):
    # Some chunks, as the millions of trials of a study: the first finds the caches cold.
    return 70 if quick else 2**22 // topology.size


@pytest.mark.parametrize("mesh", [lb.Mesh(8, 8), lb.Mesh(16, 16)], ids=str)
def test_gde(race, quick, mesh):
    links, trials = colouring(mesh), trials_of(mesh, quick)
    ends = pointer(links.u), pointer(links.v), number(len(links.u)), number(links.count)
    figures = (*COMMON, "sweeps")
    race(
        f"Monte Carlo, GDE {mesh.spec}",
        fastlb_program(mesh, f"gde:lam={P}/{Q}", trials, figures),
        {
            "C": c_program(
                "gde_trials", trials, figures, number(mesh.size), *ends, number(P), number(Q)
            ),
            "NumPy": lambda: monte_carlo_peers.gde(draw(trials, mesh.shape), P, Q),
        },
        nodes=trials * mesh.size,
        targets={"C": 10 if mesh.size == 64 else 5},
    )


@pytest.mark.parametrize("mesh", [lb.Mesh(8, 8), lb.Mesh(16, 16, 16)], ids=str)
def test_dde(race, quick, mesh):
    trials, shape = trials_of(mesh, quick), np.array(mesh.shape)
    figures = (*COMMON, "rounds")
    race(
        f"Monte Carlo, DDE {mesh.spec}",
        fastlb_program(mesh, "dde", trials, figures),
        {
            "C": c_program("dde_trials", trials, figures, pointer(shape), number(mesh.ndim)),
            "NumPy": lambda: monte_carlo_peers.dde(draw(trials, mesh.shape)),
        },
        nodes=trials * mesh.size,
        targets={"C": 5},
    )


@pytest.mark.parametrize("n", [6, 10])
def test_dem(race, quick, n):
    cube = lb.Hypercube(n)
    trials = trials_of(cube, quick)
    race(
        f"Monte Carlo, DEM {n}-cube",
        fastlb_program(cube, "dem", trials, COMMON),
        {
            "C": c_program("dem_trials", trials, COMMON, number(cube.size)),
            "NumPy": lambda: monte_carlo_peers.dem(draw(trials, cube.shape), n),
        },
        nodes=trials * cube.size,
        targets={"C": 5},
    )


@pytest.mark.parametrize("n", [6, 10])
def test_fault_tolerant_dem(race, quick, n):
    cube = lb.Hypercube(n, faults=[(0, 1), (2, 6), (0, 4)])
    trials, plan = trials_of(cube, quick), lb.fault_plan(cube)
    program = number(n), pointer(plan.program), number(len(plan.program)), number(plan.steps)
    race(
        f"Monte Carlo, fault-tolerant DEM {n}-cube, 3 faults",
        fastlb_program(cube, "fault_tolerant_dem", trials, COMMON),
        {"C": c_program("fault_trials", trials, COMMON, *program)},
        nodes=trials * cube.size,
        targets={"C": 5},
    )


@pytest.mark.parametrize("algorithm", ["A", "B", "C"])
@pytest.mark.parametrize("d", [5, 8])
def test_hexa_cell(race, quick, d, algorithm):
    """With all that is counted: messages, the busiest node, and the critical path."""
    cells = lb.HyperHexaCell(d)
    trials, method = trials_of(cells, quick), f"hexa_cell:algorithm={algorithm}"
    steps = lb.balance(
        np.zeros(cells.size, np.int64), cells, "hexa_cell", algorithm=algorithm
    ).steps
    figures = (*COMMON, "steps", *COUNTS)
    given = number(d), number(ord(algorithm)), number(steps)
    race(
        f"Monte Carlo, HHC {algorithm} d={d}",
        fastlb_program(cells, method, trials, figures),
        {"C": c_program("hexa_cell_trials", trials, figures, *given)},
        nodes=trials * cells.size,
        targets={"C": 5},
    )


@pytest.mark.parametrize(
    "spelling", ["exponential:1000", "poisson:1000", "normal:1000,300", "log-normal:1000,1"]
)
def test_random_loads(race, quick, spelling):
    """Loads of other distributions against NumPy's generators of the same laws."""
    law, n = lb.parse_distribution(spelling), 2**10 if quick else 2**16
    generator = np.random.Generator(np.random.Philox(key=SEED))
    peers = {
        "exponential:1000": lambda: generator.geometric(1 / 1001, n) - 1,
        "poisson:1000": lambda: generator.poisson(1000, n),
        "normal:1000,300": lambda: np.maximum(np.rint(generator.normal(1000, 300, n)), 0),
        "log-normal:1000,1": lambda: np.rint(generator.lognormal(6.4, 1, n)),
    }
    tiles = np.empty((n // 1024, 64, 16), np.int32)

    def fastlb():
        law.fill_tiles(tiles, seed=SEED, start=0)
        return tiles

    race(
        f"random loads, {spelling}",
        fastlb,
        {},
        nodes=n,
        yardsticks={"NumPy generator": peers[spelling]},
        targets={"NumPy generator": 0.5},
    )


def test_two_threads(race, quick, benchmark):
    """Chunks alone."""
    chunks = chunks_of(lb.Mesh(8, 8), "gde:lam=723/1000", 2**10 if quick else 2**20)
    with ThreadPoolExecutor(2) as threads:
        both, alone = interleaved(
            quick, lambda: moved(threads.map, chunks), lambda: moved(map, chunks)
        )
    assert np.array_equal(both.answer, alone.answer)
    benchmark.pedantic(lambda: None)
    nodes = 64 * sum(chunk.trials for chunk in chunks)
    compare(race, "Monte Carlo, GDE mesh:8x8, 2 threads", both, alone, nodes)


@pytest.mark.parametrize("rows", [False, True], ids=["statistics", "rows"])
@pytest.mark.parametrize(
    ("topology", "method", "millions"),
    [
        (lb.Mesh(8, 8), f"gde:lam={P}/{Q}", 128),
        (lb.Mesh(8, 8), "dde", 128),
        (lb.Hypercube(10), "dem", 512),
        (lb.Mesh(16, 16, 16), "dde", 128),
    ],
    ids=["gde", "dde", "dem", "dde-3d"],
)
def test_whole_runs_on_two_threads(race, quick, benchmark, topology, method, millions, rows):
    """All that ``run`` does, statistics and tables included."""
    # A tenth of a second or two: shorter runs end while the second thread still waits for its first
    # chunk. Tables are bounded by memory.
    loads = 2**12 if quick else millions * 2**20 // (2 if rows else 1)
    trials = loads // topology.size
    study = lb.Study("race", [topology], [method], lb.Uniform(MEAN), trials=trials, seed=SEED)
    both, alone = interleaved(
        quick, *(lambda n=n: lb.run(study, threads=n, rows=rows) for n in (2, 1))
    )
    assert both.answer.summary() == alone.answer.summary()
    if rows:
        tables = both.answer.table(), alone.answer.table()
        assert all(np.array_equal(tables[0][name], tables[1][name]) for name in tables[1])
    benchmark.pedantic(lambda: None)
    kept = "rows" if rows else "statistics"
    name = f"Monte Carlo, run to {kept}, {method.partition(':')[0].upper()} {topology.spec}"
    compare(race, f"{name}, 2 threads", both, alone, trials * topology.size)


def test_a_store_on_two_threads(race, quick, benchmark, tmp_path):
    """The rows in Parquet files, flushed to the disk."""
    pytest.importorskip("pyarrow")
    trials = 2**12 if quick else 2**21
    study = lb.Study("race", ["mesh:8x8"], ["dde"], lb.Uniform(MEAN), trials=trials, seed=SEED)

    def kept(threads):
        return lb.run(study, store=tmp_path / "store", threads=threads, rows=False)

    def removed():
        shutil.rmtree(tmp_path / "store", ignore_errors=True)

    both, alone = interleaved(quick, lambda: kept(2), lambda: kept(1), before=removed)
    assert both.answer.summary() == alone.answer.summary()
    assert lb.read_store(tmp_path / "store", rows=False).summary() == alone.answer.summary()
    benchmark.pedantic(lambda: None)
    name = "Monte Carlo, run into a store, DDE mesh:8x8, 2 threads"
    compare(race, name, both, alone, trials * 64)


@dataclass(frozen=True)
class Clocked:
    """What a program returned last, and the seconds on the clock that its calls took.

    CPU time knows nothing of threads.
    """

    answer: Any
    seconds: np.ndarray


def interleaved(quick, *programs, before=lambda: None):
    """Call programs in turn, after a first call of each that finds the caches cold.

    Not on the clock are what is called before each, and giving back the memory of its last answer.
    """
    answers = [None for _ in programs]
    seconds = [[] for _ in programs]
    for turn in range(1 if quick else 16):
        for i, program in enumerate(programs):
            answers[i] = None
            before()
            begin = time.perf_counter()
            answers[i] = program()
            if turn:
                seconds[i].append(time.perf_counter() - begin)
    return [Clocked(*found) for found in zip(answers, map(np.array, seconds), strict=True)]


def compare(race, name, both, alone, nodes):
    """Add a row of two threads against one, unless there is one processor for both."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    if race.timed and processors > 1:
        faster = {"1 thread": Ratio.of(alone.seconds / both.seconds)}
        own = float(np.median(both.seconds)) / nodes * 1e9
        race.rows.append(Row(name, len(both.seconds), own, faster, {}, {"1 thread": 1.7}))


def moved(mapped, chunks):
    """Return the units that all trials move."""
    return np.concatenate([columns["moved"] for (columns,) in mapped(run_chunk, chunks)])
