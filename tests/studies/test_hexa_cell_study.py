"""The bundled study `hexa-cell`: counts beside the printed and corrected formulas."""

import dataclasses
import json

import numpy as np
import pytest

import fastlb as lb
from fastlb.studies import hexa_cell_settings as settings
from fastlb.studies.hexa_cell_figures import figures
from fastlb.studies.hexa_cell_measured import HexaCellMeasurements, popcount_shaped
from fastlb.studies.hexa_cell_plots import lines


@pytest.fixture(scope="module")
def report():
    study = dataclasses.replace(lb.studies.load("hexa-cell"), trials=20)
    return lb.studies.report(lb.run(study))


@pytest.fixture(scope="module")
def by_name(report):
    return {table.name: table for table in report.tables}


def test_it_is_the_papers_setting():
    study = lb.studies.load("hexa-cell")
    keys = [cell.key for cell in study.cells]
    for algorithm in "ABC":
        method = f"hexa_cell:algorithm={algorithm}"
        for M in (10, 100, 500, 1000, 10000, 100000):
            for d in range(1, 10):
                assert (f"hhc:{d}", method, f"uniform:{M // 2}") in keys
    assert lb.Study.from_toml(study.to_toml()).cells == study.cells
    assert {p: t.size for p, t in settings.NETWORKS.items()} == {96: 96, 768: 768}


def test_one_loaded_node_takes_the_printed_time(by_name):
    for algorithm, _, printed, bound, *times in by_name["time-by-position"].rows:
        others = [times[i] for i in (1, 2, 4, 5)]
        assert set(others) == {printed}
        assert times[0] == times[3] <= printed <= bound
        assert (times[0] < printed) == (algorithm == "A")


def test_the_figures_stand_beside_the_formulas(by_name):
    assert [name for name in by_name if name.startswith("figure")] == [
        f"figure-{number}" for number in range(3, 12)
    ]
    units, dimensions = list(settings.UNITS), list(range(1, 10))
    for number, points in ((3, units), (4, units), (5, dimensions)):
        rows = by_name[f"figure-{number}"].rows
        assert [tuple(row[:2]) for row in rows] == [(a, at) for a in "AB" for at in points]
    for number, points in ((8, units), (9, units), (10, dimensions), (11, dimensions)):
        assert [row[0] for row in by_name[f"figure-{number}"].rows] == points
    corrected = lb.hexa_cell_formulas(5, 100_000, "A")["corrected_time"]
    last = by_name["figure-3"].rows[4]
    assert last[:6] == ["A", 100_000, 115_625, float(corrected), 115_624, 98_958]
    for number in (3, 4, 5, 8, 9, 10):
        for row in by_name[f"figure-{number}"].rows:
            _, bound, most, least, mean = row[-5:]
            assert least <= most <= bound >= mean.mean
    assert [row[1:3] for row in by_name["figure-6"].rows] == [
        [3 * d + 8, 3 * d + 6] for d in range(1, 10)
    ]
    printed = [row[1] for row in by_name["figure-11"].rows]
    assert printed == [29, 82, 212, 520, 1232, 2848, 6464, 14464, 32000]
    for row in by_name["figure-11"].rows:
        assert max(*row[3:-1], row[-1].mean) <= row[2]


def test_the_steps_of_c_are_there_too(by_name):
    for d, corrected, most, least, drawn in by_name["steps-of-c"].rows:
        assert corrected == 3 * d + 8 >= max(most, drawn) >= least


@pytest.mark.parametrize("metric", ["error", "steps", "total"])
def test_nothing_exceeds_the_corrected_formulas(by_name, metric):
    name = {"error": "error", "steps": "max_steps", "total": "total_steps"}[metric]
    for table in (by_name[f"{metric}-by-position"], by_name[f"{metric}-by-load"]):
        assert len(table.rows) == 27
        for algorithm, d, printed, corrected, *found in table.rows:
            formulas = lb.hexa_cell_formulas(d, 500, algorithm)
            assert (printed, corrected) == (formulas[name], formulas[f"corrected_{name}"])
            assert max(found) <= corrected
    if metric == "error":
        assert all(row[-1] == row[1] + 2 for row in by_name["error-by-position"].rows)


