"""A minimum cut of a whole graph, without flows (Stoer and Wagner, 1997).

A phase adds node after node, always the one that is bound most tightly to those added, and at last
merges the last two: what binds the last one is a cut between them. The least of these cuts is a
minimum cut. Nodes bound alike come in the order in which they came to be so, as in a heap of
(tightness, time); links of merged nodes come after the others. ``N`` nodes, ``E`` links; weights
are int64 or float64.

Each link has two ends: end ``2 e`` in the list of node ``tail[e]``, leading to ``head[e]``, and end
``2 e + 1`` the other way. The lists are linked both ways, as merging moves ends between them.
"""

from typing import NamedTuple

import numpy as np

from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter

NONE = -1
# The places of nodes that are not in the heap: not seen yet in this phase, or added.
UNSEEN, ADDED = -1, -2


class Ends(NamedTuple):
    """The ends of links, in the lists of their nodes."""

    leads_to: np.ndarray  # (2 E,) int64
    after: np.ndarray  # (2 E,) int64: the next end in the list, or NONE
    before: np.ndarray  # (2 E,) int64
    first: np.ndarray  # (N,) int64: of every node's list
    last: np.ndarray  # (N,) int64


class Heap(NamedTuple):
    """The nodes seen and not added yet: the tightest first, among such the earliest."""

    nodes: np.ndarray  # (N,) int64
    place: np.ndarray  # (N,) int64: where a node stands in ``nodes``, UNSEEN or ADDED
    tightness: np.ndarray  # (N,)
    time: np.ndarray  # (N,) int64: when a node came to its tightness


def cuts_of_phases(n, tail, head, weight):
    """Return ``cuts`` (N - 1,) and ``merged`` (N - 1, 2) int64: node, and that merged into it.

    ``tail``, ``head``, ``weight`` (E,) are the links of a connected graph without loops or parallel
    links; ``weight`` is changed.
    """
    cuts = np.zeros(n - 1, weight.dtype)
    merged = np.zeros((n - 1, 2), np.int64)
    ends = Ends(np.stack([head, tail], axis=1).reshape(-1), *_lists(n, tail, head))
    heap = Heap(*np.zeros((2, n), np.int64), np.zeros(n, weight.dtype), np.zeros(n, np.int64))
    _fill(ends, weight, heap, np.zeros(n, np.bool_), np.full(n, NONE), cuts, merged)
    return cuts, merged


def _lists(n, tail, head):
    """Return ``after``, ``before`` (2 E,), ``first``, ``last`` (N,): ends in the order of links."""
    nodes = np.stack([tail, head], axis=1).reshape(-1)
    order = np.argsort(nodes, kind="stable")
    joined = nodes[order[1:]] == nodes[order[:-1]]
    after, before = np.full((2, nodes.size), NONE)
    after[order[:-1][joined]] = order[1:][joined]
    before[order[1:][joined]] = order[:-1][joined]
    first, last = np.full((2, n), NONE)
    first[nodes[before == NONE]] = np.flatnonzero(before == NONE)
    last[nodes[after == NONE]] = np.flatnonzero(after == NONE)
    return after, before, first, last


@long_kernel
def _fill(ends, weight, heap, removed, end_to, cuts, merged):
    """Set ``cuts`` and ``merged``.

    ``removed`` (N,): nodes merged into others. ``end_to`` (N,): in a merger, the end in the first
    node's list that leads to a node, or NONE.
    """
    n = removed.size
    meter = new_meter()
    start = 0
    for i in range(n - 1):
        while removed[start]:
            start += 1
        for u in range(n):
            heap.place[u] = UNSEEN
            heap.tightness[u] = 0
        if interrupted(meter, n):
            break
        size = 0
        time = 0
        previous = start
        u = start
        for _ in range(n - 1 - i):
            heap.place[u] = ADDED
            e = ends.first[u]
            work = 0
            while e != NONE:
                v = ends.leads_to[e]
                if heap.place[v] != ADDED:
                    tightness = heap.tightness[v] + weight[e >> 1]
                    unseen = heap.place[v] == UNSEEN
                    if unseen:
                        heap.place[v] = size
                        heap.nodes[size] = v
                        size += 1
                    if unseen or tightness > heap.tightness[v]:
                        heap.tightness[v] = tightness
                        heap.time[v] = time
                        _move_up(heap, v)
                    time += 1
                work += 4
                e = ends.after[e]
            if interrupted(meter, work):
                break
            previous = u
            u = heap.nodes[0]
            size -= 1
            _move_down(heap, heap.nodes[size], size)
        cuts[i] = heap.tightness[u]
        merged[i, 0] = previous
        merged[i, 1] = u
        removed[u] = True
        _merge(ends, weight, previous, u, end_to)


@inlined
def _append(ends, u, e):
    """Put an end at the end of a node's list."""
    ends.before[e] = ends.last[u]
    ends.after[e] = NONE
    if ends.last[u] == NONE:
        ends.first[u] = e
    else:
        ends.after[ends.last[u]] = e
    ends.last[u] = e


@inlined
def _take_out(ends, u, e):
    """Take an end out of a node's list."""
    if ends.before[e] == NONE:
        ends.first[u] = ends.after[e]
    else:
        ends.after[ends.before[e]] = ends.after[e]
    if ends.after[e] == NONE:
        ends.last[u] = ends.before[e]
    else:
        ends.before[ends.after[e]] = ends.before[e]


@inlined
def _merge(ends, weight, u, v, end_to):
    """Have node ``u`` take over the links of node ``v``, adding up those that it has as well."""
    e = ends.first[u]
    while e != NONE:
        end_to[ends.leads_to[e]] = e
        e = ends.after[e]
    e = ends.first[v]
    while e != NONE:
        following = ends.after[e]
        back = e ^ 1
        w = ends.leads_to[e]
        _take_out(ends, w, back)
        if end_to[w] != NONE:
            weight[end_to[w] >> 1] += weight[e >> 1]
        elif w != u:
            ends.leads_to[back] = u
            _append(ends, u, e)
            _append(ends, w, back)
        e = following
    e = ends.first[u]
    while e != NONE:
        end_to[ends.leads_to[e]] = NONE
        e = ends.after[e]
    end_to[v] = NONE


@inlined
def _comes_first(heap, u, v):
    """Tell whether node ``u`` is to be added before node ``v``."""
    tighter = heap.tightness[u] > heap.tightness[v]
    return tighter or (heap.tightness[u] == heap.tightness[v] and heap.time[u] < heap.time[v])


@inlined
def _move_up(heap, u):
    """Bring a node that became tighter to its place."""
    at = heap.place[u]
    while at > 0:
        parent = heap.nodes[(at - 1) >> 1]
        if not _comes_first(heap, u, parent):
            break
        heap.nodes[at] = parent
        heap.place[parent] = at
        at = (at - 1) >> 1
    heap.nodes[at] = u
    heap.place[u] = at


@inlined
def _move_down(heap, u, size):
    """Put a node in place of the first one, among ``size`` nodes, and bring it to its place."""
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _comes_first(heap, heap.nodes[child + 1], heap.nodes[child]):
            child += 1
        if not _comes_first(heap, heap.nodes[child], u):
            break
        heap.nodes[at] = heap.nodes[child]
        heap.place[heap.nodes[at]] = at
        at = child
    heap.nodes[at] = u
    heap.place[u] = at
