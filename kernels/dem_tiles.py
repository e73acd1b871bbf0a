"""Dimension exchange on cubes with trials last, measured: DEM (Wu-Shu Fig. 1), plans with faults.

Legend: ``K`` tiles of ``W`` trials side by side, ``N = 2**n`` nodes, ``S`` dimensions in the order
balanced, ``M`` rows of a plan's program, ``B`` trials.

An exchange is one loop over two rows of lanes whatever the dimension, so none needs the shuffles
of ``dem.py``; the pair rule stands here once more. Three dimensions at a time are balanced
between the registers of eight rows; the last of them leave nothing but sums and extremes. Measured
on the 6-cube, ns a node: 2.9 by loops over slices, which are checked for overlaps all the time,
0.8 by vectors with what is kept copied before and added up after, 0.35 this way.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

LANES = 16
GROUPED = 3
# Nodes whose dimensions are balanced in the L1 cache before those of the next ones.
BLOCK = 128
# Kinds of a program's rows; all others are repairs.
SPLIT, WHOLE = 0, 1
# Rows of what lanes add up to.
MOVED, LOCAL, LEAST, MOST, SUMS = 0, 1, 2, 3, 4


def _across(tile, kept, sums, base, strides, w, ends, bits, linked):
    """Balance ``bits`` dimensions between rows that begin at ``base``, ``LANES`` lanes of each.

    The neighbour along dimension d begins ``strides[d]`` further; unless ``linked`` nothing is
    exchanged. ``ends`` tells whether these dimensions are the first and the last. ``kept`` holds
    the least loads, before the first nothing. The rows of ``sums`` (SUMS, W) receive from lane w
    on what is sent and, of the last, what was kept and the extremes; the loads are then lost.
    """
    first, last = ends
    places = [base]
    for d in range(bits):
        places = places + [place + strides[d] for place in places]
    rows = [tile[place : place + LANES].copy() for place in places]
    lows = [(tile if first else kept)[place : place + LANES].copy() for place in places]
    moved, local, least, most = sums[:, w : w + LANES]
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
            tile[place : place + LANES] = row
            kept[place : place + LANES] = low


def _machine_across(bits, linked):
    """Make ``_across`` with a register a row."""

    @intrinsic
    def across(_typing, tile, kept, sums, _base, strides, _w, ends):
        def generate(context, builder, signature, arguments):
            width = tile.dtype.bitwidth
            vector = ir.VectorType(context.get_data_type(tile.dtype), LANES)
            zero, one, top = (ir.Constant(vector, [value] * LANES) for value in (0, 1, width - 1))
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
                return builder.bitcast(pointer, vector.as_pointer())

            def load(pointer):
                return builder.load(pointer, align=width // 8)

            def store(row, pointer):
                builder.store(row, pointer, align=width // 8)

            def least(a, b):
                return builder.select(builder.icmp_signed("<", a, b), a, b)

            def most(a, b):
                return builder.select(builder.icmp_signed(">", a, b), a, b)

            starts = [arguments[3]]
            for d in range(bits):
                stride = builder.extract_value(arguments[4], d)
                starts += [builder.add(start, stride) for start in starts]
            lanes = [arguments[5]]
            for _ in range(1, SUMS):
                lanes.append(builder.add(lanes[-1], builder.extract_value(arrays[2].shape, 1)))
            tops = [place(2, lane) for lane in lanes]
            rows = [load(place(0, start)) for start in starts]
            lows = [load(builder.select(first, place(0, i), place(1, i))) for i in starts]
            units = load(tops[MOVED])
            for d in range(bits if linked else 0):
                for r in range(1 << bits):
                    if r >> d & 1:
                        continue
                    s = r + (1 << d)
                    difference = builder.sub(rows[r], rows[s])
                    # Half of it, rounded towards 0.
                    negative = builder.lshr(difference, top)
                    sent = builder.ashr(builder.add(difference, negative), one)
                    units = builder.add(units, most(sent, builder.sub(zero, sent)))
                    rows[r], rows[s] = builder.sub(rows[r], sent), builder.add(rows[s], sent)
                    lows[r], lows[s] = least(lows[r], rows[r]), least(lows[s], rows[s])
            store(units, tops[MOVED])
            with builder.if_else(last) as (then, otherwise):
                with then:
                    found = (LOCAL, lows, builder.add), (LEAST, rows, least), (MOST, rows, most)
                    for which, parts, join in found:
                        # In pairs, so that none waits for all those before.
                        while len(parts) > 1:
                            pairs = zip(parts[::2], parts[1::2], strict=True)
                            parts = [join(a, b) for a, b in pairs]
                        store(join(load(tops[which]), parts[0]), tops[which])
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
def _dimensions(tile, kept, sums, group, spared, base, free, ends):
    """Balance a group of dimensions of a subcube: ``base`` and any of the bits ``free``.

    Nodes in ``spared`` exchange nothing with the one above.
    """
    W = sums.shape[1]
    mask = 0
    for bit in group:
        mask |= 1 << bit
    first = W << group[0] if group.size > 0 else 0
    second = W << group[1] if group.size > 1 else 0
    third = W << group[2] if group.size > 2 else 0
    strides = first, second, third
    # Numbers with bits of ``others`` alone, one after the other.
    others = free & ~mask
    sub = 0
    while True:
        node = base | sub
        row = node * W
        if spared[node]:
            for w in range(0, W, LANES):
                _across(tile, kept, sums, row + w, strides, w, ends, 1, False)
        elif group.size == 3:
            for w in range(0, W, LANES):
                _across(tile, kept, sums, row + w, strides, w, ends, 3, True)
        elif group.size == 2:
            for w in range(0, W, LANES):
                _across(tile, kept, sums, row + w, strides, w, ends, 2, True)
        elif group.size == 1:
            for w in range(0, W, LANES):
                _across(tile, kept, sums, row + w, strides, w, ends, 1, True)
        else:
            for w in range(0, W, LANES):
                _across(tile, kept, sums, row + w, strides, w, ends, 0, True)
        if sub == others:
            return
        sub = (sub - others) & others


@njit(cache=True, nogil=True)
def _groups(dimensions, faults):
    """Return in how many groups dimensions are balanced: one by one where there are faults."""
    return max(1, dimensions if faults else (dimensions + GROUPED - 1) // GROUPED)


@njit(cache=True, nogil=True)
def _subcube(tile, kept, sums, bits, groups, spared, base, free, ends):
    """Balance all dimensions of a subcube, in ``groups``.

    Those of a block of nodes are balanced while it is in cache, as many as lead nowhere else.
    """
    S = bits.size
    near = 0
    while near < S and 1 << bits[near] < BLOCK:
        near += 1
    inside = 0
    while inside < groups and S * (inside + 1) // groups <= near:
        inside += 1
    blocks = free & -BLOCK
    block = 0
    while True:
        for g in range(inside):
            group = bits[S * g // groups : S * (g + 1) // groups]
            phase = ends[0] and g == 0, ends[1] and g == groups - 1
            _dimensions(tile, kept, sums, group, spared[g], base | block, free & (BLOCK - 1), phase)
        if block == blocks:
            break
        block = (block - blocks) & blocks
    for g in range(inside, groups):
        group = bits[S * g // groups : S * (g + 1) // groups]
        phase = ends[0] and g == 0, ends[1] and g == groups - 1
        _dimensions(tile, kept, sums, group, spared[g], base, free, phase)


@njit(cache=True, nogil=True)
def _gather(tile, kept, sums):
    """Add up what was kept, and find the extremes."""
    W = sums.shape[1]
    strides, ends = (W, 2 * W, 4 * W), (False, True)
    eights = tile.size // (8 * W) * (8 * W)
    for row in range(0, eights, 8 * W):
        for w in range(0, W, LANES):
            _across(tile, kept, sums, row + w, strides, w, ends, 3, False)
    for row in range(eights, tile.size, W):
        for w in range(0, W, LANES):
            _across(tile, kept, sums, row + w, strides, w, ends, 0, False)


@njit(cache=True, nogil=True)
def _store(sums, found, first):
    """Put what the lanes of a tile add up to with those of all trials."""
    part = found[:, first : first + sums.shape[1]]
    part[:] = sums[:, : part.shape[1]]


@njit(cache=True, nogil=True)
def dem(tiles, bits, faults, found):
    """Balance every cube of ``tiles`` (K, N, W) int32 or int64, and use up the loads.

    ``W`` is a multiple of ``LANES``; each total and what is moved of it fit the dtype. ``bits``
    (S,) are the dimensions in order, ``faults`` (F, 2) faulty links as (bit, lower node), which
    exchange nothing. ``found`` (4, B) int64 receives the units that move, all dimensions
    together, those that never leave, and the least and the largest load at the end.
    """
    K, N, W = tiles.shape
    kept = np.empty(N * W, tiles.dtype)
    sums = np.empty((SUMS, W), tiles.dtype)
    groups = _groups(bits.size, faults.shape[0] > 0)
    spared = np.zeros((groups, N), np.bool_)
    for f in range(faults.shape[0]):
        for g in range(bits.size):
            spared[g, faults[f, 1]] |= faults[f, 0] == bits[g]
    for k in range(K):
        sums[:] = 0
        sums[LEAST] = np.iinfo(tiles.dtype).max
        tile = tiles[k].reshape(-1)
        _subcube(tile, kept, sums, bits, groups, spared, 0, N - 1, (True, True))
        _store(sums, found, k * W)


@njit(cache=True, nogil=True)
def _register(load, donor, least, pegs, held, holes, low, moved):
    """Take the loads of a stuck node as pegs above its donor's, and leave it the donor's."""
    T = load.dtype.type
    for u in range(load.size):
        other = donor[u]
        above = T(load[u] - other)
        held[u], low[u], load[u] = other, other, other
        pegs[u] = above
        holes[u] = max(T(0), T(-above))
        moved[u] += T(abs(above))
        least[u] = min(least[u], other)


@njit(cache=True, nogil=True)
def _shift(X, Y, held_x, held_y, holes_x, holes_y, low_x, low_y, moved):
    """Level pegs; a node gives at most its load minus its holes, which is held + pegs."""
    T = X.dtype.type
    for u in range(X.size):
        x, y = X[u], Y[u]
        d = T(x - y)
        sent = min(T(T(d + T(d < 0)) >> T(1)), T(held_x[u] + x))
        sent = max(sent, T(-T(held_y[u] + y)))
        x, y = T(x - sent), T(y + sent)
        X[u], Y[u] = x, y
        moved[u] += T(abs(sent))
        low_x[u] = min(low_x[u], T(T(held_x[u] + x) + holes_x[u]))
        low_y[u] = min(low_y[u], T(T(held_y[u] + y) + holes_y[u]))


@njit(cache=True, nogil=True)
def _settle(load, least, pegs, held, holes, low):
    """Leave the donor what it held and its pegs."""
    T = load.dtype.type
    for u in range(load.size):
        left = max(T(0), T(held[u] + pegs[u]))
        kept = min(low[u], left) if holes[u] > 0 else low[u]
        load[u] = left
        least[u] = min(least[u], kept)


@njit(cache=True, nogil=True)
def _repair(tile, kept, moved, base, free, bit, scratch):
    """Level the pegs and holes of a stuck subcube in its donor; see ``fault_tolerant_dem.py``."""
    W = moved.size
    pegs, held, holes, low = scratch
    end = sub = 0
    while True:
        a, d = (base | sub) * W, ((base | sub) ^ (1 << bit)) * W
        m = end + W
        _register(
            tile[a : a + W], tile[d : d + W], kept[a : a + W], pegs[end:m], held[end:m],
            holes[end:m], low[end:m], moved,
        )  # fmt: skip
        end = m
        if sub == free:
            break
        sub = (sub - free) & free
    h = W
    while h < end:
        for o in range(0, end, 2 * h):
            for i in range(o, o + h, W):
                m, j, n = i + W, i + h, i + h + W
                _shift(
                    pegs[i:m], pegs[j:n], held[i:m], held[j:n], holes[i:m], holes[j:n],
                    low[i:m], low[j:n], moved,
                )  # fmt: skip
        h *= 2
    i = sub = 0
    while True:
        d = ((base | sub) ^ (1 << bit)) * W
        m = i + W
        _settle(tile[d : d + W], kept[d : d + W], pegs[i:m], held[i:m], holes[i:m], low[i:m])
        i = m
        if sub == free:
            return
        sub = (sub - free) & free


@njit(cache=True, nogil=True)
def carry_out(tiles, program, bits, deepest, found):
    """Run a plan of fault-tolerant DEM (More-Wu section 2.2) on every cube of ``tiles``.

    ``program`` (M, 4) is the plan's, its first row of the whole cube; ``bits`` (n,) are all
    dimensions in the order in which subcubes without faults are balanced, ``deepest`` is the
    largest dimension of a stuck subcube; all else as for ``dem``.
    """
    K, N, W = tiles.shape
    kept = np.empty(N * W, tiles.dtype)
    sums = np.empty((SUMS, W), tiles.dtype)
    room = W << deepest
    scratch = (
        np.empty(room, tiles.dtype), np.empty(room, tiles.dtype),
        np.empty(room, tiles.dtype), np.empty(room, tiles.dtype),
    )  # fmt: skip
    spared = np.zeros((_groups(bits.size, False), N), np.bool_)
    # The dimensions balanced by each row.
    own = np.empty((program.shape[0], max(1, bits.size)), np.int64)
    owns = np.zeros(program.shape[0], np.int64)
    for m in range(program.shape[0]):
        own[m, 0] = program[m, 3]
        for bit in bits:
            if program[m, 0] == WHOLE and program[m, 2] >> bit & 1:
                own[m, owns[m]] = bit
                owns[m] += 1
    for k in range(K):
        sums[:] = 0
        sums[LEAST] = np.iinfo(tiles.dtype).max
        tile = tiles[k].reshape(-1)
        for m in range(program.shape[0]):
            action, base, free, bit = program[m]
            ends = m == 0, False
            if action == SPLIT:
                _dimensions(tile, kept, sums, own[m, :1], spared[0], base, free, ends)
            elif action == WHOLE:
                own_bits, groups = own[m, : owns[m]], _groups(owns[m], False)
                _subcube(tile, kept, sums, own_bits, groups, spared, base, free, ends)
            else:
                _repair(tile, kept, sums[MOVED], base, free, bit, scratch)
        _gather(tile, kept, sums)
        _store(sums, found, k * W)
