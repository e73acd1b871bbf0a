"""A plan of fault-tolerant DEM carried out on one network of integers (More-Wu section 2.2).

Legend: ``N`` nodes, ``L`` lanes of a vector, ``E`` steps.

Loads stand in rows of ``L`` nodes in their order. In a step every lane of two rows exchanges with
any lane of either. Nodes that have had t exchanges go on along different bits, and still the next
exchanges of all take few more steps than there are pairs of rows: on a 10-cube with 9 faults 229
steps of 1.8 ns, for 160 if all went on along the same bit. In a tile (``fault_tiles.py``), of which
one network is a single lane, the whole took ten times as long.

A plan comes as one table, made once, because every array costs 0.03 us a call. Arrays that a kernel
hands on to another one cost 0.01 us each, so what is called once is compiled into its caller.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

VECTOR = 64
SPLIT, WHOLE, REPAIR = 0, 1, 2
# A table begins with its nodes, steps and repairs, and how many times the largest load anything may
# become. Then come the ways of its steps, as bytes, a word each for the places of their rows, and
# three words for every repair.
NODES, STEPS, REPAIRS, GROWTH, HEAD = 0, 1, 2, 3, 8
# What becomes of loads: they are balanced, take wider lanes, or are left to others.
DONE, WIDER, REFUSED = 0, 1, 2
INT16_MAX, INT32_MAX = 2**15 - 1, 2**31 - 1


@njit(cache=True, nogil=True)
def _aligned(count, kind):
    """Return room for so many elements like ``kind`` from the start of a cache line on."""
    room = np.empty(count + VECTOR, kind)
    start = -np.int64(room.ctypes.data) % VECTOR // room.itemsize
    return room[start : start + count]


@njit(cache=True, nogil=True)
def _in_turn(program, lowest, bits):
    """Set ``bits`` (n, N) to the bit of each node's t-th exchange, -1 where it has no more."""
    n, N = bits.shape
    bits[:] = -1
    done = np.zeros(N, np.int64)
    for m in range(program.shape[0]):
        kind, base, free, split = program[m]
        for i in range(n):
            bit = i if lowest else n - 1 - i
            if kind == REPAIR or not (bit == split if kind == SPLIT else free >> bit & 1):
                continue
            sub = 0
            while True:
                bits[done[base | sub], base | sub] = bit
                done[base | sub] += 1
                if sub == free:
                    break
                sub = (sub - free) & free


@njit(cache=True, nogil=True)
def _begin(places, ways, step, first, second):
    """Begin a step of two rows, in which no lane has a partner but itself."""
    L = ways.shape[2]
    places[step, 0], places[step, 1] = first * L, second * L
    for lane in range(L):
        ways[step, 0, lane] = ways[step, 1, lane] = lane


@njit(cache=True, nogil=True)
def _partner(bit, u):
    """Return with whom a node exchanges along a bit, itself if that is negative."""
    # In plain Python a number shifted by one of 8 bits would have to fit 8 bits, too.
    return u ^ (1 << np.int64(bit)) if bit >= 0 else u


