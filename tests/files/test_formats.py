"""Loads from files: what is read, and what is said of files that cannot be."""

from __future__ import annotations

import io
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fastlb.files.formats import read_csv, read_load_file

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
    for descr in ("'<i8', 'shape': (3,(4)", "[[[", "b'<i8', 'shape': 3", "'<08'"):
        path.write_bytes(npy(f"{{'descr': {descr}"))
        refused(path, "a.npy is no readable .npy file: ")
    path.write_bytes(b"")
    refused(path, "does not begin as one")
    path.write_text("1,2,3")
    refused(path, "does not begin as one")


def npy(header: str, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


@pytest.mark.parametrize("length", [2**62, 2**70])
def test_npy_of_a_size_beyond_all_memory(tmp_path: Path, length: int) -> None:
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({length}, 4)}}\n"
    (tmp_path / "a.npy").write_bytes(npy(header, bytes(96)))
    refused(tmp_path / "a.npy", "a.npy is no readable .npy file: it is cut off")


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
    assert read_csv([str(10**300), "0.5"], "x").tolist() == [1e300, 0.5]


def test_a_broken_npy_header_is_told_in_words(tmp_path: Path) -> None:
    header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (1+1,)}\n"
    length = len(header).to_bytes(2, "little")
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + length + header + bytes(16))
    with pytest.raises(ValueError, match=r"no readable \.npy file") as caught:
        read_load_file([path])
    assert "0x" not in str(caught.value)


def test_csv_shortens_long_numbers() -> None:
    for lines in (["1" * 400], ["1" * 400, "0.5"]):
        with pytest.raises(OverflowError, match=r"^x must hold .*, got an integer of 1326 bits$"):
            read_csv(lines, "x")
    with pytest.raises(ValueError, match=r"^x line 1 must hold .*, got '1{59}\.\. \(5002 char"):
        read_csv(["1" * 5000], "x")


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
    refused(tmp_path / "a.csv", "a.csv: is no text (UTF-8)")


def test_csv_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("3\n1\n"))
    given = read_load_file(["-"])
    assert given.loads.tolist() == [3, 1]
    assert given.source == "standard input"
    monkeypatch.setattr("sys.stdin", io.StringIO("\ufeff3\n1\n"))
    assert read_load_file(["-"]).loads.tolist() == [3, 1]


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


def test_quantum_needs_finite_loads(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([1, np.nan]))
    refused(tmp_path / "a.npy", "loads must be finite, got nan in", "a.npy", quantum=1.0)


def test_quantum_must_leave_int64(tmp_path: Path) -> None:
    with pytest.raises(OverflowError, match="quantum must leave loads that fit int64, got 1e-17"):
        read_load_file([VT_16], quantum=1e-17)
    refused(write(tmp_path / "a.csv", "1,2"), "left out for integer loads, got int64", quantum=0.5)


def test_phase_is_for_vt_alone(tmp_path: Path) -> None:
    refused(write(tmp_path / "a.csv", "1,2"), "phase must be given for vt data alone", phase=0)


def test_what_is_not_there_or_not_known(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_load_file([tmp_path / "nothing.npy"])
    refused(tmp_path / "no*.npy", "no file matches")
    refused(write(tmp_path / "a.xlsx", ""), "loads must be a .npy or .csv file", "a.xlsx")
    refused(write(tmp_path / "loads.json", "{}"), "loads.json: holds no loads")
    with pytest.raises(ValueError, match=r"loads must be a \.npy or \.csv file"):
        read_load_file([VT_16, VT_16])
    with pytest.raises(ValueError, match="got nothing"):
        read_load_file([])


def test_progress_counts_files() -> None:
    seen: list[tuple[int, int]] = []
    read_load_file([VT_16], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 16) for i in range(1, 17)]
