"""Dimension exchange on the hypercube (Wu-Shu Fig. 1, More-Wu 2.1) of real loads.

Legend: ``B`` networks, ``N = 2**n`` nodes.

Both ends of a link take the same mean, so that every dimension halves the numbers left, and all
nodes end with the last: a tree over neighbours, whose leaves are the loads. It is gone up in
registers, and loads are looked at on the way; nothing is written before all have been. Measured
against a look at all loads and turning nodes within two registers: the 10-cube 0.45 of the time as
float32 and 0.5 as float64, of which a call of nothing is 0.3; the 17-cube 0.4 and 0.57, the 24-cube
0.38 and 0.55. Batches of 5- to 7-cubes 0.45 to 0.75 and 0.6 to 0.85, nearer to that of a copy; one
of them 0.6. Rejected: shuffles within quarters of registers, and looking at signs alone, which
leaves what is large or NaN to the mean (both 0.98 to 1.02 of the time); nodes that take their mean
by registers spelled out (1.2 times as long beyond the cache).
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
LEAST_BITS = 5
# Cubes of so many rows, or fewer, go up side by side, one for each lane: those of 8 bits take 0.8
# of the time as float32, 0.95 as float64.
ROWS_BITS = 8
BLOCK_BITS = 12
# For peaks, the means of a block's rows, and some roots.
ROOM = LANES + (1 << BLOCK_BITS) // LANES + LANES


def _halved(loads, bits):
    """Return the means of neighbours, so many times."""
    for _ in range(bits):
        loads = (loads[::2] + loads[1::2]) * loads.dtype.type(0.5)
    return loads


def _means(loads, base, rows, means, place, peaks):
    """Set ``LANES`` means from ``place`` on, of so many rows from ``base`` on.

    ``peaks`` (LANES,), or None, are raised to the loads above them if seen as unsigned numbers, by
    bits: all that are negative, infinite or NaN are above all others; -0.0 is seen as 0.0.
    """
    whole = loads[base : base + rows * LANES]
    _look(whole, peaks)
    means[place : place + LANES] = _halved(whole, rows.bit_length() - 1)


def _mean(loads, base, rows, peaks):
    """Return the mean of so many rows from ``base`` on; ``peaks`` as for ``_means``."""
    whole = loads[base : base + rows * LANES]
    _look(whole, peaks)
    return _halved(whole, rows.bit_length() - 1 + LANE_BITS)[0]


def _look(loads, peaks):
    """Raise ``peaks``."""
    if peaks is not None:
        bits = f"u{loads.itemsize}"
        rows = (loads + loads.dtype.type(0)).reshape(-1, LANES)
        for row in rows.view(bits):
            np.maximum(peaks.view(bits), row, out=peaks.view(bits))


class _Tree:
    """Builds instructions on registers of ``LANES`` real numbers."""

    def __init__(self, context, builder, array_type, array, base):
        self.builder, self.base = builder, base
        real = context.get_data_type(array_type.dtype)
        self.vector = ir.VectorType(real, LANES)
        self.bits = ir.VectorType(ir.IntType(array_type.dtype.bitwidth), LANES)
        self.data = context.make_array(array_type)(context, builder, array).data
        self.align = array_type.dtype.bitwidth // 8

    def place(self, row):
        index = self.builder.add(self.base, ir.Constant(self.base.type, row * LANES))
        return self.builder.bitcast(self.builder.gep(self.data, [index]), self.vector.as_pointer())

    def load(self, row):
        return self.builder.load(self.place(row), align=self.align)

    def store(self, row, vector):
        self.builder.store(vector, self.place(row), align=self.align)

    def halved(self, a, b):
        """Build the means of neighbours in two registers, in order."""
        index = ir.VectorType(ir.IntType(32), LANES)
        even, odd = (
            self.builder.shuffle_vector(a, b, ir.Constant(index, list(range(first, 2 * LANES, 2))))
            for first in (0, 1)
        )
        half = ir.Constant(self.vector, [0.5] * LANES)
        return self.builder.fmul(self.builder.fadd(even, odd), half)

    def mean(self, first, rows, look):
        """Build a register of the means of rows, loaded in order so that few are held at a time."""
        if rows == 1:
            row = self.load(first)
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


class _Peaks:
    """Builds instructions that raise peaks, which stay in a register meanwhile; or none."""

    def __init__(self, context, builder, array_type, array):
        self.kept = array_type != types.none
        if self.kept:
            self.builder = builder
            self.place = _Tree(context, builder, array_type, array, ir.IntType(64)(0))
            self.peak = builder.bitcast(self.place.load(0), self.place.bits)

    def look(self, row):
        if self.kept:
            zero = ir.Constant(row.type, [0.0] * LANES)
            bits = self.builder.bitcast(self.builder.fadd(row, zero), self.place.bits)
            above = self.builder.icmp_unsigned(">", bits, self.peak)
            self.peak = self.builder.select(above, bits, self.peak)

    def store(self):
        if self.kept:
            self.place.store(0, self.builder.bitcast(self.peak, self.place.vector))


def _machine_means(rows):
    """Make ``_means`` in registers."""

    @intrinsic
    def means(_typing, loads, _base, means, _place, peaks):
        def generate(context, builder, signature, arguments):
            array, base, target, place, highest = arguments
            tree = _Tree(context, builder, loads, array, base)
            seen = _Peaks(context, builder, peaks, highest)
            under = _Tree(context, builder, means, target, place)
            under.store(0, tree.mean(0, rows, seen.look))
            seen.store()
            return context.get_dummy_value()

        return types.none(loads, types.int64, means, types.int64, peaks), generate

    return means


def _machine_mean(rows):
    """Make ``_mean`` in registers."""

    @intrinsic
    def mean(_typing, loads, _base, peaks):
        def generate(context, builder, signature, arguments):
            array, base, highest = arguments
            tree = _Tree(context, builder, loads, array, base)
            seen = _Peaks(context, builder, peaks, highest)
            left = tree.mean(0, rows, seen.look)
            seen.store()
            for _ in range(LANE_BITS):
                left = tree.halved(left, left)
            return builder.extract_element(left, ir.IntType(32)(0))

        return loads.dtype(loads, types.int64, peaks), generate

    return mean


MEANS = {rows: _machine_means(rows) for rows in (2, 4, 8, 16)}
MEAN = {rows: _machine_mean(rows) for rows in (1, 2, 4, 8, 16)}


@overload(_means, prefer_literal=True)
def _choose_means(loads, base, rows, means, place, peaks):
    machine = MEANS[rows.literal_value]
    return lambda loads, base, rows, means, place, peaks: machine(loads, base, means, place, peaks)


@overload(_mean, prefer_literal=True)
def _choose_mean(loads, base, rows, peaks):
    machine = MEAN[rows.literal_value]
    return lambda loads, base, rows, peaks: machine(loads, base, peaks)


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
    together = count // LANES * LANES if n <= ROWS_BITS else 0
    for c in range(0, together, LANES):
        _roots_side_by_side(loads, c << n, n, means, roots[c:], peaks)
    for c in range(together, count):
        if n < ROWS_BITS:
            roots[c] = _root_of_few(loads, c << n, n, peaks)
            continue
        for r in range(rows):
            _means(loads, c * block + r * ROWS * LANES, 16, means, r * LANES, peaks)
        if rows == 1:
            roots[c] = _mean(means, 0, 1, None)
        elif rows == 2:
            roots[c] = _mean(means, 0, 2, None)
        elif rows == 4:
            roots[c] = _mean(means, 0, 4, None)
        elif rows == 8:
            roots[c] = _mean(means, 0, 8, None)
        else:
            roots[c] = _mean(means, 0, 16, None)
    return roots


@njit(cache=True, nogil=True)
def _root_of_few(loads, base, n, peaks):
    """Return the mean of the cube of less than ``ROWS`` rows from ``base`` on."""
    if n == 5:
        return _mean(loads, base, 2, peaks)
    if n == 6:
        return _mean(loads, base, 4, peaks)
    return _mean(loads, base, 8, peaks)


@njit(cache=True, nogil=True)
def _roots_side_by_side(loads, base, n, means, roots, peaks):
    """Set the first of ``roots`` to the means of ``LANES`` cubes from ``base`` on."""
    for r in range(1 << n - LANE_BITS):
        _means(loads, base + r * ROWS * LANES, 16, means, r * LANES, peaks)
    if n == 5:
        _means(means, 0, 2, roots, 0, None)
    elif n == 6:
        _means(means, 0, 4, roots, 0, None)
    elif n == 7:
        _means(means, 0, 8, roots, 0, None)
    else:
        _means(means, 0, 16, roots, 0, None)


@njit(cache=True, nogil=True)
def _spread(roots, target, n):
    """Give all nodes the mean of their cube, which is that of its blocks."""
    for bit in range(BLOCK_BITS, n):
        for c in range(target.size >> bit + 1):
            roots[c] = (roots[2 * c] + roots[2 * c + 1]) * roots.dtype.type(0.5)
    for c in range(target.size >> n):
        target[c << n : c + 1 << n] = roots[c]
