"""The bundled study `wu-shu` against the paper and long-run means of an exact implementation."""

import dataclasses
import json

import pytest

import fastlb as lb
from fastlb.reports.plotting import image
from fastlb.reports.reportfiles import write_folder
from fastlb.studies import wu_shu_example
from fastlb.studies import wu_shu_settings as paper
from fastlb.studies.wu_shu_tables import FIGURES, WuShuMeasurements

MESH = "mesh:8x8"


@pytest.fixture(scope="module")
def small():
    study = dataclasses.replace(lb.studies.load("wu-shu"), trials=30)
    return lb.studies.report(lb.run(study))


def test_it_is_the_papers_setting():
    study = lb.studies.load("wu-shu")
    assert (study.name, study.trials) == ("wu-shu", 100)
    keys = [cell.key for cell in study.cells]
    for network in ("mesh:8x8", "torus:16x16", "mesh:8x8x8", "torus:16x16x16"):
        for method in ("gde:lam=0.723", "dde"):
            assert (network, method, "uniform:1000") in keys
    for mean in (100, 300, 1000, 3000, 10000):
        assert (MESH, "gde:lam=0.723", f"uniform:{mean}") in keys


def test_table_1():
    loads = [lb.Uniform(mean) for mean in paper.MEANS]
    study = lb.Study("table 1", [MESH], [paper.GDE], loads, trials=20_000, seed=1995)
    summary = lb.run(study, threads=2).summary()
    for mean, known in zip(paper.MEANS, paper.LONG_RUN_SWEEPS, strict=True):
        sweeps = summary[MESH, paper.GDE, f"uniform:{mean}"]["sweeps"]
        assert abs(sweeps.mean - known) <= 0.05
        # The known means have a standard error of 0.01 and two decimals.
        assert abs(sweeps.mean - known) <= 4 * (sweeps.standard_error**2 + 0.01**2) ** 0.5 + 0.005


# What an exact implementation found on the four networks, as far as two or three digits tell.
KNOWN = {
    "difference ratio": ([5.0, 5.8, 4.7, 4.8], 0.25),
    "cost ratio": ([1.59, 1.66, 1.49, 1.57], 0.03),
    "steps": ([135, 132, 186, 168], 2.0),
    "simulated steps": ([27.5, 46, 43, 70], 0.6),
    "sweeps": ([11.28, 11.0, 10.3, 9.3], 0.15),
    "locality of GDE": ([0.57, 0.565, 0.563, 0.562], 0.01),
    "locality of DDE": ([0.72, 0.725, 0.715, 0.723], 0.01),
}


@pytest.mark.slow
def test_figures_12_to_16(full):
    study = dataclasses.replace(lb.studies.load("wu-shu"), trials=20_000 if full else 1000)
    found = WuShuMeasurements(lb.run(study, threads=2))
    mean = {
        (figure, name): [
            found.statistic(figure, topology.spec, method).mean
            for topology in paper.NETWORKS.values()
        ]
        for figure in ("difference", "cost", "steps", "sweeps", "locality")
        for name, method in (("GDE", paper.GDE), ("DDE", paper.DDE))
    }
    simulated = [
        found.statistic("simulated_steps", topology.spec, paper.DDE).mean
        for topology in paper.NETWORKS.values()
    ]

    def ratio(figure):
        pairs = zip(mean[figure, "GDE"], mean[figure, "DDE"], strict=True)
        return [gde / dde for gde, dde in pairs]

    measured = {
        "difference ratio": ratio("difference"),
        "cost ratio": ratio("cost"),
        "steps": mean["steps", "GDE"],
        "simulated steps": simulated,
        "sweeps": mean["sweeps", "GDE"],
        "locality of GDE": mean["locality", "GDE"],
        "locality of DDE": mean["locality", "DDE"],
    }
    for name, (values, slack) in KNOWN.items():
        assert measured[name] == pytest.approx(values, abs=slack), name
    assert mean["sweeps", "DDE"] == [1, 1, 1, 1]
    assert mean["steps", "DDE"] == [32, 48, 48, 72]
    # The integer sweeps grow with k, but not in proportion.
    judged = {statement.sentence: statement.holds for statement in found.statements()}
    assert [s for s, holds in judged.items() if not holds] == [
        "The value of s is proportional to k."
    ]


