"""Algorithms A, B and C as a NumPy user and as a numba user writes them."""

from __future__ import annotations

import numpy as np
from numba import njit


def with_numpy(loads: np.ndarray, d: int, algorithm: str) -> np.ndarray:
    """Balance networks (B, 6 * 2**(d-1)) by whole-array operations."""
    load = loads.copy()
    polled = algorithm == "C"
    triangles = load.reshape(-1, 3)
    if algorithm == "A":
        _exchange(triangles[:, 1], triangles[:, 2], False)
    if load.dtype.kind == "f":
        triangles[...] = ((triangles[:, 0] + triangles[:, 1] + triangles[:, 2]) / 3)[:, None]
    else:
        _share(triangles, polled)
    cells = load.reshape(-1, 2, 3)
    _exchange(cells[:, 0], cells[:, 1], polled)
    for bit in range(d - 1):
        pairs = load.reshape(-1, 2, 6 << bit)
        _exchange(pairs[:, 0], pairs[:, 1], polled)
    return load


def _exchange(x: np.ndarray, y: np.ndarray, polled: bool) -> None:
    if x.dtype.kind == "f":
        mean = (x + y) / 2
        x[...] = mean
        y[...] = mean
        return
    difference = x - y
    up = (difference > 1) | (difference == -1) if polled else difference < 0
    sent = (difference + up) >> 1
    x -= sent
    y += sent


def _share(triangles: np.ndarray, greedy: bool) -> None:
    total = triangles.sum(axis=1, dtype=triangles.dtype)
    average = (total + 2) // 3
    capped = np.minimum(triangles, average[:, None])
    excess = total - capped.sum(axis=1, dtype=triangles.dtype)
    x, y, z = capped.T
    if greedy:
        first = np.minimum(average, x + excess)
        second = np.minimum(average, y + excess - (first - x))
        triangles[:, 0] = first
        triangles[:, 1] = second
        triangles[:, 2] = total - first - second
        return
    both = total - average
    first = np.maximum(x, np.minimum(x + excess, (both + 1) >> 1))
    last = np.maximum(z, np.minimum(z + excess, both >> 1))
    triangles[:, 0] = first
    triangles[:, 1] = total - first - last
    triangles[:, 2] = last


@njit(cache=True)
def _sent(diff, polled):
    return (diff + 1) // 2 if polled and diff > 1 else diff // 2


@njit(cache=True)
def with_numba(loads, d, algorithm):
    """Balance networks (B, 6 * 2**(d-1)) of integers by plain loops over cells and pairs."""
    load = loads.copy()
    cells = 1 << (d - 1)
    polled = algorithm == "C"
    for b in range(load.shape[0]):
        row = load[b]
        for t in range(2 * cells):
            node = row[3 * t : 3 * t + 3]
            if algorithm == "A":
                diff = abs(node[1] - node[2])
                low, high = (1, 2) if node[1] < node[2] else (2, 1)
                node[low] += diff // 2
                node[high] -= diff // 2
            average = (node[0] + node[1] + node[2] + 2) // 3
            for i in range(3):
                excess = node[i] - average
                if excess <= 0:
                    continue
                x = 1 if i == 0 else 0
                y = 1 if i == 2 else 2
                node[i] = average
                if polled or node[x] >= average or node[y] >= average:
                    given = min(excess, max(average - node[x], 0))
                    node[x] += given
                    node[y] += excess - given
                else:
                    level = min(excess, abs(node[x] - node[y]))
                    if node[x] <= node[y]:
                        node[x] += level
                    else:
                        node[y] += level
                    node[x] += (excess - level + 1) // 2
                    node[y] += (excess - level) // 2
        for c in range(cells):
            for i in range(6 * c, 6 * c + 3):
                sent = _sent(abs(row[i] - row[i + 3]), polled)
                if row[i] < row[i + 3]:
                    sent = -sent
                row[i] -= sent
                row[i + 3] += sent
        run = 6
        while run < 6 * cells:
            for base in range(0, 6 * cells, 2 * run):
                for i in range(base, base + run):
                    sent = _sent(abs(row[i] - row[i + run]), polled)
                    if row[i] < row[i + run]:
                        sent = -sent
                    row[i] -= sent
                    row[i + run] += sent
            run *= 2
    return load
