"""Breadth-first trees of a hypercube with faulty links, one a connected component."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def spanning(n, broken):
    """Grow trees from the lowest nodes, neighbours by ascending bit.

    ``broken`` (N,) int64 holds the mask of faulty bits of each node. Return (order, parent,
    component, starts, height): nodes in breadth-first order, component after component; the
    parent of each node (a root's own); its component; where components start in ``order``,
    (C + 1,); the largest depth of any tree.
    """
    N = broken.size
    order = np.empty(N, dtype=np.int64)
    parent = np.full(N, -1)
    component = np.empty(N, dtype=np.int64)
    depth = np.zeros(N, dtype=np.int64)
    starts = np.empty(N + 1, dtype=np.int64)
    count = 0
    done = 0
    height = 0
    for root in range(N):
        if parent[root] >= 0:
            continue
        starts[count] = done
        parent[root] = root
        component[root] = count
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
                    component[other] = count
                    depth[other] = depth[node] + 1
                    order[end] = other
                    end += 1
        count += 1
    starts[count] = N
    return order, parent, component, starts[: count + 1].copy(), height
