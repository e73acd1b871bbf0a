"""Dimension exchange (Wu-Shu Fig. 1, More-Wu 2.1) of many or large cubes of real loads.

Both ends of a link take the same mean, so that every dimension halves how many numbers are left,
and all nodes end with the last one: a tree over neighbours whose leaves are the loads.

    loads    a   b   c   d   e   f   g   h  ..
    bit 0    (a+b)/2 (c+d)/2 (e+f)/2 (g+h)/2 ..        half as many numbers
    bit 1        (ab+cd)/2      (ef+gh)/2    ..        a quarter

Memory is read once: 16 registers become one, what is left of a block is halved in the L1 cache, and
the loads are looked at on the way. Nothing is written before all have been. Then it is written once.
"""

import numpy as np

from ..shared.compiling import kernel
from ..shared.tracing import fori, register_lanes, traced, update
from ..shared.vectors import lanes, maximum, reduce, shuffle, spread
from ..shared.views import overlap

# Registers whose means fill one, and the bits that are balanced so.
ROWS, ROW_BITS = 16, 4
# Nodes of a block, as bits.
BLOCK_BITS = 12


def _means(a, b):
    """Return the means of neighbours in two registers, in order."""
    even = shuffle(a, b, range(0, 2 * a.size, 2))
    odd = shuffle(a, b, range(1, 2 * a.size, 2))
    return (even + odd) * 0.5


@traced()
def _read(loads, base, count, means, peaks, first):
    """Set ``count`` registers of means from ``first`` on, of loads from ``base`` on; raise ``peaks``.

    ``peaks`` are the largest loads seen as unsigned numbers, by their bits: all that are negative,
    infinite or NaN are above all others; -0.0 counts as 0.0.
    """
    width = lanes(loads.dtype)
    unsigned = np.dtype(f"u{loads.dtype.itemsize}")

    def read(i):
        rows = [loads.load(base + (i * ROWS + r) * width) for r in range(ROWS)]
        means.store((first + i) * width, reduce(rows, _means))
        bits = reduce([(load + 0.0).view(unsigned) for load in rows], maximum)
        update(peaks.view(unsigned), 0, maximum, bits)

    fori(count, read)


@traced()
def _halve(means, count):
    """Set ``count`` registers to the means of neighbours, which take twice as many."""
    width = lanes(means.dtype)

    def halve(i):
        pair = means.load(i * (2 * width)), means.load(i * (2 * width) + width)
        means.store(i * width, _means(*pair))

    fori(count, halve)


@traced()
def _fill(target, base, nodes, load):
    """Set so many loads, a multiple of those in a register."""
    row = spread(load, target.load(base))
    fori(nodes, lambda i: target.store(base + i, row), step=row.size)


@kernel
def balance(source, target, n, largest):
    """Balance all cubes of ``source`` (B * N,) into ``target`` (B * N,), bits 0 .. n-1 in order.

    ``target`` may be ``source``; ``n >= ROW_BITS``. ``largest`` is the largest legal load. Returns
    0, or without writing anything 1 if a load is negative, above that or NaN, and -1 if the arrays
    overlap.
    """
    if overlap(source, target):
        return -1
    size, width = source.size, register_lanes(source)
    low = min(n, BLOCK_BITS)
    block, tree = 1 << BLOCK_BITS, ROWS * width
    # A register more than a block leaves, as whole registers are halved.
    means = np.zeros((block >> ROW_BITS) + 2 * width, source.dtype)
    peaks = np.zeros(width, source.dtype)
    rest = np.zeros(tree, source.dtype)
    roots = np.empty(size >> low, source.dtype)
    for start in range(0, size, block):
        nodes = min(block, size - start)
        whole = nodes // tree
        _read(source, start, whole, means, peaks, 0)
        if whole * tree < nodes:
            for i in range(whole * tree, nodes):
                rest[i - whole * tree] = source[start + i]
            _read(rest, 0, 1, means, peaks, whole)
        for bit in range(ROW_BITS, low):
            _halve(means, ((nodes >> bit + 1) + width - 1) // width)
        for c in range(nodes >> low):
            roots[(start >> low) + c] = means[c]
    illegal = 0
    for lane in range(width):
        # Negated, so that NaN counts.
        illegal += not (peaks[lane] >= 0 and peaks[lane] <= largest)
    if illegal > 0:
        return 1
    for bit in range(low, n):
        for c in range(size >> bit + 1):
            roots[c] = (roots[2 * c] + roots[2 * c + 1]) * source.dtype.type(0.5)
    for c in range(size >> n):
        _fill(target, c << n, 1 << n, roots[c])
    return 0
