"""Exact, vectorised load balancing on interconnection networks.

Loads are arrays indexed by node address. Dimension exchange (``dem``), generalized
dimension exchange (``gde``) and direct dimension exchange (``dde``) balance them, one
network or any batch of networks at a time, exactly for integers.

Names are loaded on first use, so importing the package costs little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .entities import route_entities
    from .errors import DeadlockError, FaultError, MissingExtraError
    from .excess import excess_load
    from .minimax import minimax_flow
    from .network import Network
    from .parse import parse_topology
    from .routing import RoutingScheme, dimension_order, routing_graph
    from .schemecheck import check_routing
    from .topology import Chain, Grid, Hypercube, Mesh, Ring, Topology, Torus

_HOME = {
    "errors": ("DeadlockError", "FaultError", "MissingExtraError"),
    "entities": ("route_entities",),
    "excess": ("excess_load",),
    "minimax": ("minimax_flow",),
    "network": ("Network",),
    "parse": ("parse_topology",),
    "routing": ("RoutingScheme", "dimension_order", "routing_graph"),
    "schemecheck": ("check_routing",),
    "topology": ("Chain", "Grid", "Hypercube", "Mesh", "Ring", "Topology", "Torus"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Chain",
    "DeadlockError",
    "FaultError",
    "Grid",
    "Hypercube",
    "Mesh",
    "MissingExtraError",
    "Network",
    "Ring",
    "RoutingScheme",
    "Topology",
    "Torus",
    "__version__",
    "check_routing",
    "dimension_order",
    "excess_load",
    "minimax_flow",
    "parse_topology",
    "route_entities",
    "routing_graph",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'fastlb' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
