"""Networks whose nodes have names, from graph files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..quantities import Number
from ..topologies.network import Network
from ..topologies.topology import Topology
from .attributes import LOAD_NAMES, check_ignored, find_label, refuse_links, refuse_nodes, unread
from .filegraph import FileGraph, FileLink
from .filenumbers import file_number, is_number
from .graphfiles import read_graph_file
from .positions import Position, read_positions
from .textfiles import refuse


@dataclass(frozen=True, eq=False)
class NamedNetwork:
    """A network with the names, loads and positions in its file.

    Attributes
    ----------
    network : Network
        The directed links.
    names : tuple of str
        Name of every node.
    ids : dict
        Number of a node by its name, and by its id in the file where that differs.
    source, kind : str
        File or topology, and its format.
    direction : {"both ways", "one way", "one way or both"}
        Direction of the links as the file lists them.
    listed : int
        Number of links that the file lists.
    once : bool
        Whether all links are directed and no two nodes are joined in both directions.
    loads : tuple or None
        Load of every node, if the file has it.
    positions : tuple or None
        (x, y) of every node or None; None if the file has no positions.
    labels : tuple of str
        All attributes of links and nodes.
    unread : tuple of str
        With ``links_only``, attributes of links that were ignored but may matter.
    excess : tuple or None
        DIMACS: excess of every node: what the source can send, minus what the sink can take.
    """

    network: Network
    names: tuple[str, ...]
    ids: dict[str, int]
    source: str
    kind: str
    direction: str = "both ways"
    listed: int = 0
    once: bool = False
    loads: tuple[Number, ...] | None = None
    positions: tuple[Position | None, ...] | None = None
    labels: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    excess: tuple[Number, ...] | None = None

    @property
    def order(self) -> str:
        """A sentence that says in which order loads without names are."""
        shown = [*self.names[:4], *([".."] if len(self.names) > 4 else [])]
        return f"loads are in the order of the nodes of {self.source}: {', '.join(shown)}"

    @property
    def note(self) -> str:
        """A sentence that says what attributes were ignored, or an empty text."""
        if not self.unread:
            return ""
        listed = ", ".join(self.unread)
        return f"{self.source}: links alone are used, not {listed} (fastlb plan uses capacities)"

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


def named_topology(
    topology: Topology, source: str, *, capacity: str | None = None, traffic: str | None = None
) -> NamedNetwork:
    """Return a topology as a network whose nodes are called 0, 1, 2, ..."""
    network = topology.network(
        capacity=_for_all("capacity", capacity), traffic=_for_all("traffic", traffic)
    )
    names = tuple(map(str, range(topology.size)))
    ids = {name: i for i, name in enumerate(names)}
    return NamedNetwork(network, names, ids, source, "topology", listed=topology.edge_count)


def read_network_file(
    path: str,
    *,
    capacity: str | None = None,
    traffic: str | None = None,
    name: str | None = None,
    column: str | None = None,
    with_loads: bool = True,
    undirected: bool = False,
    parallel: bool = False,
    ignore: Iterable[str] = (),
    links_only: bool = False,
) -> NamedNetwork:
    """Read a network from a graph file.

    Parameters
    ----------
    path : str
        ``.graphml``, ``.gml``, node-link ``.json``, DIMACS ``.max``, edge-list ``.csv`` or
        ``.tsv``. An undirected graph gives both directions.
    capacity, traffic : str, optional
        Link attribute that every link must have, or a number for all links. Default: the
        attributes "capacity" and "traffic" where the file has them; no limit, no traffic.
    name : str, optional
        Node attribute to name nodes by. Default: "label" or "name" where all nodes have
        different ones, else the file's ids.
    column : str, optional
        Node attribute that is the load. Default: "load" where the file has it.
    with_loads : bool
        Read loads; without, the attribute of the load is ignored.
    undirected : bool
        Read every link in both directions.
    parallel : bool
        Allow links that are listed more than once.
    ignore : iterable of str
        Attributes to leave out.
    links_only : bool
        Read links, names and positions alone. Other attributes of links are listed in
        ``unread``; none is refused.

    Raises
    ------
    ValueError
        If the file or an option breaks a rule; the message names file and place.
    """
    graph = read_graph_file(path)
    directed = graph.directed and not undirected
    ids = _ids(graph)
    links = _links(graph, ids, directed, parallel or links_only)
    of_links = list(dict.fromkeys(label for link in links for label in link.attributes))
    of_nodes = list(dict.fromkeys(label for node in graph.nodes for label in node.attributes))
    ignored = (*of_links, *of_nodes) if links_only else tuple(ignore)
    capacities, capacity_label = _attribute(graph, links, "capacity", capacity, None, ignored)
    traffics, traffic_label = _attribute(graph, links, "traffic", traffic, 0, ignored)
    load = find_label(column, LOAD_NAMES, [label for label in of_nodes if label not in ignored])
    if column is not None and with_loads and load is None:
        refuse(path, f"nodes must have the attribute {column!r}, got {', '.join(of_nodes) or '-'}")
    # An attribute "capacity" or "traffic" is ignored if the user chose another one.
    usual = [
        label for label in of_links if label.lower() in _replaced_attributes(capacity, traffic)
    ]
    if unused := unread(of_links, (capacity_label, traffic_label, *usual), ignored):
        place = graph.header or next(k.place for k in links if unused[0] in k.attributes)
        refuse_links(place, unused, capacity=capacity is None and capacity_label is None)
    if unused := unread(of_nodes, (load, name), ignored):
        place = next(n.place for n in graph.nodes if unused[0] in n.attributes)
        refuse_nodes(place, unused, loads=load is None and with_loads)
    one_way = [directed if k.directed is None or undirected else k.directed for k in links]
    edges = [(ids[k.source], ids[k.target]) for k in links]
    two_way = [i for i, way in enumerate(one_way) if not way]
    names = _names(graph, name)
    network = Network(
        np.array(edges + [edges[i][::-1] for i in two_way], dtype=np.int64).reshape(-1, 2),
        n=len(ids),
        capacity=capacities + [capacities[i] for i in two_way],
        traffic=traffics + [traffics[i] for i in two_way],
        names=names,
        label=path,
    )
    return NamedNetwork(
        network,
        names,
        {**ids, **{n: i for i, n in enumerate(names)}},
        graph.source,
        graph.kind,
        direction=_direction(one_way),
        listed=len(links),
        once=graph.terminals is None
        and bool(links)
        and all(one_way)
        and _has_no_return_links(edges),
        loads=_node_numbers(graph, load) if load is not None and with_loads else None,
        positions=read_positions([node.attributes for node in graph.nodes]),
        labels=(*of_links, *of_nodes),
        unread=tuple(unread(of_links, (), ())) if links_only else (),
        excess=_terminals(graph, capacities),
    )


def read_network(
    path: str,
    *,
    capacity: str | None = None,
    traffic: str | None = None,
    name: str | None = None,
    undirected: bool = False,
    parallel: bool = False,
    ignore: Iterable[str] = (),
) -> Network:
    """Read a network of your own from a graph file, with the names of its nodes.

    Parameters
    ----------
    path : str
        ``.graphml``, ``.gml``, node-link ``.json``, DIMACS ``.max``, edge-list ``.csv`` or
        ``.tsv``. An undirected graph gives both directions.
    capacity, traffic : str, optional
        Link attribute that every link must have, or a number for all links. Default: the
        attributes "capacity" and "traffic" where the file has them; no limit, no traffic.
    name : str, optional
        Node attribute to name nodes by. Default: "label" or "name" where all nodes have
        different ones, else the file's ids.
    undirected : bool
        Read every link in both directions; CSV lists have one way a line otherwise.
    parallel : bool
        Allow links that are listed more than once.
    ignore : iterable of str
        Attributes to leave out; other unused attributes are refused.

    Raises
    ------
    ValueError
        If the file or an option breaks a rule; the message names file and place.
    OSError
        If the file cannot be read.
    """
    ignore = tuple(ignore)
    named = read_network_file(
        str(path),
        capacity=capacity,
        traffic=traffic,
        name=name,
        undirected=undirected,
        parallel=parallel,
        ignore=ignore,
        with_loads=False,
    )
    check_ignored(ignore, named.labels, named.source)
    return named.network


def _for_all(what: str, requested: str | None) -> Number | None:
    return (
        None
        if requested is None
        else file_number("--" + what, what, requested, limit=what == "capacity")
    )


def _replaced_attributes(capacity: str | None, traffic: str | None) -> list[str]:
    requested = {"capacity": capacity, "traffic": traffic}
    return [what for what, label in requested.items() if label is not None]


def _direction(one_way: Sequence[bool]) -> str:
    if len(set(one_way)) == 2:
        return "one way or both"
    return "one way" if one_way and one_way[0] else "both ways"


def _has_no_return_links(edges: Sequence[tuple[int, int]]) -> bool:
    """Return whether no two nodes have links in both directions."""
    pairs = {edge for edge in edges if edge[0] != edge[1]}
    return not any(edge[::-1] in pairs for edge in pairs)


def _node_numbers(graph: FileGraph, label: str) -> tuple[Number, ...]:
    for node in graph.nodes:
        if label not in node.attributes:
            refuse(node.place, f"node {node.id!r} must have the attribute {label!r}")
    return tuple(
        file_number(node.place, f"{label} of {node.id}", node.attributes[label])
        for node in graph.nodes
    )


def _ids(graph: FileGraph) -> dict[str, int]:
    ids: dict[str, int] = {}
    for node in graph.nodes:
        if not _is_encodable(node.id):
            refuse(node.place, f"a node's id must be valid Unicode, got {node.id!r}")
        if node.id in ids:
            refuse(node.place, f"node {node.id!r} must be listed once, got it again")
        ids[node.id] = len(ids)
    return ids


def _is_encodable(name: str) -> bool:
    """Return whether a name is free of lone surrogates, which JSON can hold and UTF-8 cannot."""
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
            reversed_pair = graph.directed and not directed and pair != (link.source, link.target)
            how = (
                "for both ways: leave --undirected out"
                if reversed_pair
                else "twice (--parallel allows it)"
            )
            refuse(link.place, f"link {link.source} - {link.target} is listed {how}")
        keys.add(link.key)
    return graph.links


def _attribute(
    graph: FileGraph,
    links: list[FileLink],
    what: str,
    requested: str | None,
    default: Number | None,
    ignored: Sequence[str],
) -> tuple[list[Number | None], str | None]:
    """Return a number for each link and its attribute, None where ``requested`` is the number."""
    labels = [label for link in links for label in link.attributes if label not in ignored]
    label = find_label(requested, (what,), labels)
    if label is None and requested is not None and is_number(requested):
        return [_for_all(what, requested)] * len(links), None
    if label is None and (requested is None or not links):
        return [default] * len(links), None
    label = label or str(requested)
    unlimited = "; inf is a link without limit" if what == "capacity" else ""
    for link in links:
        if label not in link.attributes:
            refuse(
                link.place,
                f"link {link.source} - {link.target} must have the attribute {label!r}, "
                f"got {', '.join(map(repr, link.attributes)) or 'none'}{unlimited}",
            )
    numbers: list[Number | None] = [
        file_number(
            k.place,
            f"{label} of {k.source} - {k.target}",
            k.attributes[label],
            limit=what == "capacity",
        )
        for k in links
    ]
    return numbers, label


def _names(graph: FileGraph, requested: str | None) -> tuple[str, ...]:
    if requested is not None:
        for node in graph.nodes:
            if requested not in node.attributes:
                refuse(node.place, f"node {node.id} must have the attribute {requested!r}")
    for label in (requested,) if requested is not None else ("label", "name"):
        names = [str(node.attributes.get(label, "")) for node in graph.nodes]
        if len(set(names)) == len(names) and all(names) and all(map(_is_encodable, names)):
            return tuple(names)
    if requested is not None:
        refuse(graph.source, f"the attribute {requested!r} must name every node differently")
    return tuple(node.id for node in graph.nodes)


def _terminals(graph: FileGraph, limits: list[Number | None]) -> tuple[Number, ...] | None:
    """Return the excess of a DIMACS source and sink: as much as their links can carry."""
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
