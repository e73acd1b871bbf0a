"""Results as NetworkX returns them: dictionaries by node, neighbour and key."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .graph import ConvertedGraph


def by_node(
    graph: ConvertedGraph, values: list[Any], last: NDArray[np.bool_] | None = None
) -> dict[Any, dict[Any, Any]]:
    """Return a value of each arc as ``{node: {neighbor: value}}``, of a multigraph by key as well.

    Arcs of ``last`` (A,) stand behind the others of their node.
    """
    neighbors, keys = graph.neighbors, graph.keys
    rows = zip(graph.nodes, graph.degrees, strict=True)
    if keys is None:
        arcs = zip(neighbors, values, strict=True)
        result = {node: dict(islice(arcs, degree)) for node, degree in rows}
        for arc in [] if last is None else np.flatnonzero(last).tolist():
            row = result[graph.nodes[graph.tail[arc]]]
            row[neighbors[arc]] = row.pop(neighbors[arc])
        return result
    if last is not None and last.any():
        order = np.lexsort((last, graph.tail)).tolist()
        values = [values[arc] for arc in order]
        neighbors = [neighbors[arc] for arc in order]
        keys = [keys[arc] for arc in order]
    result = {}
    keyed = zip(neighbors, keys, values, strict=True)
    for node, degree in rows:
        row = {}
        for neighbor, key, value in islice(keyed, degree):
            row.setdefault(neighbor, {})[key] = value
        result[node] = row
    return result
