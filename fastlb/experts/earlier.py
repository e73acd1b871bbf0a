"""The placement in use, as the caller passes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_array, refused_dtype
from .placement import Placement
from .problem import Cluster
from .transfers import by_group, holdings

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_previous(previous: Any, batch: tuple[int, ...], cluster: Cluster) -> NDArray[np.int64]:
    """Return the expert in each slot (L, R) of a placement in use, as a new array.

    Raises
    ------
    TypeError, ValueError
        If it does not place all experts of as many layers in as many slots, or has groups on
        several nodes.
    """
    array = previous.phy2log if isinstance(previous, Placement) else as_array("previous", previous)
    if array.dtype.kind not in "iu":
        got = refused_dtype("previous", array.dtype)
        raise TypeError(f"previous must be a Placement or integers, its phy2log, got {got}")
    shape = (*batch, cluster.replicas)
    if array.shape != shape:
        raise ValueError(
            f"previous must have an expert for each slot, shape {shape}, got {array.shape}"
        )
    if array.size and not (array.min() >= 0 and array.max() < cluster.experts):
        raise ValueError(
            f"previous must hold experts 0..{cluster.experts - 1}, "
            f"got {array.min()} to {array.max()}"
        )
    rows = np.array(array, dtype=np.int64, order="C").reshape(-1, cluster.replicas)
    _check_copies(rows, cluster)
    return rows


def _check_copies(rows: NDArray[np.int64], cluster: Cluster) -> None:
    """Raise ``ValueError`` unless every expert has a copy, all on the node of its group."""
    on_nodes = holdings(rows, cluster.nodes, cluster.experts)
    missing = np.argwhere(~on_nodes.any(axis=1))
    if missing.size:
        layer, expert = missing[0].tolist()
        raise ValueError(f"previous must hold every expert, got none of {expert} in layer {layer}")
    groups = by_group(on_nodes, cluster.groups)
    apart = np.argwhere(groups.sum(axis=1) > 1)
    if apart.size:
        layer, group = apart[0].tolist()
        raise ValueError(
            f"previous must have each group on one node, got group {group} of layer {layer} on "
            "several: place it without groups, or from the beginning"
        )
