"""Weights of nodes from files, in the forms that loads have."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .attributes import LOAD_NAMES, WEIGHT_NAMES
from .formats import TABLE_SUFFIXES, read_load_file
from .namednetwork import NamedNetwork, named_topology
from .nodeloads import loads_in_order
from .nodetables import read_node_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.topology import Topology


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
    where = Path(path)
    if not where.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    if where.is_dir():
        raise ValueError(f"weights must be a file, got the folder {path}")
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


def _spellings(names: Iterable[str]) -> list[str]:
    return [spelled for name in names for spelled in (name, name.title(), name.upper())]
