"""Dimension exchange (Wu-Shu Fig. 1, More-Wu 2.1) of many or large cubes of real loads.

Both ends of a link take the same mean, so that every dimension halves how many numbers are left,
and all nodes end with the last one: a tree over neighbours whose leaves are the loads.

    loads    a   b   c   d   e   f   g   h  ..
    bit 0    (a+b)/2 (c+d)/2 (e+f)/2 (g+h)/2 ..        half as many numbers
    bit 1        (ab+cd)/2      (ef+gh)/2    ..        a quarter

Cubes lie one after another, node 0 first. Memory is read once, block by block: 16 registers become
one of means, which are halved further in the L1 cache, and loads are checked on the way. The means
of blocks are the leaves of the rest of the tree. Then memory is written once, unless a load is not
legal.
"""

import numpy as np

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tracing import fori, register_lanes, traced, update
from ..shared.vectors import lanes, maximum, reduce, shuffle, spread
from ..shared.views import overlap

# So many registers become one of means, along so many bits.
ROWS, ROW_BITS = 16, 4
# A block is 2**BLOCK_BITS nodes.
BLOCK_BITS = 12


def _means(a, b):
    """Return the means of neighbours, lanes 0 and 1, 2 and 3, .., of two registers, in order."""
    even = shuffle(a, b, range(0, 2 * a.size, 2))
    odd = shuffle(a, b, range(1, 2 * a.size, 2))
    return (even + odd) * 0.5


@traced()
def _read(loads, base, count, means, peaks, first):
    """Set registers ``first .. first + count - 1`` of ``means``, ``ROWS`` registers of loads each.

    The loads begin at index ``base``. ``peaks``, a register, becomes the largest load of each lane
    with their bits read as unsigned integers: what is negative or NaN comes above all legal loads.
    -0.0 counts as 0.0.
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
    """Set the first ``count`` registers to the means of neighbours in twice as many registers."""
    width = lanes(means.dtype)

    def halve(i):
        pair = means.load(i * (2 * width)), means.load(i * (2 * width) + width)
        means.store(i * width, _means(*pair))

    fori(count, halve)


@traced()
def _fill(target, base, nodes, load):
    """Set ``nodes`` loads from index ``base`` on, whole registers, to one load."""
    row = spread(load, target.load(base))
    fori(nodes, lambda i: target.store(base + i, row), step=row.size)


@long_kernel
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
    # Whole registers are halved, so that up to two beyond the means of a block are read.
    means = np.zeros((block >> ROW_BITS) + 2 * width, source.dtype)
    peaks = np.zeros(width, source.dtype)
    rest = np.zeros(tree, source.dtype)
    roots = np.empty(size >> low, source.dtype)
    meter = new_meter()
    for start in range(0, size, block):
        nodes = min(block, size - start)
        if interrupted(meter, nodes):
            return 1
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
        # Comparisons with NaN are false, so that NaN is illegal, too.
        illegal += not (peaks[lane] >= 0 and peaks[lane] <= largest)
    if illegal > 0:
        return 1
    for bit in range(low, n):
        for c in range(size >> bit + 1):
            roots[c] = (roots[2 * c] + roots[2 * c + 1]) * source.dtype.type(0.5)
    for c in range(size >> n):
        _fill(target, c << n, 1 << n, roots[c])
    return 0
