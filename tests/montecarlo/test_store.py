"""Trials kept in a folder: the same results however a run was divided or broken off."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fastlb as lb
from fastlb.montecarlo.manifest import MANIFEST
from fastlb.montecarlo.results import Results

from .stores import ROWS, STUDY, broken_off, parts, same

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def results() -> Results:
    return lb.run(STUDY)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("chunk", [None, 1, 64, 149])
def test_a_store_changes_nothing(
    results: Results, tmp_path: Path, threads: int, chunk: int | None
) -> None:
    found = lb.run(STUDY, store=tmp_path / "store", threads=threads, chunk=chunk)
    assert same(found, results)
    assert same(lb.read_store(tmp_path / "store"), results)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("chunks", [(7, 64, 10), (50, 13, 1000), (1000, 3, None)])
def test_broken_off_and_resumed_with_other_chunks(
    results: Results, tmp_path: Path, chunks: tuple[int, int, int | None]
) -> None:
    first = broken_off(tmp_path, 100, chunk=chunks[0])
    second = broken_off(tmp_path, max(first + 1, 900), chunk=chunks[1], threads=2, resume=True)
    assert 100 <= first < second
    told: list[int] = []
    found = lb.run(
        STUDY,
        store=tmp_path,
        resume=True,
        chunk=chunks[2],
        progress=lambda done, _: told.append(done),
    )
    assert same(found, results)
    assert told[0] >= second
    assert told == sorted(told)
    assert told[-1] == ROWS
    assert same(lb.read_store(tmp_path), results)


@pytest.mark.usefixtures("often")
def test_the_folder_is_one_table_for_other_readers(results: Results, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    lb.run(STUDY, store=tmp_path, chunk=40)
    assert len(parts(tmp_path)) > 10
    columns = ["topology", "method", "loads", "trial"]
    found = pandas.read_parquet(tmp_path).astype(dict.fromkeys(columns[:3], str))
    expected = results.to_pandas().astype(dict.fromkeys(columns[:3], str))
    assert list(found.columns) == list(expected.columns)
    found, expected = (
        frame.sort_values(columns).reset_index(drop=True).convert_dtypes()
        for frame in (found, expected)
    )
    pandas.testing.assert_frame_equal(found, expected)


@pytest.mark.usefixtures("often")
def test_more_trials_of_the_same_study(tmp_path: Path) -> None:
    few = dataclasses.replace(STUDY, trials=11)
    lb.run(few, store=tmp_path)
    kept = {path: path.read_bytes() for path in parts(tmp_path)}
    found = lb.run(STUDY, store=tmp_path, resume=True, chunk=64)
    assert same(found, lb.run(STUDY))
    assert {path: path.read_bytes() for path in kept} == kept
    with pytest.raises(ValueError, match="trials: 150 in the store, 11 now"):
        lb.run(few, store=tmp_path, resume=True)


def test_an_old_store_is_not_run_over(tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path)
    with pytest.raises(FileExistsError, match="holds a store already"):
        lb.run(STUDY, store=tmp_path)


def test_what_else_is_in_the_folder_stays(results: Results, tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "part-0.parquet").write_text("mine too")
    (tmp_path / ".part-000009-x.parquet.0123abcd.part").write_text("what a killed run leaves")
    assert same(lb.run(STUDY, store=tmp_path, resume=True), results)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "part-0.parquet").read_text() == "mine too"
    assert not list(tmp_path.glob(".*.part"))


def test_folders_that_can_be_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is no folder"):
        lb.run(STUDY, store=tmp_path / "file")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        lb.run(STUDY, store=tmp_path / "none" / "store")
    with pytest.raises(FileExistsError, match="holds other files"):
        lb.run(STUDY, store=tmp_path, resume=True)
    with pytest.raises(FileNotFoundError, match="holds no store"):
        lb.read_store(tmp_path)
    lb.run(STUDY, store=tmp_path / "store")
    (tmp_path / "store" / MANIFEST).unlink()
    with pytest.raises(FileExistsError, match="parts of a store without _manifest"):
        lb.run(STUDY, store=tmp_path / "store", resume=True)
    with pytest.raises(ValueError, match="resume needs a store"):
        lb.run(STUDY, resume=True)


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ((5,), TypeError, "folder must be the path of a folder, got 5"),
        (("",), ValueError, "folder must be the path of a folder, got ''"),
        ((".", "wu-shu"), TypeError, "study must be a Study, got 'wu-shu'"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        lb.read_store(*arguments)
    with pytest.raises(TypeError, match="rows must be True or False, got 2"):
        lb.read_store(".", rows=2)  # type: ignore[arg-type]


def test_a_folder_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="folder is not writable"):
        lb.run(STUDY, store=tmp_path / "store")
    assert not list(tmp_path.iterdir())


def test_one_run_at_a_time(tmp_path: Path) -> None:
    inside = []

    def tell(done: int, _total: int) -> None:
        if not inside:
            inside.append(done)
            with pytest.raises(BlockingIOError, match="is in use by this process"):
                lb.run(STUDY, store=tmp_path, resume=True)
            code = (
                "import fastlb as lb, sys\n"
                "try:\n"
                "    lb.run(lb.Study('s', ['ring:4'], ['dde'], 'uniform:1'), store=sys.argv[1],"
                " resume=True)\n"
                "except BlockingIOError as error:\n"
                "    print(error.strerror)\n"
            )
            root = Path(lb.__file__).parents[1]
            done_there = subprocess.run(
                [sys.executable, "-c", code, str(tmp_path)],
                cwd=root,
                capture_output=True,
                text=True,
                check=True,
            )
            assert done_there.stdout.startswith(f"is in use by process {os.getpid()} on ")

    lb.run(STUDY, store=tmp_path, progress=tell)
    assert inside
    lb.run(STUDY, store=tmp_path, resume=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_run_whose_workers_live_on_holds_no_lock(tmp_path: Path) -> None:
    code = (
        "import fastlb as lb, os, sys, time\n"
        "from multiprocessing import get_context\n"
        "def tell(done, total):\n"
        "    worker = get_context('fork').Process(target=time.sleep, args=(60,))\n"
        "    worker.start()\n"
        "    print(worker.pid, flush=True)\n"
        "    time.sleep(60)\n"
        "study = lb.Study('s', ['ring:4'], ['dde'], 'uniform:1', trials=5)\n"
        "lb.run(study, store=sys.argv[1], progress=tell)\n"
    )
    root = Path(lb.__file__).parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=root, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        orphan = int(process.stdout.readline())
        process.kill()
        process.stdout.close()
    try:
        os.kill(orphan, 0)
        study = lb.Study("s", ["ring:4"], ["dde"], "uniform:1", trials=5)
        assert len(lb.run(study, store=tmp_path, resume=True)) == 5
    finally:
        os.kill(orphan, signal.SIGKILL)
