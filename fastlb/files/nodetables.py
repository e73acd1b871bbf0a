"""Loads by node: from CSV, JSON and the nodes of graph files."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .attributes import LOAD_NAMES, find_label, quoted, refuse_nodes, unread
from .filegraph import FileGraph
from .filenumbers import is_number
from .graphfiles import read_graph_file
from .nodelink import is_node_link, node_link_graph
from .positions import read_positions
from .textfiles import once, read_json, read_text, refuse, rows_of

# Headings of the column of nodes, the likeliest first.
NODE_NAMES = (
    "node", "id", "name", "label", "server", "host", "hostname", "machine", "processor", "rank",
    "process", "router", "switch", "site", "vertex", "worker",
)  # fmt: skip
GRAPH_SUFFIXES = (".graphml", ".gml")


@dataclass(frozen=True)
class NodeTable:
    """Loads as a file lists them, node by node.

    Attributes
    ----------
    source, kind : str
        The file, and its form.
    loads : list of (name, value, place)
        In the order of the file; a value as the file writes it.
    positions : dict
        Where the file places nodes, by name.
    labels : tuple of str
        All columns or attributes other than the nodes.
    """

    source: str
    kind: str
    loads: list[tuple[str, Any, str]]
    positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Line:
    node: str
    values: Mapping[str, Any]
    place: str


def read_node_table(
    path: Path,
    *,
    column: str | None = None,
    ignore: Iterable[str] = (),
    usual: tuple[str, ...] = LOAD_NAMES,
    nodes: Container[str] = (),
    text: str | None = None,
) -> NodeTable | None:
    """Read loads by node from a ``.csv``, ``.tsv``, ``.json``, ``.graphml`` or ``.gml`` file.

    Parameters
    ----------
    column : str, optional
        Column, key or node attribute that holds the loads. Default: one of ``usual``, or the
        only one.
    ignore : iterable of str
        Columns to leave out; other unused columns are refused.
    usual : tuple of str
        Usual names of the column of loads.
    nodes : container of str
        Names of nodes. Two columns that begin with one are a table even without a header; of
        several columns that may name nodes, the one that holds these names does.
    text : str, optional
        Content of the CSV file, if it was read already.

    Returns
    -------
    NodeTable or None
        None if the file holds plain numbers.

    Raises
    ------
    ValueError
        If the table cannot be read; the message names file and place.
    """
    choice = _Choice(str(path), column, tuple(ignore), usual)
    if path.suffix.lower() in GRAPH_SUFFIXES:
        return _from_graph(read_graph_file(path), choice, nodes)
    if path.suffix.lower() == ".json":
        return _from_json(read_json(path), choice, nodes)
    rows = rows_of(read_text(path) if text is None else text, choice.source)
    return _from_rows(rows, choice, nodes)


def _from_graph(graph: FileGraph, choice: _Choice, nodes: Container[str]) -> NodeTable:
    """Return the table of a graph's nodes by their ids, or by an attribute that holds ``nodes``."""
    entries = [{"id": node.id, **node.attributes} for node in graph.nodes]
    label = (_node_label(entries[0], entries[0], nodes) if entries else None) or "id"
    lines = [
        _Line(str(entry.get(label, node.id)), node.attributes, node.place)
        for node, entry in zip(graph.nodes, entries, strict=True)
    ]
    return choice.table(graph.kind, lines, graph.source)


def _from_json(document: Any, choice: _Choice, nodes: Container[str]) -> NodeTable | None:
    source = choice.source
    if is_node_link(document):
        return _from_graph(node_link_graph(document, source), choice, nodes)
    if isinstance(document, dict) and isinstance(document.get("phases"), list):
        refuse(source, "must be named PREFIX.RANK.json to be read as data of vt")
    if isinstance(document, dict):
        if all(isinstance(value, dict) for value in document.values()) and document:
            lines = [_Line(name, row, f"{source} {name!r}") for name, row in document.items()]
            return choice.table("json", lines, source)
        choice.refuse_column()
        pairs = [(name, value, f"{source} {name!r}") for name, value in document.items()]
        return NodeTable(source, "json", pairs)
    if isinstance(document, list) and document and isinstance(document[0], dict):
        return choice.table("json", _records(document, source, nodes), source)
    return None


