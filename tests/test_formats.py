"""Loads from files: what is read, and what is said of files that cannot be."""

from __future__ import annotations

import io
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fastlb.formats import read_csv, read_load_file

VT_16 = Path(str(files("fastlb"))) / "data" / "vt-16"
VT_16_LOADS = [79, 55, 1431, 118, 1468, 1235, 631, 174, 465, 967, 2053, 229, 2923, 1196, 2363, 646]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, **options: Any) -> np.ndarray[Any, Any]:
    return read_load_file([path], **options).loads


def refused(path: Path, *says: str, **options: Any) -> None:
    """The file is refused in one line that says all of ``says``."""
    with pytest.raises(ValueError) as caught:
        read_load_file([path], **options)
    text = str(caught.value)
    assert "\n" not in text
    for part in says:
        assert part in text


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8", "f4", "f8", ">i8"])
def test_npy_keeps_dtype_and_shape(tmp_path: Path, dtype: str) -> None:
    loads = np.arange(24).reshape(2, 3, 4).astype(dtype)
    np.save(tmp_path / "a.npy", loads)
    found = read(tmp_path / "a.npy")
    assert found.dtype == loads.dtype
    assert np.array_equal(found, loads)


def test_npy_in_fortran_order(tmp_path: Path) -> None:
    loads = np.asfortranarray(np.arange(6).reshape(2, 3))
    np.save(tmp_path / "a.npy", loads)
    assert read(tmp_path / "a.npy").tolist() == [[0, 1, 2], [3, 4, 5]]


def test_npy_refuses_objects_and_ruins(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.array([{}, 1], dtype=object), allow_pickle=True)
    refused(path, "a.npy is no readable .npy file")
    np.save(path, np.arange(100))
    path.write_bytes(path.read_bytes()[:-8])
    refused(path, "a.npy is no readable .npy file", "cut off")
    path.write_bytes(b"\x93NUMPY\x01\x00\x30\x00{'descr': '<i8', 'shape'")
    refused(path, "a.npy is no readable .npy file")
    path.write_bytes(b"")
    refused(path, "does not begin as one")
    path.write_text("1,2,3")
    refused(path, "does not begin as one")


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ("1,2,3\n4,5,6\n", [[1, 2, 3], [4, 5, 6]]),
        ("1;2;3\n4;5;6", [[1, 2, 3], [4, 5, 6]]),
        ("1\t2\r\n3\t4\r\n", [[1, 2], [3, 4]]),
        ("1 2  3\n", [1, 2, 3]),
        ("5\n\n6\n7\n", [5, 6, 7]),
        ("42", [42]),
        ("# made by hand\nnode a, node b\n1, 2\n3, 4\n", [[1, 2], [3, 4]]),
        ('"load"\n7\n8\n', [7, 8]),
        ("\ufeff1,2\n", [1, 2]),
    ],
)
def test_csv_layouts(tmp_path: Path, text: str, loads: list[Any]) -> None:
    found = read(write(tmp_path / "a.csv", text))
    assert found.dtype == np.int64
    assert found.tolist() == loads


def test_csv_numbers_keep_their_kind() -> None:
    assert read_csv(["1,2.0,3e2"], "x").dtype == np.float64
    assert read_csv([f"{2**63 - 1},1"], "x").tolist() == [2**63 - 1, 1]
    beyond = read_csv([f"{2**63},1"], "x")
    assert beyond.dtype == np.uint64
    assert beyond.tolist() == [2**63, 1]
    with pytest.raises(OverflowError, match=r"x must hold integers below 2\*\*64, got 18446744"):
        read_csv([str(2**64)], "x")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no numbers"),
        ("a,b\n", "holds no numbers"),
        ("1,2\n3,x\n", "line 2 must hold finite numbers of at least 0, got 'x'"),
        ("load\n1\n\n2O\n", "line 4 must hold finite numbers of at least 0, got '2O'"),
        ("1O\n20\n", "line 1 must hold finite numbers of at least 0, got '1O'"),
        ("1,-2\n", "line 1 must hold finite numbers of at least 0, got '-2'"),
        ("1,nan\n", "got 'nan'"),
        ("nan\n1\n", "line 1 must hold finite numbers of at least 0, got 'nan'"),
        ("1.5,inf\n", "got 'inf'"),
        ("1e999\n", "got '1e999'"),
        ("1,2,\n", "got ''"),
        ("1_000\n", "got '1_000'"),
        ("١\n", "got '١'"),
        ("1,2\n3\n", "line 2 must have 2 numbers as line 1 has, got 1"),
        ("a,b\nc,d\n", "line 2 must hold finite numbers"),
    ],
)
def test_csv_names_file_line_and_text(tmp_path: Path, text: str, says: str) -> None:
    refused(write(tmp_path / "a.csv", text), str(tmp_path / "a.csv"), says)


def test_csv_refuses_other_encodings(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("1,2\n".encode("utf-16"))
    refused(tmp_path / "a.csv", "a.csv is no text (UTF-8)")


def test_csv_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("3\n1\n"))
    given = read_load_file(["-"])
    assert given.loads.tolist() == [3, 1]
    assert given.source == "standard input"


def test_vt_16_by_folder_pattern_and_files() -> None:
    for paths in ([VT_16], [str(VT_16 / "*.json")], sorted(VT_16.glob("*.json"))):
        given = read_load_file(paths)
        assert given.loads.dtype == np.float64
        assert given.loads.tolist() == VT_16_LOADS
        assert (given.kind, given.phases, given.tasks) == ("vt", (0,), 274)


def test_quantum_gives_whole_units() -> None:
    given = read_load_file([VT_16], quantum=0.1)
    assert given.loads.dtype == np.int64
    assert given.loads.tolist() == [10 * load for load in VT_16_LOADS]
    assert given.quantum == 0.1


