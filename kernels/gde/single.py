"""Generalized dimension exchange of one network of integers (Wu-Shu Fig. 2), a vector of nodes.

Legend: ``N`` nodes, ``C`` colours, ``G`` shifts, ``P`` the largest of them.

A network of at most ``NODES`` nodes with loads of 16 bits stays in two registers, in which a colour
is a permutation: see ``_sweep``. Of all others the links go by shifts.

A shift is what one colour has of links between nodes ``i`` and ``i + offset``: on grids a colour of
an axis, and apart from it the links that wrap. ``side`` tells of each node whether its partner is
above (1), below (-1) or neither (0), so that an exchange is one loop over all nodes and three
contiguous runs of loads, from one row of ``room`` to the other: half of the nodes or more compute
in vain, and still it takes a sixth of the time of going link by link (8x8 mesh, 13 sweeps: 1.5 us
for 8; in registers 0.6; 16x16x16 mesh 0.09 us a node for 0.7).

``room`` : (2, P + N + P), uint32 or uint64, loads in the middle of one of its rows and nothing
around them. ``share`` : (m, s) of the same dtype; a pair that differs by d sends ``m * d >> s``,
and the product fits.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload

# As in ``gde.py``: a sweep moved nothing although neighbours differ; neighbours differ; the units
# do not fit int64.
STALLED, APART, OVER = 1, 2, 4
# What one call leaves to others: nothing; all, as loads or units do not fit; and all, as there was
# no end to it.
DONE, REFUSED, UNFINISHED = 0, 1, 2
LARGEST = np.int64(2**63 - 1)
# Loads that a balancing in one call may read, 1 ms: longer ones must hear Ctrl-C.
SMALL = 2**22
# Nodes of a network in registers, and of one of them.
NODES, LANES = 64, 32
WORD = 2**16 - 1
# A plan begins with a share as (m, s) and the largest load for it, for totals that fit int32 and
# for all others; then come m of ``_sweep``, C, G, P, whether the network may be in registers, and
# the offsets.
SHARE, LARGEST_LOAD, WIDE_SHARE, LARGEST_WIDE, FRACTION = 0, 2, 3, 5, 6
COLOURS, SHIFTS, FURTHEST, IN_REGISTERS, OFFSETS = 7, 8, 9, 10, 11


def permutes():
    """Tell whether registers of 16-bit lanes are permuted in one instruction.

    So they are by what code is compiled for, which may be less than the machine has. Others do it
    lane by lane, right, but no faster than by shifts.
    """
    return "+avx512bw" in _features()


def _features():
    """Return those of the processor that code is compiled for."""
    return cpu_target.target_context.codegen().magic_tuple()[2].split(",")


def _sweep(loads, kept, partners, C, share):
    """Sweep once over a network in registers; return whether anything moved, or how many units.

    ``loads``, ``kept`` : (NODES,) uint16; ``kept``, the least that each node has had, may be None,
    and then units are not counted. ``partners`` : int8, (C, NODES) and more, colour by colour with
    whom each node exchanges, or itself. ``share`` : (high, low) uint16, the halves of m, which is
    ``share * 2**32`` rounded down. Of d it sends the floor of ``share * d``, as d and the share's
    denominator are below 2**16.
    """
    high, low = (int(part) for part in share)
    moved = 0
    for others in partners[: C * NODES].reshape(C, NODES):
        mine = loads.astype(np.int64)
        other = mine[others]
        up, down = np.maximum(mine - other, 0), np.maximum(other - mine, 0)
        given, taken = ((d * high + (d * low >> 16) + 1) >> 16 for d in (up, down))
        loads[:] = mine - given + taken
        moved += int(given.sum())
        if kept is not None:
            np.minimum(kept, loads, out=kept)
    return moved if kept is not None else moved > 0


@intrinsic
def _machine_sweep(_typing, loads, kept, partners, C, share):
    """Compile ``_sweep`` to vectors, with what all nodes have in registers from colour to colour.

    Through memory an exchange waits for the last one's stores, three times as long.
    """
    measured = kept != types.none

    def generate(context, builder, signature, arguments):
        word, half = ir.IntType(16), ir.IntType(32)
        vector, halves = ir.VectorType(word, LANES), ir.VectorType(half, LANES // 2)
        LOADS, KEPT, PARTNERS = range(3)
        colours, fraction = arguments[3:]
        arrays = {
            a: context.make_array(signature.args[a])(context, builder, arguments[a])
            for a in ((LOADS, KEPT, PARTNERS) if measured else (LOADS, PARTNERS))
        }
        first = 0, LANES

        def number(value):
            return ir.Constant(ir.IntType(64), value)

        def constant(value, kind=vector):
            return ir.Constant(kind, [value] * kind.count)

        def place(a, at, kind=vector):
            return builder.bitcast(builder.gep(arrays[a].data, [at]), kind.as_pointer())

        def splat(value):
            one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, half(0))
            zeros = ir.Constant(ir.VectorType(half, LANES), None)
            return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)

        def call(name, result, *parts):
            kind = ir.FunctionType(result, [part.type for part in parts])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), parts)

        def beyond(left, right):
            return call(f"llvm.usub.sat.v{LANES}i16", vector, left, right)

        def upper(left, right):
            return call(f"llvm.umul.fix.v{LANES}i16", vector, left, right, half(16))

        def gathered(register, lanes):
            """Return the lanes of a register by number, which is recognised as one instruction."""
            found = ir.Constant(vector, ir.Undefined)
            for i in range(LANES):
                lane = builder.zext(builder.extract_element(lanes, half(i)), ir.IntType(64))
                found = builder.insert_element(
                    found, builder.extract_element(register, lane), half(i)
                )
            return found

        high, low = (splat(builder.extract_value(fraction, part)) for part in (0, 1))

        def sent(d):
            """Return floor(share * d) in two parts: (a + b + 1) >> 16 is the average's top bit."""
            a, b = builder.mul(d, high), upper(d, low)
            average = builder.sub(builder.or_(a, b), builder.lshr(builder.xor(a, b), constant(1)))
            return upper(d, high), builder.lshr(average, constant(15))

        def variables(a):
            return [
                cgutils.alloca_once_value(builder, builder.load(place(a, number(at)), align=2))
                for at in first
            ]

        registers = variables(LOADS)
        least = variables(KEPT) if measured else []
        counted = halves if measured else vector
        moved = cgutils.alloca_once_value(builder, constant(0, counted))
        with cgutils.for_range(builder, colours) as loop:
            before = [builder.load(register) for register in registers]
            row = builder.mul(loop.index, number(NODES))
            for r, at in enumerate(first):
                mine = before[r]
                names = place(
                    PARTNERS, builder.add(row, number(at)), ir.VectorType(ir.IntType(8), LANES)
                )
                names = builder.zext(builder.load(names, align=1), vector)
                lanes = builder.and_(names, constant(LANES - 1))
                other = builder.select(
                    builder.icmp_unsigned("<", names, constant(LANES)),
                    *(gathered(register, lanes) for register in before),
                )
                # Given and taken apart: one of them is 0, and no sign is waited for.
                given, rest = sent(beyond(mine, other))
                given = builder.add(given, rest)
                taken, rest = sent(beyond(other, mine))
                mine = builder.add(builder.sub(mine, given), builder.add(taken, rest))
                builder.store(mine, registers[r])
                if measured:
                    pairs = builder.bitcast(given, halves)
                    units = builder.add(
                        builder.and_(pairs, constant(WORD, halves)),
                        builder.lshr(pairs, constant(16, halves)),
                    )
                    builder.store(builder.add(builder.load(moved), units), moved)
                    falls = builder.icmp_unsigned("<", mine, builder.load(least[r]))
                    lesser = builder.select(falls, mine, builder.load(least[r]))
                    builder.store(lesser, least[r])
                else:
                    builder.store(builder.or_(builder.load(moved), given), moved)
        for a, slots in ((LOADS, registers), (KEPT, least)):
            for at, slot in zip(first, slots, strict=False):
                builder.store(builder.load(slot), place(a, number(at)), align=2)
        total = builder.load(moved)
        if measured:
            total = call(f"llvm.vector.reduce.add.v{LANES // 2}i32", half, total)
            return builder.zext(total, ir.IntType(64))
        some = builder.bitcast(builder.icmp_unsigned("!=", total, constant(0)), half)
        return builder.zext(builder.icmp_unsigned("!=", some, half(0)), ir.IntType(64))

    return types.int64(loads, kept, partners, types.int64, share), generate


