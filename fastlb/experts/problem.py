"""What is to be placed where: the experts' loads, and the slots of GPUs, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_array, refused_dtype, whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOAT32_MAX = float(np.finfo(np.float32).max)
# A copy is a word of 32 bits for its expert, and 32 for its number.
MOST_SLOTS = 2**31


@dataclass(frozen=True)
class Cluster:
    """Slots for copies of experts: as many on each GPU, as many GPUs on each node.

    Attributes
    ----------
    experts, replicas, gpus, nodes, groups : int
        Experts of a layer; copies of them, one a slot; GPUs and nodes in all; groups of experts
        that stay on one node each.
    """

    experts: int
    replicas: int
    gpus: int
    nodes: int
    groups: int

    def __str__(self) -> str:
        gpus = f"{self.gpus:,} GPU{'s' if self.gpus > 1 else ''}"
        nodes = f" of {self.nodes:,} nodes" if self.nodes > 1 else ""
        return f"{self.experts:,} experts, {self.replicas:,} replicas on {gpus}{nodes}"


def read_cluster(experts: int, replicas: Any, gpus: Any, nodes: Any, groups: Any) -> Cluster:
    """Check the numbers of slots, GPUs, nodes and groups of experts.

    Raises
    ------
    TypeError, ValueError
        If one is no whole number, or one does not divide another that it must.
    """
    replicas = whole_number("replicas", replicas, 1, below=MOST_SLOTS)
    gpus = whole_number("gpus", gpus, 1)
    nodes = whole_number("nodes", nodes, 1)
    groups = whole_number("groups", groups, 1)
    if replicas < experts:
        raise ValueError(
            f"replicas must be {experts} or more, a copy of every expert, got {replicas}"
        )
    _divides("replicas", replicas, "gpus", gpus, "every GPU has as many slots")
    _divides("gpus", gpus, "nodes", nodes, "every node has as many GPUs")
    _divides("experts", experts, "groups", groups, "every group has as many experts")
    _divides(
        "groups", groups, "nodes", nodes,
        "every node gets as many groups; nodes=1, groups=1 places over all GPUs",
    )  # fmt: skip
    return Cluster(experts, replicas, gpus, nodes, groups)


def _divides(name: str, number: int, by_name: str, by: int, why: str) -> None:
    if number % by:
        raise ValueError(f"{name} must be a multiple of {by_name}, {why}: got {number} and {by}")


def read_weights(weights: Any) -> NDArray[np.float32]:
    """Return the loads of experts (*batch, E) as a new float32 array in C order, without -0.0.

    Raises
    ------
    TypeError
        If they are no array of real numbers in the memory of the CPU.
    ValueError
        If there are none, or one is negative or not finite.
    OverflowError
        If one exceeds the largest float32, or a layer's total does.
    """
    array = _as_array(weights)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(f"weights must have a number for each expert, got shape {array.shape}")
    with np.errstate(over="ignore"):
        loads = np.array(array, dtype=np.float32, order="C")
    least, most = loads.min(initial=0), loads.max(initial=0)
    if not (least >= 0 and most <= FLOAT32_MAX / loads.shape[-1]):
        _refuse_values(array, loads)
    loads += np.float32(0)
    return loads


def _refuse_values(array: NDArray[Any], loads: NDArray[np.float32]) -> None:
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        where = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
        value = array[where].item()
        raise ValueError(f"weights must be finite and not negative, got {value!r} at {where}")
    with np.errstate(over="ignore"):
        total = loads.sum(axis=-1, dtype=np.float64).max()
    if not total <= FLOAT32_MAX:
        raise OverflowError(
            f"weights must have totals up to {FLOAT32_MAX:.4g}, the largest float32, "
            f"got {total:.4g} in a layer: divide all by one number"
        )


def _as_array(weights: Any) -> NDArray[Any]:
    if isinstance(weights, np.ma.MaskedArray):
        raise TypeError("weights must not be a masked array: every expert has a load")
    try:
        array = as_array("weights", weights)
    except ValueError:
        raise ValueError("weights must be an array, got rows of unequal length") from None
    # float16 is exact in float32, and what some engines count in.
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        got = refused_dtype("weights", array.dtype)
        raise TypeError(f"weights must be integers or floats of up to 64 bits, got {got}")
    return array
