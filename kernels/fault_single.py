"""A plan of fault-tolerant DEM carried out on one network of integers (More-Wu section 2.2).

Legend: ``N`` nodes, ``L`` lanes of a vector, ``E`` steps, ``M`` repairs.

Loads stand in rows of ``L`` nodes in their order. A step works on two rows: every lane exchanges
with any lane of either. Of the nodes that have had t exchanges each goes on along a bit of its own,
and still the next ones of all take little more steps than there are pairs of rows: 229 on a 10-cube
with 9 faults, at 1.8 ns, for 160 where all go on along the same. As a tile (``fault_tiles.py``) with
one lane of each vector in use the whole takes ten times as long.

What a plan comes to is a table, made once, in one array, as each costs 0.03 us a call.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

VECTOR = 64
SPLIT, WHOLE, REPAIR = 0, 1, 2
# What a table begins with: its nodes, steps and repairs, and how many times the largest load
# anything may become.
NODES, STEPS, REPAIRS, GROWTH, HEAD = 0, 1, 2, 3, 4
# What becomes of loads: they are balanced, take wider lanes, or are left to others.
DONE, WIDER, REFUSED = 0, 1, 2
INT32_MAX = 2**31 - 1


@njit(cache=True, nogil=True)
def _aligned(count, kind):
    """Return room for so many elements like those of ``kind`` from the start of a cache line on."""
    room = np.empty(count + VECTOR // kind.itemsize, kind.dtype)
    start = -np.int64(room.ctypes.data) % VECTOR // kind.itemsize
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
                v = u ^ (1 << bits[t, u]) if bits[t, u] >= 0 else u
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
                v = u ^ (1 << bits[t, u]) if bits[t, u] >= 0 else u
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
def _parts(table):
    """Return what a table consists of: the repairs, (M, 3), then places and ways of the steps."""
    words, lanes = table.view(np.int64), VECTOR // table.itemsize
    E, M = words[STEPS], words[REPAIRS]
    # Ways begin with a cache line.
    start = -(-8 * (HEAD + 3 * M) // VECTOR) * VECTOR
    end = start + 2 * E * lanes
    repairs = words[HEAD : HEAD + 3 * M].reshape(M, 3)
    ways = table.view(np.uint8)[start:end].reshape(E, 2, lanes)
    places = table.view(np.int32)[end // 4 : end // 4 + 2 * E].reshape(E, 2)
    return repairs, places, ways


@njit(cache=True, nogil=True)
def table(program, lowest, n, growth, kind):
    """Return a plan as the kernels take it, for lanes like the one of ``kind``, int16 or int32.

    ``program`` (.., 4) is the plan's, in nodes, ``lowest`` whether whole subcubes are balanced from
    the lowest bit on. ``growth`` is how many times the largest load anything may become.
    """
    N, L = 1 << n, VECTOR // kind.itemsize
    bits = np.empty((n, N), np.int8)
    _in_turn(program, lowest, bits)
    most = n * (N // 2 + max(1, N // L))
    places, ways = np.empty((most, 2), np.int32), np.empty((most, 2, L), np.uint8)
    E = _steps(bits, places, ways)
    rows = np.flatnonzero(program[:, 0] == REPAIR)
    size = VECTOR + 8 * (HEAD + 3 * rows.size) + E * (2 * L + 8)
    made = _aligned(-(-size // VECTOR) * VECTOR // kind.itemsize, kind)
    words = made.view(np.int64)
    words[NODES], words[STEPS], words[REPAIRS], words[GROWTH] = N, E, rows.size, growth
    all_repairs, all_places, all_ways = _parts(made)
    for m in range(rows.size):
        all_repairs[m] = program[rows[m], 1:]
    all_places[:], all_ways[:] = places[:E], ways[:E]
    return made


def _exchange(rows, least, places, ways):
    """Carry out the steps on rows of lanes; return the units that move if ``least`` is given."""
    L = ways.shape[2]
    both = np.empty(2 * L, np.int64)
    moved = 0
    for step in range(places.shape[0]):
        for side in range(2):
            for lane in range(L):
                both[side * L + lane] = rows[places[step, side] + lane]
        for side in range(2):
            for lane in range(L):
                own, i = both[side * L + lane], places[step, side] + lane
                difference = own - both[(side * L + ways[step, side, lane]) % (2 * L)]
                sent = (difference + (difference < 0)) >> 1
                rows[i] = own - sent
                if least is not None:
                    moved += abs(sent)
                    least[i] = min(least[i], rows[i])
    # Both ends have counted them.
    return moved // 2


@intrinsic
def _machine_exchange(_typing, rows, least, places, ways):
    """Compile ``_exchange`` with a register a row, whose partners one instruction puts in place."""
    width = rows.dtype.bitwidth
    L, booked = VECTOR * 8 // width, least != types.none

    def generate(context, builder, signature, arguments):
        index, word = ir.IntType(64), ir.IntType(2 * width)
        lanes, bytes_ = (ir.VectorType(ir.IntType(bits), L) for bits in (width, 8))
        pairs = ir.VectorType(word, L // 2)
        arrange = builder.module.declare_intrinsic(
            {16: "llvm.x86.avx512.vpermi2var.hi.512", 32: "llvm.x86.avx512.vpermi2var.d.512"}[width],
            fnty=ir.FunctionType(lanes, [lanes] * 3),
        )
        add_up = builder.module.declare_intrinsic(
            f"llvm.vector.reduce.add.v{L // 2}i{2 * width}", fnty=ir.FunctionType(word, [pairs])
        )

        def array(number):
            kind = context.make_array(signature.args[number])
            return kind(context, builder, arguments[number])

        def place(number, start, vector):
            begin = builder.gep(array(number).data, [start])
            return builder.bitcast(begin, vector.as_pointer())

        def each(vector, value):
            return ir.Constant(vector, [value] * vector.count)

        moved = cgutils.alloca_once_value(builder, each(pairs, 0))
        steps = builder.extract_value(array(2).shape, 0)
        with cgutils.for_range(builder, steps, intp=index) as loop:
            sides = []
            for side in range(2):
                at = builder.add(builder.shl(loop.index, index(1)), index(side))
                start = builder.zext(builder.load(builder.gep(array(2).data, [at])), index)
                own = builder.load(place(0, start, lanes), align=VECTOR)
                way = builder.load(place(3, builder.mul(at, index(L)), bytes_), align=L)
                sides.append((start, own, builder.zext(way, lanes)))
            units = each(lanes, 0)
            for side, (start, own, way) in enumerate(sides):
                difference = builder.sub(own, builder.call(arrange, [own, way, sides[1 - side][1]]))
                negative = builder.lshr(difference, each(lanes, width - 1))
                sent = builder.ashr(builder.add(difference, negative), each(lanes, 1))
                left = builder.sub(own, sent)
                builder.store(left, place(0, start, lanes), align=VECTOR)
                if booked:
                    low = builder.load(place(1, start, lanes), align=VECTOR)
                    low = builder.select(builder.icmp_signed("<", left, low), left, low)
                    builder.store(low, place(1, start, lanes), align=VECTOR)
                    taken = builder.icmp_signed("<", sent, each(lanes, 0))
                    units = builder.add(units, builder.select(taken, builder.neg(sent), sent))
            # Of two lanes each, without a sign, in twice the width.
            units = builder.bitcast(units, pairs)
            low = builder.and_(units, each(pairs, (1 << width) - 1))
            units = builder.add(low, builder.lshr(units, each(pairs, width)))
            builder.store(builder.add(builder.load(moved), units), moved)
        total = builder.call(add_up, [builder.load(moved)])
        return builder.lshr(builder.zext(total, index) if width < 32 else total, index(1))

    return types.int64(rows, least, places, ways), generate


@overload(_exchange)
def _choose_exchange(rows, least, places, ways):
    # Those that code is compiled for: they may be fewer than the machine has.
    _, _, features = cpu_target.target_context.codegen().magic_tuple()
    if "+avx512bw" not in features.split(","):
        return _exchange
    return lambda rows, least, places, ways: _machine_exchange(  # type: ignore[call-arg]
        rows, least, places, ways
    )


@njit(cache=True, nogil=True)
def _level(rows, least, holes, base, free, across):
    """Level the pegs in a donor; return the units that move.

    The stuck subcube has the loads that its donor had, above which the pegs are.
    """
    moved = 0
    ahead = free
    while ahead:
        bit = ahead & -ahead
        ahead ^= bit
        sub = 0
        while True:
            u = base | sub
            v = u | bit
            x, y = np.int64(rows[u]), np.int64(rows[v])
            pegs = (x - rows[u ^ across]) - (y - rows[v ^ across])
            # A node gives at most its load minus its holes, which is all that it shows here.
            sent = max(min((pegs + (pegs < 0)) >> 1, x), -y)
            rows[u], rows[v] = x - sent, y + sent
            if least is not None:
                moved += abs(sent)
                least[u] = min(np.int64(least[u]), x - sent + holes[u])
                least[v] = min(np.int64(least[v]), y + sent + holes[v])
            if sub == free ^ bit:
                break
            sub = (sub - (free ^ bit)) & (free ^ bit)
    return moved


@njit(cache=True, nogil=True)
def _repair(rows, least, holes, base, free, bit):
    """Level the pegs and holes of a stuck subcube in its donor; return the units that move.

    A node a with neighbour a' ends with what a' had, whether it sends pegs or is paid its holes.
    So the donor is left with the stuck subcube's loads, as levelled.
    """
    across = 1 << bit
    moved = 0
    sub = 0
    while True:
        a = base | sub
        d = a ^ across
        load, held = np.int64(rows[a]), np.int64(rows[d])
        rows[a], rows[d] = held, load
        if least is not None:
            moved += abs(load - held)
            holes[d] = max(0, held - load)
            least[a] = min(np.int64(least[a]), held)
        if sub == free:
            break
        sub = (sub - free) & free
    moved += _level(rows, least, holes, base ^ across, free, across)
    while least is not None:
        # The holes are paid.
        d = (base | sub) ^ across
        least[d] = min(least[d], rows[d])
        if sub == 0:
            break
        sub = (sub - 1) & free
    return moved


@njit(cache=True, nogil=True)
def _balance(rows, least, holes, table):
    """Balance loads in place; return the units that move, if ``least`` and ``holes`` are given."""
    repairs, places, ways = _parts(table)
    moved = _exchange(rows, least, places, ways)
    for m in range(repairs.shape[0]):
        moved += _repair(rows, least, holes, repairs[m, 0], repairs[m, 1], repairs[m, 2])
    return moved


@njit(cache=True, nogil=True)
def _fitting(loads, out, table):
    """Tell whether loads, and whatever becomes of them, fit both their dtype and a table's lanes."""
    words = table.view(np.int64)
    if loads.size != words[NODES] or out.size != words[NODES]:
        return REFUSED
    bits = loads[0]
    for i in range(loads.size):
        bits |= loads[i]
    if bits < 0 or bits > min(np.iinfo(loads.dtype).max, INT32_MAX) // words[GROWTH]:
        return REFUSED
    return WIDER if bits > np.iinfo(table.dtype).max // words[GROWTH] else DONE