@overload(_sweep)
def _choose_sweep(loads, kept, partners, C, share):
    return lambda loads, kept, partners, C, share: _machine_sweep(  # type: ignore[call-arg]
        loads, kept, partners, C, share
    )


@njit(cache=True, nogil=True)
def _exchange(here, there, offset, side, share):
    """Exchange along one shift from one row of ``room`` to the other; return the units moved."""
    U = here.dtype.type
    N = side.size
    P = (here.size - N) // 2
    loads = here[P : P + N]
    above = here[P + offset : P + offset + N]
    below = here[P - offset : P - offset + N]
    out = there[P : P + N]
    # Masked, so that the compiler knows the shift to be one of this width.
    m, s = share[0], U(share[1] & U(8 * here.itemsize - 1))
    moved = U(0)
    for i in range(N):
        mine, high, low, where = loads[i], above[i], below[i], side[i]
        other = high if where > 0 else (low if where < 0 else mine)
        d = U(max(mine, other) - min(mine, other))
        sent = U(U(d * m) >> s)
        out[i] = U(mine - sent) if mine > other else U(mine + sent)
        moved = U(moved + (sent if where > 0 else U(0)))
    return np.int64(moved)


@njit(cache=True, nogil=True)
def _lower(kept, loads, before):
    """Nothing stays at a node beyond its load, nor beyond the one before."""
    for i in range(kept.size):
        kept[i] = min(kept[i], min(loads[i], before[i]))


