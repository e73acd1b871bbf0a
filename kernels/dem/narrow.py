"""Dimension exchange (Wu-Shu Fig. 1) of loads that fit 15 bits, computed in 16-bit lanes.

No load grows past the largest, so what fits at first fits throughout, and 32 loads share a vector
register instead of 16 or 8. Legend: ``B`` networks, ``N = 2**n`` nodes.

Bits 0 .. 4 are balanced within a register, bits 5 .. 7 between eight of them, the rest between
rows of a block in the L1 cache and then of a chunk in the L2 cache. Larger cubes are left packed
in the front part of each chunk's own bytes, and up to six more bits are balanced by gathering
columns of the chunks into a tile in the L2 cache: two passes over memory up to n = 24, three up to
n = 30. Measured against 32-bit lanes, of int32: 10-cubes 1.5 times as fast, the 24-cube 1.6 times;
with loads beyond ``SMALL_TOP`` 1.4 and 1.3 times. Rejected: turning two registers by one bit after
another with ``vpermt2w`` (0.7), 2**13 loads in a block (0.9), 2**16 in a chunk and four bits a
time (0.75), packed loads copied into tiles and out of them apart from the exchanges (0.9). No
gain: 16 registers at once (n = 10 1.08, n = 20 0.9), some exchanges by means beside the
multiplications, scratch that begins with a cache line, looking at the loads from the highest down.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

TOP = 2**15 - 1
# Loads up to here are small: one instruction halves their differences, four make an exchange
# instead of six.
SMALL_TOP = 2**14 - 1
# That instruction by what a machine must have for it, and its lanes.
MULTIPLIED = {
    "+avx512bw": ("llvm.x86.avx512.pmul.hr.sw.512", 32),
    "+avx2": ("llvm.x86.avx2.pmul.hr.sw", 16),
}
# A register holds so many bits: with one less 1.1 to 1.3 times as long.
LEAST_BITS = 5
LANES = 1 << LEAST_BITS
# Eight registers, and a block is 16 times as many nodes: what one pass takes.
LOW_BITS = 8
BLOCK_BITS = 12
# Half of it takes up to 1.07 times as long, twice as much up to 1.27 (n = 20).
CHUNK_BITS = 18
# A quarter takes 1.02 to 1.09 times as long, a half or twice as much 0.99 to 1.04.
TILE_BITS = 17
# Of the 24-cube so many are all that is left; with one less, or three, 1.05 to 1.3 times as long.
GATHERED_BITS = 6
# Between rows of a scratch array, so that they do not all fall to the same cache sets: without it
# the same up to n = 18, and up to 1.07 times as long at n = 24.
GAP = LANES
# Nodes ahead that are fetched while a block is balanced (1.05 times as fast at n = 24).
AHEAD = 1 << BLOCK_BITS
# And nodes below those unpacked, the highest first (1.03 times as fast).
BELOW = 4 * LANES
# Not written as literals, for each of which numba would compile a function once more.
ORIGIN, ONE = np.int64(0), np.int64(1)


def _exchange(loads, i, j):
    """Exchange between two nodes in place; the higher sends ``diff//2``."""
    a, b = int(loads[i]), int(loads[j])
    first = (a + b + (a > b)) // 2
    loads[i], loads[j] = first, a + b - first


