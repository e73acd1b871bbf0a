"""Graph files as people write them: what is read, and what is refused because nothing uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fastlb as lb
from fastlb.files.edgelist import read_edge_list
from fastlb.files.namednetwork import read_network_file
from fastlb.files.positions import read_positions


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("source,target\na,b\n", ["a b"]),
        ("Source;Target\na;b\nb;c\n", ["a b", "b c"]),
        ("from_node\tto_node\na\tb\n", ["a b"]),
        ("Server A,Server B\nx,y\n", ["x y"]),
        ("fromHost,toHost\nx,y\n", ["x y"]),
        ("src_ip,dst_ip\nx,y\n", ["x y"]),
        ("node1,node2\nx,y\n", ["x y"]),
        # What could be a header is a link where its ends are those of other links.
        ("node1,node2\nnode2,node3\n", ["node1 node2", "node2 node3"]),
        ("host1,host2\nhost3,host4\n", ["host1 host2", "host3 host4"]),
        ("u,v\nv,w\n", ["u v", "v w"]),
        ("a,b\nc,d\n", ["a b", "c d"]),
        ("1,2,10\n3,4,5\n", ["1 2", "3 4"]),
    ],
)
def test_headers_of_lists_of_links(tmp_path: Path, text: str, links: list[str]) -> None:
    graph = read_edge_list(Path(write(tmp_path / "n.csv", text)))
    assert [f"{link.source} {link.target}" for link in graph.links] == links


def test_a_header_of_unknown_words_is_no_link(tmp_path: Path) -> None:
    path = write(tmp_path / "n.csv", "von,nach,bandbreite\na,b,3\n")
    with pytest.raises(ValueError, match="line 1: must be source, target, capacity and traffic"):
        read_network_file(path)


CSV = "source,target,bandwidth\na,b,200\nb,c,100\n"


def test_a_column_that_nothing_uses_is_refused_with_its_option(tmp_path: Path) -> None:
    path = write(tmp_path / "n.csv", CSV)
    with pytest.raises(ValueError, match=r"n\.csv line 1: 'bandwidth' is not used: ") as caught:
        read_network_file(path)
    for option in ("--capacity", "--traffic", "--ignore"):
        assert f"{option} bandwidth" in str(caught.value)
    assert read_network_file(path, capacity="bandwidth").network.capacity == (200, 100)
    assert read_network_file(path, traffic="bandwidth").network.traffic == (200, 100)
    assert read_network_file(path, ignore=["bandwidth"]).network.capacity == (None, None)


@pytest.mark.parametrize("name", ["bw", "Mbps", "weight", "status", "cap of link"])
def test_no_column_is_lost(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "n.csv", f"source,target,{name}\na,b,1\n")
    with pytest.raises(ValueError, match="is not used"):
        read_network_file(path)


@pytest.mark.parametrize("name", ["Capacity", "CAPACITY", "capacity"])
def test_capacity_is_read_however_it_is_written(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "n.csv", f"source,target,{name},colour,label\na,b,1,red,x\n")
    assert read_network_file(path).network.capacity == (1,)


def test_links_of_both_ways_need_no_option(tmp_path: Path) -> None:
    path = write(tmp_path / "n.csv", "a,b\nb,a\n")
    with pytest.raises(ValueError, match="line 2: link b - a is listed for both ways: leave --und"):
        read_network_file(path, undirected=True)
    assert read_network_file(path).direction == "one way"
    assert lb.parse_topology(write(tmp_path / "n.csv", "a,b\na,b\n")).links.tolist() == [[0, 1]]


def test_the_index_that_pandas_writes_is_harmless(tmp_path: Path) -> None:
    path = write(tmp_path / "N.CSV", ",source,target,capacity\n0,a,b,7\n1,b,c,8\n")
    assert read_network_file(path).network.capacity == (7, 8)


def test_nodes_with_numbers_are_in_their_order(tmp_path: Path) -> None:
    named = read_network_file(write(tmp_path / "n.csv", "10,2\n2,1\n"))
    assert named.names == ("1", "2", "10")
    assert named.network.edges.tolist() == [[2, 1], [1, 0]]
    assert read_network_file(write(tmp_path / "n.csv", "b,a\n")).names == ("b", "a")


def test_what_was_asked_for_takes_the_place_of_the_usual_column(tmp_path: Path) -> None:
    path = write(tmp_path / "n.csv", "source,target,capacity,bw\na,b,1,2\n")
    assert read_network_file(path, capacity="bw").network.capacity == (2,)
    with pytest.raises(ValueError, match="'bw' is not used: give --traffic bw"):
        read_network_file(path)


def test_keys_and_attributes_of_json_and_graphml_too(tmp_path: Path) -> None:
    document = {"nodes": ["a", {"id": "b"}], "links": [{"source": "a", "target": "b"}]}
    path = write(tmp_path / "n.json", json.dumps(document))
    assert read_network_file(path).names == ("a", "b")
    for change, message in (
        ({"bandwidth": 3}, "must have the keys .*, got 'bandwidth'"),
        ({"edges": []}, "must have the keys .*, got 'edges'"),
        ({"nodes": ["a", {"id": "b", "cpu": 3}]}, r"nodes\[1\]: 'cpu' is not used.*--column cpu"),
        ({"links": [{"source": "a", "target": "b", "bw": 3}]}, r"links\[0\]: 'bw' is not used"),
    ):
        path = write(tmp_path / "n.json", json.dumps(document | change))
        with pytest.raises(ValueError, match=message):
            read_network_file(path)
    gml = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 data [ bw 5 ] ] ]"
    with pytest.raises(ValueError, match="line 1: 'data' is not used"):
        read_network_file(write(tmp_path / "n.gml", gml))


@pytest.mark.parametrize(
    ("text", "undirected", "direction", "once"),
    [
        ("a,b\nb,c\n", False, "one way", True),
        ("a,b\nb,c\n", True, "both ways", False),
        ("a,b\nb,a\nb,c\n", False, "one way", False),
        ("Source,Target,Type\na,b,Undirected\nb,c,Undirected\n", False, "both ways", False),
        ("Source,Target,Type\na,b,Undirected\nb,c,Directed\n", False, "one way or both", False),
    ],
)
def test_direction_is_known(
    tmp_path: Path, text: str, undirected: bool, direction: str, once: bool
) -> None:
    named = read_network_file(write(tmp_path / "n.csv", text), undirected=undirected)
    assert (named.direction, named.once) == (direction, once)


YED = """<graphml xmlns:y="http://www.yworks.com/xml/graphml">
<key for="node" id="d6" yfiles.type="nodegraphics"/>
<key attr.name="load" for="node" id="d7"/>
<graph edgedefault="undirected">
<node id="n0"><data key="d7">12</data><data key="d6"><y:ShapeNode>
<y:Geometry x="100.0" y="50.0"/><y:NodeLabel>web<y:Model/></y:NodeLabel>
</y:ShapeNode></data></node>
<node id="n1"><data key="d7">3</data><data key="d6"><y:ShapeNode>
<y:Geometry x="300.0" y="20.0"/><y:NodeLabel>db</y:NodeLabel></y:ShapeNode></data></node>
<edge source="n0" target="n1"/>
</graph></graphml>"""


def test_yed_keeps_names_and_places(tmp_path: Path) -> None:
    named = read_network_file(write(tmp_path / "n.graphml", YED))
    assert (named.names, named.loads) == (("web", "db"), (12, 3))
    assert named.positions == ((100, -50), (300, -20))


@pytest.mark.parametrize(
    ("nodes", "positions"),
    [
        ([{"x": "1", "y": 2}, {}], ((1, 2), None)),
        ([{"X": 1, "Y": 2}], ((1, 2),)),
        ([{"pos": "1.5,-2!"}, {"pos": [3, 4]}], ((1.5, -2), (3, 4))),
        ([{"pos": "(1e1, 2)"}], ((10, 2),)),
        ([{"Longitude": 10, "Latitude": 0}], ((10, 0),)),
        ([{"lon": 10, "lat": 60}], ((pytest.approx(5), 60),)),
        ([{"x": "nan", "y": 1}], None),
        ([{"x": 1}], None),
        ([{}], None),
    ],
)
def test_positions(nodes: list[dict[str, object]], positions: object) -> None:
    assert read_positions(nodes) == positions


def test_gml_positions(tmp_path: Path) -> None:
    gml = "graph [ node [ id 0 pos 1 pos 2 ] node [ id 1 pos 3 pos 5 ] edge [ source 0 target 1 ] ]"
    named = read_network_file(write(tmp_path / "n.gml", gml))
    assert named.positions == ((1, 2), (3, 5))


def test_read_network_is_public_and_keeps_names(tmp_path: Path) -> None:
    path = write(tmp_path / "n.csv", CSV)
    network = lb.read_network(path, capacity="bandwidth", undirected=True)
    assert network.names == ("a", "b", "c")
    assert network.capacity == (200, 100, 200, 100)
    assert network.spec == path


def test_a_topology_of_links_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "n.csv", CSV)
    with pytest.warns(UserWarning, match="links alone are used, not bandwidth"):
        topology = lb.parse_topology(path)
    assert topology == lb.Network([(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="topology must be a file that is there, got"):
        lb.parse_topology(str(tmp_path / "nowhere.csv"))
    with pytest.raises(ValueError, match=r"or be a file \.graphml, \.gml, "):
        lb.parse_topology("servers.xls")
