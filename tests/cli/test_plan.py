"""fastlb plan: every format gives the same plan, and what is malformed is named with its place."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner, Result
from matplotlib.image import imread

import fastlb as lb
from fastlb.cli.commands import commands

CASES = Path(__file__).parents[1] / "cases"
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


@pytest.fixture
def loads(tmp_path: Path) -> Path:
    path = tmp_path / "loads.csv"
    path.write_text(LOADS)
    return path


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
    short = run("chain:2", "--excess", _file(tmp_path / "e.csv", "0,5\n1,-5\n"), "--capacity", 2)
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
    cube = _file(tmp_path / "cube.json", json.dumps([8, 0, 0, 0, 0, 0, 0, 0]))
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


def _file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


GRAPHML = """<?xml version="1.0"?>
<graphml>
<key id="c" for="edge" attr.name="capacity" attr.type="int"/>
<graph edgedefault="undirected">
<node id="Amsterdam"/><node id="Bern"/><node id="Córdoba"/><node id="Delft"/>
<edge source="Amsterdam" target="Bern"><data key="c">5</data></edge>
{line}
</graph></graphml>
"""

GML = """graph [
  node [ id 0 label "Amsterdam" ]
  node [ id 1 label "Bern" ]
  edge [ source 0 target 1 capacity 5 ]
  {line}
]
"""


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('<edge source="Amsterdam" target="Delft"/>', "line 7: .* must have the attribute 'capac"),
        ('<edge source="Bern" target="Delft"><data key="c">-2</data></edge>', "7: .*not be negati"),
        ('<edge source="Bern" target="Delft"><data key="c">two</data></edge>', "7: .*be a number"),
        ('<edge source="Bern" target="Delft"><data key="c">nan</data></edge>', "7: .*be a number"),
        ('<edge source="Bern" target="Amsterdam"><data key="c">2</data></edge>', "7: .*twice"),
        ('<edge source="Bern" target="Essen"><data key="c">2</data></edge>', "7: .*got 'Essen'"),
        ('<edge source="Bern"><data key="c">2</data></edge>', "7: .*a source and a target"),
        ('<edge source="Bern" target="Delft"><data key="x">2</data></edge>', "7: .*declared key"),
        ('<node id="Bern"/>', "line 7: .*listed once"),
        ("<node/>", "line 7: .*must have an id"),
        ("<node id='x'>", "is no well-formed XML"),
        ("<hyperedge/>", "line 7: hyperedges"),
        (
            '<edge source="Bern" target="Bern"><data key="c">2</data><data key="c">3</data></edge>',
            "line 7: 'capacity' must be named once",
        ),
        ('<edge source="Bern" target="Delft"><data key="c">1e400</data></edge>', "7: .*than 1.8e"),
        (
            '<edge source="Bern" target="Delft"><data key="c">1e999999999</data></edge>',
            "7: .*a num",
        ),
        (
            f'<edge source="Bern" target="Delft"><data key="c">{"9" * 5000}</data></edge>',
            "7: .*chara",
        ),
    ],
)
def test_malformed_graphml(tmp_path: Path, loads: Path, line: str, text: str) -> None:
    path = _file(tmp_path / "net.graphml", GRAPHML.format(line=line))
    message = refused(path, "--loads", loads)
    assert str(path) in message
    assert re.search(text, message), message


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE g SYSTEM "http://localhost/graphml.dtd">',
    ],
)
def test_xml_entities_are_refused(tmp_path: Path, loads: Path, doctype: str) -> None:
    text = GRAPHML.format(line="").replace("<graphml>", f"{doctype}\n<graphml>")
    path = _file(tmp_path / "net.graphml", text)
    assert "entities are not read" in refused(path, "--loads", loads)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("edge [ source 1 target 0 capacity 2 ]", "line 5: .*twice"),
        ("edge [ source 1 target 7 capacity 2 ]", "line 5: .*got '7'"),
        ("edge [ source 1 ]", "line 5: .*must have target"),
        ('node [ id 2 label "D" ] edge [ source 1 target 2 capacity "x" ]', "5: .*be a number"),
        ("edge [ source 1", "ends inside a bracket|must have a key"),
        ("edge 5", "line 5: .*list in brackets"),
        ('node [ id 2 label "D ]', "line 5"),
        ("7", "line 5: .*key here"),
        ("directed yes", "line 5: directed must be"),
        ("edge [ source 1 target 0 capacity 2 capacity 3 ]", "line 5: 'capacity' must be named"),
    ],
)
def test_malformed_gml(tmp_path: Path, loads: Path, line: str, text: str) -> None:
    path = _file(tmp_path / "net.gml", GML.format(line=line))
    message = refused(path, "--loads", loads)
    assert str(path) in message
    assert re.search(text, message), message


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("n.json", "{", "n.json line 1: is no JSON"),
        ("n.json", "[]", "must be node-link JSON"),
        ("n.json", "[" * 100_000, "nested too deeply"),
        ("n.json", '{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "links[0]: must be"),
        ("n.json", '{"nodes": [{}], "links": []}', "nodes[0]: must be"),
        ("n.json", '{"nodes": [], "links": []}', "holds no nodes"),
        (
            "n.json",
            '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 1, "capacity": NaN}]}',
            "links[0]: capacity of 1 - 1 must be a finite number",
        ),
        ("n.csv", "a,b,1\na,b,2\n", "n.csv line 2: link a - b is listed twice"),
        ("n.csv", "a,b,1\na,c\n", "n.csv line 2: must have 3 cells, got 2"),
        ("n.csv", "source,target,capacity\na,b,x\n", "n.csv line 2: capacity of a - b must be"),
        ("n.csv", "source,target,capacity\na,b,1\nb,c,\n", "n.csv line 3: link b - c must have"),
        ("n.csv", "source,target\na,\n", "n.csv line 2: must name"),
        ("n.json", '{"nodes": [], "nodes": []}', "n.json: 'nodes' must be named once"),
        ("n.json", '{"directed": 1, "nodes": [], "links": []}', "directed must be true or false"),
        ("n.json", f"[{'9' * 5000}]", "n.json: must hold numbers of at most 4300 digits"),
        ("n.json", '{"nodes": [{"id": "\\ud800"}], "links": []}', "nodes[0]: a node's id must be"),
        ("n.csv", "", "holds no nodes"),
        ("n.csv", '"a,b,1\na,c,2\n', "is no CSV text: unexpected end of data"),
        ("n.csv", "source,target,capacity,capacity\n", "n.csv line 1: 'capacity' must be named"),
        ("n.max", "p max 999999999999 1\n", "n.max line 1: must count less than 10**9 nodes"),
        ("n.max", "p max ² 1\n", "n.max line 1: must count nodes"),
        ("n.max", "p max 2 1\nn 1 s\nn 1 t\n", "n.max line 3: source and sink must be two"),
        ("n.max", "p max 2 1\nn 1 s\nn 2 t\na 1 2 inf\n", "n.max line 4: a link at the source"),
        ("n.max", "p max 2 1\nn 1 s\nn 2 t\na 1 2\n", "n.max line 4: is no line"),
        ("n.max", "p max 2 2\nn 1 s\nn 2 t\na 1 2 3\n", "must have the 2 arcs"),
        ("n.max", "p max 2 1\nn 1 s\nn 2 t\na 1 3 3\n", "n.max line 4: a link must join"),
        ("n.max", "p max 2 1\nn 1 s\nn 2 t\na 1 2 -3\n", "n.max line 4: capacity of 1 - 2 must"),
        ("n.max", "p max 2 0\nn 1 s\nn 9 t\n", "must be nodes 1..2, got 9"),
        ("n.max", "a 1 2 3\n", "n.max line 1: is no line"),
        ("n.xml", "", "network must be a file|unknown topology"),
    ],
)
def test_malformed_networks(
    tmp_path: Path, loads: Path, name: str, content: str, text: str
) -> None:
    message = refused(_file(tmp_path / name, content), "--loads", loads)
    assert any(part in message for part in text.split("|")), message


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("l.csv", LOADS + "Essen,4\n", "l.csv line 6: .* has no node 'Essen'"),
        ("l.csv", LOADS + "Bern,4\n", "l.csv line 6: node 'Bern' must be named once"),
        ("l.csv", LOADS.replace("Bern,0", "Bern,zero"), "line 3: load of Bern must be a number"),
        ("l.csv", LOADS.replace("Bern,0", "Bern,-1"), "line 3: load of Bern must not be negati"),
        ("l.csv", LOADS.replace("Bern,0\n", ""), "'Bern' has none"),
        ("l.csv", LOADS.replace("Bern,0", "Bern,0,0"), "line 3: must be a node and its load"),
        ("l.csv", "load\n1\nBern;2\n", "l.csv line 3: must be a load, .* got 'Bern;2'"),
        ("l.csv", LOADS.replace("0", "1e309"), "line 3: load of Bern must be less than 1.8e308"),
        ("l.json", f'{{"Bern": {"9" * 5000}}}', "l.json: must hold numbers of at most 4300"),
        ("l.csv", "1\n2\n", "must have a line for each of 4 nodes, got 2"),
        ("l.json", '{"Bern": 1, "Bern": 2}', "must be named once"),
        ("l.json", "[1, 2]", "a list of 4 loads"),
        ("l.json", "[1, 2", "l.json line 1: is no JSON"),
        ("l.json", '{"Bern": true}', "load of Bern must be a number"),
        ("l.npy", "text", "is no readable .npy file"),
        ("l.xls", "", "loads must be a .csv, .npy, .json, .graphml or .gml"),
        ("l.csv", LOADS.replace("12", str(2**70)), "loads must fit 64 bits"),
    ],
)
def test_malformed_loads(tmp_path: Path, name: str, content: str, text: str) -> None:
    network = written(tmp_path, "graphml")
    message = refused(network, "--loads", _file(tmp_path / name, content))
    assert re.search(text, message), message


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["mesh:2x2"], "--loads or --excess is needed"),
        (["mesh:2x2", "--name", "city"], "--name is for network files, not for mesh:2x2"),
        (["nowhere.graphml"], "nowhere.graphml"),
        (["mesh:2x2", "--loads", "nowhere.csv"], "nowhere.csv"),
        (["mesh:2x2", "--loads", "a.csv", "--excess", "b.csv"], "exclude each other"),
        (["mesh:2x2", "--capacity", "-1"], "--capacity: capacity must not be negative"),
        (["mesh:2x2", "--loads", "a.csv", "--out", ""], "out must end in .json, .graphml, .csv"),
        (["mesh:2x2", "--loads", "a.csv", "--draw", ""], "out must end in .png, .svg, got ''"),
    ],
)
def test_what_is_missing_or_wrong(arguments: list[Any], text: str) -> None:
    assert text in refused(*arguments)


@pytest.mark.parametrize("encoding", ["weird", "utf-7"])
def test_unknown_encodings(tmp_path: Path, loads: Path, encoding: str) -> None:
    text = GRAPHML.format(line="").replace("?>", f' encoding="{encoding}"?>')
    assert "net.graphml" in refused(_file(tmp_path / "net.graphml", text), "--loads", loads)


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
    given = _file(tmp_path / "loads.json", loads)
    assert run("chain:2", "--loads", given, "--capacity", capacity, "--out", out).exit_code < 2
    assert f'attr.name="flow" attr.type="{kind}"' in out.read_text()
    links = nx.read_graphml(out).edges(data=True)
    assert [data["flow"] for *_, data in links] == values
    assert {str(data["capacity"]) for *_, data in links} == {capacity}


NAMES = ["$x$", "$\\frac", "a > b", 'c,"d"', "日本", "<tag>&", "[red]r[/red]", "bell\x07"]


def test_names_of_every_kind(tmp_path: Path) -> None:
    ring = [{"source": u, "target": v} for u, v in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True)]
    network = {"directed": True, "nodes": [{"id": name} for name in NAMES], "links": ring}
    path = _file(tmp_path / "net$1$.json", json.dumps(network))
    loads = _file(tmp_path / "loads.json", json.dumps({n: i * i for i, n in enumerate(NAMES)}))
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
    loads = _file(tmp_path / "loads.json", json.dumps(list(range(n))))
    out = tmp_path / "plan.png"
    assert run(network, "--loads", loads, "--draw", out).exit_code == 0
    pixels = imread(out)[..., :3]
    below = int(np.flatnonzero((pixels < 0.97).any(axis=(1, 2)))[0]) + 60
    assert (pixels[below:] < 0.97).any()
