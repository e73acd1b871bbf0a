"""Which arguments of NetworkX's functions are served here.

NetworkX hands arguments on as they were written, by position or by name, so they are bound by the
function's signature first.
"""

from __future__ import annotations

import inspect
import os
from functools import cache
from math import isnan
from typing import Any

import networkx as nx
from networkx.algorithms import connectivity, flow

from .information import HOME

# Set to 1, NetworkX's own flow functions count as "any maximum flow" and are served here: it has
# NetworkX's tests of them run through the kernels.
ANY_FLOW = "FASTLB_NETWORKX_ANY_FLOW"
_FLOW_FUNCTIONS = (
    flow.boykov_kolmogorov,
    flow.dinitz,
    flow.edmonds_karp,
    flow.preflow_push,
    flow.shortest_augmenting_path,
)
# Where ``cutoff`` is a parameter, and does not go to a flow function.
_WITH_CUTOFF = ("edge_connectivity", "local_edge_connectivity", "local_node_connectivity")
# Whether this NetworkX, from 3.7 on, calls a capacity that is a function.
CALLS_CAPACITY = hasattr(flow.utils, "_capacity_function")


def reason_to_decline(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Return why a call is left to NetworkX, or None."""
    bound = _bind(name, args, kwargs)
    any_flow = os.environ.get(ANY_FLOW) == "1"
    flow_func, cutoff = bound.get("flow_func"), bound.get("cutoff")
    if callable(flow_func) and not (any_flow and flow_func in _FLOW_FUNCTIONS):
        return "flow_func names an algorithm, and may be observed"
    # Heaps differ in the order of nodes that are bound alike.
    heaps = (nx.utils.BinaryHeap, nx.utils.PairingHeap) if any_flow else (nx.utils.BinaryHeap,)
    if bound.get("heap") not in (None, *heaps):
        return "heap names a heap with an order of its own"
    if any(bound.get(argument) is not None for argument in ("auxiliary", "residual")):
        return "auxiliary and residual belong to NetworkX's own algorithms"
    if cutoff is not None and (name not in _WITH_CUTOFF or flow_func is flow.preflow_push):
        return "cutoff belongs to NetworkX's own algorithms"
    if cutoff is not None and (not isinstance(cutoff, int | float) or isnan(cutoff)):
        return "cutoff is neither an int nor a float"
    if callable(bound.get("capacity")) and not (CALLS_CAPACITY and HOME[name] == "maximum_flows"):
        return "capacity is a function"
    return None


def _bind(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return arguments by name; what the signature does not have stays as it is written."""
    return {**dict(zip(_parameters(name), args, strict=False)), **kwargs}


@cache
def _parameters(name: str) -> tuple[str, ...]:
    """Return the names of a function's parameters that may be passed by position."""
    signature = inspect.signature(getattr(nx, name, None) or getattr(connectivity, name))
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in signature.parameters.values() if p.kind in positional)
