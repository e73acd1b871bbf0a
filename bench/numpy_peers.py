"""The same algorithms as a NumPy user writes them: whole-array operations, no loop over nodes."""

from __future__ import annotations

import numpy as np


def dem(loads: np.ndarray, n: int) -> np.ndarray:
    """Balance hypercubes (B, 2**n) by dimension exchange."""
    load = loads.copy()
    for bit in range(n):
        pairs = load.reshape(-1, 2, 1 << bit)
        low, high = pairs[:, 0], pairs[:, 1]
        if load.dtype.kind == "f":
            mean = (low + high) * load.dtype.type(0.5)
            low[...] = mean
            high[...] = mean
        else:
            difference = low - high
            sent = (difference + (difference < 0)) >> 1
            low -= sent
            high += sent
    return load


def gde_mesh(
    loads: np.ndarray, p: int, q: int, *, metrics: bool
) -> np.ndarray | tuple[np.ndarray, ...]:
    """Balance meshes (B, *shape) by generalized dimension exchange."""
    load = loads.copy()
    kept = load.copy()
    axes = tuple(range(1, load.ndim))
    moved = np.zeros(len(load), np.int64)
    sweeps = np.zeros(len(load), np.int64)
    moving = True
    while moving:
        units = np.zeros(len(load), np.int64)
        for axis in axes:
            along = np.moveaxis(load, axis, 1)
            least = np.moveaxis(kept, axis, 1)
            for first in (0, 1):
                high = along[:, first + 1 :: 2]
                low = along[:, first::2][:, : high.shape[1]]
                difference = low - high
                amount = np.abs(difference) * p // q
                net = np.where(difference > 0, amount, -amount)
                low -= net
                high += net
                units += amount.sum(axis=axes, dtype=np.int64)
                if metrics:
                    kept_high = least[:, first + 1 :: 2]
                    kept_low = least[:, first::2][:, : high.shape[1]]
                    np.minimum(kept_low, low, out=kept_low)
                    np.minimum(kept_high, high, out=kept_high)
        moved += units
        sweeps += units > 0
        moving = bool(units.any())
    return (load, moved, kept.sum(axis=axes, dtype=np.int64), sweeps) if metrics else load


def dde(loads: np.ndarray, *, wrapped: bool, flows: bool) -> np.ndarray | tuple[np.ndarray, ...]:
    """Balance grids (B, *shape) by direct dimension exchange; lengths of 3 at least."""
    load = loads
    kept = loads
    axes = tuple(range(1, loads.ndim))
    every_flow, stages = [], []
    moved = np.zeros(len(loads), np.int64)
    rounds = np.zeros(len(loads), np.int64)
    for axis in axes:
        k = load.shape[axis]
        total = load.sum(axis=axis, dtype=np.int64, keepdims=True)
        place = np.arange(k).reshape([-1 if a == axis else 1 for a in range(load.ndim)])
        quota = total // k + (place < total % k)
        flow = np.cumsum(load - quota, axis=axis)
        if flows:
            if wrapped:
                middle = np.sort(flow, axis=axis)
                lower = np.take(middle, [(k - 1) // 2], axis=axis)
                upper = np.take(middle, [k // 2], axis=axis)
                flow = flow - np.where(lower > 0, upper, np.where(upper < 0, lower, 0))
            every_flow.append(flow)
            moved += np.abs(flow).sum(axis=axes)
            rounds += longest_run(np.moveaxis(flow, axis, 0), wrapped).max(axis=axes[:-1])
        load = quota.astype(loads.dtype)
        if flows:
            stages.append(load)
            kept = np.minimum(kept, load)
    if not flows:
        return load
    local = kept.sum(axis=axes, dtype=np.int64)
    return load, np.stack(every_flow, axis=1), np.stack(stages), moved, local, rounds


def longest_run(flow: np.ndarray, wrapped: bool) -> np.ndarray:
    """Return the longest run of one sign along axis 0, over the end where it is wrapped."""
    sign = np.sign(flow)
    if wrapped:
        sign = np.concatenate([sign, sign])
    place = np.arange(1, len(sign) + 1).reshape([-1] + [1] * (flow.ndim - 1))
    changes = np.ones(sign.shape, bool)
    changes[1:] = sign[1:] != sign[:-1]
    begun = np.maximum.accumulate(np.where(changes | (sign == 0), place, 0), axis=0)
    return np.where(sign == 0, 0, place - begun + 1).max(axis=0)
