"""Generalized dimension exchange of integers on an edge-coloured network (Wu-Shu Fig. 2).

Legend: ``B`` networks, ``N`` nodes, ``E`` links, ``C`` colours, ``L`` lines, ``A`` axes, ``W``
trials side by side.

Trials lie last: a tile holds ``W`` networks as ``N`` rows of ``W`` lanes, so that an exchange is
one loop over two contiguous rows. A balanced lane changes nothing, so a tile runs until all of
its lanes are still.

On a grid whose colours come axis by axis, a line goes through all colours of its axis before the
next line begins: lines share no node, so the loads are the same, and a node is read and written
once an axis instead of once a link.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LANES = 16
# Lanes that pass along lines together where a tile has as many, of 32 bits. By 16 the 8x8 mesh
# takes 1.3 times as long, 1.0 to 1.14 where only loads are wanted, and lanes of 64 bits 0.93.
WIDE = 32

# Lines whose nodes lie further apart than so many bytes exchange link by link instead: their rows
# fall into the same few sets of the cache (16x16x16 mesh, ns a node: 17 against 27 with all axes
# along lines and 33 with none; 32x32 mesh 36, 145 and 64).
NEAR = 2048

# A sweep moved nothing although neighbours differ; neighbours differ; the units do not fit int64.
STALLED, APART, OVER = 1, 2, 4


def _sent(difference, share):
    """Return ``p * difference // q`` for ``share`` = (p, q), or (m, s) meaning ``m / 2**s``."""
    if share[0].dtype == np.int64:
        return int(share[0]) * int(difference) // int(share[1])
    return (int(share[0]) * int(difference)) >> int(share[1])


@njit(cache=True, nogil=True)
def _divided_by_estimate(d, p, q):
    """Return ``d * p // q`` for q < 2**50 from a quotient in double precision.

    The estimate is off by less than 2**12, so the remainder is right modulo 2**64.
    """
    quotient = np.int64(np.float64(d) * (np.float64(p) / np.float64(q)))
    rest = d * p - quotient * q
    while rest < 0 or rest >= q:
        step = np.int64(np.floor(np.float64(rest) / np.float64(q)))
        if step == 0:
            step = np.int64(1) if rest > 0 else np.int64(-1)
        quotient += step
        rest -= step * q
    return quotient


@njit(cache=True, nogil=True)
def _divided_by_bits(d, p, q):
    """Return ``d * p // q`` for any p < q, by long multiplication of p with the bits of d."""
    quotient = np.int64(0)
    rest = np.int64(0)
    for bit in range(62, -1, -1):
        quotient += quotient
        if rest >= q - rest:
            quotient += 1
            rest -= q - rest
        else:
            rest += rest
        if (d >> bit) & 1:
            if rest >= q - p:
                quotient += 1
                rest -= q - p
            else:
                rest += p
    return quotient


