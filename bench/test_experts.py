"""Placement of experts: the published algorithm beside NumPy, the refined one beside that."""

import numpy as np
import pytest

import fastlb as lb
from bench import expert_peers

# Layers, experts, replicas, GPUs.
MODELS = {
    "58x256, 288 on 32": (58, 256, 288, 32),
    "58x256, 320 on 64": (58, 256, 320, 64),
    "61x256, 320 on 40": (61, 256, 320, 40),
}
LOADS = {
    "uniform": lambda draws, shape: draws.random(shape),
    "Pareto 1.0": lambda draws, shape: draws.pareto(1.0, shape) + 1,
    "zipf 1.5 counts": lambda draws, shape: draws.zipf(1.5, shape).astype(float),
}


def problem(model, loads, quick):
    L, E, R, G = MODELS[model]
    L = 2 if quick else L
    return LOADS[loads](np.random.default_rng(1995), (L, E)), R, G


@pytest.mark.parametrize("loads", LOADS)
@pytest.mark.parametrize("model", MODELS)
def test_published(race, quick, model, loads):
    weights, R, G = problem(model, loads, quick)

    def fastlb():
        p = lb.place_experts(weights, R, G)
        return p.phy2log, p.log2phy, p.logcnt

    race(
        f"experts {model}, {loads}, published",
        fastlb,
        {"NumPy": lambda: expert_peers.place(weights, R, G)},
        nodes=weights.size,
        targets={"NumPy": 40},
    )


@pytest.mark.parametrize("loads", ["uniform", "zipf 1.5 counts"])
def test_published_on_nodes(race, quick, loads):
    weights, R, _ = problem("58x256, 288 on 32", loads, quick)
    options = {"nodes": 4, "groups": 8}

    def fastlb():
        p = lb.place_experts(weights, R, 32, **options)
        return p.phy2log, p.log2phy, p.logcnt

    race(
        f"experts 58x256, 288 on 32 in 4 nodes, {loads}, published",
        fastlb,
        {"NumPy": lambda: expert_peers.place(weights, R, 32, **options)},
        nodes=weights.size,
        targets={"NumPy": 40},
    )


@pytest.mark.parametrize("model", MODELS)
def test_published_into_arrays(race, quick, model):
    weights, R, G = problem(model, "uniform", quick)
    out = np.empty((len(weights), R), np.int64), np.empty(weights.shape, np.int64)

    def fastlb():
        p = lb.place_experts(weights, R, G, out=out)
        return p.phy2log, p.logcnt

    def numpy():
        phy2log, _, logcnt = expert_peers.place(weights, R, G)
        return phy2log, logcnt

    race(
        f"experts {model}, uniform, into arrays",
        fastlb,
        {"NumPy": numpy},
        nodes=weights.size,
        targets={"NumPy": 40},
    )


@pytest.mark.parametrize("loads", LOADS)
@pytest.mark.parametrize("model", MODELS)
def test_refined(race, quick, model, loads):
    weights, R, G = problem(model, loads, quick)
    race(
        f"experts {model}, {loads}, refined",
        lambda: lb.place_experts(weights, R, G, method="refined").phy2log,
        {},
        nodes=weights.size,
        yardsticks={"published": lambda: lb.place_experts(weights, R, G).phy2log},
        targets={"published": 20},
    )


def test_few_moves(race, quick):
    weights, R, G = problem("58x256, 288 on 32", "uniform", quick)
    before = lb.place_experts(weights, R, G, method="refined")
    drift = np.random.default_rng(7).normal(1, 0.1, weights.shape)
    drifted = weights * np.maximum(drift, 0)
    race(
        "experts 58x256, 288 on 32, uniform, drifted by 10 %, 64 moves",
        lambda: (
            lb.place_experts(drifted, R, G, method="refined", previous=before, moves=64).phy2log
        ),
        {},
        nodes=weights.size,
        yardsticks={"published": lambda: lb.place_experts(drifted, R, G).phy2log},
        targets={"published": 10},
    )
