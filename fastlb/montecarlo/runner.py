"""Running a study: trials in chunks, on threads or on any executor, the same bits everywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..accelerate import kernels
from ..arguments import folder, integer, yes_or_no
from .collecting import collector
from .gathering import Progress, Watch, gather
from .measuring import rehearse
from .results import Results
from .stopping import check_targets
from .store import open_store
from .study import Study


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
        registered by the caller must be registered there too. Without rows its processes send
        back statistics alone, unless a store or ``watch`` needs the figures.
    threads : int
        Without an executor: threads of this process.
    chunk : int, optional
        Trials handed out at a time.
    rows : bool
        False keeps no rows: memory does not grow with the trials, whose figures are added up
        where they are run, and merged exactly. Quantiles are then counted in bins, to within
        ``Statistic.quantile_error``; all else is the same. A store has the rows all the same.
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
    kept_in = None if store is None else folder("store", store)
    size = None if chunk is None else _positive("chunk", chunk)
    with_rows, resumed = yes_or_no("rows", rows), yes_or_no("resume", resume)
    if resumed and store is None:
        raise ValueError("resume needs a store")
    if not (isinstance(progress, bool | np.bool_) or callable(progress)):
        raise TypeError(f"progress must be True, False or a function, got {progress!r}")
    if not (watch is None or callable(watch)):
        raise TypeError(f"watch must be a function, got {watch!r}")
    layout = rehearse(study)
    check_targets(study, (name for figures in layout.values() for name in figures))
    collected = collector(study, layout, rows=with_rows)
    with (
        open_store(kept_in, study, layout, resume=resumed) as keeper,
        _threads(workers) as own,
    ):
        return gather(study, collected, keeper, executor or own, size, progress, watch)


@contextmanager
def _threads(workers: int) -> Iterator[Executor | None]:
    """Yield a pool of threads, none for a single one; an interrupt ends what they are at."""
    if workers == 1:
        yield None
        return
    ended, end_with = threading.Event(), kernels("shared.interrupts").end_with
    with ThreadPoolExecutor(workers, initializer=end_with, initargs=(ended,)) as own:
        try:
            yield own
        except BaseException:
            ended.set()
            raise


def _positive(name: str, value: int) -> int:
    number = integer(name, value)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}")
    return number
