"""Node-link JSON, as networkx and D3 write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .filegraph import FileGraph, FileLink, FileNode
from .textfiles import flag, read_json, refuse

# "graph" and "name" are attributes of the graph as a whole, which are ignored.
_KEYS = ("directed", "multigraph", "graph", "name", "nodes", "links", "edges")
_LISTS = {"links", "edges"}


def is_node_link(document: Any) -> bool:
    """Return whether a JSON document has the lists of nodes and links."""
    return isinstance(document, dict) and "nodes" in document and not _LISTS.isdisjoint(document)


def read_node_link(path: Path) -> FileGraph:
    """Read node-link JSON."""
    return node_link_graph(read_json(path), str(path))


def node_link_graph(document: Any, source: str) -> FileGraph:
    """Return the graph of a node-link document; nodes may be plain strings or numbers."""
    graph = FileGraph(source, "json")
    links = document.get("links", document.get("edges")) if isinstance(document, dict) else None
    if not isinstance(links, list) or not isinstance(document.get("nodes"), list):
        refuse(source, 'must be node-link JSON: an object with "nodes" and "links"')
    for key in document:
        if key not in _KEYS or (key == "edges" and "links" in document):
            refuse(source, f"must have the keys {', '.join(_KEYS[:-1])} alone, got {key!r}")
    words = {True: True, False: False}
    graph.directed = flag(source, "directed", document.get("directed", False), words)
    graph.parallel = flag(source, "multigraph", document.get("multigraph", False), words)
    for i, entry in enumerate(document["nodes"]):
        place = f"{source} nodes[{i}]"
        if isinstance(entry, str | int) and not isinstance(entry, bool):
            entry = {"id": entry}
        own = _object(entry, ("id",), place)
        graph.nodes.append(FileNode(str(own.pop("id")), own, place))
    for i, entry in enumerate(links):
        place = f"{source} links[{i}]"
        own = _object(entry, ("source", "target"), place)
        ends = str(own.pop("source")), str(own.pop("target"))
        key = own.get("key")
        graph.links.append(FileLink(*ends, own, place, None if key is None else str(key)))
    return graph


def _object(entry: Any, required: tuple[str, ...], place: str) -> dict[str, Any]:
    if not isinstance(entry, dict) or not set(required) <= set(entry):
        refuse(place, f"must be an object with {' and '.join(required)}")
    return dict(entry)
