"""Dimension exchange on the hypercube (Wu-Shu Fig. 1, More-Wu 2.1): pairs average, bit by bit.

Legend: ``B`` networks, ``N = 2**n`` nodes, ``S`` dimensions in the order balanced.

A cube of up to ``2**BLOCK_BITS`` nodes is balanced by ``n`` equal steps between two buffers in
the L1 cache. A step averages neighbours ``2j`` and ``2j+1`` and writes the results to ``j`` and
``half + j``: the node number turns right by one bit, so bit 0 is next again, every step reads
and writes straight through memory, and after ``n`` steps each load is back at its node.
Larger cubes go three bits at a time, in registers, first inside blocks that fit the L2 cache,
then over tiles gathered from the whole array: two passes over memory at n = 24.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

BLOCK_BITS = 11
CHUNK_BITS = 17
TILE_WIDTH = 64


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


@njit(cache=True, nogil=True)
def _turn(source, target, half):
    low = target[:half]
    high = target[half : 2 * half]
    for j in range(half):
        low[j], high[j] = _exchange(source[2 * j], source[2 * j + 1])


@njit(cache=True, nogil=True)
def _block(source, target, n, first, second):
    """Balance ``2**n`` nodes from ``source`` to ``target``, which may be the same."""
    half = source.size // 2
    if n == 0:
        target[0] = source[0]
    elif n == 1:
        target[0], target[1] = _exchange(source[0], source[1])
    else:
        _turn(source, first, half)
        for _ in range(n - 2):
            _turn(first, second, half)
            first, second = second, first
        _turn(first, target, half)


@njit(cache=True, nogil=True)
def _rows2(loads, base, stride, width):
    r0 = loads[base : base + width]
    r1 = loads[base + stride : base + stride + width]
    for u in range(width):
        r0[u], r1[u] = _exchange(r0[u], r1[u])


@njit(cache=True, nogil=True)
def _rows8(loads, base, stride, width):
    """Exchange along three bits at once, rows ``stride`` apart: one pass instead of three."""
    r0 = loads[base : base + width]
    r1 = loads[base + stride : base + stride + width]
    r2 = loads[base + 2 * stride : base + 2 * stride + width]
    r3 = loads[base + 3 * stride : base + 3 * stride + width]
    r4 = loads[base + 4 * stride : base + 4 * stride + width]
    r5 = loads[base + 5 * stride : base + 5 * stride + width]
    r6 = loads[base + 6 * stride : base + 6 * stride + width]
    r7 = loads[base + 7 * stride : base + 7 * stride + width]
    for u in range(width):
        a0, a1 = _exchange(r0[u], r1[u])
        a2, a3 = _exchange(r2[u], r3[u])
        a4, a5 = _exchange(r4[u], r5[u])
        a6, a7 = _exchange(r6[u], r7[u])
        b0, b2 = _exchange(a0, a2)
        b1, b3 = _exchange(a1, a3)
        b4, b6 = _exchange(a4, a6)
        b5, b7 = _exchange(a5, a7)
        r0[u], r4[u] = _exchange(b0, b4)
        r1[u], r5[u] = _exchange(b1, b5)
        r2[u], r6[u] = _exchange(b2, b6)
        r3[u], r7[u] = _exchange(b3, b7)


@njit(cache=True, nogil=True)
def _rows(loads, bits, width):
    """Exchange along ``bits`` bits of the row number; ``loads`` holds ``2**bits`` rows."""
    done = 0
    while done + 3 <= bits:
        stride = width << done
        for base in range(0, loads.size, 8 * stride):
            _rows8(loads, base, stride, stride)
        done += 3
    while done < bits:
        stride = width << done
        for base in range(0, loads.size, 2 * stride):
            _rows2(loads, base, stride, stride)
        done += 1


@njit(cache=True, nogil=True)
def _large(loads, n, first, second, tile):
    """Balance one cube of more than ``2**BLOCK_BITS`` nodes in place."""
    chunk_bits = min(n, CHUNK_BITS)
    block = 1 << BLOCK_BITS
    for start in range(0, loads.size, 1 << chunk_bits):
        chunk = loads[start : start + (1 << chunk_bits)]
        for base in range(0, chunk.size, block):
            part = chunk[base : base + block]
            _block(part, part, BLOCK_BITS, first, second)
        _rows(chunk, chunk_bits - BLOCK_BITS, block)
    done = chunk_bits
    while done < n:
        # Rows are 2**done apart, so in place they would all fall into the same cache sets.
        bits = min(7, n - done)
        rows = 1 << bits
        stride = 1 << done
        for start in range(0, loads.size, stride * rows):
            for column in range(start, start + stride, TILE_WIDTH):
                for r in range(rows):
                    row = loads[column + r * stride : column + r * stride + TILE_WIDTH]
                    kept = tile[r * TILE_WIDTH : (r + 1) * TILE_WIDTH]
                    for u in range(TILE_WIDTH):
                        kept[u] = row[u]
                _rows(tile[: rows * TILE_WIDTH], bits, TILE_WIDTH)
                for r in range(rows):
                    row = loads[column + r * stride : column + r * stride + TILE_WIDTH]
                    kept = tile[r * TILE_WIDTH : (r + 1) * TILE_WIDTH]
                    for u in range(TILE_WIDTH):
                        row[u] = kept[u]
        done += bits


@njit(cache=True, nogil=True)
def dem(source, target, n):
    """Balance every row of ``source`` (B, N) into ``target`` (B, N), bits 0 .. n-1 in order.

    ``target`` may be ``source``. Loads are not negative.
    """
    buffer = np.empty(min(source.shape[1], 1 << BLOCK_BITS) * 2, source.dtype)
    first = buffer[: buffer.size // 2]
    second = buffer[buffer.size // 2 :]
    if n <= BLOCK_BITS:
        for b in range(source.shape[0]):
            _block(source[b], target[b], n, first, second)
        return
    tile = np.empty(128 * TILE_WIDTH if n > CHUNK_BITS else 1, source.dtype)
    for b in range(source.shape[0]):
        target[b] = source[b]
        _large(target[b], n, first, second, tile)


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
            spared[0, f, side] = loads[faulty[f] + side * stride]
            spared[1, f, side] = kept[faulty[f] + side * stride]
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
        moved -= _units(spared[0, f, 0], loads[faulty[f]])
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
