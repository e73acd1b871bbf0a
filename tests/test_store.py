"""Trials kept in a folder: the same results however a run was divided, broken off or damaged."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo import keeper, store
from fastlb.montecarlo.manifest import describe, differences, digest, study_of
from fastlb.montecarlo.results import Results

pytest.importorskip("pyarrow")

STUDY = lb.Study(
    "small",
    topologies=["mesh:8x8", "torus:3x5"],
    methods=["gde:lam=0.723", "gde:lam=1/2,max_sweeps=3"],
    loads=["uniform:1000", "uniform:3"],
    trials=150,
    seed=1995,
    further=[lb.Part(["torus:3x5"], ["dde", "dde:exchange=sbr"], "uniform:1000")],
)
ROWS = STUDY.trials * len(STUDY.cells)


def same(a: Results, b: Results) -> bool:
    """Whether two tables have the same columns of the same types with the same bits."""
    first, second = a.table(), b.table()
    return list(first) == list(second) and all(
        first[name].dtype == second[name].dtype
        and np.ma.getdata(first[name]).tobytes() == np.ma.getdata(second[name]).tobytes()
        and np.array_equal(np.ma.getmaskarray(first[name]), np.ma.getmaskarray(second[name]))
        for name in first
    )


@pytest.fixture(scope="module")
def results() -> Results:
    return lb.run(STUDY)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a part after every chunk."""
    monkeypatch.setattr(keeper, "SOONEST", 0.0)
    monkeypatch.setattr(keeper, "SHARE", 0.0)


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*"))


def broken_off(folder: Path, after: int, study: lb.Study = STUDY, **options: object) -> int:
    """Run until so many rows are told to be done; return how many were."""
    told = [0]

    def tell(done: int, _total: int) -> None:
        told.append(done)
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lb.run(study, store=folder, progress=tell, **options)  # type: ignore[arg-type]
    return told[-1]


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
    from fastlb.montecarlo.chunks import plan
    from fastlb.montecarlo.measuring import rehearse, run_chunk

    layout = rehearse(STUDY)
    with store.open_store(tmp_path, STUDY, layout, resume=False) as kept:
        chunks = [dataclasses.replace(c, methods=c.methods[1:2]) for c in plan(STUDY, 40)]
        assert len(list(kept.chunks(chunks, None))) == len(chunks)
    run: list[tuple[str, ...]] = []

    def remembered(chunk):  # type: ignore[no-untyped-def]
        run.append(chunk.methods)
        return run_chunk(chunk)

    monkeypatch.setattr("fastlb.montecarlo.executors.run_chunk", remembered)
    assert same(lb.run(STUDY, store=tmp_path, resume=True, chunk=33), results)
    assert {len(methods) for methods in run} == {1, 3}


def test_an_old_store_is_not_run_over(tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path)
    with pytest.raises(FileExistsError, match="holds a store already"):
        lb.run(STUDY, store=tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 7}, "seed: 1995 in the store, 7 now"),
        ({"name": "other"}, "name: small in the store, other now"),
        ({"methods": ["gde:lam=0.723", "dde"]}, "in the store only, dde now only"),
        ({"topologies": ["torus:3x5", "mesh:8x8"]}, "topologies: in another order"),
        ({"loads": "uniform:3"}, "loads: uniform:1000 in the store only"),
        ({"further": ()}, "methods of grid 2: dde dde:exchange=sbr in the store, nothing now"),
        (
            {"further": [lb.Part(["ring:4"], ["dde"], "uniform:1")]},
            "topologies of grid 2: torus:3x5 in the store only, ring:4 now only",
        ),
    ],
)
def test_another_study_is_refused_with_the_difference(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    lb.run(dataclasses.replace(STUDY, trials=2), store=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    other = dataclasses.replace(STUDY, **change)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="holds another study") as error:
        lb.run(other, store=tmp_path, resume=True)
    assert told in str(error.value)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_many_differences_are_cut(tmp_path: Path) -> None:
    first = {str(i): i for i in range(20)}
    assert differences(first, {})[-1] == "and 14 more"
    assert differences({"a": [f"m{i}" for i in range(9)]}, {"a": ["x"]}) == [
        "a: m0 m1 m2 m3 m4 m5 and 3 more in the store only, x now only"
    ]


def edit_manifest(folder: Path, **changes: object) -> None:
    path = folder / store.MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"version": 2, "fastlb": "9.9"}, "a store of version 2, written by fastlb 9.9"),
        ({"schema": "other"}, "no manifest of a store, its schema is 'other'"),
        ({"version": "1"}, "no manifest of a store"),
        ({"layout": {"figures": [], "of_combinations": []}}, "other figures than the methods"),
        ({"fastlb": "0.0.1"}, "fastlb: 0.0.1 in the store"),
    ],
)
def test_stores_of_other_versions(tmp_path: Path, changes: dict[str, object], told: str) -> None:
    lb.run(STUDY, store=tmp_path)
    edit_manifest(tmp_path, **changes)
    with pytest.raises(ValueError, match=told):
        lb.run(STUDY, store=tmp_path, resume=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"schema": "fastlb.store"}',
        '{"schema": "fastlb.store", "version": 1}',
        '{"schema": "fastlb.store", "version": 1, "study": {}, "layout": {}}',
    ],
)
def test_a_manifest_that_is_none(tmp_path: Path, text: str) -> None:
    lb.run(STUDY, store=tmp_path)
    (tmp_path / store.MANIFEST).write_text(text)
    for call in (
        lambda: lb.run(STUDY, store=tmp_path, resume=True),
        lambda: lb.read_store(tmp_path),
    ):
        with pytest.raises(ValueError, match="is no manifest of a store"):
            call()


