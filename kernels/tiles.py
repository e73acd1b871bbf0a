"""Rows of loads, one network a row, laid out with trials last, and back.

Legend: ``B`` networks, ``N`` nodes, ``K`` tiles of ``W`` trials side by side. ``place`` (N,) is the
row of a tile in which each node stands.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

SIDE = 16


def _transpose(rows, at, step, tile, place, i, W, w, to_tile):
    """Copy a square between ``SIDE`` rows ``step`` apart and the places of nodes from i on.

    It begins at ``rows[at]`` and at lane w of the tile.
    """
    for r in range(SIDE):
        for c in range(SIDE):
            here, there = at + r * step + c, place[i + c] * W + w + r
            if to_tile:
                tile[there] = rows[here]
            else:
                rows[here] = tile[there]


def _machine_transpose(to_tile):
    """Make ``_transpose`` of four rounds of shuffles; loops take 1.2 ns a load, this 0.3.

    Round by round, halves of 8, 4, 2 and 1 that lie off the diagonal change places.
    """

    @intrinsic
    def transpose(_typing, rows, _at, _step, tile, place, _i, _W, _w):
        def generate(context, builder, signature, arguments):
            data = [
                context.make_array(signature.args[number])(context, builder, arguments[number]).data
                for number in (0, 3, 4)
            ]
            _, at, step, _, _, i, W, w = arguments

            def vector(array_type):
                return ir.VectorType(context.get_data_type(array_type.dtype), SIDE)

            def spot(array_type, number, index):
                pointer = builder.gep(data[number], [index])
                return builder.bitcast(pointer, vector(array_type).as_pointer())

            in_rows, in_tile = [], []
            for c in range(SIDE):
                along = ir.Constant(i.type, c)
                line = builder.load(builder.gep(data[2], [builder.add(i, along)]))
                in_tile.append(spot(tile, 1, builder.add(builder.mul(line, W), w)))
                in_rows.append(spot(rows, 0, builder.add(at, builder.mul(step, along))))
            sides = (rows, in_rows), (tile, in_tile)
            (source, read), (target, written) = sides if to_tile else sides[::-1]
            parts = [
                _converted(
                    builder,
                    builder.load(pointer, align=source.dtype.bitwidth // 8),
                    source.dtype,
                    target.dtype,
                    vector(target),
                )
                for pointer in read
            ]
            for half in (8, 4, 2, 1):
                upper = [lane if not lane & half else SIDE + lane - half for lane in range(SIDE)]
                lower = [lane + half if not lane & half else SIDE + lane for lane in range(SIDE)]
                mask = ir.VectorType(ir.IntType(32), SIDE)
                for r in range(SIDE):
                    if not r & half:
                        a, b = parts[r], parts[r + half]
                        parts[r] = builder.shuffle_vector(a, b, ir.Constant(mask, upper))
                        parts[r + half] = builder.shuffle_vector(a, b, ir.Constant(mask, lower))
            for part, pointer in zip(parts, written, strict=True):
                builder.store(part, pointer, align=target.dtype.bitwidth // 8)
            return context.get_dummy_value()

        index = types.int64
        return types.none(rows, index, index, tile, place, index, index, index), generate

    return transpose


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


TRANSPOSE = {to_tile: _machine_transpose(to_tile) for to_tile in (False, True)}


@overload(_transpose, prefer_literal=True)
def _choose_transpose(rows, at, step, tile, place, i, W, w, to_tile):
    machine = TRANSPOSE[to_tile.literal_value]
    return lambda rows, at, step, tile, place, i, W, w, to_tile: machine(
        rows, at, step, tile, place, i, W, w
    )


@njit(cache=True, nogil=True)
def load(rows, tiles, place):
    """Copy ``rows`` (B, N) to ``tiles`` (K, N, W) of any dtype they fit, ``K W >= B``.

    ``tiles[t, place[i], w]`` becomes ``rows[t * W + w, i]``, and 0 beyond the last row. ``W`` is a
    multiple of ``SIDE``.
    """
    B, N = rows.shape
    W = tiles.shape[2]
    T = tiles.dtype.type
    source = rows.reshape(-1)
    whole = N // SIDE * SIDE
    # The last rows, made up to a square.
    left = np.zeros(SIDE * N if B % SIDE else 0, rows.dtype)
    for t in range(tiles.shape[0]):
        tile = tiles[t].reshape(-1)
        first = t * W
        width = min(W, B - first)
        square = width // SIDE * SIDE
        # Along the rows: across them takes up to 1.5 times as long, by two squares 1.1.
        for w in range(0, square, SIDE):
            for i in range(0, whole, SIDE):
                _transpose(source, (first + w) * N + i, N, tile, place, i, W, w, True)
        filled = square
        if square < width:
            filled += SIDE
            last = source[(first + square) * N :]
            for j in range(last.size):
                left[j] = last[j]
            for i in range(0, whole, SIDE):
                _transpose(left, i, N, tile, place, i, W, square, True)
        for i in range(whole if filled < W else 0):
            tile[place[i] * W + filled : (place[i] + 1) * W] = 0
        if whole < N:
            # Of all nodes: from ``whole`` on it takes 1.1 times as long, in ``store`` two thirds.
            for i in range(N):
                if i >= whole:
                    lanes, nodes = tile[place[i] * W :], source[first * N + i :]
                    for w in range(width):
                        lanes[w] = T(nodes[w * N])
                    for w in range(width, W):
                        lanes[w] = 0


@njit(cache=True, nogil=True)
def store(tiles, rows, place):
    """Copy ``tiles`` (K, N, W) to ``rows`` (B, N) of any dtype they fit; see ``load``."""
    B, N = rows.shape
    W = tiles.shape[2]
    T = rows.dtype.type
    target = rows.reshape(-1)
    whole = N // SIDE * SIDE
    left = np.empty(SIDE * N if B % SIDE else 0, rows.dtype)
    for t in range(tiles.shape[0]):
        tile = tiles[t].reshape(-1)
        first = t * W
        width = min(W, B - first)
        square = width // SIDE * SIDE
        for w in range(0, square, SIDE):
            for i in range(0, whole, SIDE):
                _transpose(target, (first + w) * N + i, N, tile, place, i, W, w, False)
        if square < width:
            for i in range(0, whole, SIDE):
                _transpose(left, i, N, tile, place, i, W, square, False)
            last = target[(first + square) * N :]
            for j in range(last.size):
                last[j] = left[j]
        for i in range(whole, N):
            lanes, nodes = tile[place[i] * W :], target[first * N + i :]
            for w in range(width):
                nodes[w * N] = T(lanes[w])