@njit(cache=True, nogil=True)
def gde(room, kept, offsets, sides, share, max_sweeps, state, budget):
    """Sweep until nothing moves or ``max_sweeps`` sweeps are made; tell whether that is so.

    ``kept`` : (N,) the units that never left, or empty if they are not asked for. ``offsets`` :
    (G,), and ``sides`` (G, N) int8, in the order of the colours. ``state`` : (3,) int64 zeros
    receives the units moved, the sweeps that moved some, and the row with the loads. After
    ``budget`` sweeps it returns False, to be called again with the same arguments. Negative units
    did not fit int64.
    """
    N = sides.shape[1]
    P = (room.shape[1] - N) // 2
    here = room[state[2]]
    there = room[1 - state[2]]
    while state[1] < max_sweeps:
        if budget == 0:
            return False
        budget -= 1
        moved = np.int64(0)
        for g in range(offsets.size):
            units = _exchange(here, there, offsets[g], sides[g], share)
            moved |= units
            if state[0] >= 0:
                state[0] = state[0] + units if units <= LARGEST - state[0] else -1
            # Both rows hold loads: looked at together they cost half of what they would one by
            # one (16x16x16 mesh with figures, a tenth of all).
            if kept.size and (g % 2 == 1 or g == offsets.size - 1):
                _lower(kept, there[P : P + N], here[P : P + N])
            here, there = there, here
            state[2] = 1 - state[2]
        if moved == 0:
            return True
        state[1] += 1
    return True


@njit(cache=True, nogil=True)
def ended(room, offsets, sides, share, max_sweeps, state):
    """Return the sweeps, with the one that moved nothing if it stalled, and the flags."""
    U = room.dtype.type
    N = sides.shape[1]
    P = (room.shape[1] - N) // 2
    sweeps = state[1]
    flags = OVER if state[0] < 0 else 0
    # Where a difference of two moves something, still neighbours are balanced.
    if sweeps < max_sweeps and (2 * share[0]) >> share[1] > 0:
        return sweeps, flags
    loads = room[state[2], P : P + N]
    far = 0
    for g in range(offsets.size):
        above = room[state[2], P + offsets[g] : P + offsets[g] + N]
        side = sides[g]
        for i in range(N):
            far += side[i] > 0 and U(max(loads[i], above[i]) - min(loads[i], above[i])) > 1
    if far:
        flags |= APART
        if sweeps < max_sweeps:
            flags |= STALLED
            sweeps += 1
    return sweeps, flags