@pytest.mark.parametrize("layout", [{}, {"figures": [], "of_combinations": []}, {"figures": [1]}])
def test_a_manifest_with_the_layout_of_nothing(tmp_path: Path, layout: dict[str, Any]) -> None:
    lb.run(STUDY, store=tmp_path)
    path = tmp_path / store.MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), "layout": layout}))
    with pytest.raises(ValueError, match="is no manifest of a store, its layout must be one of"):
        lb.read_store(tmp_path)
    with pytest.raises(ValueError, match="holds other figures"):
        lb.run(STUDY, store=tmp_path, resume=True)


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


def test_a_part_of_another_study(tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path / "a")
    lb.run(dataclasses.replace(STUDY, seed=3), store=tmp_path / "b")
    part = parts(tmp_path / "b")[0]
    part.rename(tmp_path / "a" / part.name)
    with pytest.raises(ValueError, match=f"{part.name} belongs to another study"):
        lb.run(STUDY, store=tmp_path / "a", resume=True)


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
    (tmp_path / "store" / store.MANIFEST).unlink()
    with pytest.raises(FileExistsError, match="parts of a store without _manifest"):
        lb.run(STUDY, store=tmp_path / "store", resume=True)
    with pytest.raises(ValueError, match="resume needs a store"):
        lb.run(STUDY, resume=True)


def test_a_folder_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="folder is not writable"):
        lb.run(STUDY, store=tmp_path / "store")
    assert not list(tmp_path.iterdir())


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

    monkeypatch.setattr(keeper, "SOONEST", 1e9)

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


def test_networks_are_known_by_their_links(tmp_path: Path) -> None:
    square = lb.Network([(0, 1), (1, 2), (2, 3), (3, 0)])
    study = lb.Study("net", [square], ["gde:lam=1/2"], "uniform:9", trials=5)
    found = lb.run(study, store=tmp_path)
    assert same(lb.run(study, store=tmp_path, resume=True), found)
    assert same(lb.read_store(tmp_path, study), found)
    with pytest.raises(ValueError, match="network:4 has no spelling"):
        lb.read_store(tmp_path)
    other = dataclasses.replace(study, topologies=[lb.Network([(0, 1), (1, 2), (2, 3), (0, 2)])])
    for call in (
        lambda: lb.run(other, store=tmp_path, resume=True),
        lambda: lb.read_store(tmp_path, other),
    ):
        with pytest.raises(ValueError, match="topologies: network:4 sha256:"):
            call()


def test_digests_tell_contents_apart() -> None:
    arrays = [np.arange(3), np.arange(3.0), np.arange(3)[:, None], np.arange(3).astype(np.int32)]
    values = [*arrays, (1, (2,)), (1, 2), ((1,), 2), "1", 1, 1.0, True, b"1", None, (), ("", "")]
    found = [digest(value) for value in values]
    assert len(set(found)) == len(values)
    assert found == [digest(value) for value in values]
    assert digest(lb.Ring(4)) != digest(lb.Chain(4))
    with pytest.raises(TypeError, match="only numbers, text and arrays"):
        digest(object())


