import csv
import dataclasses
import json

import pytest

import fastlb as lb
from fastlb.reports.mean import mean_of
from fastlb.reports.meanplots import mean_plots
from fastlb.reports.overview import overview
from fastlb.reports.report import Report, Statement, Table
from fastlb.reports.reportfiles import check_folder, write_folder
from fastlb.studies.more_wu_programs import Loose

STUDY = lb.Study("small", ["ring:8"], ["gde", "dde"], "uniform:100", trials=4, seed=8)


@pytest.fixture(scope="module")
def report():
    return lb.studies.report(lb.run(STUDY))


def test_a_study_in_general_has_the_means_of_its_figures(report):
    table, *differences = report.tables
    assert table.title == "Means of 4 trials ± standard error; topology ring:8; loads uniform:100"
    assert [d.name for d in differences] == [f"differences-{x}" for x in table.columns[1:]]
    assert table.columns == ["method", "difference", "cost", "locality", "sweeps", "steps"]
    summary = report.results.summary()
    for method, *means in table.rows:
        figures = summary["ring:8", method, "uniform:100"]
        assert means == [mean_of(figures[name]) for name in table.columns[1:]]
    headings, *rows = csv.reader(table.to_csv().splitlines())
    assert headings[1:3] == ["difference", "difference s.e."]
    dde = summary["ring:8", "dde", "uniform:100"]["difference"]
    assert list(map(float, rows[1][1:3])) == [dde.mean, dde.standard_error]


def test_a_study_in_general_has_the_differences_of_its_methods(report):
    compared = report.results.compare()["ring:8", "uniform:100", "gde", "dde"]
    table = next(table for table in report.tables if table.name == "differences-cost")
    assert table.title == (
        "Paired differences in cost; topology ring:8; loads uniform:100; gde minus dde"
    )
    assert table.columns == ["mean", "s.e.", "from", "to", "less %", "equal %", "more %"]
    cost = compared["cost"]
    assert table.rows == [
        [
            *(cost.mean, cost.standard_error, cost.low, cost.high),
            *(100 * share for share in (cost.less, cost.equal, cost.greater)),
        ]
    ]
    # Two digits of the standard error.
    shown = table.printed()[1][1]
    assert float(shown) == pytest.approx(cost.standard_error, rel=0.05)
    document = report.to_dict()["differences"]
    assert [(d["first"], d["second"]) for d in document] == [("gde", "dde")]
    assert document[0]["figures"]["cost"]["low"] == cost.low


def test_trials_stand_in_the_table_where_they_differ():
    study = dataclasses.replace(
        STUDY,
        topologies=["ring:8", "ring:32"],
        trials=300,
        target_error={"difference": 0.1},
        minimum_trials=20,
    )
    results = lb.run(study, rows=False)
    report = overview(results)
    table = report.tables[0]
    trials = [results.trials(cell) for cell in study.cells]
    assert (
        table.title == f"Means of {results.trials_text} trials ± standard error; loads uniform:100"
    )
    assert [row[table.columns.index("trials")] for row in table.rows] == trials
    assert len(set(trials)) > 1
    assert report.ended.startswith("Trials ended at standard errors of at most: difference 0.1.")
    hard = dataclasses.replace(study, target_error={"difference": "0.0001%"})
    ended = overview(lb.run(hard)).ended
    assert ended.endswith("Not reached: ring:8 with uniform:100; ring:32 with uniform:100.")


def test_pairs_of_several_methods_are_named():
    study = dataclasses.replace(STUDY, methods=["gde", "dde", "dde:exchange=sbr"])
    table = lb.studies.report(lb.run(study)).tables[1]
    assert table.title.endswith("; first method minus second")
    assert table.columns[:2] == ["first", "second"]
    assert [row[:2] for row in table.rows] == [
        ["gde", "dde"],
        ["gde", "dde:exchange=sbr"],
        ["dde", "dde:exchange=sbr"],
    ]


