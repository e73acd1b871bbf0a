"""Networks whose nodes have names: from graph files, and the loads that go with them."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..quantities import Number, read_number
from ..topologies.network import Network
from ..topologies.parse import parse_topology
from .formats import read_npy
from .graphfiles import READERS, FileGraph, FileLink, read_graph_file
from .textfiles import csv_rows, read_json, refuse

LARGEST = int(sys.float_info.max)


@dataclass(frozen=True, eq=False)
class NamedNetwork:
    """A network and what its nodes and links are called.

    Attributes
    ----------
    network : Network
        The directed links.
    names : tuple of str
        Name of every node.
    ids : dict
        Node by name, and by what the file calls it where that differs.
    source, kind : str
        File or topology, and which form it has.
    excess : tuple or None
        DIMACS: excess and room of source and sink.
    """

    network: Network
    names: tuple[str, ...]
    ids: dict[str, int]
    source: str
    kind: str
    excess: tuple[Number, ...] | None = None

    def node(self, name: str) -> int:
        """Return the node of this name.

        Raises
        ------
        ValueError
            If there is none.
        """
        if name not in self.ids:
            raise ValueError(f"{self.source} has no node {name!r}")
        return self.ids[name]


def read_network(
    given: str,
    *,
    capacity: str | None = None,
    traffic: str | None = None,
    name: str | None = None,
    undirected: bool = False,
    parallel: bool = False,
) -> NamedNetwork:
    """Read a network from a graph file, or build one from a topology string.

    Parameters
    ----------
    given : str
        ``.graphml``, ``.gml``, node-link ``.json``, DIMACS ``.max``, edge-list ``.csv``, or a
        topology such as ``mesh:8x8``. An undirected graph gives both directions.
    capacity, traffic : str, optional
        Link attribute that every link must have, or a number for all links. Default: the
        attributes "capacity" and "traffic" where the file has them; no limit, no traffic.
    name : str, optional
        Node attribute to name nodes by. Default: "label" or "name" where all nodes have
        different ones, else the file's ids.
    undirected : bool
        Read every link in both directions.
    parallel : bool
        Allow links that are listed more than once.

    Raises
    ------
    ValueError
        If something in the file is not what it should be; the message names file and place.
    """
    if Path(given).suffix not in READERS and not Path(given).exists():
        topology = parse_topology(given)
        network = topology.network(
            capacity=_for_all("capacity", capacity), traffic=_for_all("traffic", traffic)
        )
        names = tuple(str(i) for i in range(topology.size))
        return NamedNetwork(network, names, {n: i for i, n in enumerate(names)}, given, "topology")
    graph = read_graph_file(given)
    directed = graph.directed and not undirected
    ids = _ids(graph)
    links = _links(graph, ids, directed, parallel)
    limits = _attribute(graph, links, "capacity", capacity, None)
    carried = _attribute(graph, links, "traffic", traffic, 0)
    edges = [(ids[k.source], ids[k.target]) for k in links]
    back = [i for i, k in enumerate(links) if not (directed if k.directed is None else k.directed)]
    network = Network(
        np.array(edges + [edges[i][::-1] for i in back], dtype=np.int64).reshape(-1, 2),
        n=len(ids),
        capacity=limits + [limits[i] for i in back],
        traffic=carried + [carried[i] for i in back],
    )
    names = _names(graph, name)
    known = {**ids, **{n: i for i, n in enumerate(names)}}
    return NamedNetwork(network, names, known, graph.source, graph.kind, _terminals(graph, limits))


def read_node_loads(path: str | Path, network: NamedNetwork, *, complete: bool) -> list[Number]:
    """Read a number for every node: from CSV, NPY or JSON.

    CSV holds lines ``name,number`` with or without a header, or numbers alone in the order of
    the nodes; JSON an object by name or a list; ``.npy`` an array of as many numbers.

    Parameters
    ----------
    complete : bool
        Whether every node must be named; otherwise the others have 0.

    Raises
    ------
    ValueError
        On an unknown, repeated or missing node and on what is no number; the message names
        file and place.
    """
    where = Path(path)
    if where.suffix == ".npy":
        array = read_npy(where)
        if array.size != len(network.names) or array.dtype.kind not in "iuf":
            refuse(
                str(path),
                f"must hold {len(network.names)} numbers, got {array.dtype} of shape {array.shape}",
            )
        pairs: Iterable[tuple[str, Any, str]] = zip(
            network.names, array.reshape(-1).tolist(), _places(path, array.size), strict=True
        )
    elif where.suffix == ".json":
        pairs = _json_loads(where, network)
    elif where.suffix in (".csv", ".tsv", ".txt"):
        pairs = _csv_loads(where, network)
    else:
        raise ValueError(f"loads must be a .csv, .npy or .json file, got {str(path)!r}")
    loads: dict[int, Number] = {}
    for name, value, place in pairs:
        if name not in network.ids:
            refuse(place, f"{network.source} has no node {name!r}")
        node = network.ids[name]
        if node in loads:
            refuse(place, f"node {name!r} must be named once, got it again")
        loads[node] = file_number(place, f"load of {name}", value, signed=not complete)
    missing = [network.names[i] for i in range(len(network.names)) if i not in loads]
    if complete and missing:
        refuse(str(path), f"must have a load for every node, {missing[0]!r} has none")
    return [loads.get(i, 0) for i in range(len(network.names))]


def file_number(
    place: str, what: str, value: Any, *, signed: bool = False, limit: bool = False
) -> Number:
    """Return a number as a file writes it: whole ones as int, decimals as float, "a/b" exactly."""
    try:
        number = read_number(what, value)
    except (ValueError, TypeError):
        refuse(place, f"{what} must be a number such as 12 or 41/7, got {_short(value)}")
    if isinstance(number, int) and abs(number) > LARGEST:
        refuse(place, f"{what} must be less than 1.8e308, got {_short(value)}")
    if isinstance(value, str) and isinstance(number, Fraction) and "/" not in value:
        number = float(number)
    if number != number or (number in (math.inf, -math.inf) and not (limit and number > 0)):
        refuse(place, f"{what} must be a finite number, got {_short(value)}")
    if number < 0 and not signed:
        refuse(place, f"{what} must not be negative, got {_short(value)}")
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _short(value: Any) -> str:
    """Return what was got, cut where it would fill a screen."""
    text = repr(value) if not isinstance(value, int) or abs(value) <= LARGEST else hex(value)
    return text if len(text) <= 60 else f"{text[:40]}.. ({len(text)} characters)"


def _places(path: str | Path, count: int) -> list[str]:
    return [f"{path} number {i}" for i in range(count)]


def _csv_loads(path: Path, network: NamedNetwork) -> list[tuple[str, Any, str]]:
    rows = list(csv_rows(path, "\t" if path.suffix == ".tsv" else ","))
    if rows and all(len(cells) == 1 for cells, _ in rows):
        if not _is_number(rows[0][0][0]):
            rows = rows[1:]
        for (cell,), place in rows:
            if not _is_number(cell):
                refuse(place, f"must be a load, or a node and its load, got {cell!r}")
        if len(rows) != len(network.names):
            refuse(
                str(path),
                f"must have a line for each of {len(network.names)} nodes, got {len(rows)}",
            )
        return [(n, c[0], place) for n, (c, place) in zip(network.names, rows, strict=True)]
    if rows and len(rows[0][0]) == 2 and rows[0][0][0] not in network.ids:
        rows = rows[1:] if not _is_number(rows[0][0][1]) else rows
    for cells, place in rows:
        if len(cells) != 2:
            refuse(place, f"must be a node and its load, got {len(cells)} cells")
    return [(cells[0], cells[1], place) for cells, place in rows]


def _is_number(text: str) -> bool:
    try:
        read_number("cell", text)
    except (ValueError, TypeError):
        return False
    return True


def _json_loads(path: Path, network: NamedNetwork) -> list[tuple[str, Any, str]]:
    given = read_json(path)
    if isinstance(given, dict):
        return [(name, value, f"{path} {name!r}") for name, value in given.items()]
    if not isinstance(given, list) or len(given) != len(network.names):
        refuse(str(path), f"must be an object by node or a list of {len(network.names)} loads")
    return list(zip(network.names, given, _places(path, len(given)), strict=True))


def _for_all(what: str, given: str | None) -> Number | None:
    return (
        None if given is None else file_number("--" + what, what, given, limit=what == "capacity")
    )


def _ids(graph: FileGraph) -> dict[str, int]:
    ids: dict[str, int] = {}
    for node in graph.nodes:
        if not _writable(node.id):
            refuse(node.place, f"a node's id must be valid Unicode, got {node.id!r}")
        if node.id in ids:
            refuse(node.place, f"node {node.id!r} must be listed once, got it again")
        ids[node.id] = len(ids)
    return ids


def _writable(name: str) -> bool:
    """Tell whether a name has no halves of surrogate pairs, which JSON can spell."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _links(graph: FileGraph, ids: dict[str, int], directed: bool, parallel: bool) -> list[FileLink]:
    seen: dict[tuple[str, str], set[str | None]] = {}
    for link in graph.links:
        for end in (link.source, link.target):
            if end not in ids:
                refuse(link.place, f"a link must join listed nodes, got {end!r}")
        if graph.parallel or parallel:
            continue
        pair = (link.source, link.target)
        pair = pair if directed or pair[::-1] not in seen else pair[::-1]
        keys = seen.setdefault(pair, set())
        if keys and (link.key is None or link.key in keys or None in keys):
            refuse(
                link.place,
                f"link {link.source} - {link.target} is listed twice (--parallel allows it)",
            )
        keys.add(link.key)
    return graph.links


