"""fastlb assign: speeds of nodes from a file, and messages that name file and phase."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb

from .conftest import Run

TABLE = "task,node,load\na,fra,4\nb,fra,3\nc,fra,3\nd,ams,2\n"
SERVERS = "server,speed,rack,load\nfra,2,r1,9\nams,1/3,r1,3\nlon,0.5,r2,0\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def servers(tmp_path: Path) -> Path:
    path = tmp_path / "servers.csv"
    path.write_text(SERVERS)
    return path


def phases_of(run: Run, *arguments: Any) -> list[dict[str, Any]]:
    done = run("assign", *arguments, "--json")
    assert (done.code, done.err) == (0, "")
    phases: list[dict[str, Any]] = json.loads(done.out)["phases"]
    return phases


def test_nodes_of_the_file_are_all_there(run: Run, table: Path, servers: Path) -> None:
    (phase,) = phases_of(run, table, "--weights", servers, "--ignore", "rack")
    expected = lb.assign_tasks([4, 3, 3, 2], [1, 1, 1, 0], 3, weights=["1/3", 2, 0.5])
    assert [node["name"] for node in phase["nodes"]] == ["ams", "fra", "lon"]
    assert [node["after"] for node in phase["nodes"]] == expected.loads.tolist()
    assert [node["speed"] for node in phase["nodes"]] == pytest.approx([1 / 3, 2, 0.5])
    assert (phase["largest"], phase["status"]) == (expected.largest, "optimal")
    shown = run("assign", table, "--weights", servers, "--ignore", "rack")
    assert "loads are divided by the speed of their node" in shown.out


def test_a_plan_holds_for_the_same_weights(run: Run, tmp_path: Path, table: Path) -> None:
    weights, plan, out = tmp_path / "weights.csv", tmp_path / "plan.json", tmp_path / "out"
    weights.write_text("fra,1\nams,3\n")
    assert run("assign", table, "--weights", weights, "--plan", plan).code == 0
    apply = ("--apply", plan, "--out", out)
    refused = run("assign", table, *apply)
    assert refused.code == 2
    assert "--weights must be as they were" in refused.err
    assert run("assign", table, "--weights", weights, *apply).code == 0
    assert (out / table.name).read_text() != TABLE


@pytest.mark.parametrize("name", ["weights.csv", "weights.json", "weights.npy"])
def test_plain_numbers_are_in_the_order_of_the_nodes(run: Run, tmp_path: Path, name: str) -> None:
    table, weights = tmp_path / "tasks.csv", tmp_path / name
    table.write_text("task,node,load\na,0,4\nb,1,3\nc,1,3\n")
    if name == "weights.npy":
        np.save(weights, np.array([0.5, 4, 0]))
    else:
        weights.write_text("[0.5, 4, 0]" if name == "weights.json" else "0.5,4,0\n")
    (phase,) = phases_of(run, table, "--nodes", 3, "--weights", weights)
    expected = lb.assign_tasks([4, 3, 3], [0, 1, 1], 3, weights=[0.5, 4, 0])
    assert [node["after"] for node in phase["nodes"]] == expected.loads.tolist() == [0, 10, 0]


def test_a_node_of_weight_0_gives_its_tasks_away(run: Run, tmp_path: Path, table: Path) -> None:
    weights = tmp_path / "weights.csv"
    weights.write_text("node,weight\nfra,0\nams,1\nlon,1\n")
    (phase,) = phases_of(run, table, "--weights", weights)
    assert {node["name"]: node["after"] for node in phase["nodes"]} == {
        "ams": 6,
        "fra": 0,
        "lon": 6,
    }
    shown = run("assign", table, "--weights", weights)
    assert ["largest", "load", "2", "6"] in [line.split() for line in shown.out.splitlines()]


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("node,speed\nfra,2\n", [], "tasks.csv line 5: node 'ams' must be one of fra"),
        ("node,speed\nfra,2\nfra,1\n", [], "line 3: node 'fra' must be named once"),
        ("node,speed\nfra,2\nams,-1\n", [], "weight of ams must"),
        ("node,speed\nfra,2\nams,1\n", ["--nodes", "2"], "tasks.csv has no node 'fra'"),
        ("node,speed,rack\nfra,2,a\nams,1,a\n", [], "'rack' is not used"),
        ("node,speed\nfra,2\nams,1\n", ["--ignore", "rack"], "has no column 'rack' to ignore"),
        ("node,speed\nfra,0\nams,0\n", [], "weights must"),
        ("1,2,3\n", [], "a weight for each of the 2 nodes of"),
    ],
)
def test_weights_that_are_not_right(
    run: Run, tmp_path: Path, table: Path, text: str, options: list[str], says: str
) -> None:
    weights = tmp_path / "weights.csv"
    weights.write_text(text)
    if "--nodes" in options:
        table.write_text(TABLE.replace("fra", "0").replace("ams", "1"))
    done = run("assign", table, "--weights", weights, *options)
    assert done.code == 2
    assert says in done.err
    assert done.err.count("\n") == 1


def ranks(folder: Path, *times: list[list[float]], alpha: float | None = None) -> Path:
    """Write a run, of every rank the times of its tasks in each phase."""
    folder.mkdir()
    for rank, listed in enumerate(times):
        phases = [
            {
                "id": phase,
                "tasks": [
                    {"entity": {"id": 10 * rank + i, "migratable": True}, "time": time}
                    for i, time in enumerate(of_phase)
                ],
            }
            for phase, of_phase in enumerate(listed)
        ]
        metadata = {} if alpha is None else {"rank_alpha": alpha + rank}
        content = {"metadata": metadata, "phases": phases}
        (folder / f"run.{rank}.json").write_text(json.dumps(content))
    return folder


def test_a_run_has_one_source_of_speeds(run: Run, tmp_path: Path) -> None:
    weights = tmp_path / "weights.csv"
    weights.write_text("rank,speed\n1,3\n0,1\n")
    plain = ranks(tmp_path / "plain", [[1.0, 2.0, 1.0]], [[]])
    (phase,) = phases_of(run, plain, "--weights", weights)
    assert [node["after"] for node in phase["nodes"]] == [1, 3]
    slow = ranks(tmp_path / "slow", [[1.0, 2.0, 1.0]], [[]], alpha=1.0)
    done = run("assign", slow, "--weights", weights)
    assert done.code == 2
    assert "give --ignore rank_alpha" in done.err
    (phase,) = phases_of(run, slow, "--weights", weights, "--ignore", "rank_alpha")
    assert [node["after"] for node in phase["nodes"]] == [1, 3]


def test_overflows_name_file_and_phase(run: Run, tmp_path: Path) -> None:
    folder = ranks(tmp_path / "run", [[1.0], [1.5e308, 1.5e308]], [[], []])
    for options in ([], ["-t", "ring:2", "--along", "dde"]):
        done = run("assign", folder, *options)
        assert done.code == 2
        assert f"{folder} phase 1: sizes must have a total that fits float64" in done.err
    table = tmp_path / "tasks.csv"
    table.write_text(f"task,node,load\na,0,{2**62}\nb,1,{2**62}\n")
    done = run("assign", table)
    assert f"{table}: sizes must have a total of at most 2**62, got {2**63}" in done.err