@overload(_sent)
def _choose_sent(difference, share):
    T = difference
    kind = share[0]
    if kind == types.int64:

        def sent_exactly(difference, share):
            p, q = share
            d = np.int64(difference)
            if d < 2**31 and p < 2**31:
                return T(d * p // q)
            if q < 2**50:
                return T(_divided_by_estimate(d, p, q))
            return T(_divided_by_bits(d, p, q))

        return sent_exactly

    def sent_by_shift(difference, share):
        return T(kind(kind(difference) * share[0]) >> share[1])

    return sent_by_shift


def _exchange_lanes(tile, kept, net, moved, i, j, w, share):
    """Exchange ``LANES`` lanes of two nodes, from ``tile[i]`` and ``tile[j]`` on.

    Lane by lane adds what is sent to ``moved[w]`` and puts it, from i to j, into ``net[w]``.
    ``kept`` and ``net`` may be None.
    """
    T = tile.dtype.type
    for u in range(LANES):
        d = T(tile[i + u] - tile[j + u])
        sent = T(_sent(abs(d), share))
        moved[w + u] += sent
        flow = sent if d > 0 else T(-sent)
        tile[i + u] -= flow
        tile[j + u] += flow
        if net is not None:
            net[w + u] = flow
        if kept is not None:
            kept[i + u] = min(kept[i + u], tile[i + u])
            kept[j + u] = min(kept[j + u], tile[j + u])


@intrinsic
def _machine_exchange(_typing, tile, kept, net, moved, _i, _j, _w, share):
    """Compile ``_exchange_lanes`` for a share (m, s) to vectors.

    As a loop over slices it spends most of its time on checking that they do not overlap
    (1.2 ns a link and trial on the 8x8 mesh against 0.4).
    """

    def generate(context, builder, signature, arguments):
        vector = ir.VectorType(context.get_data_type(tile.dtype), LANES)
        align = tile.dtype.bitwidth // 8

        def place(number, index):
            array = context.make_array(signature.args[number])(context, builder, arguments[number])
            return builder.bitcast(builder.gep(array.data, [index]), vector.as_pointer())

        def splat(value):
            one = builder.insert_element(
                ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
            )
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
            return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)

        i, j, w, factor = arguments[4:]
        low, high = (builder.load(place(0, index), align=align) for index in (i, j))
        d = builder.sub(low, high)
        sign = builder.ashr(d, ir.Constant(vector, [tile.dtype.bitwidth - 1] * LANES))
        size = builder.sub(builder.xor(d, sign), sign)
        product = builder.mul(size, splat(builder.extract_value(factor, 0)))
        sent = builder.lshr(product, splat(builder.extract_value(factor, 1)))
        flow = builder.sub(builder.xor(sent, sign), sign)
        before = builder.load(place(3, w), align=align)
        builder.store(builder.add(before, sent), place(3, w), align=align)
        if net != types.none:
            builder.store(flow, place(2, w), align=align)
        for index, load in ((i, builder.sub(low, flow)), (j, builder.add(high, flow))):
            builder.store(load, place(0, index), align=align)
            if kept != types.none:
                least = builder.load(place(1, index), align=align)
                falls = builder.icmp_signed("<", load, least)
                least = builder.select(falls, load, least)
                builder.store(least, place(1, index), align=align)
        return context.get_dummy_value()

    index = types.int64
    return types.none(tile, kept, net, moved, index, index, index, share), generate


@overload(_exchange_lanes)
def _choose_exchange_lanes(tile, kept, net, moved, i, j, w, share):
    if share[0] != types.int64:
        return lambda tile, kept, net, moved, i, j, w, share: _machine_exchange(  # type: ignore[call-arg]
            tile, kept, net, moved, i, j, w, share
        )
    return _exchange_lanes


def _sweep_lines(tile, kept, lines, share, part, lanes):
    """Let lines (L, 4) of more than one node exchange over all of their links.

    A line is its first node, the step from node to node, its nodes, and whether the last is
    linked with the first. First its even links exchange, then the odd ones, then that of the
    ends. ``part`` (3, W) counts what each of these moves. ``kept`` may be None. Compiled, as many
    ``lanes`` pass along a line together, of which W is a multiple.
    """
    W = part.shape[1]
    for line in range(lines.shape[0]):
        first, step, k, wrap = lines[line]
        for w in range(0, W, LANES):
            base = first * W + w
            for colour in (0, 1):
                for m in range(colour, k - 1, 2):
                    i = base + m * step * W
                    _exchange_lanes(tile, kept, None, part[colour], i, i + step * W, w, share)
            if wrap:
                i = base + (k - 1) * step * W
                _exchange_lanes(tile, kept, None, part[2], i, base, w, share)


