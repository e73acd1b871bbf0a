"""Copies between rows of loads, one network a row, and tiles with trials last.

Legend: ``B`` networks, ``N`` nodes, ``K`` tiles of ``W`` trials side by side, ``K W >= B``; ``W``
is a multiple of 16. ``place`` (N,) is the row of a tile in which each node stands.

    rows (B, N)                          tiles (K, N, W)

      a0 a1 a2 a3 ..   network a           a0 b0 c0 d0 ..   node 0 of networks a, b, c, d, ..
      b0 b1 b2 b3 ..   network b    <->    a1 b1 c1 d1 ..   node 1
      c0 c1 c2 c3 ..                       a2 b2 c2 d2 ..
      d0 d1 d2 d3 ..                       a3 b3 c3 d3 ..

Squares of as many networks as nodes are transposed in registers, in the narrower of both dtypes:
0.3 ns a load, where a loop over loads takes 1.2. Where networks have few nodes, two lie side by
side in each register, and half as many registers make up the square. Squares go along all nodes of
their networks, then to the next networks: rows are read, or written, from beginning to end.

Where the nodes do not fill whole squares, the last square of a network reaches into the next row.
In rows that square is written first, so that the squares of the next nodes or networks overwrite
what does not belong there; in tiles what lies beyond the last node goes to that node's row before
its own loads do. Networks that do not fill a square, or whose last square would reach beyond the
array, go through ``workspace``.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.processor import REGISTERS
from ..shared.tracing import cond, either, fori, traced, update
from ..shared.transposition import transpose
from ..shared.vectors import concatenate, lanes, maximum, minimum, select, split

# The most networks of a square.
SIDE = 16


def _bitwise_or(a, b):
    return a | b


@traced("to_tile")
def _copy_tile(rows, tiles, t, place, workspace, bits_seen, to_tile):
    """Copy the networks of tile t from ``rows`` to it, or back unless ``to_tile``.

    ``workspace`` : 16 N + 16 elements of the rows' dtype. ``bits_seen`` (16,) receives the bits of
    all loads that are copied to the tile, or'ed lane by lane, unless it is None.
    """
    B, N = rows.shape
    W = tiles.shape[2]
    narrow = min(rows.dtype, tiles.dtype, key=lambda dtype: dtype.itemsize)
    side = min(SIDE, lanes(narrow), REGISTERS // 2)

    def copy_square(source, start, i, w, along):
        """Copy ``along`` nodes from i on of ``side`` networks, lanes w .. w + side - 1 of the tile.

        The first network's load of node i is ``source[start]``.
        """
        networks = [start + N * r for r in range(side)]
        nodes = [(t * N + place[minimum(i + c, N - 1)]) * W + w for c in range(along)]

        if not to_tile:
            square = transpose([tiles.load(node, side).astype(narrow) for node in nodes])
            parts = [split(row, along) for row in square]
            for r, network in enumerate(networks):
                source.store(network, parts[r % along][r // along])
            return
        loads = [source.load(network, along) for network in networks]
        if bits_seen is not None:
            for row in loads:
                update(bits_seen, 0, _bitwise_or, row)
        loads = [row.astype(narrow) for row in loads]
        square = transpose([concatenate(loads[r::along]) for r in range(along)])

        def store(order):
            for c in order:
                tiles.store(nodes[c], square[c])

        # What lies beyond the last node goes to that node's row: in reverse, so that it is
        # overwritten by that node's own loads.
        cond(i + along > N, lambda: store(range(along)[::-1]), lambda: store(range(along)))

    def copy_networks(w, along):
        """Copy all nodes of the networks in lanes w .. w + side - 1, ``along`` at a time."""
        # ``last`` is the first node of the last square, ``loads`` how many loads there are.
        first, last = t * W + w, (N - 1) // along * along
        loads = minimum(B - first, side) * N
        beyond = (first + side - 1) * N + last + along > B * N
        source = either(beyond, workspace, rows)
        start = select(beyond, 0, first * N)

        def fill():
            def copy(j):
                workspace[j] = rows[first * N + j]

            def clear(j):
                workspace[j] = 0

            fori(loads, copy)
            fori((N + 1) * side, clear, start=maximum(loads, 0))

        def copy_back():
            def copy(j):
                rows[first * N + j] = workspace[j]

            fori(loads, copy)

        def square(turn):
            i = select(turn == 0, last, turn - along)
            copy_square(source, start + i, i, w, along)

        if to_tile:
            cond(beyond, fill)
        fori(last + along, square, step=along)
        if not to_tile:
            cond(beyond, copy_back)

    def copy_all(along):
        fori(W, lambda w: copy_networks(w, along), step=side)

    # Where half a square holds all nodes, two networks lie in each register.
    cond(side // 2 >= N, lambda: copy_all(side // 2), lambda: copy_all(side))


@kernel
def load(rows, tiles, place):
    """Copy ``rows`` (B, N) to ``tiles`` (K, N, W) of any dtype they fit.

    ``tiles[t, place[i], w]`` becomes ``rows[t * W + w, i]``, and 0 beyond the last row. Of loads
    that do not fit the lowest bits are copied.
    """
    workspace = np.empty(SIDE * (rows.shape[1] + 1), rows.dtype)
    for t in range(tiles.shape[0]):
        _copy_tile(rows, tiles, t, place, workspace, None, True)


@kernel
def load_within(rows, tiles, place, top):
    """Do the same for integers; return whether all loads lie between 0 and ``top``.

    ``top`` is one less than a power of two. Nothing is copied after the first tile with others.
    """
    workspace = np.empty(SIDE * (rows.shape[1] + 1), rows.dtype)
    bits_seen = np.zeros(SIDE, rows.dtype)
    for t in range(tiles.shape[0]):
        _copy_tile(rows, tiles, t, place, workspace, bits_seen, True)
        for lane in range(SIDE):
            if bits_seen[lane] < 0 or bits_seen[lane] > top:
                return False
    return True


@kernel
def store(tiles, rows, place):
    """Copy ``tiles`` (K, N, W) to ``rows`` (B, N) of any dtype they fit; see ``load``."""
    workspace = np.empty(SIDE * (rows.shape[1] + 1), rows.dtype)
    for t in range(tiles.shape[0]):
        _copy_tile(rows, tiles, t, place, workspace, None, False)
