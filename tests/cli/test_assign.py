"""fastlb assign: moves, files with the tasks moved, plans that are applied later."""

from __future__ import annotations

import itertools
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import fastlb as lb
from fastlb.cli.commands import commands
from fastlb.files.taskfiles import read_task_file

VT_16 = str(files("fastlb") / "data" / "vt-16")
TABLE = "task,node,load\na,0,4\nb,0,3\nc,0,3\nd,1,2\n"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(commands, ["assign", *map(str, arguments)])


def document(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    content: dict[str, Any] = json.loads(result.output)
    return content


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.output.count("\n") == 1
    assert "Traceback" not in result.output
    return result.output


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.csv"
    path.write_text(TABLE)
    return path


def test_a_table(table: Path) -> None:
    (phase,) = document(table)["phases"]
    assert phase["status"] == "optimal" and phase["largest"] == phase["bound"] == 6
    after = {node["name"]: node["after"] for node in phase["nodes"]}
    assert after == {"0": 6, "1": 6}
    assert [move["to"] for move in phase["moves"]] == ["1"] * len(phase["moves"])
    shown = run(table)
    assert shown.exit_code == 0
    assert "4 tasks on 2 nodes" in shown.output and "optimal" in shown.output


def test_the_document_agrees_with_the_library() -> None:
    (phase,) = document(VT_16)["phases"]
    tasks = read_task_file([VT_16]).phases[0]
    result = lb.assign_tasks(tasks.sizes, tasks.owner, 16, movable=tasks.movable)
    assert phase["largest"] == result.largest and phase["moved"] == result.moved
    assert [node["after"] for node in phase["nodes"]] == result.loads.tolist()
    names = [tasks.names[move.task] for move in result.moves]
    assert [move["task"] for move in phase["moves"]] == names
    assert phase["status"] == "optimal"


def test_out_has_the_files_with_the_tasks_moved(tmp_path: Path) -> None:
    out = tmp_path / "moved"
    (phase,) = document(VT_16, "--out", out)["phases"]
    assert sorted(path.name for path in out.iterdir()) == sorted(
        path.name for path in Path(VT_16).glob("*.json")
    )
    (tasks,) = read_task_file([out]).phases
    assert tasks.loads() == [node["after"] for node in phase["nodes"]]
    assert "is there already (--force writes into it)" in refused(VT_16, "--out", out)
    assert run(VT_16, "--out", out, "--force").exit_code == 0


def test_a_plan_is_applied_to_the_same_tasks_only(tmp_path: Path, table: Path) -> None:
    plan, out = tmp_path / "plan.json", tmp_path / "out"
    assert run(table, "--plan", plan, "--out", out).exit_code == 0
    later = tmp_path / "later"
    result = run(table, "--apply", plan, "--out", later)
    assert result.exit_code == 0 and "moved as" in result.output
    assert (later / "tasks.csv").read_text() == (out / "tasks.csv").read_text()
    table.write_text(TABLE.replace("d,1,2", "d,1,3"))
    message = refused(table, "--apply", plan, "--out", tmp_path / "never")
    assert "was made for other tasks" in message
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(schema="fastlb.plan"), "must be an assignment"),
        (lambda d: d.update(version=2), "must have version 1, got 2"),
        (lambda d: d.update(phases=3), "must have a list of phases"),
        (lambda d: d["phases"][0].update(moves={}), "must have a list of moves"),
        (lambda d: d["phases"][0]["moves"].append(1), "must be an object with task, from, to"),
        (lambda d: d["phases"][0]["moves"][0].update(task="z"), "not there, got 'z': '0', '1'"),
        (lambda d: d["phases"][0]["moves"][0].update({"from": "1"}), "once, from '0'"),
        (lambda d: d["phases"][0]["moves"].append(d["phases"][0]["moves"][0]), "once, from '0'"),
    ],
)
def test_plans_that_are_not_right(tmp_path: Path, table: Path, change: Any, says: str) -> None:
    plan = tmp_path / "plan.json"
    content = document(table, "--plan", plan)
    change(content)
    plan.write_text(json.dumps(content))
    assert says in refused(table, "--apply", plan, "--out", tmp_path / "out")


