"""NetworkX hands calls over: in processes of their own, in which fastlb is installed."""

from __future__ import annotations

import subprocess
import textwrap

import pytest

from tests.installed import python, with_entry_points


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that runs a program where fastlb is installed and returns its output."""
    folder = tmp_path_factory.mktemp("installed")

    def run(program, **variables):
        done = subprocess.run(
            python("-W", "error", "-c", textwrap.dedent(PREFIX) + textwrap.dedent(program)),
            cwd=folder,
            env=with_entry_points(folder, **variables),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:-1]

    return run


PREFIX = """
    import importlib
    import sys
    import networkx as nx
    from fastlb.networkx_backend.information import HOME
    from fastlb.networkx_backend.interface import backend
    nx.config.warnings_to_ignore.add("cache")
    calls = []
    def counted(name):
        def call(*args, **kwargs):
            calls.append(name)
            module = importlib.import_module("fastlb.networkx_backend." + HOME[name])
            return getattr(module, name)(*args, **kwargs)
        return call
    for name in HOME:
        setattr(backend, name, counted(name))
    def was_served(name):
        served = name in calls
        calls.clear()
        return served
    graph = nx.DiGraph()
    graph.add_edge("x", "a", capacity=3)
    graph.add_edge("x", "b", capacity=1)
    graph.add_edge("a", "y", capacity=2)
    graph.add_edge("b", "y", capacity=9)
"""


def test_calls_that_name_the_backend_are_served(run):
    assert run("""
        print(nx.maximum_flow(graph, "x", "y", backend="fastlb"), was_served("maximum_flow"))
        print("fastlb" in nx.config.backends, "compiled kernels" in nx.maximum_flow.__doc__)
    """) == [
        "(3, {'x': {'a': 2, 'b': 1}, 'a': {'y': 2}, 'b': {'y': 1}, 'y': {}}) True",
        "True True",
    ]


def test_an_environment_variable_is_enough(run):
    program = """
        print(nx.minimum_cut_value(graph, "x", "y"), was_served("minimum_cut_value"))
        print(sorted(nx.node_connectivity(graph, "x", "y") for _ in range(1)))
    """
    assert run(program, NETWORKX_BACKEND_PRIORITY="fastlb") == ["3 True", "[2]"]
    assert run(program) == ["3 False", "[2]"]


def test_what_is_declined_networkx_runs(run):
    program = """
        from decimal import Decimal
        from fractions import Fraction
        for value in (10**30, Fraction(1, 3), Decimal("0.5")):
            graph["x"]["a"]["capacity"] = value
            print(repr(nx.maximum_flow_value(graph.copy(), "x", "y")))
        dinitz = nx.algorithms.flow.dinitz
        calls.clear()
        print(nx.maximum_flow_value(graph, "x", "b", "capacity", dinitz),
              was_served("maximum_flow_value"))
        print(type(dinitz(graph, "x", "b")).__name__, len(calls))
        try:
            nx.maximum_flow_value(graph, "x", "b", "capacity", dinitz, backend="fastlb")
        except NotImplementedError as error:
            print(str(error).partition(". ")[0].strip("`'"))
    """
    assert run(program, NETWORKX_BACKEND_PRIORITY="fastlb") == [
        "3",
        "Fraction(4, 3)",
        "Decimal('1.5')",
        "1 False",
        "DiGraph 0",
        "maximum_flow_value' is not implemented by 'fastlb' backend for the given arguments",
    ]


def test_errors_are_networkx_s(run):
    program = """
        graph.add_edge("p", "q")
        graph.add_edge("y", "y", capacity=-1)
        for ends in (("x", "x"), ("x", "z"), ("z", "x"), ("p", "q"), ([], "x")):
            said = []
            for backend in ("fastlb", "networkx"):
                try:
                    said.append(nx.maximum_flow(graph, *ends, backend=backend))
                except nx.NetworkXException as error:
                    said.append((type(error).__name__, str(error)))
            print(said[0] == said[1], *said[0])
    """
    assert run(program) == [
        "True NetworkXError source and sink are the same node",
        "True NetworkXError node z not in graph",
        "True NetworkXError node z not in graph",
        "True NetworkXUnbounded Infinite capacity path, flow unbounded above.",
        "True NetworkXError node [] not in graph",
    ]


def test_conversions_are_cached_on_the_graph_until_it_changes(run):
    assert run("""
        from fastlb.networkx_backend.graph import ConvertedGraph
        made = []
        init = ConvertedGraph.__init__
        def counted(self, *args, **kwargs):
            made.append(self)
            init(self, *args, **kwargs)
        ConvertedGraph.__init__ = counted
        def flow(g=graph):
            return nx.maximum_flow_value(g, "x", "y", backend="fastlb"), len(made)
        print(flow(), flow())
        graph.add_edge("x", "b", capacity=2)
        print(flow(), flow())
        print(nx.minimum_cut_value(graph, "x", "y", backend="fastlb"), len(made))
        graph.remove_node("a")
        print(flow())
        nx.config.cache_converted_graphs = False
        print(flow())
        view = graph.subgraph(["x", "y"])
        print(flow(view))
    """) == ["(3, 1) (3, 1)", "(4, 2) (4, 2)", "4 2", "(2, 3)", "(2, 4)", "(0, 5)"]


def test_a_graph_with_its_conversion_is_copied_and_stored(run):
    assert run("""
        import copy, pickle
        print(nx.maximum_flow_value(graph, "x", "y", backend="fastlb"))
        for other in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)), graph.copy()):
            print(nx.maximum_flow_value(other, "x", "y", backend="fastlb"))
    """) == ["3", "3", "3", "3"]


def test_a_converted_graph_serves_calls_and_falls_back(run):
    assert run("""
        from fastlb.networkx_backend.interface import backend
        converted = backend.convert_from_nx(graph, preserve_edge_attrs=True)
        print(nx.maximum_flow_value(converted, "x", "y"))
        nx.config.fallback_to_nx = True
        print(nx.is_weakly_connected(converted), backend.convert_to_nx(converted) is graph)
    """) == ["3", "True True"]


def test_no_scalar_of_numpy_is_returned(run):
    assert run("""
        import numpy as np
        for u, v in graph.edges:
            graph[u][v]["capacity"] = np.int16(7)
            graph[u][v]["weight"] = np.float32(0.5)
        value, rows = nx.maximum_flow(graph, "x", "y", backend="fastlb")
        print({type(x) for row in rows.values() for x in row.values()}, type(value))
        graph.add_node("x", demand=np.int64(-2))
        graph.add_node("y", demand=np.int64(2))
        cost, rows = nx.network_simplex(graph, backend="fastlb")
        print({type(x) for row in rows.values() for x in row.values()}, cost)
    """) == ["{<class 'int'>} <class 'int'>", "{<class 'int'>} 2.0"]


@pytest.mark.parametrize("module", ["numpy", "numba", "scipy", "fastlb.networkx_backend.graph"])
def test_networkx_is_imported_without(run, module):
    assert run(f"print({module!r} in sys.modules, 'fastlb' in nx.utils.backends.backend_info)") == [
        "False True"
    ]
