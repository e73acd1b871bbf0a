"""Which arguments of NetworkX's functions are served here.

NetworkX hands arguments on as they were written, by position or by name, so they are bound by the
function's signature first.
"""

from __future__ import annotations

import inspect
import os
from functools import cache
from typing import Any

import networkx as nx
from networkx.algorithms import flow

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
_HEAPS = (nx.utils.BinaryHeap, nx.utils.PairingHeap)


def reason_to_decline(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Return why a call is left to NetworkX, or None."""
    bound = _bind(name, args, kwargs)
    flow_func = bound.get("flow_func")
    if callable(flow_func) and not _is_any_flow(flow_func, bound):
        return "flow_func names an algorithm, and may be observed"
    if bound.get("heap") not in (None, *_HEAPS):
        return "heap is not one of NetworkX"
    if any(bound.get(argument) is not None for argument in ("auxiliary", "residual", "cutoff")):
        return "auxiliary, residual and cutoff belong to NetworkX's own algorithms"
    return None


def _is_any_flow(flow_func: Any, bound: dict[str, Any]) -> bool:
    """Return whether a flow function stands for any maximum flow."""
    return os.environ.get(ANY_FLOW) == "1" and flow_func in _FLOW_FUNCTIONS


def _bind(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return arguments by name; what the signature does not have stays as it is written."""
    return {**dict(zip(_parameters(name), args, strict=False)), **kwargs}


@cache
def _parameters(name: str) -> tuple[str, ...]:
    """Return the names of a function's parameters that may be passed by position."""
    signature = inspect.signature(getattr(nx, name))
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in signature.parameters.values() if p.kind in positional)
