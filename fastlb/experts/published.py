"""The published placement as arrays, and a bound on the largest load of a GPU."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .problem import Cluster

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Loads = NDArray[np.float64] | NDArray[np.float32]


SLOTS_OF_PART = 2**20


@dataclass(frozen=True)
class Maps:
    """Where the copies of ``L`` layers of ``E`` experts stand, in ``R`` slots.

    Attributes
    ----------
    phy2log : (L, R) int64
        The expert in each slot.
    logcnt : (L, E) int64
        How many copies an expert has.
    copies : (L, R) int64
        The copy in each slot: ``expert << 32 | number``, copies of an expert numbered from 0.
    """

    phy2log: Integers
    logcnt: Integers
    copies: Integers

    @classmethod
    def empty(cls, layers: int, cluster: Cluster) -> Maps:
        slots, experts = (layers, cluster.replicas), (layers, cluster.experts)
        return cls(*(np.empty(shape, np.int64) for shape in (slots, experts, slots)))


def pack_groups(sums: NDArray[np.float32], nodes: int, dtype: Any) -> Integers:
    """Return groups (L, K) node by node, packed longest first; loads are added in ``dtype``."""
    order = np.empty(sums.shape, np.int64)
    kernels("experts.published").pack_groups(sums.astype(dtype), sums.view(np.int32), nodes, order)
    return order


def sums_of_groups(weights: NDArray[Any], groups: int) -> NDArray[Any]:
    """Return the loads of groups (L, K), added in the weights' dtype as NumPy does."""
    layers, experts = weights.shape
    sums: NDArray[Any] = weights.reshape(layers, groups, experts // groups).sum(axis=-1)
    return sums


def experts_of_groups(order: Integers, experts: int) -> Integers:
    """Return the experts (L, E) of groups (L, K), each of as many consecutive experts."""
    layers, groups = order.shape
    size = experts // groups
    numbers: Integers = (order[..., None] * size + np.arange(size)).reshape(layers, experts)
    return numbers


def experts_by_node(weights: NDArray[np.float32], cluster: Cluster, dtype: Any) -> Integers:
    """Return the experts (L, E) node by node, as the published algorithm packs their groups."""
    if cluster.groups == 1:
        return np.broadcast_to(np.arange(cluster.experts), weights.shape)
    sums = sums_of_groups(weights, cluster.groups)
    return experts_of_groups(pack_groups(sums, cluster.nodes, dtype), cluster.experts)


def place(
    loads: Loads,
    weights: NDArray[np.float32],
    order: Integers,
    cluster: Cluster,
    maps: Maps,
    *,
    ceiling: NDArray[np.float64] | None = None,
    to_lightest: bool = False,
) -> None:
    """Write the published placement into ``maps``.

    Parameters
    ----------
    loads : (L, E)
        ``weights`` in the dtype in which loads are divided and added.
    order : (L, E)
        Experts, those of the first node first.
    ceiling : (L,), optional
        Once no copy in a node is heavier, further copies go to experts with one copy, one each.
        Default: always to the expert with the heaviest copies, as published.
    to_lightest : bool
        Whether they go to the lightest of these experts, or to the heaviest.
    """
    if ceiling is None:
        ceiling = np.full(len(loads), -1.0)
    compiled, bits = kernels("experts.published").place, weights.view(np.int32)
    # Between parts, of some 50 ms, Python hears signals such as Ctrl-C.
    layers = max(1, SLOTS_OF_PART // cluster.replicas)
    for begin in range(0, len(loads), layers):
        part = slice(begin, begin + layers)
        compiled(
            loads[part], bits[part], order[part], cluster.nodes, cluster.gpus,
            ceiling[part], to_lightest, maps.phy2log[part], maps.logcnt[part], maps.copies[part],
        )  # fmt: skip


def loads_of_gpus(loads: NDArray[np.float64], maps: Maps, gpus: int) -> NDArray[np.float64]:
    """Return the load (L, G) of each GPU."""
    shares = np.take_along_axis(loads / maps.logcnt, maps.phy2log, axis=1)
    layers, slots = shares.shape
    sums: NDArray[np.float64] = shares.reshape(layers, gpus, slots // gpus).sum(axis=-1)
    return sums


def least_peak(
    weights: NDArray[np.float32], cluster: Cluster, logcnt: Integers | None = None
) -> NDArray[np.float64]:
    """Return a load (L,) that the fullest GPU has at least, wherever the copies are.

    It is the largest of three: the mean; the heaviest copy where all slots make the copies of the
    heaviest experts as light as possible; the load of a GPU where the heaviest group is on a node
    with the lightest others. ``logcnt`` are the counts of the placement without nodes, if known.
    """
    loads = weights.astype(np.float64)
    bound: NDArray[np.float64] = loads.sum(axis=1) / cluster.gpus
    if logcnt is None or cluster.nodes > 1:
        free = replace(cluster, nodes=1, groups=1)
        maps = Maps.empty(len(loads), free)
        place(loads, weights, experts_by_node(weights, free, np.float64), free, maps)
        logcnt = maps.logcnt
    bound = np.maximum(bound, (loads / logcnt).max(axis=1))
    if cluster.nodes > 1:
        groups = sums_of_groups(loads, cluster.groups)
        groups.sort(axis=1)
        others = groups[:, : cluster.groups // cluster.nodes - 1].sum(axis=1)
        gpus = cluster.gpus // cluster.nodes
        bound = np.maximum(bound, (groups[:, -1] + others) / gpus)
    return bound
