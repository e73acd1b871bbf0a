"""Results to files: what stands in them, and that they come whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.exchange.result import RECORDED_WITH
from fastlb.files.formats import LoadFile, read_load_file
from fastlb.files.writing import (
    as_json,
    balance_document,
    check_target,
    filling,
    replacing,
    write_balance,
)


def balanced(loads: Any, topology: lb.Topology, **options: Any) -> tuple[lb.Balance, LoadFile]:
    given = LoadFile(np.asarray(loads), "here", "npy")
    return lb.balance(given.loads, topology, record="flows", **options), given


def test_json_document(tmp_path: Path) -> None:
    result, given = balanced([9, 7, 4, 1, 4, 6, 1, 5], lb.Chain(8))
    write_balance(tmp_path / "plan.json", result, given, {"exchange": "rbs"})
    document = json.loads((tmp_path / "plan.json").read_text())
    assert document["schema"] == "fastlb.balance"
    assert document["version"] == 1
    assert document["fastlb"] == lb.__version__
    assert document["input"] == {
        "source": "here", "kind": "npy", "shape": [8], "dtype": "int64", "quantum": None,
    }  # fmt: skip
    assert document["options"] == {"exchange": "rbs"}
    assert document["reached"] is True
    assert document["initial_loads"] == [9, 7, 4, 1, 4, 6, 1, 5]
    assert document["loads"] == [5, 5, 5, 5, 5, 4, 4, 4]
    assert document["flows"] == [[4, 6, 5, 1, 0, 2, -1, 0]]
    assert {key: document[key] for key in result.to_dict()} == result.to_dict()


def test_json_of_vt_data_names_phases_and_tasks() -> None:
    given = LoadFile(np.array([4, 0]), "run", "vt", phases=(3,), tasks=7, quantum=0.5)
    document = balance_document(lb.dde(given.loads, lb.Chain(2)), given, {})
    assert document["input"]["phases"] == [3]
    assert document["input"]["tasks"] == 7
    assert document["input"]["quantum"] == 0.5


def test_unreached_is_said() -> None:
    result, given = balanced([[0, 90], [5, 5]], lb.Chain(2), method="gde", max_sweeps=1, lam="1/9")
    assert result.converged.tolist() == [False, True]
    assert balance_document(result, given, {})["reached"] is False


def test_npz_holds_every_array(tmp_path: Path) -> None:
    result, given = balanced(np.arange(32.0).reshape(2, 4, 4), lb.Torus(4, 4), method="gde")
    write_balance(tmp_path / "plan.npz", result, given, {"lam": "3/4"})
    with np.load(tmp_path / "plan.npz", allow_pickle=False) as stored:
        assert np.array_equal(stored["initial_loads"], given.loads)
        for name in RECORDED_WITH:
            if hasattr(result, name):
                assert np.array_equal(stored[name], getattr(result, name))
        head = json.loads(str(stored["document"]))
    assert (head["method"], head["topology"]) == ("gde", "torus:4x4")
    assert head["options"] == {"lam": "3/4"}


@pytest.mark.parametrize(
    ("loads", "topology", "lines"),
    [
        ([4, 0, 0, 0], lb.Ring(4), ["1", "1", "1", "1"]),
        ([[4, 0], [0, 0]], lb.Mesh(2, 2), ["1,1", "1,1"]),
        ([[[4, 0], [0, 0]]] * 2, lb.Mesh(2, 2), ["1,1,1,1"] * 2),
        ([[4, 0, 0, 0], [8, 0, 0, 0]], lb.Ring(4), ["1,1,1,1", "2,2,2,2"]),
        ([0.5, 0.0], lb.Chain(2), ["0.25", "0.25"]),
        ([[[8, 0], [0, 0]], [[0, 0], [0, 0]]], lb.Mesh(2, 2, 2), ["1"] * 8),
        ([3], lb.Chain(1), ["3"]),
    ],
)
def test_csv_is_read_back(
    tmp_path: Path, loads: Any, topology: lb.Topology, lines: list[str]
) -> None:
    result, given = balanced(loads, topology)
    write_balance(tmp_path / "final.csv", result, given, {})
    assert (tmp_path / "final.csv").read_text().splitlines() == lines
    again = read_load_file([tmp_path / "final.csv"]).loads
    assert again.dtype == result.loads.dtype
    assert again.reshape(result.loads.shape).tolist() == result.loads.tolist()
    assert lb.dde(again, topology).loads.tolist() == again.tolist()


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("precious")
    with pytest.raises(FileExistsError):
        check_target(path)
    result, given = balanced([4, 0], lb.Chain(2))
    with pytest.raises(FileExistsError):
        write_balance(path, result, given, {})
    assert path.read_text() == "precious"
    write_balance(check_target(path, force=True), result, given, {}, force=True)
    assert json.loads(path.read_text())["loads"] == [2, 2]
    assert list(tmp_path.iterdir()) == [path]


def test_targets_are_judged_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"out must end in \.json, \.npz, \.csv, got 'plan\.txt'"):
        check_target("plan.txt")
    with pytest.raises(FileNotFoundError):
        check_target(tmp_path / "missing" / "plan.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(IsADirectoryError):
        check_target(tmp_path / "folder.json", force=True)


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("precious")

    def fail() -> None:
        with replacing(path, force=True) as stream:
            stream.write(b"half")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        fail()
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_keeps_pointing_where_it_did(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    with replacing(tmp_path / "link.csv", force=True) as stream:
        stream.write(b"2\n")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "2\n"


def test_json_that_cannot_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    result, given = balanced(np.zeros(2**12), lb.Ring(2**12))
    monkeypatch.setattr("fastlb.files.writing._JSON_BYTES", 2**50)
    with pytest.raises(
        MemoryError, match=r"the JSON document \(\.npz needs far less\) needs about"
    ):
        balance_document(result, given, {})


def test_json_of_numbers_that_are_not_finite_is_null() -> None:
    inf = float("inf")
    text = as_json({"a": float("nan"), "b": {"c": [1.5, [inf, -inf]]}, "d": "NaN", "e": (inf, 2)})
    found = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert found == {"a": None, "b": {"c": [1.5, [None, None]]}, "d": "NaN", "e": [None, 2]}


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe.json", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for name, leads_to in {"to-pipe.json": pipe, "to-folder.json": folder}.items():
        (tmp_path / name).symlink_to(leads_to)
    (tmp_path / "round.json").symlink_to(tmp_path / "round.json")
    before = sorted(tmp_path.iterdir())
    for name in ("pipe", "to-pipe", "to-folder", "round"):
        for judge in (check_target, enter):
            with pytest.raises(
                OSError, match=r"is a folder|is a device, a pipe or the like"
            ) as told:
                judge(tmp_path / f"{name}.json", force=True)
            assert told.value.filename == str(tmp_path / f"{name}.json")
    assert sorted(tmp_path.iterdir()) == before
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


def enter(path: Path, *, force: bool) -> None:
    with replacing(path, force=force):
        pytest.fail("nothing may be written")


def test_a_folder_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(PermissionError, match="folder is not writable") as told:
        check_target(tmp_path / "plan.json")
    assert told.value.filename == str(tmp_path)


def test_errors_of_the_system_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / f"{'a' * 245}.json"
    with pytest.raises(OSError, match="too long") as told:
        enter(path, force=False)
    assert told.value.filename == str(path)

    def full() -> None:
        with replacing(tmp_path / "plan.json") as stream:
            stream.write(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left") as told:
        full()
    assert told.value.filename == str(tmp_path / "plan.json")
    assert not list(tmp_path.iterdir())


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".plan.json.0123abcd.part").write_text("half")
    (tmp_path / ".out.0123abcd.part").mkdir()
    (tmp_path / ".out.0123abcd.part" / "table.csv").write_text("half")
    kept = [".other.json.0123abcd.part", ".plan.json.mine.part", ".plan.json.0123abcd"]
    for name in kept:
        (tmp_path / name).write_text("not ours")
    with replacing(tmp_path / "plan.json") as first:
        first.write(b"first")
        with replacing(tmp_path / "plan.json") as second:
            second.write(b"second")
        first.write(b" is written still")
        (tmp_path / "plan.json").unlink()
    with filling(tmp_path / "out") as partial:
        (partial / "a").write_text("whole")
        with filling(tmp_path / "out"):
            pass
        (tmp_path / "out").rmdir()
    assert (tmp_path / "plan.json").read_text() == "first is written still"
    assert (tmp_path / "out" / "a").read_text() == "whole"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "out", "plan.json"])
