"""What the lanes of tiles add up to: one trial a lane.

Legend: ``K`` tiles of ``W`` trials side by side, ``N`` nodes, ``B`` trials, ``K W >= B``: trial
``k W + w`` is lane w of tile k, and lanes beyond the last trial are not looked at. ``W`` is a
multiple of ``LANES``.

Columns of ``LANES`` lanes are gone down in registers, four at a time if there are as many: 0.04
ns a node for all three of a survey, where two at a time take 1.2 times as long, one at a time 1.5,
and sums and extremes in arrays 0.18 ns.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 16
TOGETHER = 4
HALF = 16


def _columns(tile, w, W, found, count):
    """Set ``found`` (4, W) from lane w on to sums and extremes, of ``count`` columns.

    Summed up are the low 16 bits, and apart from them what lies above.
    """
    lanes = slice(w, w + count * LANES)
    rows = tile.reshape(-1, W)[:, lanes].astype(found.dtype)
    low = rows & (2**HALF - 1)
    found[:, lanes] = low.sum(axis=0), (rows >> HALF).sum(axis=0), rows.min(0), rows.max(0)


def _machine_columns(count):
    """Make ``_columns`` as a loop with four registers a column."""

    @intrinsic
    def columns(_typing, tile, _w, _W, found):
        def generate(context, builder, signature, arguments):
            arrays = [
                context.make_array(signature.args[number])(context, builder, arguments[number])
                for number in (0, 3)
            ]
            rows, out = (array.data for array in arrays)
            given, vector = (
                ir.VectorType(context.get_data_type(array.dtype), LANES) for array in (tile, found)
            )
            width = arguments[2]
            lanes = [
                builder.add(arguments[1], ir.Constant(width.type, LANES * c)) for c in range(count)
            ]

            def load(index):
                place = builder.bitcast(builder.gep(rows, [index]), given.as_pointer())
                row = builder.load(place, align=given.element.width // 8)
                return builder.sext(row, vector) if given != vector else row

            def store(lanes, index):
                place = builder.bitcast(builder.gep(out, [index]), vector.as_pointer())
                builder.store(lanes, place, align=vector.element.width // 8)

            def constant(value):
                return ir.Constant(vector, [value] * LANES)

            registers = []
            for lane in lanes:
                first = load(lane)
                starts = constant(0), constant(0), first, first
                registers.append([cgutils.alloca_once_value(builder, start) for start in starts])
            nodes = builder.sdiv(builder.extract_value(arrays[0].shape, 0), width)
            with cgutils.for_range(builder, nodes) as loop:
                for lane, own in zip(lanes, registers, strict=True):
                    index = builder.add(builder.mul(loop.index, width), lane)
                    row = load(index)
                    low, high, least, most = (builder.load(register) for register in own)
                    news = (
                        builder.add(low, builder.and_(row, constant(2**HALF - 1))),
                        builder.add(high, builder.ashr(row, constant(HALF))),
                        builder.select(builder.icmp_signed("<", row, least), row, least),
                        builder.select(builder.icmp_signed(">", row, most), row, most),
                    )
                    for register, new in zip(own, news, strict=True):
                        builder.store(new, register)
            for index, own in zip(lanes, registers, strict=True):
                for register in own:
                    store(builder.load(register), index)
                    index = builder.add(index, width)
            return context.get_dummy_value()

        return types.none(tile, types.int64, types.int64, found), generate

    return columns


COLUMNS = {count: _machine_columns(count) for count in (1, TOGETHER)}


@overload(_columns, prefer_literal=True)
def _choose_columns(tile, w, W, found, count):
    machine = COLUMNS[count.literal_value]
    return lambda tile, w, W, found, count: machine(tile, w, W, found)


@njit(cache=True, nogil=True)
def survey(tiles, out):
    """Set ``out`` (3, B) int64 to the total, the least and the largest load of each trial.

    Tiles are int16, int32 or int64, ``N`` below ``2**15``; the totals fit int64. Return the largest
    total and the largest load of all trials.
    """
    top = peak = np.int64(0)
    W = tiles.shape[2]
    # Of int32 at least: sums of halves of int16 loads need as much.
    wide = np.empty(0, np.int32) + np.empty(0, tiles.dtype)
    found = np.empty((4, W), wide.dtype)
    low, high, least, most = found[0], found[1], found[2], found[3]
    for k in range(tiles.shape[0]):
        tile = tiles[k].reshape(-1)
        together = W - W % (TOGETHER * LANES)
        for w in range(0, together, TOGETHER * LANES):
            _columns(tile, w, W, found, TOGETHER)
        for w in range(together, W, LANES):
            _columns(tile, w, W, found, 1)
        total, smallest, largest = out[0, k * W :], out[1, k * W :], out[2, k * W :]
        for w in range(min(W, total.size)):
            total[w] = (np.int64(high[w]) << HALF) + low[w]
            smallest[w] = least[w]
            largest[w] = most[w]
        for w in range(min(W, total.size)):
            top, peak = max(top, total[w]), max(peak, largest[w])
    return top, peak


@njit(cache=True, nogil=True)
def _difference(most, least, out):
    for b in range(out.size):
        out[b] = most[b] - least[b]


@njit(cache=True, nogil=True)
def _imbalance(most, total, size, out):
    for b in range(out.size):
        mean = np.divide(np.float64(max(total[b], 1)), np.float64(size))
        # Of loads that are all 0 the largest is 0 means.
        out[b] = np.divide(np.float64(most[b]), mean) - 1.0 + np.float64(total[b] == 0)


@njit(cache=True, nogil=True)
def _quotient(units, total, of_nothing, out):
    for b in range(out.size):
        share = np.divide(np.float64(units[b]), np.float64(max(total[b], 1)))
        out[b] = share + of_nothing * np.float64(total[b] == 0)


@njit(cache=True, nogil=True)
def _copy(units, out):
    for b in range(out.size):
        out[b] = units[b]


@njit(cache=True, nogil=True)
def figures(before, after, moved, local, size, first, whole, real):
    """Work out the figures of trials that follow from totals, extremes and units.

    ``before`` : total, least and largest load, (3, B) or more of them; ``after`` : least and
    largest, (2, B); ``moved``, ``local`` (B,), the units that moved and those that never left.
    From trial ``first`` on ``whole`` (4, ..) receives the differences before and after, moved and
    local, ``real`` (4, ..) the imbalances, cost and locality, as ``result.figures`` has them.

    A loop for each, as one with all these arrays is not made into vectors, nor is ``/``, which
    might raise: 2 ns a trial for 7.
    """
    last = first + moved.size
    total, least, most = before[0], before[1], before[2]
    _difference(most, least, whole[0, first:last])
    _difference(after[1], after[0], whole[1, first:last])
    _copy(moved, whole[2, first:last])
    _copy(local, whole[3, first:last])
    _imbalance(most, total, size, real[0, first:last])
    _imbalance(after[1], total, size, real[1, first:last])
    _quotient(moved, total, 0.0, real[2, first:last])
    _quotient(local, total, 1.0, real[3, first:last])
