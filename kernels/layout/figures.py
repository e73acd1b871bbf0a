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
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 16
TOGETHER = 4
HALF = 16
# Trials whose figures are worked out at a time.
TRIALS = 8


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


def _line(given, at, size, whole, real, to):
    """Work out the figures of ``TRIALS`` trials from ``at`` on into columns from ``to`` on.

    ``given`` : totals, least and largest loads, least and largest afterwards, units that moved and
    that never left, (B,) int64 each.
    """
    trials, columns = slice(at, at + TRIALS), slice(to, to + TRIALS)
    total, least, most, least_left, most_left, moved, local = (row[trials] for row in given)
    some, nothing = np.maximum(total, 1).astype(np.float64), total == 0
    mean = some / size
    whole[:, columns] = most - least, most_left - least_left, moved, local
    # Of loads that are all 0 the largest is 0 means.
    imbalances = (loads / mean - 1.0 + nothing for loads in (most, most_left))
    real[:, columns] = *imbalances, moved / some, local / some + nothing


@intrinsic
def _machine_line(_typing, given, _at, _size, whole, real, _to):
    """Make ``_line`` in registers."""

    def generate(context, builder, signature, arguments):
        rows, at, size, *columns, to = arguments
        integers, floats = (
            ir.VectorType(context.get_data_type(array.dtype), TRIALS) for array in (whole, real)
        )
        zero, one = ir.Constant(integers, [0] * TRIALS), ir.Constant(integers, [1] * TRIALS)
        unity, nought = (ir.Constant(floats, [value] * TRIALS) for value in (1.0, 0.0))

        def load(number):
            row = builder.extract_value(rows, number)
            data = context.make_array(given[number])(context, builder, row).data
            place = builder.bitcast(builder.gep(data, [at]), integers.as_pointer())
            return builder.load(place, align=integers.element.width // 8)

        def store(array_type, array, vectors):
            array = context.make_array(array_type)(context, builder, array)
            index = to
            for vector in vectors:
                place = builder.gep(array.data, [index])
                place = builder.bitcast(place, vector.type.as_pointer())
                builder.store(vector, place, align=array_type.dtype.bitwidth // 8)
                index = builder.add(index, builder.extract_value(array.shape, 1))

        def over(units, divisor):
            return builder.fdiv(builder.sitofp(units, floats), divisor)

        total, least, most, least_left, most_left, moved, local = map(load, range(len(given)))
        empty = builder.icmp_signed("==", total, zero)
        some = builder.sitofp(builder.select(empty, one, total), floats)
        nothing = builder.select(empty, unity, nought)
        nodes = builder.insert_element(nought, size, ir.IntType(32)(0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), TRIALS), [0] * TRIALS)
        mean = builder.fdiv(some, builder.shuffle_vector(nodes, nodes, everywhere))
        imbalances = [
            builder.fadd(builder.fsub(over(loads, mean), unity), nothing)
            for loads in (most, most_left)
        ]
        differences = builder.sub(most, least), builder.sub(most_left, least_left)
        locality = builder.fadd(over(local, some), nothing)
        store(whole, columns[0], (*differences, moved, local))
        store(real, columns[1], (*imbalances, over(moved, some), locality))
        return context.get_dummy_value()

    return types.none(given, types.int64, types.float64, whole, real, types.int64), generate


@overload(_line)
def _choose_line(given, at, size, whole, real, to):
    return lambda given, at, size, whole, real, to: _machine_line(  # type: ignore[call-arg]
        given, at, size, whole, real, to
    )


@intrinsic
def _start(_typing, array):
    """Return the pointer to an array's first element."""

    def generate(context, builder, signature, arguments):
        return context.make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


def _row(array):
    """Return an array whose numbers follow one another, for the compiler as one of that kind."""
    return array


@overload(_row)
def _choose_row(array):
    return lambda array: carray(_start(array), array.size)  # type: ignore[call-arg]


@njit(cache=True, nogil=True)
def figures(before, after, moved, local, size, first, whole, real):
    """Work out the figures of trials that follow from totals, extremes and units.

    ``before`` : total, least and largest load, (3, B) or more of them; ``after`` : least and
    largest, (2, B); ``moved``, ``local`` (B,), the units that moved and those that never left; all
    int64. From trial ``first`` on ``whole`` (4, ..) receives the differences before and after,
    moved and local, ``real`` (4, ..) the imbalances, cost and locality, as ``result.figures`` has
    them.

    All are worked out at once in registers: a loop for each takes 1.3 to 1.6 times as long.
    Rejected: columns that go past the cache to memory (1.4 to 4 times, 2**17 trials in no cache
    0.95).
    """
    count, nodes = moved.size, np.float64(size)
    given = (
        _row(before[0]), _row(before[1]), _row(before[2]), _row(after[0]), _row(after[1]),
        _row(moved), _row(local),
    )  # fmt: skip
    together = count - count % TRIALS
    for b in range(0, together, TRIALS):
        _line(given, b, nodes, whole, real, first + b)
    if together < count:
        few = np.zeros((len(given), TRIALS), np.int64)
        for row in range(len(given)):
            few[row, : count - together] = given[row][together:count]
        last = few[0], few[1], few[2], few[3], few[4], few[5], few[6]
        integers, floats = np.empty((4, TRIALS), np.int64), np.empty((4, TRIALS), np.float64)
        _line(last, 0, nodes, integers, floats, 0)
        whole[:, first + together : first + count] = integers[:, : count - together]
        real[:, first + together : first + count] = floats[:, : count - together]