def _machine_sweep_lines(lanes):
    """Make ``_sweep_lines`` for a share (m, s) of vectors that pass along the lines.

    The odd link before a pair follows at once on the pair's even link, so that what a node has
    stays in registers between its exchanges. Lines and lanes are looped over in here, as a call
    for each costs as much as its work (8x8 mesh: 4.1 ns a node against 6.2).
    """

    @intrinsic
    def sweep_lines(_typing, tile, kept, lines, share, part):
        measured = kept != types.none

        def generate(context, builder, signature, arguments):
            vector = ir.VectorType(context.get_data_type(tile.dtype), lanes)
            index = ir.IntType(64)
            align = tile.dtype.bitwidth // 8
            TILE, KEPT, LINES, SHARE, PART = range(5)
            data = {
                a: context.make_array(signature.args[a])(context, builder, arguments[a])
                for a in ((TILE, KEPT, LINES, PART) if measured else (TILE, LINES, PART))
            }

            def number(value):
                return ir.Constant(index, value)

            def place(array, at):
                return builder.bitcast(builder.gep(data[array].data, [at]), vector.as_pointer())

            def entry(line, column):
                at = builder.add(builder.mul(line, number(4)), number(column))
                return builder.load(builder.gep(data[LINES].data, [at]))

            def node(base, step, m):
                """Return the load of node m, and the least it has been, as they lie in memory."""
                at = builder.add(base, builder.mul(m, step))
                return [
                    builder.load(place(a, at), align=align) for a in (TILE, KEPT)[: 1 + measured]
                ]

            def put(base, step, m, values):
                at = builder.add(base, builder.mul(m, step))
                for a, value in zip((TILE, KEPT), values, strict=False):
                    builder.store(value, place(a, at), align=align)

            def splat(value):
                one = builder.insert_element(
                    ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
                )
                zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
                return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)

            share_of = splat(builder.extract_value(arguments[SHARE], 0))
            shift = splat(builder.extract_value(arguments[SHARE], 1))
            width = builder.extract_value(data[PART].shape, 1)

            def exchange(low, high, total):
                d = builder.sub(low[0], high[0])
                sign = builder.ashr(d, ir.Constant(vector, [tile.dtype.bitwidth - 1] * lanes))
                size = builder.sub(builder.xor(d, sign), sign)
                sent = builder.lshr(builder.mul(size, share_of), shift)
                flow = builder.sub(builder.xor(sent, sign), sign)
                builder.store(builder.add(builder.load(total), sent), total)
                ends = []
                for end, load in (
                    (low, builder.sub(low[0], flow)),
                    (high, builder.add(high[0], flow)),
                ):
                    falls = [
                        builder.select(builder.icmp_signed("<", load, least), load, least)
                        for least in end[1:]
                    ]
                    ends.append([load, *falls])
                return ends

            def variables(values):
                return [cgutils.alloca_once_value(builder, value) for value in values]

            def read(slots):
                return [builder.load(slot) for slot in slots]

            def write(slots, values):
                for slot, value in zip(slots, values, strict=True):
                    builder.store(value, slot)

            def sweep(base, step, k, wrap, w):
                """Sweep over ``lanes`` lanes of one line."""
                counted = [
                    place(PART, builder.add(w, builder.mul(width, number(colour))))
                    for colour in range(3)
                ]
                even, odd, ends = variables(builder.load(at, align=align) for at in counted)
                begin, end = exchange(
                    node(base, step, number(0)), node(base, step, number(1)), even
                )
                first, carried = variables(begin), variables(end)
                paired = builder.and_(k, number(-2))
                with cgutils.for_range_slice(builder, number(2), paired, number(2), index) as (
                    m,
                    _,
                ):
                    low, high = node(base, step, m), node(base, step, builder.add(m, number(1)))
                    low, high = exchange(low, high, even)
                    before, low = exchange(read(carried), low, odd)
                    put(base, step, builder.sub(m, number(1)), before)
                    put(base, step, m, low)
                    write(carried, high)
                last = builder.sub(k, number(1))
                with builder.if_then(builder.icmp_signed("==", last, paired)):
                    before, end = exchange(read(carried), node(base, step, last), odd)
                    put(base, step, builder.sub(last, number(1)), before)
                    write(carried, end)
                with builder.if_then(builder.icmp_signed("!=", wrap, number(0))):
                    end, begin = exchange(read(carried), read(first), ends)
                    write(carried, end)
                    write(first, begin)
                put(base, step, last, read(carried))
                put(base, step, number(0), read(first))
                for at, total in zip(counted, (even, odd, ends), strict=True):
                    builder.store(builder.load(total), at, align=align)

            with cgutils.for_range(builder, builder.extract_value(data[LINES].shape, 0)) as loop:
                first, step, k, wrap = (entry(loop.index, column) for column in range(4))
                first, step = builder.mul(first, width), builder.mul(step, width)
                columns = number(0), width, number(lanes), index
                with cgutils.for_range_slice(builder, *columns) as (w, _):
                    sweep(builder.add(first, w), step, k, wrap, w)
            return context.get_dummy_value()

        return types.none(tile, kept, lines, share, part), generate

    return sweep_lines


