"""fastlb assign --apply: a plan is carried out on the tasks that it was made for, or not at all."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli
import pytest
from click.testing import CliRunner, Result

from fastlb.cli.commands import commands
from fastlb.files.taskfiles import read_task_file


def task(number: int, time: float, rank: int, movable: bool = True) -> dict[str, Any]:
    entity = {"type": "object", "id": number, "home": rank, "migratable": movable}
    return {"entity": entity, "node": rank, "resource": "cpu", "time": time}


def documents() -> list[dict[str, Any]]:
    """Three ranks of different speeds, with memory, messages and a task that may not move."""
    first = [task(0, 4.0, 0), task(1, 3.0, 0), task(2, 6.0, 0, movable=False), task(3, 2.5, 0)]
    first[0]["user_defined"] = {
        "task_footprint_bytes": 8.0,
        "task_working_bytes": 1.0,
        "rank_working_bytes": 2.0,
        "shared_id": 5,
        "shared_bytes": 9.0,
    }
    ends = {"from": {"type": "object", "id": 0}, "to": {"type": "object", "id": 10}}
    message = {"type": "SendRecv", **ends, "messages": 1, "bytes": 100.0}
    phases: list[dict[str, Any]] = [
        {"id": 0, "tasks": first, "communications": [message]},
        {"id": 0, "tasks": [task(10, 1.0, 1)]},
        {"id": 0, "tasks": []},
    ]
    return [
        {"metadata": {"rank": rank, "rank_alpha": float(2 - rank % 2)}, "phases": [phase]}
        for rank, phase in enumerate(phases)
    ]


def written(folder: Path, run: list[dict[str, Any]], *, compressed: bool = False) -> Path:
    folder.mkdir(exist_ok=True)
    for rank, document in enumerate(run):
        data = json.dumps(document, indent=2 if compressed else None).encode()
        (folder / f"run.{rank}.json").write_bytes(brotli.compress(data) if compressed else data)
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(commands, ["assign", *map(str, arguments)])


def owners(folder: Path) -> dict[str, str]:
    (tasks,) = read_task_file([folder]).phases
    return {
        name: tasks.nodes[node]
        for name, node in zip(tasks.names, tasks.owner.tolist(), strict=True)
    }


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan for the run, beside the files that it leads to."""
    path = tmp_path / "plan.json"
    source = written(tmp_path / "run", documents())
    done = run(source, "--plan", path, "--out", tmp_path / "planned")
    assert done.exit_code == 0, done.output
    assert len(json.loads(path.read_text())["phases"][0]["moves"]) >= 2
    return path


@pytest.mark.parametrize("compressed", [False, True])
def test_the_same_tasks_in_any_form_move_as_planned(
    tmp_path: Path, plan: Path, compressed: bool
) -> None:
    source = written(tmp_path / "later", documents(), compressed=compressed)
    done = run(source, "--apply", plan, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert owners(tmp_path / "out") == owners(tmp_path / "planned") != owners(source)
    assert owners(tmp_path / "out")["2"] == "0"


def tasks_of(documents: list[Any], rank: int) -> Any:
    return documents[rank]["phases"][0]["tasks"]


def move_by_hand(documents: list[Any]) -> None:
    tasks_of(documents, 2).append({**tasks_of(documents, 0).pop(0), "node": 2})


CHANGES: list[Callable[[list[Any]], Any]] = [
    move_by_hand,
    lambda run: tasks_of(run, 0)[0].update(time=4.000000000000001),
    lambda run: tasks_of(run, 0)[0]["entity"].update(id=99),
    lambda run: tasks_of(run, 0)[0]["entity"].update(migratable=False),
    lambda run: tasks_of(run, 0).reverse(),
    lambda run: tasks_of(run, 0).pop(),
    lambda run: tasks_of(run, 2).append(task(77, 0.0, 2)),
    lambda run: tasks_of(run, 0)[0]["user_defined"].update(task_footprint_bytes=7.0),
    lambda run: tasks_of(run, 0)[0]["user_defined"].update(task_working_bytes=0.0),
    lambda run: tasks_of(run, 0)[0]["user_defined"].update(rank_working_bytes=3.0),
    lambda run: tasks_of(run, 0)[0]["user_defined"].update(shared_bytes=8.0),
    lambda run: tasks_of(run, 0)[0]["user_defined"].update(shared_id=6),
    lambda run: run[0]["phases"][0]["communications"][0].update(bytes=99.0),
    lambda run: run[0]["phases"][0].pop("communications"),
    lambda run: run[1]["metadata"].update(rank_alpha=1.5),
    lambda run: run.append({"phases": [{"id": 0, "tasks": []}]}),
]


@pytest.mark.parametrize("change", CHANGES)
def test_other_tasks_are_refused(
    tmp_path: Path, plan: Path, change: Callable[[list[Any]], Any]
) -> None:
    later = documents()
    change(later)
    assert later != documents()
    done = run(written(tmp_path / "later", later), "--apply", plan, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "was made for other tasks than phase 0" in done.output
    assert done.output.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda phase: phase.update(content="sha256:0"), "was made for other tasks than phase 0"),
        (lambda phase: phase.pop("content"), "was made for other tasks than phase 0"),
        (lambda phase: phase.update(phase=1), "must have phase 0 once, got it 0 times"),
        (
            lambda phase: phase["moves"].append({"task": "2", "from": "0", "to": "1"}),
            "must not move task '2', which is not movable",
        ),
        (lambda phase: phase["moves"][0].update(to="9"), "names a task or node that is not there"),
        (lambda phase: phase["moves"][0].update({"from": "2"}), "once, from '0'"),
        (lambda phase: phase["moves"][0].update(task=["0"]), "must be an object with task, from,"),
    ],
)
def test_plans_that_were_changed_are_refused(
    tmp_path: Path, plan: Path, change: Callable[[Any], Any], says: str
) -> None:
    content = json.loads(plan.read_text())
    changed = copy.deepcopy(content)
    change(changed["phases"][0])
    assert changed != content
    plan.write_text(json.dumps(changed))
    done = run(tmp_path / "run", "--apply", plan, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert says in done.output and done.output.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 10**5, '{"schema": 1, "schema": 2}'])
def test_what_is_no_plan(tmp_path: Path, plan: Path, text: str) -> None:
    plan.write_text(text)
    done = run(tmp_path / "run", "--apply", plan, "--out", tmp_path / "out")
    assert done.exit_code == 2 and done.output.count("\n") == 1
    assert "plan.json" in done.output
    assert not (tmp_path / "out").exists()
