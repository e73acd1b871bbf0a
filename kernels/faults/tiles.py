"""A plan of fault-tolerant DEM carried out on many trials side by side (More-Wu section 2.2).

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes in any order, ``P`` passes of a plan
(``fault_passes.py``), ``B`` trials, ``K W >= B``. ``least`` (N W,) are the least loads so far and
``units`` (W,) those that moved, or both None where the final loads alone are wanted.

Lanes are taken a vector at a time: an exchange balances up to three dimensions between the
registers of eight nodes, a repair goes through one vector of lanes after the other, and notes stay
in registers where they are of up to four nodes. Measured on 6-cubes with 5 faults, ns a node: 2.0
by loops over slices for the repairs and a dimension a pass for the splits, 0.6 this way, and 0.2
where the final loads alone are wanted.
"""

import numpy as np
from llvmlite import ir
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic, overload

# Bytes of a vector: with half 1.08 to 1.18 times as long, with twice as many 0.96 to 1.00.
VECTOR = 64
# First column of a pass that exchanges; all others level, which repairs a stuck subcube.
EXCHANGE = 0
# What is noted of a donor's node: its pegs, its own load, its holes, its least load.
PEGS, HELD, HOLES, LOW, NOTES = 0, 1, 2, 3, 4


def _half(difference):
    """Return half of differences, of integers rounded towards 0."""
    if difference.dtype.kind == "f":
        return difference * 0.5
    return (difference + (difference < 0)) >> 1


def _pair(a, b):
    """Return both loads after the exchange; the higher sends ``diff//2``, floats meet midway."""
    if a.dtype.kind == "f":
        mean = _half(a) + _half(b)
        return mean, mean
    sent = _half(a - b)
    return a - sent, b + sent