def test_along_a_plan_of_amounts() -> None:
    (phase,) = document(VT_16, "-t", "torus:4x4", "--along", "dde")["phases"]
    torus = lb.Torus(4, 4)
    links = {frozenset(edge) for edge in torus.edges.tolist()}
    for move in phase["moves"]:
        path = list(map(int, move["path"]))
        assert all(frozenset(pair) in links for pair in itertools.pairwise(path))
    assert phase["hops"] == sum(len(move["path"]) - 1 for move in phase["moves"])
    minimax = document(VT_16, "-t", "hypercube:4", "--along", "minimax")["phases"][0]
    assert minimax["largest"] < 1100


def test_rounds(table: Path) -> None:
    (phase,) = document(VT_16, "--rounds", "1")["phases"]
    busy = set()
    for move in phase["moves"]:
        for number, node in zip(move["rounds"] * 2, (move["from"], move["to"]), strict=True):
            assert (number, node) not in busy
            busy.add((number, node))
    assert phase["rounds"] == 1 + max(number for number, _ in busy)


def test_limits(table: Path) -> None:
    (phase,) = document(table, "--max-moves", "0")["phases"]
    assert phase["moves"] == []
    (phase,) = document(table, "--slack", "0.7")["phases"]
    assert phase["moves"] == []
    (phase,) = document(table, "--pin", "b", "--pin", "c")["phases"]
    assert {move["task"] for move in phase["moves"]} <= {"a", "d"}
    (phase,) = document(table, "--nodes", "3")["phases"]
    assert [node["name"] for node in phase["nodes"]] == ["0", "1", "2"]
    assert phase["nodes"][2]["after"] > 0


def test_a_memory_limit_that_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "tasks.csv"
    path.write_text("task,node,load,bytes\na,0,4,9\nb,1,3,9\n")
    result = run(path, "--memory-limit", "5")
    assert result.exit_code == 1
    assert "infeasible: no assignment keeps every node within its memory limit" in result.output
    assert run(path, "--memory-limit", "9").exit_code == 0


def test_kafka(tmp_path: Path) -> None:
    path, out = tmp_path / "partitions.csv", tmp_path / "reassignment.json"
    path.write_text("partition,broker,size\norders-0,1,10\norders-1,1,10\nold-log-0,2,1\n")
    assert run(path, "--kafka", out).exit_code == 0
    content = json.loads(out.read_text())
    assert content["version"] == 1
    owner = {("orders", 0): 1, ("orders", 1): 1, ("old-log", 0): 2}
    for entry in content["partitions"]:
        owner[entry["topic"], entry["partition"]] = entry["replicas"][0]
    assert sorted(broker for (topic, _), broker in owner.items() if topic == "orders") == [1, 2]
    path.write_text("partition,broker,size\nx,1,10\ny,1,10\n")
    assert "topic-partition" in refused(path, "--nodes", "2", "--kafka", tmp_path / "no.json")


def test_arguments_that_are_not_right(tmp_path: Path, table: Path) -> None:
    assert "--along must be minimax or one of" in refused(table, "--along", "all")
    both = ("--plan", tmp_path / "p.json", "--kafka", tmp_path / "p.json")
    assert "must name two files" in refused(table, *both)
    assert "--nodes" in refused(table, "--nodes", "0")
    assert "--along dde needs --topology" in refused(table, "--along", "dde")
    assert "exclude each other" in refused(table, "-t", "ring:4", "--nodes", "4")
    assert "--pin must name a task" in refused(table, "--pin", "z")
    assert "--apply needs --out" in refused(table, "--apply", tmp_path / "plan.json")
    assert "--slack must be a number" in refused(table, "--slack", "much")
    assert "--memory-limit needs bytes" in refused(table, "--memory-limit", "5")
    assert "phase must be left out" in refused(table, "--phase", "1")
    assert "no such file" in refused(tmp_path / "nothing.csv")
    assert "must have a file for each of 8 nodes" in refused(VT_16, "-t", "ring:8")


def test_balance_points_here() -> None:
    result = CliRunner().invoke(commands, ["balance", VT_16, "-t", "torus:4x4"])
    assert "fastlb assign says which tasks to move" in result.output


