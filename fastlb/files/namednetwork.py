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
from .attributes import LOAD_NAMES, find_label, refuse_links, refuse_nodes, unread
from .filegraph import FileGraph, FileLink
from .filenumbers import file_number, is_number
from .graphfiles import read_graph_file
from .positions import Position, read_positions
from .textfiles import refuse


@dataclass(frozen=True, eq=False)
class NamedNetwork:
    """A network and what its file says of it.

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
    direction : {"both ways", "one way", "one way or both"}
        Of the links as they were listed.
    listed : int
        How many links the file lists.
    once : bool
        Whether links have one way each, and no two nodes have one in either direction.
    loads : tuple or None
        Load of every node, where the file has it.
    positions : tuple or None
        Where the file places every node, None for some or all.
    unread : tuple of str
        Attributes of links, where links alone were read, that are not known to be harmless.
    excess : tuple or None
        DIMACS: excess and room of source and sink.
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
    unread: tuple[str, ...] = ()
    excess: tuple[Number, ...] | None = None

    @property
    def order(self) -> str:
        """In which order loads without names are taken to be."""
        shown = [*self.names[:4], *([".."] if len(self.names) > 4 else [])]
        return f"loads are in the order of the nodes of {self.source}: {', '.join(shown)}"

    @property
    def note(self) -> str:
        """What of the file is not read where links alone are, or nothing."""
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
        Whether loads are read; without, what would be the load is no unused attribute.
    undirected : bool
        Read every link in both directions.
    parallel : bool
        Allow links that are listed more than once.
    ignore : iterable of str
        Attributes that are to be left out.
    links_only : bool
        Read links, names and positions alone. Other attributes of links are listed in
        ``unread``; none is refused.

    Raises
    ------
    ValueError
        If something in the file is not what it should be; the message names file and place.
    """
    graph = read_graph_file(path)
    directed = graph.directed and not undirected
    ids = _ids(graph)
    links = _links(graph, ids, directed, parallel or links_only)
    of_links = list(dict.fromkeys(label for link in links for label in link.attributes))
    of_nodes = list(dict.fromkeys(label for node in graph.nodes for label in node.attributes))
    ignored = (*of_links, *of_nodes) if links_only else tuple(ignore)
    limits, limit = _attribute(graph, links, "capacity", capacity, None, ignored)
    carried, traffic_label = _attribute(graph, links, "traffic", traffic, 0, ignored)
    load = find_label(column, LOAD_NAMES, [label for label in of_nodes if label not in ignored])
    if column is not None and with_loads and load is None:
        refuse(path, f"nodes must have the attribute {column!r}, got {', '.join(of_nodes) or '-'}")
    # The usual attributes are no longer in use where others were asked for.
    usual = [label for label in of_links if label.lower() in _superseded(capacity, traffic)]
    if left := unread(of_links, (limit, traffic_label, *usual), ignored):
        place = graph.header or next(k.place for k in links if left[0] in k.attributes)
        refuse_links(place, left, capacity=capacity is None and limit is None)
    if left := unread(of_nodes, (load, name), ignored):
        place = next(n.place for n in graph.nodes if left[0] in n.attributes)
        refuse_nodes(place, left, loads=load is None and with_loads)
    one_way = [directed if k.directed is None or undirected else k.directed for k in links]
    edges = [(ids[k.source], ids[k.target]) for k in links]
    back = [i for i, way in enumerate(one_way) if not way]
    names = _names(graph, name)
    network = Network(
        np.array(edges + [edges[i][::-1] for i in back], dtype=np.int64).reshape(-1, 2),
        n=len(ids),
        capacity=limits + [limits[i] for i in back],
        traffic=carried + [carried[i] for i in back],
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
        once=graph.terminals is None and bool(links) and all(one_way) and _once(edges),
        loads=_node_numbers(graph, load) if load is not None and with_loads else None,
        positions=read_positions([node.attributes for node in graph.nodes]),
        unread=tuple(unread(of_links, (), ())) if links_only else (),
        excess=_terminals(graph, limits),
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
        Attributes that are to be left out; others that nothing uses are refused.

    Raises
    ------
    ValueError
        If something in the file is not what it should be; the message names file and place.
    OSError
        If the file cannot be read.
    """
    return read_network_file(
        str(path),
        capacity=capacity,
        traffic=traffic,
        name=name,
        undirected=undirected,
        parallel=parallel,
        ignore=ignore,
        with_loads=False,
    ).network


def _for_all(what: str, asked: str | None) -> Number | None:
    return (
        None if asked is None else file_number("--" + what, what, asked, limit=what == "capacity")
    )


def _superseded(capacity: str | None, traffic: str | None) -> list[str]:
    asked = {"capacity": capacity, "traffic": traffic}
    return [what for what, label in asked.items() if label is not None]


def _direction(one_way: Sequence[bool]) -> str:
    if len(set(one_way)) == 2:
        return "one way or both"
    return "one way" if one_way and one_way[0] else "both ways"


def _once(edges: Sequence[tuple[int, int]]) -> bool:
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
            turned = graph.directed and not directed and pair != (link.source, link.target)
            how = (
                "for both ways: leave --undirected out"
                if turned
                else "twice (--parallel allows it)"
            )
            refuse(link.place, f"link {link.source} - {link.target} is listed {how}")
        keys.add(link.key)
    return graph.links


def _attribute(
    graph: FileGraph,
    links: list[FileLink],
    what: str,
    asked: str | None,
    default: Number | None,
    ignored: Sequence[str],
) -> tuple[list[Number | None], str | None]:
    """Return a number for each link, and the attribute it is from; or the one number asked for."""
    labels = [label for link in links for label in link.attributes if label not in ignored]
    label = find_label(asked, (what,), labels)
    if label is None and asked is not None and is_number(asked):
        return [_for_all(what, asked)] * len(links), None
    if label is None and (asked is None or not links):
        return [default] * len(links), None
    label = label or str(asked)
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