class _Vectors:
    """Builds vectors of lanes; integers and floats go by the same names."""

    def __init__(self, context, builder, signature, arguments, dtype):
        self.context, self.builder = context, builder
        self.signature, self.arguments = signature, arguments
        self.real = isinstance(dtype, types.Float)
        self.align = dtype.bitwidth // 8
        self.count = VECTOR // self.align
        self.type = ir.VectorType(context.get_data_type(dtype), self.count)
        self.zero = self.constant(0)

    def constant(self, value):
        return ir.Constant(self.type, [value] * self.count)

    def places(self, number, *indices):
        """Return where vectors begin in the array that is this argument."""
        array = self.context.make_array(self.signature.args[number])
        data = array(self.context, self.builder, self.arguments[number]).data
        begins = [self.builder.gep(data, [index]) for index in indices]
        return [self.builder.bitcast(begin, self.type.as_pointer()) for begin in begins]

    def notes(self, number, node):
        """Return where a node's notes stand in the array that is this argument."""
        ends = [ir.Constant(node.type, self.count * note) for note in range(NOTES)]
        return self.places(number, *(self.builder.add(node, end) for end in ends))

    def load(self, place):
        return self.builder.load(place, align=self.align)

    def store(self, vector, place):
        self.builder.store(vector, place, align=self.align)

    def update(self, place, join, vector):
        self.store(join(self.load(place), vector), place)

    def count_units(self, number, lane, *moved):
        """Add to the units in the array that is this argument, of this dtype or a wider one."""
        dtype = self.signature.args[number].dtype
        array = self.context.make_array(self.signature.args[number])
        data = array(self.context, self.builder, self.arguments[number]).data
        wide = ir.VectorType(self.context.get_data_type(dtype), self.count)
        place = self.builder.bitcast(self.builder.gep(data, [lane]), wide.as_pointer())
        units = self.builder.load(place, align=dtype.bitwidth // 8)
        for more in moved:
            units = self.add(units, more if wide == self.type else self.builder.sext(more, wide))
        self.builder.store(units, place, align=dtype.bitwidth // 8)

    def add(self, a, b):
        return self.builder.fadd(a, b) if self.real else self.builder.add(a, b)

    def sub(self, a, b):
        return self.builder.fsub(a, b) if self.real else self.builder.sub(a, b)

    def negative(self, a):
        return self.builder.fneg(a) if self.real else self.builder.neg(a)

    def less(self, a, b):
        return (self.builder.fcmp_ordered if self.real else self.builder.icmp_signed)("<", a, b)

    def least(self, a, b):
        return self.builder.select(self.less(b, a), b, a)

    def most(self, a, b):
        return self.builder.select(self.less(a, b), b, a)

    def absolute(self, a):
        return self.most(a, self.negative(a))

    def half(self, a):
        if self.real:
            return self.builder.fmul(a, self.constant(0.5))
        negative = self.builder.lshr(a, self.constant(8 * self.align - 1))
        return self.builder.ashr(self.builder.add(a, negative), self.constant(1))

    def pair(self, a, b):
        if self.real:
            mean = self.add(self.half(a), self.half(b))
            return mean, mean
        sent = self.half(self.sub(a, b))
        return self.sub(a, sent), self.add(b, sent)

    def register(self, stuck, donor):
        """Leave a stuck node what its donor has; return the donor's notes."""
        held = self.load(donor)
        pegs = self.sub(self.load(stuck), held)
        self.store(held, stuck)
        return [pegs, held, self.most(self.zero, self.negative(pegs)), held]

    def shift(self, x, y, booked):
        """Level the pegs of two nodes of a donor in their notes; return what x sends."""
        sent = self.least(self.half(self.sub(x[PEGS], y[PEGS])), self.add(x[HELD], x[PEGS]))
        sent = self.most(sent, self.negative(self.add(y[HELD], y[PEGS])))
        x[PEGS], y[PEGS] = self.sub(x[PEGS], sent), self.add(y[PEGS], sent)
        for node in (x, y) if booked else ():
            load = self.add(self.add(node[HELD], node[PEGS]), node[HOLES])
            node[LOW] = self.least(node[LOW], load)
        return sent

    def settle(self, node, booked):
        """Return what a donor's node is left with, and its least load."""
        left = self.most(self.zero, self.add(node[HELD], node[PEGS]))
        if not booked:
            return left, None
        owing = self.less(self.zero, node[HOLES])
        low = self.builder.select(owing, self.least(node[LOW], left), node[LOW])
        return left, low


def _across(tile, least, units, base, strides, w):
    """Balance dimensions between rows of which one begins at ``base``, a vector of lanes of each.

    The neighbour along dimension d begins ``strides[d]`` further; w is the first of the lanes.
    """
    count = VECTOR // tile.itemsize
    places = [base]
    for stride in strides:
        places = places + [place + stride for place in places]
    rows = [slice(place, place + count) for place in places]
    for d in range(len(strides)):
        for x, y in ((rows[r], rows[r | 1 << d]) for r in range(len(rows)) if not r >> d & 1):
            a = tile[x].copy()
            tile[x], tile[y] = _pair(a, tile[y])
            if units is not None:
                units[w : w + count] += np.abs(a - tile[x])
                least[x] = np.minimum(least[x], tile[x])
                least[y] = np.minimum(least[y], tile[y])


@intrinsic
def _machine_across(_typing, tile, least, units, _base, strides, _w):
    """Compile ``_across`` with a register a row."""

    def generate(context, builder, signature, arguments):
        v = _Vectors(context, builder, signature, arguments, tile.dtype)
        starts = [arguments[3]]
        for d in range(strides.count):
            stride = builder.extract_value(arguments[4], d)
            starts += [builder.add(start, stride) for start in starts]
        booked = units != types.none
        places, low_places = v.places(0, *starts), v.places(1, *starts) if booked else []
        rows, lows = ([v.load(place) for place in them] for them in (places, low_places))
        moved = v.zero
        for d in range(strides.count):
            for r in range(1 << strides.count):
                if r >> d & 1:
                    continue
                s = r + (1 << d)
                a = rows[r]
                rows[r], rows[s] = v.pair(a, rows[s])
                if booked:
                    moved = v.add(moved, v.absolute(v.sub(a, rows[r])))
                    lows[r], lows[s] = v.least(lows[r], rows[r]), v.least(lows[s], rows[s])
        for row, place in zip(rows + lows, places + low_places, strict=True):
            v.store(row, place)
        if booked:
            v.count_units(2, arguments[5], moved)
        return context.get_dummy_value()

    return types.none(tile, least, units, types.int64, strides, types.int64), generate


def _register(tile, least, units, notes, a, d, w, i):
    """Note the loads of a stuck node as pegs above its donor's, and leave it the donor's."""
    count = VECTOR // tile.itemsize
    stuck = slice(a, a + count)
    pegs, held, holes, low = notes[i : i + NOTES * count].reshape(NOTES, count)
    held[:] = tile[d : d + count]
    pegs[:] = tile[stuck] - held
    tile[stuck] = held
    if units is not None:
        holes[:], low[:] = np.maximum(0, -pegs), held
        units[w : w + count] += np.abs(pegs)
        least[stuck] = np.minimum(least[stuck], held)


@intrinsic
def _machine_register(_typing, tile, least, units, notes, _a, _d, _w, _i):
    """Compile ``_register``."""

    def generate(context, builder, signature, arguments):
        v = _Vectors(context, builder, signature, arguments, tile.dtype)
        a, d, w, i = arguments[4:]
        node = v.register(*v.places(0, a, d))
        for note, place in zip(node, v.notes(3, i), strict=True):
            if units != types.none or note in node[:HOLES]:
                v.store(note, place)
        if units != types.none:
            v.count_units(2, w, v.absolute(node[PEGS]))
            v.update(v.places(1, a)[0], v.least, node[HELD])
        return context.get_dummy_value()

    index = types.int64
    return types.none(tile, least, units, notes, index, index, index, index), generate


def _shift(units, notes, w, i, j):
    """Level pegs; a node gives at most its load minus its holes, which is held + pegs."""
    count = VECTOR // notes.itemsize
    x, y = (notes[at : at + NOTES * count].reshape(NOTES, count) for at in (i, j))
    sent = np.minimum(_half(x[PEGS] - y[PEGS]), x[HELD] + x[PEGS])
    sent = np.maximum(sent, -(y[HELD] + y[PEGS]))
    x[PEGS] -= sent
    y[PEGS] += sent
    if units is not None:
        units[w : w + count] += np.abs(sent)
        for node in (x, y):
            node[LOW] = np.minimum(node[LOW], node[HELD] + node[PEGS] + node[HOLES])


@intrinsic
def _machine_shift(_typing, units, notes, _w, _i, _j):
    """Compile ``_shift``."""

    def generate(context, builder, signature, arguments):
        v = _Vectors(context, builder, signature, arguments, notes.dtype)
        booked = units != types.none
        places = [v.notes(1, node) for node in arguments[3:]]
        x, y = ([v.load(place) for place in node[: NOTES if booked else HOLES]] for node in places)
        sent = v.shift(x, y, booked)
        for node, there in zip((x, y), places, strict=True):
            v.store(node[PEGS], there[PEGS])
            if booked:
                v.store(node[LOW], there[LOW])
        if booked:
            v.count_units(0, arguments[2], v.absolute(sent))
        return context.get_dummy_value()

    index = types.int64
    return types.none(units, notes, index, index, index), generate


def _settle(tile, least, peak, notes, d, i):
    """Leave the donor what it held and its pegs; ``peak`` keeps the largest loads so left."""
    count = VECTOR // tile.itemsize
    donor = slice(d, d + count)
    pegs, held, holes, low = notes[i : i + NOTES * count].reshape(NOTES, count)
    left = np.maximum(0, held + pegs)
    tile[donor] = left
    peak[:] = np.maximum(peak, left)
    if least is not None:
        least[donor] = np.minimum(least[donor], np.where(holes > 0, np.minimum(low, left), low))


@intrinsic
def _machine_settle(_typing, tile, least, peak, notes, _d, _i):
    """Compile ``_settle``."""

    def generate(context, builder, signature, arguments):
        v = _Vectors(context, builder, signature, arguments, tile.dtype)
        d, i = arguments[4:]
        booked = least != types.none
        node = [v.load(place) for place in v.notes(3, i)[: NOTES if booked else HOLES]]
        left, low = v.settle(node, booked)
        v.store(left, v.places(0, d)[0])
        v.update(v.places(2, ir.Constant(i.type, 0))[0], v.most, left)
        if booked:
            v.update(v.places(1, d)[0], v.least, low)
        return context.get_dummy_value()

    return types.none(tile, least, peak, notes, types.int64, types.int64), generate


def _repair_few(tile, least, units, peak, a, d, strides, w):
    """Repair a stuck subcube of a few nodes, levelled from the lowest dimension on.

    Its first node begins at a and that one's neighbour in the donor at d; those along dimension
    number k of the subcube begin ``strides[k]`` further. w is the first of the lanes.
    """
    ends = [0]
    for stride in strides:
        ends = ends + [end + stride for end in ends]
    step = NOTES * (VECTOR // tile.itemsize)
    notes = np.empty(step * len(ends), tile.dtype)
    for r, end in enumerate(ends):
        _register(tile, least, units, notes, a + end, d + end, w, r * step)
    for bit in range(len(strides)):
        for r in range(len(ends)):
            if not r >> bit & 1:
                _shift(units, notes, w, r * step, (r + (1 << bit)) * step)
    for r, end in enumerate(ends):
        _settle(tile, least, peak, notes, d + end, r * step)


@intrinsic
def _machine_repair_few(_typing, tile, least, units, peak, _a, _d, strides, _w):
    """Compile ``_repair_few`` with all notes in registers.

    Plans of 3-cubes with a stuck square take 0.55 of the time that they do with notes in memory,
    for the final loads alone 0.4.
    """

    def generate(context, builder, signature, arguments):
        v = _Vectors(context, builder, signature, arguments, tile.dtype)
        a, d, steps, w = arguments[4:]
        booked = units != types.none
        ends = [ir.Constant(a.type, 0)]
        for number in range(strides.count):
            stride = builder.extract_value(steps, number)
            ends += [builder.add(end, stride) for end in ends]
        stuck, donor = ([builder.add(first, end) for end in ends] for first in (a, d))
        nodes, moved = [], []
        for own, other in zip(stuck, donor, strict=True):
            node = v.register(*v.places(0, own, other))
            if booked:
                moved.append(v.absolute(node[PEGS]))
                v.update(v.places(1, own)[0], v.least, node[HELD])
            nodes.append(node)
        for bit in range(strides.count):
            for r, node in enumerate(nodes):
                if not r >> bit & 1:
                    sent = v.shift(node, nodes[r + (1 << bit)], booked)
                    if booked:
                        moved.append(v.absolute(sent))
        highest = v.places(3, ir.Constant(a.type, 0))[0]
        most = v.load(highest)
        for node, place in zip(nodes, donor, strict=True):
            left, low = v.settle(node, booked)
            v.store(left, v.places(0, place)[0])
            most = v.most(most, left)
            if booked:
                v.update(v.places(1, place)[0], v.least, low)
        v.store(most, highest)
        if booked:
            v.count_units(2, w, *moved)
        return context.get_dummy_value()

    index = types.int64
    return types.none(tile, least, units, peak, index, index, strides, index), generate


@overload(_repair_few)
def _choose_repair_few(tile, least, units, peak, a, d, strides, w):
    return lambda tile, least, units, peak, a, d, strides, w: _machine_repair_few(  # type: ignore[call-arg]
        tile, least, units, peak, a, d, strides, w
    )


@overload(_across)
def _choose_across(tile, least, units, base, strides, w):
    return lambda tile, least, units, base, strides, w: _machine_across(  # type: ignore[call-arg]
        tile, least, units, base, strides, w
    )


@overload(_register)
def _choose_register(tile, least, units, notes, a, d, w, i):
    return lambda tile, least, units, notes, a, d, w, i: _machine_register(  # type: ignore[call-arg]
        tile, least, units, notes, a, d, w, i
    )


@overload(_shift)
def _choose_shift(units, notes, w, i, j):
    return lambda units, notes, w, i, j: _machine_shift(units, notes, w, i, j)  # type: ignore[call-arg]


@overload(_settle)
def _choose_settle(tile, least, peak, notes, d, i):
    return lambda tile, least, peak, notes, d, i: _machine_settle(  # type: ignore[call-arg]
        tile, least, peak, notes, d, i
    )


@intrinsic
def _start(_typing, array):
    """Return the pointer to an array's first element."""

    def generate(context, builder, signature, arguments):
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


def _flat(array):
    """Return an array seen as (N,), or None; for the compiler one that nobody counts."""
    return None if array is None else array.reshape(-1)


@overload(_flat)
def _choose_flat(array):
    if array == types.none:
        return lambda array: None
    return lambda array: carray(_start(array), array.size)  # type: ignore[call-arg]


@njit(cache=True, nogil=True)
def _exchange(tile, least, units, W, base, others, first, second, third):
    """Balance up to three dimensions; the nodes differ from ``base`` in bits of ``others`` too."""
    V = VECTOR // tile.itemsize
    x, y, z = W << first, W << max(second, 0), W << max(third, 0)
    sub = 0
    while True:
        row = (base | sub) * W
        for w in range(0, W, V):
            if third >= 0:
                _across(tile, least, units, row + w, (x, y, z), w)
            elif second >= 0:
                _across(tile, least, units, row + w, (x, y), w)
            else:
                _across(tile, least, units, row + w, (x,), w)
        if sub == others:
            return
        sub = (sub - others) & others


@njit(cache=True, nogil=True)
def _repair(tile, least, units, peak, notes, W, base, free, bit, ascending):
    """Level the pegs and holes of a stuck subcube in its donor.

    A node a with neighbour a' ends with what a' had, whether it sends pegs or is paid its
    holes. So the donor is left with the stuck subcube's loads, and its pegs are what these are
    above its own.
    """
    V = VECTOR // tile.itemsize
    step = NOTES * V
    x = free & -free
    y = free - x
    # Levelled the other way, floats would be added up in another order.
    if ascending and x > 0 and y & (y - 1) == 0:
        a, d = base * W, (base ^ 1 << bit) * W
        for w in range(0, W, V):
            if y > 0:
                _repair_few(tile, least, units, peak, a + w, d + w, (x * W, y * W), w)
            else:
                _repair_few(tile, least, units, peak, a + w, d + w, (x * W,), w)
        return
    for w in range(0, W, V):
        end = sub = 0
        while True:
            a, d = (base | sub) * W + w, ((base | sub) ^ (1 << bit)) * W + w
            _register(tile, least, units, notes, a, d, w, end)
            end += step
            if sub == free:
                break
            sub = (sub - free) & free
        h = step if ascending else end // 2
        while step <= h < end:
            for o in range(0, end, 2 * h):
                for i in range(o, o + h, step):
                    _shift(units, notes, w, i, i + h)
            h = 2 * h if ascending else h // 2
        i = sub = 0
        while True:
            _settle(tile, least, peak, notes, ((base | sub) ^ (1 << bit)) * W + w, i)
            i += step
            if sub == free:
                break
            sub = (sub - free) & free


@njit(cache=True, nogil=True)
def _add_up(units, moved):
    """Add what moved so far to the sums of all trials."""
    for w in range(moved.size):
        moved[w] += units[w]
    units[:] = 0


@njit(cache=True, nogil=True)
def _kept(least, sums, local):
    """Add up what never left."""
    sums[:] = 0
    for row in range(0, least.size, sums.size):
        lows = least[row : row + sums.size]
        for w in range(sums.size):
            sums[w] += lows[w]
    local[:] = sums[: local.size]


@njit(cache=True, nogil=True)
def carry_out(tiles, passes, ascending, deepest, within, least, units, moved, local):
    """Carry out a plan on every cube of ``tiles`` (K, N, W) in place.

    These are int16, int32, int64 or float64, ``W`` of them a multiple of a vector's lanes, and each
    total fits the dtype of ``units``. ``passes`` (P, 6) int64: rows
    ``EXCHANGE, base, others, bits`` or ``LEVEL, base, free, bit``, missing bits are -1. A donor is
    levelled from its lowest bit on if ``ascending``; ``deepest`` is the dimension of the largest.
    What ``within`` passes move fits that dtype too. ``moved`` and ``local`` (B,), int64 or float64,
    receive the units that move and those that never leave; ``least`` (N * W,) of the tiles' dtype
    and ``units`` (W,) of the same, or int32 for int16, are used up. All four may be None. Return
    the largest load after a repair.

    Of int16, no load may be above a sixth of the largest: a pass moves twelve halves.
    """
    W, V = tiles.shape[2], VECTOR // tiles.itemsize
    # Asked for its peak at last, as what is not counted would be gone by then.
    room = np.empty(V + (NOTES * V << deepest), tiles.dtype)
    room[:V] = 0
    peak, notes = _flat(room)[:V], _flat(room)[V:]
    lanes, lows, counts = _flat(tiles), _flat(least), _flat(units)
    sums, stayed = _flat(moved), _flat(local)
    size = tiles.shape[1] * W
    for k in range(tiles.shape[0]):
        tile, trials = lanes[k * size : (k + 1) * size], slice(k * W, (k + 1) * W)
        if moved is not None:
            for i in range(size):  # Ten times as fast as assigning to a slice.
                lows[i] = tile[i]
            counts[:] = 0
            sums[trials] = 0
        for p in range(passes.shape[0]):
            kind, base, free, first, second, third = passes[p]
            if kind == EXCHANGE:
                _exchange(tile, lows, counts, W, base, free, first, second, third)
            else:
                _repair(tile, lows, counts, peak, notes, W, base, free, first, ascending)
            if moved is not None and (p + 1) % within == 0:
                _add_up(counts, sums[trials])
        if moved is not None:
            _add_up(counts, sums[trials])
            _kept(lows, counts, stayed[trials])
    return room[:V].max()