@njit(cache=True, nogil=True)
def _survey(loads):
    """Return the least and the largest load and the total, which is -1 if it may not fit int64."""
    least = loads[0]
    largest = loads[0]
    for i in range(loads.size):
        least = min(least, loads[i])
        largest = max(largest, loads[i])
    total = np.int64(0)
    if np.int64(largest) > LARGEST // loads.size:
        return np.int64(least), np.int64(largest), np.int64(-1)
    for i in range(loads.size):
        total += loads[i]
    return np.int64(least), np.int64(largest), total


@njit(cache=True, nogil=True)
def _short(source, target, room, kept, offsets, sides, share, max_sweeps):
    """Balance one network of legal loads whose total the room's dtype holds, if that is short.

    Returns a code, unless which is ``DONE`` nothing is written, units moved and units that never
    left, sweeps and flags; all but the code count only if ``kept`` is not empty.
    """
    N = source.size
    P = (room.shape[1] - N) // 2
    first = room[0, P : P + N]
    for i in range(N):
        first[i] = source[i]
    for i in range(kept.size):
        kept[i] = source[i]
    state = np.zeros(3, np.int64)
    zero = np.int64(0)
    budget = SMALL // (sides.size + 1024) + 1
    if not gde(room, kept, offsets, sides, share, max_sweeps, state, budget):
        return UNFINISHED, zero, zero, zero, zero
    if kept.size and state[0] < 0:
        return REFUSED, zero, zero, zero, zero
    loads = room[state[2], P : P + N]
    for i in range(N):
        target[i] = loads[i]
    if kept.size == 0:
        return DONE, zero, zero, zero, zero
    local = zero
    for i in range(N):
        local += np.int64(kept[i])
    sweeps, flags = ended(room, offsets, sides, share, max_sweeps, state)
    return DONE, state[0], local, np.int64(sweeps), np.int64(flags)


@njit(cache=True, nogil=True)
def _are_words(source):
    """Return whether all loads are of 16 bits; a negative one has its highest bits set."""
    bits = source[0]
    for i in range(source.size):
        bits |= source[i]
    return 0 <= bits <= WORD


@njit(cache=True, nogil=True)
def _short_in_registers(source, target, kept, plan, partners, max_sweeps):
    """Do as ``_short`` for loads of 16 bits, of which ``kept`` may be None."""
    N, C = source.size, plan[COLOURS]
    share = np.uint16(plan[FRACTION] >> 16), np.uint16(plan[FRACTION] & WORD)
    zero = np.int64(0)
    loads = np.zeros(NODES, np.uint16)
    for i in range(N):
        loads[i] = source[i]
    if kept is not None:
        kept[:] = loads
    moved = sweeps = zero
    budget = SMALL // (C * NODES + 1024) + 1
    while sweeps < max_sweeps:
        if sweeps == budget:
            return UNFINISHED, zero, zero, zero, zero
        units = np.int64(_sweep(loads, kept, partners, C, share))
        if units == 0:
            break
        moved += units
        sweeps += 1
    for i in range(N):
        target[i] = loads[i]
    if kept is None:
        return DONE, zero, zero, zero, zero
    local = flags = zero
    for i in range(N):
        local += np.int64(kept[i])
    stopped = sweeps == max_sweeps
    # As in ``ended``; a difference of two moves something from half of 2**32 on.
    if stopped or share[0] < 2**15:
        far = False
        for c in range(C):
            for i in range(N):
                other = loads[partners[c * NODES + i]]
                if abs(np.int64(loads[i]) - np.int64(other)) > 1:
                    far = True
        if far:
            flags += APART
            if not stopped:
                flags += STALLED
                sweeps += 1
    return DONE, moved, local, sweeps, flags