def _vector_at(context, builder, array_type, array, index):
    """Build the pointer to ``LANES`` elements of an array from an index on."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(context.get_data_type(array_type.dtype), LANES)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _load(context, builder, array_type, array, index):
    width = array_type.dtype.bitwidth
    place = _vector_at(context, builder, array_type, array, index)
    loads = builder.load(place, align=width // 8)
    return loads if width == 16 else builder.trunc(loads, ir.VectorType(ir.IntType(16), LANES))


def _store(context, builder, array_type, array, index, loads):
    width = array_type.dtype.bitwidth
    if width > 16:
        loads = builder.zext(loads, ir.VectorType(ir.IntType(width), LANES))
    place = _vector_at(context, builder, array_type, array, index)
    builder.store(loads, place, align=width // 8)


def _prefetch(context, builder, array_type, array, index, *, to_write):
    """Build a hint to fetch the cache lines of ``LANES`` elements, which may lie outside."""
    byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
    fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    start = builder.bitcast(_vector_at(context, builder, array_type, array, index), byte)
    for line in range(0, LANES * array_type.dtype.bitwidth // 8, 64):
        place = builder.gep(start, [ir.Constant(ir.IntType(64), line)])
        builder.call(fetch, [place, word(to_write), word(3), word(1)])


def _mean(builder, a, b):
    """Build what ``a`` becomes: half the sum, rounded up if ``a`` is the larger, else down.

    A machine has the mean rounded up (``vpavgw``); ``b`` less one, where it is the larger, does
    the rest. Comparing into a mask takes 1.4 times as long.
    """
    one = ir.Constant(a.type, [1] * LANES)
    less = builder.sub(b, one)
    lower = builder.select(builder.icmp_signed("<", a, b), a, b)
    b = builder.select(builder.icmp_signed(">", lower, less), lower, less)
    wide = ir.VectorType(ir.IntType(32), LANES)
    one = ir.Constant(wide, [1] * LANES)
    both = builder.add(builder.zext(a, wide), builder.zext(b, wide))
    return builder.trunc(builder.lshr(builder.add(both, one), one), a.type)


def _features():
    """Return those of the processor that code is compiled for."""
    return cpu_target.target_context.codegen().magic_tuple()[2].split(",")


def _multiplied(builder):
    """Return what builds the same for small loads, or None where a machine lacks it.

    ``a`` sends half the difference d, rounded to 0: ``((d * SMALL_TOP >> 14) + 1) >> 1``, as
    ``abs(d) <= SMALL_TOP``. That is ``vpmulhrsw``, which LLVM does not find by itself.
    """
    features = _features()
    instruction, lanes = next((MULTIPLIED[f] for f in MULTIPLIED if f in features), (None, 0))
    if instruction is None:
        return None
    part = ir.VectorType(ir.IntType(16), lanes)
    kind = ir.FunctionType(part, [part, part])
    multiply = builder.module.declare_intrinsic(instruction, (), kind)
    top = ir.Constant(part, [SMALL_TOP] * lanes)

    def some(first, second, start, count):
        mask = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(start, start + count)))
        return builder.shuffle_vector(first, second, mask)

    def after(builder, a, b):
        d = builder.sub(a, b)
        parts = [some(d, d, start, lanes) for start in range(0, LANES, lanes)]
        sent = [builder.call(multiply, [part, top]) for part in parts]
        return builder.sub(a, some(sent[0], sent[-1], 0, LANES))

    return after


def _for_either(builder, small, build):
    """Build the exchanges for small loads and for larger ones; one of both is run."""
    multiplied = _multiplied(builder)
    if multiplied is None:
        build(_mean)
        return
    with builder.if_else(small) as (then, otherwise):
        with then:
            build(multiplied)
        with otherwise:
            build(_mean)


def _within(builder, rows, after):
    """Build the exchanges in registers, each beside itself with the ends of all links swapped.

    Register by register they wait for one another, and take 1.15 times as long.
    """
    for bit in range(LEAST_BITS):
        ends = [lane ^ 1 << bit for lane in range(LANES)]
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), ends)
        for r, row in enumerate(rows):
            rows[r] = after(builder, row, builder.shuffle_vector(row, row, mask))


def _between(builder, rows, bits, after):
    """Build the exchanges between registers, along the bits of their numbers."""
    for bit in range(bits):
        for r in range(1 << bits):
            if not r >> bit & 1:
                a, b = rows[r], rows[r + (1 << bit)]
                rows[r] = after(builder, a, b)
                rows[r + (1 << bit)] = builder.add(b, builder.sub(a, rows[r]))


def _low(source, base, target, place, nodes, bits, small):
    """Balance ``bits`` bits of ``nodes`` nodes from ``base`` on; they go to ``place`` on."""
    target[place : place + nodes] = source[base : base + nodes]
    for bit in range(bits):
        for i in range(nodes):
            if not i >> bit & 1:
                _exchange(target, place + i, place + i + (1 << bit))


def _machine_low(bits):
    """Make ``_low`` of ``2**bits`` nodes in registers."""

    @intrinsic
    def low(_typing, source, _base, target, _place, _small):
        def generate(context, builder, signature, arguments):
            array, base, result, place, small = arguments
            offsets = [ir.Constant(ir.IntType(64), r) for r in range(0, 1 << bits, LANES)]
            loads = []
            for offset in offsets:
                index = builder.add(base, offset)
                ahead = builder.add(index, ir.Constant(index.type, AHEAD))
                _prefetch(context, builder, source, array, ahead, to_write=0)
                loads.append(_load(context, builder, source, array, index))

            def build(after):
                rows = loads.copy()
                _within(builder, rows, after)
                _between(builder, rows, bits - LEAST_BITS, after)
                for offset, row in zip(offsets, rows, strict=True):
                    _store(context, builder, target, result, builder.add(place, offset), row)

            _for_either(builder, small, build)
            return context.get_dummy_value()

        return types.none(source, types.int64, target, types.int64, types.boolean), generate

    return low


def _across(source, at, target, to, width, sets, bits, small):
    """Balance ``bits`` bits between rows of ``width`` columns, the highest columns first.

    ``at`` and ``to`` say where the rows lie in ``source`` and ``target``: the first node, the
    step from row to row, and the step between the first rows of ``sets`` sets.
    """
    rows = np.empty((1 << bits, LANES), np.int64)
    for k in range(sets):
        for column in range(width - LANES, -1, -LANES):
            for r in range(1 << bits):
                first = at[0] + r * at[1] + k * at[2] + column
                rows[r] = source[first : first + LANES]
            for bit in range(bits):
                for r in range(1 << bits):
                    if not r >> bit & 1:
                        for u in range(LANES):
                            _exchange(rows[:, u], r, r + (1 << bit))
            for r in range(1 << bits):
                first = to[0] + r * to[1] + k * to[2] + column
                target[first : first + LANES] = rows[r]


def _machine_across(bits):
    """Make ``_across`` of ``LANES`` columns, a register a row."""

    @intrinsic
    def across(_typing, source, _base, _stride, target, _place, _pitch, _small):
        def generate(context, builder, signature, arguments):
            array, base, stride, result, first, pitch, small = arguments
            loads = []
            for _ in range(1 << bits):
                loads.append(_load(context, builder, source, array, base))
                base = builder.add(base, stride)

            def build(after):
                rows, place = loads.copy(), first
                _between(builder, rows, bits, after)
                for row in rows:
                    if target.dtype != source.dtype:
                        below = builder.sub(place, ir.Constant(place.type, BELOW))
                        _prefetch(context, builder, target, result, below, to_write=1)
                    _store(context, builder, target, result, place, row)
                    place = builder.add(place, pitch)

            _for_either(builder, small, build)
            return context.get_dummy_value()

        index = types.int64
        return types.none(source, index, index, target, index, index, types.boolean), generate

    return across


LOW = {bits: _machine_low(bits) for bits in range(LEAST_BITS, LOW_BITS + 1)}
ACROSS = {bits: _machine_across(bits) for bits in range(1, 5)}


# Called instead, a 10-cube takes 1.05 times as long; compiling takes the same.
@overload(_low, prefer_literal=True, inline="always")
def _choose_low(source, base, target, place, nodes, bits, small):
    machine = LOW[bits.literal_value]
    step = 1 << bits.literal_value

    def low(source, base, target, place, nodes, bits, small):
        for start in range(0, nodes, step):
            machine(source, base + start, target, place + start, small)

    return low


@overload(_across, prefer_literal=True, inline="always")
def _choose_across(source, at, target, to, width, sets, bits, small):
    machine = ACROSS[bits.literal_value]

    def across(source, at, target, to, width, sets, bits, small):
        for k in range(sets):
            base, place = at[0] + k * at[2], to[0] + k * to[2]
            for column in range(width - LANES, -1, -LANES):
                machine(source, base + column, at[1], target, place + column, to[1], small)

    return across


@njit(cache=True, nogil=True)
def dem_narrow(source, target, n):
    """Balance all cubes of ``source`` (B * N,) into ``target`` (B * N,), bits 0 .. n-1 in order.

    Returns the bitwise or of all loads, signed integers. Only if it lies in 0 .. ``TOP`` is
    anything written. ``target`` may be ``source``; ``n >= LEAST_BITS``.
    """
    found = source.dtype.type(0)
    for i in range(source.size):
        found |= source[i]
    # No cubes have no memory to share among their chunks.
    if found < 0 or found > TOP or source.size == 0:
        return found
    small = found <= SMALL_TOP
    packed = target.view(np.int16)
    if n <= LOW_BITS:
        _registers(source, target, n, small)
    elif n <= BLOCK_BITS:
        _blocks(source, target, 1 << n, small)
    elif n <= CHUNK_BITS:
        _chunks(source, target, 1 << n, small)
    else:
        _chunks(source, packed, 1 << CHUNK_BITS, small)
        _beyond(packed, target, 1 << n, small)
    return found


@njit(cache=True, nogil=True)
def checked(source, target, n):
    """Balance loads (N,) or (B, N) as a caller hands them over, or write nothing.

    Returns 0 if they are balanced, their bitwise or if it is larger than ``TOP``, and less than 0
    if a load is negative, ``N`` is not ``2**n``, the shapes differ, or the arrays overlap without
    being the same.
    """
    apart = abs(np.int64(source.ctypes.data) - np.int64(target.ctypes.data))
    if source.shape[-1] != 1 << n or source.shape != target.shape or 0 < apart < source.nbytes:
        return np.int64(-1)
    found = np.int64(dem_narrow(source.reshape(-1), target.reshape(-1), n))
    return found if found < 0 or found > TOP else np.int64(0)


@njit(cache=True, nogil=True)
def _registers(source, target, n, small):
    if n == 5:
        _low(source, 0, target, 0, source.size, 5, small)
    elif n == 6:
        _low(source, 0, target, 0, source.size, 6, small)
    elif n == 7:
        _low(source, 0, target, 0, source.size, 7, small)
    else:
        _low(source, 0, target, 0, source.size, 8, small)


@njit(cache=True, nogil=True)
def _blocks(source, target, size, small):
    """Balance cubes of ``size`` nodes, as many at a time as fit a block."""
    row = 1 << LOW_BITS
    nodes = 1 << BLOCK_BITS
    block = np.empty(nodes, np.int16)
    for start in range(0, source.size, nodes):
        nodes = min(nodes, source.size - start)
        _low(source, start, block, 0, nodes, 8, small)
        at, to = (ORIGIN, row, size), (start, row, size)
        _rows(block, at, target, to, size // row, row, nodes // size, small)


@njit(cache=True, nogil=True)
def _chunks(source, target, size, small):
    """Balance all bits within chunks of ``size`` nodes.

    Each goes to the front of its share of ``target``, which has at least as many elements.
    """
    row = 1 << LOW_BITS
    nodes = 1 << BLOCK_BITS
    pitch = nodes + GAP
    count = size // nodes
    share = target.size // (source.size // size)
    scratch = np.empty(count * pitch, np.int16)
    for c in range(source.size // size):
        for b in range(count):
            _low(source, c * size + b * nodes, scratch, b * pitch, nodes, 8, small)
            at = (b * pitch, row, nodes)
            _rows(scratch, at, scratch, at, nodes // row, row, ONE, small)
        blocks, part = (ORIGIN, pitch), (c * share, nodes)
        _through(scratch, blocks, scratch, pitch, target, part, count, nodes, small)


@njit(cache=True, nogil=True)
def _beyond(packed, target, size, small):
    """Balance the bits of cubes of ``size`` nodes that reach beyond a chunk, and unpack.

    The unpacked rows overwrite packed ones of their own chunks alone and, the highest columns
    first, only such as have been gathered.
    """
    chunk = 1 << CHUNK_BITS
    share = packed.size // (target.size // chunk)
    stride = 1
    while stride * chunk < size:
        count = min(1 << GATHERED_BITS, size // (stride * chunk))
        last = stride * chunk * count == size
        width = min(chunk, (1 << TILE_BITS) // count)
        pitch = width + GAP
        tile = np.empty(count * pitch, np.int16)
        for start in range(0, target.size // chunk, stride * count):
            for c in range(start, start + stride):
                for column in range(chunk - width, -1, -width):
                    at = (c * share + column, stride * share)
                    to = (c * chunk + column, stride * chunk)
                    if last:
                        _through(packed, at, tile, pitch, target, to, count, width, small)
                    else:
                        _through(packed, at, tile, pitch, packed, at, count, width, small)
        stride *= count


@njit(cache=True, nogil=True)
def _through(source, at, tile, pitch, target, to, count, width, small):
    """Balance the bits of the numbers of ``count`` rows, at most 64, of ``width`` columns.

    They come from ``source`` with the first bits, lie in ``tile`` meanwhile, ``pitch`` elements
    apart, and go to ``target`` with the last; ``at`` and ``to`` are the first nodes there and
    the steps from row to row.
    """
    if count <= 8:
        _rows(source, (*at, ONE), target, (*to, ONE), count, width, ONE, small)
        return
    first = 4 if count == 16 else 8
    for r in range(0, count, first):
        beside = (at[0] + r * at[1], at[1], ONE)
        _rows(source, beside, tile, (r * pitch, pitch, ONE), first, width, ONE, small)
    spread = (ORIGIN, first * pitch, pitch)
    wide = (to[0], first * to[1], to[1])
    _rows(tile, spread, target, wide, count // first, width, first, small)


@njit(cache=True, nogil=True)
def _rows(source, at, target, to, count, width, sets, small):
    """Balance all bits of the numbers of ``count`` rows, 2 to 16, in one pass, of all sets.

    The highest columns come first, so that elements of ``target`` may be wider than those of
    ``source`` and start at the same byte.
    """
    if count == 2:
        _across(source, at, target, to, width, sets, 1, small)
    elif count == 4:
        _across(source, at, target, to, width, sets, 2, small)
    elif count == 8:
        _across(source, at, target, to, width, sets, 3, small)
    else:
        _across(source, at, target, to, width, sets, 4, small)
