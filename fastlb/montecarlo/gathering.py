"""The trials of a study brought together: from a store as far as it has them, the others run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..reports.progress import rows_bar
from .chunks import plan
from .collecting import Outputs, Rows, Tallies
from .executors import in_process
from .grid import Cell
from .results import Results
from .stopping import rounds
from .study import Study

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .grid import Group
    from .keeper import Keeper

Progress = Callable[[int, int], object]
Watch = Callable[[Cell, Mapping[str, "NDArray[Any]"]], object]


def gather(
    study: Study,
    collected: Rows | Tallies,
    keeper: Keeper,
    executor: Executor | None = None,
    size: int | None = None,
    progress: bool | Progress = False,
    watch: Watch | None = None,
    available: Mapping[Group, int] | None = None,
) -> Results:
    """Return the results of all trials, which the keeper has or runs now, in ``kept``.

    With ``available``, of the first so many trials of each group: the others are missing.
    """
    handed = missing = 0
    tallies = collected if isinstance(collected, Tallies) else None
    all_columns = tallies is None or watch is not None or keeper.needs_columns
    outputs = Outputs(tallies, columns=all_columns)
    tallied = not (all_columns or in_process(executor))
    with _reporter(study, progress) as report:
        for groups, trials in rounds(study, collected):
            ahead = (study.trials - trials.start) * sum(len(study.groups[g]) for g in groups)
            total = handed + ahead
            report(min(keeper.done, total), total)
            shares = dict.fromkeys(groups, trials)
            if available is not None:
                for group in groups:
                    stop = min(max(available[group], trials.start), trials.stop)
                    shares[group] = range(trials.start, stop)
                    missing += (trials.stop - stop) * len(study.groups[group])
            chunks = chain.from_iterable(
                plan(study, size, groups=[group], trials=share, tallied=tallied)
                for group, share in shares.items()
            )
            last = groups[0]
            with closing(keeper.chunks(chunks, executor, outputs)) as parts:
                for part, by_method in parts:
                    if isinstance(collected, Rows):
                        collected.add(part.cells, by_method)
                    elif part.group != last:
                        collected.settle(last)
                        last = part.group
                    if watch is not None:
                        for cell, columns in zip(part.cells, by_method, strict=True):
                            watch(cell, columns)
                    handed += part.trials * len(part.methods)
                    # A store may hold more: from a run to a smaller target error.
                    report(min(keeper.done, total), total)
        report(handed, handed)
    return Results(study, collected, missing)


def _reporter(study: Study, progress: bool | Progress) -> Any:
    if callable(progress):
        return nullcontext(progress)
    total = study.trials * len(study.cells)
    return rows_bar(study.name, total) if progress else nullcontext(lambda done, total: None)
