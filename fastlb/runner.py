"""Running a study: trials in chunks, on threads or on any executor, the same bits everywhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .collecting import Rows, Tallies
from .distributions import Distribution, Experiment
from .memory import require_memory
from .options import check_options
from .progress import rows_bar
from .registry import balance
from .result import RECORDED_WITH, Balance
from .results import Results
from .sampling import sample_loads
from .stopping import check_targets, rounds
from .study import Cell, Group, Study, parse_method
from .topology import Topology, _integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIGURES = tuple(name for name, level in RECORDED_WITH.items() if level == "metrics")

# Kernels work on tiles of 64 trials. A chunk of 2**18 loads is 2 MiB and some milliseconds of
# work: it stays near the core, and the Python around it does not show.
TILE = 64
CHUNK_LOADS = 2**18

# Chunks handed to an executor ahead of the one waited for: enough for a cluster, and a failure
# does not have millions to cancel.
AHEAD = 1024

Progress = Callable[[int, int], object]
Watch = Callable[[Cell, Mapping[str, "NDArray[Any]"]], object]


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
    rows: bool = True,
    progress: bool | Progress = False,
    watch: Watch | None = None,
) -> Results:
    """Run a study and return one row of figures a trial, or their summaries alone.

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
    rows : bool
        False keeps no rows: memory does not grow with the trials. Quantiles are then counted in
        bins, to within ``Statistic.quantile_error``; all else is the same.
    progress : bool or callable
        True shows a bar on a terminal; a callable gets the rows done and the rows in all, which
        become fewer where a study stops early.
    watch : callable, optional
        Gets each combination's figures, as they come in, in the order of the trials: a ``Cell``
        and a column a figure.

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
        If the rows of all trials plainly do not fit in memory.

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
    widths = rehearse(study)
    check_targets(study, (name for figures in widths.values() for name in figures))
    if rows:
        table = study.trials * sum(sum(figures.values()) for figures in widths.values())
        require_memory(2 * table, f"the table of {study.trials:,} trials")  # chunks, then joined
    kept = Rows(study) if rows else Tallies(study)
    done = 0
    own = ThreadPoolExecutor(workers) if workers > 1 else None
    with own or nullcontext(), _reporter(study, progress) as report:
        for groups, trials in rounds(study, kept):
            ahead = (study.trials - trials.start) * sum(len(study.groups[g]) for g in groups)
            total = done + ahead
            chunks = plan(study, size, groups=groups, trials=trials)
            with closing(run_chunks(chunks, executor or own)) as parts:
                for part, found in parts:
                    cells = [Cell(part.topology, method, part.loads) for method in part.methods]
                    kept.add(cells, found)
                    for cell, columns in zip(cells, found, strict=True):
                        if watch is not None:
                            watch(cell, columns)
                    done += part.trials * len(cells)
                    report(done, total)
        report(done, done)
    return Results(study, kept)


def rehearse(study: Study) -> dict[Cell, dict[str, int]]:
    """Let each method balance empty loads on each of its topologies, so that errors come first.

    Of an experiment the first trial is measured. Returns the bytes of a trial's figures.
    """
    sizes: dict[tuple[Topology, str, Distribution | None], dict[str, int]] = {}
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
            sizes[key] = {name: values.itemsize for name, values in found.items()}
        widths[cell] = sizes[key]
    return widths


def plan(
    study: Study,
    size: int | None = None,
    *,
    groups: Iterable[Group] | None = None,
    trials: range | None = None,
) -> Iterator[Chunk]:
    """Divide trials into chunks of ``size`` trials, or of a fitting size.

    All trials of all of the study's groups, or those ``trials`` of those ``groups``.
    """
    wanted = range(study.trials) if trials is None else trials
    for topology, loads in study.groups if groups is None else groups:
        methods = tuple(cell.method for cell in study.groups[topology, loads])
        step = size or TILE * max(1, CHUNK_LOADS // (TILE * topology.size))
        for start in wanted[::step]:
            count = min(step, wanted.stop - start)
            yield Chunk(topology, loads, methods, study.seed, start, count)


def run_chunk(chunk: Chunk) -> list[dict[str, NDArray[Any]]]:
    """Draw the loads of a chunk and balance them: for each method, a column a figure."""
    if isinstance(chunk.loads, Experiment):
        return [
            chunk.loads.measure(
                chunk.topology, method, seed=chunk.seed, start=chunk.start, trials=chunk.trials
            )
            for method in chunk.methods
        ]
    loads = sample_loads(
        chunk.loads, chunk.topology, trials=chunk.trials, seed=chunk.seed, start=chunk.start
    )
    return [
        figure_columns(_balanced(loads, chunk.topology, method), chunk.trials)
        for method in chunk.methods
    ]


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
        value = getattr(balance, name, None)
        if isinstance(value, dict):
            columns |= {f"{name}.{counter}": values for counter, values in value.items()}
        elif value is not None:
            columns[name] = value
    return {name: np.broadcast_to(values, (trials,)) for name, values in columns.items()}


def _balanced(loads: NDArray[np.int64], topology: Topology, method: str) -> Balance:
    name, options = parse_method(method)
    check_options(name, options)
    return balance(loads, topology, method=name, **options)


def _reporter(study: Study, progress: bool | Progress) -> Any:
    if callable(progress):
        return nullcontext(progress)
    total = study.trials * len(study.cells)
    return rows_bar(study.name, total) if progress else nullcontext(lambda done, total: None)


def _positive(name: str, value: int) -> int:
    number = _integer(name, value)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}")
    return number
