"""Dimension exchange on the hypercube (Wu-Shu Fig. 1, More-Wu 2.1) of real loads.

Legend: ``B`` networks, ``N = 2**n`` nodes.

Both ends of a link take the same mean, so that every dimension halves the numbers left, and all
nodes end with the last: a tree over neighbours, whose leaves are the loads. It is gone up in
registers, and loads are looked at on the way; nothing is written before all have been. Measured
against a look at all loads and turning nodes within two registers: the 10-cube 0.45 of the time as
float32 and 0.5 as float64, of which a call of nothing is 0.3; the 17-cube 0.4 and 0.57, the 24-cube
0.38 and 0.55. Rejected: shuffles within quarters of registers, and looking at signs alone, which
leaves what is large or NaN to the mean (both 0.98 to 1.02 of the time).
"""

import numpy as np
from llvmlite import ir
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 16
LANE_BITS = 4
# Of a row for each lane one row of means is left.
ROWS = 16
LEAST_BITS = 8
BLOCK_BITS = 12
# For peaks, the means of a block's rows, and some roots.
ROOM = LANES + (1 << BLOCK_BITS) // LANES + LANES


def _halved(loads, bits):
    """Return the means of neighbours, so many times."""
    for _ in range(bits):
        loads = (loads[::2] + loads[1::2]) * loads.dtype.type(0.5)
    return loads


def _means(loads, base, means, place, peaks):
    """Set ``LANES`` means from ``place`` on, each of a row from ``base`` on.

    ``peaks`` (LANES,) are raised to the loads above them if seen as unsigned numbers, by bits: all
    that are negative, infinite or NaN are above all others; -0.0 is seen as 0.0.
    """
    whole = loads[base : base + ROWS * LANES]
    means[place : place + LANES] = _halved(whole, LANE_BITS)
    bits = f"u{loads.itemsize}"
    rows = (whole + loads.dtype.type(0)).reshape(ROWS, LANES)
    for row in rows.view(bits):
        np.maximum(peaks.view(bits), row, out=peaks.view(bits))


def _mean(means, base, rows):
    """Return the mean of so many rows from ``base`` on."""
    return _halved(means[base : base + rows * LANES], rows.bit_length() - 1 + LANE_BITS)[0]


class _Tree:
    """Builds instructions on registers of ``LANES`` real numbers."""

    def __init__(self, context, builder, array_type, array, base):
        self.builder, self.base = builder, base
        real = context.get_data_type(array_type.dtype)
        self.vector = ir.VectorType(real, LANES)
        self.bits = ir.VectorType(ir.IntType(array_type.dtype.bitwidth), LANES)
        self.data = context.make_array(array_type)(context, builder, array).data
        self.align = array_type.dtype.bitwidth // 8

    def load(self, row):
        index = self.builder.add(self.base, ir.Constant(self.base.type, row * LANES))
        place = self.builder.bitcast(self.builder.gep(self.data, [index]), self.vector.as_pointer())
        return self.builder.load(place, align=self.align)

    def store(self, row):
        place = self.builder.gep(self.data, [self.base])
        self.builder.store(
            row, self.builder.bitcast(place, self.vector.as_pointer()), align=self.align
        )

    def halved(self, a, b):
        """Build the means of neighbours in two registers, in order."""
        index = ir.VectorType(ir.IntType(32), LANES)
        even, odd = (
            self.builder.shuffle_vector(a, b, ir.Constant(index, list(range(first, 2 * LANES, 2))))
            for first in (0, 1)
        )
        half = ir.Constant(self.vector, [0.5] * LANES)
        return self.builder.fmul(self.builder.fadd(even, odd), half)

    def mean(self, first, rows, look=None):
        """Build a register of the means of rows, loaded in order so that few are held at a time."""
        if rows == 1:
            row = self.load(first)
            if look is not None:
                look(row)
            return row
        half = rows // 2
        return self.halved(self.mean(first, half, look), self.mean(first + half, half, look))


@intrinsic
def _start(_typing, array):
    """Return the pointer to an array's first element."""

    def generate(context, builder, signature, arguments):
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def _on_the_stack(_typing, loads):
    """Return a pointer to ``ROOM`` elements, which hold until the calling kernel returns."""

    def generate(context, builder, signature, arguments):
        return cgutils.alloca_once(builder, context.get_data_type(loads.dtype), ROOM)

    return types.CPointer(loads.dtype)(loads), generate


def _flat(array):
    """Return an array seen as (N,); for the compiler one that nobody counts, two of them 20 ns."""
    return array.reshape(-1)


def _room(loads):
    """Return room of the loads' dtype, compiled on the stack: a new array takes 40 ns."""
    return np.empty(ROOM, loads.dtype)


def _largest(loads):
    return np.finfo(loads.dtype).max


@overload(_largest)
def _choose_largest(loads):
    largest = np.finfo(str(loads.dtype)).max
    return lambda loads: largest


