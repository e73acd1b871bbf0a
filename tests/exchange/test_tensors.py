"""Loads that are arrays of other libraries are read where they lie, or refused by name."""

import importlib.util

import numpy as np
import pytest

import fastlb as lb

from ..tensors import Tensor

LOADS = np.array([[9, 0, 0, 1], [4, 0, 0, 0]])
CALLS = {
    "dem": lambda loads: lb.dem(loads, lb.Hypercube(2)).loads,
    "dde": lambda loads: lb.dde(loads, lb.Ring(4)).loads,
    "gde": lambda loads: lb.gde(loads, lb.Ring(4)).loads,
    "fault_tolerant_dem": lambda loads: (
        lb.fault_tolerant_dem(loads, lb.Hypercube(2, faults=[(0, 1)])).loads
    ),
    "excess_load": lambda loads: lb.excess_load(loads),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["int16", "int64", "uint64", "float32", "float64"])
def test_tensors_give_what_arrays_give(name, dtype):
    loads = LOADS.astype(dtype)
    expected = CALLS[name](loads)
    for layout in (loads, np.asfortranarray(loads), np.repeat(loads, 2, axis=1)[:, ::2]):
        result = CALLS[name](Tensor(layout))
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(loads, LOADS.astype(dtype))


def test_a_line_takes_tensors():
    expected = lb.dde_line(LOADS[0]).flows
    np.testing.assert_array_equal(lb.dde_line(Tensor(LOADS[0])).flows, expected)


@pytest.mark.parametrize("error", [BufferError("no"), RuntimeError("no"), TypeError("no")])
def test_tensors_on_a_device_are_refused_by_name(error):
    with pytest.raises(
        TypeError, match=r"^loads must be .*CPU's memory.* Tensor on 'cuda:0' .*cpu"
    ):
        lb.dem(Tensor(LOADS, error, device="cuda:0"), lb.Hypercube(2))


def test_a_flow_plan_takes_tensors():
    network = lb.Network([(0, 1), (1, 2), (2, 3), (1, 0), (2, 1), (3, 2)])
    plan = lb.minimax_flow(network, Tensor(np.array([3, -1, -1, -1])))
    expected = lb.minimax_flow(network, [3, -1, -1, -1])
    assert plan.flow.tolist() == expected.flow.tolist()


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_real_tensors():
    import torch

    loads = torch.tensor(LOADS)
    expected = lb.dem(LOADS, lb.Hypercube(2)).loads
    np.testing.assert_array_equal(lb.dem(loads, lb.Hypercube(2)).loads, expected)
    np.testing.assert_array_equal(lb.dem(loads.T.contiguous().T, lb.Hypercube(2)).loads, expected)
    for refused in (
        loads.to(torch.bfloat16),
        loads.to(torch.float32).requires_grad_(),
        loads.to("meta"),
    ):
        with pytest.raises(TypeError, match="loads must be"):
            lb.dem(refused, lb.Hypercube(2))
