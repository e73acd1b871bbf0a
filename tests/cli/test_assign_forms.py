"""fastlb assign, whatever the form: every task is somewhere once, and what may not move stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import brotli
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from fastlb.cli.commands import commands
from fastlb.files.taskfiles import read_task_file

NODES = 8


def random_tasks(rng: np.random.Generator) -> dict[str, Any]:
    count = int(rng.integers(1, 60))
    whole = bool(rng.random() < 0.5)
    times = rng.integers(0, 50, count) if whole else rng.lognormal(0, 2, count)
    return {
        "names": rng.permutation(1000)[:count].tolist(),
        "owner": (rng.integers(0, NODES, count) // 2).tolist(),
        "times": times.tolist(),
        "movable": (rng.random(count) < 0.8).tolist(),
    }


def write_vt(path: Path, tasks: dict[str, Any], *, packed: bool) -> Path:
    """One file a rank, without metadata: the rank is in its name."""
    path.mkdir()
    ranks: list[list[Any]] = [[] for _ in range(NODES)]
    for name, node, time, free in zip(*tasks.values(), strict=True):
        entity = {"type": "object", "id": name, "home": node, "migratable": free}
        ranks[node].append({"entity": entity, "node": node, "resource": "cpu", "time": float(time)})
    for rank, listed in enumerate(ranks):
        data = json.dumps({"phases": [{"id": 3, "tasks": listed, "more": rank}]}).encode()
        suffix = ".json.br" if packed and rank % 2 else ".json"
        (path / f"run.{rank}{suffix}").write_bytes(brotli.compress(data) if packed else data)
    return path


def write_table(path: Path, tasks: dict[str, Any]) -> Path:
    names = [f"task {name}" for name in tasks["names"]]
    columns = [names, tasks["owner"], tasks["times"], tasks["movable"]]
    if path.suffix == ".parquet":
        headings = ["task", "node", "load", "movable"]
        pq.write_table(pa.table(dict(zip(headings, columns, strict=True))), path)
        return path
    lines = [",".join(map(str, line)) for line in zip(*columns, strict=True)]
    path.write_text("\n".join(["task,node,load,movable", *lines, ""]))
    return path


def write(form: str, folder: Path, tasks: dict[str, Any]) -> Path:
    if form in ("csv", "parquet"):
        return write_table(folder / f"tasks.{form}", tasks)
    return write_vt(folder / "run", tasks, packed=form == "brotli")


def read(path: Path) -> dict[str, tuple[str, float, bool]]:
    """Return node, size and whether it may move of every task."""
    (tasks,) = read_task_file([path], nodes=[str(node) for node in range(NODES)]).phases
    nodes = [tasks.nodes[node] for node in tasks.owner.tolist()]
    sizes, movable = tasks.sizes.tolist(), tasks.movable.tolist()
    found = dict(zip(tasks.names, zip(nodes, sizes, movable, strict=True), strict=True))
    assert len(found) == len(tasks.names)
    return found


OPTIONS: list[list[str]] = [
    ["--nodes", "8"],
    ["--nodes", "8", "--slack", "0.1"],
    ["--nodes", "8", "--max-moves", "3"],
    ["-t", "ring:8", "--along", "dde"],
    ["-t", "hypercube:3", "--along", "gde", "--slack", "0.02"],
    ["-t", "mesh:2x4", "--along", "minimax", "--rounds", "1"],
]


@pytest.mark.parametrize("form", ["plain", "brotli", "csv", "parquet"])
@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
def test_every_task_is_somewhere_once(tmp_path: Path, form: str, options: list[str]) -> None:
    rng = np.random.default_rng([OPTIONS.index(options), len(form)])
    source = write(form, tmp_path, random_tasks(rng))
    before = read(source)
    pinned = str(rng.choice(list(before)))
    out = tmp_path / "out"
    done = CliRunner().invoke(
        commands,
        ["assign", str(source), *options, "--pin", pinned, "--out", str(out), "--json"],
    )
    assert done.exit_code == 0, done.output
    (phase,) = json.loads(done.output)["phases"]
    after = read(out if source.is_dir() else out / source.name)
    moves = {move["task"]: move for move in phase["moves"]}
    assert len(moves) == len(phase["moves"])
    assert after.keys() == before.keys()
    for name, (node, size, movable) in before.items():
        expected = moves[name]["to"] if name in moves else node
        assert after[name] == (expected, size, movable)
        if name in moves:
            assert movable and name != pinned
            assert moves[name]["from"] == node == moves[name]["path"][0]
    for node in phase["nodes"]:
        on_node = [size for where, size, _ in after.values() if where == node["name"]]
        assert node["after"] == pytest.approx(sum(on_node), rel=1e-12)
    if "--max-moves" in options:
        assert len(moves) <= 3
    if source.is_dir():
        names = sorted(path.name for path in source.iterdir())
        assert sorted(path.name for path in out.iterdir()) == names
