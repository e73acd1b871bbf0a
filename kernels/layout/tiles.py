"""Rows of loads, one network a row, laid out with trials last, and back.

Legend: ``B`` networks, ``N`` nodes, ``K`` tiles of ``W`` trials side by side. ``place`` (N,) is the
row of a tile in which each node stands.
"""

import numpy as np
from llvmlite import ir
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic, overload

SIDE = 16
# Networks of so many nodes are taken two a line of a square.
HALF = SIDE // 2
# Where so many bytes hold the rows of a square, those of the next are fetched meanwhile: 0.8 of
# the time of loads that are in no cache. Longer rows the machine fetches by itself, and 10-cubes
# take 1.4 times as long with it.
FETCHED_BYTES = 2**13
LINE = 64


def _transpose(rows, at, step, tile, place, i, W, w, seen, networks, to_tile):
    """Copy a square between rows ``step`` apart and the places of nodes from i on.

    It begins at ``rows[at]`` and at lane w of the tile. A line of it holds ``SIDE`` nodes of a
    network, or ``HALF`` of each of two ``networks``, which are ``SIDE`` rows and lanes apart.
    The bits of all loads are added to those ``seen`` (SIDE,), unless this is None.
    """
    for r in range(SIDE * networks):
        line = rows[at + r * step : at + r * step + SIDE // networks]
        there = place[i : i + line.size] * W + w + r
        if not to_tile:
            line[:] = tile[there]
            continue
        # Of loads too large for the tile, which are refused, the lowest bits.
        tile[there] = line.astype(tile.dtype)
        if seen is not None:
            for c in range(line.size):
                seen[c] |= line[c]


def _machine_transpose(networks, to_tile):
    """Make ``_transpose`` of four rounds of shuffles; loops take 1.2 ns a load, this 0.3.

    Round by round, halves of 8, 4, 2 and 1 that lie off the diagonal change places.
    """
    along = SIDE // networks

    @intrinsic
    def transpose(_typing, rows, _at, _step, tile, place, _i, _W, _w, seen):
        def generate(context, builder, signature, arguments):
            data = [
                context.make_array(signature.args[number])(context, builder, arguments[number]).data
                for number in (0, 3, 4)
            ]
            _, at, step, _, _, i, W, w, _ = arguments

            def vector(array_type, count):
                return ir.VectorType(context.get_data_type(array_type.dtype), count)

            def spot(array_type, pointer, index, count):
                pointer = builder.gep(pointer, [index])
                return builder.bitcast(pointer, vector(array_type, count).as_pointer())

            def lanes(a, b, chosen):
                mask = ir.VectorType(ir.IntType(32), len(chosen))
                return builder.shuffle_vector(a, b, ir.Constant(mask, list(chosen)))

            def load(array_type, pointer):
                return builder.load(pointer, align=array_type.dtype.bitwidth // 8)

            in_rows, in_tile = [], []
            for c in range(SIDE):
                line = builder.gep(data[2], [builder.add(i, ir.Constant(i.type, c % along))])
                lane = builder.add(w, ir.Constant(w.type, SIDE * (c // along)))
                index = builder.add(builder.mul(builder.load(line), W), lane)
                in_tile.append(spot(tile, data[1], index, SIDE))
            for r in range(SIDE * networks):
                index = builder.add(at, builder.mul(step, ir.Constant(i.type, r)))
                in_rows.append(spot(rows, data[0], index, along))
            following = builder.mul(step, ir.Constant(i.type, SIDE * networks))
            size = rows.dtype.bitwidth // 8
            near = ir.Constant(i.type, FETCHED_BYTES // size)
            with builder.if_then(builder.icmp_signed("<=", following, near)):
                for pointer in in_rows:
                    start = builder.bitcast(pointer, data[0].type)
                    _fetch(
                        builder, builder.gep(start, [following]), along, size, to_write=not to_tile
                    )
            if to_tile:
                parts = [load(rows, pointer) for pointer in in_rows]
                if seen != types.none:
                    found = context.make_array(seen)(context, builder, arguments[8]).data
                    found = spot(seen, found, ir.Constant(i.type, 0), along)
                    together = load(seen, found)
                    for part in parts:
                        together = builder.or_(together, part)
                    builder.store(together, found, align=seen.dtype.bitwidth // 8)
                wanted = vector(tile, along)
                parts = [_converted(builder, p, rows.dtype, tile.dtype, wanted) for p in parts]
                if networks == 2:
                    both = range(SIDE)
                    parts = [lanes(parts[r], parts[SIDE + r], both) for r in range(SIDE)]
            else:
                wanted = vector(rows, SIDE)
                parts = [
                    _converted(builder, load(tile, p), tile.dtype, rows.dtype, wanted)
                    for p in in_tile
                ]
            for half in (8, 4, 2, 1):
                upper = [lane if not lane & half else SIDE + lane - half for lane in range(SIDE)]
                lower = [lane + half if not lane & half else SIDE + lane for lane in range(SIDE)]
                for r in range(SIDE):
                    if not r & half:
                        a, b = parts[r], parts[r + half]
                        parts[r], parts[r + half] = lanes(a, b, upper), lanes(a, b, lower)
            target, written = (tile, in_tile) if to_tile else (rows, in_rows)
            if networks == 2 and not to_tile:
                sides = range(HALF), range(HALF, SIDE)
                parts = [lanes(part, part, side) for side in sides for part in parts]
            for part, pointer in zip(parts, written, strict=True):
                builder.store(part, pointer, align=target.dtype.bitwidth // 8)
            return context.get_dummy_value()

        index = types.int64
        return types.none(rows, index, index, tile, place, index, index, index, seen), generate

    return transpose


def _fetch(builder, start, count, size, *, to_write):
    """Build a hint to fetch the lines of elements of ``size`` bytes, which may lie outside."""
    byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
    fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    for first in range(0, count, LINE // size):
        place = builder.gep(start, [ir.Constant(ir.IntType(64), first)])
        builder.call(fetch, [builder.bitcast(place, byte), word(int(to_write)), word(3), word(1)])


def _converted(builder, part, given, wanted, vector):
    """Build the conversion of a vector from one dtype of loads to another."""
    if given.bitwidth == wanted.bitwidth:
        return part
    narrower = given.bitwidth > wanted.bitwidth
    if isinstance(given, types.Float):
        return builder.fptrunc(part, vector) if narrower else builder.fpext(part, vector)
    if narrower:
        return builder.trunc(part, vector)
    return builder.sext(part, vector) if given.signed else builder.zext(part, vector)


TRANSPOSE = {
    (networks, to_tile): _machine_transpose(networks, to_tile)
    for networks in (1, 2)
    for to_tile in (False, True)
}


@overload(_transpose, prefer_literal=True)
def _choose_transpose(rows, at, step, tile, place, i, W, w, seen, networks, to_tile):
    machine = TRANSPOSE[networks.literal_value, to_tile.literal_value]
    return lambda rows, at, step, tile, place, i, W, w, seen, networks, to_tile: machine(
        rows, at, step, tile, place, i, W, w, seen
    )


@intrinsic
def _start(_typing, array):
    """Return the pointer to an array's first element."""

    def generate(context, builder, signature, arguments):
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


def _flat(array):
    """Return an array seen as (N,), for the compiler one that nobody counts.

    Squares of counted ones take 1.2 to 1.8 times as long: loops count them in and out each time.
    """
    return array.reshape(-1)


@overload(_flat)
def _choose_flat(array):
    return lambda array: carray(_start(array), array.size)  # type: ignore[call-arg]


@njit(cache=True, nogil=True)
def _in_pairs(N, W):
    """Tell whether networks go two a line."""
    return N == HALF and W % (2 * SIDE) == 0


@njit(cache=True, nogil=True)
def _load_pairs(source, tile, place, W, left, seen):
    """Copy networks of ``HALF`` nodes to a tile; they need not fill it."""
    N, square = HALF, 2 * SIDE
    w = 0
    while (w + square) * N <= source.size:
        _transpose(source, w * N, N, tile, place, 0, W, w, seen, 2, True)
        w += square
    if w * N < source.size:
        last = source[w * N :]
        left[:] = 0
        for j in range(last.size):
            left[j] = last[j]
        _transpose(left, 0, N, tile, place, 0, W, w, seen, 2, True)
        w += square
    if w < W:
        for i in range(N):
            tile[i * W + w : (i + 1) * W] = 0


@njit(cache=True, nogil=True)
def _load(source, tile, place, W, left, seen):
    """Copy networks to a tile, which they need not fill."""
    T = tile.dtype.type
    N = place.size
    whole = N // SIDE * SIDE
    width = source.size // N
    square = width // SIDE * SIDE
    # Whole rows: two squares of all rows, then the next, take 1.3 times as long on 10-cubes.
    for w in range(0, square, SIDE):
        for i in range(0, whole, SIDE):
            _transpose(source, w * N + i, N, tile, place, i, W, w, seen, 1, True)
    filled = square
    if square < width:
        filled += SIDE
        last = source[square * N :]
        left[:] = 0
        for j in range(last.size):
            left[j] = last[j]
        for i in range(0, whole, SIDE):
            _transpose(left, i, N, tile, place, i, W, square, seen, 1, True)
    for i in range(whole if filled < W else 0):
        tile[place[i] * W + filled : (place[i] + 1) * W] = 0
    if whole < N:
        # Of all nodes: where N is not known to be positive this takes twice as long.
        for i in range(N):
            if i >= whole:
                lanes, nodes = tile[place[i] * W :], source[i:]
                for w in range(width):
                    lanes[w] = T(nodes[w * N])
                    if seen is not None:
                        seen[0] |= nodes[w * N]
                for w in range(width, W):
                    lanes[w] = 0


@njit(cache=True, nogil=True)
def load(rows, tiles, place):
    """Copy ``rows`` (B, N) to ``tiles`` (K, N, W) of any dtype they fit, ``K W >= B``.

    ``tiles[t, place[i], w]`` becomes ``rows[t * W + w, i]``, and 0 beyond the last row. ``W`` is a
    multiple of ``SIDE``.
    """
    N, W = rows.shape[1], tiles.shape[2]
    source, lanes, place = _flat(rows), _flat(tiles), _flat(place)
    # The last rows, made up to a square.
    left = np.empty(SIDE * max(SIDE, N), rows.dtype)
    for t in range(tiles.shape[0]):
        begin, end = t * W * N, (t + 1) * W * N
        given, tile = source[begin:end], lanes[begin:end]
        if _in_pairs(N, W):
            _load_pairs(given, tile, place, W, left, None)
        else:
            _load(given, tile, place, W, left, None)


@njit(cache=True, nogil=True)
def load_within(rows, tiles, place, top):
    """Do the same for integers; return False, at the first such tile, if some lack in ``0 .. top``.

    ``top`` is one less than a power of two.
    """
    N, W = rows.shape[1], tiles.shape[2]
    source, lanes, place = _flat(rows), _flat(tiles), _flat(place)
    left = np.empty(SIDE * max(SIDE, N), rows.dtype)
    # Asked at last, as what is not counted would be gone by then.
    found = np.zeros(SIDE, rows.dtype)
    seen = _flat(found)
    for t in range(tiles.shape[0]):
        begin, end = t * W * N, (t + 1) * W * N
        given, tile = source[begin:end], lanes[begin:end]
        if _in_pairs(N, W):
            _load_pairs(given, tile, place, W, left, seen)
        else:
            _load(given, tile, place, W, left, seen)
        for lane in range(SIDE):
            if found[lane] < 0 or found[lane] > top:
                return False
    return True


@njit(cache=True, nogil=True)
def _store_pairs(tile, target, place, W, left):
    N, square = HALF, 2 * SIDE
    w = 0
    while (w + square) * N <= target.size:
        _transpose(target, w * N, N, tile, place, 0, W, w, None, 2, False)
        w += square
    if w * N < target.size:
        _transpose(left, 0, N, tile, place, 0, W, w, None, 2, False)
        last = target[w * N :]
        for j in range(last.size):
            last[j] = left[j]


@njit(cache=True, nogil=True)
def _store(tile, target, place, W, left):
    T = target.dtype.type
    N = place.size
    whole = N // SIDE * SIDE
    width = target.size // N
    square = width // SIDE * SIDE
    for w in range(0, square, SIDE):
        for i in range(0, whole, SIDE):
            _transpose(target, w * N + i, N, tile, place, i, W, w, None, 1, False)
    if square < width:
        for i in range(0, whole, SIDE):
            _transpose(left, i, N, tile, place, i, W, square, None, 1, False)
        last = target[square * N :]
        for j in range(last.size):
            last[j] = left[j]
    for i in range(whole, N):
        lanes, nodes = tile[place[i] * W :], target[i:]
        for w in range(width):
            nodes[w * N] = T(lanes[w])


@njit(cache=True, nogil=True)
def store(tiles, rows, place):
    """Copy ``tiles`` (K, N, W) to ``rows`` (B, N) of any dtype they fit; see ``load``."""
    N, W = rows.shape[1], tiles.shape[2]
    target, lanes, place = _flat(rows), _flat(tiles), _flat(place)
    left = np.empty(SIDE * max(SIDE, N), rows.dtype)
    for t in range(tiles.shape[0]):
        begin, end = t * W * N, (t + 1) * W * N
        taken, tile = target[begin:end], lanes[begin:end]
        if _in_pairs(N, W):
            _store_pairs(tile, taken, place, W, left)
        else:
            _store(tile, taken, place, W, left)
