"""Algorithms A, B and C on the Hyper Hexa-Cell network, trials last, everything counted.

Legend: ``K`` tiles of ``W`` trials side by side, ``N = 3 * 2**d`` nodes, ``B`` trials.

A node is ``3 h + t``: place t of triangle h, whose lowest bit is the triangle of its prism and the
others its cell. Prism and dimensions are thus ``d`` stages of one kind, along the bits of h. Some
of them at a time are balanced between registers, and the last of them leave nothing but sums and
extremes. The rules of pair and triangle stand here once more than in ``hexa_cell.py``, as they are
written for vectors: at d = 5 a node of a random trial takes 1.2 ns with all figures, 5.7 by loops
over rows of lanes, which are checked for overlaps all the time and add up in 64 bits. In lanes of
16 bits this kernel takes 0.6 to 0.7 of the time, for C 0.4 to 0.55, and a whole run 0.65 to 0.8.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

LANES = 16
# Loads up to ``NARROW`` fit 16 bits, 32 lanes of them a register: so do a triangle's total without
# a sign, and the sums of any four loads, or transfers.
NARROW, NARROW_LANES = 2**14 - 1, 32
# Stages balanced at a time: one by one takes 1.4 to 1.6 times as long.
GROUPED = 2
A, B, C = 0, 1, 2
# Messages that the nodes of a triangle send and receive before any load.
TRIANGLE = (10, 8, 12)
# Rows of what lanes add up to, in 32 bits at least: units moved, units that never left, those on
# the critical path, messages with load, polls and a triangle's others, and C's polls again.
MOVED, LOCAL, TIME, TOLD, POLLED, SUMS = 0, 1, 2, 3, 4, 5
# Rows of extremes: the messages of the busiest node, the final loads, and the longest transfer of
# each stage of a group.
BUSIEST, LEAST, MOST, LONGEST, TOPS = 0, 1, 2, 3, 3 + GROUPED


class _Vector:
    """Lanes in a register, with the operators that an array has."""

    def __init__(self, builder, value):
        self.builder, self.value = builder, value

    def _make(self, build, other):
        if isinstance(other, int):
            kind = self.value.type
            other = _Vector(self.builder, ir.Constant(kind, [other] * kind.count))
        return _Vector(self.builder, build(self.value, other.value))

    def __add__(self, other):
        return self._make(self.builder.add, other)

    def __sub__(self, other):
        return self._make(self.builder.sub, other)

    def __neg__(self):
        return _Vector(self.builder, self.builder.neg(self.value))

    def __and__(self, other):
        return self._make(self.builder.and_, other)

    def __xor__(self, other):
        return self._make(self.builder.xor, other)

    def __rshift__(self, other):
        return self._make(self.builder.ashr, other)

    def third(self):
        return self._make(self.builder.udiv, 3)

    def compare(self, how, other):
        """Return 1 where it holds, 0 elsewhere."""

        def build(a, b):
            return self.builder.zext(self.builder.icmp_signed(how, a, b), a.type)

        return self._make(build, other)

    def choose(self, how, other):
        """Return its own lanes where it holds, the other's elsewhere."""

        def build(a, b):
            return self.builder.select(self.builder.icmp_signed(how, a, b), a, b)

        return self._make(build, other)


def _above(a, b):
    return a.compare(">", b) if isinstance(a, _Vector) else (a > b).astype(a.dtype)


def _some(a):
    """Return 1 where there is something, 0 elsewhere."""
    return a.compare("!=", 0) if isinstance(a, _Vector) else (a != 0).astype(a.dtype)


def _least(a, b):
    return a.choose("<", b) if isinstance(a, _Vector) else np.minimum(a, b)


def _most(a, b):
    return a.choose(">", b) if isinstance(a, _Vector) else np.maximum(a, b)