@intrinsic
def _machine_means(_typing, loads, _base, means, _place, peaks):
    """Make ``_means`` in registers."""

    def generate(context, builder, signature, arguments):
        array, base, target, place, highest = arguments
        tree = _Tree(context, builder, loads, array, base)
        zero = ir.Constant(tree.vector, [0.0] * LANES)
        over = _Tree(context, builder, peaks, highest, ir.Constant(base.type, 0))
        under = _Tree(context, builder, means, target, place)
        peak = [builder.bitcast(over.load(0), tree.bits)]

        def look(row):
            bits = builder.bitcast(builder.fadd(row, zero), tree.bits)
            above = builder.icmp_unsigned(">", bits, peak[0])
            peak[0] = builder.select(above, bits, peak[0])

        under.store(tree.mean(0, ROWS, look))
        over.store(builder.bitcast(peak[0], tree.vector))
        return context.get_dummy_value()

    return types.none(loads, types.int64, means, types.int64, peaks), generate


def _machine_mean(rows):
    """Make ``_mean`` in registers."""

    @intrinsic
    def mean(_typing, means, _base):
        def generate(context, builder, signature, arguments):
            array, base = arguments
            tree = _Tree(context, builder, means, array, base)
            left = tree.mean(0, rows)
            for _ in range(LANE_BITS):
                left = tree.halved(left, left)
            return builder.extract_element(left, ir.IntType(32)(0))

        return means.dtype(means, types.int64), generate

    return mean


MEAN = {rows: _machine_mean(rows) for rows in (1, 2, 4, 8, 16)}


@overload(_means)
def _choose_means(loads, base, means, place, peaks):
    return lambda loads, base, means, place, peaks: _machine_means(  # type: ignore[call-arg]
        loads, base, means, place, peaks
    )


@overload(_mean, prefer_literal=True)
def _choose_mean(means, base, rows):
    machine = MEAN[rows.literal_value]
    return lambda means, base, rows: machine(means, base)


@overload(_flat)
def _choose_flat(array):
    return lambda array: carray(_start(array), array.size)  # type: ignore[call-arg]


# In the calling kernel itself, whose stack it is to be.
@overload(_room, inline="always")
def _choose_room(loads):
    return lambda loads: carray(_on_the_stack(loads), ROOM)  # type: ignore[call-arg]


@njit(cache=True, nogil=True)
def dem_real(source, target, n):
    """Balance all cubes of ``source`` (B * N,) into ``target`` (B * N,), bits 0 .. n-1 in order.

    ``target`` may be ``source``. Loads are legal; ``n >= LEAST_BITS``.
    """
    room = _room(source)
    roots = _roots(source, n, room)
    _spread(roots, target, n)


@njit(cache=True, nogil=True)
def checked(source, target, n):
    """Do the same with loads (N,) or (B, N) as a caller hands them over, or write nothing.

    Returns 0 if they are balanced and -1 if not: a load is below 0, NaN, or so large that ``N`` of
    them might have no finite total, ``N`` is not ``2**n``, the shapes differ, or the arrays overlap
    without being the same.
    """
    loads, result = _flat(source), _flat(target)
    apart = abs(np.int64(loads.ctypes.data) - np.int64(result.ctypes.data))
    # Not by ``or``, whose branches have the arrays counted as in use, 20 ns.
    overlap = (apart > 0) & (apart < source.nbytes)
    if (source.shape[-1] != 1 << n) | (source.shape != target.shape) | overlap:
        return -1
    room = _room(loads)
    roots = _roots(loads, n, room)
    largest = _largest(loads) / loads.dtype.type(1 << n)
    illegal = 0
    for lane in range(LANES):
        # Negated, so that NaN counts.
        illegal += not (room[lane] >= 0 and room[lane] <= largest)
    if illegal > 0:
        return -1
    _spread(roots, result, n)
    return 0


@njit(cache=True, nogil=True)
def _roots(loads, n, room):
    """Return the means of blocks of cubes, or of whole ones; the peaks come first in ``room``."""
    block = 1 << min(n, BLOCK_BITS)
    count, rows = loads.size // block, block // (ROWS * LANES)
    peaks, means, roots = room[:LANES], room[LANES:], room[ROOM - LANES :]
    if count > LANES:
        roots = np.empty(count, loads.dtype)
    # A slice is filled by a call of the C library, 5 ns.
    for lane in range(LANES):
        peaks[lane] = 0
    for c in range(count):
        for r in range(rows):
            _means(loads, c * block + r * ROWS * LANES, means, r * LANES, peaks)
        if rows == 1:
            roots[c] = _mean(means, 0, 1)
        elif rows == 2:
            roots[c] = _mean(means, 0, 2)
        elif rows == 4:
            roots[c] = _mean(means, 0, 4)
        elif rows == 8:
            roots[c] = _mean(means, 0, 8)
        else:
            roots[c] = _mean(means, 0, 16)
    return roots


@njit(cache=True, nogil=True)
def _spread(roots, target, n):
    """Give all nodes the mean of their cube, which is that of its blocks."""
    for bit in range(BLOCK_BITS, n):
        for c in range(target.size >> bit + 1):
            roots[c] = (roots[2 * c] + roots[2 * c + 1]) * roots.dtype.type(0.5)
    for c in range(target.size >> n):
        target[c << n : c + 1 << n] = roots[c]
