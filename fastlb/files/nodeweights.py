"""Weights of nodes from files, in the forms that loads have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .attributes import LOAD_NAMES, WEIGHT_NAMES
from .formats import TABLE_SUFFIXES, read_load_file
from .namednetwork import NamedNetwork, named_topology
from .nodeloads import loads_in_order
from .nodetables import read_node_table
from .textfiles import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..quantities import Number
    from ..topologies.topology import Topology


@dataclass(frozen=True, eq=False)
class NodeWeights:
    """Weights as a file lists them, node by node.

    Attributes
    ----------
    source : str
        The file.
    numbers : list
        A weight a node.
    names : list of str or None
        Names of the nodes; None if the file holds plain numbers.
    places : list of str
        Where each name stands in the file.
    labels : tuple of str
        All columns other than the nodes.
    """

    source: str
    numbers: list[Number]
    names: list[str] | None = None
    places: Sequence[str] = ()
    labels: tuple[str, ...] = ()

    def of(self, nodes: Sequence[str], source: str) -> list[Number]:
        """Return the weights of nodes that ``source`` names, in their order.

        Raises
        ------
        ValueError
            If a node has no weight, or there are other nodes or more of them.
        """
        if self.names is None:
            if len(self.numbers) != len(nodes):
                refuse(
                    self.source,
                    f"must have a weight for each of the {len(nodes)} nodes of {source}, "
                    f"got {len(self.numbers)}",
                )
            return self.numbers
        known = set(nodes)
        for name, place in zip(self.names, self.places, strict=True):
            if name not in known:
                refuse(place, f"{source} has no node {name!r:.40}")
        weights = dict(zip(self.names, self.numbers, strict=True))
        for node in nodes:
            if node not in weights:
                refuse(self.source, f"must have a weight for every node, {node!r:.40} has none")
        return [weights[node] for node in nodes]


def weight_columns(*, but: str | None) -> list[str]:
    """Return what columns of weights are called, other than the one that is the load."""
    return [name for name in _spellings(WEIGHT_NAMES) if name != but]


def read_weight_file(
    path: str | Path, network: NamedNetwork | Topology, *, ignore: Iterable[str] = ()
) -> NDArray[Any]:
    """Return the weight of each node of a network, in the order of its nodes.

    Parameters
    ----------
    path : str or Path
        A table by node, ``.csv``, ``.tsv``, ``.json``, ``.graphml`` or ``.gml``, with a column
        ``weight`` or ``speed``, or the only one; or plain numbers as of loads, ``.npy`` too.
    ignore : iterable of str
        Columns to leave out; those of loads are, too.

    Raises
    ------
    ValueError
        If a node is unknown, repeated or missing, or a weight is no number; the message names
        file and place.
    OSError
        If the file cannot be read.
    """
    where = _file(path)
    if where.suffix.lower() in TABLE_SUFFIXES:
        ids = network.ids if isinstance(network, NamedNetwork) else ()
        ignored = (*ignore, *_spellings(LOAD_NAMES))
        table = read_node_table(where, ignore=ignored, usual=WEIGHT_NAMES, nodes=ids)
        if table is not None:
            named = (
                network
                if isinstance(network, NamedNetwork)
                else named_topology(network, network.spec)
            )
            numbers = np.empty(len(named.names), object)
            numbers[:] = loads_in_order(table, named, what="weight")
            return numbers
    return read_load_file([where]).loads


def read_node_weights(
    path: str | Path, nodes: Sequence[str] = (), *, ignore: Iterable[str] = ()
) -> NodeWeights:
    """Return the weights of nodes that need not be those of a network.

    Parameters
    ----------
    path, ignore
        As of :func:`read_weight_file`.
    nodes : sequence of str
        Names of nodes, by which a table without a header is recognised.

    Raises
    ------
    ValueError
        If a node is repeated, or a weight is no number; the message names file and place.
    OSError
        If the file cannot be read.
    """
    where = _file(path)
    if where.suffix.lower() in TABLE_SUFFIXES:
        ignored = (*ignore, *_spellings(LOAD_NAMES))
        table = read_node_table(where, ignore=ignored, usual=WEIGHT_NAMES, nodes=set(nodes))
        if table is not None:
            names = [name for name, *_ in table.loads]
            places = [place for *_, place in table.loads]
            numbers = loads_in_order(table, None, what="weight")
            return NodeWeights(str(path), numbers, names, places, table.labels)
    array = read_load_file([where]).loads
    return NodeWeights(str(path), array.reshape(-1).tolist())


def _file(path: str | Path) -> Path:
    where = Path(path)
    if not where.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    if where.is_dir():
        raise ValueError(f"weights must be a file, got the folder {path}")
    return where


def _spellings(names: Iterable[str]) -> list[str]:
    return [spelled for name in names for spelled in (name, name.title(), name.upper())]
