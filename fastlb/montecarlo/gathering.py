"""Gathering the trials of a study: those of a store are read, the others are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..reports.progress import rows_bar
from .chunks import divide
from .collecting import Outputs, Rows, Tallies
from .executors import in_process
from .grid import Cell
from .results import Results
from .stopping import trial_ranges
from .study import Study

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .grid import Group
    from .storage import Storage

Progress = Callable[[int, int], object]
Watch = Callable[[Cell, Mapping[str, "NDArray[Any]"]], object]


def gather(
    study: Study,
    collected: Rows | Tallies,
    storage: Storage,
    executor: Executor | None = None,
    size: int | None = None,
    progress: bool | Progress = False,
    watch: Watch | None = None,
    available: Mapping[Group, int] | None = None,
) -> Results:
    """Add all trials of a study to ``collected`` and return the results.

    Parameters
    ----------
    study : Study
    collected : Rows or Tallies
    storage : Storage
        What reads the trials or runs them.
    executor, size, progress, watch
        As for :func:`fastlb.run`; ``size`` is its ``chunk``.
    available : mapping, optional
        By group, how many trials the storage has from the first on. The others are not run, and
        the results count them as missing.
    """
    tallies = collected if isinstance(collected, Tallies) else None
    columns = tallies is None or watch is not None or storage.needs_columns
    outputs = Outputs(tallies, columns)
    tallied = not (columns or in_process(executor))
    rows = missing = 0
    with _reporter(study, progress) as report:
        for groups, trials in trial_ranges(study, collected):
            ranges = {group: _available(trials, group, available) for group in groups}
            missing += sum(
                (len(trials) - len(ranges[group])) * len(study.groups[group]) for group in groups
            )
            cells = sum(len(study.groups[group]) for group in groups)
            total = rows + (study.trials - trials.start) * cells
            # A store may have more rows than the run needs: those of a smaller target error.
            report(min(storage.done, total), total)
            chunks = chain.from_iterable(
                divide(study, size, groups=[group], trials=ranges[group], tallied=tallied)
                for group in groups
            )
            previous = groups[0]
            with closing(storage.chunks(chunks, executor, outputs)) as measured:
                for chunk, by_method in measured:
                    if isinstance(collected, Rows):
                        collected.add(chunk.cells, by_method)
                    elif chunk.group != previous:
                        collected.merge_threads(previous)
                        previous = chunk.group
                    if watch is not None:
                        for cell, figures in zip(chunk.cells, by_method, strict=True):
                            watch(cell, figures)
                    rows += chunk.rows
                    report(min(storage.done, total), total)
        report(rows, rows)
    return Results(study, collected, missing)


def _available(trials: range, group: Group, available: Mapping[Group, int] | None) -> range:
    """Return those of some trials of a group that are available."""
    if available is None:
        return trials
    return range(trials.start, min(max(available[group], trials.start), trials.stop))


def _reporter(study: Study, progress: bool | Progress) -> Any:
    """Return a context manager that yields what is called with the rows done and in all."""
    if callable(progress):
        return nullcontext(progress)
    total = study.trials * len(study.cells)
    return rows_bar(study.name, total) if progress else nullcontext(lambda done, total: None)
