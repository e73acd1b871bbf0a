"""Dimension exchange (Wu-Shu Fig. 1) of rows of loads, with the units that move and that stay.

Legend: ``B`` networks, a row of ``N = 2**n`` nodes each, ``S`` dimensions in the order balanced.

``balance`` is the general kernel, pair by pair: any dtype, any order of dimensions, faulty links.
``balance_integers`` is for large cubes and passes memory less often: all bits that the lanes of a
register hold at once, then three bits at a time between eight registers, each with the running
minimum of its loads, the units that never left. With 8 lanes, bits 3, 4 and 5 are exchanged between

    row 0   nodes  0 ..  7      row 1   nodes  8 .. 15      ..      row 7   nodes 56 .. 63

and bits 6, 7 and 8 between nodes 0 .. 7, 64 .. 71, .., 448 .. 455, then 8 .. 15, 72 .. 79, ..
"""

import numpy as np
from numba import types

from ..shared.cubes import balance_and_record
from ..shared.exchange import exchange_and_count
from ..shared.interrupts import STRETCH, interrupted, long_fori, long_kernel, new_meter
from ..shared.tracing import cond, fori, traced
from ..shared.vectors import add, lanes, minimum, permute, reduce, reduce_lanes

# Bits balanced between registers at a time.
BITS_A_PASS = 3
# Cubes of up to so many bits are summed up in turned order, see ``balance``.
TURNED_BITS = 12
# The least distance, in nodes, from which on units of real loads are added up run by run.
LEAST_RUN = 16
# The fewest nodes of ``balance_integers``: they fill a register of 32-bit loads, or two of 64 bits.
LEAST_NODES = lanes(np.int32)


@traced(returns=lambda loads, *_: loads.dtype)
def _exchange_pair(loads, resident_min, u, v):
    """Exchange between nodes u and v of a cube (N,); return the units that move."""
    loads[u], loads[v], units = exchange_and_count(loads[u], loads[v])
    resident_min[u] = minimum(resident_min[u], loads[u])
    resident_min[v] = minimum(resident_min[v], loads[v])
    return units


@long_kernel
def balance(loads, resident_min, bits, faults, moved):
    """Balance every row of ``loads`` (B, N) in place and record what stays and what moves.

    ``resident_min`` (B, N) is the running minimum of each node's load, the load itself at first.
    ``bits`` (S,) are the dimensions in order. ``faults`` (F, 2) are faulty links as (bit, lower
    node), which exchange nothing. ``moved`` (B, S) receives the units of each dimension.
    """
    B, N = loads.shape
    S, meter = bits.size, new_meter()
    # The order in which units of real loads are added up decides their last bits. In a small cube
    # it is that of a cube whose node numbers are rotated right by one bit a dimension. In others
    # pairs go by their lower node, and where these come in runs, each run is added up by itself.
    turned = faults.shape[0] == 0 and 2 <= S <= TURNED_BITS and 1 << S == N
    for s in range(S):
        turned = turned and bits[s] == s
    for b in range(B):
        cube, least = loads[b], resident_min[b]
        for s in range(S):
            bit = bits[s]
            below = (1 << bit) - 1
            run = below + 1 if below + 1 >= LEAST_RUN and not turned else N
            total = part = moved.dtype.type(0)
            for p in range(N // 2):
                if p & STRETCH - 1 == 0 and interrupted(meter, min(N, 4 * STRETCH)):
                    return
                # The lower node of pair p: a 0 is put into p as bit ``bit``.
                u = ((p & ~below) << 1) | (p & below)
                if turned:
                    u = ((p << bit + 1) & (N - 1)) | (p >> S - 1 - bit)
                v = u | below + 1
                is_faulty = False
                for f in range(faults.shape[0]):
                    is_faulty |= (faults[f, 0] == bit) & (faults[f, 1] == u)
                if not is_faulty:
                    part += moved.dtype.type(_exchange_pair(cube, least, u, v))
                if (p + 1) & (run - 1) == 0:
                    total += part
                    part = moved.dtype.type(0)
            moved[b, s] = total + part


@long_kernel
def balance_integers(loads, resident_min, n, moved):
    """Do the same with signed integers, bits 0 .. n-1 in order and no faults.

    ``N = 2**n`` loads fill a register at least. ``moved`` (B,) receives the units of all dimensions
    together, which fit int64.
    """
    meter = new_meter()
    for b in range(loads.shape[0]):
        if interrupted(meter, min(n * loads.shape[1], STRETCH)):
            return
        moved[b] = _balance_row(loads[b], resident_min[b], n, meter)


@traced(returns=types.int64)
def _balance_row(loads, resident_min, n, meter):
    """Balance a cube (N,) along bits 0 .. n-1 in place; return the units that move."""
    size, width = loads.shape[0], lanes(loads.dtype)
    lane_bits = width.bit_length() - 1

    def in_register(i, moved):
        load, least = loads.load(i), resident_min.load(i)
        for bit in range(lane_bits):
            swapped = permute(load, [lane ^ 1 << bit for lane in range(width)])
            load, _, units = exchange_and_count(load, swapped)
            least, moved = minimum(least, load), moved + units.astype(np.int64)
        loads.store(i, load)
        resident_min.store(i, least)
        return [moved]

    zeros = permute(loads.load(0).astype(np.int64), range(width)) * 0
    # Within a register both ends of a link count what is sent.
    (twice,) = long_fori(meter, size, in_register, zeros, step=width)
    passes = (n - lane_bits + BITS_A_PASS - 1) // BITS_A_PASS

    def one_pass(p, moved):
        return [_pass(loads, resident_min, n, lane_bits + BITS_A_PASS * p, moved, meter)]

    (moved,) = fori(passes, one_pass, zeros)
    return (reduce_lanes(twice, add) >> 1) + reduce_lanes(moved, add)


def _pass(loads, resident_min, n, first, moved, meter):
    """Exchange along up to three bits from bit ``first`` on, those below n.

    Returns ``moved``, a register of int64, with the units that move added in each lane.
    """

    def along(bits):
        def columns(i, moved):
            base = ((i >> first) << (first + bits)) | (i & ((1 << first) - 1))
            places = [base + (r << first) for r in range(1 << bits)]
            rows = [loads.load(place) for place in places]
            minima = [resident_min.load(place) for place in places]
            rows, minima, sent = balance_and_record(rows, minima)
            for place, load, least in zip(places, rows, minima, strict=True):
                loads.store(place, load)
                resident_min.store(place, least)
            return [moved + reduce([units.astype(np.int64) for units in sent], add)]

        count, width = loads.shape[0] >> bits, lanes(loads.dtype)
        return lambda: long_fori(meter, count, columns, moved, step=width, stretch=STRETCH >> bits)

    def fewer():
        return cond(n - first == 2, along(2), along(1))

    (moved,) = cond(n - first >= 3, along(3), fewer)
    return moved