@njit(cache=True, nogil=True)
def _steps(bits, places, ways):
    """Fill in steps, where two rows begin and where their lanes have partners; return how many.

    Partners in the other row are ``L`` and more. Those in its own a row finds in any step it is in
    anyway, or in one with another such row, the last of all with the row behind all nodes.
    """
    n, N = bits.shape
    L = ways.shape[2]
    R = max(1, N // L)
    count = 0
    # Of a row: its first step in this turn, times two, plus its side there; its step with row r.
    first, common = np.empty(R, np.int64), np.empty(R, np.int64)
    for t in range(n):
        first[:] = -1
        for r in range(R):
            common[:] = -1
            for u in range(r * L, min(N, r * L + L)):
                v = _partner(bits[t, u], u)
                s = v // L
                if s <= r:
                    continue
                if common[s] < 0:
                    _begin(places, ways, count, r, s)
                    common[s] = count
                    first[r] = 2 * count if first[r] < 0 else first[r]
                    first[s] = 2 * count + 1 if first[s] < 0 else first[s]
                    count += 1
                ways[common[s], 0, u % L] = L + v % L
                ways[common[s], 1, v % L] = L + u % L
        alone = False
        for r in range(R):
            for u in range(r * L, min(N, r * L + L)):
                v = _partner(bits[t, u], u)
                if v == u or v // L != r:
                    continue
                if first[r] < 0 and alone:
                    places[count - 1, 1] = r * L
                    first[r] = 2 * count - 1
                    alone = False
                elif first[r] < 0:
                    _begin(places, ways, count, r, R)
                    first[r] = 2 * count
                    count += 1
                    alone = True
                ways[first[r] // 2, first[r] % 2, u % L] = v % L
    return count


@njit(cache=True, nogil=True)
def table(program, lowest, n, growth, L):
    """Return a plan as the kernels take it, (..,) int64, for vectors of so many lanes.

    ``program`` (.., 4) is the plan's, in nodes, ``lowest`` whether whole subcubes are balanced from
    the lowest bit on. ``growth`` is how many times the largest load anything may become.
    """
    N = 1 << n
    bits = np.empty((n, N), np.int8)
    _in_turn(program, lowest, bits)
    most = n * (N // 2 + max(1, N // L))
    places, ways = np.empty((most, 2), np.int64), np.empty((most, 2, L), np.uint8)
    E = _steps(bits, places, ways)
    rows = np.flatnonzero(program[:, 0] == REPAIR)
    words = E * L // 4
    made = _aligned(HEAD + words + E + 3 * rows.size, np.int64)
    made[NODES], made[STEPS], made[REPAIRS], made[GROWTH] = N, E, rows.size, growth
    made[HEAD : HEAD + words].view(np.uint8)[:] = ways[:E].reshape(-1)
    for step in range(E):
        made[HEAD + words + step] = places[step, 0] | places[step, 1] << 32
    for m in range(rows.size):
        for i in range(3):
            made[HEAD + words + E + 3 * m + i] = program[rows[m], 1 + i]
    return made


def _exchange(room, booked, span, table, L):
    """Carry out the steps of a table on rows of loads; return the units that move, if ``booked``.

    Then the least loads so far stand ``span`` further in ``room``. ``booked`` may be None.
    """
    words = table[STEPS] * L // 4
    ways = table[HEAD : HEAD + words].view(np.uint8)
    both = np.empty(2 * L, np.int64)
    moved = 0
    for step in range(table[STEPS]):
        places = table[HEAD + words + step]
        for side in range(2):
            start = places >> 32 * side & 0xFFFFFFFF
            for lane in range(L):
                both[side * L + lane] = room[start + lane]
        for side in range(2):
            start = places >> 32 * side & 0xFFFFFFFF
            for lane in range(L):
                way = ways[(2 * step + side) * L + lane]
                own = both[side * L + lane]
                difference = own - both[(side * L + way) % (2 * L)]
                sent = (difference + (difference < 0)) >> 1
                room[start + lane] = own - sent
                if booked is not None:
                    moved += abs(sent)
                    low = start + lane + span
                    room[low] = min(np.int64(room[low]), own - sent)
    # Both ends have counted them.
    return moved // 2


@intrinsic
def _machine_exchange(_typing, room, booked, span, table, L):
    """Compile ``_exchange`` with a register a row, whose partners one instruction puts in place."""
    width = room.dtype.bitwidth
    count, counted = VECTOR * 8 // width, booked != types.none

    def generate(context, builder, signature, arguments):
        index, word = ir.IntType(64), ir.IntType(2 * width)
        lanes, bytes_ = (ir.VectorType(ir.IntType(bits), count) for bits in (width, 8))
        pairs = ir.VectorType(word, count // 2)
        arrange = builder.module.declare_intrinsic(
            {16: "llvm.x86.avx512.vpermi2var.hi.512", 32: "llvm.x86.avx512.vpermi2var.d.512"}[
                width
            ],
            fnty=ir.FunctionType(lanes, [lanes] * 3),
        )
        add_up = builder.module.declare_intrinsic(
            f"llvm.vector.reduce.add.v{count // 2}i{2 * width}",
            fnty=ir.FunctionType(word, [pairs]),
        )
        room_data, table_data = (
            context.make_array(signature.args[number])(context, builder, arguments[number]).data
            for number in (0, 3)
        )

        def each(vector, value):
            return ir.Constant(vector, [value] * vector.count)

        def row(start):
            return builder.bitcast(builder.gep(room_data, [start]), lanes.as_pointer())

        steps = builder.load(builder.gep(table_data, [index(STEPS)]))
        ways = builder.gep(table_data, [index(HEAD)])
        places = builder.gep(ways, [builder.mul(steps, index(count // 4))])
        ways = builder.bitcast(ways, bytes_.as_pointer())
        moved = cgutils.alloca_once_value(builder, each(pairs, 0))
        with cgutils.for_range(builder, steps, intp=index) as loop:
            sides = []
            both = builder.load(builder.gep(places, [loop.index]))
            starts = builder.and_(both, index(0xFFFFFFFF)), builder.lshr(both, index(32))
            for side, start in enumerate(starts):
                at = builder.add(builder.shl(loop.index, index(1)), index(side))
                way = builder.load(builder.gep(ways, [at]), align=count)
                own = builder.load(row(start), align=VECTOR)
                sides.append((start, own, builder.zext(way, lanes)))
            units = each(lanes, 0)
            for side, (start, own, way) in enumerate(sides):
                difference = builder.sub(own, builder.call(arrange, [own, way, sides[1 - side][1]]))
                negative = builder.lshr(difference, each(lanes, width - 1))
                sent = builder.ashr(builder.add(difference, negative), each(lanes, 1))
                left = builder.sub(own, sent)
                builder.store(left, row(start), align=VECTOR)
                if counted:
                    place = row(builder.add(start, arguments[2]))
                    low = builder.load(place, align=VECTOR)
                    low = builder.select(builder.icmp_signed("<", left, low), left, low)
                    builder.store(low, place, align=VECTOR)
                    taken = builder.icmp_signed("<", sent, each(lanes, 0))
                    units = builder.add(units, builder.select(taken, builder.neg(sent), sent))
            # Of two lanes each, without a sign, in twice the width.
            units = builder.bitcast(units, pairs)
            low = builder.and_(units, each(pairs, (1 << width) - 1))
            units = builder.add(low, builder.lshr(units, each(pairs, width)))
            builder.store(builder.add(builder.load(moved), units), moved)
        total = builder.call(add_up, [builder.load(moved)])
        return builder.lshr(builder.zext(total, index) if width < 32 else total, index(1))

    return types.int64(room, booked, span, table, L), generate


def _features():
    """Return those of the processor that code is compiled for."""
    return cpu_target.target_context.codegen().magic_tuple()[2].split(",")


@overload(_exchange)
def _choose_exchange(room, booked, span, table, L):
    if "+avx512bw" not in _features():
        return _exchange
    return lambda room, booked, span, table, L: _machine_exchange(  # type: ignore[call-arg]
        room, booked, span, table, L
    )


@njit(cache=True, nogil=True)
def _level(room, booked, span, base, free, across):
    """Level the pegs in a donor; return the units that move, if ``booked``.

    The stuck subcube has the loads that its donor had, above which the pegs are.
    """
    moved = np.int64(0)
    ahead = free
    while ahead:
        bit = ahead & -ahead
        ahead ^= bit
        rest = free ^ bit
        sub = 0
        while True:
            u = base | sub
            v = u | bit
            x, y = np.int64(room[u]), np.int64(room[v])
            pegs = (x - room[u ^ across]) - (y - room[v ^ across])
            # A node gives at most its load minus its holes, which is all that it shows here.
            sent = max(min((pegs + (pegs < 0)) >> 1, x), -y)
            room[u], room[v] = x - sent, y + sent
            if booked is not None:
                moved += abs(sent)
                _lower(room, span + u, x - sent + room[2 * span + u])
                _lower(room, span + v, y + sent + room[2 * span + v])
            if sub == rest:
                break
            sub = (sub - rest) & rest
    return moved


@njit(cache=True, nogil=True)
def _lower(room, i, load):
    room[i] = min(np.int64(room[i]), load)


@njit(cache=True, nogil=True)
def _repair(room, booked, span, base, free, bit):
    """Level the pegs and holes of a stuck subcube in its donor; return the units that move.

    A node a with neighbour a' ends with what a' had, whether it sends pegs or is paid its holes.
    So the donor is left with the stuck subcube's loads, as levelled. If ``booked`` the least loads
    stand ``span`` further in ``room``, and the holes as much again.
    """
    across = 1 << bit
    moved = np.int64(0)
    sub = 0
    while True:
        a = base | sub
        d = a ^ across
        load, held = np.int64(room[a]), np.int64(room[d])
        room[a], room[d] = held, load
        if booked is not None:
            moved += abs(load - held)
            room[2 * span + d] = max(0, held - load)
            _lower(room, span + a, held)
        if sub == free:
            break
        sub = (sub - free) & free
    moved += _level(room, booked, span, base ^ across, free, across)
    while booked is not None:
        # The holes are paid.
        d = (base | sub) ^ across
        _lower(room, span + d, np.int64(room[d]))
        if sub == 0:
            break
        sub = (sub - 1) & free
    return moved


@njit(cache=True, nogil=True)
def _repairs(room, booked, span, table, row):
    """Carry out the repairs, which a table has from ``row`` on; return the units that move."""
    moved = np.int64(0)
    for _ in range(table[REPAIRS]):
        moved += _repair(room, booked, span, table[row], table[row + 1], table[row + 2])
        row += 3
    return moved


@njit(cache=True, nogil=True)
def _fitting(loads, out, table, kind):
    """Tell whether loads, and whatever becomes of them, fit their dtype and the lanes.

    It ends in one place: with several ways out arrays are counted as held on each.
    """
    most = min(np.iinfo(loads.dtype).max, INT32_MAX)
    narrow = np.iinfo(kind).max
    done = REFUSED
    # Lent like the loads, the table is empty too where it may not be written.
    if table.size > 0 and loads.size == table[NODES] and out.size == table[NODES]:
        growth = table[GROWTH]
        bits = loads[0]
        for i in range(loads.size):
            bits |= loads[i]
        # Before it grows it is in int32, so that the product fits; two divisions take 0.04 us.
        if bits >= 0 and bits <= most and bits * growth <= most:
            done = WIDER if bits * growth > narrow else DONE
    return done


@njit(cache=True, nogil=True)
def _copy(loads, room):
    """Copy loads, in slices: from a first index on it would be one by one."""
    for i in range(loads.size):
        room[i] = loads[i]


@njit(cache=True, nogil=True)
def _total(loads):
    total = np.int64(0)
    for i in range(loads.size):
        total += loads[i]
    return total


@njit(cache=True, nogil=True)
def _extremes(loads):
    least = most = loads[0]
    for i in range(loads.size):
        load = loads[i]
        least = load if load < least else least
        most = load if load > most else most
    return np.int64(least), np.int64(most)


@njit(cache=True, nogil=True)
def _room(loads, kind, parts):
    """Return room for rows of nodes and one behind them, as often as asked, with the loads.

    Lanes behind all nodes are their own partners, and may hold anything.
    """
    N, L = loads.size, VECTOR * 8 // np.iinfo(kind).bits
    span = (max(1, N // L) + 1) * L
    room = _aligned(parts * span, kind)
    _copy(loads, room)
    return room


def _final(loads, out, table, kind):
    """Do as ``final`` in lanes of a kind."""
    done = _fitting(loads, out, table, kind)
    if done == DONE:
        room = _room(loads, kind, 1)
        L = VECTOR // room.itemsize
        _exchange(room, None, 0, table, L)
        _repairs(room, None, 0, table, HEAD + table[STEPS] * (L // 4 + 1))
        _copy(room[: out.size], out)
    return done


def _measured(loads, out, table, kind):
    """Do as ``measured`` in lanes of a kind."""
    done = _fitting(loads, out, table, kind)
    total = least = most = lower = upper = moved = local = 0
    if done == DONE:
        N = loads.size
        room = _room(loads, kind, 3)
        span = room.size // 3
        rows, kept = room[:N], room[span : span + N]
        _copy(loads, kept)
        total = _total(rows)
        least, most = _extremes(rows)
        L = VECTOR // room.itemsize
        moved = _exchange(room, True, span, table, L)
        moved += _repairs(room, True, span, table, HEAD + table[STEPS] * (L // 4 + 1))
        local = _total(kept)
        lower, upper = _extremes(rows)
        _copy(rows, out)
    if total == 0:
        return done, 0, 0, 0, 0, 0.0, 0.0, 0.0, 1.0
    mean = total / loads.size
    # Plain numbers, without numba's compiler too.
    return (
        done, int(most - least), int(upper - lower), int(moved), int(local),
        float(most / mean - 1), float(upper / mean - 1), float(moved / total), float(local / total),
    )  # fmt: skip


@overload(_final, inline="always")
def _inline_final(loads, out, table, kind):
    return _final


@overload(_measured, inline="always")
def _inline_measured(loads, out, table, kind):
    return _measured


@njit(cache=True, nogil=True)
def final(loads, out, table):
    """Balance loads (N,) of integers into ``out`` (N,), which may overlap them; tell if it is done.

    If not, nothing is written: loads take wider lanes than 16 bits, or they are negative or too
    large, or arrays have another length than the plan. ``table`` : of this plan, for 32 lanes.
    """
    return _final(loads, out, table, np.int16)


@njit(cache=True, nogil=True)
def final_wide(loads, out, table):
    """Do the same in lanes of 32 bits, with a table for 16."""
    return _final(loads, out, table, np.int32)


@njit(cache=True, nogil=True)
def measured(loads, out, table):
    """Do as ``final``, and return the figures after what it returns.

    These are the differences before and after, the units moved and those that never left, then the
    imbalances before and after, cost and locality, as ``result.figures_of_one`` has them.
    """
    return _measured(loads, out, table, np.int16)


@njit(cache=True, nogil=True)
def measured_wide(loads, out, table):
    """Do the same in lanes of 32 bits, with a table for 16."""
    return _measured(loads, out, table, np.int32)
