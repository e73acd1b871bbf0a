"""Tasks from files of any form, and the same files with the tasks on other nodes."""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .lbdata import folder_files, is_rank_file
from .nodeweights import read_node_weights
from .taskset import TaskSet
from .tasktables import TaskTable, read_task_table, sorted_names
from .vttasks import VtRun, read_vt_run

TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet")
_KINDS = (
    "one table task,node,load in .csv or .parquet, "
    "or one folder or a list of vt PREFIX.RANK.json files"
)


@dataclass(frozen=True, eq=False)
class TaskFile:
    """Files of tasks that were read; a table has one phase without a number.

    Attributes
    ----------
    content : VtRun or TaskTable
        What was read, as it is.
    phases : list of TaskSet
        The tasks, phase by phase.
    """

    content: VtRun | TaskTable
    phases: list[TaskSet]

    @property
    def source(self) -> str:
        return self.content.source

    def moved_files(self, owners: Sequence[NDArray[np.int64]]) -> Mapping[str, bytes]:
        """Return the files by name with the tasks of every phase at new owners."""
        if isinstance(self.content, VtRun):
            by_phase: dict[int, NDArray[np.int64]] = {}
            for tasks, owner in zip(self.phases, owners, strict=True):
                assert tasks.phase is not None
                by_phase[tasks.phase] = owner
            return dict(self.content.moved_files(by_phase))
        (tasks,), (owner,) = self.phases, owners
        names = [tasks.nodes[node] for node in owner.tolist()]
        return {Path(self.content.source).name: self.content.moved(names)}


def read_task_file(
    paths: Sequence[str | Path],
    *,
    phase: int | None = None,
    nodes: Sequence[str] | None = None,
    column: str | None = None,
    ignore: Sequence[str] = (),
    weights: str | Path | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> TaskFile:
    """Read tasks from a table, or from the files of a vt run.

    Parameters
    ----------
    paths : sequence of str or Path
        One ``.csv``, ``.tsv`` or ``.parquet`` file, one folder or pattern, or vt files.
    phase : int, optional
        vt: read this phase alone, or the earlier one that it is identical to.
    nodes : sequence of str, optional
        Names of all nodes. Default: those with tasks, or the ranks.
    column, ignore : optional
        Tables: the column of the load, and columns to leave out. vt: "rank_alpha",
        "communications" or "memory" leaves these out.
    weights : str or Path, optional
        A file of the speeds of nodes, in a form that
        :func:`~fastlb.files.nodeweights.read_weight_file` reads. Nodes that it names are there
        even if they have no task; ``ignore`` may name its columns as well.
    progress : callable, optional
        Called as ``progress(files read, files in all)``.

    Raises
    ------
    ValueError
        If a file cannot be read as what it says it is; the message names it.
    OSError
        If a file is not there or not readable.
    """
    speeds = None
    columns: tuple[str, ...] = ()
    if weights is not None:
        speeds = read_node_weights(weights, nodes or (), ignore=ignore)
        columns = speeds.labels
        if nodes is None and speeds.names is not None:
            nodes = sorted_names(speeds.names)
    file = _read(paths, phase, nodes, column, ignore, columns, progress)
    if speeds is None:
        return file
    phases = []
    for tasks in file.phases:
        if tasks.weights is not None:
            raise ValueError(
                f"weights and rank_alpha both say how fast nodes are, got {weights} for "
                f"{file.source}: give --ignore rank_alpha to use {weights}"
            )
        phases.append(replace(tasks, weights=speeds.of(tasks.nodes, file.source)))
    return TaskFile(file.content, phases)


def _read(
    paths: Sequence[str | Path],
    phase: int | None,
    nodes: Sequence[str] | None,
    column: str | None,
    ignore: Sequence[str],
    columns: Sequence[str],
    progress: Callable[[int, int], object] | None,
) -> TaskFile:
    """Read tasks; ``columns`` of another file are no columns of theirs that are missing."""
    files = [path for item in paths for path in _expanded(str(item))]
    if len(files) == 1 and files[0].suffix.lower() in TABLE_SUFFIXES and not files[0].is_dir():
        if phase is not None:
            raise ValueError(f"phase must be left out for tables, got {phase} for {files[0]}")
        table = read_task_table(files[0], column=column, ignore=ignore, other=columns)
        return TaskFile(table, [table.task_set(nodes)])
    if column is not None:
        raise ValueError(f"column must be left out for vt data, got {column!r}")
    source = str(paths[0]) if len(paths) == 1 else f"{len(files)} files in {files[0].parent}"
    ignore = [name for name in ignore if name not in columns]
    return _read_vt(files, source, phase, nodes, ignore, progress)


def _read_vt(
    files: list[Path],
    source: str,
    phase: int | None,
    nodes: Sequence[str] | None,
    ignore: Sequence[str],
    progress: Callable[[int, int], object] | None,
) -> TaskFile:
    if len(files) == 1 and files[0].is_dir():
        files = folder_files(files[0])
    for path in files:
        if path.is_dir() or not is_rank_file(path):
            several = f" as one of {len(files)}" if len(files) > 1 else ""
            raise ValueError(f"tasks must be {_KINDS}, got {path}{several}")
    unknown = [name for name in ignore if name not in ("rank_alpha", "communications", "memory")]
    if unknown:
        raise ValueError(
            f"ignore must be rank_alpha, communications or memory for vt data, got {unknown[0]!r}"
        )
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, len(files))

    run = read_vt_run(files, source, progress=count)
    if nodes is not None and len(nodes) != len(run.paths):
        raise ValueError(
            f"{source} must have a file for each of {len(nodes)} nodes, got {len(run.paths)} ranks"
        )
    numbers = run.numbers if phase is None else [run.resolve(phase)]
    return TaskFile(run, [run.task_set(number, ignore=ignore) for number in numbers])


def _expanded(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.exists():
        return [path]
    if not glob.has_magic(pattern):
        raise FileNotFoundError(2, "no such file or folder", pattern)
    matches = sorted(Path(match) for match in glob.glob(pattern, recursive=True))  # noqa: PTH207
    if not matches:
        raise ValueError(f"no file matches {pattern!r}")
    return matches
