"""Real loads for every method: their unit does not matter, and neither limit is near."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours


@given(st.data())
def test_scaling_by_a_power_of_two_scales_everything(data: st.DataObject) -> None:
    problem = data.draw(ours.problems())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    scale = 2.0 ** data.draw(st.sampled_from([-200, -60, 62, 64, 100, 200]))
    loads = problem.shaped(rng.random((2, problem.topology.size)))
    plain = problem.run(loads, record="flows")
    scaled = problem.run(loads * scale, record="flows")
    for name in ("loads", "flows", "moved", "local", "difference", "initial_difference"):
        assert (getattr(plain, name) * scale).tolist() == getattr(scaled, name).tolist(), name
    for name in ("cost", "locality", "imbalance", "initial_imbalance", "sweeps", "steps"):
        assert getattr(plain, name).tolist() == getattr(scaled, name).tolist(), name


@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
@pytest.mark.parametrize(
    ("method", "topology"),
    [("dem", lb.Hypercube(1)), ("gde", lb.Chain(2)), ("dde", lb.Chain(2)), ("dde", lb.Ring(2))],
)
def test_single_precision_up_to_its_largest(method: str, topology: Any, record: str) -> None:
    loads = np.array([3e38, 3.2e38], np.float32)
    b = getattr(lb, method)(loads, topology, record=record)
    assert b.loads.dtype == np.float32
    assert b.loads == pytest.approx(np.array([3.1e38, 3.1e38]), rel=1e-6)


@given(st.data())
def test_dtypes_agree_on_even_means(data: st.DataObject) -> None:
    """Where every pair and line divides evenly, real and integer loads do the same."""
    problem = data.draw(ours.dem_problems() | ours.dde_problems(real=True))
    size = problem.topology.size
    loads = problem.shaped(data.draw(ours.integer_loads(size, batch=2, dtype="uint8")))
    loads = loads.astype(np.int64) * 2**10
    whole, real = (problem.run(w, record="flows") for w in (loads, loads.astype(float)))
    for name in ("loads", "flows", "moved", "local", "difference", "cost", "locality", "stages"):
        assert getattr(whole, name).tolist() == getattr(real, name).tolist(), name
