"""The bundled study `more-wu-faults`: its settings, Figure 1's point, its tables and plots."""

from __future__ import annotations

import dataclasses
import json

import pytest

import fastlb as lb
from fastlb.reports.plotting import image
from fastlb.studies import more_wu_faults as paper


def of_cubes(dimensions, trials):
    """The study on some cubes only, with every pair of faults of the 3-cube."""
    cubes = tuple(c for n in dimensions for f in range(n) for c in paper.fault_sets(n, f))
    return dataclasses.replace(paper.study(), topologies=cubes, trials=trials)


def test_it_has_every_setting():
    study = lb.studies.load("more-wu-faults")
    assert study.methods == ("dem", "fault_tolerant_dem")
    sizes = {(cube.n, len(cube.faults)) for cube in study.topologies}
    assert sizes == {(n, faults) for n in range(3, 11) for faults in range(n)}
    assert len(study.topologies) == sum(1 + (n - 1) * paper.SETS for n in range(3, 11))
    assert len(paper.pairs_of_faults()) == 12 * 11 // 2
    assert paper.study() == study


def test_the_sets_of_faults_never_change():
    assert paper.fault_sets.__wrapped__(4, 2) == paper.fault_sets(4, 2)
    assert paper.fault_sets(3, 1)[0].faults == ((0, 4),)


@pytest.fixture(scope="module")
def found():
    return paper.FaultMeasurements(lb.run(of_cubes([3], 2000)))


def test_figure_1(found):
    pairs = paper.pairs_of_faults()
    skipping, tolerant = (found.mean(pairs, method, "difference") for method in paper.LABELS)
    assert skipping.mean == pytest.approx(185, abs=5)
    assert tolerant.mean == pytest.approx(1.6, abs=0.05)
    for found_mean, known in zip((skipping, tolerant), (187.1, 1.585), strict=True):
        assert abs(found_mean.mean - known) <= 4 * found_mean.standard_error


def test_standard_errors_count_sets_and_trials(found):
    cubes = paper.fault_sets(3, 2)
    values = found.values(cubes, "dem", "difference")
    assert values.shape == (paper.SETS, 2000)
    expected = values.mean(axis=1).var(ddof=1) / paper.SETS
    expected += values.mean(axis=0).var(ddof=1) / 2000
    assert found.mean(cubes, "dem", "difference").standard_error == pytest.approx(expected**0.5)


def test_the_report_is_whole(monkeypatch, tmp_path):
    monkeypatch.setattr(paper, "DIMENSIONS", range(3, 6))
    study = of_cubes(range(3, 6), 60)
    report = lb.studies.report(lb.run(study))
    assert [table.name for table in report.tables] == [
        "figure-1",
        "difference-skipping",
        "difference-tolerant",
        "traffic-skipping",
        "traffic-tolerant",
    ]
    for table in report.tables:
        assert table.printed()
    verdicts = [statement.holds for statement in report.statements]
    # A complete balance is what the paper says and what integers do not give.
    assert verdicts == [True, True, True, False]
    for plot in report.plots:
        assert image(plot.draw, "png")[:4] == b"\x89PNG"
    told = json.loads(json.dumps(report.to_dict()))
    assert told["study"] == "more-wu-faults"
