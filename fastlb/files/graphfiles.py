"""Graphs from files, read by the suffix of their name."""

from __future__ import annotations

from pathlib import Path

from .dimacs import read_dimacs
from .edgelist import read_edge_list
from .filegraph import FileGraph
from .gml import read_gml
from .graphml import read_graphml
from .nodelink import read_node_link

READERS = {
    ".graphml": read_graphml,
    ".gml": read_gml,
    ".json": read_node_link,
    ".max": read_dimacs,
    ".csv": read_edge_list,
    ".tsv": read_edge_list,
}


def is_graph_file(text: str) -> bool:
    """Return whether a text names a graph file by its suffix, rather than a topology."""
    return Path(text).suffix.lower() in READERS


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
    suffix = where.suffix.lower()
    if suffix not in READERS:
        raise ValueError(f"network must be a file {', '.join(READERS)}, got {str(path)!r}")
    graph = READERS[suffix](where)
    if not graph.nodes:
        raise ValueError(f"{path} holds no nodes")
    return graph
