"""Experts that come to GPUs when one placement takes the place of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .problem import Cluster

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]


def holdings(phy2log: NDArray[np.int64], parts: int, experts: int) -> NDArray[np.bool_]:
    """Return whether each part of the slots, a GPU or a node, holds each expert: (L, parts, E)."""
    layers = len(phy2log)
    held = np.zeros((layers * parts, experts), dtype=bool)
    slots = phy2log.reshape(layers * parts, phy2log.shape[1] // parts)
    np.put_along_axis(held, slots, True, axis=1)
    return held.reshape(layers, parts, experts)


def by_group(held: NDArray[np.bool_], groups: int) -> NDArray[np.bool_]:
    """Return whether each part holds an expert of each group: (L, parts, groups)."""
    *layers_and_parts, experts = held.shape
    members = held.reshape(*layers_and_parts, groups, experts // groups)
    return np.asarray(members.any(axis=-1))


def arrivals(previous: Integers, phy2log: Integers, cluster: Cluster) -> NDArray[np.bool_]:
    """Return whether each GPU gets each expert that it did not hold before: (L, G, E)."""
    before, after = (
        holdings(slots, cluster.gpus, cluster.experts) for slots in (previous, phy2log)
    )
    return after & ~before


def moves_of(previous: Integers, phy2log: Integers, cluster: Cluster) -> Integers:
    """Return the transfers (T, 4): layer, expert, and the GPUs that it goes from and to.

    It goes from a GPU that held it before: on the same node if one did, and of these from one that
    sends least so far, the lower one of two.
    """
    coming = np.argwhere(arrivals(previous, phy2log, cluster))
    held = holdings(previous, cluster.gpus, cluster.experts)
    node_of = np.arange(cluster.gpus) // (cluster.gpus // cluster.nodes)
    sent = np.zeros((len(previous), cluster.gpus), dtype=np.int64)
    moves = np.empty((len(coming), 4), dtype=np.int64)
    for i, (layer, gpu, expert) in enumerate(coming.tolist()):
        sources = np.flatnonzero(held[layer, :, expert])
        near = sources[node_of[sources] == node_of[gpu]]
        sources = near if near.size else sources
        source = sources[np.argmin(sent[layer, sources])]
        sent[layer, source] += 1
        moves[i] = layer, expert, source, gpu
    return moves


def renumbered(previous: Integers, phy2log: Integers, cluster: Cluster) -> Integers:
    """Return a placement with its GPUs numbered so that most experts are where they were.

    The GPUs of a node remain on one node.
    """
    from scipy.optimize import linear_sum_assignment

    layers, nodes, per_node = len(phy2log), cluster.nodes, cluster.gpus // cluster.nodes
    before, after = (
        holdings(slots, cluster.gpus, cluster.experts).astype(np.float32)
        for slots in (previous, phy2log)
    )
    # Experts that stay if a GPU (last axis) takes the number of another one.
    staying = (before @ after.transpose(0, 2, 1)).reshape(layers, nodes, per_node, nodes, per_node)
    slots = phy2log.reshape(layers, nodes, per_node, phy2log.shape[1] // cluster.gpus)
    result = np.empty_like(slots)
    for layer in range(layers):
        most = np.zeros((nodes, nodes))
        gpus = np.empty((nodes, nodes, per_node), dtype=np.int64)
        for old in range(nodes):
            for new in range(nodes):
                pairs = staying[layer, old, :, new]
                gpus[old, new] = linear_sum_assignment(pairs, maximize=True)[1]
                most[old, new] = pairs[np.arange(per_node), gpus[old, new]].sum()
        for old, new in enumerate(linear_sum_assignment(most, maximize=True)[1].tolist()):
            result[layer, old] = slots[layer, new, gpus[old, new]]
    return result.reshape(phy2log.shape)