def _records(entries: list[Any], source: str, nodes: Container[str]) -> list[_Line]:
    """Return the objects of a list as lines of a table."""
    node_key = _node_label(entries[0], entries[0], nodes)
    if node_key is None:
        refuse(f"{source}[0]", f'must name its node, as {{"node": ..}}, got {entries[0]!r:.80}')
    lines = []
    for i, entry in enumerate(entries):
        place = f"{source}[{i}]"
        if not isinstance(entry, dict) or node_key not in entry:
            refuse(place, f"must be an object with {node_key!r}, got {entry!r:.80}")
        others = {key: value for key, value in entry.items() if key != node_key}
        lines.append(_Line(str(entry[node_key]), others, place))
    return lines


def _from_rows(
    lines_of_cells: Iterator[tuple[list[str], str]], choice: _Choice, nodes: Container[str]
) -> NodeTable | None:
    rows = list(itertools.islice(lines_of_cells, 2))
    header = _header(rows, nodes)
    if header is None:
        return None
    rows += lines_of_cells
    names, node = header
    if names is None:
        for cells, place in rows:
            if len(cells) != 2:
                refuse(place, f"must be a node and its load, got {len(cells)} cells")
        choice.refuse_column()
        return NodeTable(choice.source, "csv", [(c[0], c[1], place) for c, place in rows])
    place = rows[0][1]
    once(place, [(name, None) for name in names])
    lines = []
    for cells, line_place in rows[1:]:
        if len(cells) != len(names):
            what = "a node and its load" if len(names) == 2 else f"{len(names)} cells"
            refuse(line_place, f"must be {what}, as in the header, got {len(cells)} cells")
        values = dict(zip(names, cells, strict=True))
        lines.append(_Line(values.pop(names[node]), values, line_place))
    return choice.table("csv", lines, place)


def _node_label(
    labels: Iterable[str], entry: Mapping[str, Any], nodes: Container[str]
) -> str | None:
    """Return the label of the column of nodes: of several, the first whose entry is a node."""
    available = list(labels)
    matches = (find_label(None, (name,), available) for name in NODE_NAMES)
    candidates = [label for label in matches if label is not None]
    matching = (label for label in candidates if str(entry.get(label)) in nodes)
    return next(matching, candidates[0] if candidates else None)


def _header(
    rows: list[tuple[list[str], str]], nodes: Container[str]
) -> tuple[list[str] | None, int] | None:
    """Return (column names, column of nodes), or None if the rows are plain numbers.

    The column names are None without a header.
    """
    first = rows[0][0] if rows else []
    second = rows[1][0] if len(rows) > 1 else []
    if len(first) < 2:
        return None
    label = _node_label(first, dict(zip(first, second, strict=False)), nodes)
    if label is not None and first[0] not in nodes:
        return first, first.index(label)
    if not any(map(is_number, first)) and first[0] not in nodes:
        has_node = second[:1] and (second[0] in nodes or not is_number(second[0]))
        return (first, 0) if has_node and any(map(is_number, second[1:])) else None
    if len(first) == 2 and (first[0] in nodes or not is_number(first[0])):
        return None, 0
    return None


@dataclass(frozen=True)
class _Choice:
    """The choice of the column of loads, and of columns to leave out."""

    source: str
    column: str | None
    ignored: tuple[str, ...]
    usual: tuple[str, ...]

    def table(self, kind: str, lines: list[_Line], place: str) -> NodeTable:
        labels = list(dict.fromkeys(label for line in lines for label in line.values))
        load = self._label(labels, place)
        if unused := unread(labels, (load,), self.ignored):
            refuse_nodes(place, unused, loads=False)
        for line in lines:
            if load not in line.values:
                refuse(line.place, f"node {line.node!r} must have {load!r}")
        places = read_positions([line.values for line in lines]) or ()
        positions = {
            line.node: position
            for line, position in zip(lines, places, strict=False)
            if position is not None
        }
        loads = [(line.node, line.values[load], line.place) for line in lines]
        return NodeTable(self.source, kind, loads, positions, tuple(labels))

    def _label(self, labels: list[str], place: str) -> str:
        label = find_label(self.column, self.usual, labels)
        if label is None and self.column is not None:
            refuse(place, f"has no {self.column!r}, but {', '.join(labels) or 'nothing'}")
        if label is not None:
            return label
        unused = unread(labels, (), self.ignored)
        if not unused:
            refuse(place, "must have a load for every node")
        if len(unused) > 1:
            options = ", ".join(f"--column {quoted(name)}" for name in unused)
            refuse(place, f"must say which is the load: {options}")
        return unused[0]

    def refuse_column(self) -> None:
        """Refuse a chosen column where a file has nodes and loads alone."""
        if self.column is not None:
            refuse(self.source, f"has no column {self.column!r}: it has nodes and loads alone")
