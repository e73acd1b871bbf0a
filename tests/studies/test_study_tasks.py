"""The tasks study: tables, what was expected, and the ways that stand beside the library's own."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import fastlb as lb
from fastlb.reports.mean import Mean
from fastlb.reports.report import Report
from fastlb.reports.reportfiles import write_folder
from fastlb.studies.tasks import NETWORKS, SIZES
from fastlb.studies.tasks_trials import follow, longest_first, random_tasks


@pytest.fixture(scope="module")
def report() -> Report:
    study = dataclasses.replace(lb.studies.load("tasks"), trials=1)
    return lb.studies.report(lb.run(study))


def test_tables(report: Report, tmp_path: Path) -> None:
    tables = {table.name: table for table in report.tables}
    assert list(tables) == ["gap", "moved", "tasks", "hops", "time", "expected"]
    assert len(tables["gap"].rows) == len(NETWORKS) * len(SIZES)
    assert all(row[-1] == "yes" for row in tables["expected"].rows)
    for row in tables["hops"].rows:
        assert row[5].mean >= 1
    files = {path.name for path in write_folder(report, tmp_path / "out")}
    assert {"report.json", "gap.csv", "gaps.png"} <= files


def test_every_mean_has_its_error(report: Report) -> None:
    """Medians of times have their quartiles."""
    for table in report.tables:
        numbers = [value for row in table.rows for value in row if isinstance(value, float | Mean)]
        if table.name == "time":
            for row in table.rows:
                for median, quartiles in (row[2:4], row[4:6]):
                    low, high = map(float, str(quartiles).split(" to "))
                    assert low - 0.01 <= median <= high + 0.01
        else:
            assert numbers and all(isinstance(number, Mean) for number in numbers)
    (gap, *_) = next(table for table in report.tables if table.name == "expected").rows
    assert isinstance(gap[2], Mean) and gap[2].has_error
    assert "20 tasks a node" in report.tables[0].note


@pytest.mark.parametrize("network", NETWORKS)
def test_following_a_plan_keeps_to_its_flows(network: str) -> None:
    topology = NETWORKS[network]
    sizes, owner = random_tasks(topology, lb.Uniform(50), 7, 0)
    loads = np.bincount(owner, weights=sizes, minlength=topology.size).astype(np.int64)
    plan = lb.dde(loads.reshape(topology.shape), topology, record="flows")
    new, hops = follow(plan, sizes, owner)
    after = np.bincount(new, weights=sizes, minlength=topology.size)
    assert after.sum() == loads.sum()
    assert after.max() < loads.max()
    # Over every link less than the longest task stays behind, and tasks take a link each time.
    assert hops >= np.count_nonzero(new != owner)
    assert np.abs(after - plan.loads.reshape(-1)).max() <= 2 * topology.ndim * sizes.max()


def test_whole_units_follow_a_plan_to_the_unit() -> None:
    torus = lb.Torus(4, 4)
    rng = np.random.default_rng(3)
    loads = rng.integers(0, 30, (4, 4))
    plan = lb.dde(loads, torus, record="flows")
    owner = np.repeat(np.arange(16), loads.reshape(-1))
    new, hops = follow(plan, np.ones(len(owner), np.int64), owner)
    assert np.bincount(new, minlength=16).tolist() == plan.loads.reshape(-1).tolist()
    assert hops == plan.moved


def test_longest_first_is_within_its_bound() -> None:
    sizes, _ = random_tasks(lb.Torus(4, 4), lb.Uniform(1000), 1, 0)
    owner = longest_first(sizes, 16)
    loads = np.bincount(owner, weights=sizes, minlength=16)
    assert loads.max() <= sizes.sum() / 16 + sizes.max()
