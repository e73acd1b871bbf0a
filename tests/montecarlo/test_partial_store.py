"""A store whose run is not complete: what it has, counted and marked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo.results import Results

from .stores import EARLY, ROWS, STUDY, broken_off, parts, same

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def results() -> Results:
    return lb.run(STUDY)


def check(part: Results, whole: Results) -> None:
    """Hold the trials of a part against the first ones of the whole."""
    for cell in part.study.cells:
        for name, values in part.columns(cell).items():
            assert np.array_equal(values, whole.columns(cell)[name][: len(values)])


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("after", [50, 500, 1000])
def test_what_is_there_is_the_beginning_of_the_whole(
    results: Results, tmp_path: Path, after: int
) -> None:
    done = broken_off(tmp_path, after, chunk=10)
    with pytest.raises(ValueError, match="the run is not complete"):
        lb.read_store(tmp_path)
    part = lb.read_store(tmp_path, partial=True)
    assert 0 < len(part) <= ROWS - part.missing
    assert len(part) >= done - 4 * 10 * 2
    assert len(part) + part.missing == ROWS
    check(part, results)
    tallied = lb.read_store(tmp_path, partial=True, rows=False)
    assert tallied.missing == part.missing
    for key, figures in part.summary().items():
        assert figures["difference"].mean == tallied.summary()[key]["difference"].mean


def test_a_complete_store_lacks_nothing(results: Results, tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path)
    part = lb.read_store(tmp_path, partial=True)
    assert part.missing == 0
    assert same(part, results)
    assert part.study == STUDY


@pytest.mark.usefixtures("often")
def test_trials_after_a_damaged_part_wait_for_it(results: Results, tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path, chunk=10)
    damaged = parts(tmp_path)[3]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    part = lb.read_store(tmp_path, partial=True)
    assert 0 < len(part) < ROWS
    check(part, results)
    again = lb.run
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert same(again(STUDY, store=tmp_path, resume=True), results)


@pytest.mark.usefixtures("often")
def test_a_study_that_may_stop_early(tmp_path: Path) -> None:
    whole = lb.run(EARLY, store=tmp_path / "whole")
    read = lb.read_store(tmp_path / "whole", partial=True)
    assert read.missing == 0
    assert same(read, whole)
    broken_off(tmp_path / "part", 900, EARLY, chunk=20)
    part = lb.read_store(tmp_path / "part", partial=True)
    assert part.missing > 0
    check(part, whole)


@pytest.mark.usefixtures("often")
def test_the_report_says_so(tmp_path: Path) -> None:
    broken_off(tmp_path, 50, chunk=10)
    part = lb.read_store(tmp_path, partial=True)
    report = lb.studies.report(part)
    assert report.ended.startswith(f"NOT COMPLETE: what follows is of {len(part)} of {ROWS:,} rows")
    assert report.to_dict()["complete"] is False
    assert len(part.study.cells) < len(STUDY.cells)


def test_no_trials_are_no_results(tmp_path: Path) -> None:
    lb.run(STUDY, store=tmp_path)
    for path in parts(tmp_path):
        path.unlink()
    with pytest.raises(ValueError, match=f"holds 0 rows of {ROWS:,}: the run is not complete"):
        lb.read_store(tmp_path, partial=True)
    with pytest.raises(TypeError, match="partial"):
        lb.read_store(tmp_path, partial="yes")  # type: ignore[arg-type]
