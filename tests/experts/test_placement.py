"""What a placement says, what it refuses, and which arrays it reads."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import types

import numpy as np
import pytest

import fastlb as lb
from fastlb.experts import rebalance_experts

from ..tensors import Tensor

WEIGHTS = np.array([[90, 132, 40, 61, 104, 165, 39, 4], [1, 1, 1, 1, 1, 1, 1, 1]])


def test_figures_and_texts():
    p = lb.place_experts(WEIGHTS, 10, 5)
    np.testing.assert_allclose(p.loads.sum(axis=1), WEIGHTS.sum(axis=1))
    np.testing.assert_allclose(p.balancedness, p.loads.mean(axis=1) / p.loads.max(axis=1))
    np.testing.assert_allclose(p.gap, p.loads.max(axis=1) / p.bound - 1, atol=1e-12)
    for name in ("transfers", "moves"):
        with pytest.raises(AttributeError, match=f"{name} need .* previous="):
            getattr(p, name)
        assert name not in p.to_dict()
    assert (p.replicas, p.gpus, p.nodes, p.groups) == (10, 5, 1, 1)
    assert repr(p).startswith(
        "<Placement: published, 8 experts, 10 replicas on 5 GPUs, 2 layers; balancedness 0."
    )
    assert "<table>" in p._repr_html_() and "balancedness" in p._repr_html_()
    written = json.loads(json.dumps(p.to_dict()))
    assert written["phy2log"] == p.phy2log.tolist() and written["gpus"] == 5
    for other in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        np.testing.assert_array_equal(other.log2phy, p.log2phy)
    q = lb.place_experts(WEIGHTS, 10, 5, previous=p)
    assert "transfers 0" in repr(q) and q.to_dict()["moves"] == []
    with pytest.raises(AttributeError, match="frozen"):
        p.gpus = 3
    with pytest.raises(AttributeError, match="frozen"):
        del p.method


def test_no_load_at_all_is_even():
    p = lb.place_experts(np.zeros((2, 4)), 6, 3, method="refined")
    assert p.balancedness.tolist() == [1, 1] and p.gap.tolist() == [0, 0] and p.verify()


@pytest.mark.parametrize("name", ["phy2log", "logcnt"])
def test_verify_sees_what_was_changed(name):
    p = lb.place_experts(WEIGHTS, 10, 5)
    getattr(p, name)[0, 0] += 1
    with pytest.raises(ValueError, match="must hold"):
        p.verify()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float16", "float32", ">f8"])
def test_every_real_dtype_and_order(dtype):
    weights = (WEIGHTS % 100).astype(dtype)
    expected = lb.place_experts(WEIGHTS % 100, 10, 5).phy2log
    for given in (weights, np.asfortranarray(weights), weights.tolist(), weights[:, ::1]):
        np.testing.assert_array_equal(lb.place_experts(given, 10, 5).phy2log, expected)


def test_tensors_are_read_in_place_and_come_back_as_tensors(monkeypatch):
    library = types.ModuleType("otherlibrary")
    library.from_dlpack = lambda array: Tensor(np.from_dlpack(array))
    monkeypatch.setitem(sys.modules, "otherlibrary", library)
    monkeypatch.setattr(Tensor, "__module__", "otherlibrary.tensors")
    expected = rebalance_experts(WEIGHTS, 10, 1, 1, 5)
    got = rebalance_experts(Tensor(WEIGHTS.astype(np.float32)), 10, 1, 1, 5)
    for ours, theirs in zip(got, expected, strict=True):
        assert isinstance(ours, Tensor)
        np.testing.assert_array_equal(ours.array, theirs)
    p = lb.place_experts(Tensor(WEIGHTS), 10, 5, previous=got[0])
    assert p.transfers.tolist() == [0, 0]
    for error in (BufferError("requires grad"), RuntimeError("on cuda:0"), TypeError("bfloat16")):
        with pytest.raises(TypeError, match=r"weights must be .* CPU's memory.*detach"):
            lb.place_experts(Tensor(WEIGHTS, error), 10, 5)
    monkeypatch.delattr(library, "from_dlpack")
    assert isinstance(rebalance_experts(Tensor(WEIGHTS), 10, 1, 1, 5)[0], np.ndarray)


GOOD = lb.place_experts(WEIGHTS, 10, 5)
OUT = np.empty((2, 10), np.int64), np.empty((2, 8), np.int64)
BAD = [
    (ValueError, "weights .*finite.*nan at .0, 0.", {"weights": [[np.nan, 1]]}),
    (ValueError, "weights .*not negative", {"weights": [[-1, 1]]}),
    (ValueError, "weights .*inf", {"weights": [[np.inf, 1]]}),
    (OverflowError, "weights .*float32", {"weights": [[1e39, 1]]}),
    (OverflowError, "weights .*float32", {"weights": [[3e38, 3e38]]}),
    (ValueError, "weights .*each expert", {"weights": []}),
    (ValueError, "weights .*each expert", {"weights": 3}),
    (ValueError, "weights .*unequal", {"weights": [[1], [1, 2]]}),
    (TypeError, "weights .*bool", {"weights": [[True, False]]}),
    (TypeError, "weights .*complex", {"weights": [[1j, 2]]}),
    (TypeError, "weights .*masked", {"weights": np.ma.masked_array([1, 2], [0, 1])}),
    (ValueError, "replicas must be 8 or more", {"replicas": 5}),
    (ValueError, "replicas must be a multiple of gpus", {"replicas": 11}),
    (TypeError, "replicas", {"replicas": 10.0}),
    (ValueError, "replicas", {"replicas": 2**40}),
    (ValueError, "gpus", {"gpus": 0}),
    (ValueError, "gpus must be a multiple of nodes", {"nodes": 2, "groups": 2}),
    (ValueError, "experts must be a multiple of groups", {"groups": 3}),
    (ValueError, "groups must be a multiple of nodes", {"nodes": 5}),
    (ValueError, "method", {"method": "best"}),
    (ValueError, "arithmetic", {"arithmetic": "float16"}),
    (ValueError, "arithmetic", {"arithmetic": "float32", "method": "refined"}),
    (ValueError, "tolerance", {"tolerance": -1}),
    (ValueError, "effort", {"effort": -1}),
    (ValueError, "moves .*previous", {"moves": 3}),
    (ValueError, "moves .*refined", {"moves": 3, "previous": GOOD}),
    (ValueError, "moves", {"moves": -1, "previous": GOOD, "method": "refined"}),
    (ValueError, r"previous .*shape \(2, 10\)", {"previous": GOOD.phy2log[0]}),
    (ValueError, "previous .*0..7", {"previous": GOOD.phy2log + 1}),
    (ValueError, "previous .*every expert", {"previous": np.zeros((2, 10), int)}),
    (TypeError, "previous .*phy2log", {"previous": GOOD.phy2log * 1.0}),
    (TypeError, "out", {"out": OUT[0]}),
    (ValueError, "out .*logcnt of shape", {"out": (OUT[0], OUT[0])}),
    (ValueError, "out .*int64", {"out": (OUT[0].astype(np.int32), OUT[1])}),
    (ValueError, "out .*C order", {"out": (np.asfortranarray(OUT[0]), OUT[1])}),
    (TypeError, "out .*phy2log", {"out": ([], OUT[1])}),
]


@pytest.mark.parametrize(("error", "words", "changed"), BAD)
def test_bad_input_is_refused_in_one_line(error, words, changed):
    arguments = {"weights": WEIGHTS, "replicas": 10, "gpus": 5} | changed
    weights, replicas, gpus = (arguments.pop(name) for name in ("weights", "replicas", "gpus"))
    with pytest.raises(error, match=words) as caught:
        lb.place_experts(weights, replicas, gpus, **arguments)
    assert "\n" not in str(caught.value)


def test_groups_on_several_nodes_are_no_placement_on_nodes():
    before = lb.place_experts(np.arange(8)[None], 8, 4)
    with pytest.raises(ValueError, match="previous must have each group on one node"):
        lb.place_experts(np.arange(8)[None], 8, 4, nodes=2, groups=2, previous=before)


def test_weights_of_one_layer_are_no_matrix():
    with pytest.raises(ValueError, match=r"weight must have shape \(layers, experts\)"):
        rebalance_experts(np.arange(8), 8, 1, 1, 4)


def test_the_module_is_reached_by_name():
    assert lb.experts.rebalance_experts is rebalance_experts
    assert "experts" in lb.__all__
