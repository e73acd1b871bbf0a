"""Nodes at which a flow begins or ends, by name or number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import written
from ..quantities import Quantities, read_quantities
from ..topologies.network import Network


def read_nodes(name: str, nodes: Any, network: Network) -> NDArray[np.int64]:
    """Return the numbers of one node or of several, each once.

    Raises
    ------
    TypeError, ValueError
        If one is no node of the network, or there is none.
    """
    several = not _is_node(nodes, network) and not isinstance(nodes, str | bytes)
    listed = list(nodes) if several and isinstance(nodes, Iterable) else [nodes]
    if not listed:
        raise ValueError(f"{name} must be a node or several, got none")
    numbers = dict.fromkeys(node_number(name, node, network) for node in listed)
    return np.array(list(numbers), dtype=np.int64)


def node_number(name: str, node: Any, network: Network) -> int:
    """Return the number of a node by its name, or by its number where that is no name."""
    if _is_node(node, network):
        return network.node(node)
    if isinstance(node, int | np.integer) and not isinstance(node, bool):
        if 0 <= node < network.size:
            return int(node)
        raise ValueError(f"{name} must be nodes 0..{network.size - 1}, got {node}")
    raise ValueError(f"{name} must be names or numbers of nodes, got {written(node)}")


def read_demand(demand: Any, network: Network) -> Quantities:
    """Return the demand of every node, of values or a dict by node, in which others have none."""
    if isinstance(demand, Mapping):
        values: list[Any] = [0] * network.size
        for node, amount in demand.items():
            values[node_number("demand", node, network)] = amount
        demand = values
    return read_quantities("demand", demand, network.size, "nodes", signed=True)


def _is_node(node: Any, network: Network) -> bool:
    if not network.is_named:
        number = isinstance(node, int | np.integer) and not isinstance(node, bool)
        return number and 0 <= node < network.size
    try:
        network.node(node)
    except (TypeError, ValueError):
        return False
    return True