@njit(cache=True, nogil=True)
def _short_by_shifts(source, target, plan, links, max_sweeps, measured, surveyed):
    """Do as ``_short`` for all loads that the plan allows, which the survey told."""
    least, largest, total = surveyed
    N = source.size
    C, G, P = plan[COLOURS], plan[SHIFTS], plan[FURTHEST]
    offsets = plan[OFFSETS:]
    sides = links[C * NODES if plan[IN_REGISTERS] else 0 :].reshape(G, N)
    width = N + 2 * P
    if least >= 0 and 0 <= total < 2**31 and largest <= plan[LARGEST_LOAD]:
        room = np.zeros((2, width), np.uint32)
        kept = np.empty(N, np.uint32) if measured else room[0, :0]
        share = np.uint32(plan[SHARE]), np.uint32(plan[SHARE + 1])
        return _short(source, target, room, kept, offsets, sides, share, max_sweeps)
    if least >= 0 and total >= 0 and largest <= plan[LARGEST_WIDE]:
        wide_room = np.zeros((2, width), np.uint64)
        wide_kept = np.empty(N, np.uint64) if measured else wide_room[0, :0]
        wide = np.uint64(plan[WIDE_SHARE]), np.uint64(plan[WIDE_SHARE + 1])
        return _short(source, target, wide_room, wide_kept, offsets, sides, wide, max_sweeps)
    zero = np.int64(0)
    return REFUSED, zero, zero, zero, zero


@njit(cache=True, nogil=True)
def small(source, target, plan, links, max_sweeps):
    """Survey and balance one network in one call, which is no long one; return a code.

    Unless it is ``DONE``, nothing is written: loads are illegal or too large, it takes long, or
    there are none.
    ``source``, ``target`` : (N,). ``plan`` : (OFFSETS + G,) int64, see ``SHARE``. ``links`` : int8,
    the partners (C, NODES) if the network may be in registers, and the sides (G, N).
    """
    if not 0 < source.size == target.size:
        return REFUSED
    if plan[IN_REGISTERS] and _are_words(source):
        return _short_in_registers(source, target, None, plan, links, max_sweeps)[0]
    surveyed = _survey(source)
    return _short_by_shifts(source, target, plan, links, max_sweeps, False, surveyed)[0]


@njit(cache=True, nogil=True)
def small_measured(source, target, plan, links, max_sweeps):
    """Do as ``small``; return its code and the figures, as ``result.figures`` has them.

    They are numbers of Python's: an array of so few takes longer to make and to read.
    """
    if not 0 < source.size == target.size:
        return REFUSED, 0, 0, 0.0, 0.0, 0, 0.0, 0, 1.0, 0, 0, False, False
    first_least, first_most, total = surveyed = _survey(source)
    if plan[IN_REGISTERS] and first_least >= 0 and first_most <= WORD:
        kept = np.empty(NODES, np.uint16)
        found = _short_in_registers(source, target, kept, plan, links, max_sweeps)
    else:
        found = _short_by_shifts(source, target, plan, links, max_sweeps, True, surveyed)
    code, moved, local, sweeps, flags = found
    least = most = target[0]
    for i in range(target.size):
        least = min(least, target[i])
        most = max(most, target[i])
    imbalance = first_imbalance = cost = 0.0
    locality = 1.0
    if total > 0:
        mean = np.float64(total) / target.size
        imbalance = np.float64(most) / mean - 1.0
        first_imbalance = np.float64(first_most) / mean - 1.0
        cost = np.float64(moved) / np.float64(total)
        locality = np.float64(local) / np.float64(total)
    return (
        int(code), int(first_most) - int(first_least), int(most) - int(least),
        float(first_imbalance), float(imbalance), int(moved), float(cost), int(local),
        float(locality), int(sweeps), 3 * int(plan[COLOURS]) * int(sweeps),
        bool(flags & STALLED), not flags & APART,
    )  # fmt: skip
