"""Minimax flow: the whole search for the least contention, and the least traffic at it."""

from dataclasses import replace

import numpy as np
import pytest

import fastlb as lb
from bench import flow_peers


def random_network(nodes, links, seed=7):
    """Return a strongly connected network of random links, both directions of each."""
    draws = np.random.default_rng(seed)
    ring = np.stack([np.arange(nodes), np.roll(np.arange(nodes), -1)], axis=1)
    more = draws.integers(0, nodes, (links // 2 - nodes, 2))
    pairs = lb.Network(np.concatenate([ring, more])).links
    return lb.Network(np.concatenate([pairs, pairs[:, ::-1]]), n=nodes)


NETWORKS = {
    "32x32 torus": lambda: lb.Torus(32, 32).network(),
    "10-cube": lambda: lb.Hypercube(10).network(),
    "32x32 mesh": lambda: lb.Mesh(32, 32).network(),
    "random, 1000 nodes, 8000 links": lambda: random_network(1_000, 8_000),
    "16x16x16 torus": lambda: lb.Torus(16, 16, 16).network(),
    "100x100 mesh": lambda: lb.Mesh(100, 100).network(),
    "13-cube": lambda: lb.Hypercube(13).network(),
    "random, 10000 nodes, 80000 links": lambda: random_network(10_000, 80_000),
}
# On the larger ones a call of HiGHS or networkx takes 3 to 14 seconds.
SMALL = ("32x32 torus", "10-cube", "32x32 mesh", "random, 1000 nodes, 8000 links")


def instance(name, quick):
    network = lb.Torus(6, 6).network() if quick else NETWORKS[name]()
    loads = np.random.default_rng(1995).integers(0, 2001, network.size)
    excess = lb.excess_load(loads)
    lb.minimax_flow(network, excess)
    return network, excess, flow_peers.Problem(network, excess)


@pytest.mark.parametrize("name", NETWORKS)
def test_search(race, quick, name):
    network, excess, problem = instance(name, quick)
    small = quick or name in SMALL
    beta = lb.minimax_flow(network, excess).contention
    ortools = flow_peers.ortools(problem)
    race(
        f"minimax {name}: beta",
        lambda: lb.minimax_flow(network, excess).contention,
        {
            "OR-tools restarts": ortools[0] if ortools else None,
            "igraph restarts": flow_peers.igraph(problem),
            "scipy restarts": lambda: lb.minimax_flow(network, excess, method="scipy").contention,
            "networkx restarts": flow_peers.networkx(problem) if small else None,
            "HiGHS": flow_peers.highs(problem) if small else None,
        },
        nodes=network.size,
        yardsticks={"OR-tools flows": lambda: ortools[1](beta)} if ortools else {},
        targets={
            "OR-tools restarts": 3,
            "igraph restarts": 10,
            "scipy restarts": 8,
            "OR-tools flows": 2,
        }
        | ({"HiGHS": 100} if small else {}),
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_plan(race, quick, name):
    network, excess, problem = instance(name, quick)
    ortools = flow_peers.ortools(problem)
    race(
        f"minimax {name}: beta and a plan",
        lambda: lb.minimax_flow(network, excess).flow.max(),
        {"OR-tools restarts": ortools[0] if ortools else None},
        nodes=network.size,
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_least_traffic(race, quick, name):
    network, excess, problem = instance(name, quick)
    p = lb.minimax_flow(network, excess, plan="least")
    race(
        f"minimax {name}: least traffic at beta",
        lambda: replace(p).traffic,
        {"OR-tools minimum-cost flow": flow_peers.ortools_least(problem, p.contention)},
        nodes=network.size,
        targets={"OR-tools minimum-cost flow": 2},
    )
