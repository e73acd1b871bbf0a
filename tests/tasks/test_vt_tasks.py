"""Tasks of a run of vt, which the package brings along."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fastlb as lb

FOLDER = Path(lb.__file__).parent / "data" / "vt-16"


def tasks_of_vt() -> tuple[np.ndarray, np.ndarray]:
    sizes, owner = [], []
    for rank in range(16):
        (phase,) = json.loads((FOLDER / f"toy.{rank}.json").read_text())["phases"]
        sizes += [task["time"] for task in phase["tasks"]]
        owner += [rank] * len(phase["tasks"])
    return np.array(sizes), np.array(owner)


def test_the_optimum_is_proven_anywhere() -> None:
    sizes, owner = tasks_of_vt()
    a = lb.assign_tasks(sizes, owner, 16)
    assert a.verify()
    assert (a.gap, a.status) == (0, "optimal")
    assert a.loads.max() / a.loads.mean() - 1 == pytest.approx(0.00094, abs=5e-6)
    assert a.moved <= 1.21 * a.excess


@pytest.mark.parametrize("topology", [lb.Hypercube(4), lb.Torus(4, 4), lb.Mesh(4, 4)])
def test_a_plan_leads_to_it(topology: lb.Topology) -> None:
    sizes, owner = tasks_of_vt()
    loads = np.bincount(owner, sizes, 16).reshape(topology.shape)
    plan = lb.dde(loads, topology, record="flows")
    a = lb.assign_tasks(sizes, owner, topology, along=plan)
    assert a.verify()
    assert (a.gap, a.status) == (0, "optimal")
