"""Final loads of Hyper Hexa-Cell networks, one after the other (Hexa-Cell 2.1-2.3).

Legend: ``B`` networks of ``N = 3 * 2**d`` nodes. A node's number has as its lowest digit the place
0, 1, 2 in its triangle, then the bit of the triangle in its prism, then the bits of its cell.

A part of up to ``PART`` nodes is balanced by passes that read neighbours and write them far apart.
The first pass reads triangles, and writes their nodes to three rows; each further pass reads pairs,
and writes them to two rows:

    a0 b0 c0 a1 b1 c1 a2 ..   ->   a0 a1 a2 a3 .. | b0 b1 b2 b3 .. | c0 c1 c2 c3 ..
    a0 a1 a2 a3 ..            ->   a0 a2 .. | a1 a3 ..

So each pass turns the lowest digit of the numbers into the highest: the bit of the prism comes to
be the lowest, then the cells' bits, and after all passes every load is back at its node. Passes
read and write whole registers one after the other, and the part stays in the L1 cache.

Dimensions above a part exchange runs of consecutive loads in place, two dimensions at a time.
"""

import numpy as np

from ..shared.compiling import inlined, kernel
from ..shared.exchange import links
from ..shared.hexa_cell import balance_triangle, exchange_odd, odd_limit
from ..shared.tracing import cond, fori, traced
from ..shared.vectors import lanes, permute
from ..shared.views import flat, overlap

# The largest load of which three and 2 add up in int32.
NARROW = (2**31 - 3) // 3
# The nodes of 64 cells. With 512 cells AVX-512 takes 1.1 to 1.3 times as long, AVX2 as long.
PART = 6 << 6


@traced()
def _balance_part(source, target, start, passes, workspace, rules):
    """Balance the part of ``source`` from ``start`` on into the same place of ``target``.

    ``passes`` : how many passes there are over pairs, one for each bit of a triangle's number.
    ``workspace`` (2 * nodes of a part,) : of the dtype to compute in; passes read one half and
    write the other.
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
        """Read the workspace from ``here`` on, and write ``there`` from ``place`` on."""

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

    def exchange_group(number):
        base = start + number * (run << dimensions)

        def exchange_registers(at):
            places = [at + run * r for r in range(1 << dimensions)]
            registers = [loads.load(place, count) for place in places]
            for bit in range(dimensions):
                for r, s in links(dimensions, bit):
                    registers[r], registers[s], _ = exchange_odd(registers[r], registers[s], above)
            for place, register in zip(places, registers, strict=True):
                loads.store(place, register)

        fori(base + run, exchange_registers, start=base, step=count)

    fori((end - start) // (run << dimensions), exchange_group)


@inlined
def _balance(source, target, workspace, rules):
    """Balance all parts of networks by triangles and by the dimensions inside a part."""
    size = workspace.size // 2
    passes = 1
    while 6 << passes <= size:
        passes += 1
    for start in range(0, source.size, size):
        _balance_part(source, target, start, passes, workspace, rules)


@inlined
def _dimensions(loads, N, part, rules):
    """Balance networks of N loads by the dimensions whose runs have ``part`` loads or more."""
    for start in range(0, loads.size, N):
        run = part
        while run < N:
            if 2 * run < N:
                _exchange_runs(loads, start, start + N, run, rules, 2)
                run *= 4
            else:
                _exchange_runs(loads, start, start + N, run, rules, 1)
                run *= 2


@kernel
def balance(source, target, workspace, rules):
    """Balance networks ``source`` (B, N) of legal loads to ``target`` (B, N), perhaps the same.

    ``workspace`` (2 * min(N, PART),) : of the dtype to compute in, which three loads and 2 fit.
    ``rules`` : see ``shared/hexa_cell.py``.
    """
    _balance(source, target, workspace, rules)
    _dimensions(target, source.shape[1], workspace.size // 2, rules)


@kernel
def balance_few(source, target, N, averaging, greedy, prism, dims):
    """Check and balance networks of N integers, ``source`` (B, N) to ``target`` (B, N).

    The last four arguments are ``rules`` without ``polling``. Return 0; or 1, with nothing written,
    if a load is below 0 or above ``NARROW``, or if the arrays overlap without being the same.
    """
    loads, result = flat(source), flat(target)
    highest = np.uint64(0)
    for i in range(loads.size):
        # Read without a sign, negative loads are larger than all others.
        highest = max(highest, np.uint64(np.int64(loads[i])))
    if (highest > np.uint64(NARROW)) | overlap(source, target):
        return 1
    workspace = np.empty(2 * min(N, PART), np.int32)
    rules = averaging, greedy, None, prism, dims
    _balance(loads, result, flat(workspace), rules)
    _dimensions(result, N, PART, rules)
    # The flat view does not keep its array alive: the array is used once more.
    return 0 * workspace.size
