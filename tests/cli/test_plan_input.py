"""fastlb plan: what is malformed or missing in its input is named with its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import fastlb as lb

from .plans import LOADS, refused, run, text_file, written

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
    path = text_file(tmp_path / "net.graphml", GRAPHML.format(line=line))
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
    path = text_file(tmp_path / "net.graphml", text)
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
    path = text_file(tmp_path / "net.gml", GML.format(line=line))
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
    message = refused(text_file(tmp_path / name, content), "--loads", loads)
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
    message = refused(network, "--loads", text_file(tmp_path / name, content))
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
    assert "net.graphml" in refused(text_file(tmp_path / "net.graphml", text), "--loads", loads)


def test_no_input_is_overwritten(tmp_path: Path, loads: Path) -> None:
    network = written(tmp_path, "csv")
    link, folder = tmp_path / "link.csv", tmp_path / "vt"
    link.symlink_to(network)
    folder.mkdir()
    rank = text_file(folder / "run.0.json", '{"type": "LBDatafile", "phases": [{"id": 0}]}')
    calls: list[tuple[Path, list[Any]]] = [
        (network, [network, "--loads", loads]),
        (loads, [network, "--loads", loads]),
        (link, [network, "--loads", loads]),
        (rank, [network, "--loads", folder]),
    ]
    for out, arguments in calls:
        before = out.read_text()
        message = refused(*arguments, "--force", "--out", out)
        assert f"out must not be a file that is read, got '{out}'" in message
        assert out.read_text() == before
    other = text_file(tmp_path / "plan.csv", "old")
    assert run(network, "--loads", loads, "--force", "--out", other).exit_code < 2
    assert other.read_text() != "old"


def test_what_is_to_be_ignored_must_be_there(tmp_path: Path, loads: Path) -> None:
    network = written(tmp_path, "csv")
    message = refused(network, "--loads", loads, "--ignore", "bandwith")
    assert "no column or attribute to ignore is called 'bandwith'; there are 'capacity'," in message
    plain = text_file(tmp_path / "plain.csv", "1\n2\n3\n4\n")
    assert "there are none" in refused("mesh:2x2", "--loads", plain, "--ignore", "load")
    done = run(network, "--loads", loads, "--ignore", "traffic", "--json")
    assert done.exit_code < 2
    with pytest.raises(ValueError, match="is called 'b'; there are 'capacity', 'traffic'"):
        lb.read_network(str(network), ignore="bandwidth")
