"""Running a study: trials in chunks, on threads or on any executor, the same bits everywhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .distributions import Distribution, Experiment
from .memory import require_memory
from .options import check_options
from .progress import rows_bar
from .registry import balance
from .result import RECORDED_WITH, Balance
from .results import Results
from .sampling import sample_loads
from .study import Cell, Study, parse_method
from .topology import Topology, _integer
from .trials import measure_in_tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIGURES = tuple(name for name, level in RECORDED_WITH.items() if level == "metrics")

# Kernels work on tiles of 64 trials. A chunk of 2**19 loads, 4 MiB where they lie in rows, is a
# millisecond of work or more, and the Python around it, 30 microseconds, does not show.
TILE = 64
CHUNK_LOADS = 2**19

# Chunks handed to an executor ahead of the one waited for: enough for a cluster, and a failure
# does not have millions to cancel.
AHEAD = 1024

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Chunk:
    """Some trials of one topology and distribution, for all methods; small enough to send away."""

    topology: Topology
    loads: Distribution
    methods: tuple[str, ...]
    seed: int
    start: int
    trials: int


def run(
    study: Study,
    *,
    executor: Executor | None = None,
    threads: int = 1,
    chunk: int | None = None,
    progress: bool | Progress = False,
) -> Results:
    """Run a study and return one row of figures a trial.

    The results depend on the study alone: not on ``executor``, ``threads`` or ``chunk``.

    Parameters
    ----------
    study : Study
    executor : concurrent.futures.Executor, optional
        Where chunks of trials are run: a process pool, or the executor of a cluster. Methods
        registered by the caller must be registered there too.
    threads : int
        Without an executor: threads of this process.
    chunk : int, optional
        Trials handed out at a time.
    progress : bool or callable
        True shows a bar on a terminal; a callable gets the rows done and the rows in all.

    Returns
    -------
    Results

    Raises
    ------
    ValueError, TypeError
        If a method does not fit a topology, or an option is unknown or wrong: each method has
        balanced empty loads on each topology before the first trial is drawn.
    OverflowError
        If a trial's loads have a total that does not fit int64.
    MemoryError
        If the figures of all trials plainly do not fit in memory.

    Examples
    --------
    >>> study = Study("small", ["mesh:4x4"], ["dde"], "uniform:10", trials=5)
    >>> bool(run(study).table()["difference"].max() <= 2)
    True
    """
    if not isinstance(study, Study):
        raise TypeError(f"study must be a Study, got {type(study).__name__}")
    workers = _positive("threads", threads)
    if executor is not None and workers > 1:
        raise ValueError(f"threads must be 1 beside an executor, got {workers}")
    size = None if chunk is None else _positive("chunk", chunk)
    table = study.trials * sum(rehearse(study).values())
    require_memory(2 * table, f"the table of {study.trials:,} trials")  # in chunks, then joined
    chunks = plan(study, size)
    figures: dict[Cell, list[dict[str, NDArray[Any]]]] = {cell: [] for cell in study.cells}
    total = study.trials * len(study.cells)
    own = ThreadPoolExecutor(workers) if workers > 1 else None
    with (
        own or nullcontext(),
        closing(run_chunks(chunks, executor or own)) as parts,
        _reporter(study.name, total, progress) as report,
    ):
        done = 0
        for part, found in parts:
            for method, columns in zip(part.methods, found, strict=True):
                figures[Cell(part.topology, method, part.loads)].append(columns)
            done += part.trials * len(part.methods)
            report(done, total)
    return Results.from_chunks(study, figures)


def rehearse(study: Study) -> dict[Cell, int]:
    """Let each method balance empty loads on each of its topologies, so that errors come first.

    Of an experiment the first trial is measured. Returns the bytes of a trial's figures.
    """
    sizes: dict[tuple[Topology, str, Distribution | None], int] = {}
    widths = {}
    for cell in study.cells:
        topology, method = cell.topology, cell.method
        experiment = cell.loads if isinstance(cell.loads, Experiment) else None
        key = topology, method, experiment
        if key not in sizes:
            try:
                if experiment is None:
                    empty = np.zeros((1, *topology.shape), dtype=np.int64)
                    found = figure_columns(_balanced(empty, topology, method), 1)
                else:
                    found = experiment.measure(topology, method, seed=study.seed, start=0, trials=1)
            except (ValueError, TypeError) as error:
                kind = ValueError if isinstance(error, ValueError) else TypeError
                raise kind(f"{method} on {topology.spec}: {error}") from error
            sizes[key] = sum(values.itemsize for values in found.values())
        widths[cell] = sizes[key]
    return widths


def plan(study: Study, size: int | None = None) -> Iterator[Chunk]:
    """Divide the trials of a study into chunks of ``size`` trials, or of a fitting size."""
    methods_on: dict[tuple[Topology, Distribution], list[str]] = {}
    for cell in study.cells:
        methods_on.setdefault((cell.topology, cell.loads), []).append(cell.method)
    for (topology, loads), methods in methods_on.items():
        step = size or TILE * max(1, CHUNK_LOADS // (TILE * topology.size))
        for start in range(0, study.trials, step):
            trials = min(step, study.trials - start)
            yield Chunk(topology, loads, tuple(methods), study.seed, start, trials)


def run_chunk(chunk: Chunk) -> list[dict[str, NDArray[Any]]]:
    """Draw the loads of a chunk and balance them: for each method, a column a figure."""
    if isinstance(chunk.loads, Experiment):
        return [
            chunk.loads.measure(
                chunk.topology, method, seed=chunk.seed, start=chunk.start, trials=chunk.trials
            )
            for method in chunk.methods
        ]
    found = measure_in_tiles(chunk)
    if others := [method for method in chunk.methods if method not in found]:
        loads = sample_loads(
            chunk.loads, chunk.topology, trials=chunk.trials, seed=chunk.seed, start=chunk.start
        )
        found |= {method: _balanced(loads, chunk.topology, method) for method in others}
    return [figure_columns(found[method], chunk.trials) for method in chunk.methods]


def run_chunks(
    chunks: Iterable[Chunk], executor: Executor | None
) -> Generator[tuple[Chunk, list[dict[str, NDArray[Any]]]]]:
    """Run chunks here, or on an executor, and yield each with its columns, in order."""
    if executor is None:
        for chunk in chunks:
            yield chunk, run_chunk(chunk)
        return
    waiting = iter(chunks)
    sent: deque[tuple[Chunk, Future[list[dict[str, NDArray[Any]]]]]] = deque()
    try:
        while True:
            for chunk in islice(waiting, AHEAD - len(sent)):
                sent.append((chunk, executor.submit(run_chunk, chunk)))
            if not sent:
                return
            first, future = sent.popleft()
            yield first, future.result()
    finally:
        for _, future in sent:
            future.cancel()


def figure_columns(balance: Balance, trials: int) -> dict[str, NDArray[Any]]:
    """Return the figures that a method recorded, one value a trial; counters as ``counts.name``."""
    columns: dict[str, Any] = {}
    for name in FIGURES:
        value = balance._fields.get(name)
        if isinstance(value, dict):
            columns |= {f"{name}.{counter}": values for counter, values in value.items()}
        elif value is not None:
            columns[name] = value
    return {
        name: values if np.shape(values) == (trials,) else np.broadcast_to(values, (trials,))
        for name, values in columns.items()
    }


def _balanced(loads: NDArray[np.int64], topology: Topology, method: str) -> Balance:
    name, options = parse_method(method)
    check_options(name, options)
    return balance(loads, topology, method=name, **options)


def _reporter(name: str, total: int, progress: bool | Progress) -> Any:
    if callable(progress):
        return nullcontext(progress)
    return rows_bar(name, total) if progress else nullcontext(lambda done, total: None)


def _positive(name: str, value: int) -> int:
    number = _integer(name, value)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}")
    return number