def test_every_setting_is_written(by_name, report):
    table = by_name["settings"]
    assert table.long
    assert len(table.rows) == 3 * 9 * 6 * 7
    rows = {tuple(row[:4]): dict(zip(table.columns, row, strict=True)) for row in table.rows}
    for algorithm, d, M, node in (("A", 3, 1000, 1), ("B", 9, 10, 0), ("C", 6, 500, 5)):
        loads = np.zeros(6 * 2 ** (d - 1), int)
        loads[node] = M
        b = lb.hexa_cell(loads, lb.HyperHexaCell(d), algorithm)
        row = rows[algorithm, d, M, ("000", "001", "010", "100", "101", "110")[node]]
        assert (row["time"], row["error"]) == (b.counts["time"], b.difference)
        assert row["steps"] == row["steps most"] == b.counts["endpoint_max"]
        assert row["total"] == b.counts["endpoint_total"]
        drawn = report.results.figure(
            "counts.time", f"hhc:{d}", f"hexa_cell:algorithm={algorithm}", f"uniform:{M // 2}"
        )
        assert rows[algorithm, d, M, "random"]["time"].mean == pytest.approx(drawn.mean())
        assert rows[algorithm, d, M, "random"]["time most"] == drawn.max()


def test_errata_are_those_of_the_library(by_name):
    assert [row[0] for row in by_name["errata"].rows] == [e.place for e in lb.hexa_cell_errata()]


def test_the_sentences_are_tested(report):
    judged = {statement.sentence: statement.holds for statement in report.statements}
    assert len(judged) == 9
    assert [s for s, holds in judged.items() if holds] == [
        "Algorithm B outperforms algorithm A in execution time.",
        "The comparison showed that algorithm B has superior efficiency over the other two.",
        "There is a direct linear relation between workload size and execution time.",
        "Increasing the dimension of the HHC network, the execution time shall also increase.",
    ]
    told = [statement.evidence for statement in report.statements]
    assert "take B 2, A 1" in told[1]
    assert "C's total by 29 < 42" in told[4]
    json.dumps(report.to_dict(), allow_nan=False)


def test_every_figure_is_drawn(report):
    found = HexaCellMeasurements(report.results)
    for figure, plot in zip(figures(found), report.plots, strict=True):
        page = lines(figure)
        assert len(page.axes[0].containers) == len(figure.curves)
        assert plot.name == figure.name


def test_it_needs_no_rows_and_no_order_of_the_methods(report):
    study = dataclasses.replace(lb.studies.load("hexa-cell"), trials=20)
    without = lb.studies.report(lb.run(study, rows=False))
    backwards = dataclasses.replace(study, methods=study.methods[::-1])
    for other in (without, lb.studies.report(lb.run(backwards))):
        assert [table.rows for table in other.tables] == [table.rows for table in report.tables]
        assert other.statements == report.statements


def test_one_trial_is_enough_to_report():
    study = dataclasses.replace(lb.studies.load("hexa-cell"), trials=1)
    json.dumps(lb.studies.report(lb.run(study)).to_dict(), allow_nan=False)


def test_trials_may_differ_from_setting_to_setting():
    study = dataclasses.replace(
        lb.studies.load("hexa-cell"),
        trials=6,
        target_error={"difference": 0.5},
        minimum_trials=2,
    )
    results = lb.run(study)
    assert len({results.trials(cell) for cell in study.cells}) > 1
    report = lb.studies.report(results)
    settings = next(table for table in report.tables if table.name == "settings")
    mean = settings.columns.index("error")
    for name, d, M, loads, *_ in settings.rows:
        row = next(r for r in settings.rows if r[:4] == [name, d, M, loads])
        if loads == "random" and d == 4:
            key = f"hhc:{d}", f"hexa_cell:algorithm={name}", f"uniform:{M // 2}"
            assert row[mean].mean == pytest.approx(results.figure("difference", *key).mean())
    assert len(report.statements) == 9
    json.dumps(report.to_dict(), allow_nan=False)


def test_popcount_shaped_loads_stay():
    for d in (1, 4):
        loads = popcount_shaped(d)
        b = lb.hexa_cell(loads, lb.HyperHexaCell(d), "A")
        assert b.loads.tolist() == loads.tolist()
