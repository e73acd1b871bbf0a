"""The tasks of a DARMA/vt run, phase by phase, and the run's files with tasks on other ranks.

A task is an ``object`` of vt. Its memory is its footprint, and its working bytes while it runs.
Communications are those of type ``SendRecv`` between two objects of the phase; others, such as
broadcasts, do not depend on where tasks are. ``rank_alpha`` multiplies a rank's load, so that its
speed is ``1 / rank_alpha``.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import written
from ..extras import extra
from ..quantities import Number
from ..tasks.memory import TaskMemory
from .lbdata import by_rank, listed, phases_of, rank_of, read_document
from .taskset import TaskSet, number_column

# brotli's best compression, its default, takes ten times as long for a few percent.
_QUALITY = 6


@dataclass(frozen=True, eq=False)
class VtRun:
    """The files of a run, as they are.

    Attributes
    ----------
    source : str
        The folder or pattern.
    paths : list of Path
        A file a rank.
    documents : list of dict
        Their content.
    compressed : list of bool
        Whether a file was compressed with brotli.
    phases : list of dict
        Of every rank, its phases by number.
    """

    source: str
    paths: list[Path]
    documents: list[dict[str, Any]]
    compressed: list[bool]
    phases: list[dict[int, dict[str, Any]]]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the phases that the files hold, in ascending order."""
        return sorted(self.phases[0])

    def resolve(self, phase: int) -> int:
        """Return the phase in the files that a phase is equal to, itself or an earlier one.

        Raises
        ------
        ValueError
            If vt skipped the phase, or the run has none of this number.
        """
        if phase in self.phases[0]:
            return phase
        metadata = self.documents[0].get("metadata")
        known = metadata.get("phases") if isinstance(metadata, dict) else None
        known = known if isinstance(known, dict) else {}
        if _is_listed(known.get("identical_to_previous"), phase):
            earlier = [number for number in self.numbers if number < phase]
            if earlier:
                return earlier[-1]
        skipped = " (vt skipped it)" if _is_listed(known.get("skipped"), phase) else ""
        raise ValueError(
            f"phase must be one of {listed(self.numbers)} in {self.source}, got {phase}{skipped}"
        )

    def task_set(self, phase: int, *, ignore: Collection[str] = ()) -> TaskSet:
        """Return the tasks of a phase, by rank and in the order of the files.

        Parameters
        ----------
        phase : int
            One of ``numbers``.
        ignore : collection of str
            Entries to leave out: "rank_alpha", "communications", "memory".

        Raises
        ------
        ValueError
            If an entry breaks vt's rules; the message names file, phase and task.
        """
        reader = _PhaseReader()
        for rank, path in enumerate(self.paths):
            reader.add_tasks(f"{path} phase {phase}", rank, self.phases[rank][phase]["tasks"])
        if "communications" not in ignore:
            for path, phases in zip(self.paths, self.phases, strict=True):
                entries = phases[phase].get("communications", [])
                reader.add_communications(f"{path} phase {phase}", entries)
        weights = None if "rank_alpha" in ignore else self._speeds()
        return reader.task_set(self, phase, weights, with_memory="memory" not in ignore)

    def _speeds(self) -> list[Number] | None:
        """Return the ranks' speeds, or None where all are equal."""
        speeds: list[Number] = []
        for path, document in zip(self.paths, self.documents, strict=True):
            metadata = document.get("metadata")
            alpha = metadata.get("rank_alpha", 1) if isinstance(metadata, dict) else 1
            number = isinstance(alpha, int | float) and not isinstance(alpha, bool)
            if not number or not sys.float_info.min <= alpha <= 1 / sys.float_info.min:
                raise ValueError(
                    f"{path} must have a rank_alpha above 0 to compute a speed from, got "
                    f"{written(alpha)}: give --ignore rank_alpha to take all ranks as equal"
                )
            speeds.append(1 / Fraction(str(alpha)))
        return None if len(set(speeds)) == 1 else speeds

    def moved_files(self, owners: Mapping[int, NDArray[np.int64]]) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the content of every rank's file with tasks at new owners.

        A task that stays keeps its place; those that arrive follow, by the rank they come from.
        A communication moves with its sender. All else is as it was.

        Parameters
        ----------
        owners : mapping
            By phase the rank of every task, in the order of :meth:`task_set`. Phases that are
            not in it stay as they are.
        """
        tasks = {phase: self._moved_tasks(phase, owner) for phase, owner in owners.items()}
        for rank, (path, document) in enumerate(zip(self.paths, self.documents, strict=True)):
            phases = []
            for entry in document["phases"]:
                moved = tasks.get(entry["id"])
                phases.append(entry if moved is None else {**entry, **moved[rank]})
            try:
                text = json.dumps({**document, "phases": phases}, allow_nan=False)
            except ValueError:
                raise ValueError(
                    f"{path} must hold finite numbers to be written as JSON, got NaN or infinity"
                ) from None
            data = text.encode()
            if self.compressed[rank]:
                data = extra("brotli").compress(data, quality=_QUALITY)
            yield path.name, data

    def _moved_tasks(self, phase: int, owner: NDArray[np.int64]) -> list[dict[str, Any]]:
        """Return for every rank the entries of a phase that change."""
        ranks = owner.tolist()
        staying: list[list[Any]] = [[] for _ in self.paths]
        arriving: list[list[Any]] = [[] for _ in self.paths]
        rank_of: dict[Any, int] = {}
        position = 0
        for rank, phases in enumerate(self.phases):
            for task in phases[phase]["tasks"]:
                target = ranks[position]
                position += 1
                rank_of[_identity(task["entity"])] = target
                if target == rank:
                    staying[rank].append(task)
                else:
                    arriving[target].append({**task, "node": target})
        entries: list[dict[str, Any]] = [
            {"tasks": [*stay, *arrive]} for stay, arrive in zip(staying, arriving, strict=True)
        ]
        communications: list[list[Any]] = [[] for _ in self.paths]
        for rank, phases in enumerate(self.phases):
            listed_messages = phases[phase].get("communications", [])
            if not isinstance(listed_messages, list):
                return entries
            for message in listed_messages:
                communications[rank_of.get(_sender(message), rank)].append(message)
        for rank, messages in enumerate(communications):
            if messages or "communications" in self.phases[rank][phase]:
                entries[rank]["communications"] = messages
        return entries


def read_vt_run(
    paths: Iterable[Path], source: str, *, progress: Callable[[int], object] | None = None
) -> VtRun:
    """Read the files of a run, a file a rank, plain or compressed.

    Raises
    ------
    ValueError
        If a rank is missing or doubled, ranks differ in their phases, files are of several runs,
        or a file is no ``LBDatafile``; the message names the file.
    """
    listed_files = list(paths)
    prefixes = sorted({rank_of(path)[0] for path in listed_files})
    if len(prefixes) > 1:
        raise ValueError(f"{source} must be the files of one run, got {', '.join(prefixes[:4])}")
    files = by_rank(listed_files)
    documents, compressed, phases = [], [], []
    for rank, path in enumerate(files):
        document, is_compressed = read_document(path, rank)
        documents.append(document)
        compressed.append(is_compressed)
        phases.append(phases_of(path, document))
        if phases[rank].keys() != phases[0].keys():
            raise ValueError(
                f"{path} must have the phases of {files[0].name} ({listed(phases[0])}), "
                f"got {listed(phases[rank])}"
            )
        if progress is not None:
            progress(1)
    return VtRun(source, files, documents, compressed, phases)


class _PhaseReader:
    """Collects the tasks and communications of a phase, rank by rank."""

    def __init__(self) -> None:
        self.position: dict[Any, int] = {}
        self.names: dict[str, None] = {}
        self.owner: list[int] = []
        self.times: list[float] = []
        self.movable: list[bool] = []
        self.footprints: list[Number] = []
        self.blocks: list[int] = []
        self.block_bytes: dict[int, Number] = {}
        self.working: list[Number] = []
        self.of_rank: list[Number] = []
        self.has_memory = False
        self.edges: list[tuple[int, int]] = []
        self.edge_bytes: list[float] = []

    def add_tasks(self, place: str, rank: int, tasks: list[Any]) -> None:
        self.of_rank.append(0)
        for i, task in enumerate(tasks):
            self._add_task(f"{place} task {i}", rank, task)

    def _add_task(self, place: str, rank: int, task: Any) -> None:
        entity = task.get("entity") if isinstance(task, dict) else None
        identity = _identity(entity)
        if entity is None or identity is None:
            raise ValueError(
                f"{place} must have an entity with an integer id or seq_id, got {written(entity)}"
            )
        # Names are compared as well: a plan names tasks, and id 5 is not seq_id 5.
        name = _name(identity)
        if identity in self.position or name in self.names:
            raise ValueError(f"{place} must have an id of its own, got {name} again")
        movable = entity.get("migratable")
        if not isinstance(movable, bool):
            raise ValueError(f"{place} must say migratable, true or false, got {written(movable)}")
        if task.get("node", rank) != rank:
            raise ValueError(f"{place} must be on node {rank}, got {written(task['node'])}")
        self.position[identity] = len(self.owner)
        self.names[name] = None
        self.owner.append(rank)
        self.movable.append(movable)
        self.times.append(_number(place, "time", task.get("time")))
        self._add_memory(place, task)

    def _add_memory(self, place: str, task: dict[str, Any]) -> None:
        entries: dict[str, Any] = {}
        for key in ("attributes", "user_defined"):
            if isinstance(task.get(key), dict):
                entries |= task[key]
        sizes = {
            name: _number(place, name, entries[name])
            for name in (
                "task_footprint_bytes",
                "task_working_bytes",
                "rank_working_bytes",
                "shared_bytes",
            )
            if name in entries
        }
        self.has_memory = self.has_memory or bool(sizes)
        self.footprints.append(sizes.get("task_footprint_bytes", 0))
        self.working.append(sizes.get("task_working_bytes", 0))
        rank = self.owner[-1]
        self.of_rank[rank] = max(self.of_rank[rank], sizes.get("rank_working_bytes", 0))
        shared = entries.get("shared_id", -1)
        if not isinstance(shared, int) or isinstance(shared, bool):
            raise ValueError(f"{place} must have an integer shared_id, got {written(shared)}")
        if shared < 0:
            self.blocks.append(-1)
            return
        size = sizes.get("shared_bytes", 0)
        if self.block_bytes.setdefault(shared, size) != size:
            raise ValueError(
                f"{place} must give block {shared} the shared_bytes it had before, "
                f"{self.block_bytes[shared]:g}, got {size:g}"
            )
        self.blocks.append(shared)

    def add_communications(self, place: str, messages: Any) -> None:
        """Add the messages between tasks that are known, after all tasks were added."""
        if not isinstance(messages, list):
            raise ValueError(f"{place} must have a list of communications")
        for i, message in enumerate(messages):
            where = f"{place} communication {i}"
            if not isinstance(message, dict):
                raise ValueError(f"{where} must be an object, got {written(message)}")
            ends: list[Any] = [message.get("from"), message.get("to")]
            if not all(isinstance(end, dict) for end in ends):
                raise ValueError(f"{where} must have objects from and to, got {written(ends)}")
            if message.get("type") != "SendRecv":
                continue
            tasks = [
                self.position.get(_identity(end)) for end in ends if end.get("type") == "object"
            ]
            if len(tasks) == 2 and None not in tasks and tasks[0] != tasks[1]:
                self.edges.append((tasks[0], tasks[1]))  # type: ignore[arg-type]
                self.edge_bytes.append(_number(where, "bytes", message.get("bytes")))

    def task_set(
        self, run: VtRun, phase: int, weights: list[Number] | None, *, with_memory: bool
    ) -> TaskSet:
        memory = None
        if self.has_memory and with_memory:
            memory = TaskMemory(
                own=number_column(run.source, "task_footprint_bytes", self.footprints),
                block=self.blocks if self.block_bytes else None,
                block_bytes=self.block_bytes or None,
                working=number_column(run.source, "task_working_bytes", self.working),
                node=number_column(run.source, "rank_working_bytes", self.of_rank),
            )
        return TaskSet(
            run.source,
            "vt",
            list(self.names),
            list(map(str, range(len(run.paths)))),
            np.array(self.times, dtype=np.float64),
            np.array(self.owner, dtype=np.int64),
            np.array(self.movable, dtype=np.bool_),
            memory,
            np.array(self.edges, dtype=np.int64).reshape(-1, 2) if self.edges else None,
            np.array(self.edge_bytes) if self.edges else None,
            weights,
            phase,
        )


def _identity(entity: Any) -> tuple[Any, ...] | None:
    """Return what tells an object from all others of its phase, None if there is no such."""
    if not isinstance(entity, dict):
        return None
    number = entity.get("id")
    if isinstance(number, int) and not isinstance(number, bool):
        return ("id", number)
    number, collection = entity.get("seq_id"), entity.get("collection_id")
    whole = isinstance(number, int) and not isinstance(number, bool)
    if whole and (collection is None or isinstance(collection, int)):
        return ("seq_id", collection, number)
    return None


def _sender(message: Any) -> tuple[Any, ...] | None:
    """Return the identity of the object that sends a message, None if no object does."""
    sender = message.get("from") if isinstance(message, dict) else None
    is_object = isinstance(sender, dict) and sender.get("type") == "object"
    return _identity(sender) if is_object else None


def _name(identity: tuple[Any, ...]) -> str:
    if identity[0] == "id" or identity[1] is None:
        return str(identity[-1])
    return f"{identity[1]}:{identity[2]}"


def _number(place: str, what: str, value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= sys.float_info.max:
        raise ValueError(f"{place} must have a finite {what} of at least 0, got {written(value)}")
    return float(value)


def _is_listed(entries: Any, phase: int) -> bool:
    """Return whether a phase is in vt's ``{"list": [..], "range": [[first, last], ..]}``."""
    if not isinstance(entries, dict):
        return False
    singles, ranges = entries.get("list"), entries.get("range")
    if isinstance(singles, list) and phase in singles:
        return True
    return isinstance(ranges, list) and any(
        isinstance(pair, list) and len(pair) == 2 and _in_range(pair, phase) for pair in ranges
    )


def _in_range(pair: list[Any], phase: int) -> bool:
    first, last = pair
    numbers = all(isinstance(end, int | float) and math.isfinite(end) for end in pair)
    return numbers and bool(first <= phase <= last)
