"""Dimension exchange (Wu-Shu Fig. 1) with the units that move and those that stay.

Legend: ``B`` networks, ``N = 2**n`` nodes, ``S`` dimensions in the order balanced.

Low bits are balanced by turning the cube: every two neighbours exchange and are laid apart into
two halves, so that the next bit is the lowest. The pair rule stands here once more than in
``dem.py``, as numba's cache watches no other file.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

# Nodes of a block, as bits: it is turned while it is in cache. With 10 cubes take 1.0 to 1.4 times
# as long, with 14 0.95 to 1.0, with 16 up to 1.5, pair by pair 3 to 5.
BLOCK_BITS = 12
# Smaller blocks of a larger cube go pair by pair: turned, those of 5 bits take twice as long.
LEAST_TURNED = 6


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


def _real(loads):
    return loads.dtype.kind == "f"


@overload(_real)
def _choose_real(loads):
    real = isinstance(loads.dtype, types.Float)
    return lambda loads: real


@njit(cache=True, nogil=True)
def _turn_measured(source, kept_source, target, kept_target, half):
    """Exchange between every two neighbours, who go to the two halves; return the units moved."""
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
    """Exchange along one bit in place, pair by pair; return the units moved."""
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
    """Exchange between two rows of nodes in place; return the units moved."""
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
def _block_measured(loads, kept, bits, faulty, moved, first, second):
    """Exchange along the ``bits`` lowest bits, 2 at least, of so many nodes in place.

    ``faulty`` (F, 2) are faulty links as (bit, lower node). ``moved`` (S,) has the units added.
    ``first`` and ``second`` are two places to work in, (2, 2**bits) for loads and kept.
    """
    half = loads.size // 2
    places = np.empty(faulty.shape[0], np.int64)
    spared = np.empty((2, faulty.shape[0], 2), loads.dtype)
    for bit in range(bits):
        source, kept_source = (loads, kept) if bit == 0 else (first[0], first[1])
        target, kept_target = (loads, kept) if bit == bits - 1 else (second[0], second[1])
        count = 0
        for f in range(faulty.shape[0]):
            if faulty[f, 0] == bit:
                # A node stands where its number, turned right by so many bits, says.
                node = faulty[f, 1]
                place = (node >> bit) | (node & ((1 << bit) - 1)) << (bits - bit)
                for side in range(2):
                    # Two empty nodes exchange nothing.
                    spared[0, count, side] = source[place + side]
                    spared[1, count, side] = kept_source[place + side]
                    source[place + side] = 0
                places[count] = place
                count += 1
        moved[bit] += _turn_measured(source, kept_source, target, kept_target, half)
        for c in range(count):
            for side in range(2):
                place = (places[c] >> 1) + side * half
                target[place] = spared[0, c, side]
                kept_target[place] = spared[1, c, side]
        first, second = second, first


@njit(cache=True, nogil=True)
def dem_measured(loads, kept, bits, faults, moved):
    """Balance every row of ``loads`` (B, N) in place and record what stays and what moves.

    ``kept`` (B, N) holds the units that never left: the running minimum of each node's load.
    ``bits`` (S,) are the dimensions in order. ``faults`` (F, 2) are faulty links as (bit, lower
    node), which exchange nothing. ``moved`` (B, S) receives the units of each dimension.
    """
    N = loads.shape[1]
    S = bits.size
    turned = 0
    while turned < min(S, BLOCK_BITS) and bits[turned] == turned:
        turned += 1
    whole = 1 << turned == N and turned >= 2 and faults.shape[0] == 0
    # Units of real loads are added up along a whole cube, and their sum is not to change.
    if not whole and (_real(loads) or turned < LEAST_TURNED):
        turned = 0
    first = np.empty((2, 1 << turned), loads.dtype)
    second = np.empty((2, 1 << turned), loads.dtype)
    if whole:
        for b in range(loads.shape[0]):
            moved[b, 0] = _turn_measured(loads[b], kept[b], first[0], first[1], N // 2)
            for s in range(1, S - 1):
                moved[b, s] = _turn_measured(first[0], first[1], second[0], second[1], N // 2)
                first, second = second, first
            moved[b, S - 1] = _turn_measured(first[0], first[1], loads[b], kept[b], N // 2)
        return
    for b in range(loads.shape[0]):
        moved[b] = 0
        for base in range(0, N if turned else 0, 1 << turned):
            faulty = faults[(faults[:, 0] < turned) & (faults[:, 1] >> turned == base >> turned)]
            faulty[:, 1] -= base
            end = base + (1 << turned)
            _block_measured(
                loads[b, base:end], kept[b, base:end], turned, faulty, moved[b], first, second
            )
        for s in range(turned, S):
            faulty = faults[faults[:, 0] == bits[s], 1]
            moved[b, s] = _dimension_measured(loads[b], kept[b], bits[s], faulty)
