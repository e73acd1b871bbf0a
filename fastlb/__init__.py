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
    from . import experts, studies
    from .errors import (
        DeadlockError,
        ExecutorError,
        FaultError,
        MissingExtraError,
        UnboundedError,
    )
    from .exchange.dimension_exchange import dem
    from .exchange.direct_exchange import dde
    from .exchange.doubling import Doubling, recursive_doubling
    from .exchange.fault_plans import FaultPlan, fault_plan
    from .exchange.fault_tolerance import fault_tolerant_dem
    from .exchange.gde_share import optimal_lambda
    from .exchange.generalized_exchange import gde
    from .exchange.lines import DdeLine, dde_line, exchange_rounds
    from .exchange.result import Balance
    from .exchange.weighted_quotas import quotas
    from .experts.placement import Placement
    from .experts.placing import place_experts
    from .files.namednetwork import read_network
    from .flows.entities import EntityRoutes, route_entities
    from .flows.excess import excess_load
    from .flows.leastcost import MinimumCostFlow, minimum_cost_flow
    from .flows.maximumflow import MaximumFlow, maximum_flow
    from .flows.minimax import minimax_flow
    from .flows.plan import MinimaxPlan, Route
    from .flows.planbatch import MinimaxBatch
    from .flows.routing import RoutingScheme, dimension_order, routing_graph
    from .flows.scheduling import perfect_packing, scheduling_network
    from .flows.schemecheck import check_routing
    from .hexa_cells.errata import Erratum, hexa_cell_errata
    from .hexa_cells.hexa_cell_costs import hexa_cell_formulas
    from .hexa_cells.hexa_cell_exchange import hexa_cell
    from .montecarlo.grid import Part
    from .montecarlo.results import Results
    from .montecarlo.runner import run
    from .montecarlo.statistic import Difference, Statistic
    from .montecarlo.store import read_store
    from .montecarlo.study import Study
    from .programs.binary import solve_binary
    from .programs.binary_solution import BinaryBatch, BinarySolution
    from .programs.counters import count_tests
    from .programs.families import random_binary
    from .programs.mps import read_mps
    from .programs.simulation import search_speedup, simulate_search
    from .random_loads.distributions import Distribution, Uniform
    from .random_loads.one_hot import OneHot
    from .random_loads.parse import parse_distribution
    from .random_loads.resampled import Resampled
    from .random_loads.sampling import sample_loads
    from .random_loads.tabulated import (
        Exponential,
        LogNormal,
        Normal,
        Poisson,
        TwoValued,
        Zipf,
    )
    from .registry import balance, methods, register_method
    from .rounds.result import Rounds
    from .rounds.scheduling import schedule
    from .tasks.assign import assign_tasks
    from .tasks.assignment import Assignment, Move
    from .tasks.assignments import AssignmentBatch
    from .tasks.memory import TaskMemory
    from .topologies.grids import Chain, Grid, Mesh, Ring, Torus
    from .topologies.hexa_cell_topology import HyperHexaCell
    from .topologies.hypercube import Hypercube
    from .topologies.network import Network
    from .topologies.parse import parse_topology
    from .topologies.topology import Topology
    from .warming import warmup

