"""Breadth-first trees of a hypercube with faulty links, and exact quotas along them.

The way out where no plan of fault-tolerant DEM exists. Each connected component has one tree,
rooted at its lowest node. Every subtree sends its surplus above its quotas to its root's parent, or
gets from there what it lacks. Legend: ``B`` networks, ``N = 2**n`` nodes, ``C`` components.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.repair import send_along, share_of
from ..shared.views import flat


@kernel
def spanning(n, broken):
    """Grow trees from the lowest nodes, neighbours by ascending bit.

    ``broken`` (N,) int64 holds the mask of faulty bits of each node. Return int64 (order, parent,
    component, starts, height): nodes (N,) in breadth-first order, component after component; the
    parent of each node (N,), of a root the root itself; its component (N,); where components start
    in ``order``, (C + 1,); the largest depth of any tree.
    """
    N = broken.size
    order = np.empty(N, np.int64)
    parent = np.full(N, -1)
    component = np.empty(N, np.int64)
    depth = np.zeros(N, np.int64)
    starts = np.empty(N + 1, np.int64)
    components = done = height = 0
    for root in range(N):
        if parent[root] >= 0:
            continue
        starts[components] = done
        parent[root] = root
        component[root] = components
        order[done] = root
        end = done + 1
        while done < end:
            node = order[done]
            done += 1
            height = max(height, depth[node])
            for bit in range(n):
                other = node ^ (1 << bit)
                if parent[other] < 0 and not broken[node] >> bit & 1:
                    parent[other] = node
                    component[other] = components
                    depth[other] = depth[node] + 1
                    order[end] = other
                    end += 1
        components += 1
    starts[components] = N
    return order, parent, component, starts[: components + 1].copy(), height


@kernel
def give_quotas(rows, resident_min, flows, tree, ranks, moved):
    """Give every node its exact quota along the trees.

    Parameters
    ----------
    rows, resident_min : (B, N) int64 or float64
        Loads, and the least load of each node so far; both change in place.
    flows : (B, n, N) or None
        What goes over each link from its lower end is added; row 0 is the highest bit.
    tree : (order, parent, component, starts)
        As ``spanning`` returns them.
    ranks : (B, N) int64
        The rank of each node's load in its component; the lowest ranks get the extra units.
    moved : (B,), of zeros
        Receives the units that move; of int64, -1 where they do not fit.
    """
    order, parent, component, starts = tree
    B, N = rows.shape
    quota, extra = np.empty(N, rows.dtype), np.empty(N, np.int64)
    surplus = np.empty(N, rows.dtype)
    for b in range(B):
        for c in range(starts.size - 1):
            total = rows.dtype.type(0)
            for i in range(starts[c], starts[c + 1]):
                total += rows[b, order[i]]
            quota[c], extra[c] = share_of(total, starts[c + 1] - starts[c])
        for node in range(N):
            c = component[node]
            load = quota[c]
            if ranks[b, node] < extra[c]:
                load += 1
            surplus[node] = rows[b, node] - load
            rows[b, node] = load
            resident_min[b, node] = min(resident_min[b, node], load)
        links = flat(flows, b)
        units = moved[b]
        # Children before parents; a link's flow is at ``start`` + its lower end.
        for i in range(N - 1, -1, -1):
            node = order[i]
            above = parent[node]
            if above != node:
                start, bit = 0 if flows is None else flows[0].size - N, 1
                while node ^ above != bit:
                    start, bit = start - N, bit << 1
                units = send_along(links, units, start, node, above, surplus[node])
                surplus[above] += surplus[node]
        moved[b] = units
