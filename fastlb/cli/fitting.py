"""Topologies with a given number of nodes."""

from __future__ import annotations

import math


def fitting(nodes: int) -> list[str]:
    """Return spellings of the usual topologies with this many nodes, the squarest shapes first.

    Examples
    --------
    >>> fitting(16)
    ['torus:4x4', 'mesh:4x4', 'torus:2x2x4', 'mesh:2x2x4', 'hypercube:4', 'ring:16', 'chain:16']
    >>> fitting(6)
    ['torus:2x3', 'mesh:2x3', 'hhc:1', 'ring:6', 'chain:6']
    """
    spellings = []
    for axes in (2, 3):
        shape = squarest(nodes, axes)
        if shape is not None:
            lengths = "x".join(map(str, shape))
            spellings += [f"torus:{lengths}", f"mesh:{lengths}"]
    if nodes >= 2 and nodes & (nodes - 1) == 0:
        spellings.append(f"hypercube:{nodes.bit_length() - 1}")
    cells, rest = divmod(nodes, 6)
    if cells and not rest and cells & (cells - 1) == 0:
        spellings.append(f"hhc:{cells.bit_length()}")
    return [*spellings, f"ring:{nodes}", f"chain:{nodes}"]


def squarest(nodes: int, axes: int) -> tuple[int, ...] | None:
    """Return axis lengths of at least 2, as equal as possible, or None if there are none."""
    if axes == 1:
        return (nodes,) if nodes >= 2 else None
    root = round(nodes ** (1 / axes))
    while root**axes > nodes:
        root -= 1
    for first in range(root, 1, -1):
        if nodes % first == 0:
            others = squarest(nodes // first, axes - 1)
            if others is not None:
                return tuple(sorted((first, *others)))
    return None


def describe_fits(shape: tuple[int, ...]) -> str:
    """Return in words what loads of this shape fit, for an error message."""
    nodes = shape[-1] if shape else 1
    rows = math.prod(shape[:-1])
    fits = ", ".join(fitting(nodes)) if nodes else "nothing"
    if len(shape) < 2:
        return f"1 node fits {fits}" if nodes == 1 else f"{nodes} nodes fit {fits}"
    lengths = "x".join(map(str, shape))
    return f"{lengths} loads fit torus:{lengths}, mesh:{lengths}, or, as {rows} networks, {fits}"