def test_several_phases(tmp_path: Path) -> None:
    def content(rank: int, times: list[list[float]]) -> dict[str, Any]:
        phases = [
            {
                "id": phase,
                "tasks": [
                    {
                        "entity": {"type": "object", "id": 10 * rank + i, "migratable": True},
                        "node": rank,
                        "time": time,
                    }
                    for i, time in enumerate(listed)
                ],
            }
            for phase, listed in enumerate(times)
        ]
        return {"metadata": {"type": "LBDatafile", "rank": rank}, "phases": phases}

    for rank, times in enumerate([[[3.0, 1.0], [1.0]], [[], [1.0, 2.0]]]):
        (tmp_path / f"run.{rank}.json").write_text(json.dumps(content(rank, times)))
    out = tmp_path / "out"
    phases = document(tmp_path, "--out", out)["phases"]
    assert [phase["phase"] for phase in phases] == [0, 1]
    assert [phase["largest"] for phase in phases] == [3, 2]
    again = read_task_file([out]).phases
    assert [max(tasks.loads()) for tasks in again] == [3, 2]
    shown = run(tmp_path).output
    assert "2 phases" in shown and max(map(len, shown.splitlines()[1:])) <= 80
    assert np.array_equal(document(tmp_path, "--phase", "1")["phases"][0]["largest"], 2)


def test_nothing_is_written_before_all_is_checked(tmp_path: Path, table: Path) -> None:
    targets = ("--plan", tmp_path / "p.json", "--kafka", tmp_path / "k.json")
    assert "topic-partition" in refused(table, *targets, "--out", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == [table.name]


@pytest.mark.parametrize("other", ["run.1.json", "run.0.json.br", "old.0.json"])
def test_files_of_another_run_are_not_mixed_in(tmp_path: Path, other: str) -> None:
    source, out = tmp_path / "run", tmp_path / "out"
    for folder in (source, out):
        folder.mkdir()
    task = {"entity": {"id": 1, "migratable": True}, "time": 1.0}
    (source / "run.0.json").write_text(json.dumps({"phases": [{"id": 0, "tasks": [task]}]}))
    (out / other).write_text("{}")
    (out / "notes.txt").write_text("mine")
    assert "is of another run" in refused(source, "--out", out, "--force")
    assert sorted(path.name for path in out.iterdir()) == sorted([other, "notes.txt"])
    (out / other).unlink()
    (out / "run.0.json").mkdir()
    assert "is a folder" in refused(source, "--out", out, "--force")
    (out / "run.0.json").rmdir()
    assert run(source, "--out", out, "--force").exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["notes.txt", "run.0.json"]


def test_what_apply_excludes(tmp_path: Path, table: Path) -> None:
    apply = ("--apply", tmp_path / "plan.json", "--out", tmp_path / "out")
    for options in (["--json"], ["--slack", "1"], ["--plan", "p.json"], ["--pin", "a"]):
        assert f"--apply and {options[0]} exclude each other" in refused(table, *apply, *options)


def test_as_many_nodes_as_memory_holds(table: Path) -> None:
    assert "nodes needs about" in refused(table, "--nodes", 10**20)
    assert "nodes needs about" in refused(table, "-t", "hypercube:60")


def test_nodes_named_by_a_network(tmp_path: Path, table: Path) -> None:
    links = tmp_path / "links.csv"
    links.write_text("source,target\na,b\nb,c\n")
    table.write_text("task,node,load\ns,a,4\nt,a,3\nu,b,1\n")
    (phase,) = document(table, "-t", links)["phases"]
    assert [node["name"] for node in phase["nodes"]] == ["a", "b", "c"]
    assert phase["moves"][0]["path"] == ["a", "b", "c"]


def test_slow_ranks(tmp_path: Path) -> None:
    for rank, (alpha, times) in enumerate([(2, [5.0, 3.0, 2.0]), (1, [1.0])]):
        tasks = [
            {"entity": {"id": 10 * rank + i, "migratable": True}, "time": time}
            for i, time in enumerate(times)
        ]
        content = {"metadata": {"rank_alpha": alpha}, "phases": [{"id": 0, "tasks": tasks}]}
        (tmp_path / f"run.{rank}.json").write_text(json.dumps(content))
    (phase,) = document(tmp_path)["phases"]
    assert [node["speed"] for node in phase["nodes"]] == [0.5, 1]
    assert phase["largest"] == max(node["after"] / node["speed"] for node in phase["nodes"]) == 8
    shown = run(tmp_path).output
    assert "loads are divided by the speed of their node" in shown
    assert ["largest", "load", "20", "8"] in [line.split() for line in shown.splitlines()]


def test_options_are_in_the_document(table: Path) -> None:
    content = document(table, "--nodes", "3", "--slack", "0.03", "--pin", "a")
    assert content["options"] == {"nodes": 3, "slack": "0.03", "pin": ["a"]}
