"""Edge lists as CSV: a link a line, with or without a header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from .filegraph import FileGraph, FileLink, FileNode
from .textfiles import csv_rows, once, refuse

SOURCE_WORDS = ("source", "src", "from", "tail", "u", "start", "origin")
TARGET_WORDS = ("target", "tgt", "to", "head", "v", "end", "destination", "dest", "dst")
# Ends of links in columns such as node1,node2 or host_a,host_b, without the noun.
_PAIRS = ((("1",), ("2",)), (("a",), ("b",)))
_NOUNS = "node|host|server|router|switch|site|vertex|machine|endpoint|name|id|ip"
_DIRECTIONS = {"directed": True, "undirected": False}


def read_edge_list(path: Path) -> FileGraph:
    """Read links from CSV: source, target and attributes in the columns that a header names.

    Without a header the columns are source, target, capacity and traffic. A column ``Type`` of
    "Directed" and "Undirected", as Gephi writes it, says for each link which it is. Nodes are in
    the order in which links name them, or of their numbers if all are whole numbers.
    """
    graph = FileGraph(str(path), "csv", directed=True)
    rows = list(csv_rows(path))
    names = _header(rows)
    if names is not None:
        graph.header = rows.pop(0)[1]
        once(graph.header, [(name, None) for name in names])
    elif rows:
        names = _unnamed(*rows[0])
    seen: dict[str, None] = {}
    for cells, place in rows:
        assert names is not None
        if len(cells) != len(names) or len(cells) < 2:
            refuse(place, f"must have {max(len(names), 2)} cells, got {len(cells)}")
        own = dict(zip(names, cells, strict=True))
        u, v = own.pop("source"), own.pop("target")
        if not u or not v:
            refuse(place, "must name a source and a target")
        seen |= {u: None, v: None}
        attributes = {name: cell for name, cell in own.items() if cell}
        graph.links.append(FileLink(u, v, attributes, place))
    graph.nodes = [FileNode(name, {}, str(path)) for name in _in_order(seen)]
    _read_directions(graph)
    return graph


def _in_order(nodes: Iterable[str]) -> list[str]:
    listed = list(nodes)
    numbered = all(node.isascii() and node.isdigit() and len(node) < 19 for node in listed)
    return sorted(listed, key=int) if numbered else listed


def _header(rows: list[tuple[list[str], str]]) -> list[str] | None:
    """Return the column names of a header line, None where the first line is a link."""
    cells = rows[0][0] if rows else []
    for sources, targets in ((SOURCE_WORDS, TARGET_WORDS), *_PAIRS):
        u, v = _column(cells, sources), _column(cells, targets)
        if u is None or v is None:
            continue
        ends = [row[i] for row, _ in rows[1:] for i in (u, v) if i < len(row)]
        if cells[u].lower() != "source" and not {cells[u], cells[v]}.isdisjoint(ends):
            return None  # other links have these ends, so the line is a link
        if sources is not SOURCE_WORDS and any(_without_noun(end) != end.lower() for end in ends):
            return None  # other ends look like these, so the line is a link
        names = list(cells)
        names[u], names[v] = "source", "target"
        return names
    return None


def _column(cells: list[str], words: Sequence[str]) -> int | None:
    """Return the only column called one of the words; "1" and "a" count only as in "node1"."""
    whole = words in (SOURCE_WORDS, TARGET_WORDS)
    columns = [
        i
        for i, cell in enumerate(cells)
        if _without_noun(cell) in words and (whole or _without_noun(cell) != cell.lower())
    ]
    return columns[0] if len(columns) == 1 else None


def _without_noun(cell: str) -> str:
    """Return a column's name without its noun, such as "from" for "from_node"."""
    word = cell.lower()
    return re.sub(rf"^({_NOUNS})[\s_-]*|[\s_-]*({_NOUNS})$", "", word)


def _unnamed(cells: list[str], place: str) -> list[str]:
    """Return the columns of a list without a header; refuse a first line of words."""
    if len(cells) > 4 or any(re.match(r"[^\W\d]", cell) for cell in cells[2:]):
        refuse(
            place,
            "must be source, target, capacity and traffic, or a header whose columns of ends are "
            f"called source and target, got {', '.join(cells)[:80]!r}",
        )
    return ["source", "target", "capacity", "traffic"][: len(cells)]


def _read_directions(graph: FileGraph) -> None:
    """Read Gephi's column ``Type`` if all its cells are directions."""
    label = next((name for link in graph.links for name in link.attributes if name == "Type"), None)
    if label is None:
        return
    directions = [str(link.attributes.get(label, "")).lower() for link in graph.links]
    if not set(directions) <= set(_DIRECTIONS):
        return
    graph.links = [
        FileLink(
            link.source,
            link.target,
            {name: value for name, value in link.attributes.items() if name != label},
            link.place,
            directed=_DIRECTIONS[word],
        )
        for link, word in zip(graph.links, directions, strict=True)
    ]
