"""The optimal routing of a few indivisible entities, by two integer programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..topologies.network import Network


def best_routing(
    network: Network, entities: Sequence[tuple[int, int]], room: Sequence[int]
) -> tuple[int, int]:
    """Return the most load that can be moved in whole entities, and its least contention.

    Both are optima of ``scipy.optimize.milp`` (HiGHS), for a dozen entities on a few nodes.

    Parameters
    ----------
    network : Network
    entities : sequence of (node, size)
    room : (n,)
        Load that each node can take.

    Examples
    --------
    >>> best_routing(Network([(0, 1), (0, 1)]), [(0, 3), (0, 2), (0, 2)], [0, 9])
    (7, 4)
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    E, n, K = network.edge_count, network.size, len(entities)
    # Variable i (E + n) + k is 1 if entity i uses link k, variable i (E + n) + E + u if it is
    # delivered at node u. The last variable is the contention.
    width = E + n
    variables = K * width + 1
    sizes = np.array([size for _, size in entities], dtype=np.float64)
    tail, head = network.edges.T
    nodes = np.arange(n)
    leaves = (tail == nodes[:, None]).astype(float) - (head == nodes[:, None])
    paths = np.zeros((K * n, variables))
    low, high = np.zeros(K * n), np.zeros(K * n)
    for i, (node, _) in enumerate(entities):
        rows = slice(i * n, (i + 1) * n)
        paths[rows, i * width : i * width + E] = leaves
        paths[rows, i * width + E : (i + 1) * width] = np.eye(n)
        high[i * n + node] = 1
    loads = np.zeros((width, variables))
    for i in range(K):
        loads[:, i * width : (i + 1) * width] = sizes[i] * np.eye(width)
    limits = [np.inf if c is None else float(c) for c in network.capacity]
    constraints = [LinearConstraint(paths, low, high), LinearConstraint(loads, 0, [*limits, *room])]
    moved = np.zeros(variables)
    for i in range(K):
        moved[i * width + E : (i + 1) * width] = sizes[i]
    whole = np.append(np.ones(variables - 1), 0)
    bounds = Bounds(np.zeros(variables), np.append(np.ones(variables - 1), np.inf))
    most = milp(-moved, constraints=constraints, integrality=whole, bounds=bounds)
    assert most.fun is not None, most.message
    value = round(-most.fun)
    above_contention = loads[:E].copy()
    above_contention[:, -1] = -1
    constraints += [
        LinearConstraint(above_contention, -np.inf, 0),
        LinearConstraint(moved, value - 0.5, np.inf),
    ]
    cost = np.append(np.zeros(variables - 1), 1.0)
    least = milp(cost, constraints=constraints, integrality=whole, bounds=bounds)
    assert least.fun is not None, least.message
    return value, round(least.fun)
