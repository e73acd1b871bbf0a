"""NetworkX's own tests of flows and connectivity pass with this backend, and reach its kernels."""

from __future__ import annotations

import json
import subprocess

import networkx as nx
import pytest

from tests.installed import python, with_entry_points

SUITES = nx.__path__[0]
FLOWS = ("algorithms/flow",)
CONNECTIVITY = ("algorithms/connectivity",)


@pytest.fixture
def run_suite(tmp_path):
    """Return a function that runs files of NetworkX's tests and returns counts of calls."""

    def run(files, *options, any_flow=False):
        calls = tmp_path / "calls.json"
        environment = with_entry_points(
            tmp_path / "installed",
            NETWORKX_TEST_BACKEND="fastlb",
            NETWORKX_FALLBACK_TO_NX="1",
            FASTLB_NETWORKX_ANY_FLOW=str(int(any_flow)),
            CALLS=str(calls),
        )
        command = python(
            *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"),
            *("-p", "tests.networkx_backend.counting"),
            *("--rootdir", SUITES, "--confcutdir", SUITES),
            *(f"{SUITES}/{file}" for file in files),
            *options,
        )
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr
        assert " passed" in done.stdout
        counts = json.loads(calls.read_text())
        return {name: reached for name, (_, reached) in counts.items()}

    return run


def test_a_part_of_the_suites(run_suite):
    reached = run_suite(
        [
            "algorithms/flow/tests/test_mincost.py",
            "algorithms/flow/tests/test_networksimplex.py",
            "algorithms/connectivity/tests/test_stoer_wagner.py",
            "algorithms/connectivity/tests/test_cuts.py",
        ],
        *("-k", "not random"),
    )
    assert reached["network_simplex"] >= 30
    assert reached["capacity_scaling"] >= 14
    assert reached["min_cost_flow_cost"] >= 9
    assert reached["stoer_wagner"] >= 6


@pytest.mark.slow
def test_the_suite_of_flows(run_suite, full):
    if not full:
        pytest.skip("a part of the suites runs without --full")
    reached = run_suite(FLOWS)
    assert reached["minimum_cut_value"] >= 6_446
    assert reached["network_simplex"] >= 30


@pytest.mark.slow
def test_the_suite_of_connectivity(run_suite, full):
    if not full:
        pytest.skip("a part of the suites runs without --full")
    reached = run_suite(CONNECTIVITY)
    assert reached["edge_connectivity"] + reached["node_connectivity"] >= 2_000
    assert reached["local_edge_connectivity"] >= 1_100
    assert reached["minimum_edge_cut"] >= 120
    assert reached["minimum_cut"] >= 500


@pytest.mark.slow
def test_any_maximum_flow_stands_for_those_of_networkx(run_suite, full):
    """Its five algorithms, on its large graphs as well, run in the kernel."""
    if not full:
        pytest.skip("a part of the suites runs without --full")
    reached = run_suite(FLOWS, "--runslow", any_flow=True)
    assert reached["minimum_cut_value"] >= 21_000
    assert reached["minimum_cut"] >= 70


@pytest.mark.slow
def test_any_maximum_flow_stands_for_those_of_connectivity(run_suite, full):
    if not full:
        pytest.skip("a part of the suites runs without --full")
    files = (*CONNECTIVITY, "algorithms/flow/tests/test_gomory_hu.py")
    reached = run_suite(files, any_flow=True)
    assert reached["node_connectivity"] >= 250
    assert reached["minimum_node_cut"] >= 70
    assert reached["minimum_edge_cut"] >= 180
    assert reached["average_node_connectivity"] >= 15
    assert reached["all_pairs_node_connectivity"] >= 13
    assert reached["gomory_hu_tree"] >= 15
    assert reached["stoer_wagner"] >= 13


def test_a_backend_that_declines_is_noticed(run_suite):
    """With a flow function named in every test nothing is served without the switch."""
    file = "algorithms/flow/tests/test_maxflow.py"
    named = ("-k", "test_graph1 or test_graph2 or test_digraph1")
    assert not run_suite([file], *named).get("minimum_cut", 0)
    assert run_suite([file], *named, any_flow=True)["minimum_cut"] > 0
