"""Part files of a run in a folder: written as it goes, read again, damaged or lost."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.thread import BrokenThreadPool
from pathlib import Path
from typing import Any

import pytest

import fastlb as lb
from fastlb.montecarlo import storage, store
from fastlb.montecarlo.results import Results

from .stores import STUDY, broken_off, parts, same

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def results() -> Results:
    return lb.run(STUDY)


def test_a_finished_run_is_read_and_not_run_again(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lb.run(STUDY, store=tmp_path)
    before = parts(tmp_path)
    monkeypatch.setattr("fastlb.montecarlo.executors.run_chunk", None)
    assert same(lb.run(STUDY, store=tmp_path, resume=True), results)
    assert parts(tmp_path) == before


@pytest.mark.usefixtures("often")
def test_methods_that_are_missing_are_run_alone(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part holds some of the methods of a chunk: the others are run, and all come in order."""
    from fastlb.montecarlo.chunks import divide
    from fastlb.montecarlo.measuring import dry_run, run_chunk

    layout = dry_run(STUDY)
    with store.open_store(tmp_path, STUDY, layout, resume=False) as kept:
        chunks = [dataclasses.replace(c, methods=c.methods[1:2]) for c in divide(STUDY, 40)]
        assert len(list(kept.chunks(chunks, None))) == len(chunks)
    run: list[tuple[str, ...]] = []

    def remembered(chunk):  # type: ignore[no-untyped-def]
        run.append(chunk.methods)
        return run_chunk(chunk)

    monkeypatch.setattr("fastlb.montecarlo.executors.run_chunk", remembered)
    assert same(lb.run(STUDY, store=tmp_path, resume=True, chunk=33), results)
    assert {len(methods) for methods in run} == {1, 3}


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("damage", ["cut", "empty", "flipped"])
def test_a_damaged_part_is_run_again(results: Results, tmp_path: Path, damage: str) -> None:
    lb.run(STUDY, store=tmp_path, chunk=64)
    part = parts(tmp_path)[3]
    content = bytearray(part.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
    else:
        del content[0 if damage == "empty" else len(content) // 2 :]
    part.write_bytes(content)
    with pytest.raises(ValueError, match=f"{part.name} is damaged"):
        lb.read_store(tmp_path)
    with pytest.warns(RuntimeWarning, match=f"{part.name} is damaged: its trials are run again"):
        found = lb.run(STUDY, store=tmp_path, resume=True)
    assert same(found, results)
    assert not part.exists()
    assert same(lb.read_store(tmp_path), results)


@pytest.mark.usefixtures("often")
def test_a_part_that_is_gone_is_run_again(results: Results, tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path, chunk=64)
    parts(tmp_path)[-1].unlink()
    parts(tmp_path)[2].unlink()
    with pytest.raises(ValueError, match=r"holds [\d,]+ rows of 1,500: the run is not complete"):
        lb.read_store(tmp_path)
    assert same(lb.run(STUDY, store=tmp_path, resume=True), results)


@pytest.mark.usefixtures("often")
def test_a_full_disk(results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third part does not fit: those before it stay, and the run goes on when there is room."""
    written = []
    sync = os.fsync

    def fsync(handle: int) -> None:
        if os.fstat(handle).st_size and ".part" in str(Path(f"/proc/self/fd/{handle}").readlink()):
            written.append(handle)
            if len(written) > 3:  # the manifest is the first
                raise OSError(28, "No space left on device")
        sync(handle)

    if not Path("/proc/self/fd").exists():
        pytest.skip("files are told apart by /proc")
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="No space left on device; what was kept before is safe"):
        lb.run(STUDY, store=tmp_path, chunk=64)
    assert len(parts(tmp_path)) == 2
    assert not list(tmp_path.glob(".*.part"))
    monkeypatch.undo()
    assert same(lb.run(STUDY, store=tmp_path, resume=True), results)


@pytest.mark.usefixtures("often")
def test_a_chunk_that_fails_leaves_the_others(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastlb.montecarlo.measuring import run_chunk

    monkeypatch.setattr(storage, "MIN_INTERVAL", 1e9)

    def failing(chunk):  # type: ignore[no-untyped-def]
        if chunk.start >= 100:
            raise OverflowError("too much")
        return run_chunk(chunk)

    monkeypatch.setattr("fastlb.montecarlo.executors.run_chunk", failing)
    with pytest.raises(OverflowError, match="too much"):
        lb.run(STUDY, store=tmp_path, chunk=50)
    assert len(parts(tmp_path)) == 1
    monkeypatch.undo()
    told: list[int] = []
    again = lb.run(STUDY, store=tmp_path, resume=True, progress=lambda done, _: told.append(done))
    assert told[0] == 200
    assert same(again, results)


def test_parts_are_written_less_often_as_time_goes_by(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    from fastlb.montecarlo.parts import Format

    study = lb.Study("s", ["ring:4"], ["dde"], "uniform:9", trials=5)
    kept = storage.Store(Path(__file__).parents[1] / "cases", Format(study, {}, ""))
    for now, written, due in (
        (0.9, 0.0, False),
        (1.0, 0.0, True),
        (1000.0, 985.0, False),
        (1000.0, 980.0, True),
        (1e6, 1e6 - 59, False),
        (1e6, 1e6 - 60, True),
    ):
        clock[0], kept._last_write = now, written
        assert kept._is_due(storage._Part()) is due


@pytest.fixture
def by_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make parts of some rows, however long they take; return which threads do, as they do."""
    threads: list[int] = []
    encode = storage._encode

    def told(*given: Any) -> Any:
        threads.append(threading.get_ident())
        return encode(*given)

    monkeypatch.setattr(storage, "MIN_INTERVAL", 1e9)
    monkeypatch.setattr(storage, "PART_ROWS", 250)
    monkeypatch.setattr(storage, "_encode", told)
    return threads


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in parts(folder)}


def test_parts_are_the_same_whoever_makes_them(
    results: Results, tmp_path: Path, by_rows: list[int]
) -> None:
    lb.run(STUDY, store=tmp_path / "alone", chunk=20)
    assert set(by_rows) == {threading.get_ident()}
    expected = contents(tmp_path / "alone")
    arrow = pytest.importorskip("pyarrow.parquet")
    *rows, _ = (arrow.read_metadata(path).num_rows for path in parts(tmp_path / "alone"))
    assert len(rows) >= 4
    assert all(250 <= count < 250 + 20 * 4 for count in rows)
    by_rows.clear()
    found = lb.run(STUDY, store=tmp_path / "threads", chunk=20, threads=2)
    assert same(found, results)
    assert contents(tmp_path / "threads") == expected
    with ThreadPoolExecutor(3) as executor:
        lb.run(STUDY, store=tmp_path / "pool", chunk=20, executor=executor, rows=False)
    assert contents(tmp_path / "pool") == expected
    assert same(lb.read_store(tmp_path / "pool"), results)


class Busy(Executor):
    """What a pool looks like that never comes to make a part, takes none, or breaks over it."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.asked = 0

    def submit(self, function: Any, /, *given: Any, **named: Any) -> Future[Any]:
        self.asked += 1
        if self.how == "refuses":
            raise RuntimeError("cannot schedule new futures after shutdown")
        made: Future[Any] = Future()
        if self.how == "breaks":
            made.set_exception(BrokenThreadPool("a thread initializer failed"))
        return made


@pytest.mark.parametrize("how", ["waits", "refuses", "breaks"])
def test_no_part_needs_the_pool(
    results: Results, tmp_path: Path, by_rows: list[int], how: str
) -> None:
    busy = Busy(how)

    class Pool(ThreadPoolExecutor):
        def submit(self, function: Any, /, *given: Any, **named: Any) -> Future[Any]:
            chosen = busy if function is storage._encode else super()
            return chosen.submit(function, *given, **named)

    with Pool(2) as executor:
        found = lb.run(STUDY, store=tmp_path, chunk=20, executor=executor)
    assert busy.asked > 4
    assert set(by_rows) == {threading.get_ident()}
    assert same(found, results)
    assert same(lb.read_store(tmp_path), results)


@pytest.mark.usefixtures("by_rows")
@pytest.mark.parametrize("after", [1, 700, 1200])
def test_an_interrupt_loses_no_part_and_keeps_none_twice(
    results: Results, tmp_path: Path, after: int
) -> None:
    arrow = pytest.importorskip("pyarrow.parquet")
    told = broken_off(tmp_path, after, threads=2, chunk=20)
    kept = arrow.read_table(tmp_path).select(["topology", "method", "loads", "trial"]).to_pylist()
    assert len(kept) >= told
    assert len({tuple(row.values()) for row in kept}) == len(kept)
    assert same(lb.run(STUDY, store=tmp_path, resume=True, threads=2), results)


@pytest.mark.usefixtures("by_rows")
def test_a_full_disk_is_not_tried_again(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, tried = storage.put, []

    def full(path: Path, content: bytes) -> None:
        tried.append(path)
        if len(tried) > 2:
            raise OSError(28, "No space left on device")
        put(path, content)

    monkeypatch.setattr(storage, "put", full)
    with pytest.raises(OSError, match="No space left"):
        lb.run(STUDY, store=tmp_path, chunk=20, threads=2)
    assert len(tried) == 3
    assert len(parts(tmp_path)) == 2
    monkeypatch.undo()
    assert same(lb.run(STUDY, store=tmp_path, resume=True), results)


@pytest.mark.usefixtures("by_rows")
def test_what_makes_no_part_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts that follow, of which threads have some in hand, are not tried."""
    encode = storage._encode

    def fails(form: Any, rows: list[Any]) -> Any:
        if rows[0].cell != STUDY.cells[0] or rows[0].start > 0:
            raise OverflowError("moved must fit float64")
        return encode(form, rows)

    monkeypatch.setattr(storage, "_encode", fails)
    with pytest.raises(OverflowError, match="moved must fit") as raised:
        lb.run(STUDY, store=tmp_path, chunk=20, threads=2)
    assert raised.value.__context__ is None
    assert len(parts(tmp_path)) == 1


def test_threads_that_make_parts_import_nothing(tmp_path: Path) -> None:
    """What was imported before the first part is all that parts need, in a fresh interpreter."""
    code = f"""
import sys
import fastlb as lb
from fastlb.montecarlo import storage

encode, before, after = storage._encode, [], []

def told(*given):
    before.append(set(sys.modules))
    made = encode(*given)
    after.append(set(sys.modules))
    return made

storage._encode = told
lb.run(lb.Study("s", ["ring:8"], ["dde"], "uniform:9", trials=50), store={str(tmp_path / "s")!r})
further = after[0] - before[0]
assert not any(name.partition(".")[0] in ("pandas", "pyarrow") for name in further), further
"""
    root = Path(lb.__file__).parents[1]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, timeout=120)
