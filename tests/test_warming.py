"""After a warm-up nothing is compiled or loaded any more."""

import subprocess
import sys
from pathlib import Path

import pytest

import fastlb as lb

ROOT = Path(__file__).resolve().parents[1]

COUNT = """
import sys
import numpy as np
import fastlb as lb

def compiled():
    return {
        (name, str(signature))
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("fastlb.kernels.")
        for name, kernel in vars(module).items()
        for signature in getattr(kernel, "signatures", ())
    }
"""
WEIGHTED = {
    "dem": "lb.dem(loads(2**n), lb.Hypercube(n), record=record, weights=np.arange(2**n))",
    "gde": "lb.gde(loads(5, n), lb.Mesh(5, n), record=record, weights=np.arange(5 * n))",
    "dde": "lb.dde(loads(5, n), lb.Torus(5, n), record=record, weights=np.arange(5 * n))",
}
CALLS = {
    "dem": "lb.dem(loads(2**n), lb.Hypercube(n), record=record)",
    "gde": "lb.gde(loads(5, n), lb.Mesh(5, n), record=record)",
    "dde": "lb.dde(loads(5, n), lb.Torus(5, n), record=record)",
    "hexa_cell": "lb.hexa_cell(loads(6 << n - 1), lb.HyperHexaCell(n), record=record)",
    "fault_tolerant_dem": (
        "lb.fault_tolerant_dem(loads(2**n), lb.Hypercube(n, faults=[(0, 1), (4, 5)]),"
        " record=record)"
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_after_the_warm_up_compiles_nothing(name):
    code = (
        f"{COUNT}\nlb.warmup({name!r})\nbefore = compiled()\nassert before\n"
        "def loads(*shape):\n"
        "    shape = (trials, *shape) if trials else shape\n"
        "    return np.arange(np.prod(shape)).reshape(shape) % 1000\n"
        "for record in ('loads', 'metrics', 'flows'):\n"
        "    for trials in (0, 1, 3, 3000):\n"
        "        for n in (3, 6, 9):\n"
        f"            {CALLS[name]}\n"
        f"            {WEIGHTED.get(name, 'pass')}\n"
        "assert compiled() == before, compiled() - before\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


def test_functions_of_networkx_compile_nothing_after_the_warm_up():
    code = (
        f"{COUNT}\nlb.warmup('networkx')\nbefore = compiled()\nassert before\n"
        "import networkx as nx\n"
        "from fastlb.networkx_backend.graph import ConvertedGraph\n"
        "from fastlb.networkx_backend.interface import backend\n"
        "for graph in (nx.petersen_graph(), nx.cycle_graph(4).to_directed()):\n"
        "    graph = ConvertedGraph(graph)\n"
        "    for name in ('node', 'edge', 'average_node', 'all_pairs_node'):\n"
        "        getattr(backend, f'{name}_connectivity')(graph)\n"
        "    for name in ('node', 'edge'):\n"
        "        getattr(backend, f'{name}_connectivity')(graph, 0, 2)\n"
        "        getattr(backend, f'minimum_{name}_cut')(graph)\n"
        "        getattr(backend, f'minimum_{name}_cut')(graph, 0, 2)\n"
        "for weight in (3, 2.5):\n"
        "    graph = nx.petersen_graph()\n"
        "    nx.set_edge_attributes(graph, weight, 'weight')\n"
        "    backend.gomory_hu_tree(ConvertedGraph(graph), 'weight')\n"
        "    backend.stoer_wagner(ConvertedGraph(graph))\n"
        "assert compiled() == before, compiled() - before\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


def test_seconds_by_name_and_names_that_do_not_exist():
    assert set(lb.warmup("sample_loads", "minimax_flow")) == {"sample_loads", "minimax_flow"}
    with pytest.raises(ValueError, match=r"names must be among dem, .* got 'den'"):
        lb.warmup("den")
    with pytest.raises(TypeError):
        lb.warmup("dem", dtypes=["no dtype"])
