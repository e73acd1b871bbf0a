"""DIMACS maximum-flow problems."""

from __future__ import annotations

from pathlib import Path

from ..memory import require_memory
from .filegraph import FileGraph, FileLink, FileNode
from .textfiles import read_text, refuse

# What a node takes while a file is read.
_BYTES = 300


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
