"""Direct dimension exchange with trials last, receive-before-send, measured (Wu-Shu Figs 3-10).

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes, ``S`` axes in the order balanced,
``k`` length of a line, ``C`` comparators, ``B`` trials.

A line is worked on in registers, ``LANES`` trials at a time: its total, then from node to node the
quota, the flow to the next node, what it adds to the units moved and to the runs of flows in one
direction, which are the rounds (see ``dde.py``). Ring flows go through memory once, to have the
middle ones found by a sorting network. The last axis leaves nothing but sums and extremes. As
loops over rows of lanes, each checked for overlaps, the 8x8 mesh takes 3.8 ns a node; 0.8 with
what is kept copied before and added up after; 0.6 this way. Rejected: the
axes of a part of the tile, one after the other, while it is in the L1 cache (1.00 to 1.14).
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 16
# Rows of what lanes add up to, on each axis and at the end.
UNITS, LONGEST, COUNTS = 0, 1, 2
LOCAL, LEAST, MOST, SUMS = 0, 1, 2, 3


def _line(tile, kept, counts, sums, flows, sorter, first, step, k, w, ends, ring):
    """Balance ``LANES`` lines of ``k`` nodes, ``step`` apart from ``first`` on.

    ``ends`` tells whether this axis is the first and the last. ``kept`` holds the least loads,
    before the first axis nothing. The rows of ``counts`` (COUNTS, W) receive from lane w on the
    units moved and the longest run of flows in one direction; those of ``sums`` (SUMS, W), of the
    last axis, what was kept and the extremes, and the loads are then lost. ``flows``
    (2 * LANES * k,) is scratch, ``sorter`` (C, 2) the comparators, of a ring.
    """
    for u in range(LANES):
        nodes = range(first + u, first + u + k * step, step)
        average, rest = divmod(sum(int(tile[node]) for node in nodes), k)
        found, flow = [], 0
        for i, node in enumerate(nodes):
            quota = average + (i < rest)
            flow += int(tile[node]) - quota
            found.append(flow)
            kept[node] = min(int(tile[node] if ends[0] else kept[node]), quota)
            tile[node] = quota
        if ends[1]:
            sums[LOCAL, w + u] += sum(int(kept[node]) for node in nodes)
            sums[LEAST, w + u] = min(int(sums[LEAST, w + u]), average)
            sums[MOST, w + u] = max(int(sums[MOST, w + u]), average + (rest > 0))
        if ring:
            lower, upper = sorted(found)[(k - 1) // 2], sorted(found)[k // 2]
            shift = upper if lower > 0 else lower if upper < 0 else 0
            found = [flow - shift for flow in found]
        up = down = most = 0
        for flow in found * (1 + ring):
            up = up + 1 if flow > 0 else 0
            down = down + 1 if flow < 0 else 0
            most = max(most, up, down)
        counts[UNITS, w + u] += sum(abs(flow) for flow in found)
        counts[LONGEST, w + u] = max(counts[LONGEST, w + u], most)


class _Builder:
    """Builds the code of one line, in vectors of the tile's dtype."""

    def __init__(self, context, builder, signature, arguments):
        self.context, self.builder = context, builder
        self.signature, self.arguments = signature, arguments
        self.element = context.get_data_type(signature.args[0].dtype)
        self.vector = ir.VectorType(self.element, LANES)
        self.bits = self.element.width
        self.zero, self.one = self.constant(0), self.constant(1)

    def constant(self, value):
        return ir.Constant(self.vector, [value] * LANES)

    def data(self, number):
        array = self.context.make_array(self.signature.args[number])
        return array(self.context, self.builder, self.arguments[number]).data

    def place(self, number, index):
        return self.builder.bitcast(
            self.builder.gep(self.data(number), [index]), self.vector.as_pointer()
        )

    def load(self, number, index):
        return self.loaded(self.place(number, index))

    def loaded(self, place):
        return self.builder.load(place, align=self.bits // 8)

    def store(self, number, index, value):
        self.builder.store(value, self.place(number, index), align=self.bits // 8)

    def lane(self, number, which, w):
        """Build where lane ``w`` of row ``which`` of a two-dimensional array is."""
        array = self.context.make_array(self.signature.args[number])(
            self.context, self.builder, self.arguments[number]
        )
        width = self.builder.extract_value(array.shape, 1)
        return self.builder.add(w, self.builder.mul(width, ir.Constant(width.type, which)))

    def splat(self, value):
        vector = ir.VectorType(value.type, LANES)
        undefined = ir.Constant(vector, ir.Undefined)
        one = self.builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
        first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
        return self.builder.shuffle_vector(one, undefined, first)

    def number(self, index):
        narrow = index.type.width > self.bits
        return self.splat(self.builder.trunc(index, self.element) if narrow else index)

    def variable(self, value):
        pointer = cgutils.alloca_once(self.builder, self.vector)
        self.builder.store(value, pointer)
        return pointer

    def add_to(self, pointer, value):
        self.builder.store(self.builder.add(self.builder.load(pointer), value), pointer)

    def pick(self, comparison, a, b):
        return self.builder.select(self.builder.icmp_signed(comparison, a, b), a, b)

    def divided(self, total, k):
        """Build average and remainder of totals, not negative, by ``k``."""
        builder, divisor = self.builder, self.number(k)
        if self.bits == 64:
            average = builder.sdiv(total, divisor)
            return average, builder.sub(total, builder.mul(average, divisor))
        # Half a unit more is not near a whole quotient: in float64 none is off.
        real = ir.DoubleType()
        reals = ir.VectorType(real, LANES)
        inverse = builder.fdiv(ir.Constant(real, 1.0), builder.sitofp(k, real))
        more = builder.fadd(builder.sitofp(total, reals), ir.Constant(reals, [0.5] * LANES))
        average = builder.fptosi(builder.fmul(more, self.splat(inverse)), self.vector)
        return average, builder.sub(total, builder.mul(average, divisor))

    def counted(self, flow, units, up, down, most):
        """Build what a flow adds to the units moved, unless None, and to the runs."""
        builder = self.builder
        if units is not None:
            self.add_to(units, self.pick(">", flow, builder.sub(self.zero, flow)))
        for run, comparison in ((up, ">"), (down, "<")):
            goes_on = builder.icmp_signed(comparison, flow, self.zero)
            length = builder.select(goes_on, builder.add(builder.load(run), self.one), self.zero)
            builder.store(length, run)
            builder.store(self.pick(">", length, builder.load(most)), most)

    def middle(self, k):
        """Build what a ring subtracts from its flows, which lie from the first flow on, twice."""
        builder, width = self.builder, ir.Constant(k.type, LANES)
        half = builder.mul(k, width)
        sorter = self.context.make_array(self.signature.args[5])(
            self.context, builder, self.arguments[5]
        )
        count = builder.extract_value(sorter.shape, 0)
        with cgutils.for_range(builder, count) as loop:
            ends = []
            for side in (0, 1):
                place = builder.add(
                    builder.mul(loop.index, ir.Constant(k.type, 2)), ir.Constant(k.type, side)
                )
                row = builder.load(builder.gep(sorter.data, [place]))
                ends.append(builder.add(half, builder.mul(row, width)))
            low, high = self.load(4, ends[0]), self.load(4, ends[1])
            self.store(4, ends[0], self.pick("<", low, high))
            self.store(4, ends[1], self.pick(">", low, high))
        one = ir.Constant(k.type, 1)
        below = builder.ashr(builder.sub(k, one), one)
        lower = self.load(4, builder.add(half, builder.mul(below, width)))
        upper = self.load(4, builder.add(half, builder.mul(builder.ashr(k, one), width)))
        falls = builder.select(builder.icmp_signed("<", upper, self.zero), lower, self.zero)
        return builder.select(builder.icmp_signed(">", lower, self.zero), upper, falls)


def _machine_line(ring):
    """Make ``_line`` in registers."""

    @intrinsic
    def line(_typing, tile, kept, counts, sums, flows, sorter, _first, _step, _k, _w, ends):
        def generate(context, builder, signature, arguments):
            b = _Builder(context, builder, signature, arguments)
            first, step, k, w = arguments[6:10]
            begins, stops = (
                builder.trunc(builder.extract_value(arguments[10], end), ir.IntType(1))
                for end in (0, 1)
            )
            width = ir.Constant(k.type, LANES)
            total = b.variable(b.zero)
            with cgutils.for_range(builder, k) as loop:
                b.add_to(total, b.load(0, builder.add(first, builder.mul(loop.index, step))))
            average, rest = b.divided(builder.load(total), k)
            flow, units, up, down, most, stayed = (b.variable(b.zero) for _ in range(6))
            with cgutils.for_range(builder, k) as loop:
                node = builder.add(first, builder.mul(loop.index, step))
                more = builder.icmp_signed("<", b.number(loop.index), rest)
                quota = builder.sub(average, builder.sext(more, b.vector))
                b.add_to(flow, builder.sub(b.load(0, node), quota))
                least = builder.select(begins, b.place(0, node), b.place(1, node))
                low = b.pick("<", b.loaded(least), quota)
                b.add_to(stayed, low)
                with builder.if_then(builder.not_(stops)):
                    b.store(0, node, quota)
                    b.store(1, node, low)
                if ring:
                    row = builder.mul(loop.index, width)
                    b.store(4, row, builder.load(flow))
                    b.store(4, builder.add(row, builder.mul(k, width)), builder.load(flow))
                else:
                    b.counted(builder.load(flow), units, up, down, most)
            if ring:
                shift = b.middle(k)
                # A run may go on over the wrap link: the second turn ends those.
                for turn in (units, None):
                    with cgutils.for_range(builder, k) as loop:
                        gross = b.load(4, builder.mul(loop.index, width))
                        b.counted(builder.sub(gross, shift), turn, up, down, most)
            lane = b.lane(2, UNITS, w)
            b.store(2, lane, builder.add(b.load(2, lane), builder.load(units)))
            lane = b.lane(2, LONGEST, w)
            b.store(2, lane, b.pick(">", b.load(2, lane), builder.load(most)))
            with builder.if_then(stops):
                lane = b.lane(3, LOCAL, w)
                b.store(3, lane, builder.add(b.load(3, lane), builder.load(stayed)))
                lane = b.lane(3, LEAST, w)
                b.store(3, lane, b.pick("<", b.load(3, lane), average))
                lane = b.lane(3, MOST, w)
                odd = builder.sext(builder.icmp_signed(">", rest, b.zero), b.vector)
                b.store(3, lane, b.pick(">", b.load(3, lane), builder.sub(average, odd)))
            return context.get_dummy_value()

        index = types.int64
        arrays = tile, kept, counts, sums, flows, sorter
        return types.none(*arrays, index, index, index, index, ends), generate

    return line


CHAIN, RING = _machine_line(False), _machine_line(True)


@overload(_line, prefer_literal=True)
def _choose_line(tile, kept, counts, sums, flows, sorter, first, step, k, w, ends, ring):
    machine = RING if ring.literal_value else CHAIN
    return lambda tile, kept, counts, sums, flows, sorter, first, step, k, w, ends, ring: machine(
        tile, kept, counts, sums, flows, sorter, first, step, k, w, ends
    )


@njit(cache=True, nogil=True)
def _lines(tile, kept, counts, sums, flows, sorter, k, inner, ends, ring):
    """Balance all lines of an axis: ``inner`` nodes lie next to each other."""
    W = counts.shape[1]
    for o in range(0, tile.size // W, k * inner):
        for node in range(o, o + inner):
            for w in range(0, W, LANES):
                at, step = node * W + w, inner * W
                if ring:
                    _line(tile, kept, counts, sums, flows, sorter, at, step, k, w, ends, True)
                else:
                    _line(tile, kept, counts, sums, flows, sorter, at, step, k, w, ends, False)


@njit(cache=True, nogil=True)
def _network(tile, kept, counts, sums, flows, shape, rings, axes, sorters, starts):
    """Balance a tile, one axis after the other."""
    for s in range(axes.size):
        a = axes[s]
        inner = 1
        for after in range(a + 1, shape.size):
            inner *= shape[after]
        sorter, ends = sorters[starts[a] : starts[a + 1]], (s == 0, s == axes.size - 1)
        _lines(tile, kept, counts[s], sums, flows, sorter, shape[a], inner, ends, rings[a])


@njit(cache=True, nogil=True)
def dde(tiles, shape, rings, axes, sorters, starts, found):
    """Balance every network of ``tiles`` (K, N, W) int32 or int64, and use up the loads.

    ``W`` is a multiple of ``LANES``; every total times the longest axis fits the dtype, and times
    all axes int64. ``shape``, ``rings`` (d,): lengths, and which axes are rings of 3 or more;
    ``axes`` (S,) in order, at least one. ``sorters`` (C, 2) are the comparators of each ring,
    rows ``starts[a]`` to ``starts[a + 1]``. ``found`` (5, B) int64 receives the units moved,
    those that never left, the rounds, and the least and the largest load at the end.
    """
    K, N, W = tiles.shape
    S = axes.size
    longest = 1
    for k in shape:
        longest = max(longest, k)
    kept = np.empty(N * W, tiles.dtype)
    flows = np.empty(2 * LANES * longest, tiles.dtype)
    counts = np.empty((S, COUNTS, W), tiles.dtype)
    sums = np.empty((SUMS, W), tiles.dtype)
    for t in range(K):
        counts[:] = 0
        sums[:] = 0
        sums[LEAST] = np.iinfo(tiles.dtype).max
        tile = tiles[t].reshape(-1)
        _network(tile, kept, counts, sums, flows, shape, rings, axes, sorters, starts)
        part = found[:, t * W : t * W + W]
        B = part.shape[1]
        part[0] = 0
        part[1] = sums[LOCAL, :B]
        part[2] = 0
        part[3] = sums[LEAST, :B]
        part[4] = sums[MOST, :B]
        for s in range(S):
            part[0] += counts[s, UNITS, :B]
            part[2] += counts[s, LONGEST, :B]
