"""The published placement against a plain twin, bit for bit, and against EPLB's own example."""

from __future__ import annotations

import numpy as np
import pytest

import fastlb as lb
from bench import expert_peers
from fastlb.experts import rebalance_experts
from tests.experts.weights import KINDS, cluster, draw
from tests.oracles import experts as oracle

# The example in the README of deepseek-ai/EPLB.
EXAMPLE = [
    [90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
    [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27],
]
EXAMPLE_PHY2LOG = [
    [5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1],
    [7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1],
]


def check(weights, replicas, gpus, nodes, groups, arithmetic="float64"):
    p = lb.place_experts(weights, replicas, gpus, nodes=nodes, groups=groups, arithmetic=arithmetic)
    most = int(p.logcnt.max())
    assert p.log2phy.shape == (*p.logcnt.shape, most)
    for layer, row in enumerate(weights):
        phy2log, logcnt, numbers = oracle.placed(
            row, replicas, gpus, nodes, groups, np.dtype(arithmetic).type
        )
        assert p.phy2log[layer].tolist() == phy2log
        assert p.logcnt[layer].tolist() == logcnt
        log2phy = oracle.slots_of(phy2log, numbers, len(row), most)
        assert p.log2phy[layer].tolist() == log2phy
    return p


def test_the_example_of_eplb():
    phy2log, log2phy, logcnt = rebalance_experts(np.array(EXAMPLE), 16, 4, 2, 8)
    assert phy2log.tolist() == EXAMPLE_PHY2LOG
    assert logcnt.sum(axis=1).tolist() == [16, 16]
    assert log2phy[0, 5].tolist() == [0, 2]
    for arithmetic in ("float64", "float32"):
        check(np.array(EXAMPLE), 16, 8, 2, 4, arithmetic)


@pytest.mark.slow
def test_random_inputs_are_equal_to_the_last_bit(full):
    draws = np.random.default_rng(1)
    for i in range(10_000 if full else 400):
        experts, replicas, gpus, nodes, groups = cluster(draws)
        weights = draw(draws, KINDS[i % len(KINDS)], (1, experts))
        check(weights, replicas, gpus, nodes, groups, "float32" if i % 5 == 4 else "float64")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("nodes", "groups"), [(1, 1), (4, 8), (1, 8), (4, 4)])
def test_whole_models_are_equal_to_numpy(kind, nodes, groups):
    weights = draw(np.random.default_rng(2), kind, (3, 256))
    p = lb.place_experts(weights, 288, 32, nodes=nodes, groups=groups)
    expected = expert_peers.place(weights, 288, 32, nodes, groups)
    for ours, theirs in zip((p.phy2log, p.log2phy, p.logcnt), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    check(weights[:1], 288, 32, nodes, groups)
    assert p.verify()


def test_many_copies_of_one_expert_and_a_slot_a_gpu():
    weights = np.array([[1000.0, 1, 1, 0], [0, 0, 0, 0], [1, 2, 3, 4]])
    for replicas, gpus in ((40, 4), (40, 40), (4, 4), (4, 1), (12, 4)):
        check(weights, replicas, gpus, 1, 1)


def test_negative_zero_is_zero():
    weights = np.array([[0.0, -0.0, 1.0, -0.0]])
    p = lb.place_experts(weights, 6, 3)
    q = lb.place_experts(abs(weights), 6, 3)
    np.testing.assert_array_equal(p.phy2log, q.phy2log)


def test_weights_are_rounded_to_float32_first():
    weights = np.array([[2.0**24 + 1, 2.0**24, 3, 5]])
    rounded = weights.astype(np.float32)
    assert rounded[0, 0] == rounded[0, 1]
    for given in (weights, rounded, weights.astype(np.int64), weights.tolist()):
        assert lb.place_experts(given, 6, 2).phy2log.tolist() == oracle_rows(weights, 6, 2)


def oracle_rows(weights, replicas, gpus):
    return [oracle.placed(row, replicas, gpus)[0] for row in weights]


def test_groups_that_nodes_do_not_divide_are_placed_over_all_gpus():
    weights = np.random.default_rng(3).random((2, 12))
    phy2log, _, _ = rebalance_experts(weights, 16, 3, 2, 4)
    assert phy2log.tolist() == oracle_rows(weights, 16, 4)


def test_leading_axes_are_layers_each():
    weights = np.random.default_rng(4).random((2, 3, 8))
    p = lb.place_experts(weights, 12, 4)
    assert p.phy2log.shape == (2, 3, 12)
    assert p.loads.shape == (2, 3, 4)
    assert p.balancedness.shape == p.bound.shape == p.gap.shape == (2, 3)
    q = lb.place_experts(weights[1, 2], 12, 4)
    np.testing.assert_array_equal(q.phy2log, p.phy2log[1, 2])
    assert q.balancedness.shape == ()
    empty = lb.place_experts(np.zeros((0, 8)), 12, 4)
    assert empty.phy2log.shape == (0, 12)
    assert empty.verify()
    assert "0 layers" in repr(empty)


def test_maps_go_into_the_arrays_of_the_caller():
    weights = np.random.default_rng(5).random((2, 8))
    out = np.empty((2, 12), np.int64), np.empty((2, 8), np.int64)
    for method in ("published", "refined"):
        p = lb.place_experts(weights, 12, 4, out=out, method=method)
        q = lb.place_experts(weights, 12, 4, method=method)
        assert np.shares_memory(p.phy2log, out[0])
        assert np.shares_memory(p.logcnt, out[1])
        for name in ("phy2log", "log2phy", "logcnt"):
            np.testing.assert_array_equal(getattr(p, name), getattr(q, name))
