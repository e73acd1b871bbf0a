"""fastlb assign refuses files that lie in one line, before it writes, whatever the form."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli
import pytest
from click.testing import CliRunner

from fastlb.cli.commands import commands
from fastlb.files import lbdata

DEEP = 10**5


def documents() -> list[Any]:
    """Two ranks with three tasks each."""
    return [
        {
            "metadata": {"type": "LBDatafile", "rank": rank},
            "phases": [
                {
                    "id": 0,
                    "tasks": [
                        {
                            "entity": {"type": "object", "id": 3 * rank + i, "migratable": True},
                            "node": rank,
                            "time": 1.0 + i,
                        }
                        for i in range(3)
                    ],
                }
            ],
        }
        for rank in range(2)
    ]


def task(run: list[Any], rank: int = 0) -> Any:
    return run[rank]["phases"][0]["tasks"][1]


def as_text(document: Any) -> bytes:
    return json.dumps(document).encode()


def refused(folder: Path, tasks: Path) -> str:
    """Return the one line that refuses tasks; nothing is written."""
    before = sorted(folder.rglob("*"))
    targets = ("--out", folder / "out", "--plan", folder / "plan.json")
    done = CliRunner().invoke(commands, ["assign", *map(str, (tasks, *targets))])
    assert done.exit_code == 2, done.output
    assert done.output.count("\n") == 1
    assert done.output.startswith("fastlb: ")
    assert sorted(folder.rglob("*")) == before
    return str(done.output)


CHANGES: list[tuple[Callable[[list[Any]], Any], str]] = [
    (lambda run: task(run, 1)["entity"].update(id=0), "run.1.json phase 0 task 1 must have an id"),
    (lambda run: task(run)["entity"].update(id=0), "an id of its own, got 0 again"),
    (lambda run: run[1]["metadata"].update(rank=0), "run.1.json must be of rank 1, its metadata"),
    (lambda run: task(run).update(time=float("nan")), "finite time of at least 0, got nan"),
    (lambda run: task(run).update(time=float("inf")), "finite time of at least 0, got inf"),
    (lambda run: task(run).update(time=-1e-9), "finite time of at least 0, got -1e-09"),
    (lambda run: task(run).update(time=10**400), "got an integer of 1329 bits"),
    (lambda run: task(run).update(time="1.0"), "finite time of at least 0, got '1.0'"),
    (lambda run: task(run).update(node=1), "run.0.json phase 0 task 1 must be on node 0, got 1"),
    (lambda run: run[0]["phases"].append(run[0]["phases"][0]), "got phase 0 twice"),
    (lambda run: run[1]["phases"][0].update(id=1), "must have the phases of run.0.json (0), got 1"),
    (lambda run: run[0].update(peak=float("inf")), "must hold finite numbers to be written"),
    (
        lambda run: [entry.update(time=1.7e308) for entry in run[0]["phases"][0]["tasks"]],
        "a total that fits float64",
    ),
]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(("change", "says"), CHANGES)
def test_runs_that_contradict_themselves(
    tmp_path: Path, change: Callable[[list[Any]], Any], says: str, compressed: bool
) -> None:
    source = tmp_path / "run"
    source.mkdir()
    run = documents()
    change(run)
    for rank, document in enumerate(run):
        data = as_text(document)
        (source / f"run.{rank}.json").write_bytes(brotli.compress(data) if compressed else data)
    assert says in refused(tmp_path, source)


GOOD = as_text(documents()[0])
PACKED = brotli.compress(GOOD)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"[" * DEEP, "nested too deeply"),
        (b'{"a":' * DEEP, "nested too deeply"),
        (brotli.compress(b"[" * DEEP), "nested too deeply"),
        (GOOD[:-1] + b',"more":' + b"[" * DEEP + b"]" * DEEP + b"}", "nested too deeply"),
        (PACKED[:-5], "is cut off: its compressed data do not end"),
        (PACKED + b"more", "is neither UTF-8 text nor compressed with brotli"),
        (GOOD[:-3], "is cut off or no JSON"),
        (b"", "is cut off or no JSON"),
        (GOOD[:-1] + b', "name": "\xe9"}', "is neither UTF-8 text nor"),
        (GOOD.decode().encode("utf-16"), "is neither UTF-8 text nor"),
        (brotli.compress(b"\xff\xfe\xfd"), "it unpacks to what is not UTF-8 text"),
        (bytes(1000), "is cut off or no JSON"),
        (b"null", "got a JSON NoneType"),
        (b'{"phases": [{"id": ' + b"9" * 5000 + b"}]}", "must hold numbers that fit float64"),
    ],
    ids=range(14),
)
def test_bytes_that_are_no_file_of_a_run(tmp_path: Path, data: bytes, says: str) -> None:
    source = tmp_path / "run"
    source.mkdir()
    for rank, document in enumerate(documents()):
        (source / f"run.{rank}.json").write_bytes(as_text(document))
    (source / "run.0.json").write_bytes(data)
    line = refused(tmp_path, source)
    assert "run.0.json" in line and says in line


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes that unpack to what is above the limit, part by part."""
    monkeypatch.setattr(lbdata, "UNPACKED_BYTES_MAX", 2**24)
    source = tmp_path / "run"
    source.mkdir()
    bomb = brotli.compress(b" " * 2**26, quality=5)
    assert len(bomb) < 1000
    (source / "run.0.json").write_bytes(bomb)
    assert "must unpack to at most 16777216 bytes, got more" in refused(tmp_path, source)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("run.00.json", "rank 0 must have one file"),
        ("run.0.json.br", "rank 0 must have one file"),
        ("run.3.json", "must hold a file for every rank 0..3, missing 2"),
        ("run.-1.json", "must be named by a rank from 0"),
        ("run.99999999999999999999.json", "must be named by a rank from 0"),
        ("run.400000000.json", "must be below the number of files"),
        ("other.0.json", "holds the files of 2 runs"),
    ],
)
def test_files_whose_names_do_not_fit(tmp_path: Path, name: str, says: str) -> None:
    source = tmp_path / "run"
    source.mkdir()
    for rank, document in enumerate(documents()):
        (source / f"run.{rank}.json").write_bytes(as_text(document))
    (source / name).write_bytes(as_text(documents()[0]))
    assert says in refused(tmp_path, source)


