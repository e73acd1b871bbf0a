"""Loads from vt data files: sums of task times, and what is said of files that are not right."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import brotli
import pytest

from fastlb import extras
from fastlb.errors import MissingExtraError
from fastlb.files.formats import read_load_file

VT_16 = Path(str(files("fastlb"))) / "data" / "vt-16"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> list[Any]:
    loads: list[Any] = read_load_file([path]).loads.tolist()
    return loads


def refused(path: Path, *says: str, **options: Any) -> None:
    """The file is refused in one line that says all of ``says``."""
    with pytest.raises(ValueError) as caught:
        read_load_file([path], **options)
    text = str(caught.value)
    assert "\n" not in text
    for part in says:
        assert part in text


def datafile(times: dict[int, list[Any]], **head: Any) -> dict[str, Any]:
    phases = [
        {"id": phase, "tasks": [{"time": time, "node": 0} for time in listed]}
        for phase, listed in times.items()
    ]
    return {"type": "LBDatafile", "phases": phases, **head}


def ranks(folder: Path, *contents: dict[str, Any]) -> Path:
    for rank, content in enumerate(contents):
        write(folder / f"run.{rank}.json", json.dumps(content))
    return folder


@pytest.mark.parametrize("rank", ["99999999999999999999", "-1", "+2", "9" * 200, "1000000000"])
def test_a_rank_that_is_none_is_refused(tmp_path: Path, rank: str) -> None:
    ranks(tmp_path, datafile({0: [1]}))
    write(tmp_path / f"run.{rank}.json", json.dumps(datafile({0: [2]})))
    refused(tmp_path, f"run.{rank}.json must be named by a rank from 0 to 999999999")


def test_a_rank_may_have_leading_zeros(tmp_path: Path) -> None:
    write(tmp_path / "run.00.json", json.dumps(datafile({0: [1]})))
    write(tmp_path / "run.0000000000001.json", json.dumps(datafile({0: [2]})))
    assert read(tmp_path) == [1, 2]


def test_phases_are_a_batch(tmp_path: Path) -> None:
    ranks(tmp_path, datafile({3: [1, 2.5], 1: []}), datafile({1: [4], 3: [0.25] * 4}))
    given = read_load_file([tmp_path])
    assert given.phases == (1, 3)
    assert given.loads.tolist() == [[0, 4], [3.5, 1]]
    one = read_load_file([tmp_path], phase=3)
    assert (one.phases, one.loads.tolist()) == ((3,), [3.5, 1])
    refused(tmp_path, "phase must be one of 1, 3 in", "got 2", phase=2)


def test_sums_do_not_depend_on_the_order_of_tasks(tmp_path: Path) -> None:
    ranks(tmp_path, datafile({0: [1e16, 1, 1]}), datafile({0: [1, 1, 1e16]}))
    assert read(tmp_path) == [1e16 + 2, 1e16 + 2]


def test_newer_files_say_their_type_in_the_metadata(tmp_path: Path) -> None:
    content = {"metadata": {"type": "LBDatafile", "rank": 0}, **datafile({0: [2]})}
    del content["type"]
    assert read(ranks(tmp_path, content)) == [2]
    content["metadata"] = {"type": "LBStatsfile"}
    refused(ranks(tmp_path, content), "must have type 'LBDatafile', got 'LBStatsfile'")
    content["metadata"] = {"rank": 5}
    refused(ranks(tmp_path, content), "must be of rank 0, its metadata say 5")


@pytest.mark.parametrize("time", [-1.0, float("nan"), float("inf"), "3", None, True, 10**400])
def test_times_must_be_finite_and_not_negative(tmp_path: Path, time: Any) -> None:
    ranks(tmp_path, datafile({0: [1]}), datafile({0: [1, time]}))
    refused(tmp_path, "run.1.json", "finite task times of at least 0", "phase 0, task 1")


def test_sums_must_fit_float64(tmp_path: Path) -> None:
    ranks(tmp_path, datafile({0: [1]}), datafile({4: [1e308, 1e308]}))
    with pytest.raises(OverflowError, match=r"run\.1\.json must have .* got more in phase 4$"):
        read(tmp_path)


def test_a_number_in_the_name_that_is_no_rank(tmp_path: Path) -> None:
    path = write(tmp_path / "d.999999999.json", json.dumps(datafile({0: [1]})))
    refused(path, "d.999999999.json is named as rank 999999999", "number of files, got 1")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[]", "is no LBDatafile: got a JSON list"),
        ('{"type": "LBDatafile"}', "must have a list of phases, got None"),
        ('{"type": "LBDatafile", "phases": []}', "must have a list of phases, got []"),
        ('{"type": 7, "phases": []}', "must have type 'LBDatafile', got 7"),
        ('{"phases": [{"id": "0", "tasks": []}]}', "must give every phase an integer id"),
        ('{"phases": [7]}', "must give every phase an integer id, got 7"),
        ('{"phases": [{"id": 0}]}', "must list the tasks of phase 0, got None"),
        ('{"phases": [{"id": 0, "tasks": [3]}]}', "got None in phase 0, task 0"),
        ('{"phases": [{"id": 0, "tasks": []}, {"id": 0, "tasks": []}]}', "phase 0 twice"),
        ('{"type": "LBDatafile", "pha', "is cut off or no JSON"),
        ('{"phases": [{"id": ' + "1" * 5000 + "}]}", "must hold numbers that fit float64"),
        ("[" * 100_000, "is no LBDatafile: nested too deeply"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: str, says: str) -> None:
    ranks(tmp_path, datafile({0: [1]}))
    write(tmp_path / "run.1.json", content)
    refused(tmp_path, str(tmp_path / "run.1.json"), says)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "run.0.json").write_bytes(b'{"a": "\xff"}')
    refused(tmp_path, "run.0.json is neither UTF-8 text nor compressed with brotli")


def test_truncated_real_data(tmp_path: Path) -> None:
    for path in VT_16.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    whole = (tmp_path / "toy.7.json").read_bytes()
    (tmp_path / "toy.7.json").write_bytes(whole[: len(whole) // 2])
    refused(tmp_path, "toy.7.json is cut off or no JSON")


def test_ranks_must_be_complete_and_single(tmp_path: Path) -> None:
    content = json.dumps(datafile({0: [1]}))
    for rank in (0, 2, 5):
        write(tmp_path / f"run.{rank}.json", content)
    refused(tmp_path, "must hold a file for every rank 0..5, missing 1, 3, 4")
    write(tmp_path / "run.02.json", content)
    refused(tmp_path, "rank 2 must have one file")


def test_ranks_must_agree_on_the_phases(tmp_path: Path) -> None:
    ranks(tmp_path, datafile({0: [1], 1: [1]}), datafile({0: [1], 2: [1]}))
    refused(tmp_path, "run.1.json must have the phases of run.0.json (0, 1), got 0, 2")


def test_folders_of_several_runs_or_none(tmp_path: Path) -> None:
    refused(tmp_path, "holds no PREFIX.RANK.json files")
    ranks(tmp_path, datafile({0: [1]}))
    write(tmp_path / "notes.txt", "passed over")
    write(tmp_path / "settings.json", "{}")
    assert read(tmp_path) == [1]
    write(tmp_path / "walk.0.json", json.dumps(datafile({0: [2]})))
    refused(tmp_path, "holds the files of 2 runs (run, walk)", "run.*.json")
    assert read_load_file([str(tmp_path / "walk.*.json")]).loads.tolist() == [2]


@pytest.mark.parametrize("name", ["run.{}.json.br", "run.{}.json"])
def test_compressed_files(tmp_path: Path, name: str) -> None:
    for rank in range(2):
        content = json.dumps(datafile({0: [1, rank], 3: [4]})).encode()
        (tmp_path / name.format(rank)).write_bytes(brotli.compress(content))
    assert read(tmp_path) == [[1, 2], [4, 4]]
    assert read_load_file([str(tmp_path / "run.*")]).loads.tolist() == [[1, 2], [4, 4]]


def test_without_brotli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "brotli", None)
    extras.extra.cache_clear()
    (tmp_path / "run.0.json").write_bytes(brotli.compress(json.dumps(datafile({0: [1]})).encode()))
    with pytest.raises(MissingExtraError, match="no text, perhaps compressed: brotli is needed"):
        read_load_file([tmp_path])


def test_one_rank_of_many_is_hardly_meant() -> None:
    refused(VT_16 / "toy.3.json", "toy.3.json is one of 16 ranks", "toy.*.json")
