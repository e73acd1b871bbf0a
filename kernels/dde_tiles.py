"""Direct dimension exchange with trials last, receive-before-send, measured (Wu-Shu Figs 3-10).

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes, ``S`` axes in the order balanced,
``k`` length of a line, ``C`` comparators, ``B`` trials.

A line is worked on in registers, ``LANES`` trials at a time: its total, then from node to node the
quota, the flow to the next node, what it adds to the units moved and to the runs of flows in one
direction, which are the rounds (see ``dde.py``). Ring flows go through memory once, to have the
middle ones found by a sorting network. As loops over rows of lanes, each checked for overlaps,
the 8x8 mesh takes 3.8 ns a node, this way 0.4.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 16


def _line(tile, kept, moved, longest, flows, sorter, first, step, k, w, ring):
    """Balance ``LANES`` lines of ``k`` nodes, ``step`` apart from ``first`` on.

    ``kept`` receives the least loads, ``moved[w]`` and its neighbours the units moved,
    ``longest[w]`` the longest run of flows in one direction. ``flows`` (2 * LANES * k,) is
    scratch, ``sorter`` (C, 2) the comparators, of a ring.
    """
    for u in range(LANES):
        nodes = range(first + u, first + u + k * step, step)
        average, rest = divmod(sum(int(tile[node]) for node in nodes), k)
        found, flow = [], 0
        for i, node in enumerate(nodes):
            quota = average + (i < rest)
            flow += int(tile[node]) - quota
            found.append(flow)
            tile[node] = quota
            kept[node] = min(int(kept[node]), quota)
        if ring:
            lower, upper = sorted(found)[(k - 1) // 2], sorted(found)[k // 2]
            shift = upper if lower > 0 else lower if upper < 0 else 0
            found = [flow - shift for flow in found]
        up = down = most = 0
        for flow in found * (1 + ring):
            up = up + 1 if flow > 0 else 0
            down = down + 1 if flow < 0 else 0
            most = max(most, up, down)
        moved[w + u] += sum(abs(flow) for flow in found)
        longest[w + u] = max(longest[w + u], most)


class _Builder:
    """Builds the code of one line, in vectors of the tile's dtype."""

    def __init__(self, context, builder, signature, arguments):
        self.context, self.builder = context, builder
        self.signature, self.arguments = signature, arguments
        self.element = context.get_data_type(signature.args[0].dtype)
        self.vector = ir.VectorType(self.element, LANES)
        self.bits = self.element.width
        self.zero, self.one = ir.Constant(self.vector, [0] * LANES), self.constant(1)

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
        return self.builder.load(self.place(number, index), align=self.bits // 8)

    def store(self, number, index, value):
        self.builder.store(value, self.place(number, index), align=self.bits // 8)

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
        # A float64 quotient of 32-bit integers is off by one at most.
        real = ir.DoubleType()
        inverse = builder.fdiv(ir.Constant(real, 1.0), builder.sitofp(k, real))
        estimate = builder.fmul(
            builder.sitofp(total, ir.VectorType(real, LANES)), self.splat(inverse)
        )
        average = builder.fptosi(estimate, self.vector)
        rest = builder.sub(total, builder.mul(average, divisor))
        low = builder.icmp_signed("<", rest, self.zero)
        high = builder.icmp_signed(">=", rest, divisor)
        average = builder.add(average, builder.sext(low, self.vector))
        average = builder.sub(average, builder.sext(high, self.vector))
        return average, builder.sub(total, builder.mul(average, divisor))

    def counted(self, flow, units, up, down, most):
        """Build what a flow adds to the units moved, unless None, and to the runs."""
        builder = self.builder
        if units is not None:
            sign = builder.ashr(flow, self.constant(self.bits - 1))
            self.add_to(units, builder.sub(builder.xor(flow, sign), sign))
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
    def line(_typing, tile, kept, moved, longest, flows, sorter, _first, _step, _k, _w):
        def generate(context, builder, signature, arguments):
            b = _Builder(context, builder, signature, arguments)
            first, step, k, w = arguments[6:]
            width = ir.Constant(k.type, LANES)
            total = b.variable(b.zero)
            with cgutils.for_range(builder, k) as loop:
                b.add_to(total, b.load(0, builder.add(first, builder.mul(loop.index, step))))
            average, rest = b.divided(builder.load(total), k)
            flow, units, up, down, most = (b.variable(b.zero) for _ in range(5))
            with cgutils.for_range(builder, k) as loop:
                node = builder.add(first, builder.mul(loop.index, step))
                more = builder.icmp_signed("<", b.number(loop.index), rest)
                quota = builder.sub(average, builder.sext(more, b.vector))
                b.add_to(flow, builder.sub(b.load(0, node), quota))
                b.store(0, node, quota)
                b.store(1, node, b.pick("<", b.load(1, node), quota))
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
            b.store(2, w, builder.add(b.load(2, w), builder.load(units)))
            b.store(3, w, b.pick(">", b.load(3, w), builder.load(most)))
            return context.get_dummy_value()

        index = types.int64
        arrays = tile, kept, moved, longest, flows, sorter
        return types.none(*arrays, index, index, index, index), generate

    return line


CHAIN, RING = _machine_line(False), _machine_line(True)


@overload(_line, prefer_literal=True)
def _choose_line(tile, kept, moved, longest, flows, sorter, first, step, k, w, ring):
    machine = RING if ring.literal_value else CHAIN
    return lambda tile, kept, moved, longest, flows, sorter, first, step, k, w, ring: machine(
        tile, kept, moved, longest, flows, sorter, first, step, k, w
    )


@njit(cache=True, nogil=True)
def dde(tiles, shape, rings, axes, sorters, starts, found):
    """Balance every network of ``tiles`` (K, N, W) int32 or int64 in place.

    ``W`` is a multiple of ``LANES``; every total times the longest axis fits the dtype, and times
    all axes int64. ``shape``, ``rings`` (d,): lengths, and which axes are rings of 3 or more;
    ``axes`` (S,) in order. ``sorters`` (C, 2) are the comparators of each ring, rows ``starts[a]``
    to ``starts[a + 1]``. ``found`` (3, B) int64 receives the units moved, those that never left,
    and the rounds.
    """
    K, N, W = tiles.shape
    longest_axis = 1
    for k in shape:
        longest_axis = max(longest_axis, k)
    kept = np.empty(N * W, tiles.dtype)
    flows = np.empty(2 * LANES * longest_axis, tiles.dtype)
    units = np.empty(W, tiles.dtype)
    longest = np.empty(W, tiles.dtype)
    sums = np.empty((3, W), np.int64)
    for t in range(K):
        tile = tiles[t].reshape(-1)
        kept[:] = tile
        sums[:] = 0
        for a in axes:
            k = shape[a]
            outer = 1
            for before in range(a):
                outer *= shape[before]
            step = N // (outer * k) * W
            sorter = sorters[starts[a] : starts[a + 1]]
            units[:] = 0
            longest[:] = 0
            for o in range(outer):
                for first in range(o * k * step, o * k * step + step, LANES):
                    w = first % W
                    if rings[a]:
                        _line(tile, kept, units, longest, flows, sorter, first, step, k, w, True)
                    else:
                        _line(tile, kept, units, longest, flows, sorter, first, step, k, w, False)
            for w in range(W):
                sums[0, w] += units[w]
                sums[2, w] += longest[w]
        for i in range(N):
            row = kept[i * W : i * W + W]
            for w in range(W):
                sums[1, w] += row[w]
        part = found[:, t * W : t * W + W]
        part[:] = sums[:, : part.shape[1]]