def test_bundled_studies_are_read_back_as_such() -> None:
    for name in lb.studies.names():
        study = dataclasses.replace(lb.studies.load(name), trials=7, seed=2**100)
        described = json.loads(json.dumps(describe(study)))
        assert study_of(described) == study
        assert type(study_of(described)) is type(study)
    assert study_of(json.loads(json.dumps(describe(STUDY)))) == STUDY


def test_figures_of_different_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one method counts and another measures comes back as each gave it, NaN included."""
    from fastlb.montecarlo.measuring import run_chunk

    def mixed(chunk):  # type: ignore[no-untyped-def]
        first, *rest = run_chunk(chunk)
        cost = np.where(np.arange(chunk.trials) % 2, np.nan, -0.0)
        return [{**first, "cost": cost, "moved": first["moved"].astype(float)}, *rest]

    study = lb.Study("mixed", ["ring:5"], ["dde", "gde"], "uniform:9", trials=20)
    layout = {
        study.cells[0]: {**rehearsed(study, 0), "moved": np.dtype(float)},
        study.cells[1]: rehearsed(study, 1),
    }
    monkeypatch.setattr("fastlb.montecarlo.executors.run_chunk", mixed)
    monkeypatch.setattr("fastlb.montecarlo.runner.rehearse", lambda study: layout)
    found = lb.run(study, store=tmp_path)
    again = lb.read_store(tmp_path)
    for cell in study.cells:
        a, b = found.columns(cell), again.columns(cell)
        assert {n: (v.dtype, v.tobytes()) for n, v in a.items()} == {
            n: (v.dtype, v.tobytes()) for n, v in b.items()
        }


@pytest.mark.parametrize("code", "bhilqBHILQfd?")
def test_every_type_of_figure_comes_back(code: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    from fastlb.montecarlo.parts import Format, Stretch

    dtype = np.dtype(code)
    extremes = np.iinfo(dtype) if dtype.kind in "iu" else None
    values = [0, 1, 3, *((extremes.max, extremes.min) if extremes else (1, 0))]
    column = np.array(values, dtype=dtype)
    study = lb.Study("s", ["ring:4"], ["dde"], "uniform:9", trials=5)
    cell = study.cells[0]
    form = Format(study, {cell: {"x": dtype}}, "")
    content = form.encode([Stretch(cell, 0, 5, {"x": column})])
    table = parquet.read_table(arrow.BufferReader(content))
    found = form.decode(table, cell, 0, 5)["x"]
    assert (found.dtype, found.tobytes()) == (dtype, column.tobytes())


def test_integers_that_other_combinations_have_as_floats_must_fit_them() -> None:
    from fastlb.montecarlo.parts import Format, Stretch

    study = lb.Study("s", ["ring:4"], ["dde", "gde"], "uniform:9", trials=2)
    first, second = study.cells
    form = Format(study, {first: {"x": np.dtype("i8")}, second: {"x": np.dtype("f8")}}, "")
    form.encode([Stretch(first, 0, 2, {"x": np.array([2**53, -(2**53)])})])
    with pytest.raises(OverflowError, match="x must fit float64, as other combinations have it"):
        form.encode([Stretch(first, 0, 2, {"x": np.array([0, 2**53 + 1])})])


def rehearsed(study: lb.Study, number: int) -> dict[str, np.dtype]:  # type: ignore[type-arg]
    from fastlb.montecarlo.measuring import rehearse

    return dict(rehearse(study)[study.cells[number]])


def test_figures_unlike_those_of_the_rehearsal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastlb.montecarlo.measuring import run_chunk

    def changed(chunk):  # type: ignore[no-untyped-def]
        return [{**columns, "moved": columns["moved"] * 0.5} for columns in run_chunk(chunk)]

    monkeypatch.setattr("fastlb.montecarlo.executors.run_chunk", changed)
    with pytest.raises(ValueError, match="figures of its rehearsal, but differs in moved"):
        lb.run(STUDY, store=tmp_path)


def test_parts_are_written_less_often_as_time_goes_by(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    from fastlb.montecarlo.parts import Format

    study = lb.Study("s", ["ring:4"], ["dde"], "uniform:9", trials=5)
    kept = keeper.Store(Path(__file__).parent / "cases", Format(study, {}, ""))
    for now, written, due in (
        (0.9, 0.0, False),
        (1.0, 0.0, True),
        (1000.0, 985.0, False),
        (1000.0, 980.0, True),
        (1e6, 1e6 - 59, False),
        (1e6, 1e6 - 60, True),
    ):
        clock[0], kept._written = now, written
        assert kept._due([]) is due