# No module is called as a public function: once imported, it would stand in the function's place.
_HOME = {
    "errors": (
        "DeadlockError",
        "ExecutorError",
        "FaultError",
        "MissingExtraError",
        "UnboundedError",
    ),
    "exchange.dimension_exchange": ("dem",),
    "exchange.direct_exchange": ("dde",),
    "exchange.doubling": ("Doubling", "recursive_doubling"),
    "exchange.fault_plans": ("FaultPlan", "fault_plan"),
    "exchange.fault_tolerance": ("fault_tolerant_dem",),
    "exchange.gde_share": ("optimal_lambda",),
    "exchange.generalized_exchange": ("gde",),
    "exchange.lines": ("DdeLine", "dde_line", "exchange_rounds"),
    "exchange.result": ("Balance",),
    "exchange.weighted_quotas": ("quotas",),
    "experts.placement": ("Placement",),
    "experts.placing": ("place_experts",),
    "files.namednetwork": ("read_network",),
    "flows.entities": ("EntityRoutes", "route_entities"),
    "flows.excess": ("excess_load",),
    "flows.leastcost": ("MinimumCostFlow", "minimum_cost_flow"),
    "flows.maximumflow": ("MaximumFlow", "maximum_flow"),
    "flows.minimax": ("minimax_flow",),
    "flows.plan": ("MinimaxPlan", "Route"),
    "flows.planbatch": ("MinimaxBatch",),
    "flows.routing": ("RoutingScheme", "dimension_order", "routing_graph"),
    "flows.scheduling": ("perfect_packing", "scheduling_network"),
    "flows.schemecheck": ("check_routing",),
    "hexa_cells.errata": ("Erratum", "hexa_cell_errata"),
    "hexa_cells.hexa_cell_costs": ("hexa_cell_formulas",),
    "hexa_cells.hexa_cell_exchange": ("hexa_cell",),
    "montecarlo.grid": ("Part",),
    "montecarlo.results": ("Results",),
    "montecarlo.runner": ("run",),
    "montecarlo.statistic": ("Difference", "Statistic"),
    "montecarlo.store": ("read_store",),
    "montecarlo.study": ("Study",),
    "programs.binary": ("solve_binary",),
    "programs.binary_solution": ("BinaryBatch", "BinarySolution"),
    "programs.counters": ("count_tests",),
    "programs.families": ("random_binary",),
    "programs.mps": ("read_mps",),
    "programs.simulation": ("search_speedup", "simulate_search"),
    "random_loads.distributions": ("Distribution", "Uniform"),
    "random_loads.one_hot": ("OneHot",),
    "random_loads.parse": ("parse_distribution",),
    "random_loads.resampled": ("Resampled",),
    "random_loads.sampling": ("sample_loads",),
    "random_loads.tabulated": (
        "Exponential",
        "LogNormal",
        "Normal",
        "Poisson",
        "TwoValued",
        "Zipf",
    ),
    "registry": ("balance", "methods", "register_method"),
    "tasks.assign": ("assign_tasks",),
    "tasks.assignment": ("Assignment", "Move"),
    "tasks.assignments": ("AssignmentBatch",),
    "tasks.memory": ("TaskMemory",),
    "rounds.result": ("Rounds",),
    "rounds.scheduling": ("schedule",),
    "topologies.grids": ("Chain", "Grid", "Mesh", "Ring", "Torus"),
    "topologies.hexa_cell_topology": ("HyperHexaCell",),
    "topologies.hypercube": ("Hypercube",),
    "topologies.network": ("Network",),
    "topologies.parse": ("parse_topology",),
    "topologies.topology": ("Topology",),
    "warming": ("warmup",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Assignment",
    "AssignmentBatch",
    "Balance",
    "BinaryBatch",
    "BinarySolution",
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
    "MaximumFlow",
    "Mesh",
    "MinimaxBatch",
    "MinimaxPlan",
    "MinimumCostFlow",
    "MissingExtraError",
    "Move",
    "Network",
    "Normal",
    "OneHot",
    "Part",
    "Placement",
    "Poisson",
    "Resampled",
    "Results",
    "Ring",
    "Rounds",
    "Route",
    "RoutingScheme",
    "Statistic",
    "Study",
    "TaskMemory",
    "Topology",
    "Torus",
    "TwoValued",
    "UnboundedError",
    "Uniform",
    "Zipf",
    "__version__",
    "assign_tasks",
    "balance",
    "check_routing",
    "count_tests",
    "dde",
    "dde_line",
    "dem",
    "dimension_order",
    "excess_load",
    "exchange_rounds",
    "experts",
    "fault_plan",
    "fault_tolerant_dem",
    "gde",
    "hexa_cell",
    "hexa_cell_errata",
    "hexa_cell_formulas",
    "maximum_flow",
    "methods",
    "minimax_flow",
    "minimum_cost_flow",
    "optimal_lambda",
    "parse_distribution",
    "parse_topology",
    "perfect_packing",
    "place_experts",
    "quotas",
    "random_binary",
    "read_mps",
    "read_network",
    "read_store",
    "recursive_doubling",
    "register_method",
    "route_entities",
    "routing_graph",
    "run",
    "sample_loads",
    "schedule",
    "scheduling_network",
    "search_speedup",
    "simulate_search",
    "solve_binary",
    "studies",
    "warmup",
]


def __getattr__(name: str) -> Any:
    if name in ("experts", "studies"):
        return importlib.import_module(f".{name}", __name__)
    if name not in _MODULE:
        raise AttributeError(f"module 'fastlb' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
