"""Networks and loads for ``fastlb plan``, and how it is called."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
from click.testing import CliRunner, Result

from fastlb.cli.commands import commands

LOADS = "node,load\nAmsterdam,12\nBern,0\nCórdoba,3\nDelft,1\n"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(commands, ["plan", *map(str, arguments)])


def refused(*arguments: object) -> str:
    """The one line of an error; exit code 2."""
    found = run(*arguments)
    assert found.exit_code == 2, found.output
    assert found.output.count("\n") == 1
    assert "Traceback" not in found.output
    return found.output


def example() -> nx.Graph:
    graph = nx.Graph()
    graph.add_edge("Amsterdam", "Bern", capacity=5)
    graph.add_edge("Bern", "Córdoba", capacity=4, traffic=1)
    graph.add_edge("Amsterdam", "Delft", capacity=9)
    graph.add_edge("Delft", "Córdoba", capacity=2, traffic=0)
    for *_, data in graph.edges(data=True):
        data.setdefault("traffic", 0)
    return graph


def written(folder: Path, kind: str) -> Path:
    graph, path = example(), folder / f"network.{kind}"
    if kind == "graphml":
        nx.write_graphml(graph, path)
    elif kind == "gml":
        nx.write_gml(graph, path)
    elif kind == "json":
        path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    else:
        rows = [f"{u},{v},{d['capacity']},{d['traffic']}" for u, v, d in graph.edges(data=True)]
        path.write_text("\n".join(["source,target,capacity,traffic", *rows]) + "\n")
    return path


def text_file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
