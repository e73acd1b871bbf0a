"""Loads from the files of DARMA/vt runs: one ``PREFIX.RANK.json`` a processor (``LBDatafile``)."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

_NAME = re.compile(r"(?P<prefix>.+)\.(?P<rank>[+-]?\d+)\.json")
LARGEST_RANK = 10**9 - 1
# If more ranks are missing than this, the number in the largest name is hardly a rank.
MISSING_LISTED = 10**4


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


def folder_files(folder: Path) -> list[Path]:
    """Return the data files of the one run that a folder holds.

    Raises
    ------
    ValueError
        If there are none, they are compressed, or they belong to several runs.
    """
    entries = sorted(folder.iterdir())
    paths = [path for path in entries if _NAME.fullmatch(path.name)]
    _refuse_compressed(entries)
    if not paths:
        raise ValueError(f"{folder} holds no PREFIX.RANK.json files, got {len(entries)} entries")
    prefixes = sorted({_name(path)[0] for path in paths})
    if len(prefixes) > 1:
        raise ValueError(
            f"{folder} holds the files of {len(prefixes)} runs ({', '.join(prefixes[:4])}): "
            f"choose one, such as '{folder / prefixes[0]}.*.json'"
        )
    return paths


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
    files = _by_rank(list(paths))
    sums: list[dict[int, float]] = []
    tasks = 0
    for rank, path in enumerate(files):
        phases, count = _read_rank(path, rank)
        if sums and phases.keys() != sums[0].keys():
            raise ValueError(
                f"{path} must have the phases of {files[0].name} ({_listed(sums[0])}), "
                f"got {_listed(phases)}"
            )
        sums.append(phases)
        tasks += count
        if progress is not None:
            progress(1)
    numbers = sorted(sums[0])
    loads = np.array([[phases[p] for phases in sums] for p in numbers], dtype=np.float64)
    return TaskLoads(loads, tuple(numbers), tasks)


def _by_rank(paths: list[Path]) -> list[Path]:
    _refuse_compressed(paths)
    by_rank: dict[int, Path] = {}
    for path in paths:
        rank = _name(path)[1]
        if rank in by_rank:
            raise ValueError(f"rank {rank} must have one file, got {by_rank[rank]} and {path}")
        by_rank[rank] = path
    last = max(by_rank)
    missing = last + 1 - len(by_rank)
    if missing > MISSING_LISTED:
        raise ValueError(
            f"{by_rank[last]} is named as rank {last}, which must be below the number of files, "
            f"got {len(by_rank)}"
        )
    if missing:
        raise ValueError(
            f"{by_rank[last].parent} must hold a file for every rank 0..{last}, "
            f"missing {_listed(set(range(last)) - by_rank.keys())}"
        )
    return [by_rank[rank] for rank in range(len(by_rank))]


def _name(path: Path) -> tuple[str, int]:
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise ValueError(f"{path} must be named PREFIX.RANK.json, such as data.0.json")
    # The length is checked before int(), which refuses thousands of digits with another message.
    rank = match["rank"].lstrip("0") or "0"
    if not rank.isdecimal() or len(rank) > len(str(LARGEST_RANK)):
        raise ValueError(f"{path} must be named by a rank from 0 to {LARGEST_RANK}")
    return match["prefix"], int(rank)


def _refuse_compressed(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.name.endswith(".json.br"):
            raise ValueError(
                f"{path} is compressed with brotli: decompress it first (brotli -d FILE), "
                f"or run vt with --vt_lb_data_compress=false"
            )


def _read_rank(path: Path, rank: int) -> tuple[dict[int, float], int]:
    """Return the summed times by phase, and the number of tasks, of one checked file."""
    try:
        content = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise ValueError(f"{path} is cut off or no JSON: {error.msg} at {where}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no JSON: not UTF-8 text") from None
    except RecursionError:
        raise ValueError(f"{path} is no LBDatafile: nested too deeply") from None
    except ValueError:
        raise ValueError(f"{path} must hold numbers that fit float64, got a longer one") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is no LBDatafile: got a JSON {type(content).__name__}")
    metadata = content.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    kind = content.get("type", metadata.get("type", "LBDatafile"))
    if kind != "LBDatafile":
        raise ValueError(f"{path} must have type 'LBDatafile', got {kind!r}")
    if metadata.get("rank", rank) != rank:
        raise ValueError(f"{path} must be of rank {rank}, its metadata say {metadata['rank']!r}")
    phases = content.get("phases")
    if not isinstance(phases, list) or not phases:
        raise ValueError(f"{path} must have a list of phases, got {written(phases)}")
    sums: dict[int, float] = {}
    count = 0
    for phase in phases:
        number, times = _phase(path, phase)
        if number in sums:
            raise ValueError(f"{path} must have every phase once, got phase {number} twice")
        try:
            sums[number] = math.fsum(times)
        except OverflowError:
            raise OverflowError(
                f"{path} must have task times with a sum that fits float64, "
                f"got more in phase {number}"
            ) from None
        count += len(times)
    return sums, count


def _phase(path: Path, phase: Any) -> tuple[int, list[float]]:
    number = phase.get("id") if isinstance(phase, dict) else None
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError(f"{path} must give every phase an integer id, got {written(phase)}")
    tasks = phase.get("tasks")
    if not isinstance(tasks, list):
        raise ValueError(f"{path} must list the tasks of phase {number}, got {written(tasks)}")
    return number, [_time(path, number, i, task) for i, task in enumerate(tasks)]


def _time(path: Path, phase: int, position: int, task: Any) -> float:
    time: Any = task.get("time") if isinstance(task, dict) else None
    number = isinstance(time, int | float) and not isinstance(time, bool)
    if not number or not 0 <= time <= sys.float_info.max:
        raise ValueError(
            f"{path} must have finite task times of at least 0, "
            f"got {written(time)} in phase {phase}, task {position}"
        )
    return float(time)


def _listed(numbers: Iterable[int]) -> str:
    listed = sorted(numbers)
    shown = ", ".join(map(str, listed[:6]))
    return shown + (f" and {len(listed) - 6} more" if len(listed) > 6 else "")