@pytest.mark.parametrize("name", ["run.0.json", "tasks.csv", "tasks.parquet"])
@pytest.mark.parametrize("kind", ["pipe", "device", "circle of links", "link to nothing", "folder"])
def test_what_is_no_file(tmp_path: Path, name: str, kind: str) -> None:
    """A pipe would be waited for, a device read without an end."""
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"device": "/dev/zero", "circle of links": name}.get(kind, "nothing"))
    refused(tmp_path, path)


@pytest.mark.parametrize("option", ["--plan", "--kafka"])
def test_files_of_tasks_are_not_overwritten_by_a_plan(tmp_path: Path, option: str) -> None:
    source = tmp_path / "run"
    source.mkdir()
    for rank, document in enumerate(documents()):
        (source / f"run.{rank}.json").write_bytes(as_text(document))
    for tasks in (source, source / "run.*.json"):
        target = str(source / "run.0.json")
        done = CliRunner().invoke(commands, ["assign", str(tasks), option, target, "--force"])
        assert done.exit_code == 2
        assert "out must not be a file that is read" in done.output
        assert (source / "run.0.json").read_bytes() == as_text(documents()[0])


def test_links_to_files_are_followed_and_stay(tmp_path: Path) -> None:
    source, out = tmp_path / "run", tmp_path / "out"
    source.mkdir()
    for rank, document in enumerate(documents()):
        (tmp_path / f"real-{rank}").write_bytes(as_text(document))
        (source / f"run.{rank}.json").symlink_to(tmp_path / f"real-{rank}")
    done = CliRunner().invoke(commands, ["assign", str(source), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "real-0").read_bytes() == as_text(documents()[0])
    assert [path.is_symlink() for path in sorted(out.iterdir())] == [False, False]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "tasks.csv"
    path.write_text("task,node,load\na,0,1\n")
    path.chmod(0)
    assert "tasks.csv: Permission denied" in refused(tmp_path, path)


def test_an_error_while_reading_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tasks.csv"
    path.write_text("task,node,load\na,0,1\n")

    def fail(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", fail)
    assert "tasks.csv: Permission denied" in refused(tmp_path, path)
