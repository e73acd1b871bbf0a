"""Running a study: trials in chunks, on threads or on any executor, the same bits everywhere."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..errors import ExecutorError
from ..exchange.result import RECORDED_WITH
from ..memory import require_memory
from ..random_loads.distributions import Distribution, Experiment
from ..random_loads.sampling import sample_loads
from ..registry import balance, check_options
from ..reports.progress import rows_bar
from ..topologies.topology import Topology, _integer
from .collecting import Rows, Tallies
from .results import Results
from .stopping import check_targets, rounds
from .store import open_store
from .study import Cell, Group, Study, parse_method
from .trials import measure_in_tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .keeper import Keeper
    from .parts import Layout

FIGURES = tuple(name for name, level in RECORDED_WITH.items() if level == "metrics")

# Kernels work on tiles of 64 trials. A chunk of 2**19 loads, 4 MiB where they lie in rows, is a
# millisecond of work or more, and the Python around it, 30 microseconds, does not show.
TILE = 64
CHUNK_LOADS = 2**19

# What is handed to an executor ahead of the chunk waited for. A cluster has many workers, whose
# results may all come before that one; a pool of this machine only has to be kept busy while a part
# of a store is written. In rows of results, some 100 bytes each; and in chunks, at least and most.
CLUSTER_AHEAD = 2**22
POOL_AHEAD = 2**18
LEAST_AHEAD = 4 * (os.cpu_count() or 1)
MOST_AHEAD = 1024

# Times that a chunk is sent once more after a cluster has lost it.
RETRIES = 3

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
    store: str | Path | None = None,
    resume: bool = False,
    progress: bool | Progress = False,
    watch: Watch | None = None,
) -> Results:
    """Run a study and return one row of figures a trial, or their summaries alone.

    The results depend on the study alone: not on ``executor``, ``threads`` or ``chunk``, and not
    on how often the run was killed and resumed.

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
        bins, to within ``Statistic.quantile_error``; all else is the same. A store has the rows
        all the same.
    store : path, optional
        A folder that keeps the trials that are done, as Parquet files. Killed at any moment, the
        run loses none that ``progress`` was told of. ``pandas.read_parquet(store)`` reads them.
    resume : bool
        Go on with what ``store`` holds of the same study: with nothing yet, with fewer trials, or
        with trials to another ``target_error``.
    progress : bool or callable
        True shows a bar on a terminal; a callable gets the rows done and the rows in all, which
        become fewer where a study stops early.
    watch : callable, optional
        Gets each combination's figures, as they come in, in the order of the trials: a ``Cell``
        and a column a figure. Those that a store holds are read for it.

    Returns
    -------
    Results

    Raises
    ------
    ValueError, TypeError
        If a method does not fit a topology, or an option is unknown or wrong: each method has
        balanced empty loads on each topology before the first trial is drawn. If the store holds
        another study, or one of another version.
    OverflowError
        If a trial's loads have a total that does not fit int64.
    MemoryError
        If the rows of all trials plainly do not fit in memory.
    OSError
        If the store is there already and ``resume`` is not given, is in use, or cannot be written.
    ExecutorError
        If the executor died or keeps losing chunks; what is in the store stays there.

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
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
    if store is not None and not isinstance(store, str | os.PathLike):
        raise TypeError(f"store must be the path of a folder, got {store!r}")
    size = None if chunk is None else _positive("chunk", chunk)
    if resume and store is None:
        raise ValueError("resume needs a store")
    layout = rehearse(study)
    check_targets(study, (name for figures in layout.values() for name in figures))
    kept = collector(study, layout, rows=rows)
    own = ThreadPoolExecutor(workers) if workers > 1 else None
    with open_store(store, study, layout, resume=resume) as keeper, own or nullcontext():
        return collect(study, kept, keeper, executor or own, size, progress, watch)


def collector(study: Study, layout: Layout, *, rows: bool) -> Rows | Tallies:
    """Return what takes the trials: of a table, once it is known to fit in memory."""
    if not rows:
        return Tallies(study)
    row = sum(dtype.itemsize for figures in layout.values() for dtype in figures.values())
    table = study.trials * row
    require_memory(2 * table, f"the table of {study.trials:,} trials")  # in chunks, then joined
    return Rows(study)


def collect(
    study: Study,
    kept: Rows | Tallies,
    keeper: Keeper,
    executor: Executor | None = None,
    size: int | None = None,
    progress: bool | Progress = False,
    watch: Watch | None = None,
) -> Results:
    """Return the results of all trials, which the keeper has or runs now."""
    handed = 0
    with _reporter(study, progress) as report:
        for groups, trials in rounds(study, kept):
            ahead = (study.trials - trials.start) * sum(len(study.groups[g]) for g in groups)
            total = handed + ahead
            report(min(keeper.done, total), total)
            chunks = plan(study, size, groups=groups, trials=trials)
            with closing(keeper.chunks(chunks, executor)) as parts:
                for part, found in parts:
                    cells = [Cell(part.topology, method, part.loads) for method in part.methods]
                    kept.add(cells, found)
                    if watch is not None:
                        for cell, columns in zip(cells, found, strict=True):
                            watch(cell, columns)
                    handed += part.trials * len(cells)
                    # A store may hold more: from a run to a smaller target error.
                    report(min(keeper.done, total), total)
        report(handed, handed)
    return Results(study, kept)


