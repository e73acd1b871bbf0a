"""A NetworkX graph as arrays, the form in which NetworkX hands graphs to this backend.

Legend: ``N`` nodes, ``A`` arcs. An arc is an entry of the adjacency ``G._adj``, in its order: a
link of a directed graph is one arc, a link of an undirected graph two, one from each end (a loop
one), and parallel links of a multigraph are arcs of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import chain, compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .numbers import as_numbers

# What names an attribute: its key, or a function of both ends and the data of an edge.
Attribute = str | Callable[[Any, Any, dict[Any, Any]], Any] | None


class ConvertedGraph:
    """A snapshot of a NetworkX graph: its structure as arrays, its attributes read when needed.

    Attributes
    ----------
    original : networkx.Graph
        The graph itself, for functions that NetworkX runs.
    nodes : list
        Nodes in the graph's order; the others number them so.
    index : dict
        The number of each node.
    degrees : list of int
        Arcs that leave each node.
    neighbors : list of length A
        The node at the end of each arc, as the graph names it.
    keys : list of length A, or None
        The key of each arc of a multigraph.
    tail, head : (A,) int64
        Numbers of the nodes at both ends.
    derived : dict
        What functions have computed from the structure alone, by name, for the next call.
    """

    __networkx_backend__ = "fastlb"

    def __init__(self, graph: Any, *, with_data: bool = True) -> None:
        self.original = graph
        self.nodes: list[Any] = list(graph)
        self.index: dict[Any, int] = dict(zip(self.nodes, range(len(self.nodes)), strict=True))
        adjacency = graph._adj
        rows = [adjacency[node] for node in self.nodes]
        self.keys: list[Any] | None = None
        self._data: list[dict[Any, Any]] | None = None
        if graph.is_multigraph():
            arcs = [(node, keyed) for row in rows for node, keyed in row.items()]
            self.degrees = [sum(map(len, row.values())) for row in rows]
            self.neighbors = [node for node, keyed in arcs for _ in keyed]
            self.keys = list(chain.from_iterable(keyed for _, keyed in arcs))
            if with_data:
                self._data = list(chain.from_iterable(keyed.values() for _, keyed in arcs))
        else:
            self.degrees = list(map(len, rows))
            self.neighbors = list(chain.from_iterable(rows))
            if with_data:
                self._data = list(chain.from_iterable(row.values() for row in rows))
        count = len(self.neighbors)
        self.head = np.fromiter(map(self.index.__getitem__, self.neighbors), np.int64, count)
        self.tail = np.repeat(np.arange(len(self.nodes)), self.degrees)
        self._numbers: dict[Any, NDArray[Any]] = {}
        self.derived: dict[str, Any] = {}

    def is_directed(self) -> bool:
        """Return whether the graph is directed, as NetworkX's own graphs do."""
        return bool(self.original.is_directed())

    def is_multigraph(self) -> bool:
        """Return whether the graph has parallel links, as NetworkX's own graphs do."""
        return self.keys is not None

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.index
        except TypeError:  # NetworkX holds that what has no hash is no node.
            return False

    @cached_property
    def once(self) -> NDArray[np.bool_]:
        """(A,): a mask with every link once: all arcs, in an undirected graph one of two."""
        if self.is_directed():
            return np.ones(len(self.head), dtype=np.bool_)
        return self.head >= self.tail

    @cached_property
    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Both ends of every link, each link once: ``tail[once], head[once]``."""
        return self.tail[self.once], self.head[self.once]

    def attribute(self, name: Attribute, default: Any, *, once: bool = False) -> NDArray[Any]:
        """Return an attribute of all arcs, or of every link once, int64 or float64.

        Infinity among whole numbers is ``UNLIMITED``, the largest int64.

        Raises
        ------
        NotImplementedError
            If a value is no number or does not fit; NetworkX then runs its own function.
        """
        values = self._read(name, default)
        return values[self.once] if once else values

    def _read(self, name: Attribute, default: Any) -> NDArray[Any]:
        if (name, default) not in self._numbers:
            self._numbers[name, default] = as_numbers(self.attribute_values(name, default))
        return self._numbers[name, default]

    @property
    def data(self) -> list[dict[Any, Any]]:
        """The dictionaries of all arcs, those of the graph itself."""
        if self._data is None:
            raise NotImplementedError("the graph was converted without the data of its edges")
        return self._data

    def attribute_values(self, name: Attribute, default: Any, *, once: bool = False) -> list[Any]:
        """Return an attribute of all arcs, or of every link once, as the objects they are."""
        data = compress(self.data, self.once.tolist()) if once else self.data
        return [edge.get(name, default) for edge in data]

    def node_values(self, name: str, default: Any) -> list[Any]:
        """Return an attribute of all nodes, as the objects they are."""
        data = self.original._node
        return [data[node].get(name, default) for node in self.nodes]
