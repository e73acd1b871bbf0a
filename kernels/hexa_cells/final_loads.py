"""Final loads of Hyper Hexa-Cell networks, one after the other (Hexa-Cell 2.1-2.3).

Legend: ``B`` networks of ``N = 3 * 2**d`` nodes. The number of a node has three places of a
triangle as its lowest digit, then two triangles of a prism, then the bits of its cell.

A part of up to ``PART`` nodes is balanced by passes that take neighbours and lay them apart. The
first pass takes triangles, and writes their nodes in three rows; each further one takes pairs, and
writes them in two rows:

    a0 b0 c0 a1 b1 c1 a2 ..   ->   a0 a1 a2 a3 .. | b0 b1 b2 b3 .. | c0 c1 c2 c3 ..
    a0 a1 a2 a3 ..            ->   a0 a2 .. | a1 a3 ..

So the lowest digit of the numbers becomes the highest, and the next one is the lowest: that of the
prism, then the cells' bits. After all passes every load is back at its node. All of them read and
write whole registers one after the other, and the part stays in the L1 cache.

The dimensions above a part exchange runs of consecutive loads, which are done in memory as they
lie, two dimensions at a time, and for as long as it goes within blocks that fit the L2 cache.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.exchange import links
from ..shared.hexa_cell import balance_triangle, exchange_odd, odd_limit
from ..shared.tracing import cond, fori, traced
from ..shared.vectors import lanes, permute
from ..shared.views import flat, overlap

# Three loads up to this and 2 add up in 32 bits.
NARROW = (2**31 - 3) // 3
# A part of 512 cells twice in 32 bits takes 24 KiB, and fits the L1 cache: 2048 cells take 0.42 ns
# a node so, 0.59 as one part.
PART = 6 << 9
# Without blocks 12 million nodes take 1.1 times as long.
BLOCK = 2**16


@traced()
def _balance_part(source, target, start, passes, workspace, rules):
    """Balance the part of ``source`` from ``start`` on into the same place of ``target``.

    ``passes`` : of pairs, one for each bit of a triangle's number. ``workspace`` : two rows of the
    part's size, of the dtype to compute in.
    """
    dtype, size = workspace.dtype, workspace.shape[0] // 2

    def lay_triangles_apart(count):
        triangles = size // 3

        def lay_apart(t):
            nodes = source.load(start + t * 3, 3 * count).astype(dtype)
            places = [permute(nodes, range(i, 3 * count, 3)) for i in range(3)]
            for i, load in enumerate(balance_triangle(places, rules)):
                workspace.store(triangles * i + t, load)

        fori(triangles, lay_apart, step=count)

    def lay_pairs_apart(count, here, there, place, above):
        def lay_apart(j):
            nodes = workspace.load(here + j * 2, 2 * count)
            low, high = (permute(nodes, range(i, 2 * count, 2)) for i in range(2))
            low, high = exchange_odd(low, high, above)[:2]
            there.store(place + j, low)
            there.store(place + size // 2 + j, high)

        fori(size // 2, lay_apart, step=count)

    def balance(count):
        def lay_apart(turn):
            here = (turn & 1) * size
            above = odd_limit(turn == 0, rules, dtype)
            cond(
                turn < passes - 1,
                lambda: lay_pairs_apart(count, here, workspace, size - here, above),
                lambda: lay_pairs_apart(count, here, target, start, above),
            )

        lay_triangles_apart(count)
        fori(passes, lay_apart)

    count = lanes(dtype)
    cond(size % (6 * count) == 0, lambda: balance(count), lambda: balance(1))


@traced("dimensions")
def _exchange_runs(loads, start, end, run, rules, dimensions):
    """Exchange runs of ``run`` loads between ``start`` and ``end`` along one dimension or two."""
    count = lanes(loads.dtype)
    above = odd_limit(run == 3, rules, loads.dtype)

    def exchange_block(base):
        def exchange_registers(at):
            places = [at + run * r for r in range(1 << dimensions)]
            registers = [loads.load(place, count) for place in places]
            for bit in range(dimensions):
                for r, s in links(dimensions, bit):
                    registers[r], registers[s], _ = exchange_odd(registers[r], registers[s], above)
            for place, register in zip(places, registers, strict=True):
                loads.store(place, register)

        fori(base + run, exchange_registers, start=base, step=count)

    def block(number):
        exchange_block(start + number * (run << dimensions))

    fori((end - start) // (run << dimensions), block)


@inlined
def _balance(source, target, workspace, rules):
    size = workspace.size // 2
    passes = 1
    while 6 << passes <= size:
        passes += 1
    for start in range(0, source.size, size):
        _balance_part(source, target, start, passes, workspace, rules)


@inlined
def _dimensions(loads, N, run, rules):
    """Balance networks of N loads by the dimensions from runs of ``run`` loads on."""
    block = run
    while block < min(N, BLOCK):
        block *= 2
    while run < N:
        # At first within blocks, then in whole networks.
        end = block if run < block else N
        for start in range(0, loads.size, end):
            length = run
            while length < end:
                if 2 * length < end:
                    _exchange_runs(loads, start, start + end, length, rules, 2)
                    length *= 4
                else:
                    _exchange_runs(loads, start, start + end, length, rules, 1)
                    length *= 2
        run = end


@kernel
def balance(source, target, workspace, rules):
    """Balance networks (B, N) of legal loads; ``target`` may be ``source``.

    ``workspace`` : twice as many elements as a network, or a part of a larger one, has nodes, of
    the dtype to compute in, which three loads and 2 fit. ``rules`` : see ``shared/hexa_cell.py``.
    """
    _balance(source, target, workspace, rules)
    _dimensions(target, source.shape[1], workspace.size // 2, rules)


@kernel
def balance_few(source, target, N, averaging, greedy, prism, dims):
    """Check and balance networks of N integers, one after the other in flat arrays.

    Return 1, with nothing written, if a load lies below 0 or above ``NARROW``, or if the arrays
    overlap without being the same.
    """
    loads, result = flat(source), flat(target)
    highest = np.uint64(0)
    for i in range(loads.size):
        # Without a sign what is negative is larger than all others.
        highest = max(highest, np.uint64(np.int64(loads[i])))
    if (highest > np.uint64(NARROW)) | overlap(source, target):
        return 1
    room = np.empty(2 * min(N, PART), np.int32)
    rules = averaging, greedy, None, prism, dims
    _balance(loads, result, flat(room), rules)
    _dimensions(result, N, PART, rules)
    # Used once more, as a flat view does not keep its array alive.
    return 0 * room.size
