"""Maximum flows by shortest augmenting paths (Edmonds and Karp, 1972), searched from both ends.

One search goes along arcs that take more from the source, another against such arcs from the sink.
The one with fewer nodes at its border goes one layer on, until they meet. In graphs whose nodes
have many neighbors both stay small, so that a flow between two nodes need not see the whole graph.

``graph`` is a ``ResidualGraph`` of ``N`` nodes and ``A`` arcs, as in ``residual.py``, and
``ahead[a]`` (A,), of any integers or floats, what arc ``a`` still takes.
"""

from typing import NamedTuple

import numpy as np

from .compiling import inlined
from .interrupts import interrupted

ONE = np.uint32(1)


class Searches(NamedTuple):
    """Room for the searches of one kernel, one after the other; nothing is cleared in between."""

    count: np.ndarray  # (1,) int64: twice the searches so far
    mark: np.ndarray  # (N,) int64: ``count`` of the search that reached a node last; + 1: backward
    arc: np.ndarray  # (N,) uint32: the arc by which it did
    queue: np.ndarray  # (N,) uint32: nodes from the source on, and at the end those from the sink
    path: np.ndarray  # (N,) uint32: arcs


def searches(n):
    """Return room for searches among ``n`` nodes; made by NumPy, as compiling that takes longer."""
    numbers = [np.zeros(n, np.uint32) for _ in range(3)]
    return Searches(np.zeros(1, np.int64), np.zeros(n, np.int64), *numbers)


@inlined
def send(graph, ahead, source, sink, limit, room, meter):
    """Send up to ``limit`` units from ``source`` to another node, ``sink``; return their number."""
    rev, path = graph.rev, room.path
    value = limit - limit
    while value < limit:
        length = _shortest_path(graph, ahead, source, sink, room, meter)
        if length == 0:
            break
        step = limit - value
        for i in range(length):
            step = min(step, ahead[path[i]])
        for i in range(length):
            ahead[path[i]] -= step
            ahead[rev[path[i]]] += step
        value += step
    return value


@inlined
def _shortest_path(graph, ahead, source, sink, room, meter):
    """Write the arcs of a shortest path, in any order; return how many, 0 if there is no path."""
    start, head, rev, _ = graph
    count, mark, arc, queue, path = room
    count[0] += 2
    forward = count[0]
    backward = forward + 1
    mark[source] = forward
    mark[sink] = backward
    front, front_end = 0, 1
    back, back_end = queue.size - 1, queue.size - 2
    queue[front] = source
    queue[back] = sink
    meeting = np.uint32(0)
    met = False
    work = 0
    while not met and front != front_end and back != back_end and not interrupted(meter, work):
        work = 0
        onward = front_end - front <= back - back_end
        own, other = (forward, backward) if onward else (backward, forward)
        step = 1 if onward else -1
        at, layer_end = (front, front_end) if onward else (back, back_end)
        free = layer_end
        while at != layer_end and not met:
            u = queue[at]
            at += step
            a = start[u]
            end = start[u + ONE]
            work += np.int64(end - a)
            while a < end:
                along = a if onward else rev[a]
                if ahead[along] > 0:
                    v = head[a]
                    if mark[v] == other:
                        met = True
                        meeting = along
                        break
                    if mark[v] != own:
                        mark[v] = own
                        arc[v] = along
                        queue[free] = v
                        free += step
                a += ONE
        if onward:
            front, front_end = layer_end, free
        else:
            back, back_end = layer_end, free
    length = 0
    if met:
        path[0] = meeting
        length = 1
        u = head[rev[meeting]]
        while u != source:
            path[length] = arc[u]
            u = head[rev[path[length]]]
            length += 1
        u = head[meeting]
        while u != sink:
            path[length] = arc[u]
            u = head[path[length]]
            length += 1
    return length


@inlined
def mark_sink_side(graph, ahead, sink, side, queue, meter):
    """Mark in ``side`` (N,) bool the nodes from which the sink can still be reached.

    After a maximum flow this is the smallest sink side of any minimum cut, whichever maximum flow
    it was.
    """
    start, head, rev, _ = graph
    for u in range(side.size):
        side[u] = False
    side[sink] = True
    queue[0] = sink
    done, reached = 0, 1
    work = 0
    while done < reached and not interrupted(meter, work):
        u = queue[done]
        done += 1
        a = start[u]
        end = start[u + ONE]
        work = np.int64(end - a)
        while a < end:
            v = head[a]
            if not side[v] and ahead[rev[a]] > 0:
                side[v] = True
                queue[reached] = v
                reached += 1
            a += ONE