def _attribute(
    graph: FileGraph, links: list[FileLink], what: str, asked: str | None, default: Number | None
) -> list[Number | None]:
    """Return a number for each link from its attribute, or the one number asked for."""
    label = asked or what
    having = [link for link in links if label in link.attributes]
    if not having and asked is not None and _is_number(asked):
        return [_for_all(what, asked)] * len(links)
    if not having and (asked is None or not links):
        return [default] * len(links)
    for link in links:
        if label not in link.attributes:
            refuse(
                link.place, f"link {link.source} - {link.target} must have the attribute {label!r}"
            )
    return [
        file_number(
            k.place,
            f"{label} of {k.source} - {k.target}",
            k.attributes[label],
            limit=what == "capacity",
        )
        for k in links
    ]


def _names(graph: FileGraph, asked: str | None) -> tuple[str, ...]:
    if asked is not None:
        for node in graph.nodes:
            if asked not in node.attributes:
                refuse(node.place, f"node {node.id} must have the attribute {asked!r}")
    for label in (asked,) if asked is not None else ("label", "name"):
        found = [str(node.attributes.get(label, "")) for node in graph.nodes]
        if len(set(found)) == len(found) and all(found) and all(map(_writable, found)):
            return tuple(found)
    if asked is not None:
        refuse(graph.source, f"the attribute {asked!r} must name every node differently")
    return tuple(node.id for node in graph.nodes)


def _terminals(graph: FileGraph, limits: list[Number | None]) -> tuple[Number, ...] | None:
    """Give a DIMACS source and sink as much excess and room as their links can carry."""
    if graph.terminals is None:
        return None
    s, t = graph.terminals
    pairs = list(zip(graph.links, limits, strict=True))
    for link, limit in pairs:
        if limit == math.inf and (link.source == s or link.target == t):
            refuse(link.place, "a link at the source or the sink must have a finite capacity")
    out: Any = sum(c or 0 for k, c in pairs if k.source == s and k.target != s)
    into: Any = sum(c or 0 for k, c in pairs if k.target == t and k.source != t)
    return tuple(out if node.id == s else -into if node.id == t else 0 for node in graph.nodes)
