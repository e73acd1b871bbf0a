"""Loads of experts as tests draw them: even, heavy-tailed, with ties and with zeros."""

import numpy as np

KINDS = ("uniform", "pareto", "zipf", "ties", "zeros", "equal", "powers", "counts")


def draw(draws, kind, shape):
    if kind == "uniform":
        return draws.random(shape)
    if kind == "pareto":
        return draws.pareto(1.0, shape) + 1
    if kind == "zipf":
        return draws.zipf(1.5, shape).astype(float)
    if kind == "ties":
        return draws.integers(0, 6, shape)
    if kind == "zeros":
        return draws.random(shape) * (draws.random(shape) < 0.3)
    if kind == "equal":
        return np.full(shape, draws.integers(0, 3))
    if kind == "powers":
        return 2.0 ** draws.integers(-3, 8, shape)
    return draws.integers(0, 10**7, shape)


def cluster(draws):
    """Return experts, replicas, GPUs, nodes and groups that fit one another."""
    nodes = int(draws.choice([1, 1, 2, 3]))
    groups = nodes * int(draws.integers(1, 4))
    experts = groups * int(draws.integers(1, 8))
    gpus = nodes * int(draws.integers(1, 5))
    slots = -(-experts // gpus) + int(draws.integers(0, 4))
    return experts, gpus * slots, gpus, nodes, groups
