"""Graphs from files, every node and link with its place: GraphML, GML, JSON, DIMACS, CSV."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from ..memory import require_memory
from .textfiles import csv_rows, flag, once, read_json, read_text, refuse

READERS = (".graphml", ".gml", ".json", ".max", ".csv")
SOURCE_WORDS = ("source", "from", "tail", "u", "src")
TARGET_WORDS = ("target", "to", "head", "v", "dst")

# What a node or link takes while a file is read.
_BYTES = 300

Attributes = dict[str, Any]


@dataclass(frozen=True)
class FileNode:
    """A node as a file names it; ``place`` is where."""

    id: str
    attributes: Attributes
    place: str


@dataclass(frozen=True)
class FileLink:
    """A link as a file lists it; ``key`` tells parallel links apart where the format has one."""

    source: str
    target: str
    attributes: Attributes
    place: str
    key: str | None = None
    directed: bool | None = None


@dataclass
class FileGraph:
    """What a graph file says, before any of it is believed.

    Attributes
    ----------
    source : str
        The file.
    kind : str
        "graphml", "gml", "json", "dimacs" or "csv".
    directed, parallel : bool
        Whether links have a direction, and may be repeated.
    nodes, links : list
        In the order of the file; CSV names nodes by their links alone.
    terminals : (str, str) or None
        DIMACS: source and sink.
    """

    source: str
    kind: str
    directed: bool = False
    parallel: bool = False
    nodes: list[FileNode] = field(default_factory=list)
    links: list[FileLink] = field(default_factory=list)
    terminals: tuple[str, str] | None = None


def read_graph_file(path: str | Path) -> FileGraph:
    """Read a graph by the suffix of its file.

    Raises
    ------
    ValueError
        If the file is not what its suffix says; the message names file and place.
    OSError
        If it is not there or not readable.
    """
    where = Path(path)
    readers = dict(zip(READERS, (_graphml, _gml, _node_link, _dimacs, _csv), strict=True))
    if where.suffix not in readers:
        raise ValueError(f"network must be a file {', '.join(READERS)}, got {str(path)!r}")
    graph = readers[where.suffix](where)
    if not graph.nodes:
        raise ValueError(f"{path} holds no nodes")
    return graph


class _GraphmlReader:
    """Expat handlers that gather a graph; document types and entities are refused."""

    def __init__(self, graph: FileGraph) -> None:
        self.graph = graph
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.keys: dict[str, tuple[str, str]] = {}
        self.defaults: dict[tuple[str, str], str] = {}
        self.owner: tuple[str, Attributes, str, dict[str, str]] | None = None
        self.reading: tuple[str, str] | None = None
        self.letters: list[str] = []
        self.graphs = 0

    @property
    def place(self) -> str:
        return f"{self.graph.source} line {self.parser.CurrentLineNumber}"

    def doctype(self, *_: Any) -> None:
        refuse(self.place, "document types and entities are not read")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name == "key":
            target = attributes.get("for", "all")
            label = attributes.get("attr.name", attributes.get("id", ""))
            self.keys[attributes.get("id", "")] = (label, target)
            self.reading = ("default", attributes.get("id", ""))
        elif name == "graph":
            self.graphs += 1
            if self.graphs > 1:
                refuse(self.place, "must hold one graph, got a second")
            words = {"directed": True, "undirected": False}
            given = attributes.get("edgedefault", "undirected")
            self.graph.directed = flag(self.place, "edgedefault", given, words)
        elif name == "node":
            if "id" not in attributes:
                refuse(self.place, "a node must have an id")
            self.owner = ("node", {}, self.place, attributes)
        elif name == "edge":
            if not {"source", "target"} <= set(attributes):
                refuse(self.place, "an edge must have a source and a target")
            self.owner = ("edge", {}, self.place, attributes)
        elif name == "hyperedge":
            refuse(self.place, "hyperedges are not read")
        elif name == "data" and self.owner is not None:
            key = attributes.get("key", "")
            if key not in self.keys:
                refuse(self.place, f"data must have a declared key, got {key!r}")
            self.reading = ("data", key)
        self.letters = []

    def characters(self, text: str) -> None:
        self.letters.append(text)

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        text = "".join(self.letters).strip()
        if name == "default" and self.reading is not None:
            label, target = self.keys[self.reading[1]]
            for kind in ("node", "edge") if target == "all" else (target,):
                self.defaults[kind, label] = text
        elif name == "data" and self.owner is not None and self.reading is not None:
            label = self.keys[self.reading[1]][0]
            if label in self.owner[1]:
                refuse(self.place, f"{label!r} must be named once, got it again")
            self.owner[1][label] = text
            self.reading = None
        elif name in ("node", "edge") and self.owner is not None:
            self._add(*self.owner)
            self.owner = None

    def _add(self, kind: str, given: Attributes, place: str, own: dict[str, str]) -> None:
        known = {label: text for (target, label), text in self.defaults.items() if target == kind}
        if kind == "node":
            self.graph.nodes.append(FileNode(own["id"], {**known, **given}, place))
            return
        directed = {"true": True, "false": False}.get(own.get("directed", ""))
        self.graph.links.append(
            FileLink(
                own["source"], own["target"], {**known, **given}, place, own.get("id"), directed
            )
        )


def _graphml(path: Path) -> FileGraph:
    reader = _GraphmlReader(FileGraph(str(path), "graphml"))
    try:
        reader.parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        refuse(f"{path} line {error.lineno}", f"is no well-formed XML: {error}")
    except (LookupError, ValueError) as error:
        if str(error).startswith(str(path)):
            raise
        refuse(str(path), f"is in no encoding that can be read: {error}")
    if reader.graphs == 0:
        refuse(str(path), "holds no <graph>")
    return reader.graph


_GML_TOKEN = re.compile(
    r'(?P<skip>\s+|^\s*#[^\n]*)|(?P<text>"[^"]*")|(?P<open>\[)|(?P<close>\])'
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>[^\s\[\]]+)",
    re.MULTILINE,
)


def _gml(path: Path) -> FileGraph:
    graph = FileGraph(str(path), "gml")
    tokens = _gml_tokens(read_text(path), graph.source)
    entries = [value for key, value, _ in _gml_entries(tokens, graph.source, 0) if key == "graph"]
    if len(entries) != 1 or not isinstance(entries[0], list):
        refuse(graph.source, f"must hold one graph, got {len(entries)}")
    for key, value, line in entries[0]:
        place = f"{graph.source} line {line}"
        if key in ("directed", "multigraph"):
            told = flag(place, key, value, {"0": False, "1": True})
            setattr(graph, "directed" if key == "directed" else "parallel", told)
        elif key in ("node", "edge"):
            if not isinstance(value, list):
                refuse(place, f"a {key} must be a list in brackets, got {value!r}")
            own = once(place, [(k, item) for k, item, _ in value if not isinstance(item, list)])
            missing = [
                n for n in (("id",) if key == "node" else ("source", "target")) if n not in own
            ]
            if missing:
                refuse(place, f"a {key} must have {' and '.join(missing)}")
            if key == "node":
                graph.nodes.append(FileNode(own.pop("id"), own, place))
            else:
                ends = own.pop("source"), own.pop("target")
                graph.links.append(FileLink(*ends, own, place, own.get("key")))
    return graph


def _gml_tokens(text: str, source: str) -> Iterator[tuple[str, str, int]]:
    line = 1
    for found in _GML_TOKEN.finditer(text):
        kind, token = str(found.lastgroup), found.group()
        if kind == "text":
            yield "value", html.unescape(token[1:-1]), line
        elif kind != "skip":
            if token.startswith('"'):
                refuse(f"{source} line {line}", "a text must end in a quotation mark")
            yield "value" if kind == "number" else kind, token, line
        line += token.count("\n")


def _gml_entries(
    tokens: Iterator[tuple[str, str, int]], source: str, depth: int
) -> list[tuple[str, Any, int]]:
    """Return (key, value, line) up to the closing bracket; a value is a text or such a list."""
    if depth > 50:
        refuse(source, "is nested too deeply")
    entries: list[tuple[str, Any, int]] = []
    for kind, key, line in tokens:
        if kind == "close" and depth:
            return entries
        if kind != "word":
            refuse(f"{source} line {line}", f"must have a key here, got {key!r}")
        kind, value, _ = next(tokens, ("end", "", line))
        if kind == "open":
            entries.append((key, _gml_entries(tokens, source, depth + 1), line))
        elif kind in ("value", "word"):
            entries.append((key, value, line))
        else:
            refuse(f"{source} line {line}", f"key {key!r} must have a value")
    if depth:
        refuse(source, "ends inside a bracket")
    return entries


def _node_link(path: Path) -> FileGraph:
    graph = FileGraph(str(path), "json")
    given = read_json(path)
    listed = given.get("links", given.get("edges")) if isinstance(given, dict) else None
    if not isinstance(listed, list) or not isinstance(given.get("nodes"), list):
        refuse(str(path), 'must be node-link JSON: an object with "nodes" and "links"')
    words = {True: True, False: False}
    graph.directed = flag(str(path), "directed", given.get("directed", False), words)
    graph.parallel = flag(str(path), "multigraph", given.get("multigraph", False), words)
    for what, entries, needed in (("nodes", given["nodes"], {"id"}), ("links", listed, set())):
        for i, entry in enumerate(entries):
            place = f"{path} {what}[{i}]"
            needed = needed if what == "nodes" else {"source", "target"}
            if not isinstance(entry, dict) or not needed <= set(entry):
                refuse(place, f"must be an object with {' and '.join(sorted(needed))}")
            own = dict(entry)
            if what == "nodes":
                graph.nodes.append(FileNode(str(own.pop("id")), own, place))
            else:
                ends = str(own.pop("source")), str(own.pop("target"))
                key = own.get("key")
                graph.links.append(FileLink(*ends, own, place, None if key is None else str(key)))
    return graph


def _dimacs(path: Path) -> FileGraph:
    graph = FileGraph(str(path), "dimacs", directed=True, parallel=True)
    ends: dict[str, str] = {}
    counts: tuple[int, int] | None = None
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        place = f"{path} line {number}"
        match line.split():
            case [] | ["c", *_]:
                continue
            case ["p", "max", nodes, arcs] if counts is None:
                counts = _count(place, "nodes", nodes), _count(place, "arcs", arcs)
                graph.nodes = [FileNode(str(i + 1), {}, place) for i in range(counts[0])]
            case ["n", node, "s" | "t" as end] if counts is not None and end not in ends:
                if node in ends.values():
                    refuse(place, f"source and sink must be two nodes, got {node} for both")
                ends[end] = node
            case ["a", u, v, capacity] if counts is not None:
                graph.links.append(FileLink(u, v, {"capacity": capacity}, place))
            case _:
                refuse(place, f"is no line of a DIMACS maximum-flow problem here: {line.strip()!r}")
    if counts is None or len(ends) < 2:
        refuse(str(path), "must have a problem line 'p max', a source 'n .. s' and a sink 'n .. t'")
    if len(graph.links) != counts[1]:
        refuse(str(path), f"must have the {counts[1]} arcs it announces, got {len(graph.links)}")
    graph.terminals = ends["s"], ends["t"]
    known = {node.id for node in graph.nodes}
    for node in graph.terminals:
        if node not in known:
            refuse(str(path), f"source and sink must be nodes 1..{counts[0]}, got {node}")
    return graph


def _count(place: str, what: str, given: str) -> int:
    if not given.isdecimal():
        refuse(place, f"must count {what}, got {given!r}")
    if len(given) > 9:
        refuse(place, f"must count less than 10**9 {what}, got {given}")
    require_memory(_BYTES * int(given), f"a graph of {given} {what}")
    return int(given)


def _csv(path: Path) -> FileGraph:
    graph = FileGraph(str(path), "csv", directed=True)
    names: list[str] | None = None
    seen: dict[str, None] = {}
    for cells, place in csv_rows(path):
        if names is None:
            names = _csv_header(cells)
            if names is not None:
                once(place, [(name, None) for name in names])
                continue
            names = ["source", "target", "capacity", "traffic"][: len(cells)]
        if len(cells) != len(names) or len(cells) < 2:
            refuse(place, f"must have {max(len(names), 2)} cells, got {len(cells)}")
        own = dict(zip(names, cells, strict=True))
        u, v = own.pop("source"), own.pop("target")
        if not u or not v:
            refuse(place, "must name a source and a target")
        seen |= {u: None, v: None}
        given = {name: cell for name, cell in own.items() if cell}
        graph.links.append(FileLink(u, v, given, place))
    graph.nodes = [FileNode(name, {}, str(path)) for name in seen]
    return graph


def _csv_header(cells: list[str]) -> list[str] | None:
    """Return the column names of a header line, None where it is none."""
    words = [cell.lower() for cell in cells]
    source = [i for i, word in enumerate(words) if word in SOURCE_WORDS]
    target = [i for i, word in enumerate(words) if word in TARGET_WORDS]
    if len(source) != 1 or len(target) != 1:
        return None
    names = list(cells)
    names[source[0]], names[target[0]] = "source", "target"
    return names