def _third(a):
    """Return a third of what has no sign."""
    if isinstance(a, _Vector):
        return a.third()
    return (a.view(f"u{a.itemsize}") // 3).view(a.dtype)


def _sign(a):
    """Return -1 where it is negative, 0 elsewhere."""
    width = a.value.type.element.width if isinstance(a, _Vector) else 8 * a.itemsize
    return a >> (width - 1)


def _size(a):
    """Return its absolute value."""
    return _most(a, -a)


def _pair(a, b, above):
    """Return both loads after the exchange, and the units: half of the difference.

    The larger half of an odd difference crosses if the difference is more than ``above``, never
    if that is None.
    """
    difference = a - b
    sign = _sign(difference)
    # Half of it rounded towards 0, or else away from it.
    if above is not None:
        sign = sign ^ -_above(_size(difference), above)
    sent = (difference - sign) >> 1
    return a - sent, b + sent, _size(sent)


def _share(a, b, c, greedy):
    """Return a triangle's loads after those above the average have filled those below."""
    total = a + b + c
    mean = _third(total + 2)
    x, y, z = _least(a, mean), _least(b, mean), _least(c, mean)
    excess = total - x - y - z
    if greedy:
        first = _least(x + excess, mean)
        second = _least(y + excess - (first - x), mean)
        return first, second, total - first - second
    # Unit by unit to the lighter of two takers: see ``hexa_cell.py``.
    both = total - mean
    first = _most(x, _least(x + excess, (both + 1) >> 1))
    last = _most(z, _least(z + excess, both >> 1))
    return first, total - first - last, last


def _flow(sent, taken):
    """Return the net units from one node to another, from what each sent in all."""
    forth = _least(_most(sent, 0), _most(-taken, 0))
    return forth - _least(_most(-sent, 0), _most(taken, 0))


def _triangle(loads, algorithm, greedy):
    """Return the loads, the least that was kept, messages, units and polls again of a triangle."""
    a, b, c = loads
    nothing = a - a
    lows, told, units, polled = list(loads), [nothing + 4] * 3, nothing, nothing
    if algorithm == A:
        low = b
        b, c, units = _pair(b, c, None)
        crossed = _some(units)
        # The report comes from the node that received, else from the right one.
        reports = crossed & _above(loads[2], low)
        told = [nothing + 3, crossed + reports + 3, crossed - reports + 4]
        lows[1:] = _least(lows[1], b), _least(lows[2], c)
    elif algorithm == B:
        told[1:] = [nothing + 2] * 2
    given = a, b, c
    shared = _share(a, b, c, greedy)
    sent = [x - y for x, y in zip(given, shared, strict=True)]
    for each in sent:
        units = units + _most(each, 0)
    flows = {(i, j): _flow(sent[i], sent[j]) for i, j in ((0, 1), (0, 2), (1, 2))}
    for (i, j), flow in flows.items():
        told[i], told[j] = told[i] + _some(flow), told[j] + _some(flow)
    if algorithm == C:
        # A node polls again as long as it has excess: its first peer, then its second.
        for i, (first, second) in enumerate(((1, 2), (0, 2), (0, 1))):
            once = _above(sent[i], 0)
            twice = _above(sent[i], _size(flows[min(i, first), max(i, first)]))
            told[i] = told[i] + once + twice
            told[first], told[second] = told[first] + once, told[second] + twice
            polled = polled + once + twice
    lows = [_least(low, x) for low, x in zip(lows, shared, strict=True)]
    return shared, lows, told, units, polled


def _stages(loads, lows, told, bits, aboves):
    """Balance ``bits`` stages between ``2**bits`` rows in place; return the units, all and longest.

    ``aboves`` : see ``_pair``, one a stage.
    """
    moved, longest = None, []
    for stage in range(bits):
        most = None
        for r in range(1 << bits):
            if r >> stage & 1:
                continue
            s = r + (1 << stage)
            loads[r], loads[s], units = _pair(loads[r], loads[s], aboves[stage])
            for node in (r, s):
                lows[node] = _least(lows[node], loads[node])
                told[node] = told[node] + _some(units)
            moved = units if moved is None else moved + units
            most = units if most is None else _most(most, units)
        longest.append(most)
    return moved, longest


def _triangles_across(tile, kept, ends, sums, tops, base, W, w, rule):
    """Balance the triangle whose rows begin at ``base``, a register's lanes from w on, and count.

    ``kept`` receives the least loads and ``ends`` the messages of each node. ``rule`` : twice the
    algorithm, 1 more if the share is greedy.
    """
    lanes = _lanes(tile)
    places = [slice(base + i * W, base + i * W + lanes) for i in range(3)]
    found = _triangle([tile[place].copy() for place in places], rule >> 1, rule & 1)
    for place, load, low, told in zip(places, *found[:3], strict=True):
        tile[place], kept[place], ends[place] = load, low, told
    sums, tops = sums[:, w : w + lanes], tops[:, w : w + lanes]
    sums[MOVED] += found[3]
    sums[POLLED] += found[4]
    tops[LONGEST] = np.maximum(tops[LONGEST], found[3])


def _stages_across(tile, kept, ends, sums, tops, base, strides, w, aboves, last, bits, plain):
    """Balance ``bits`` stages between rows that begin at ``base``, a register's lanes of each.

    The neighbour along stage k begins ``strides[k]`` further. ``aboves`` holds the largest odd
    difference of which the smaller half is sent; if ``plain`` it always is. After the ``last``
    stages what is kept and told is added up, and the loads are lost.
    """
    places = [base]
    for k in range(bits):
        places = places + [place + strides[k] for place in places]
    lanes = _lanes(tile)
    rows = [slice(place, place + lanes) for place in places]
    loads, lows = [tile[row].copy() for row in rows], [kept[row].copy() for row in rows]
    told = [ends[row].astype(tile.dtype) for row in rows]
    sums, tops = sums[:, w : w + lanes], tops[:, w : w + lanes]
    moved, longest = _stages(loads, lows, told, bits, [None] * bits if plain else aboves)
    sums[MOVED] += moved
    for k, most in enumerate(longest):
        tops[LONGEST + k] = np.maximum(tops[LONGEST + k], most)
    for row, load, low, messages in zip(rows, loads, lows, told, strict=True):
        if last:
            sums[LOCAL] += low
            sums[TOLD] += messages
            tops[LEAST] = np.minimum(tops[LEAST], load)
            tops[MOST] = np.maximum(tops[MOST], load)
            tops[BUSIEST] = np.maximum(tops[BUSIEST], messages)
        else:
            tile[row], kept[row], ends[row] = load, low, messages


class _Rows:
    """Rows of lanes of the arrays that an intrinsic has as its first arguments."""

    def __init__(self, context, builder, signature, arguments, count):
        self.builder = builder
        self.arrays = [
            context.make_array(signature.args[i])(context, builder, arguments[i])
            for i in range(count)
        ]
        self.element = context.get_data_type(signature.args[0].dtype)
        lanes = NARROW_LANES if self.element.width == 16 else LANES
        self.vector = ir.VectorType(self.element, lanes)

    def place(self, array, index):
        data = self.arrays[array].data
        vector = ir.VectorType(data.type.pointee, self.vector.count)
        return self.builder.bitcast(self.builder.gep(data, [index]), vector.as_pointer())

    def load(self, array, index):
        place = self.place(array, index)
        width = place.type.pointee.element.width
        found = self.builder.load(place, align=width // 8)
        if width < self.element.width:
            found = self.builder.zext(found, self.vector)
        return _Vector(self.builder, found)

    def store(self, array, index, row):
        place = self.place(array, index)
        kept = place.type.pointee
        value = row.value
        if kept.element.width < self.element.width:
            value = self.builder.trunc(value, kept)
        self.builder.store(value, place, align=kept.element.width // 8)

    def join(self, array, which, w, how, row):
        """Join a vector to row ``which`` of an array, sums or extremes, from lane w on."""
        W = self.builder.extract_value(self.arrays[array].shape, 1)
        index = self.builder.add(self.builder.mul(W, ir.Constant(W.type, which)), w)
        before = self.load(array, index)
        if before.value.type != row.value.type:
            row = _Vector(self.builder, self.builder.zext(row.value, before.value.type))
        self.store(array, index, how(before, row))

    def spread(self, number):
        """Return a vector of one number, an int64, in each lane."""
        builder, zero = self.builder, ir.Constant(ir.IntType(32), 0)
        if self.element.width < number.type.width:
            number = builder.trunc(number, self.element)
        undefined = ir.Constant(self.vector, ir.Undefined)
        one = builder.insert_element(undefined, number, zero)
        first = ir.Constant(ir.VectorType(ir.IntType(32), self.vector.count), None)
        return _Vector(builder, builder.shuffle_vector(one, undefined, first))


def _sum(a, b):
    return a + b


def _joined(parts, how):
    """Join 2, 4, .. vectors in pairs, so that none waits for all those before."""
    while len(parts) > 1:
        parts = [how(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _machine_triangles(rule):
    """Make ``_triangles_across`` with a register a row."""

    @intrinsic
    def across(_typing, tile, kept, ends, sums, tops, _base, _W, _w):
        def generate(context, builder, signature, arguments):
            rows = _Rows(context, builder, signature, arguments, 5)
            base, W, w = arguments[5:]
            places = [base, builder.add(base, W)]
            places.append(builder.add(places[1], W))
            loads = [rows.load(0, place) for place in places]
            *found, units, polled = _triangle(loads, rule >> 1, rule & 1)
            for array, parts in enumerate(found):
                for place, part in zip(places, parts, strict=True):
                    rows.store(array, place, part)
            rows.join(3, MOVED, w, _sum, units)
            rows.join(4, LONGEST, w, _most, units)
            if rule >> 1 == C:
                rows.join(3, POLLED, w, _sum, polled)
            return context.get_dummy_value()

        index = types.int64
        return types.none(tile, kept, ends, sums, tops, index, index, index), generate

    return across


def _machine_stages(bits, plain):
    """Make ``_stages_across`` with a register a row."""

    @intrinsic
    def across(_typing, tile, kept, ends, sums, tops, _base, strides, _w, aboves, last):
        def generate(context, builder, signature, arguments):
            rows = _Rows(context, builder, signature, arguments, 5)
            w = arguments[7]
            places = [arguments[5]]
            for k in range(bits):
                stride = builder.extract_value(arguments[6], k)
                places += [builder.add(place, stride) for place in places]
            loads, lows, told = ([rows.load(i, place) for place in places] for i in range(3))
            limits = [
                None if plain else rows.spread(builder.extract_value(arguments[8], k))
                for k in range(bits)
            ]
            moved, longest = _stages(loads, lows, told, bits, limits)
            rows.join(3, MOVED, w, _sum, moved)
            for k, most in enumerate(longest):
                rows.join(4, LONGEST + k, w, _most, most)
            with builder.if_else(builder.trunc(arguments[9], ir.IntType(1))) as (then, otherwise):
                with then:
                    for array, which, parts, how in (
                        (3, LOCAL, lows, _sum),
                        (3, TOLD, told, _sum),
                        (4, LEAST, loads, _least),
                        (4, MOST, loads, _most),
                        (4, BUSIEST, told, _most),
                    ):
                        rows.join(array, which, w, how, _joined(parts, how))
                with otherwise:
                    for array, parts in enumerate((loads, lows, told)):
                        for place, part in zip(places, parts, strict=True):
                            rows.store(array, place, part)
            return context.get_dummy_value()

        index = types.int64
        return (
            types.none(tile, kept, ends, sums, tops, index, strides, index, aboves, last),
            generate,
        )

    return across


TRIANGLES = {rule: _machine_triangles(rule) for rule in (0, 1, 2, 3, 5)}
STAGES = {
    (bits, plain): _machine_stages(bits, plain)
    for bits in range(1, GROUPED + 1)
    for plain in (False, True)
}


@overload(_triangles_across, prefer_literal=True)
def _choose_triangles(tile, kept, ends, sums, tops, base, W, w, rule):
    machine = TRIANGLES[rule.literal_value]
    return lambda tile, kept, ends, sums, tops, base, W, w, rule: machine(
        tile, kept, ends, sums, tops, base, W, w
    )


@overload(_stages_across, prefer_literal=True)
def _choose_stages(tile, kept, ends, sums, tops, base, strides, w, aboves, last, bits, plain):
    machine = STAGES[bits.literal_value, plain.literal_value]
    return lambda tile, kept, ends, sums, tops, base, strides, w, aboves, last, bits, plain: (
        machine(tile, kept, ends, sums, tops, base, strides, w, aboves, last)
    )


@njit(cache=True, nogil=True)
def _lanes(tile):
    """Return how many lanes are balanced at a time."""
    return NARROW_LANES if tile.itemsize == 2 else LANES


@njit(cache=True, nogil=True)
def _all_triangles(tile, kept, ends, sums, tops, rule):
    """Balance all triangles of a tile; for ``rule`` see ``_triangles_across``."""
    W = sums.shape[1]
    for base in range(0, tile.size, 3 * W):
        for w in range(0, W, _lanes(tile)):
            if rule == 2 * A:
                _triangles_across(tile, kept, ends, sums, tops, base + w, W, w, 0)
            elif rule == 2 * A + 1:
                _triangles_across(tile, kept, ends, sums, tops, base + w, W, w, 1)
            elif rule == 2 * B:
                _triangles_across(tile, kept, ends, sums, tops, base + w, W, w, 2)
            elif rule == 2 * B + 1:
                _triangles_across(tile, kept, ends, sums, tops, base + w, W, w, 3)
            else:
                # C shares greedily whatever is asked for.
                _triangles_across(tile, kept, ends, sums, tops, base + w, W, w, 5)


@njit(cache=True, nogil=True)
def _group(tile, kept, ends, sums, tops, first, count, rules, last):
    """Balance ``count`` stages, the first of them along bit ``first`` of the triangles' numbers."""
    W = sums.shape[1]
    run = 3 * W << first
    strides = run, 2 * run
    above = rules[3] if first == 0 else rules[4], rules[4]
    plain = above[0] == rules[2] and above[1] == rules[2]
    for start in range(0, tile.size, run << count):
        for base in range(start, start + run, W):
            for w in range(0, W, _lanes(tile)):
                at = base + w
                if count == 2 and plain:
                    _stages_across(
                        tile, kept, ends, sums, tops, at, strides, w, above, last, 2, True
                    )
                elif count == 2:
                    _stages_across(
                        tile, kept, ends, sums, tops, at, strides, w, above, last, 2, False
                    )
                elif plain:
                    _stages_across(
                        tile, kept, ends, sums, tops, at, strides, w, above, last, 1, True
                    )
                else:
                    _stages_across(
                        tile, kept, ends, sums, tops, at, strides, w, above, last, 1, False
                    )


@njit(cache=True, nogil=True)
def _end_stages(sums, tops):
    """Add the longest transfers of a group of stages to the critical path."""
    time = sums[TIME]
    for stage in range(LONGEST, TOPS):
        time += tops[stage]
        tops[stage] = 0


@njit(cache=True, nogil=True)
def _store(rows, found, first):
    """Put rows of lanes to those of all trials, from trial ``first`` on."""
    for i in range(rows.shape[0]):
        part, row = found[i, first : first + rows.shape[1]], rows[i]
        for w in range(part.size):
            part[w] = row[w]


@njit(cache=True, nogil=True)
def balance(tiles, kept, ends, d, rules, found):
    """Balance networks with trials last, use up the loads, and count.

    ``tiles`` : (K, N, W) int32 or int64, W a multiple of ``LANES``, of a dtype that holds a total
    times the ``d + 1`` stages, and 255 N; or int16, W a multiple of ``NARROW_LANES``, where int32
    holds these and loads are at most ``NARROW``. ``kept`` (N W,) of that dtype and ``ends`` (N W,)
    uint8 are room. ``rules`` : algorithm, whether the share is greedy, and the largest odd
    difference of which the smaller half is sent, in A's left-right pair (which is never exceeded),
    in the prism and in the dimensions. ``found`` : (8, B) int64 receives the units moved and those
    that never left, the units on the critical path, the messages with load, C's polls again, the
    most that one node sends and receives, the least and the largest load.
    """
    K, N, W = tiles.shape
    wide = np.empty(0, np.int32) + np.empty(0, tiles.dtype)
    sums = np.empty((SUMS, W), wide.dtype)
    tops = np.empty((TOPS, W), tiles.dtype)
    algorithm, greedy = rules[0], rules[1]
    # Messages of two ends each: those of the triangles, and one each way of a pair in d stages.
    known = TRIANGLE[algorithm] * (N // 3)
    for k in range(K):
        tile = tiles[k].reshape(-1)
        sums[:] = 0
        tops[:] = 0
        tops[LEAST] = np.iinfo(tiles.dtype).max
        _all_triangles(tile, kept, ends, sums, tops, 2 * algorithm + greedy)
        _end_stages(sums, tops)
        first = 0
        while first < d:
            # An odd number of stages begins with one alone.
            count = 2 if (d - first) % 2 == 0 else 1
            _group(tile, kept, ends, sums, tops, first, count, rules, first + count == d)
            _end_stages(sums, tops)
            first += count
        told, polled, busiest = sums[TOLD], sums[POLLED], tops[BUSIEST]
        for w in range(W):
            told[w] = ((told[w] - known) >> 1) - polled[w]
            busiest[w] += 2 * d
        _store(sums, found, k * W)
        _store(tops[:LONGEST], found[SUMS:], k * W)