SWEEP_LINES = {lanes: _machine_sweep_lines(lanes) for lanes in (LANES, WIDE)}


@overload(_sweep_lines, prefer_literal=True)
def _choose_sweep_lines(tile, kept, lines, share, part, lanes):
    if share[0] != types.int64:
        machine = SWEEP_LINES[lanes.literal_value]
        return lambda tile, kept, lines, share, part, lanes: machine(tile, kept, lines, share, part)
    return _sweep_lines


@njit(cache=True, nogil=True)
def _sweep_single(tile, kept, flows, u, v, start, end, share):
    """Exchange over the links ``start .. end-1`` of one network; return the units moved."""
    T = tile.dtype.type
    moved = T(0)
    for e in range(start, end):
        d = T(tile[u[e]] - tile[v[e]])
        sent = _sent(T(abs(d)), share)
        moved += sent
        net = sent if d > 0 else T(-sent)
        tile[u[e]] = T(tile[u[e]] - net)
        tile[v[e]] = T(tile[v[e]] + net)
        if kept is not None:
            kept[u[e]] = min(kept[u[e]], tile[u[e]])
            kept[v[e]] = min(kept[v[e]], tile[v[e]])
        if flows is not None:
            flows[0, e] += net
    return moved


@njit(cache=True, nogil=True)
def _sweep(tile, kept, flows, net, u, v, start, end, share, W, moved):
    """Exchange over the links ``start .. end-1``, all of one colour."""
    if W == 1:
        moved[0] += _sweep_single(tile, kept, flows, u, v, start, end, share)
        return
    for e in range(start, end):
        i = u[e] * W
        j = v[e] * W
        for w in range(0, W, LANES):
            _exchange_lanes(tile, kept, net, moved, i + w, j + w, w, share)
        if flows is not None:
            for w in range(flows.shape[0]):
                flows[w, e] += net[w]


@njit(cache=True, nogil=True)
def _near(lines, part):
    """Return whether there are lines, and their rows near enough to each other."""
    return lines.shape[0] > 0 and lines[0, 1] * part[0].nbytes <= NEAR


@njit(cache=True, nogil=True)
def _unbalanced(tile, u, v, W, apart):
    """Set ``apart`` where a lane has neighbours that differ by more than one."""
    apart[:] = False
    for e in range(u.size):
        low = tile[u[e] * W : u[e] * W + W]
        high = tile[v[e] * W : v[e] * W + W]
        for w in range(W):
            apart[w] |= abs(low[w] - high[w]) > 1


@njit(cache=True, nogil=True)
def _add_up(part, moved, moving, flags):
    """Add what an axis or a colour moved, ``part`` (3, W), to the lanes' figures.

    Without a branch, which vectorises: a sum that does not fit turns negative, and what has been
    flagged once needs no number any more.
    """
    for colour in range(part.shape[0]):
        units = part[colour]
        for w in range(units.size):
            total = moved[w] + np.int64(units[w])
            flags[w] |= (total >> 63) & OVER
            moved[w] = total
            moving[w] |= units[w] != 0


