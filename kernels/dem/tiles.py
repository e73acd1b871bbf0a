"""Dimension exchange on cubes with trials last, measured: DEM (Wu-Shu Fig. 1).

Legend: ``K`` tiles of ``W`` trials side by side, ``N = 2**n`` nodes, ``S`` dimensions in the order
balanced, ``B`` trials.

An exchange is one loop over two rows of lanes whatever the dimension, so none needs the shuffles
of ``dem.py``; the pair rule stands here once more. Three dimensions at a time are balanced
between the registers of eight rows; the last of them leave nothing but sums and extremes. Measured
on the 6-cube, ns a node: 2.9 by loops over slices, which are checked for overlaps all the time,
0.8 by vectors with what is kept copied before and added up after, 0.27 this way in 32 bits, 0.17 in
16; on the 10-cube 0.36 and 0.20. Half of a difference as one 16-bit product, rounded, of the
difference and ``2**14 - 1`` (pmulhrsw): 0.95 of the time, which is 1 % of a whole run.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

LANES = 16
# Dimensions balanced at a time: with two 1.1 times as long up to 10-cubes, 0.9 on the 14-cube; with
# one twice as long. Blocks of 128 nodes balanced while they are in the L1 cache: 1.00 to 1.04. In
# int64 32 lanes take 1.3 times as long, in int32 the same.
GROUPED = 3
# Loads up to ``NARROW`` fit 16 bits, 32 lanes of them a register. As many as ``ADDED`` add up in 16
# bits without a sign.
NARROW, NARROW_LANES, ADDED = 2**14 - 1, 32, 4
# Rows of what lanes add up to, in 32 bits at least.
MOVED, LOCAL, LEAST, MOST, SUMS = 0, 1, 2, 3, 4


def _across(tile, kept, sums, base, strides, w, ends, bits, linked):
    """Balance ``bits`` dimensions between rows that begin at ``base``, a register's lanes of each.

    The neighbour along dimension d begins ``strides[d]`` further; unless ``linked`` nothing is
    exchanged. ``ends`` tells whether these dimensions are the first and the last. ``kept`` holds
    the least loads, before the first nothing. The rows of ``sums`` (SUMS, W) receive from lane w
    on what is sent and, of the last, what was kept and the extremes; the loads are then lost.
    """
    first, last = ends
    lanes = _lanes(tile)
    places = [base]
    for d in range(bits):
        places = places + [place + strides[d] for place in places]
    rows = [tile[place : place + lanes].copy() for place in places]
    lows = [(tile if first else kept)[place : place + lanes].copy() for place in places]
    moved, local, least, most = sums[:, w : w + lanes]
    for d in range(bits if linked else 0):
        for r in range(1 << bits):
            if r >> d & 1:
                continue
            s = r + (1 << d)
            half = np.abs(rows[r] - rows[s]) >> 1
            sent = np.where(rows[r] > rows[s], half, -half)
            moved += half
            rows[r], rows[s] = rows[r] - sent, rows[s] + sent
            lows[r], lows[s] = np.minimum(lows[r], rows[r]), np.minimum(lows[s], rows[s])
    for place, row, low in zip(places, rows, lows, strict=True):
        if last:
            local += low
            least[:] = np.minimum(least, row)
            most[:] = np.maximum(most, row)
        else:
            tile[place : place + lanes] = row
            kept[place : place + lanes] = low


def _machine_across(bits, linked):
    """Make ``_across`` with a register a row."""

    @intrinsic
    def across(_typing, tile, kept, sums, _base, strides, _w, ends):
        def generate(context, builder, signature, arguments):
            width = tile.dtype.bitwidth
            lanes = NARROW_LANES if width == 16 else LANES
            vector, wide = (
                ir.VectorType(context.get_data_type(array.dtype), lanes) for array in (tile, sums)
            )
            one, top = (ir.Constant(vector, [value] * lanes) for value in (1, width - 1))
            arrays = [
                context.make_array(signature.args[number])(context, builder, arguments[number])
                for number in range(3)
            ]
            first, last = (
                builder.trunc(builder.extract_value(arguments[6], end), ir.IntType(1))
                for end in (0, 1)
            )

            def place(number, index):
                pointer = builder.gep(arrays[number].data, [index])
                return builder.bitcast(pointer, (wide if number == 2 else vector).as_pointer())

            def load(pointer):
                return builder.load(pointer, align=pointer.type.pointee.element.width // 8)

            def store(row, pointer):
                builder.store(row, pointer, align=row.type.element.width // 8)

            def least(a, b):
                return builder.select(builder.icmp_signed("<", a, b), a, b)

            def most(a, b):
                return builder.select(builder.icmp_signed(">", a, b), a, b)

            def widened(row):
                return builder.zext(row, wide) if vector != wide else row

            def joined(parts, join):
                # In pairs, so that none waits for all those before.
                while len(parts) > 1:
                    pairs = zip(parts[::2], parts[1::2], strict=True)
                    parts = [join(a, b) for a, b in pairs]
                return parts[0]

            def added(parts, total):
                for i in range(0, len(parts), ADDED):
                    part = joined(parts[i : i + ADDED], builder.add)
                    total = builder.add(total, widened(part))
                return total

            starts = [arguments[3]]
            for d in range(bits):
                stride = builder.extract_value(arguments[4], d)
                starts += [builder.add(start, stride) for start in starts]
            spots = [arguments[5]]
            for _ in range(1, SUMS):
                spots.append(builder.add(spots[-1], builder.extract_value(arrays[2].shape, 1)))
            tops = [place(2, spot) for spot in spots]
            rows = [load(place(0, start)) for start in starts]
            lows = [load(builder.select(first, place(0, i), place(1, i))) for i in starts]
            units = []
            for d in range(bits if linked else 0):
                for r in range(1 << bits):
                    if r >> d & 1:
                        continue
                    s = r + (1 << d)
                    difference = builder.sub(rows[r], rows[s])
                    # Half of it, rounded towards 0.
                    negative = builder.lshr(difference, top)
                    sent = builder.ashr(builder.add(difference, negative), one)
                    units.append(most(sent, builder.neg(sent)))
                    rows[r], rows[s] = builder.sub(rows[r], sent), builder.add(rows[s], sent)
                    lows[r], lows[s] = least(lows[r], rows[r]), least(lows[s], rows[s])
            store(added(units, load(tops[MOVED])), tops[MOVED])
            with builder.if_else(last) as (then, otherwise):
                with then:
                    store(added(lows, load(tops[LOCAL])), tops[LOCAL])
                    for which, how in (LEAST, least), (MOST, most):
                        found = widened(joined(rows, how))
                        store(how(load(tops[which]), found), tops[which])
                with otherwise:
                    for start, row, low in zip(starts, rows, lows, strict=True):
                        store(row, place(0, start))
                        store(low, place(1, start))
            return context.get_dummy_value()

        index = types.int64
        return types.none(tile, kept, sums, index, strides, index, ends), generate

    return across


ACROSS = {
    (bits, linked): _machine_across(bits, linked)
    for bits in range(GROUPED + 1)
    for linked in (False, True)
}


@overload(_across, prefer_literal=True)
def _choose_across(tile, kept, sums, base, strides, w, ends, bits, linked):
    machine = ACROSS[bits.literal_value, linked.literal_value]
    return lambda tile, kept, sums, base, strides, w, ends, bits, linked: machine(
        tile, kept, sums, base, strides, w, ends
    )


@njit(cache=True, nogil=True)
def _lanes(tile):
    """Return how many lanes are balanced at a time."""
    return NARROW_LANES if tile.itemsize == 2 else LANES


@njit(cache=True, nogil=True)
def _dimensions(tile, kept, sums, group, spared, top, ends):
    """Balance a group of dimensions of a cube, whose last node is ``top``.

    Nodes in ``spared`` exchange nothing with the one above.
    """
    W, lanes = sums.shape[1], _lanes(tile)
    mask = 0
    for bit in group:
        mask |= 1 << bit
    first = W << group[0] if group.size > 0 else 0
    second = W << group[1] if group.size > 1 else 0
    third = W << group[2] if group.size > 2 else 0
    strides = first, second, third
    # Numbers with bits of ``others`` alone, one after the other.
    others = top & ~mask
    node = 0
    while True:
        row = node * W
        if spared[node]:
            for w in range(0, W, lanes):
                _across(tile, kept, sums, row + w, strides, w, ends, 1, False)
        elif group.size == 3:
            for w in range(0, W, lanes):
                _across(tile, kept, sums, row + w, strides, w, ends, 3, True)
        elif group.size == 2:
            for w in range(0, W, lanes):
                _across(tile, kept, sums, row + w, strides, w, ends, 2, True)
        elif group.size == 1:
            for w in range(0, W, lanes):
                _across(tile, kept, sums, row + w, strides, w, ends, 1, True)
        else:
            for w in range(0, W, lanes):
                _across(tile, kept, sums, row + w, strides, w, ends, 0, True)
        if node == others:
            return
        node = (node - others) & others


@njit(cache=True, nogil=True)
def _groups(dimensions, faults):
    """Return in how many groups dimensions are balanced: one by one where there are faults."""
    return max(1, dimensions if faults else (dimensions + GROUPED - 1) // GROUPED)


@njit(cache=True, nogil=True)
def _cube(tile, kept, sums, bits, groups, spared):
    """Balance all dimensions of a cube, in ``groups``; nodes in ``spared[g]`` sit out group g."""
    S = bits.size
    top = tile.size // sums.shape[1] - 1
    for g in range(groups):
        group = bits[S * g // groups : S * (g + 1) // groups]
        _dimensions(tile, kept, sums, group, spared[g], top, (g == 0, g == groups - 1))


@njit(cache=True, nogil=True)
def _store(sums, found, first):
    """Put what the lanes of a tile add up to with those of all trials."""
    # Row by row: all at once the 6-cube takes 0.05 ns a node longer.
    for row in range(SUMS):
        part, lanes = found[row, first : first + sums.shape[1]], sums[row]
        for w in range(part.size):
            part[w] = lanes[w]


@njit(cache=True, nogil=True)
def dem(tiles, kept, bits, faults, found):
    """Balance every cube of ``tiles`` (K, N, W) int16, int32 or int64, and use up the loads.

    ``W`` is a multiple of ``LANES`` and each total and what is moved of it fit the dtype, or in
    int16 of ``NARROW_LANES`` and int32, loads being at most ``NARROW``. ``kept`` (N W,) is room of
    that dtype. ``bits`` (S,) are the dimensions in order, ``faults`` (F, 2) faulty links as (bit,
    lower node), which exchange nothing. ``found`` (4, B) int64 receives the units that move, all
    dimensions together, those that never leave, and the least and the largest load at the end.
    """
    K, N, W = tiles.shape
    wide = np.empty(0, np.int32) + np.empty(0, tiles.dtype)
    sums = np.empty((SUMS, W), wide.dtype)
    groups = _groups(bits.size, faults.shape[0] > 0)
    spared = np.zeros((groups, N), np.bool_)
    for f in range(faults.shape[0]):
        for g in range(bits.size):
            spared[g, faults[f, 1]] |= faults[f, 0] == bits[g]
    for k in range(K):
        sums[:] = 0
        sums[LEAST] = np.iinfo(wide.dtype).max
        tile = tiles[k].reshape(-1)
        _cube(tile, kept, sums, bits, groups, spared)
        _store(sums, found, k * W)
