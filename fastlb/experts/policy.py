"""Expert placement under the name and arguments of DeepSeek's EPLB, for serving engines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import whole_number
from .placing import place_experts

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rebalance_experts(
    weight: Any, num_replicas: int, num_groups: int, num_nodes: int, num_gpus: int
) -> tuple[Any, Any, Any]:
    """Place experts as ``eplb.rebalance_experts`` does, to the last bit, with stable ties.

    Parameters
    ----------
    weight : (layers, experts)
        Load of every expert; a NumPy array, or a tensor on the CPU, which is read in place.
    num_replicas : int
        Copies of experts in a layer, a multiple of ``num_gpus``.
    num_groups : int
        Groups of experts. A multiple of ``num_nodes`` has groups stay whole on a node; otherwise
        experts are placed over all GPUs regardless of groups and nodes.
    num_nodes, num_gpus : int
        Nodes, and GPUs in all, a multiple of it.

    Returns
    -------
    phy2log : (layers, num_replicas) int64
        The expert in each slot.
    log2phy : (layers, experts, X) int64
        The slots of each expert, then -1.
    logcnt : (layers, experts) int64
        The number of copies of each expert.
        All three are NumPy arrays, or tensors of the library of ``weight``, such as PyTorch.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As :func:`fastlb.place_experts`.

    Examples
    --------
    >>> phy2log, log2phy, logcnt = rebalance_experts([[90, 132, 40, 61]], 6, 1, 1, 2)
    >>> phy2log.tolist(), log2phy.tolist(), logcnt.tolist()
    ([[1, 3, 2, 1, 0, 0]], [[[4, 5], [0, 3], [2, -1], [1, -1]]], [[2, 2, 1, 1]])
    """
    groups = whole_number("num_groups", num_groups, 1)
    nodes = whole_number("num_nodes", num_nodes, 1)
    if groups % nodes:
        groups = nodes = 1
    placement = place_experts(weight, num_replicas, num_gpus, nodes=nodes, groups=groups)
    if placement.phy2log.ndim != 2:
        raise ValueError(f"weight must have shape (layers, experts), got {placement.logcnt.shape}")
    maps = placement.phy2log, placement.log2phy, placement.logcnt
    phy2log, log2phy, logcnt = (_as_library_of(weight, array) for array in maps)
    return phy2log, log2phy, logcnt


def _as_library_of(tensor: Any, array: NDArray[Any]) -> Any:
    """Return an array as the library has it that a tensor is of: ``torch.from_dlpack(array)``.

    It shares the array's memory. NumPy arrays, lists and tensors of libraries without such a
    function get the array itself.
    """
    library = sys.modules.get(type(tensor).__module__.partition(".")[0])
    if isinstance(tensor, np.ndarray) or not hasattr(tensor, "__dlpack__"):
        return array
    convert = getattr(library, "from_dlpack", None)
    return array if convert is None else convert(array)
