"""Monte Carlo as a NumPy user writes it: draw all trials, balance them, take the figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench import numpy_peers


def uniform(seed: int, trials: int, mean: int, shape: tuple[int, ...]) -> np.ndarray:
    """Draw what fastlb draws, from NumPy's own Philox: a stream a trial."""
    nodes = int(np.prod(shape))
    streams = (np.random.Philox(key=seed, counter=[0, t, 0, 0]) for t in range(trials))
    words = np.stack([stream.random_raw((nodes + 1) // 2) for stream in streams])
    numbers = words.view(np.uint32)[:, :nodes].astype(np.uint64)
    loads = numbers * np.uint64(2 * mean + 1) >> np.uint64(32)
    return loads.astype(np.int64).reshape(trials, *shape)


def figures(
    loads: np.ndarray, after: np.ndarray, moved: np.ndarray, local: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return difference, imbalance (each before too), moved, cost, local, locality."""
    before, after = (part.reshape(len(loads), -1) for part in (loads, after))
    total = before.sum(axis=1)
    something = np.maximum(total, 1)
    mean = something / before.shape[1]
    differences, imbalances = [], []
    for part in (after, before):
        differences.append(part.max(axis=1) - part.min(axis=1))
        imbalances.append(np.where(total > 0, part.max(axis=1) / mean - 1, 0.0))
    shares = np.where(total > 0, moved / something, 0.0), np.where(total > 0, local / something, 1)
    return *differences, *imbalances, moved, shares[0], local, shares[1]


def gde(draw: Callable[[], np.ndarray], p: int, q: int) -> tuple[np.ndarray, ...]:
    """Return the figures of GDE on meshes, and its sweeps."""
    loads = draw()
    after, moved, local, sweeps = numpy_peers.gde_mesh(loads, p, q, metrics=True)
    return *figures(loads, after, moved, local), sweeps


def dde(draw: Callable[[], np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return the figures of DDE on meshes, and its rounds."""
    loads = draw()
    after, _, _, moved, local, rounds = numpy_peers.dde(loads, wrapped=False, flows=True)
    return *figures(loads, after, moved, local), rounds


def dem(draw: Callable[[], np.ndarray], n: int) -> tuple[np.ndarray, ...]:
    """Return the figures of DEM on cubes."""
    loads = draw()
    after = loads.reshape(len(loads), -1).copy()
    kept = after.copy()
    moved = np.zeros(len(loads), np.int64)
    for bit in range(n):
        pairs = after.reshape(len(after), -1, 2, 1 << bit)
        low, high = pairs[:, :, 0], pairs[:, :, 1]
        difference = low - high
        sent = (difference + (difference < 0)) >> 1
        moved += np.abs(sent).sum(axis=(1, 2))
        low -= sent
        high += sent
        np.minimum(kept, after, out=kept)
    return figures(loads, after, moved, kept.sum(axis=1))
