"""Dimension exchange (Wu-Shu Fig. 1) of integers beyond 15 bits: low bits in full, high in bytes.

Legend: ``B`` networks, ``N = 2**n`` nodes. No load grows past the largest, so what fits at first
fits throughout. Loads below 2**23 (32 bits wide) and 2**52 (64) are exchanged as floats, three
operations instead of six (``_Lanes.pair``): 0.55 of the time on 6-cubes, 0.65 on 10-cubes.

The lowest seven bits are balanced within and between registers, those of small cubes between rows
of 2**7 nodes, too. Of larger cubes the loads of such a group now differ by seven at most, and are
left as bytes: by how much they exceed a base. Two groups meet about the mean of their bases, which
becomes the base of both, so that of the bases only matter the parity of their difference, which is
the larger, and by how much if that is little: a link (``_linked``). Bases halve in number bit by
bit until one is left for all nodes of a cube, and all that is exchanged are bytes, 64 in a register
and an eighth of the memory: blocks in the L1 cache, chunks in the L2 cache, then between these.

Measured on 64-bit loads, against all bits in full and tiles gathered in the L2 cache: the 17-cube
0.7 of the time, the 20-cube 0.6, the 24-cube 0.5; on 10-cubes bytes take 1.2 times as long as rows.
Rejected: float32 for loads of 64 bits below 2**23 (up to 1.15 times as fast, and one kernel more
to compile); integers of 32 bits for those below 2**31 (slower than float64); comparing into a mask
and a masked addition, five operations (0.98 to 1.02 of the time, and LLVM makes them seven).
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

# What floats hold a load with: from there on they are one apart up to twice as much.
BIAS = {"float32": 2**23, "float64": 2**52}
REGISTER_BYTES = 64
# With 6 64-bit integers take 1.1 to 1.25 times as long, others 1.0 to 1.15.
GROUP_BITS = 7
GROUP = 1 << GROUP_BITS
# Up to 16 rows of a group each.
LARGEST_IN_ROWS = 16 * GROUP
# What a byte holds above the load less the base. After ``k`` bits no two loads of ``2**k`` nodes
# differ by more than ``k``, so that it is at least 1, and it grows by one a bit at most.
RAISED = 8
# More than two bytes of any cube that fits a memory differ by, and so little that what they are
# raised by for an exchange, at most one more, fits with them in eight bits.
FAR = 64
# Nodes whose bytes are balanced while they are in the L1 cache, and in the L2 cache.
BLOCK = 2**14
CHUNK = 2**19


def _exchange(loads, i, j):
    """Exchange between two nodes in place; the higher sends ``diff//2``."""
    a, b = loads[i], loads[j]
    loads[i] = (a + b + (a > b)) // 2
    loads[j] = a + b - loads[i]


def _taken(array, places):
    """Return the loads at some places, which may hold lanes."""
    bias = BIAS.get(array.dtype.name, 0)
    return [int(array[i]) - bias for i in places]


def _put(array, places, loads):
    """Set the loads at some places, which may hold lanes."""
    bias = BIAS.get(array.dtype.name, 0)
    for i, load in zip(places, loads, strict=True):
        array[i] = load + bias


def _features():
    """Return those of the processor that code is compiled for."""
    return cpu_target.target_context.codegen().magic_tuple()[2].split(",")


def _constant(vector, value):
    return ir.Constant(vector, [value] * vector.count)


def _spread(builder, value, vector):
    """Build a vector of one value."""
    index = ir.IntType(32)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, index(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(index, vector.count), None))


def _shuffled(builder, a, b, lanes):
    """Build a vector of lanes of ``a`` and, numbered on, of ``b``."""
    return builder.shuffle_vector(
        a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    )