def test_the_tables_stand_beside_the_papers(small):
    table_1, *figures = small.tables
    assert table_1.columns == ["Average Number of Tasks", 100, 300, 1000, 3000, 10000]
    assert list(table_1.rows[0][1:]) == [7.28, 9.20, 11.08, 13.02, 14.67]
    assert list(table_1.rows[1][1:]) == [7.37, 9.32, 11.28, 12.94, 14.68]
    assert [table.name for table in figures] == [f"figure-{i}" for i in range(12, 17)]
    for table in figures:
        assert [row[0] for row in table.rows] == list(paper.NETWORKS)
    steps = figures[2]
    assert [row[-1] for row in steps.rows] == [32, 48, 48, 72]


def test_the_sentences_are_tested(small):
    assert len(small.statements) == 11
    for statement in small.statements:
        assert statement.sentence.endswith(".")
        assert statement.evidence
    json.dumps(small.to_dict(), allow_nan=False)


def test_one_trial_is_enough_to_report():
    study = dataclasses.replace(lb.studies.load("wu-shu"), trials=1)
    report = lb.studies.report(lb.run(study))
    json.dumps(report.to_dict(), allow_nan=False)
    assert not any(mean.has_error for mean in report.tables[0].rows[2][1:])
    assert "±" not in "".join(map("".join, report.tables[0].printed()))
    assert all(plot.draw() is not None for plot in report.plots)


def test_trials_may_differ_from_setting_to_setting():
    study = dataclasses.replace(
        lb.studies.load("wu-shu"),
        trials=160,
        target_error={"sweeps": 0.15},
        minimum_trials=10,
    )
    results = lb.run(study)
    report = lb.studies.report(results)
    counts = [
        results.trials(cell)
        for cell in study.cells
        if cell.topology == lb.Mesh(8, 8) and cell.method == paper.GDE
    ]
    assert len(set(counts)) > 1
    label, *means = report.tables[0].rows[2]
    assert label == f"this run ({min(counts)} to {max(counts)} trials)"
    for mean, found in zip(paper.MEANS, means, strict=True):
        sweeps = results.figure("sweeps", MESH, paper.GDE, f"uniform:{mean}")
        assert found.mean == pytest.approx(sweeps.mean())
        assert found.standard_error == pytest.approx(sweeps.std(ddof=1) / sweeps.size**0.5)
    assert len(report.statements) == 11
    assert all(plot.draw() is not None for plot in report.plots)


def test_the_worked_example():
    balance = wu_shu_example.balance()
    assert balance.stages[0].sum(axis=0).tolist() == wu_shu_example.LOADS.sum(axis=0).tolist()
    assert all(column.max() - column.min() <= 1 for column in balance.stages[0].T)
    assert balance.loads.tolist() == [[5, 5, 4, 4], [4, 4, 4, 4], [4, 4, 4, 3], [4, 4, 3, 3]]
    text = wu_shu_example.text(balance)
    assert "The difference is 2" in text
    assert "49 of 63 units stayed" in text


def test_every_plot_becomes_an_image(small, tmp_path):
    written = {path.name: path for path in write_folder(small, tmp_path / "out")}
    for plot in ("table-1", "figure-11", *(figure.name for figure in FIGURES)):
        assert written[f"{plot}.png"].read_bytes().startswith(b"\x89PNG")
        text = written[f"{plot}.svg"].read_text()
        assert text.startswith("<?xml")
        assert "<dc:date>" not in text


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_images_are_the_same_bytes_every_time(small, suffix):
    for plot in (small.plots[1], small.plots[2]):
        assert image(plot.draw, suffix) == image(plot.draw, suffix)
