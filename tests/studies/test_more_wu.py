"""The study more-wu: its settings, its figures, and a report that says what was found."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo.grid import Cell
from fastlb.reports.reportfiles import write_folder
from fastlb.studies.more_wu_programs import FREE, Loose, Planted
from fastlb.studies.more_wu_settings import COLUMNS, ROWS, VARIANTS
from fastlb.studies.more_wu_tables import FIRST, SECOND, THIRD, SearchMeasurements


def test_the_settings_are_the_papers() -> None:
    study = lb.studies.load("more-wu")
    cubes = {cell.topology for cell in study.cells}
    assert {(t.n, len(t.faults)) for t in cubes} == {(n, f) for n in range(2, 7) for f in range(n)}
    settings = 20 * 2 * len(ROWS) * len(COLUMNS)
    assert len(study.cells) == settings + (len(VARIANTS) - 1) * 2 * len(COLUMNS)
    for cube in cubes:
        lb.fault_plan(cube)
    with pytest.raises(ValueError, match="loads of a TOML file must have a spelling, got Planted"):
        study.to_toml()


def test_figures_are_those_of_the_simulation_whatever_the_chunks() -> None:
    study = lb.Study(
        "small",
        ["hypercube:3"],
        [FREE, f"{FREE}:granularity=sequence,round_cost=2"],
        [Planted(12, 5), Loose(7, 4)],
        trials=9,
        seed=6,
    )
    whole = lb.run(study)
    with ThreadPoolExecutor(2) as pool:
        parts = lb.run(study, executor=pool, chunk=4)
    for cell in study.cells:
        for name, values in whole.columns(cell).items():
            assert np.array_equal(values, parts.columns(cell)[name])
    program = lb.random_binary("loose", 7, 4, seed=6, trials=9)
    cell = Cell(lb.Hypercube(3), study.methods[1], Loose(7, 4))
    expected = lb.search_speedup(*program, lb.Hypercube(3), granularity="sequence", round_cost=2)
    found = whole.columns(cell)
    assert np.array_equal(found["speedup"], expected.speedup)
    assert np.array_equal(found["moved"], expected.with_balancing.moved)


def test_methods_and_topologies_that_do_not_fit_are_refused() -> None:
    programs = [Planted(3, 3)]
    with pytest.raises(ValueError, match="dem on hypercube:2: planted:3,3 must be balanced by"):
        lb.run(lb.Study("wrong", ["hypercube:2"], ["dem"], programs))
    with pytest.raises(ValueError, match="must be balanced by fault_tolerant_dem on a hypercube"):
        lb.run(lb.Study("wrong", ["ring:4"], [FREE], programs))
    with pytest.raises(ValueError, match="trigger must be one of"):
        lb.run(lb.Study("wrong", ["hypercube:2"], [f"{FREE}:trigger=now"], programs))
    with pytest.raises(ValueError, match="must be drawn from a distribution of loads"):
        lb.sample_loads(programs[0], "ring:4", trials=1, seed=0)


def test_the_report(tmp_path: Path) -> None:
    study = dataclasses.replace(lb.studies.load("more-wu"), trials=6)
    results = lb.run(study)
    report = lb.studies.report(results)
    by_test = {(s.sentence, s.test[:8]): s for s in report.statements}
    assert not by_test[FIRST, "speedup "].holds
    assert by_test[FIRST, "on avera"].holds
    assert by_test[SECOND, "the mean"].holds
    assert not by_test[THIRD, "free bal"].holds
    assert by_test[THIRD, "seq.: ab"].holds
    assert not by_test[THIRD, "central:"].holds
    names = {path.name for path in write_folder(report, tmp_path / "out")}
    for over in ("dimension", "columns", "rows", "faults", "variants"):
        assert {f"planted-over-{over}.csv", f"loose-over-{over}.csv"} <= names
        assert {f"speedup-over-{over}.png", f"speedup-over-{over}.svg"} <= names
    assert "study.toml" not in names
    table = next(t for t in report.tables if t.name == "loose-over-variants")
    cell = Cell(lb.Hypercube(4), FREE, Loose(30, 9))
    assert table.rows[0][-1].mean == results.columns(cell)["speedup"].mean()


def test_a_single_trial_has_no_error() -> None:
    study = dataclasses.replace(lb.studies.load("more-wu"), trials=1)
    tables = SearchMeasurements(lb.run(study)).tables()
    assert not any("error" in table.note for table in tables)