def _vector_at(context, builder, array_type, array, index, count):
    """Build the pointer to ``count`` elements of an array from an index on."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(context.get_data_type(array_type.dtype), count)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


class _Lanes:
    """Builds instructions on registers full of lanes: integers, or floats that hold integers."""

    def __init__(self, context, builder, lane):
        self.context, self.builder, self.lane = context, builder, lane
        self.count = REGISTER_BYTES * 8 // lane.bitwidth
        self.vector = ir.VectorType(context.get_data_type(lane), self.count)
        self.integers = ir.VectorType(ir.IntType(lane.bitwidth), self.count)
        self.floating = isinstance(lane, types.Float)
        if self.floating:
            bits = np.array(BIAS[lane.name], lane.name).view(f"i{lane.bitwidth // 8}")
            self.bias = _constant(self.integers, int(bits))
        # Elsewhere a call of the C library for every lane would stand for it.
        self.fused = self.floating and not {"+fma", "+neon"}.isdisjoint(_features())

    def load(self, array_type, array, index):
        """Build registers' worth of lanes from lanes or from loads."""
        start = _vector_at(self.context, self.builder, array_type, array, index, self.count)
        values = self.builder.load(start, align=self.lane.bitwidth // 8)
        if array_type.dtype == self.lane:
            return values
        return self.builder.bitcast(self.builder.or_(values, self.bias), self.vector)

    def store(self, array_type, array, index, values):
        """Store lanes as such or as loads."""
        if array_type.dtype != self.lane:
            values = self.loads(values)
        start = _vector_at(self.context, self.builder, array_type, array, index, self.count)
        self.builder.store(values, start, align=self.lane.bitwidth // 8)

    def loads(self, values):
        """Build the loads, integers of the same width, that lanes hold."""
        if not self.floating:
            return values
        return self.builder.xor(self.builder.bitcast(values, self.integers), self.bias)

    def after(self, a, b):
        """Build what ``a`` becomes, see ``pair``."""
        return self._fused(self.builder.fsub(b, a), a, 1)

    def pair(self, a, b):
        """Build the exchange of two registers.

        With a fused multiply-add: ``2**p`` is the bias, ``d = a - b`` exact, and ``h`` the float
        below 1/2, which is ``1/2 - 2**-(p+2)``. So ``a - h d`` is the mean and ``d / 2**(p+2)``,
        less than 1/4, rounded once, to an integer: an even ``d`` gives the mean, an odd one half a
        unit more if ``a`` is the larger, else less; ``b + h d`` the reverse. Both lie between
        ``a`` and ``b``, where floats are integers.
        """
        build, one = self.builder, _constant(self.integers, 1)
        if self.fused:
            d = build.fsub(a, b)
            return self._fused(d, a, -1), self._fused(d, b, 1)
        if self.floating:
            a, b = build.bitcast(a, self.integers), build.bitcast(b, self.integers)
        elif not self.lane.signed:
            differing = build.xor(a, b)
            low = build.add(build.and_(a, b), build.lshr(differing, one))
            odd = build.and_(differing, one)
            up = build.select(build.icmp_unsigned(">", a, b), odd, _constant(self.integers, 0))
            return build.add(low, up), build.add(low, build.sub(odd, up))
        # The sum of loads, or of the bits of floats, fits without a sign.
        both = build.add(a, b)
        # The sign of the difference.
        ahead = build.lshr(build.sub(b, a), _constant(self.integers, self.lane.bitwidth - 1))
        first = build.lshr(build.add(both, ahead), one)
        second = build.sub(both, first)
        if self.floating:
            first, second = build.bitcast(first, self.vector), build.bitcast(second, self.vector)
        return first, second

    def _fused(self, d, load, sign):
        half = np.nextafter(np.dtype(self.lane.name).type(0.5), 0, dtype=self.lane.name)
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fma.v{self.count}f{self.lane.bitwidth}"
        fma = self.builder.module.declare_intrinsic(name, (), kind)
        return self.builder.call(fma, [d, _constant(self.vector, sign * float(half)), load])

    def within(self, rows):
        """Build the exchanges between lanes, then between registers.

        Floats: between each register and itself with the two ends of all links swapped. Integers,
        whose exchange is longer: even and odd places of two registers come apart and are balanced,
        so that node numbers turn right by one bit, until every load is back at its node. The one
        way for both takes 1.1 times as long.
        """
        bits, count = self.count.bit_length() - 1, self.count
        if self.fused:
            for bit in range(bits):
                ends = [lane ^ 1 << bit for lane in range(count)]
                rows[:] = [self.after(row, _shuffled(self.builder, row, row, ends)) for row in rows]
            self.between(rows, 0)
        else:
            even, odd = list(range(0, 2 * count, 2)), list(range(1, 2 * count, 2))
            for _ in range(bits + 1):
                for r, s in _ends(len(rows), 0):
                    a, b = rows[r], rows[s]
                    rows[r] = _shuffled(self.builder, a, b, even)
                    rows[s] = _shuffled(self.builder, a, b, odd)
                self.between(rows, 0)
        for bit in range(1, len(rows).bit_length() - 1):
            self.between(rows, bit)

    def between(self, rows, bit):
        """Build the exchanges between registers, along a bit of their numbers."""
        for r, s in _ends(len(rows), bit):
            rows[r], rows[s] = self.pair(rows[r], rows[s])


def _ends(count, bit):
    """Return both ends of all links along a bit of numbers below ``count``."""
    return [(r, r | 1 << bit) for r in range(count) if not r >> bit & 1]


def _low(source, base, target, place, _lanes, bits):
    """Balance ``bits`` bits of so many nodes, in lanes of the dtype of ``lanes``.

    They are loads from ``base`` on in ``source``, and loads or lanes from ``place`` on in
    ``target``.
    """
    nodes = 1 << bits
    loads = _taken(source, range(base, base + nodes))
    for bit in range(bits):
        for i, j in _ends(nodes, bit):
            _exchange(loads, i, j)
    _put(target, range(place, place + nodes), loads)


def _group(source, base, octets, place, lanes):
    """Balance a group the same way, put it into bytes, and return its base."""
    loads = np.empty(GROUP, source.dtype)
    _low(source, base, loads, 0, lanes, GROUP_BITS)
    for i in range(GROUP):
        octets[place + i] = int(loads[i]) - int(loads[0]) + RAISED
    return loads[0]


def _balanced(build, source, array, base, bits):
    """Build ``_low`` in registers, and return these."""
    rows = []
    for first in range(0, 1 << bits, build.count):
        index = build.builder.add(base, ir.Constant(base.type, first))
        rows.append(build.load(source, array, index))
    build.within(rows)
    return rows


def _machine_low(bits):
    """Make ``_low`` in registers."""

    @intrinsic
    def low(_typing, source, _base, target, _place, lanes):
        def generate(context, builder, signature, arguments):
            array, base, result, place = arguments[:4]
            build = _Lanes(context, builder, lanes.dtype)
            for r, row in enumerate(_balanced(build, source, array, base, bits)):
                index = builder.add(place, ir.Constant(place.type, r * build.count))
                build.store(target, result, index, row)
            return context.get_dummy_value()

        return types.none(source, types.int64, target, types.int64, lanes), generate

    return low


@intrinsic
def _machine_group(_typing, source, _base, octets, _place, lanes):
    """Make ``_group`` in registers."""

    def generate(context, builder, signature, arguments):
        array, base, result, place = arguments[:4]
        build = _Lanes(context, builder, lanes.dtype)
        rows = [build.loads(row) for row in _balanced(build, source, array, base, GROUP_BITS)]
        load = builder.extract_element(rows[0], ir.IntType(32)(0))
        least = builder.sub(load, ir.Constant(load.type, RAISED))
        least = _spread(builder, least, build.integers)
        narrow = ir.VectorType(ir.IntType(8), build.count)
        rows = [builder.trunc(builder.sub(row, least), narrow) for row in rows]
        # Stored one by one they would soon be loaded as one, which waits.
        while len(rows) > 1:
            both = list(range(2 * rows[0].type.count))
            rows = [
                _shuffled(builder, a, b, both) for a, b in zip(rows[::2], rows[1::2], strict=True)
            ]
        start = _vector_at(context, builder, octets, result, place, GROUP)
        builder.store(rows[0], start, align=1)
        return load

    return source.dtype(source, types.int64, octets, types.int64, lanes), generate


def _rows(lanes, base, target, bits):
    """Balance ``bits`` bits between rows of a group each, in the columns of a register.

    They are lanes from ``base`` on, and loads at the same places of ``target``.
    """
    for column in range(base, base + REGISTER_BYTES // lanes.itemsize):
        places = range(column, column + (GROUP << bits), GROUP)
        loads = _taken(lanes, places)
        for bit in range(bits):
            for r, s in _ends(1 << bits, bit):
                _exchange(loads, r, s)
        _put(target, places, loads)


def _machine_rows(bits):
    """Make ``_rows`` with a register a row."""

    @intrinsic
    def between(_typing, lanes, _base, target):
        def generate(context, builder, signature, arguments):
            array, base, result = arguments
            build = _Lanes(context, builder, lanes.dtype)
            firsts = [ir.Constant(base.type, r * GROUP) for r in range(1 << bits)]
            places = [builder.add(base, first) for first in firsts]
            rows = [build.load(lanes, array, place) for place in places]
            for bit in range(bits):
                build.between(rows, bit)
            for place, row in zip(places, rows, strict=True):
                build.store(target, result, place, row)
            return context.get_dummy_value()

        return types.none(lanes, types.int64, target), generate

    return between


def _across(octets, base, stride, links, starts, bits):
    """Balance ``bits`` bits between rows of bytes ``stride`` apart, a group's from ``base`` on.

    The links of each bit stand in ``links`` from one of ``starts`` on.
    """
    for bit in range(bits):
        for r, s in _ends(1 << bits, bit):
            link = int(links[starts[bit] + (r >> bit + 1)])
            ahead, behind = max(link, 0), max(-link, 0)
            for u in range(base, base + GROUP):
                i, j = u + r * stride, u + s * stride
                pair = [int(octets[i]) + ahead, int(octets[j]) + behind]
                _exchange(pair, 0, 1)
                octets[i], octets[j] = (load - (ahead + behind) // 2 for load in pair)


def _mean(builder, a, b):
    """Build half the sum of bytes, rounded up, for which a machine has ``vpavgb``."""
    wide = ir.VectorType(ir.IntType(16), a.type.count)
    one = _constant(wide, 1)
    both = builder.add(builder.zext(a, wide), builder.zext(b, wide))
    return builder.trunc(builder.lshr(builder.add(both, one), one), a.type)


def _pair_of_bytes(builder, a, b, link):
    """Build the exchange of two vectors of bytes."""
    none, one = _constant(a.type, 0), _constant(a.type, 1)
    is_ahead = builder.icmp_signed(">", link, none)
    ahead = builder.select(is_ahead, link, none)
    behind = builder.sub(ahead, link)
    half = builder.lshr(builder.add(ahead, behind), one)
    a, b = builder.add(a, ahead), builder.add(b, behind)
    # Half the sum, rounded up if ``a`` is the larger, else down: the mean rounded up does the
    # rest, once ``b`` is less by one where it is the larger.
    less = builder.sub(b, one)
    lower = builder.select(builder.icmp_unsigned("<", a, b), a, b)
    first = _mean(builder, a, builder.select(builder.icmp_unsigned(">", lower, less), lower, less))
    second = builder.sub(builder.add(a, b), first)
    return builder.sub(first, half), builder.sub(second, half)


def _machine_across(bits):
    """Make ``_across`` in registers."""

    @intrinsic
    def across(_typing, octets, _base, _stride, links, starts):
        def generate(context, builder, signature, arguments):
            array, base, stride, table, starts = arguments
            linked = context.make_array(links)(context, builder, table).data
            places, rows = [], []
            for _ in range(1 << bits):
                places.append(_vector_at(context, builder, octets, array, base, GROUP))
                rows.append(builder.load(places[-1], align=1))
                base = builder.add(base, stride)
            for bit in range(bits):
                first = builder.extract_value(starts, bit)
                for r, s in _ends(1 << bits, bit):
                    at = builder.add(first, ir.Constant(first.type, r >> bit + 1))
                    link = _spread(builder, builder.load(builder.gep(linked, [at])), rows[r].type)
                    rows[r], rows[s] = _pair_of_bytes(builder, rows[r], rows[s], link)
            for place, row in zip(places, rows, strict=True):
                builder.store(row, place, align=1)
            return context.get_dummy_value()

        index = types.int64
        return types.none(octets, index, index, links, types.UniTuple(index, 3)), generate

    return across


def _unpacked(octets, place, target, base, load):
    """Put the loads of a group into ``target``: bytes, and the load that is their base."""
    for i, octet in enumerate(octets[place : place + GROUP].tolist()):
        target[base + i] = int(load) + octet - RAISED


@intrinsic
def _machine_unpacked(_typing, octets, _place, target, _base, _load):
    """Make ``_unpacked`` in registers."""

    def generate(context, builder, signature, arguments):
        array, place, result, base, load = arguments
        build = _Lanes(context, builder, target.dtype)
        group = _vector_at(context, builder, octets, array, place, GROUP)
        group = builder.load(group, align=1)
        least = builder.sub(load, ir.Constant(load.type, RAISED))
        least = _spread(builder, least, build.integers)
        for first in range(0, GROUP, build.count):
            part = _shuffled(builder, group, group, list(range(first, first + build.count)))
            part = builder.add(builder.zext(part, build.integers), least)
            index = builder.add(base, ir.Constant(base.type, first))
            build.store(target, result, index, part)
        return context.get_dummy_value()

    return types.none(octets, types.int64, target, types.int64, target.dtype), generate


LOW = {bits: _machine_low(bits) for bits in range(5, GROUP_BITS + 1)}
ROWS = {bits: _machine_rows(bits) for bits in range(1, 5)}
ACROSS = {bits: _machine_across(bits) for bits in (1, 2, 3)}


@overload(_low, prefer_literal=True)
def _choose_low(source, base, target, place, _lanes, bits):
    machine = LOW[bits.literal_value]
    return lambda source, base, target, place, _lanes, bits: machine(
        source, base, target, place, _lanes
    )


@overload(_group)
def _choose_group(source, base, octets, place, lanes):
    return lambda source, base, octets, place, lanes: _machine_group(  # type: ignore[call-arg]
        source, base, octets, place, lanes
    )


@overload(_rows, prefer_literal=True)
def _choose_rows(lanes, base, target, bits):
    machine = ROWS[bits.literal_value]
    return lambda lanes, base, target, bits: machine(lanes, base, target)


@overload(_across, prefer_literal=True)
def _choose_across(octets, base, stride, links, starts, bits):
    machine = ACROSS[bits.literal_value]
    return lambda octets, base, stride, links, starts, bits: machine(
        octets, base, stride, links, starts
    )


@overload(_unpacked)
def _choose_unpacked(octets, place, target, base, load):
    return lambda octets, place, target, base, load: _machine_unpacked(  # type: ignore[call-arg]
        octets, place, target, base, load
    )


@njit(cache=True, nogil=True)
def dem_wide(source, target, lanes, n):
    """Balance all cubes of ``source`` (B * N,) into ``target`` (B * N,), bits 0 .. n-1 in order.

    ``target`` may be ``source``. ``lanes`` is ``target``, or its bytes seen as floats if these
    hold all loads. ``n >= 5``.
    """
    if 1 << n <= GROUP:
        for base in range(0, source.size, 1 << n):
            if n == 5:
                _low(source, base, target, base, lanes, 5)
            elif n == 6:
                _low(source, base, target, base, lanes, 6)
            else:
                _low(source, base, target, base, lanes, 7)
    elif 1 << n <= LARGEST_IN_ROWS:
        _in_rows(source, target, lanes, 1 << n)
    elif 1 << n <= CHUNK:
        _in_parts(source, target, lanes, 1 << n)
    else:
        _in_chunks(source, target, lanes, 1 << n)


@njit(cache=True, nogil=True)
def _in_rows(source, target, lanes, nodes):
    """Balance cubes of ``nodes`` nodes, some rows, in lanes throughout."""
    for start in range(0, source.size, nodes):
        for low in range(start, start + nodes, GROUP):
            _low(source, low, lanes, low, lanes, 7)
        for column in range(start, start + GROUP, REGISTER_BYTES // lanes.itemsize):
            if nodes == 2 * GROUP:
                _rows(lanes, column, target, 1)
            elif nodes == 4 * GROUP:
                _rows(lanes, column, target, 2)
            elif nodes == 8 * GROUP:
                _rows(lanes, column, target, 3)
            else:
                _rows(lanes, column, target, 4)


@njit(cache=True, nogil=True)
def _in_parts(source, target, lanes, nodes):
    """Balance cubes of ``nodes`` nodes one by one, small ones several at a time."""
    size = max(nodes, min(source.size, BLOCK))
    octets = np.empty(size, np.uint8)
    bases, links = _room(size // GROUP, target)
    for start in range(0, source.size, size):
        part = source[start : start + size]
        roots = _part(part, octets[: part.size], lanes, nodes, bases, links)
        for low in range(0, part.size, GROUP):
            _unpacked(octets, low, target, start + low, roots[low // nodes])


@njit(cache=True, nogil=True)
def _in_chunks(source, target, lanes, nodes):
    """Balance cubes of ``nodes`` nodes one by one; their bytes lie in front of their loads."""
    packed = target.view(np.uint8)
    count = nodes // CHUNK
    bases, links = _room(CHUNK // GROUP, target)
    roots, between = _room(count, target)
    for start in range(0, source.size, nodes):
        octets = packed[start * target.itemsize :][:nodes]
        for c in range(count):
            part = source[start + c * CHUNK :][:CHUNK]
            own = octets[c * CHUNK :][:CHUNK]
            roots[c] = _part(part, own, lanes, CHUNK, bases, links)[0]
        load = _linked(roots, between, count, 1)[0]
        _bits(octets, 0, nodes, CHUNK, nodes, between, CHUNK)
        # The highest first: they overwrite bytes.
        for low in range(nodes - GROUP, -1, -GROUP):
            _unpacked(octets, low, target, start + low, load)


@njit(cache=True, nogil=True)
def _part(source, octets, lanes, nodes, bases, links):
    """Balance whole cubes, or a chunk of one, into bytes, and return their bases."""
    for low in range(0, source.size, GROUP):
        bases[low // GROUP] = _group(source, low, octets, low, lanes)
    roots = _linked(bases, links, source.size // GROUP, source.size // nodes)
    block = min(nodes, BLOCK)
    for start in range(0, source.size, block):
        _bits(octets, start, start + block, GROUP, block, links, GROUP)
    _bits(octets, 0, source.size, block, nodes, links, GROUP)
    return roots


@njit(cache=True, nogil=True)
def _room(count, loads):
    """Return room for so many bases, those of pairs of them and so on, and for all links.

    Bases are of the dtype of ``loads``, links int8; ``_linked`` sets both, bit by bit.
    """
    return np.empty(2 * count, loads.dtype), np.empty(count, np.int8)


@njit(cache=True, nogil=True)
def _linked(bases, links, count, left):
    """Set the links of neighbours, of pairs of them and so on, and return the bases left.

    A link is by how much the first is the larger, or as far and as odd as that: what the bytes of
    the first are raised by for an exchange, or those of the second if it is negative. Both are
    lowered by half of it afterwards, which the mean of the bases, their new base, makes up for.
    """
    one, far = bases.dtype.type(1), bases.dtype.type(FAR)
    while count > left:
        half = count // 2
        means = bases[count:][:half]
        for m in range(half):
            a, b = bases[2 * m], bases[2 * m + 1]
            lower = min(a, b)
            apart = max(a, b) - lower
            means[m] = lower + (apart >> one)
            link = np.int8(apart if apart < far else far + (apart & one))
            links[m] = link if a > b else -link
        bases, links, count = bases[count:], links[half:], half
    return bases


@njit(cache=True, nogil=True)
def _bits(octets, start, end, stride, size, links, unit):
    """Balance the bits from that of ``stride`` to below that of ``size`` from ``start`` to ``end``.

    ``links`` are those of all ``octets``, first those between units of so many of them.
    """
    count, whole = octets.size // unit, octets.size
    while stride < size:
        rows = min(8, size // stride)
        for base in range(start, end, rows * stride):
            # Links lie bit by bit: those of lower bits are as many as the bases they have done
            # away with.
            starts = (
                count - whole // stride + base // (2 * stride),
                count - whole // (2 * stride) + base // (4 * stride),
                count - whole // (4 * stride) + base // (8 * stride),
            )
            for column in range(base, base + stride, GROUP):
                if rows == 2:
                    _across(octets, column, stride, links, starts, 1)
                elif rows == 4:
                    _across(octets, column, stride, links, starts, 2)
                else:
                    _across(octets, column, stride, links, starts, 3)
        stride *= rows