@pytest.mark.parametrize("quantum", [0.0, -1.0, float("nan"), float("inf")])
def test_quantum_must_be_a_size(quantum: float) -> None:
    refused(VT_16, "quantum must be a finite number above 0", quantum=quantum)


def test_quantum_must_leave_int64(tmp_path: Path) -> None:
    with pytest.raises(OverflowError, match="quantum must leave loads that fit int64, got 1e-17"):
        read_load_file([VT_16], quantum=1e-17)
    refused(write(tmp_path / "a.csv", "1,2"), "float loads alone, got int64", quantum=0.5)


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


def test_phases_are_a_batch(tmp_path: Path) -> None:
    ranks(tmp_path, datafile({3: [1, 2.5], 1: []}), datafile({1: [4], 3: [0.25] * 4}))
    given = read_load_file([tmp_path])
    assert given.phases == (1, 3)
    assert given.loads.tolist() == [[0, 4], [3.5, 1]]
    one = read_load_file([tmp_path], phase=3)
    assert (one.phases, one.loads.tolist()) == ((3,), [3.5, 1])
    refused(tmp_path, "phase must be one of 1, 3 in", "got 2", phase=2)


def test_phase_is_for_vt_alone(tmp_path: Path) -> None:
    refused(write(tmp_path / "a.csv", "1,2"), "phase must be given for vt data alone", phase=0)


def test_sums_do_not_depend_on_the_order_of_tasks(tmp_path: Path) -> None:
    ranks(tmp_path, datafile({0: [1e16, 1, 1]}), datafile({0: [1, 1, 1e16]}))
    assert read(tmp_path).tolist() == [1e16 + 2, 1e16 + 2]


def test_newer_files_say_their_type_in_the_metadata(tmp_path: Path) -> None:
    content = {"metadata": {"type": "LBDatafile", "rank": 0}, **datafile({0: [2]})}
    del content["type"]
    assert read(ranks(tmp_path, content)).tolist() == [2]
    content["metadata"] = {"type": "LBStatsfile"}
    refused(ranks(tmp_path, content), "must have type 'LBDatafile', got 'LBStatsfile'")
    content["metadata"] = {"rank": 5}
    refused(ranks(tmp_path, content), "must be of rank 0, its metadata say 5")


@pytest.mark.parametrize("time", [-1.0, float("nan"), float("inf"), "3", None, True, 10**400])
def test_times_must_be_finite_and_not_negative(tmp_path: Path, time: Any) -> None:
    ranks(tmp_path, datafile({0: [1]}), datafile({0: [1, time]}))
    refused(tmp_path, "run.1.json", "finite task times of at least 0", "phase 0, task 1")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[]", "is no LBDatafile: got a JSON list"),
        ('{"type": "LBDatafile"}', "must have a list of phases, got none"),
        ('{"type": "LBDatafile", "phases": []}', "must have a list of phases, got []"),
        ('{"type": 7, "phases": []}', "must have type 'LBDatafile', got 7"),
        ('{"phases": [{"id": "0", "tasks": []}]}', "must give every phase an integer id"),
        ('{"phases": [7]}', "must give every phase an integer id, got 7"),
        ('{"phases": [{"id": 0}]}', "must list the tasks of phase 0, got none"),
        ('{"phases": [{"id": 0, "tasks": [3]}]}', "got none in phase 0, task 0"),
        ('{"phases": [{"id": 0, "tasks": []}, {"id": 0, "tasks": []}]}', "phase 0 twice"),
        ('{"type": "LBDatafile", "pha', "is cut off or no JSON"),
        ("[" * 100_000, "is no LBDatafile: nested too deeply"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: str, says: str) -> None:
    ranks(tmp_path, datafile({0: [1]}))
    write(tmp_path / "run.1.json", content)
    refused(tmp_path, str(tmp_path / "run.1.json"), says)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "run.0.json").write_bytes(b'{"a": "\xff"}')
    refused(tmp_path, "run.0.json is no JSON: not UTF-8")


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
    assert read(tmp_path).tolist() == [1]
    write(tmp_path / "walk.0.json", json.dumps(datafile({0: [2]})))
    refused(tmp_path, "holds the files of 2 runs (run, walk)", "run.*.json")
    assert read_load_file([str(tmp_path / "walk.*.json")]).loads.tolist() == [2]


def test_compressed_files_must_be_decompressed(tmp_path: Path) -> None:
    (tmp_path / "run.0.json.br").write_bytes(b"\x8b\x03\x80")
    refused(tmp_path, "run.0.json.br is compressed with brotli: decompress it first (brotli -d")
    refused(tmp_path / "run.0.json.br", "decompress it first")
    refused(Path(tmp_path / "*.br"), "decompress it first")


def test_one_rank_of_many_is_hardly_meant() -> None:
    refused(VT_16 / "toy.3.json", "toy.3.json is one of 16 ranks", "toy.*.json")


def test_what_is_not_there_or_not_known(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_load_file([tmp_path / "nothing.npy"])
    refused(tmp_path / "no*.npy", "no file matches")
    refused(write(tmp_path / "a.xlsx", ""), "loads must be a .npy or .csv file", "a.xlsx")
    refused(write(tmp_path / "loads.json", "{}"), "must be named PREFIX.RANK.json")
    with pytest.raises(ValueError, match="loads must be a .npy or .csv file"):
        read_load_file([VT_16, VT_16])
    with pytest.raises(ValueError, match="got nothing"):
        read_load_file([])


def test_progress_counts_files() -> None:
    seen: list[tuple[int, int]] = []
    read_load_file([VT_16], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 16) for i in range(1, 17)]
