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
    from .binary import solve_binary
    from .counters import count_tests
    from .dimension_exchange import dem
    from .direct_exchange import dde
    from .distributions import Distribution, Uniform, parse_distribution
    from .doubling import Doubling, recursive_doubling
    from .entities import EntityRoutes, route_entities
    from .errata import Erratum, hexa_cell_errata
    from .errors import DeadlockError, ExecutorError, FaultError, MissingExtraError
    from .excess import excess_load
    from .families import random_binary
    from .fault_plans import FaultPlan, fault_plan
    from .fault_tolerance import fault_tolerant_dem
    from .generalized_exchange import gde, optimal_lambda
    from .hexa_cell_costs import hexa_cell_formulas
    from .hexa_cell_exchange import hexa_cell
    from .hexa_cell_topology import HyperHexaCell
    from .lines import DdeLine, dde_line, exchange_rounds
    from .minimax import minimax_flow
    from .network import Network
    from .parse import parse_topology
    from .plan import MinimaxBatch, MinimaxPlan, Route
    from .registry import balance, methods, register_method
    from .resampled import Resampled
    from .result import Balance
    from .results import Results
    from .routing import RoutingScheme, dimension_order, routing_graph
    from .runner import run
    from .sampling import sample_loads
    from .scheduling import perfect_packing, scheduling_network
    from .schemecheck import check_routing
    from .simulation import search_speedup, simulate_search
    from .statistic import Difference, Statistic
    from .store import read_store
    from .study import Part, Study
    from .tabulated import Exponential, LogNormal, Normal, OneHot, Poisson, TwoValued, Zipf
    from .topology import Chain, Grid, Hypercube, Mesh, Ring, Topology, Torus
    from .warming import warmup

# No module is called as a public function: once imported, it would stand in the function's place.
_HOME = {
    "binary": ("solve_binary",),
    "counters": ("count_tests",),
    "dimension_exchange": ("dem",),
    "direct_exchange": ("dde",),
    "distributions": ("Distribution", "Uniform", "parse_distribution"),
    "doubling": ("Doubling", "recursive_doubling"),
    "entities": ("EntityRoutes", "route_entities"),
    "errata": ("Erratum", "hexa_cell_errata"),
    "errors": ("DeadlockError", "ExecutorError", "FaultError", "MissingExtraError"),
    "families": ("random_binary",),
    "fault_plans": ("FaultPlan", "fault_plan"),
    "fault_tolerance": ("fault_tolerant_dem",),
    "excess": ("excess_load",),
    "generalized_exchange": ("gde", "optimal_lambda"),
    "hexa_cell_costs": ("hexa_cell_formulas",),
    "hexa_cell_exchange": ("hexa_cell",),
    "hexa_cell_topology": ("HyperHexaCell",),
    "lines": ("DdeLine", "dde_line", "exchange_rounds"),
    "minimax": ("minimax_flow",),
    "network": ("Network",),
    "parse": ("parse_topology",),
    "plan": ("MinimaxBatch", "MinimaxPlan", "Route"),
    "registry": ("balance", "methods", "register_method"),
    "resampled": ("Resampled",),
    "result": ("Balance",),
    "results": ("Results",),
    "routing": ("RoutingScheme", "dimension_order", "routing_graph"),
    "runner": ("run",),
    "sampling": ("sample_loads",),
    "simulation": ("search_speedup", "simulate_search"),
    "scheduling": ("perfect_packing", "scheduling_network"),
    "schemecheck": ("check_routing",),
    "statistic": ("Difference", "Statistic"),
    "store": ("read_store",),
    "study": ("Part", "Study"),
    "tabulated": ("Exponential", "LogNormal", "Normal", "OneHot", "Poisson", "TwoValued", "Zipf"),
    "topology": ("Chain", "Grid", "Hypercube", "Mesh", "Ring", "Topology", "Torus"),
    "warming": ("warmup",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Balance",
    "Chain",
    "DdeLine",
    "DeadlockError",
    "Difference",
    "Distribution",
    "Doubling",
    "EntityRoutes",
    "Erratum",
    "ExecutorError",
    "Exponential",
    "FaultError",
    "FaultPlan",
    "Grid",
    "HyperHexaCell",
    "Hypercube",
    "LogNormal",
    "Mesh",
    "MinimaxBatch",
    "MinimaxPlan",
    "MissingExtraError",
    "Network",
    "Normal",
    "OneHot",
    "Part",
    "Poisson",
    "Resampled",
    "Results",
    "Ring",
    "Route",
    "RoutingScheme",
    "Statistic",
    "Study",
    "Topology",
    "Torus",
    "TwoValued",
    "Uniform",
    "Zipf",
    "__version__",
    "balance",
    "check_routing",
    "count_tests",
    "dde",
    "dde_line",
    "dem",
    "dimension_order",
    "excess_load",
    "exchange_rounds",
    "fault_plan",
    "fault_tolerant_dem",
    "gde",
    "hexa_cell",
    "hexa_cell_errata",
    "hexa_cell_formulas",
    "methods",
    "minimax_flow",
    "optimal_lambda",
    "parse_distribution",
    "parse_topology",
    "perfect_packing",
    "random_binary",
    "read_store",
    "recursive_doubling",
    "register_method",
    "route_entities",
    "routing_graph",
    "run",
    "sample_loads",
    "scheduling_network",
    "search_speedup",
    "simulate_search",
    "solve_binary",
    "studies",
    "warmup",
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
