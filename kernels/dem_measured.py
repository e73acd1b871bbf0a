"""Dimension exchange (Wu-Shu Fig. 1) with the units that move and those that stay.

Legend: ``B`` networks, ``N = 2**n`` nodes, ``S`` dimensions in the order balanced.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

BLOCK_BITS = 12


def _exchange(a, b):
    """Return both loads after the exchange; the higher sends ``diff//2``, floats meet midway."""
    if isinstance(a, np.floating):
        mean = (a + b) * a.dtype.type(0.5)
        return mean, mean
    a, b = int(a), int(b)
    sent = (a - b) // 2 if a > b else -((b - a) // 2)
    return a - sent, b + sent


@overload(_exchange)
def _choose_exchange(a, b):
    T = a
    if isinstance(T, types.Float):

        def float_exchange(a, b):
            mean = T(T(a + b) * T(0.5))
            return mean, mean

        return float_exchange
    if T.signed:

        def signed_exchange(a, b):
            # Loads are not negative, so the difference fits.
            d = T(a - b)
            sent = T(T(d + T(d < 0)) >> T(1))
            return T(a - sent), T(b + sent)

        return signed_exchange

    def unsigned_exchange(a, b):
        differing = T(a ^ b)
        low = T(T(a & b) + T(differing >> T(1)))
        odd = T(differing & T(1))
        up = odd if a > b else T(0)
        return T(low + up), T(low + T(odd - up))

    return unsigned_exchange


def _units(a, b):
    """Return the units between two loads of a node: int64, float64 for floats."""
    return abs(float(a) - float(b)) if isinstance(a, np.floating) else abs(int(a) - int(b))


@overload(_units)
def _choose_units(a, b):
    if isinstance(a, types.Float):
        return lambda a, b: np.float64(abs(a - b))
    return lambda a, b: np.int64(a - b) if a > b else np.int64(b - a)


@njit(cache=True, nogil=True)
def _turn_measured(source, kept_source, target, kept_target, half):
    low = target[:half]
    high = target[half : 2 * half]
    kept_low = kept_target[:half]
    kept_high = kept_target[half : 2 * half]
    moved = _units(source[0], source[0])
    for j in range(half):
        a = source[2 * j]
        x, y = _exchange(a, source[2 * j + 1])
        moved += _units(a, x)
        low[j] = x
        high[j] = y
        kept_low[j] = min(kept_source[2 * j], x)
        kept_high[j] = min(kept_source[2 * j + 1], y)
    return moved


@njit(cache=True, nogil=True)
def _bit_measured(loads, kept, bit):
    moved = _units(loads[0], loads[0])
    below = (1 << bit) - 1
    for p in range(loads.size // 2):
        i = ((p & ~below) << 1) | (p & below)
        j = i + below + 1
        a = loads[i]
        x, y = _exchange(a, loads[j])
        moved += _units(a, x)
        loads[i] = x
        loads[j] = y
        kept[i] = min(kept[i], x)
        kept[j] = min(kept[j], y)
    return moved


@njit(cache=True, nogil=True)
def _rows_measured(low, high, kept_low, kept_high):
    moved = _units(low[0], low[0])
    for u in range(low.size):
        a = low[u]
        x, y = _exchange(a, high[u])
        moved += _units(a, x)
        low[u] = x
        high[u] = y
        kept_low[u] = min(kept_low[u], x)
        kept_high[u] = min(kept_high[u], y)
    return moved


@njit(cache=True, nogil=True)
def _dimension_measured(loads, kept, bit, faulty):
    """Exchange along one bit in place, except across the links of the nodes in ``faulty``."""
    stride = 1 << bit
    spared = np.empty((2, faulty.size, 2), loads.dtype)
    moved = _units(loads[0], loads[0])
    for f in range(faulty.size):
        for side in range(2):
            # Two empty nodes exchange nothing, and the loops below need no branch.
            spared[0, f, side] = loads[faulty[f] + side * stride]
            spared[1, f, side] = kept[faulty[f] + side * stride]
            loads[faulty[f] + side * stride] = 0
    if stride < 16:
        moved += _bit_measured(loads, kept, bit)
    else:
        for base in range(0, loads.size, 2 * stride):
            middle = base + stride
            end = middle + stride
            moved += _rows_measured(
                loads[base:middle], loads[middle:end], kept[base:middle], kept[middle:end]
            )
    for f in range(faulty.size):
        for side in range(2):
            loads[faulty[f] + side * stride] = spared[0, f, side]
            kept[faulty[f] + side * stride] = spared[1, f, side]
    return moved


@njit(cache=True, nogil=True)
def dem_measured(loads, kept, bits, faults, moved):
    """Balance every row of ``loads`` (B, N) in place and record what stays and what moves.

    ``kept`` (B, N) holds the units that never left: the running minimum of each node's load.
    ``bits`` (S,) are the dimensions in order. ``faults`` (F, 2) are faulty links as (bit, lower
    node), which exchange nothing. ``moved`` (B, S) receives the units of each dimension.
    """
    N = loads.shape[1]
    S = bits.size
    ascending = N <= 1 << BLOCK_BITS and 1 << S == N and S >= 2 and faults.shape[0] == 0
    for s in range(S):
        ascending = ascending and bits[s] == s
    if ascending:
        first = np.empty((2, N), loads.dtype)
        second = np.empty((2, N), loads.dtype)
        for b in range(loads.shape[0]):
            moved[b, 0] = _turn_measured(loads[b], kept[b], first[0], first[1], N // 2)
            for s in range(1, S - 1):
                moved[b, s] = _turn_measured(first[0], first[1], second[0], second[1], N // 2)
                first, second = second, first
            moved[b, S - 1] = _turn_measured(first[0], first[1], loads[b], kept[b], N // 2)
        return
    for b in range(loads.shape[0]):
        for s in range(S):
            faulty = faults[faults[:, 0] == bits[s], 1]
            moved[b, s] = _dimension_measured(loads[b], kept[b], bits[s], faulty)
