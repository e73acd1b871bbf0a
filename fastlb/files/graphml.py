"""GraphML files, those of yEd included."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

from .filegraph import Attributes, FileGraph, FileLink, FileNode
from .textfiles import flag, refuse


class _GraphmlReader:
    """Expat handlers that build a graph; document types and entities are refused."""

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
        # Keys of yEd's drawings, whose data are XML elements, not strings.
        self.drawings: set[str] = set()
        self.node_label: list[str] | None = None

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
            if "yfiles.type" in attributes:
                self.drawings.add(attributes.get("id", ""))
        elif name == "graph":
            self.graphs += 1
            if self.graphs > 1:
                refuse(self.place, "must hold one graph, got a second")
            words = {"directed": True, "undirected": False}
            default = attributes.get("edgedefault", "undirected")
            self.graph.directed = flag(self.place, "edgedefault", default, words)
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
        elif name == "Geometry" and self.owner is not None:
            for axis in {"x", "y"} & set(attributes):
                self.owner[1].setdefault(f"graphics.{axis}", attributes[axis])
        elif name == "NodeLabel" and self.owner is not None:
            self.node_label = []
        self.letters = []

    def characters(self, text: str) -> None:
        self.letters.append(text)
        if self.node_label is not None:
            self.node_label.append(text)

    def end(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        text = "".join(self.letters).strip()
        if name == "default" and self.reading is not None:
            label, target = self.keys[self.reading[1]]
            for kind in ("node", "edge") if target == "all" else (target,):
                self.defaults[kind, label] = text
        elif name == "data" and self.owner is not None and self.reading is not None:
            label = self.keys[self.reading[1]][0]
            if self.reading[1] in self.drawings:
                self.reading = None
                return
            if label in self.owner[1]:
                refuse(self.place, f"{label!r} must be named once, got it again")
            self.owner[1][label] = text
            self.reading = None
        elif name == "NodeLabel" and self.owner is not None and self.node_label is not None:
            self.owner[1].setdefault("label", "".join(self.node_label).strip())
            self.node_label = None
        elif name in ("node", "edge") and self.owner is not None:
            self._add(*self.owner)
            self.owner = None

    def _add(self, kind: str, data: Attributes, place: str, attributes: dict[str, str]) -> None:
        defaults = {
            label: text for (target, label), text in self.defaults.items() if target == kind
        }
        if kind == "node":
            self.graph.nodes.append(FileNode(attributes["id"], {**defaults, **data}, place))
            return
        directed = {"true": True, "false": False}.get(attributes.get("directed", ""))
        self.graph.links.append(
            FileLink(
                attributes["source"],
                attributes["target"],
                {**defaults, **data},
                place,
                attributes.get("id"),
                directed,
            )
        )


def read_graphml(path: Path) -> FileGraph:
    """Read a GraphML file; data of the graph as a whole are ignored."""
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
