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
    from .binary import solve_binary
    from .counters import count_tests
    from .errors import DeadlockError, FaultError, MissingExtraError
    from .families import random_binary
    from .network import Network
    from .parse import parse_topology
    from .topology import Chain, Grid, Hypercube, Mesh, Ring, Topology, Torus

_HOME = {
    "binary": ("solve_binary",),
    "families": ("random_binary",),
    "counters": ("count_tests",),
    "errors": ("DeadlockError", "FaultError", "MissingExtraError"),
    "network": ("Network",),
    "parse": ("parse_topology",),
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
    "Topology",
    "Torus",
    "__version__",
    "count_tests",
    "parse_topology",
    "random_binary",
    "solve_binary",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'fastlb' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
