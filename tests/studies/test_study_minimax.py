"""The minimax study: tables, what was expected, and the same figures at every run."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import fastlb as lb
from fastlb.reports.report import Report
from fastlb.reports.reportfiles import write_folder
from fastlb.studies.minimax_exact import best_routing


@pytest.fixture(scope="module")
def report() -> Report:
    study = dataclasses.replace(lb.studies.load("minimax"), trials=2)
    return lb.studies.report(lb.run(study))


def test_tables(report: Report, tmp_path: Path) -> None:
    tables = {table.name: table for table in report.tables}
    assert list(tables) == [
        "contention",
        "routing",
        "traffic",
        "entities",
        "optimum",
        "real",
        "expected",
    ]
    for row in tables["contention"].rows:
        assert row[4].mean >= 1
        assert row[5].mean >= 1
    assert all(row[3] >= 1 for row in tables["routing"].rows)
    assert all(row[3].mean <= row[4].mean and row[5].mean >= 1 for row in tables["traffic"].rows)
    assert all(row[2].mean >= 1 for row in tables["entities"].rows)
    optimum = {row[0]: row for row in tables["optimum"].rows}
    assert optimum["budget"][2] >= 1
    assert optimum["bound"][3] <= 1
    assert all(row[-1] == "yes" for row in tables["expected"].rows)
    files = {path.name for path in write_folder(report, tmp_path / "out")}
    assert {"report.json", "contention.csv", "routing.png", "routing.svg"} <= files


def test_known_contention_of_measured_loads(report: Report) -> None:
    real = {row[0]: row for row in next(t for t in report.tables if t.name == "real").rows}
    assert real["16 processors, 4x4 torus"][2].mean == pytest.approx(480.234, abs=1e-2)
    assert real["16 processors, 4-cube"][4].mean == pytest.approx(1.77, abs=0.01)


def test_the_best_routing_of_a_perfect_packing() -> None:
    network, entities, room = lb.scheduling_network([3, 2, 2, 1], 2, 4)
    assert best_routing(network, entities, room) == (8, 8)
