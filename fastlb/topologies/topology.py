"""Topologies: networks whose nodes are array addresses."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import integer
from ..display.cards import card
from ..display.drawings import (
    MOST_LINKS,
    MOST_NODES,
    network_drawing,
    network_places,
)
from ..extras import extra
from ..memory import require_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from ..display.html import Markup

MAX_NODES = 2**62


class Topology(ABC):
    """A network whose nodes are the positions of an array of shape ``shape``, in C order.

    Topologies are immutable, hashable and comparable, and print as their constructor call.
    Two are equal when they have the same nodes and the same links of the same kind.

    Attributes
    ----------
    shape : tuple of int
        Address shape; the node with flat index ``i`` has address ``np.unravel_index(i, shape)``.
    size : int
        Number of nodes, ``N``.
    ndim : int
        Number of address axes.
    """

    shape: tuple[int, ...]
    size: int
    ndim: int

    @property
    @abstractmethod
    def _key(self) -> tuple[object, ...]:
        """The value by which topologies are compared and hashed."""

    @property
    @abstractmethod
    def spec(self) -> str:
        """The command line's spelling; ``parse_topology`` reads it back, but for a Network."""

    @abstractmethod
    def _links(self) -> NDArray[np.int64]:
        """Undirected links, shape (E, 2), each once, in any order and direction."""

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Undirected healthy links, shape (E, 2) int64: once each, u < v, lexicographic order."""
        return ordered_links(self._links())

    @property
    def links(self) -> NDArray[np.int64]:
        """Undirected links, shape (L, 2): ``edges``, which only in a Network are directed."""
        return self.edges

    @property
    def edge_count(self) -> int:
        """Number of undirected healthy links."""
        return len(self.edges)

    def adjacency(self) -> csr_array[Any]:
        """Return the symmetric 0/1 adjacency matrix as a scipy CSR array of shape (N, N)."""
        from scipy.sparse import csr_array

        ends = np.concatenate([self.edges, self.edges[:, ::-1]])
        ones = np.ones(len(ends), dtype=np.int64)
        return csr_array((ones, (ends[:, 0], ends[:, 1])), shape=(self.size, self.size))

    @abstractmethod
    def network(self, *, capacity: Any = None, traffic: Any = None) -> Any:
        """Return the links as a :class:`Network`, with capacities and existing traffic."""

    def to_networkx(self) -> Any:
        """Return the links as a ``networkx.Graph`` on the nodes ``0 .. size-1``."""
        # Python objects take some hundred bytes a node and a link.
        require_memory(500 * (self.size + self.edge_count), f"the graph of {self!r}")
        graph = extra("networkx").Graph()
        graph.add_nodes_from(range(self.size))
        graph.add_edges_from(self.edges.tolist())
        return graph

    def address(self, index: int) -> tuple[int, ...]:
        """Return the address of the node with this flat index.

        Raises
        ------
        TypeError, ValueError
            If it is no integer, or there is no such node.
        """
        i = integer("index", index)
        if not 0 <= i < self.size:
            raise ValueError(f"index must be in 0..{self.size - 1} on {self!r}, got {i}")
        return tuple(int(c) for c in np.unravel_index(i, self.shape))

    def index(self, address: Iterable[int]) -> int:
        """Return the flat index of the node with this address.

        Raises
        ------
        TypeError, ValueError
            If it is no sequence of integers, has another length than ``ndim``, or lies outside
            ``shape``.
        """
        try:
            coordinates = tuple(operator.index(c) for c in address)
        except TypeError:
            raise TypeError(f"address must be a sequence of integers, got {address!r}") from None
        inside = len(coordinates) == self.ndim and all(
            0 <= c < k for c, k in zip(coordinates, self.shape, strict=True)
        )
        if not inside:
            raise ValueError(
                f"address must have {self.ndim} coordinates inside {self.shape} on {self!r}, "
                f"got {coordinates}"
            )
        return int(np.ravel_multi_index(coordinates, self.shape)) if coordinates else 0

    def _repr_html_(self) -> str:
        about = {"spelled": self.spec, "nodes": self.size, "links": self.edge_count}
        return card(repr(self), about, *self._drawing())

    def _drawing(self) -> list[Markup]:
        """Return a drawing of the nodes and links, or nothing if there are too many."""
        if self.size > MOST_NODES or self.edge_count > MOST_LINKS:
            return []
        links = ordered_links(self._links())
        about = f"{self.size} nodes and {len(links)} links"
        return [network_drawing(self._places(links), links, about=about, names=self._labels())]

    def _labels(self) -> list[str]:
        """Return what nodes are called in drawings and tables, one text a node."""
        return [str(node) for node in range(self.size)]

    def _places(self, links: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return where nodes are drawn, shape (N, 2)."""
        return network_places(self.size, links)

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Topology) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def _init(self, shape: tuple[int, ...], **fields: object) -> None:
        values = {"shape": shape, "size": math.prod(shape), "ndim": len(shape), **fields}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setstate__(self, state: dict[str, object]) -> None:
        # A copied or unpickled array is writable again.
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)
        # Hashes of strings differ between processes.
        self.__dict__.pop("_hash", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable, cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable, cannot delete {name}")


def ordered_links(links: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return undirected links once each, u < v, in lexicographic order, without self-loops."""
    ends = np.sort(links[links[:, 0] != links[:, 1]], axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends = ends[order]
    repeated = np.zeros(len(ends), dtype=bool)
    repeated[1:] = (ends[1:] == ends[:-1]).all(axis=1)
    ends = np.ascontiguousarray(ends[~repeated])
    ends.flags.writeable = False
    return ends