def rehearse(study: Study) -> Layout:
    """Let each method balance empty loads on each of its topologies, so that errors come first.

    Of an experiment the first trial is measured. Returns the dtype of each figure.
    """
    known: dict[tuple[Topology, str, Distribution | None], dict[str, np.dtype[Any]]] = {}
    layout = {}
    for cell in study.cells:
        topology, method = cell.topology, cell.method
        experiment = cell.loads if isinstance(cell.loads, Experiment) else None
        key = topology, method, experiment
        if key not in known:
            try:
                if experiment is None:
                    require_memory(8 * topology.size, f"a trial on {topology.spec}")
                    empty = np.zeros((1, *topology.shape), dtype=np.int64)
                    found = figure_columns(_balanced(empty, topology, method), 1)
                else:
                    found = experiment.measure(topology, method, seed=study.seed, start=0, trials=1)
            except (ValueError, TypeError) as error:
                kind = ValueError if isinstance(error, ValueError) else TypeError
                raise kind(f"{method} on {topology.spec}: {error}") from error
            known[key] = {name: values.dtype for name, values in found.items()}
        layout[cell] = known[key]
    return layout


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
    """Run chunks here, or on an executor, and yield each with its columns, in order.

    A chunk that the executor lost is sent again: it depends on nothing but itself.

    Raises
    ------
    ExecutorError
        If the executor is broken, or loses the same chunk again and again.
    """
    if executor is None:
        for chunk in chunks:
            yield chunk, run_chunk(chunk)
        return
    here = isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)
    most = POOL_AHEAD if here else CLUSTER_AHEAD
    waiting = iter(chunks)
    sent: deque[tuple[Chunk, Sent]] = deque()
    rows = 0
    try:
        while True:
            while len(sent) < LEAST_AHEAD or (rows < most and len(sent) < MOST_AHEAD):
                following = next(waiting, None)
                if following is None:
                    break
                sent.append((following, _send(executor, following)))
                rows += following.trials * len(following.methods)
            if not sent:
                return
            first, future = sent.popleft()
            rows -= first.trials * len(first.methods)
            yield first, _received(executor, first, future)
    finally:
        for _, future in sent:
            future.cancel()


def run_elsewhere(chunk: Chunk, version: str) -> list[dict[str, NDArray[Any]]] | Exception:
    """Run a chunk for a process that may be of another version, whose results could differ.

    An error of the chunk is returned: those that are raised are the executor's own.
    """
    if version != __version__:
        return ExecutorError(
            f"fastlb must be {version} on all workers, as where the study is run; got {__version__}"
        )
    try:
        return run_chunk(chunk)
    except Exception as error:
        return error


Sent = Future[list[dict[str, "NDArray[Any]"]] | Exception]


def _send(executor: Executor, chunk: Chunk) -> Sent:
    try:
        return executor.submit(run_elsewhere, chunk, __version__)
    except Exception as error:  # of whatever kind each sort of executor has for it
        raise ExecutorError(f"the executor takes no more work: {error}") from error


def _received(executor: Executor, chunk: Chunk, future: Sent) -> list[dict[str, NDArray[Any]]]:
    losses = 0
    while True:
        try:
            found = future.result()
            break
        except Exception as error:
            losses += 1
            if losses > RETRIES:
                raise ExecutorError(
                    f"the executor lost the trials from {chunk.start} on {chunk.topology.spec} "
                    f"{losses} times: {str(error) or type(error).__name__}"
                ) from error
        future = _send(executor, chunk)
    if isinstance(found, Exception):
        raise found
    return found


def figure_columns(recorded: Mapping[str, Any], trials: int) -> dict[str, NDArray[Any]]:
    """Return the figures that a method recorded, one value a trial; counters as ``counts.name``."""
    columns: dict[str, Any] = {}
    for name in FIGURES:
        value = recorded.get(name)
        if isinstance(value, dict):
            columns |= {f"{name}.{counter}": values for counter, values in value.items()}
        elif value is not None:
            columns[name] = value
    return {
        name: values if np.shape(values) == (trials,) else np.broadcast_to(values, (trials,))
        for name, values in columns.items()
    }


def _balanced(loads: NDArray[np.int64], topology: Topology, method: str) -> dict[str, Any]:
    """Return the figures that a method records of these loads."""
    name, options = parse_method(method)
    check_options(name, options)
    found = balance(loads, topology, method=name, **options)
    return {figure: getattr(found, figure, None) for figure in FIGURES}


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