@njit(cache=True, nogil=True)
def gde(
    tiles, kept, flows, u, v, starts, lines, axes, share, max_sweeps, figures, place, state,
    budget,
):  # fmt: skip
    """Balance networks of integers until nothing moves or ``max_sweeps`` sweeps are made.

    ``tiles`` : (K, N, W) int32 or int64, in which every total fits; balanced in place. W is 1
    or a multiple of ``LANES``. ``kept`` : (N * W,) scratch of the same dtype; None if only
    loads are wanted. ``flows`` : (B, E) int64 zeros to be filled, or None. ``u``, ``v`` : (E,)
    links in the order of the colours; ``starts`` : (C + 1,). ``lines`` : (L, 4), the same links
    as lines (first node, step, nodes, wrap). ``axes`` : (A, 4), what one axis has of these after
    the other: first and end of its lines, first and end of its colours. ``share`` : (p, q) or
    (m, s), see ``_sent``. ``figures`` : (4, B) int64 receives moved, local, sweeps, and flags:
    ``STALLED``, ``APART``, ``OVER``.

    After ``budget`` sweeps in all it returns False, to be called again with the same arguments:
    ``place`` (2,) int64 zeros keeps the tile and its sweeps, ``state`` (3, W) int64 the lanes'.
    """
    K, N, width = tiles.shape
    moved, sweeps, flags = state[0], state[1], state[2]
    part = np.empty((3, width), tiles.dtype)
    net = np.empty(width, tiles.dtype)
    moving = np.empty(width, np.bool_)
    for t in range(place[0], K):
        first = t * width
        trials = min(width, figures.shape[1] - first)
        lanes = tiles[t].reshape(-1)
        lane_flows = None if flows is None else flows[first : first + trials]
        if place[1] == 0:
            state[:] = 0
            if kept is not None:
                kept[:] = lanes
        moving[:] = True
        while place[1] < max_sweeps:
            if budget == 0:
                return False
            budget -= 1
            moving[:] = False
            for a in range(axes.shape[0]):
                line, end_line, colour, end_colour = axes[a]
                if flows is None and width > 1 and _near(lines[line:end_line], part):
                    part[:] = 0
                    if width % WIDE == 0 and tiles.itemsize == 4:
                        _sweep_lines(lanes, kept, lines[line:end_line], share, part, WIDE)
                    else:
                        _sweep_lines(lanes, kept, lines[line:end_line], share, part, LANES)
                    _add_up(part, moved, moving, flags)
                    continue
                for c in range(colour, end_colour):
                    part[0] = 0
                    _sweep(
                        lanes, kept, lane_flows, net, u, v, starts[c], starts[c + 1], share, width,
                        part[0],
                    )  # fmt: skip
                    _add_up(part[:1], moved, moving, flags)
            if not moving.any():
                break
            place[1] += 1
            for w in range(width):
                sweeps[w] += moving[w]
        # Where a difference of two moves something, still neighbours are balanced.
        if moving.any() or _sent(tiles.dtype.type(2), share) == 0:
            _unbalanced(lanes, u, v, width, moving)
        for w in range(width):
            if moving[w]:
                flags[w] |= APART
                # The sweep that moved nothing is counted, if there was one.
                if sweeps[w] < max_sweeps:
                    flags[w] |= STALLED
                    sweeps[w] += 1
        figures[0, first : first + trials] = moved[:trials]
        figures[2, first : first + trials] = sweeps[:trials]
        figures[3, first : first + trials] = flags[:trials]
        if kept is not None:
            stayed = part[0]
            stayed[:] = 0
            for i in range(N):
                row = kept[i * width : i * width + width]
                for w in range(width):
                    stayed[w] += row[w]
            figures[1, first : first + trials] = stayed[:trials]
        place[0] += 1
        place[1] = 0
    return True
