"""General networks: directed links with capacity and existing traffic."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import integer
from ..extras import extra
from ..quantities import Quantities, read_quantities
from .linkattributes import warn_of_unread
from .topology import MAX_NODES, Topology, ordered_links

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..kernels.shared.residual import ResidualGraph


@dataclass(frozen=True, eq=False)
class Expanded:
    """The graph on which a plan is computed; without routing it is the network itself.

    Attributes
    ----------
    n : int
        Number of its nodes.
    tail, head : (G,) int64
        Ends of its links.
    origin : (G,) int64
        Link of the network that each link stands for, -1 for none.
    entry, exit : (N,) int64
        Nodes of this graph at which the load of a node starts and arrives.
    residual : ResidualGraph
        Its residual graph, see ``kernels/shared/residual.py``.
    """

    n: int
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    origin: NDArray[np.int64]
    entry: NDArray[np.int64]
    exit: NDArray[np.int64]
    residual: ResidualGraph

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """Mask (G,) of the links that stand for no link of the network."""
        return self.origin < 0

    @cached_property
    def plain(self) -> bool:
        """Whether it is the network itself, link by link."""
        return np.array_equal(self.origin, np.arange(len(self.tail))) and np.array_equal(
            self.entry, self.exit
        )

    @cached_property
    def costs(self) -> NDArray[np.int64]:
        """Cost of a unit on each link (G,): 1, or 0 if it stands for no link of the network."""
        return (~self.inner).astype(np.int64)

    @cached_property
    def joined(self) -> bool:
        """Whether the graph is strongly connected."""
        all_links = np.ones(len(self.tail), dtype=bool)
        return bool(kernels("flows.residual").strongly_connected(self.residual, all_links))

    def on_links(self, values: NDArray[Any], inner: Any) -> NDArray[Any]:
        """Expand values of the network's links to these (G,); inner links get ``inner``."""
        if self.plain:
            return values
        expanded = np.full(len(self.origin), inner, dtype=values.dtype)
        expanded[~self.inner] = values[self.origin[~self.inner]]
        return expanded

    def on_network(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Restrict values of these links (G,) to the network's links."""
        if self.plain:
            return values.view()
        link = ~self.inner
        link_values = np.empty(np.count_nonzero(link), dtype=np.int64)
        link_values[self.origin[link]] = values[link]
        return link_values

    def on_nodes(self, values: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Expand amounts of the network's nodes to this graph, at ``places``: entry or exit."""
        if self.plain:
            return values
        expanded = np.zeros(self.n, dtype=np.int64)
        expanded[places] = values
        return expanded


class Network(Topology):
    """Any directed or undirected graph, with capacity and existing traffic per directed link.

    Parameters
    ----------
    edges : array_like of int, shape (E, 2)
        Directed links, kept in the order given; parallel links and self-loops are allowed.
    n : int, optional
        Number of nodes; by default the largest node number plus one.
    capacity : scalar or (E,), optional
        Most traffic that a link carries, including existing traffic; None or inf: unlimited.
        int, float, Fraction or a string such as ``"41/7"``.
    traffic : scalar or (E,), optional
        Existing traffic per link, default 0, finite and not negative.
    topology : Topology, optional
        The topology whose links these are; set by ``Topology.network``.
    names : iterable of hashable, optional
        What the nodes are called, each differently. Names change no result: networks that
        differ in them alone are equal.
    label : str, optional
        What tables call the network, such as the file it was read from; on one line.

    Attributes
    ----------
    names : sequence, length N
        Name of every node; without names the numbers 0..N-1.
    edges : (E, 2) int64
        The directed links.
    links : (L, 2) int64
        Its undirected simple links: once each, u < v, in lexicographic order.
    capacity, traffic : tuple
        One value a link, as int, float or Fraction; ``capacity`` has None where unlimited.
    capacities, traffics : Quantities
        The same as arrays.

    Raises
    ------
    ValueError
        If an edge names no node, a capacity or traffic is negative, NaN or unreadable, or
        names repeat themselves or are not N.

    Examples
    --------
    >>> Network([(0, 1), (1, 2)], capacity=[5, "41/7"]).capacity
    (5, Fraction(41, 7))
    >>> network = Network([(0, 1), (1, 2)], names=["db1", "web1", "web2"])
    >>> network.node("web2"), network.by_name([7, 1, 4])
    (2, {'db1': 7, 'web1': 1, 'web2': 4})
    """

    edges: NDArray[np.int64]
    capacities: Quantities
    traffics: Quantities
    topology: Topology | None
    label: str | None
    _names: tuple[Hashable, ...] | None

    def __init__(
        self,
        edges: ArrayLike,
        *,
        n: int | None = None,
        capacity: Any = None,
        traffic: Any = None,
        topology: Topology | None = None,
        names: Iterable[Hashable] | None = None,
        label: str | None = None,
    ) -> None:
        ends = _edge_array(edges)
        size = int(ends.max(initial=-1)) + 1 if n is None else integer("n", n)
        if size < 1:
            raise ValueError(f"n must be at least 1 node, got {size}")
        if len(ends) and (ends.min() < 0 or ends.max() >= size):
            row = int(np.flatnonzero(((ends < 0) | (ends >= size)).any(axis=1))[0])
            raise ValueError(
                f"edges must join nodes 0..{size - 1}, got {tuple(ends[row].tolist())} in row {row}"
            )
        self._init(
            (size,),
            edges=ends,
            capacities=_per_link("capacity", capacity, len(ends), unlimited=True),
            traffics=_per_link("traffic", traffic, len(ends), unlimited=False),
            topology=topology,
            label=label,
            _names=None if names is None else _checked_names(names, size),
        )

    @classmethod
    def from_networkx(
        cls, graph: Any, *, capacity: str = "capacity", traffic: str = "traffic"
    ) -> Network:
        """Build a network from a networkx graph; an undirected one gives both directions.

        Parameters
        ----------
        graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
            Nodes are numbered in the graph's own order, and keep their names; the name of the
            graph, if it has one, is the network's label.
        capacity, traffic : str
            Link attributes to read; a link without one is unlimited, or carries nothing.

        Raises
        ------
        TypeError
            If it is no graph.

        Warns
        -----
        UserWarning
            If no link has the attribute for the capacity, and some have one that is usually
            it, such as "bandwidth".
        """
        if not hasattr(graph, "is_directed"):
            raise TypeError(f"graph must be a networkx graph, got {graph!r}")
        number = {node: i for i, node in enumerate(graph)}
        links = [(number[u], number[v], data) for u, v, data in graph.edges(data=True)]
        warn_of_unread(capacity, traffic, {str(key) for *_, data in links for key in data})
        if not graph.is_directed():
            links += [(v, u, data) for u, v, data in links]
        return cls(
            np.array([link[:2] for link in links], dtype=np.int64).reshape(-1, 2),
            n=len(number),
            capacity=[data.get(capacity) for *_, data in links],
            traffic=[data.get(traffic, 0) for *_, data in links],
            names=None if list(number) == list(range(len(number))) else number,
            label=" ".join(str(getattr(graph, "name", "")).split()) or None,
        )

    @property
    def names(self) -> Sequence[Any]:
        """Name of every node; without names the numbers 0..N-1."""
        return range(self.size) if self._names is None else self._names

    @property
    def is_named(self) -> bool:
        """Whether the nodes have names."""
        return self._names is not None

    def node(self, name: Hashable) -> int:
        """Return the number of the node of this name.

        Raises
        ------
        ValueError
            If there is none.
        """
        if name not in (self.names if self._names is None else self._nodes):
            raise ValueError(f"network has no node {name!r}")
        return self.names.index(name) if self._names is None else self._nodes[name]

    def by_name(self, values: ArrayLike) -> dict[Any, Any]:
        """Return one value a node, shape (N,), by the names of the nodes.

        Raises
        ------
        ValueError
            If there is another number of values.
        """
        listed = np.asarray(values)
        if listed.shape != (self.size,):
            raise ValueError(
                f"values must be one for each of {self.size} nodes, got shape {listed.shape}"
            )
        return dict(zip(self.names, listed.tolist(), strict=True))

    @cached_property
    def _nodes(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self._names or ())}

    @cached_property
    def graph(self) -> Expanded:
        """The network as the graph on which plans without routing are searched."""
        tail, head = np.ascontiguousarray(self.edges.T)
        nodes = np.arange(self.size)
        residual = kernels("flows.residual").residual_graph(self.size, tail, head)
        return Expanded(self.size, tail, head, np.arange(len(tail)), nodes, nodes, residual)

    @cached_property
    def links(self) -> NDArray[np.int64]:
        """Undirected simple links, shape (L, 2): u < v, lexicographic, no self-loops."""
        return ordered_links(self.edges)

    @property
    def capacity(self) -> tuple[int | float | Fraction | None, ...]:
        """Most traffic of every link, existing traffic included; None where unlimited."""
        return self.capacities.numbers

    @property
    def traffic(self) -> tuple[int | float | Fraction, ...]:
        """Existing traffic of every link."""
        return tuple(0 if used is None else used for used in self.traffics.numbers)

    @property
    def edge_count(self) -> int:
        """Number of directed links, E."""
        return len(self.edges)

    def _links(self) -> NDArray[np.int64]:
        return self.edges

    def adjacency(self) -> Any:
        """Return the 0/1 adjacency matrix of the directed links as a scipy CSR array (N, N)."""
        from scipy.sparse import csr_array

        ends = np.unique(self.edges, axis=0)
        ones = np.ones(len(ends), dtype=np.int64)
        return csr_array((ones, (ends[:, 0], ends[:, 1])), shape=(self.size, self.size))

    def network(self, *, capacity: Any = None, traffic: Any = None) -> Network:
        """Return this network, with other capacities or traffic where they are given."""
        return Network(
            self.edges,
            n=self.size,
            capacity=self.capacities if capacity is None else capacity,
            traffic=self.traffics if traffic is None else traffic,
            topology=self.topology,
            names=self._names,
            label=self.label,
        )

    def to_networkx(self) -> Any:
        """Return a ``networkx.MultiDiGraph`` of the names, with ``capacity`` and ``traffic``."""
        graph = extra("networkx").MultiDiGraph()
        names = self.names
        graph.add_nodes_from(names)
        values = zip(self.edges.tolist(), self.capacity, self.traffic, strict=True)
        for (u, v), limit, used in values:
            limits = {} if limit is None else {"capacity": limit}
            graph.add_edge(names[u], names[v], traffic=used, **limits)
        return graph

    @property
    def spec(self) -> str:
        """Its label, else a name for tables; only that of a file can be read back."""
        return f"network:{self.size}" if self.label is None else self.label

    @cached_property
    def _key(self) -> tuple[object, ...]:
        columns = (self.capacities.key, self.traffics.key)
        return ("network", self.size, self.edges.tobytes(), *columns)

    def _labels(self) -> list[str]:
        return [str(name) for name in self.names]

    def _places(self, links: NDArray[np.int64]) -> NDArray[np.float64]:
        return super()._places(links) if self.topology is None else self.topology._places(links)

    def __repr__(self) -> str:
        if self.topology is not None:
            return f"{self.topology!r}.network()"
        if self.label is not None:
            return f"<Network {self.label}: {self.size} nodes, {len(self.edges)} edges>"
        if len(self.edges) > 8:
            return f"Network(<{len(self.edges)} edges>, n={self.size})"
        limits = "" if set(self.capacity) <= {None} else f", capacity={list(self.capacity)}"
        used = "" if set(self.traffic) <= {0} else f", traffic={list(self.traffic)}"
        named = f", names={list(self._names)}" if self._names and len(self._names) <= 9 else ""
        pairs = [tuple(pair) for pair in self.edges.tolist()]
        return f"Network({pairs}, n={self.size}{limits}{used}{named})"


def _checked_names(names: Iterable[Hashable], size: int) -> tuple[Hashable, ...]:
    checked = tuple(names)
    if len(checked) != size:
        raise ValueError(f"names must be one for each of {size} nodes, got {len(checked)}")
    seen: set[Hashable] = set()
    for name in checked:
        if name in seen:
            raise ValueError(f"names must differ, got {name!r} twice")
        seen.add(name)
    return checked


def _edge_array(edges: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(edges)
    if array.size == 0:
        array = np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(
            f"edges must be integers of shape (E, 2), got {array.dtype} of shape {array.shape}"
        )
    if array.size and int(array.max()) >= MAX_NODES:
        raise ValueError(f"edges must join nodes below 2**62, got {array.max()}")
    ends = np.array(array, dtype=np.int64, order="C")
    ends.flags.writeable = False
    return ends


def _per_link(name: str, values: Any, count: int, *, unlimited: bool) -> Quantities:
    if isinstance(values, Quantities):
        return values
    return read_quantities(name, values, count, "links", unlimited=unlimited)
