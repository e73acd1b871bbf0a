"""Which methods balance which topologies, and what is said where one does not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.topologies.kinds import KINDS, kind_of, suitable

TOPOLOGIES = {
    "hypercube:3": lb.Hypercube(3),
    "hypercube:3:faults=0-4": lb.Hypercube(3, faults=[(0, 4)]),
    "mesh:2x4": lb.Mesh(2, 4),
    "hhc:1": lb.HyperHexaCell(1),
    "a network": lb.Network([(0, 1), (1, 2), (2, 0), (2, 3)]),
}


def test_every_kind_is_tried() -> None:
    assert {kind_of(topology) for topology in TOPOLOGIES.values()} == set(KINDS)


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES)
@pytest.mark.parametrize("method", ["dem", "gde", "dde", "hexa_cell", "fault_tolerant_dem"])
def test_a_method_balances_what_the_table_says(method: str, topology: lb.Topology) -> None:
    loads = np.zeros(topology.size, int)
    if method in suitable(topology):
        assert lb.balance(loads, topology, method).loads.tolist() == loads.tolist()
        return
    with pytest.raises((TypeError, ValueError)) as caught:
        lb.balance(loads, topology, method)
    message = str(caught.value)
    assert message.startswith("topology must ")
    assert f" for {method}, got {topology!r}; on a {kind_of(topology).name} use " in message
    for name in [*suitable(topology), "minimax_flow", "fastlb topologies --methods"]:
        assert name in message


def test_dde_on_a_network_names_the_methods_that_do() -> None:
    network = lb.Network([(0, 1)])
    with pytest.raises(TypeError, match="must be a Grid or Hypercube for dde") as caught:
        lb.dde([1, 2], network)
    assert "on a network use gde or minimax_flow (" in str(caught.value)


@pytest.mark.parametrize("loads", [[4, 0, 1], np.array([4, 0, 1]), np.array([4.0, 0, 1])])
@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
def test_gde_halves_on_networks(loads: Any, record: str) -> None:
    network = lb.Network([(0, 1), (1, 2)])
    half = lb.gde(loads, network, lam="1/2", record=record)
    usual = lb.gde(loads, network, record=record)
    assert usual.lam == half.lam == Fraction(1, 2)
    assert usual.loads.tolist() == half.loads.tolist()
    assert usual.to_dict()["lam"] == "1/2"
    assert lb.gde(np.zeros(6, int), "hhc:1", record=record).lam == Fraction(1, 2)


def test_lambda_is_recorded_on_grids() -> None:
    loads = np.arange(64)
    assert lb.gde(loads, "mesh:8x8").lam == Fraction(723, 1000)
    assert lb.gde(loads, "mesh:8x8", lam="3/4", record="loads").lam == Fraction(3, 4)
    with pytest.raises(AttributeError, match="lam does not apply to dde"):
        _ = lb.dde(loads, "mesh:8x8").lam


@pytest.mark.parametrize(
    ("function", "spelling"),
    [
        (lb.dem, "hypercube:3"),
        (lb.dde, "ring:8"),
        (lb.gde, "mesh:2x4"),
        (lb.fault_tolerant_dem, "hypercube:3:faults=0-4"),
        (lb.hexa_cell, "hhc:1"),
        (lb.balance, "torus:2x4"),
    ],
)
@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_methods_take_spellings(function: Any, spelling: str, record: str, dtype: Any) -> None:
    topology = lb.parse_topology(spelling)
    loads = np.arange(topology.size, dtype=dtype) * 7
    expected = function(loads, topology, record=record)
    for spelled in (spelling, spelling):
        b = function(loads, spelled, record=record)
        assert b.topology == topology
        assert repr(b.topology) == repr(topology)
        assert b.to_dict() == expected.to_dict()
    with pytest.raises(ValueError, match="topology must begin with one of"):
        function(loads, "rung:8", record=record)


def test_other_functions_take_spellings() -> None:
    cube = "hypercube:3:faults=0-4"
    assert lb.fault_plan(cube) == lb.fault_plan(lb.parse_topology(cube))
    assert lb.optimal_lambda("mesh:8x8") == lb.optimal_lambda(lb.Mesh(8, 8))
    c, A, b = lb.random_binary("planted", 4, 3, seed=1)
    assert lb.simulate_search(c, A, b, "hypercube:1").time > 0
    assert lb.search_speedup(c, A, b, "hypercube:1").speedup > 0


def test_flows_take_any_topology() -> None:
    network = lb.Ring(4).network()
    excess = [3, -1, -1, -1]
    expected = lb.minimax_flow(network, excess)
    for topology in (lb.Ring(4), "ring:4"):
        p = lb.minimax_flow(topology, excess)
        assert (p.network, p.contention) == (network, expected.contention)
        entities = lb.route_entities(topology, [(0, 1)], [0, 2, 0, 0])
        assert entities.paths == lb.route_entities(network, [(0, 1)], [0, 2, 0, 0]).paths
    assert lb.routing_graph("chain:3", "dimension-order").n == 8
    assert lb.check_routing("ring:4", "shortest-direction").violated == "P3"


def test_excess_is_counted_before_a_spelled_network_is_laid_out() -> None:
    with pytest.raises(ValueError, match="excess must be one value for each of"):
        lb.minimax_flow("hypercube:40", [1, -1])


REFUSED = {np.bool_: "whether, not how much", np.float16: "loses units above 2048"}


@pytest.mark.parametrize("dtype", REFUSED)
def test_dtypes_are_refused_with_the_reason(dtype: Any) -> None:
    loads = np.ones(8, dtype)
    network = lb.Ring(8).network()
    calls = {
        "loads": [
            lambda: lb.dem(loads, "hypercube:3"),
            lambda: lb.gde(loads, "ring:8"),
            lambda: lb.dde(loads, "ring:8"),
            lambda: lb.fault_tolerant_dem(loads, "hypercube:3"),
            lambda: lb.hexa_cell(loads[:6], "hhc:1"),
            lambda: lb.dde_line(loads),
            lambda: lb.recursive_doubling(loads),
            lambda: lb.exchange_rounds(loads, np.zeros(8, int)),
            lambda: lb.excess_load(loads),
        ],
        "excess": [lambda: lb.minimax_flow(network, loads)],
        "room": [lambda: lb.route_entities(network, [(0, 1)], loads)],
        "capacity": [lambda: lb.Network([(0, 1)] * 8, capacity=loads)],
        "c": [lambda: lb.solve_binary(loads, loads[None], [1])],
    }
    advice = "int" if dtype is np.bool_ else "np.float32"
    for name, functions in calls.items():
        for function in functions:
            with pytest.raises(TypeError, match=f"^{name} must .* got dtype ") as caught:
                function()
            assert REFUSED[dtype] in str(caught.value)
            assert str(caught.value).endswith(f"pass {name}.astype({advice})")
