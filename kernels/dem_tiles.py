"""Dimension exchange on cubes with trials last, measured (Wu-Shu Fig. 1).

Legend: ``K`` tiles of ``W`` trials side by side, ``N = 2**n`` nodes, ``S`` dimensions in the order
balanced, ``B`` trials.

An exchange is one loop over two rows of lanes whatever the dimension, so none needs the shuffles
of ``dem.py``; the pair rule stands here once more. Three dimensions at a time are balanced
between the registers of eight rows. Measured on the 6-cube, ns a node: 2.9 by loops over slices,
which are checked for overlaps all the time, 0.5 by spelled-out vectors.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

LANES = 16
GROUPED = 3


def _across(tile, kept, moved, base, strides, w, bits):
    """Balance ``bits`` dimensions between rows that begin at ``base``, ``LANES`` lanes of each.

    The neighbour along dimension d begins ``strides[d]`` further. ``kept`` receives the least
    loads, ``moved[w]`` and its neighbours what is sent.
    """
    T = tile.dtype.type
    places = [base]
    for d in range(bits):
        places = places + [place + strides[d] for place in places]
    for d in range(bits):
        for r in range(1 << bits):
            if r >> d & 1:
                continue
            i, j = places[r], places[r + (1 << d)]
            for u in range(LANES):
                a, b = int(tile[i + u]), int(tile[j + u])
                sent = (a - b) // 2 if a > b else -((b - a) // 2)
                moved[w + u] += T(abs(sent))
                tile[i + u], tile[j + u] = a - sent, b + sent
                kept[i + u] = min(kept[i + u], tile[i + u])
                kept[j + u] = min(kept[j + u], tile[j + u])


def _machine_across(bits):
    """Make ``_across`` with a register a row."""

    @intrinsic
    def across(_typing, tile, kept, moved, _base, strides, _w):
        def generate(context, builder, signature, arguments):
            width = tile.dtype.bitwidth
            vector = ir.VectorType(context.get_data_type(tile.dtype), LANES)
            one, signs = (ir.Constant(vector, [value] * LANES) for value in (1, width - 1))

            def place(number, index):
                array = context.make_array(signature.args[number])
                data = array(context, builder, arguments[number]).data
                return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())

            def least(a, b):
                return builder.select(builder.icmp_signed("<", a, b), a, b)

            starts = [arguments[3]]
            for d in range(bits):
                stride = builder.extract_value(arguments[4], d)
                starts += [builder.add(start, stride) for start in starts]
            rows = [builder.load(place(0, start), align=width // 8) for start in starts]
            lows = [builder.load(place(1, start), align=width // 8) for start in starts]
            units = builder.load(place(2, arguments[5]), align=width // 8)
            for d in range(bits):
                for r in range(1 << bits):
                    if r >> d & 1:
                        continue
                    s = r + (1 << d)
                    difference = builder.sub(rows[r], rows[s])
                    sign = builder.ashr(difference, signs)
                    # Half of it, rounded towards 0.
                    sent = builder.ashr(builder.sub(difference, sign), one)
                    size = builder.sub(builder.xor(sent, sign), sign)
                    units = builder.add(units, size)
                    rows[r], rows[s] = builder.sub(rows[r], sent), builder.add(rows[s], sent)
                    lows[r], lows[s] = least(lows[r], rows[r]), least(lows[s], rows[s])
            for start, row, low in zip(starts, rows, lows, strict=True):
                builder.store(row, place(0, start), align=width // 8)
                builder.store(low, place(1, start), align=width // 8)
            builder.store(units, place(2, arguments[5]), align=width // 8)
            return context.get_dummy_value()

        index = types.int64
        return types.none(tile, kept, moved, index, strides, index), generate

    return across


ACROSS = {bits: _machine_across(bits) for bits in range(1, GROUPED + 1)}


@overload(_across, prefer_literal=True)
def _choose_across(tile, kept, moved, base, strides, w, bits):
    machine = ACROSS[bits.literal_value]
    return lambda tile, kept, moved, base, strides, w, bits: machine(
        tile, kept, moved, base, strides, w
    )


@njit(cache=True, nogil=True)
def _dimensions(tile, kept, moved, group, spared, W):
    """Balance a group of dimensions; nodes in ``spared`` exchange nothing with the one above."""
    mask = 0
    for bit in group:
        mask |= 1 << bit
    first = W << group[0]
    second = W << group[1] if group.size > 1 else 0
    third = W << group[2] if group.size > 2 else 0
    strides = first, second, third
    for node in range(spared.size):
        if node & mask or spared[node]:
            continue
        for w in range(0, W, LANES):
            base = node * W + w
            if group.size == 3:
                _across(tile, kept, moved, base, strides, w, 3)
            elif group.size == 2:
                _across(tile, kept, moved, base, strides, w, 2)
            else:
                _across(tile, kept, moved, base, strides, w, 1)


@njit(cache=True, nogil=True)
def dem(tiles, bits, faults, moved, local):
    """Balance every cube of ``tiles`` (K, N, W) int32 or int64 in place.

    ``W`` is a multiple of ``LANES``; each total and what is moved of it fit the dtype. ``bits``
    (S,) are the dimensions in order, ``faults`` (F, 2) faulty links as (bit, lower node), which
    exchange nothing. ``moved`` and ``local`` (B,) int64 receive the units that move, all
    dimensions together, and those that never leave.
    """
    K, N, W = tiles.shape
    kept = np.empty(N * W, tiles.dtype)
    units = np.empty(W, tiles.dtype)
    stayed = np.empty(W, np.int64)
    spared = np.zeros(N, np.bool_)
    grouped = GROUPED if faults.shape[0] == 0 else 1
    for k in range(K):
        tile = tiles[k].reshape(-1)
        kept[:] = tile
        units[:] = 0
        for s in range(0, bits.size, grouped):
            spared[:] = False
            for f in range(faults.shape[0]):
                spared[faults[f, 1]] |= faults[f, 0] == bits[s]
            _dimensions(tile, kept, units, bits[s : s + grouped], spared, W)
        stayed[:] = 0
        for i in range(N):
            row = kept[i * W : i * W + W]
            for w in range(W):
                stayed[w] += row[w]
        for w in range(min(W, local.size - k * W)):
            moved[k * W + w] = units[w]
            local[k * W + w] = stayed[w]
