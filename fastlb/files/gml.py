"""GML files."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .filegraph import FileGraph, FileLink, FileNode
from .textfiles import flag, once, read_text, refuse

_GML_TOKEN = re.compile(
    r'(?P<skip>\s+|^\s*#[^\n]*)|(?P<text>"[^"]*")|(?P<open>\[)|(?P<close>\])'
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>[^\s\[\]]+)",
    re.MULTILINE,
)


def read_gml(path: Path) -> FileGraph:
    """Read a GML file; attributes of the graph as a whole are ignored."""
    graph = FileGraph(str(path), "gml")
    tokens = _gml_tokens(read_text(path), graph.source)
    entries = [value for key, value, _ in _gml_entries(tokens, graph.source, 0) if key == "graph"]
    if len(entries) != 1 or not isinstance(entries[0], list):
        refuse(graph.source, f"must hold one graph, got {len(entries)}")
    for key, value, line in entries[0]:
        place = f"{graph.source} line {line}"
        if key in ("directed", "multigraph"):
            is_set = flag(place, key, value, {"0": False, "1": True})
            setattr(graph, "directed" if key == "directed" else "parallel", is_set)
        elif key in ("node", "edge"):
            if not isinstance(value, list):
                refuse(place, f"a {key} must be a list in brackets, got {value!r}")
            own = _attributes(place, value)
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


def _attributes(place: str, entries: list[tuple[str, Any, int]]) -> dict[str, Any]:
    """Return attributes by name, among them ``graphics.x`` and ``graphics.y``.

    In ``graphics [ x .. y .. ]`` y points downwards. networkx writes coordinates as repeated
    entries ``pos``, which become one list.
    """
    graphics = [item for key, item, _ in entries if key == "graphics" and isinstance(item, list)]
    coordinates = [item for key, item, _ in entries if key == "pos"]
    others = [(key, item) for key, item, _ in entries if key not in ("graphics", "pos")]
    own = once(place, others)
    if coordinates:
        own["pos"] = coordinates
    for key, item, _ in graphics[0] if graphics else []:
        if key in ("x", "y"):
            own.setdefault(f"graphics.{key}", item)
    return own


def _gml_tokens(text: str, source: str) -> Iterator[tuple[str, str, int]]:
    line = 1
    for match in _GML_TOKEN.finditer(text):
        kind, token = str(match.lastgroup), match.group()
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
    """Return (key, value, line) up to the closing bracket; a value is a string or such a list."""
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
