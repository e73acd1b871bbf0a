"""What NetworkX learns of this backend when it is imported: the functions that it serves.

NetworkX adds the texts to the documentation of its functions. Nothing but Python is loaded here.
"""

from __future__ import annotations

from typing import Any

# The oldest NetworkX whose calls are served.
LEAST_NETWORKX = (3, 4)
# The modules of this package that have the functions, under NetworkX's names.
MODULES = {
    "maximum_flows": (
        "maximum_flow",
        "maximum_flow_value",
        "minimum_cut",
        "minimum_cut_value",
    ),
    "minimum_costs": (
        "capacity_scaling",
        "max_flow_min_cost",
        "min_cost_flow",
        "min_cost_flow_cost",
        "network_simplex",
    ),
    "connectivity": (
        "all_pairs_node_connectivity",
        "average_node_connectivity",
        "edge_connectivity",
        "local_edge_connectivity",
        "local_node_connectivity",
        "node_connectivity",
    ),
    "cuts": (
        "minimum_edge_cut",
        "minimum_node_cut",
        "minimum_st_edge_cut",
        "minimum_st_node_cut",
    ),
    "trees": ("gomory_hu_tree", "stoer_wagner"),
}
HOME = {name: module for module, names in MODULES.items() for name in names}

_LIMITS = "Whole numbers below 2**63 and floats; anything else NetworkX computes itself."


def information() -> dict[str, Any]:
    """Return the backend's entry for ``networkx.utils.backends.backend_info``."""
    return {
        "backend_name": "fastlb",
        "project": "fastlb",
        "package": "fastlb",
        "short_summary": "Flows, cuts and connectivity in compiled kernels, exact for integers.",
        "functions": {name: {"additional_docs": _LIMITS} for name in HOME},
    }
