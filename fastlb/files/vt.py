"""Loads from the files of DARMA/vt runs: one ``PREFIX.RANK.json`` a processor (``LBDatafile``)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import written
from .lbdata import by_rank, listed, phases_of, read_document


@dataclass(frozen=True)
class TaskLoads:
    """Task times summed per processor; ``P`` phases, ``N`` ranks.

    Attributes
    ----------
    loads : (P, N) float64
    phases : P phase numbers, ascending
    tasks : number of tasks in all
    """

    loads: NDArray[np.float64]
    phases: tuple[int, ...]
    tasks: int


def read_task_loads(
    paths: Iterable[Path], *, progress: Callable[[int], object] | None = None
) -> TaskLoads:
    """Sum the task times of every rank and phase.

    A processor's load is the sum of its tasks' times, whether they may migrate or not. Phases
    that a file's metadata only name (skipped, identical to the previous one) are not added.

    Parameters
    ----------
    paths : iterable of Path
        One file a rank, ranks ``0 .. N-1`` in any order.
    progress : callable, optional
        Called with 1 after each file.

    Raises
    ------
    ValueError
        If a rank is missing or doubled, ranks differ in their phases, or a file is no
        ``LBDatafile``; the message names the file.
    """
    files = by_rank(paths)
    sums: list[dict[int, float]] = []
    tasks = 0
    for rank, path in enumerate(files):
        phases, count = _read_rank(path, rank)
        if sums and phases.keys() != sums[0].keys():
            raise ValueError(
                f"{path} must have the phases of {files[0].name} ({listed(sums[0])}), "
                f"got {listed(phases)}"
            )
        sums.append(phases)
        tasks += count
        if progress is not None:
            progress(1)
    numbers = sorted(sums[0])
    loads = np.array([[phases[p] for phases in sums] for p in numbers], dtype=np.float64)
    return TaskLoads(loads, tuple(numbers), tasks)


def _read_rank(path: Path, rank: int) -> tuple[dict[int, float], int]:
    """Return the summed times by phase, and the number of tasks, of one checked file."""
    content, _ = read_document(path, rank)
    sums: dict[int, float] = {}
    count = 0
    for number, phase in phases_of(path, content).items():
        times = [_time(path, number, i, task) for i, task in enumerate(phase["tasks"])]
        try:
            sums[number] = math.fsum(times)
        except OverflowError:
            raise OverflowError(
                f"{path} must have task times with a sum that fits float64, "
                f"got more in phase {number}"
            ) from None
        count += len(times)
    return sums, count


def _time(path: Path, phase: int, position: int, task: Any) -> float:
    time: Any = task.get("time") if isinstance(task, dict) else None
    number = isinstance(time, int | float) and not isinstance(time, bool)
    if not number or not 0 <= time <= sys.float_info.max:
        raise ValueError(
            f"{path} must have finite task times of at least 0, "
            f"got {written(time)} in phase {phase}, task {position}"
        )
    return float(time)
