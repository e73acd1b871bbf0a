"""Directions for the links of a multigraph so that as many enter each node as leave it, or one off.

The links are walked along, each once, from nodes of odd degree first: such a walk ends at another
one, and all later walks where they began (Euler). A link has the direction in which it was walked.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter


@long_kernel
def orient(ends, n):
    """Return (E,) whether links ``ends`` (E, 2) of n nodes keep their direction; none is a loop."""
    E = ends.shape[0]
    start = np.zeros(n + 1, np.int64)
    for e in range(E):
        start[ends[e, 0] + 1] += 1
        start[ends[e, 1] + 1] += 1
    for u in range(n):
        start[u + 1] += start[u]
    incident = np.empty(2 * E, np.int64)
    current = start[:n].copy()
    for e in range(E):
        for side in range(2):
            u = ends[e, side]
            incident[current[u]] = e
            current[u] += 1
    remaining = np.empty(n, np.int64)
    for u in range(n):
        current[u] = start[u]
        remaining[u] = start[u + 1] - start[u]
    walked = np.zeros(E, np.bool_)
    forward = np.empty(E, np.bool_)
    meter = new_meter()
    for odd in range(1, -1, -1):
        for root in range(n):
            if interrupted(meter, 1):
                break
            while remaining[root] > 0 and remaining[root] % 2 == odd:
                u = root
                while remaining[u] > 0:
                    while walked[incident[current[u]]]:
                        current[u] += 1
                    e = incident[current[u]]
                    walked[e] = True
                    forward[e] = ends[e, 0] == u
                    remaining[u] -= 1
                    u = ends[e, 0] + ends[e, 1] - u
                    remaining[u] -= 1
                interrupted(meter, 8 * (start[root + 1] - start[root]))
    return forward
