"""Stores of studies that stop early, and stores whose rows are not held in memory."""

from __future__ import annotations

import dataclasses
import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo import storage
from fastlb.montecarlo.grid import Cell
from fastlb.montecarlo.results import Results

from .stores import EARLY as STUDY
from .stores import broken_off, parts, same

arrow: Any = pytest.importorskip("pyarrow")
dataset: Any = pytest.importorskip("pyarrow.dataset")


@pytest.fixture(scope="module")
def results() -> Results:
    return lb.run(STUDY)


def summarised(a: Results, b: Results) -> bool:
    """Whether two results say the same without their rows."""
    return (a.summary(), a.compare(), a.unreached()) == (b.summary(), b.compare(), b.unreached())


def test_groups_stop_at_different_looks(results: Results) -> None:
    assert len({results.trials(cell) for cell in STUDY.cells}) > 1
    assert results.unreached() == []


@pytest.mark.parametrize("rows", [True, False])
@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"chunk": 33}, {"chunk": 10**4}])
def test_a_store_changes_nothing(
    results: Results, tmp_path: Path, rows: bool, options: dict[str, Any]
) -> None:
    found = lb.run(STUDY, store=tmp_path, rows=rows, **options)
    assert summarised(found, results)
    assert found.has_rows is rows
    assert same(lb.read_store(tmp_path), results)
    again = lb.read_store(tmp_path, rows=False)
    assert summarised(again, results)
    assert not again.has_rows


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("seed", range(5))
def test_broken_off_at_random_it_stops_alike(results: Results, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    done = 0
    while done < len(results) // 2:
        done = broken_off(
            tmp_path,
            done + chance.randint(1, len(results) // 4),
            STUDY,
            chunk=chance.choice([7, 60, 100, 333]),
            threads=chance.choice([1, 2]),
            rows=chance.choice([True, False]),
            resume=True,
        )
    told: list[tuple[int, int]] = []
    found = lb.run(STUDY, store=tmp_path, resume=True, progress=lambda *rows: told.append(rows))
    assert same(found, results)
    assert told[0][0] >= done
    assert told[-1] == (len(results), len(results))
    assert [rows for rows, _ in told] == sorted(rows for rows, _ in told)
    # What was run is what is needed: nothing twice and nothing beyond.
    assert dataset.dataset(parts(tmp_path)).count_rows() == len(results)


def test_a_smaller_target_goes_on_and_a_larger_one_leaves_the_rest(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = dataclasses.replace(STUDY, target_error={"difference": 0.03})
    other = dataclasses.replace(STUDY, minimum_trials=70)
    lb.run(STUDY, store=tmp_path)
    found = lb.run(small, store=tmp_path, resume=True)
    assert len(found) > len(results)
    assert same(found, lb.run(small))
    assert same(lb.read_store(tmp_path), found)
    monkeypatch.setattr("fastlb.montecarlo.executors.run_chunk", None)
    told: list[tuple[int, int]] = []
    again = lb.run(STUDY, store=tmp_path, resume=True, progress=lambda *rows: told.append(rows))
    assert same(again, results)
    assert all(done <= total for done, total in told)
    assert told[-1] == (len(results), len(results))
    assert same(lb.read_store(tmp_path), results)
    monkeypatch.undo()
    assert same(lb.run(other, store=tmp_path, resume=True), lb.run(other))


def test_more_trials_take_up_where_all_of_them_were_not_enough(tmp_path: Path) -> None:
    few = dataclasses.replace(STUDY, trials=250, target_error={"difference": 0.05})
    first = lb.run(few, store=tmp_path)
    assert first.unreached()
    many = dataclasses.replace(few, trials=STUDY.trials)
    assert same(lb.run(many, store=tmp_path, resume=True), lb.run(many))
    with pytest.raises(ValueError, match="trials: 1500 in the store, 250 now"):
        lb.run(few, store=tmp_path, resume=True)


@pytest.mark.usefixtures("often")
def test_a_run_that_is_not_complete_says_so(tmp_path: Path) -> None:
    broken_off(tmp_path, 300, STUDY, chunk=50)
    with pytest.raises(ValueError, match=r"holds \d+ rows of up to 9,000: the run is not compl"):
        lb.read_store(tmp_path)


def test_another_target_is_told_to_a_reader_that_brings_its_study(tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path)
    with pytest.raises(ValueError, match=r"difference=0.05 rounds=5% in the store, moved=2% now$"):
        lb.read_store(tmp_path, dataclasses.replace(STUDY, target_error={"moved": "2%"}))
    with pytest.raises(ValueError, match=r"rounds=5% in the store, nothing now$"):
        lb.read_store(tmp_path, dataclasses.replace(STUDY, target_error=None))


def test_what_is_read_is_watched_as_well(results: Results, tmp_path: Path) -> None:
    broken_off(tmp_path, 300, STUDY, chunk=50)
    seen: dict[Cell, list[np.ndarray]] = {cell: [] for cell in STUDY.cells}  # type: ignore[type-arg]
    lb.run(
        STUDY,
        store=tmp_path,
        resume=True,
        rows=False,
        watch=lambda cell, columns: seen[cell].append(columns["moved"]),
    )
    for cell, pieces in seen.items():
        assert np.array_equal(np.concatenate(pieces), results.columns(cell)["moved"])


def test_the_rows_of_a_store_may_be_more_than_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lb.run(STUDY, store=tmp_path)
    asked: list[int] = []

    def refused(needed: int, what: str, instead: str) -> None:
        asked.append(needed)
        raise MemoryError(what)

    monkeypatch.setattr("fastlb.montecarlo.collecting.require_memory", refused)
    assert len(lb.read_store(tmp_path, rows=False)) > 0
    assert not asked
    with pytest.raises(MemoryError, match="the table of 1,500 trials"):
        lb.read_store(tmp_path)


def test_memory_does_not_grow_with_the_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither while trials are kept, nor while they are read back."""
    monkeypatch.setattr(storage, "PART_ROWS", 2**13)
    monkeypatch.setattr(storage, "MIN_INTERVAL", 1e9)
    study = lb.Study("long", ["ring:4"], ["dde", "gde:lam=1/2"], "uniform:50", trials=20_000)
    lb.run(study, rows=False)  # so that what is loaded once is loaded
    peaks = []
    for trials in (20_000, 160_000):
        many = dataclasses.replace(study, trials=trials)
        folder = tmp_path / str(trials)
        for call in (
            lambda: lb.run(many, store=folder, rows=False, chunk=1024),  # noqa: B023
            lambda: lb.run(many, store=folder, rows=False, chunk=1000, resume=True),  # noqa: B023
            lambda: lb.read_store(folder, rows=False),  # noqa: B023
        ):
            held = arrow.total_allocated_bytes()
            tracemalloc.start()
            try:
                results = call()
                peaks.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
            assert len(results) == 2 * trials
            # The tables of two parts at most are held, and given back.
            assert arrow.total_allocated_bytes() - held < 2**16
    # 140,000 trials more would be tens of megabytes; garbage varies by less than one.
    for few, many_ in zip(peaks[:3], peaks[3:], strict=True):
        assert many_ < few + 2**21
