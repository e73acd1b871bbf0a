"""Assignments of tasks as JSON documents, and their use on the same tasks later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..flows.plan import plain
from .textfiles import read_json, refuse

if TYPE_CHECKING:
    from ..rounds.result import Rounds
    from ..tasks.assignment import Assignment
    from .taskfiles import TaskFile
    from .taskset import TaskSet

ASSIGNMENT_SCHEMA = "fastlb.assignment"
ASSIGNMENT_SCHEMA_VERSION = 1


def assignment_document(
    file: TaskFile,
    assignments: Sequence[Assignment],
    options: dict[str, Any],
    rounds: Sequence[Rounds | None],
) -> dict[str, Any]:
    """Return assignments, one for each phase, as one JSON object.

    Entries: ``schema`` ("fastlb.assignment") and ``version`` (1) of its form, ``fastlb`` (the
    library's version), ``input`` (source, kind), ``options``, and ``phases``, a list of objects:

    - ``phase``: its number, null for a table;
    - ``content``: SHA-256 of the tasks, by which ``--apply`` recognises them;
    - ``status``: "optimal", "feasible", "stuck" or "infeasible";
    - ``largest``, ``bound``, ``gap``: largest load afterwards, what it cannot be below, and
      ``largest / bound - 1``; loads are divided by the speed of their node here;
    - ``moved``, ``hops``: load that changes its node, and links that tasks take;
    - ``remote_before``, ``remote_after``: bytes between nodes, null without communications;
    - ``rounds``: how many there are, null unless asked for;
    - ``nodes``: name, load before and after, and where speeds differ the ``speed``;
    - ``moves``: task, from, to, load, the ``path`` of nodes, and where rounds were asked for
      ``rounds``, one for each link of the path.
    """
    return {
        "schema": ASSIGNMENT_SCHEMA,
        "version": ASSIGNMENT_SCHEMA_VERSION,
        "fastlb": __version__,
        "input": {"source": file.source, "kind": file.phases[0].kind},
        "options": options,
        "phases": [
            _phase(tasks, assignment, schedule)
            for tasks, assignment, schedule in zip(file.phases, assignments, rounds, strict=True)
        ],
    }


def _phase(tasks: TaskSet, assignment: Assignment, schedule: Rounds | None) -> dict[str, Any]:
    before, after = tasks.loads(), tasks.loads(assignment.owner)
    speeds: list[dict[str, float]] = [{}] * len(tasks.nodes)
    if tasks.weights is not None:
        speeds = [{"speed": float(weight)} for weight in tasks.weights]
    return {
        "phase": tasks.phase,
        "content": tasks.content(),
        "status": assignment.status,
        "largest": plain(assignment.largest),
        "bound": plain(assignment.bound),
        "gap": float(assignment.gap),
        "moved": plain(assignment.moved),
        "hops": int(assignment.hops),
        "remote_before": None if tasks.edges is None else plain(assignment.remote_before),
        "remote_after": None if tasks.edges is None else plain(assignment.remote_after),
        "rounds": None if schedule is None else int(schedule.count),
        "nodes": [
            {"name": name, "before": plain(first), "after": plain(last)} | speed
            for name, first, last, speed in zip(tasks.nodes, before, after, speeds, strict=True)
        ],
        "moves": _moves(tasks, assignment, schedule),
    }


def _moves(tasks: TaskSet, assignment: Assignment, schedule: Rounds | None) -> list[dict[str, Any]]:
    sizes = tasks.sizes.tolist()
    entries: list[dict[str, Any]] = [
        {
            "task": tasks.names[move.task],
            "from": tasks.nodes[move.source],
            "to": tasks.nodes[move.target],
            "load": sizes[move.task],
            "path": [tasks.nodes[node] for node in move.path],
        }
        for move in assignment.moves
    ]
    if schedule is not None and schedule.route is not None:
        for entry in entries:
            entry["rounds"] = []
        for move, number in zip(schedule.route.tolist(), schedule.round.tolist(), strict=True):
            entries[move]["rounds"].append(number)
    return entries


def owners_of_document(path: Path, file: TaskFile) -> list[NDArray[np.int64]]:
    """Return the owners of every phase's tasks that a written assignment gives them.

    Raises
    ------
    ValueError
        If the file holds no assignment, or one of other tasks.
    """
    document = read_json(path)
    if not isinstance(document, dict) or document.get("schema") != ASSIGNMENT_SCHEMA:
        refuse(str(path), f"must be an assignment (schema {ASSIGNMENT_SCHEMA!r})")
    version = document.get("version")
    if version != ASSIGNMENT_SCHEMA_VERSION or isinstance(version, bool):
        refuse(
            str(path),
            f"must have version {ASSIGNMENT_SCHEMA_VERSION}, got {version!r:.40}",
        )
    phases = document.get("phases")
    if not isinstance(phases, list) or not all(isinstance(entry, dict) for entry in phases):
        refuse(str(path), "must have a list of phases")
    owners = []
    for tasks in file.phases:
        entries = [entry for entry in phases if entry.get("phase") == tasks.phase]
        what = "the tasks" if tasks.phase is None else f"phase {tasks.phase}"
        if len(entries) != 1:
            refuse(str(path), f"must have {what} once, got it {len(entries)} times")
        (entry,) = entries
        if entry.get("content") != tasks.content():
            refuse(
                str(path),
                f"was made for other tasks than {what} of {file.source}: their content differs "
                "(--nodes, --topology, --column, --ignore and --weights must be as they were)",
            )
        owners.append(_owner(f"{path} {what}", tasks, entry.get("moves")))
    return owners


def _owner(place: str, tasks: TaskSet, moves: Any) -> NDArray[np.int64]:
    if not isinstance(moves, list):
        refuse(place, "must have a list of moves")
    task_number = {name: i for i, name in enumerate(tasks.names)}
    node_number = {name: i for i, name in enumerate(tasks.nodes)}
    owner = tasks.owner.copy()
    seen: set[int] = set()
    for i, move in enumerate(moves):
        where = f"{place} move {i}"
        name, source, target = _texts(where, move, "task", "from", "to")
        task = task_number.get(name)
        if task is None or source not in node_number or target not in node_number:
            got = f"{name!r:.40}: {source!r:.40}, {target!r:.40}"
            refuse(where, f"names a task or node that is not there, got {got}")
        if task in seen or owner[task] != node_number[source]:
            refuse(where, f"must move task {name!r} once, from {tasks.nodes[tasks.owner[task]]!r}")
        if not tasks.movable[task]:
            refuse(where, f"must not move task {name!r}, which is not movable")
        seen.add(task)
        owner[task] = node_number[target]
    return owner


def _texts(place: str, entry: Any, *keys: str) -> list[str]:
    texts = [entry.get(key) for key in keys] if isinstance(entry, dict) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        refuse(place, f"must be an object with {', '.join(keys)}")
    return list(map(str, texts))


def kafka_document(file: TaskFile, assignment: Assignment) -> dict[str, Any]:
    """Return the moves of a table of partitions as Kafka's reassignment JSON.

    Tasks are named ``topic-partition``, nodes by the numbers of brokers. The document is what
    ``kafka-reassign-partitions --reassignment-json-file`` reads, with one replica a partition.

    Raises
    ------
    ValueError
        If a task or node that a move names is named otherwise.
    """
    tasks = file.phases[0]
    partitions = []
    for move in assignment.moves:
        name, broker = tasks.names[move.task], tasks.nodes[move.target]
        topic, dash, partition = name.rpartition("-")
        if not (dash and topic and partition.isdecimal() and broker.isdecimal()):
            refuse(
                file.source,
                "for Kafka, tasks must be named topic-partition and nodes by brokers' numbers, "
                f"got {name!r} and {broker!r}",
            )
        partitions.append({"topic": topic, "partition": int(partition), "replicas": [int(broker)]})
    return {"version": 1, "partitions": partitions}
