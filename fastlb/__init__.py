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
    from . import studies
    from .dimension_exchange import dem
    from .direct_exchange import dde
    from .distributions import Distribution, Uniform, parse_distribution
    from .doubling import Doubling, recursive_doubling
    from .errata import Erratum, hexa_cell_errata
    from .errors import DeadlockError, FaultError, MissingExtraError
    from .generalized_exchange import gde, optimal_lambda
    from .hexa_cell_costs import hexa_cell_formulas
    from .hexa_cell_exchange import hexa_cell
    from .hexa_cell_topology import HyperHexaCell
    from .lines import DdeLine, dde_line, exchange_rounds
    from .network import Network
    from .parse import parse_topology
    from .registry import balance, methods, register_method
    from .result import Balance
    from .results import Results, Statistic
    from .runner import run
    from .sampling import sample_loads
    from .study import Part, Study
    from .topology import Chain, Grid, Hypercube, Mesh, Ring, Topology, Torus

# No module is called as a public function: once imported, it would stand in the function's place.
_HOME = {
    "dimension_exchange": ("dem",),
    "direct_exchange": ("dde",),
    "distributions": ("Distribution", "Uniform", "parse_distribution"),
    "doubling": ("Doubling", "recursive_doubling"),
    "errata": ("Erratum", "hexa_cell_errata"),
    "errors": ("DeadlockError", "FaultError", "MissingExtraError"),
    "generalized_exchange": ("gde", "optimal_lambda"),
    "hexa_cell_costs": ("hexa_cell_formulas",),
    "hexa_cell_exchange": ("hexa_cell",),
    "hexa_cell_topology": ("HyperHexaCell",),
    "lines": ("DdeLine", "dde_line", "exchange_rounds"),
    "network": ("Network",),
    "parse": ("parse_topology",),
    "registry": ("balance", "methods", "register_method"),
    "result": ("Balance",),
    "results": ("Results", "Statistic"),
    "runner": ("run",),
    "sampling": ("sample_loads",),
    "study": ("Part", "Study"),
    "topology": ("Chain", "Grid", "Hypercube", "Mesh", "Ring", "Topology", "Torus"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Balance",
    "Chain",
    "DdeLine",
    "DeadlockError",
    "Distribution",
    "Doubling",
    "Erratum",
    "FaultError",
    "Grid",
    "HyperHexaCell",
    "Hypercube",
    "Mesh",
    "MissingExtraError",
    "Network",
    "Part",
    "Results",
    "Ring",
    "Statistic",
    "Study",
    "Topology",
    "Torus",
    "Uniform",
    "__version__",
    "balance",
    "dde",
    "dde_line",
    "dem",
    "exchange_rounds",
    "gde",
    "hexa_cell",
    "hexa_cell_errata",
    "hexa_cell_formulas",
    "methods",
    "optimal_lambda",
    "parse_distribution",
    "parse_topology",
    "recursive_doubling",
    "register_method",
    "run",
    "sample_loads",
    "studies",
]


def __getattr__(name: str) -> Any:
    if name == "studies":
        return importlib.import_module(".studies", __name__)
    if name not in _MODULE:
        raise AttributeError(f"module 'fastlb' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
