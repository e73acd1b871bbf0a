"""Whether a graph hangs together."""

import numpy as np

from ..shared.compiling import kernel


@kernel
def connected(n, tail, head):
    """Tell whether links ``tail`` - ``head`` (E,) join all of ``n`` nodes, whatever way they go."""
    # A node above it in the tree of its component; the node itself at the top.
    above = np.arange(n)
    parts = n
    for i in range(tail.size):
        u = tail[i]
        while above[u] != u:
            above[u] = above[above[u]]
            u = above[u]
        v = head[i]
        while above[v] != v:
            above[v] = above[above[v]]
            v = above[v]
        if u != v:
            above[max(u, v)] = min(u, v)
            parts -= 1
    return parts == 1
