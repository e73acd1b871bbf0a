"""Running a study: its trials in chunks, on threads or on any executor, with the same results."""

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
from .measuring import dry_run
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
    """Run a study and return one row of figures per trial, or only their summaries.

    The results depend on the study alone: not on ``executor``, ``threads`` or ``chunk``, and not
    on how often the run was killed and resumed.

    Parameters
    ----------
    study : Study
    executor : concurrent.futures.Executor, optional
        Runs the chunks of trials: a process pool, or the executor of a cluster. Methods
        registered by the caller must be registered there too. If ``rows`` is False, its processes
        send back statistics alone, unless a store or ``watch`` needs the figures.
    threads : int
        Number of threads of this process, if there is no executor.
    chunk : int, optional
        Number of trials in a chunk.
    rows : bool
        If False, the results have no rows, and memory does not grow with the trials: their figures
        are added up where they are run, and merged exactly. Quantiles are then counted in bins, to
        within ``Statistic.quantile_error``; all else is the same. A store has the rows in any
        case.
    store : path, optional
        A folder where the trials are stored as Parquet files, which ``pandas.read_parquet(store)``
        reads. The run may be killed at any moment: trials that were reported to ``progress`` are
        safe.
    resume : bool
        Whether to go on with the trials of the same study in ``store``. There may be none yet, or
        fewer trials, or trials of a run with another ``target_error``. Methods are compared by
        names and options; of a registered function whose own source has changed a warning tells.
    progress : bool or callable
        True shows a bar on a terminal. A callable is called with the number of rows done and the
        number of all rows, which becomes less if a study stops early.
    watch : callable, optional
        Called with a ``Cell`` and its figures, a dict of arrays, for each combination as trials
        are done, in the order of the trials. Trials in a store are read for it.

    Returns
    -------
    Results

    Raises
    ------
    ValueError, TypeError
        If a method does not fit a topology, or an option is unknown or wrong: each method
        balances empty loads on each topology before the first trial is drawn. Also if the store
        holds another study, or was written by another version.
    OverflowError
        If a trial's loads have a total that does not fit int64.
    MemoryError
        If the rows of all trials plainly do not fit in memory.
    OSError
        If the store exists and ``resume`` is False, is in use, or cannot be written.
    ExecutorError
        If the executor died or keeps losing chunks; the trials in the store stay there.

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
    target = None if store is None else folder("store", store)
    size = None if chunk is None else _positive("chunk", chunk)
    with_rows, resumed = yes_or_no("rows", rows), yes_or_no("resume", resume)
    if resumed and store is None:
        raise ValueError("resume needs a store")
    if not (isinstance(progress, bool | np.bool_) or callable(progress)):
        raise TypeError(f"progress must be True, False or a function, got {progress!r}")
    if not (watch is None or callable(watch)):
        raise TypeError(f"watch must be a function, got {watch!r}")
    layout = dry_run(study)
    check_targets(study, (name for figures in layout.values() for name in figures))
    collected = collector(study, layout, rows=with_rows)
    with (
        open_store(target, study, layout, resume=resumed) as storage,
        _thread_pool(workers) as pool,
    ):
        return gather(study, collected, storage, executor or pool, size, progress, watch)


@contextmanager
def _thread_pool(workers: int) -> Iterator[Executor | None]:
    """Yield a pool of threads, or None for a single one; an interrupt stops their kernels."""
    if workers == 1:
        yield None
        return
    ended, end_with = threading.Event(), kernels("shared.interrupts").end_with
    with ThreadPoolExecutor(workers, initializer=end_with, initargs=(ended,)) as pool:
        try:
            yield pool
        except BaseException:
            ended.set()
            raise


def _positive(name: str, value: int) -> int:
    number = integer(name, value)
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}")
    return number
