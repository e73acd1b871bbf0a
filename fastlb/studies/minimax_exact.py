"""The best routing of a few indivisible entities, by two integer programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..topologies.network import Network


def best_routing(
    network: Network, entities: Sequence[tuple[int, int]], room: Sequence[int]
) -> tuple[int, int]:
    """Return the most load that can be moved whole, and the least contention at which it can.

    ``scipy.optimize.milp`` (HiGHS) decides; meant for a dozen entities on a handful of nodes.

    Examples
    --------
    >>> best_routing(Network([(0, 1), (0, 1)]), [(0, 3), (0, 2), (0, 2)], [0, 9])
    (7, 4)
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    E, n, K = network.edge_count, network.size, len(entities)
    # Entity i on link k is variable i (E + n) + k, delivered at node u i (E + n) + E + u; the
    # last variable is the contention.
    width = E + n
    count = K * width + 1
    sizes = np.array([size for _, size in entities], dtype=np.float64)
    tail, head = network.edges.T
    nodes = np.arange(n)
    leaves = (tail == nodes[:, None]).astype(float) - (head == nodes[:, None])
    paths = np.zeros((K * n, count))
    low, high = np.zeros(K * n), np.zeros(K * n)
    for i, (at, _) in enumerate(entities):
        rows = slice(i * n, (i + 1) * n)
        paths[rows, i * width : i * width + E] = leaves
        paths[rows, i * width + E : (i + 1) * width] = np.eye(n)
        high[i * n + at] = 1
    loads = np.zeros((width, count))
    for i in range(K):
        loads[:, i * width : (i + 1) * width] = sizes[i] * np.eye(width)
    limits = [np.inf if c is None else float(c) for c in network.capacity]
    rules = [LinearConstraint(paths, low, high), LinearConstraint(loads, 0, [*limits, *room])]
    moved = np.zeros(count)
    for i in range(K):
        moved[i * width + E : (i + 1) * width] = sizes[i]
    whole = np.append(np.ones(count - 1), 0)
    bounds = Bounds(np.zeros(count), np.append(np.ones(count - 1), np.inf))
    most = milp(-moved, constraints=rules, integrality=whole, bounds=bounds)
    assert most.fun is not None, most.message
    value = round(-most.fun)
    below = loads[:E].copy()
    below[:, -1] = -1
    rules += [
        LinearConstraint(below, -np.inf, 0),
        LinearConstraint(moved, value - 0.5, np.inf),
    ]
    cost = np.append(np.zeros(count - 1), 1.0)
    least = milp(cost, constraints=rules, integrality=whole, bounds=bounds)
    assert least.fun is not None, least.message
    return value, round(least.fun)
