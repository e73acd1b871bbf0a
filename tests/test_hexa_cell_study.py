"""The bundled study `hexa-cell`: counts beside the printed and corrected formulas."""

import dataclasses
import json

import pytest

import fastlb as lb
from fastlb.studies import hexa_cell
from fastlb.studies.hexa_cell_figures import figures
from fastlb.studies.hexa_cell_found import Found, popcount_shaped
from fastlb.studies.hexa_cell_plots import lines


@pytest.fixture(scope="module")
def report():
    study = dataclasses.replace(lb.studies.load("hexa-cell"), trials=20)
    return study.report(lb.run(study))


@pytest.fixture(scope="module")
def by_name(report):
    return {table.name: table for table in report.tables}


def test_it_is_the_papers_setting():
    study = lb.studies.load("hexa-cell")
    keys = [cell.key for cell in study.cells]
    for algorithm in "ABC":
        method = f"hexa_cell:algorithm={algorithm}"
        assert all((f"hhc:{d}", method, "uniform:250") in keys for d in range(1, 10))
        for M in (10, 100, 1000, 10000, 100000):
            for d in (5, 8):
                assert (f"hhc:{d}", method, f"uniform:{M // 2}") in keys
    assert lb.Study.from_toml(study.to_toml()).cells == study.cells
    assert {p: t.size for p, t in hexa_cell.NETWORKS.items()} == {96: 96, 768: 768}


def test_one_loaded_node_takes_the_printed_time(by_name):
    for algorithm, _, *values in by_name["one-node"].rows:
        times, printed, bound = values[:6], values[6], values[7]
        others = [times[i] for i in (1, 2, 4, 5)]
        assert set(others) == {printed}
        assert times[0] == times[3] <= printed <= bound
        assert (times[0] < printed) == (algorithm == "A")


def test_the_figures_stand_beside_the_formulas(by_name):
    assert [name for name in by_name if name.startswith("figure")] == [
        f"figure-{number}" for number in range(3, 12)
    ]
    for number in (3, 4, 8, 9):
        assert [row[0] for row in by_name[f"figure-{number}"].rows] == list(hexa_cell.UNITS)
    for number in (5, 6, 7, 10, 11):
        assert [row[0] for row in by_name[f"figure-{number}"].rows] == list(range(1, 10))
    last = by_name["figure-3"].rows[-1]
    assert last[:4] == [100_000, 115_625.0, 115_624, 98_958]
    assert [row[1:3] for row in by_name["figure-6"].rows] == [
        [3 * d + 8, 3 * d + 6] for d in range(1, 10)
    ]
    printed = [row[1] for row in by_name["figure-11"].rows]
    assert printed == [29, 82, 212, 520, 1232, 2848, 6464, 14464, 32000]
    for row in by_name["figure-11"].rows:
        assert max(row[3:]) <= row[2]


def test_totals(by_name):
    for algorithm, d, printed, corrected, one, mean, most in by_name["totals"].rows:
        assert max(one, mean, most) <= corrected
        assert (printed == corrected) == (algorithm == "B")
        assert printed == lb.hexa_cell_formulas(d, 500, algorithm)["total_steps"]


def test_errors(by_name):
    for d, printed, corrected, *found in by_name["errors"].rows:
        assert (printed, corrected, found[-1]) == (d + 1, d + 2, d + 2)
        assert max(found) <= corrected


def test_errata_are_those_of_the_library(by_name):
    assert [row[0] for row in by_name["errata"].rows] == [e.place for e in lb.hexa_cell_errata()]


def test_the_sentences_are_tested(report):
    judged = {statement.sentence: statement.holds for statement in report.statements}
    assert len(judged) == 7
    assert [s for s, holds in judged.items() if holds] == [
        "The analytical analysis showed that algorithm B has the best metrics over the other two.",
        "There is a direct linear relation between workload size and execution time.",
        "Increasing the dimension of the HHC network, the execution time shall also increase.",
    ]
    json.dumps(report.to_dict(), allow_nan=False)


def test_every_figure_is_drawn(report):
    found = Found(report.results)
    for figure, plot in zip(figures(found), report.plots, strict=True):
        page = lines(figure)
        assert len(page.axes[0].containers) == len(figure.series)
        assert plot.name == f"figure-{figure.number}"


def test_one_trial_is_enough_to_report():
    study = dataclasses.replace(lb.studies.load("hexa-cell"), trials=1)
    json.dumps(study.report(lb.run(study)).to_dict(), allow_nan=False)


def test_popcount_shaped_loads_stay():
    for d in (1, 4):
        loads = popcount_shaped(d)
        b = lb.hexa_cell(loads, lb.HyperHexaCell(d), "A")
        assert b.loads.tolist() == loads.tolist()