def test_one_trial_tells_no_spread():
    study = dataclasses.replace(STUDY, trials=1)
    report = lb.studies.report(lb.run(study))
    assert report.tables[1].rows[0][1:4] == [None, None, None]
    json.dumps(report.to_dict(), allow_nan=False)


def test_tables_are_printed_with_their_places_and_saved_in_full():
    table = Table("t", "T", ["a", 1000, "c"], [["x", 1234567, 1 / 3], ["y", None, 2.0]], [0, 0, 2])
    assert table.printed() == [["a", "1,000", "c"], ["x", "1,234,567", "0.33"], ["y", "", "2.00"]]
    rows = list(csv.reader(table.to_csv().splitlines()))
    assert rows == [["a", "1000", "c"], ["x", "1234567", str(1 / 3)], ["y", "", "2.0"]]


def test_the_document_is_plain_json(report):
    told = Report(report.results, report.tables, [Statement("S.", "t", "f", True)])
    document = json.loads(json.dumps(told.to_dict(), allow_nan=False))
    assert document["schema"] == "fastlb.study"
    assert (document["study"], document["trials"], document["seed"]) == ("small", 4, 8)
    assert document["statements"] == [{"sentence": "S.", "test": "t", "found": "f", "holds": True}]
    moved = document["summary"][1]["figures"]["moved"]
    assert moved["mean"] == report.results.figure("moved", "ring:8", "dde", "uniform:100").mean()


def test_files(report, tmp_path):
    folder = tmp_path / "out"
    written = write_folder(report, folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in written)
    assert [path.name for path in written] == [
        "report.json",
        "study.toml",
        *(f"{table.name}.csv" for table in report.tables),
        *(
            f"{plot.name}.{suffix}"
            for plot in mean_plots(report.results)
            for suffix in ("png", "svg")
        ),
    ]
    assert lb.Study.read(folder / "study.toml") == STUDY
    assert json.loads((folder / "report.json").read_text()) == report.to_dict()


def test_files_are_overwritten_on_demand_alone(report, tmp_path):
    (tmp_path / "report.json").write_text("mine")
    with pytest.raises(FileExistsError, match="holds files already"):
        write_folder(report, tmp_path)
    assert (tmp_path / "report.json").read_text() == "mine"
    write_folder(report, tmp_path, force=True)
    assert (tmp_path / "report.json").read_text() != "mine"


def test_folders_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        check_folder(tmp_path / "file", force=True)
    with pytest.raises(FileNotFoundError):
        check_folder(tmp_path / "none" / "out")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_new_folder_appears_whole_or_not_at_all(report, tmp_path, monkeypatch):
    def stopped(path, content):
        assert path.parent != tmp_path / "out"
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.write_bytes", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_folder(report, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_part_of_a_report_is_told(report, tmp_path):
    written = write_folder(report, tmp_path)
    (tmp_path / "report.json").unlink()
    with pytest.raises(FileExistsError, match=r"holds part of a report \(--force overwrites them"):
        check_folder(tmp_path)
    assert write_folder(report, tmp_path, force=True) == written


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    for folder in (tmp_path, tmp_path / "out"):
        with pytest.raises(PermissionError, match="folder is not writable") as told:
            check_folder(folder)
        assert told.value.filename == str(tmp_path)


def test_an_experiment_in_general_shows_the_figures_it_has():
    study = lb.Study("own", ["hypercube:2"], ["fault_tolerant_dem"], [Loose(5, 3)])
    results = lb.run(dataclasses.replace(study, trials=2))
    (table,) = overview(results).tables
    assert table.columns == list(results.figures)


def test_headings_of_several_lines_stand_in_one_line_in_files():
    table = Table("t", "T", ["one\nnode", 10], [["x", 1]], [0, 0])
    assert table.to_csv().splitlines()[0] == "one node,10"
    assert table.to_dict()["columns"] == ["one node", 10]
