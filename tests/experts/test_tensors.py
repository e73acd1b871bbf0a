"""Tensors of other libraries: read in place, refused with a reason, and returned as they came."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

import fastlb as lb
from fastlb.experts import rebalance_experts
from tests.tensors import Tensor

# Replicas, groups, nodes, GPUs.
CLUSTER = 16, 4, 2, 8


def loads(layers=3):
    return np.random.default_rng(31).integers(0, 1000, (layers, 12))


@pytest.fixture
def library(monkeypatch):
    """Make ``Tensor`` a class of a library that has ``from_dlpack``."""
    module = ModuleType("tensors")
    module.from_dlpack = lambda array: Tensor(np.from_dlpack(array))
    monkeypatch.setitem(sys.modules, "tensors", module)
    monkeypatch.setattr(Tensor, "__module__", "tensors.core")
    return module


@pytest.mark.parametrize("dtype", ["i8", "i4", "u1", "f8", "f4", "f2"])
def test_a_tensor_is_read_as_its_array(dtype):
    array = (loads() % 200).astype(dtype)
    expected = rebalance_experts(array, *CLUSTER)
    for tensor in (Tensor(array), Tensor(np.repeat(array, 2, 1)[:, ::2])):
        for ours, theirs in zip(rebalance_experts(tensor, *CLUSTER), expected, strict=True):
            assert type(ours) is np.ndarray
            np.testing.assert_array_equal(ours, theirs)


def test_maps_are_tensors_of_the_same_library(library):
    class Own(Tensor):
        """A class of the user's, in a module without ``from_dlpack``."""

    for kind in (Tensor, Own):
        maps = rebalance_experts(kind(loads()), *CLUSTER)
        expected = rebalance_experts(loads(), *CLUSTER)
        for ours, theirs in zip(maps, expected, strict=True):
            assert type(ours) is Tensor
            np.testing.assert_array_equal(ours.array, theirs)


def test_later_calls_leave_tensors_alone(library):
    first = rebalance_experts(Tensor(loads()), *CLUSTER)
    before = [tensor.array.copy() for tensor in first]
    for _ in range(3):
        rebalance_experts(Tensor(loads()[:, ::-1] ** 3), *CLUSTER)
    for tensor, array in zip(first, before, strict=True):
        np.testing.assert_array_equal(tensor.array, array)


def test_a_placement_in_use_may_be_a_tensor():
    before = lb.place_experts(loads(), 16, 8)
    expected = lb.place_experts(loads() ** 2, 16, 8, method="refined", previous=before, moves=3)
    p = lb.place_experts(
        Tensor(loads() ** 2), 16, 8, method="refined", previous=Tensor(before.phy2log), moves=3
    )
    np.testing.assert_array_equal(p.phy2log, expected.phy2log)
    with pytest.raises(TypeError, match="previous must be a Placement or integers"):
        lb.place_experts(loads(), 16, 8, previous=Tensor(before.phy2log.astype(float)))


def test_torch():
    torch = pytest.importorskip("torch")
    weights = torch.from_numpy(loads() % 200)
    expected = rebalance_experts(weights.numpy(), *CLUSTER)
    kinds = ["int64", "int32", "int16", "uint8", "float64", "float32", "float16"]
    tensors = [weights.to(getattr(torch, kind)) for kind in kinds]
    # In columns, with gaps, a parameter, and a class of the user's.
    tensors.append(weights.T.contiguous().T)
    tensors.append(torch.stack([weights, weights], dim=-1)[..., 1])
    tensors.append(torch.nn.Parameter(weights.float(), requires_grad=False))
    tensors.append(weights.as_subclass(type("Own", (torch.Tensor,), {})))
    for tensor in tensors:
        maps = rebalance_experts(tensor, *CLUSTER)
        for ours, theirs in zip(maps, expected, strict=True):
            assert type(ours) is torch.Tensor
            assert ours.dtype == torch.int64
            assert ours.tolist() == theirs.tolist()
    maps[0][0, 0] = -1  # Tensors of their own, which may be written.
    for tensor, reason in (
        (weights.bfloat16(), "torch.bfloat16"),
        (weights.float().requires_grad_(), "gradient"),
        (weights.float().to_sparse(), "strided"),
        (weights.to("meta"), "meta"),
        (weights > 5, "bool"),
    ):
        with pytest.raises(TypeError, match=reason):
            rebalance_experts(tensor, *CLUSTER)
    with pytest.raises(ValueError, match=r"shape \(layers, experts\), got \(12,\)"):
        rebalance_experts(weights[0], *CLUSTER)