@njit(cache=True, nogil=True)
def _room(loads, table, parts):
    """Return (parts, N or more): lines of rows, one of them behind all nodes, with loads first."""
    L = VECTOR // table.itemsize
    length = (max(1, loads.size // L) + 1) * L
    room = _aligned(parts * length, table).reshape(parts, length)
    for i in range(loads.size):
        room[0, i] = loads[i]
    room[0, loads.size :] = 0
    return room


@njit(cache=True, nogil=True)
def carry_out(loads, out, table):
    """Balance loads (N,) of integers into ``out`` (N,), which may overlap them; tell if it is done.

    If not, nothing is written: loads are negative or too large, or the arrays have other lengths.
    """
    fitting = _fitting(loads, out, table)
    if fitting == DONE:
        rows = _room(loads, table, 1)[0]
        _balance(rows, None, None, table)
        for i in range(out.size):
            out[i] = rows[i]
    return fitting


@njit(cache=True, nogil=True)
def _survey(loads):
    """Return the total, the least and the largest load."""
    total = np.int64(0)
    least = most = loads[0]
    for i in range(loads.size):
        total += loads[i]
        least = min(least, loads[i])
        most = max(most, loads[i])
    return total, np.int64(least), np.int64(most)


@njit(cache=True, nogil=True)
def measured(loads, out, table):
    """Do the same, and return the figures that ``result.figures_of_one`` has.

    After what comes of it the differences before and after, moved, local; the imbalances, cost and
    locality.
    """
    fitting = _fitting(loads, out, table)
    if fitting != DONE:
        return fitting, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0
    N = loads.size
    room = _room(loads, table, 3)
    rows, kept = room[0], room[1]
    kept[:] = rows
    total, least, most = _survey(rows[:N])
    moved = _balance(rows, kept, room[2], table)
    _, lower, upper = _survey(rows[:N])
    local, _, _ = _survey(kept[:N])
    for i in range(N):
        out[i] = rows[i]
    if total == 0:
        return fitting, 0, 0, 0, 0, 0.0, 0.0, 0.0, 1.0
    mean = total / N
    return (
        fitting, most - least, upper - lower, moved, local,
        most / mean - 1.0, upper / mean - 1.0, moved / total, local / total,
    )  # fmt: skip
