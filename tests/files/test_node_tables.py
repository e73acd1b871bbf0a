"""Loads by node: CSV, JSON and graph files, in the order of a network's nodes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fastlb as lb
from fastlb.files.formats import read_load_file
from fastlb.files.namednetwork import read_network_file
from fastlb.files.nodetables import read_node_table

LINKS = "source,target\nc,a\na,b\n"  # nodes in the order c, a, b
RECORDS = [{"name": n, "load": v} for n, v in (("a", 9), ("b", 0), ("c", 3))]
GRAPH = {"nodes": [{"id": r["name"], "load": r["load"]} for r in RECORDS], "links": []}
GML = "graph [ node [ id 0 label a load 9 ] node [ id 1 label b load 0 ] ]"


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "node,load\na,9\nb,0\nc,3\n"),
        ("l.csv", "a,9\nb,0\nc,3\n"),
        ("l.csv", "Server;Load\na;9\nb;0\nc;3\n"),
        ("l.csv", "load,host,comment\n9,a,x\n0,b,\n3,c,y\n"),
        ("l.csv", "server_name,cpu\na,9\nb,0\nc,3\n"),
        ("l.csv", "node,load,x,y\na,9,0,0\nb,0,1,0\nc,3,0,1\n"),
        ("l.csv", "id,name,load\n1,a,9\n2,b,0\n3,c,3\n"),
        ("l.json", json.dumps([{"id": i, **record} for i, record in enumerate(RECORDS)])),
        ("l.csv", "node,2024\na,9\nb,0\nc,3\n"),
        ("L.CSV", ",node,load\n0,a,9\n1,b,0\n2,c,3\n"),
        ("l.tsv", "node\tload\na\t9\nb\t0\nc\t3\n"),
        ("l.json", json.dumps({"a": 9, "b": 0, "c": 3})),
        ("l.json", json.dumps({"a": {"load": 9}, "b": {"load": 0}, "c": {"load": 3}})),
        ("l.json", json.dumps(RECORDS)),
        ("l.json", json.dumps(GRAPH)),
    ],
)
def test_loads_by_node_in_every_form(tmp_path: Path, name: str, text: str) -> None:
    network = read_network_file(write(tmp_path, "n.csv", LINKS))
    given = read_load_file([write(tmp_path, name, text)], network=network)
    assert given.loads.tolist() == [3, 9, 0]
    assert given.loads.dtype == np.int64
    assert given.by_node


def test_nodes_of_a_topology_are_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "l.csv", "node,load\n2,7\n0,1\n1,4\n")
    assert read_load_file([path], network=lb.Ring(3)).loads.tolist() == [1, 4, 7]
    path = write(tmp_path, "l.csv", "node,load\na,7\nb,1\n")
    with pytest.raises(ValueError, match="ring:2 has no node 'a': its nodes are called 0 to 1"):
        read_load_file([path], network=lb.Ring(2))


def test_two_columns_of_numbers_are_a_grid_or_nodes_of_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, "l.csv", "12,30\n7,40\n")
    assert read_load_file([path], network=lb.Mesh(2, 2)).loads.tolist() == [[12, 30], [7, 40]]
    network = read_network_file(write(tmp_path, "n.csv", "12,7\n"))
    assert read_load_file([path], network=network).loads.tolist() == [40, 30]


def test_numbers_keep_their_kind(tmp_path: Path) -> None:
    for text, dtype in (("a,1\nb,2.5\n", "f8"), (f"a,{2**63}\nb,1\n", "u8")):
        assert read_load_file([write(tmp_path, "l.csv", text)]).loads.dtype == dtype


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("l.csv", "node,cpu,ram\na,1,2\n", "line 1: must say which is the load: --column cpu, -"),
        ("l.csv", "node,load,ram\na,1,2\n", "line 1: 'ram' is not used: give --ignore ram"),
        ("l.csv", "node,load\na,1\na,2\n", "line 3: node 'a' must be named once"),
        ("l.csv", "node,load\na,1\nz,2\n", "line 3: .* has no node 'z'"),
        ("l.csv", "node,load\na,1\n", "must have a load for every node, 'c' has none"),
        ("l.csv", "node,load\na,-1\n", "line 2: load of a must not be negative"),
        ("l.csv", "node,load\na,1,2\n", "line 2: must be a node and its load, as in the header"),
        ("l.csv", "a,4/3\nb,1\nc,1\n", "must be whole numbers or decimals, got 4/3"),
        ("l.json", '[{"cpu": 3}]', r"\[0\]: must name its node"),
        ("l.json", '[{"node": "a", "load": 1}, 3]', r"\[1\]: must be an object with 'node'"),
        ("l.json", '{"a": {"load": 1}, "b": {}}', "'b': node 'b' must have 'load'"),
        ("l.json", "3", "must be an object by node or a list of loads"),
        ("l.json", "{}", "'c' has none"),
        ("l.json", '{"phases": [], "type": "LBDatafile"}', "must be named PREFIX.RANK.json"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    network = read_network_file(write(tmp_path, "n.csv", LINKS))
    with pytest.raises(ValueError, match=message):
        read_load_file([write(tmp_path, name, text)], network=network)


def test_the_column_can_be_chosen(tmp_path: Path) -> None:
    path = Path(write(tmp_path, "l.csv", "node,cpu,ram\na,1,2\nb,3,4\n"))
    table = read_node_table(path, column="ram", ignore=["cpu"])
    assert table is not None
    assert [load for _, load, _ in table.loads] == ["2", "4"]
    with pytest.raises(ValueError, match="has no 'disk', but cpu, ram"):
        read_node_table(path, column="disk")


def test_graph_files_hold_loads(tmp_path: Path) -> None:
    path = write(tmp_path, "n.gml", GML)
    assert read_load_file([path]).loads.tolist() == [9, 0]
    network = read_network_file(write(tmp_path, "n.csv", "b,a\n"))
    assert read_load_file([path], network=network).loads.tolist() == [0, 9]
