"""fastlb plan: every format gives the same plan, in files and drawings."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from matplotlib.image import imread

import fastlb as lb

from .plans import example, refused, run, text_file, written

CASES = Path(__file__).parents[1] / "cases"


@pytest.mark.parametrize("kind", ["graphml", "gml", "json", "csv"])
def test_every_format_is_the_same_network(tmp_path: Path, loads: Path, kind: str) -> None:
    more = ["--undirected"] if kind == "csv" else []
    found = run(written(tmp_path, kind), "--loads", loads, "--json", *more)
    assert found.exit_code == 0, found.output
    plan = json.loads(found.output)
    assert (plan["schema"], plan["version"], plan["input"]["kind"]) == ("fastlb.plan", 1, kind)
    assert (plan["asked"], plan["eliminated"], plan["contention"]) == (8, 8, 4)
    assert sum(route["amount"] for route in plan["routes"]) == 8
    assert {route["source"] for route in plan["routes"]} == {"Amsterdam"}
    assert {node["name"] for node in plan["nodes"]} == set(example())
    assert all(node["left"] == 0 for node in plan["nodes"])
    assert plan["bottleneck"]


def test_the_content_hash_tells_inputs_and_options_apart(tmp_path: Path, loads: Path) -> None:
    path = written(tmp_path, "graphml")
    hashes = [
        json.loads(run(path, "--loads", loads, "--json", *more).output)["content"]
        for more in ([], [], ["--plan", "least"], ["--levels", 1], ["--pin", "Bern"])
    ]
    assert hashes[0] == hashes[1] == hashes[3]
    assert len(set(hashes)) == 3


def test_dimacs_problem() -> None:
    found = run(CASES / "gl1.max", "--json")
    assert found.exit_code == 0
    plan = json.loads(found.output)
    assert plan["eliminated"] == 156545
    assert "156545" in run(CASES / "gl1.max").output


def test_loads_in_every_form(tmp_path: Path) -> None:
    loads = np.array([9, 0, 0, 3])
    np.save(tmp_path / "loads.npy", loads.reshape(2, 2))
    (tmp_path / "list.json").write_text(json.dumps(loads.tolist()))
    (tmp_path / "names.json").write_text(json.dumps({"3": 3, "0": 9, "1": 0, "2": 0}))
    (tmp_path / "plain.csv").write_text("9\n0\n0\n3\n")
    expected = lb.minimax_flow(lb.Mesh(2, 2).network(), lb.excess_load(loads))
    for name in ("loads.npy", "list.json", "names.json", "plain.csv"):
        plan = json.loads(run("mesh:2x2", "--loads", tmp_path / name, "--json").output)
        assert (plan["eliminated"], plan["contention"]) == (
            expected.eliminated,
            expected.contention,
        )


def test_what_may_move_is_restricted(tmp_path: Path, loads: Path) -> None:
    path = written(tmp_path, "graphml")
    few = run(path, "--loads", loads, "--json", "--max-moves", 3)
    assert few.exit_code == 0
    assert json.loads(few.output)["eliminated"] == 3
    held = json.loads(run(path, "--loads", loads, "--json", "--pin", "Bern").output)
    assert held["eliminated"] == 4
    assert "no node 'Basel'" in refused(path, "--loads", loads, "--pin", "Basel")


def test_not_all_can_move(tmp_path: Path, loads: Path) -> None:
    found = run(written(tmp_path, "graphml"), "--loads", loads, "--capacity", "traffic")
    assert found.exit_code == 1
    assert "0 of 8 units can move" in found.output
    short = run(
        "chain:2", "--excess", text_file(tmp_path / "e.csv", "0,5\n1,-5\n"), "--capacity", 2
    )
    assert short.exit_code == 1
    assert "2 of 5" in short.output


def test_outputs(tmp_path: Path, loads: Path) -> None:
    path = written(tmp_path, "graphml")
    plan = json.loads(run(path, "--loads", loads, "--json").output)
    for name in ("plan.json", "plan.graphml", "plan.csv"):
        assert run(path, "--loads", loads, "--out", tmp_path / name).exit_code == 0
        assert "is there already" in refused(path, "--loads", loads, "--out", tmp_path / name)
    assert json.loads((tmp_path / "plan.json").read_text()) == plan
    graph = nx.read_graphml(tmp_path / "plan.graphml")
    names = nx.get_node_attributes(graph, "name")
    flow = {(names[u], names[v]): d["flow"] for u, v, d in graph.edges(data=True) if d["flow"]}
    assert flow == {(row["source"], row["target"]): row["flow"] for row in plan["links"]}
    assert sum(d["bottleneck"] for *_, d in graph.edges(data=True)) == len(plan["bottleneck"])
    lines = (tmp_path / "plan.csv").read_text().splitlines()
    assert len(lines) == 1 + len(plan["routes"])
    for name in ("plan.png", "plan.svg"):
        assert run(path, "--loads", loads, "--draw", tmp_path / name).exit_code == 0
        assert (tmp_path / name).stat().st_size > 1000


def test_options_reach_the_plan(tmp_path: Path, loads: Path) -> None:
    cube = text_file(tmp_path / "cube.json", json.dumps([8, 0, 0, 0, 0, 0, 0, 0]))
    free = json.loads(run("hypercube:3", "--loads", cube, "--json", "--divisible").output)
    routed = json.loads(
        run("hypercube:3", "--loads", cube, "--json", "--divisible", "--routing", "e-cube").output
    )
    assert free["contention"] == "7/3"
    assert routed["contention"] == 4
    by_axes = run("mesh:2x4", "--loads", cube, "--routing", "dimension-order:1,0")
    assert by_axes.exit_code == 0
    assert "P3" in refused("ring:8", "--loads", cube, "--routing", "dimension-order")
    several = run("hypercube:3", "--loads", cube, "--json", "--divisible", "--levels", 2)
    assert len(json.loads(several.output)["levels"]) == 2


@pytest.mark.parametrize(
    ("capacity", "loads", "kind", "values"),
    [
        ("5", "[9, 0]", "long", [4, 0]),
        ("inf", "[9, 0]", "long", [4, 0]),
        ("1.5", "[9, 0]", "double", [1.5, 0.0]),
        ("4/3", "[9, 0]", "string", ["4/3", "0"]),
    ],
)
def test_graphml_holds_numbers(
    tmp_path: Path, capacity: str, loads: str, kind: str, values: list[Any]
) -> None:
    out = tmp_path / "plan.graphml"
    given = text_file(tmp_path / "loads.json", loads)
    assert run("chain:2", "--loads", given, "--capacity", capacity, "--out", out).exit_code < 2
    assert f'attr.name="flow" attr.type="{kind}"' in out.read_text()
    links = nx.read_graphml(out).edges(data=True)
    assert [data["flow"] for *_, data in links] == values
    assert {str(data["capacity"]) for *_, data in links} == {capacity}


NAMES = ["$x$", "$\\frac", "a > b", 'c,"d"', "日本", "<tag>&", "[red]r[/red]", "bell\x07"]


def test_names_of_every_kind(tmp_path: Path) -> None:
    ring = [{"source": u, "target": v} for u, v in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True)]
    network = {"directed": True, "nodes": [{"id": name} for name in NAMES], "links": ring}
    path = text_file(tmp_path / "net$1$.json", json.dumps(network))
    loads = text_file(tmp_path / "loads.json", json.dumps({n: i * i for i, n in enumerate(NAMES)}))
    plan = json.loads(run(path, "--loads", loads, "--json").output)
    assert [node["name"] for node in plan["nodes"]] == NAMES
    for name in ("plan.png", "plan.svg", "plan.csv"):
        option = "--out" if name.endswith("csv") else "--draw"
        assert run(path, "--loads", loads, option, tmp_path / name).exit_code == 0
    rows = list(csv.reader((tmp_path / "plan.csv").read_text().splitlines()))
    assert [row[:2] for row in rows[1:]] == [[r["source"], r["sink"]] for r in plan["routes"]]
    out = tmp_path / "plan.graphml"
    assert "bell" in refused(path, "--loads", loads, "--out", out)
    assert not out.exists()


@pytest.mark.parametrize("network", ["chain:1", "chain:2", "chain:5", "hypercube:1"])
def test_nodes_on_a_line_are_drawn(tmp_path: Path, network: str) -> None:
    n = lb.parse_topology(network).size
    loads = text_file(tmp_path / "loads.json", json.dumps(list(range(n))))
    out = tmp_path / "plan.png"
    assert run(network, "--loads", loads, "--draw", out).exit_code == 0
    pixels = imread(out)[..., :3]
    below = int(np.flatnonzero((pixels < 0.97).any(axis=(1, 2)))[0]) + 60
    assert (pixels[below:] < 0.97).any()
