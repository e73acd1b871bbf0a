"""DIMACS maximum-flow problems."""

from __future__ import annotations

from pathlib import Path

from ..memory import require_memory
from .filegraph import FileGraph, FileLink, FileNode
from .textfiles import read_text, refuse

# Memory per node or arc while a file is read.
_NODE_BYTES = 300


def read_dimacs(path: Path) -> FileGraph:
    """Read a DIMACS maximum-flow problem."""
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
    ids = {node.id for node in graph.nodes}
    for node in graph.terminals:
        if node not in ids:
            refuse(str(path), f"source and sink must be nodes 1..{counts[0]}, got {node}")
    return graph


def _count(place: str, what: str, text: str) -> int:
    if not text.isdecimal():
        refuse(place, f"must count {what}, got {text!r}")
    if len(text) > 9:
        refuse(place, f"must count less than 10**9 {what}, got {text}")
    require_memory(_NODE_BYTES * int(text), f"a graph of {text} {what}")
    return int(text)
