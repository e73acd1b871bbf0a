"""The nodes, links and attributes of a graph file, each with its place in the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Attributes = dict[str, Any]


@dataclass(frozen=True)
class FileNode:
    """A node as a file names it; ``place`` says where in the file."""

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
    """The contents of a graph file before they are checked.

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
    header : str or None
        CSV: the place of its header.
    """

    source: str
    kind: str
    directed: bool = False
    parallel: bool = False
    nodes: list[FileNode] = field(default_factory=list)
    links: list[FileLink] = field(default_factory=list)
    terminals: tuple[str, str] | None = None
    header: str | None = None
