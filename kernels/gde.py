"""Generalized dimension exchange on an edge-coloured network (Wu-Shu Fig. 2).

Legend: ``B`` networks, ``N`` nodes, ``E`` links, ``C`` colours, ``W`` trials side by side.

Trials lie last: a tile holds ``W`` networks as ``N`` rows of ``W`` lanes, so that an exchange is
one loop over two contiguous rows. A balanced lane changes nothing, so a tile runs until all of
its lanes are still.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

LANES = 16
LARGEST = np.int64(2**63 - 1)


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


@njit(cache=True, nogil=True)
def _sweep_single(tile, kept, flows, u, v, start, end, share):
    """Do the same for a tile of one lane, without rows; return the units moved."""
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
def _unbalanced(tile, u, v, W, apart):
    """Set ``apart`` where a lane has neighbours that differ by more than one."""
    apart[:] = False
    for e in range(u.size):
        low = tile[u[e] * W : u[e] * W + W]
        high = tile[v[e] * W : v[e] * W + W]
        for w in range(W):
            apart[w] |= abs(low[w] - high[w]) > 1


@njit(cache=True, nogil=True)
def gde(tiles, kept, flows, u, v, starts, share, max_sweeps, figures):
    """Balance networks of integers until nothing moves or ``max_sweeps`` sweeps are made.

    ``tiles`` : (K, N, W) int32 or int64, in which every total fits; balanced in place. W is 1
    or a multiple of ``LANES``. ``kept`` : (N * W,) scratch of the same dtype; None if only
    loads are wanted. ``flows`` : (B, E) int64 zeros to be filled, or None. ``u``, ``v`` : (E,)
    links in the order of the colours; ``starts`` : (C + 1,). ``share`` : (p, q) or (m, s), see
    ``_sent``. ``figures`` : (4, B) int64 receives moved, local, sweeps, and flags: 1 a sweep
    moved nothing although neighbours differ, 2 neighbours differ, 4 the units moved do not fit
    int64.
    """
    K, N, width = tiles.shape
    moved = np.empty(width, np.int64)
    sweeps = np.empty(width, np.int64)
    flags = np.empty(width, np.int64)
    part = np.empty(width, tiles.dtype)
    net = np.empty(width, tiles.dtype)
    moving = np.empty(width, np.bool_)
    for t in range(K):
        first = t * width
        trials = min(width, figures.shape[1] - first)
        lanes = tiles[t].reshape(-1)
        moved[:] = 0
        sweeps[:] = 0
        flags[:] = 0
        lane_flows = None if flows is None else flows[first : first + trials]
        if kept is not None:
            kept[:] = lanes
        made = np.int64(0)
        while made < max_sweeps:
            moving[:] = False
            for c in range(starts.size - 1):
                part[:] = 0
                _sweep(
                    lanes, kept, lane_flows, net, u, v, starts[c], starts[c + 1], share, width,
                    part,
                )  # fmt: skip
                for w in range(width):
                    moving[w] |= part[w] != 0
                    if part[w] > LARGEST - moved[w]:
                        flags[w] |= 4
                        moved[w] = 0
                    moved[w] += part[w]
            if not moving.any():
                break
            made += 1
            for w in range(width):
                sweeps[w] += moving[w]
        _unbalanced(lanes, u, v, width, moving)
        for w in range(width):
            if moving[w]:
                flags[w] |= 2
                if sweeps[w] < max_sweeps:
                    flags[w] |= 1
                    sweeps[w] += 1
        figures[0, first : first + trials] = moved[:trials]
        figures[2, first : first + trials] = sweeps[:trials]
        figures[3, first : first + trials] = flags[:trials]
        if kept is not None:
            moved[:] = 0
            for i in range(N):
                row = kept[i * width : i * width + width]
                for w in range(width):
                    moved[w] += row[w]
            figures[1, first : first + trials] = moved[:trials]


@njit(cache=True, nogil=True)
def _sweep_float(tile, kept, flows, u, v, share, W, moved, moving):
    """Make one sweep with lane w sending ``share[w]`` of every difference."""
    for e in range(u.size):
        low = tile[u[e] * W : u[e] * W + W]
        high = tile[v[e] * W : v[e] * W + W]
        kept_low = kept[u[e] * W : u[e] * W + W]
        kept_high = kept[v[e] * W : v[e] * W + W]
        for w in range(W):
            net = share[w] * (low[w] - high[w])
            a = low[w] - net
            b = high[w] + net
            moving[w] |= a != low[w]
            moved[w] += abs(net)
            low[w] = a
            high[w] = b
            kept_low[w] = min(kept_low[w], a)
            kept_high[w] = min(kept_high[w], b)
            if flows is not None and w < flows.shape[0]:
                flows[w, e] += net


@njit(cache=True, nogil=True)
def _largest_step(tile, u, v, W, worst):
    """Set ``worst`` to each lane's largest difference between neighbours."""
    worst[:] = 0.0
    for e in range(u.size):
        low = tile[u[e] * W : u[e] * W + W]
        high = tile[v[e] * W : v[e] * W + W]
        for w in range(W):
            worst[w] = max(worst[w], abs(low[w] - high[w]))


@njit(cache=True, nogil=True)
def gde_float(tiles, kept, flows, u, v, lam, tol, max_sweeps, figures):
    """Balance rows of floats until all neighbours are within ``tol`` (B,).

    A lane whose neighbours are near enough has its share set to 0, which freezes it. A lane
    stalls when a sweep changes nothing, or when rounding has kept its largest difference from
    falling for ``2 N + 64`` sweeps. ``lam`` is a float64, ``figures`` (4, B) float64 as in
    ``gde``; arrays else as there, all float64.
    """
    K, N, W = tiles.shape
    for t in range(K):
        first = t * W
        width = min(W, figures.shape[1] - first)
        lanes = tiles[t].reshape(-1)
        kept[:] = lanes
        lane_flows = None if flows is None else flows[first : first + width]
        moved = np.zeros(W)
        share = np.zeros(W)
        share[:width] = lam
        worst = np.empty(W)
        least = np.full(width, np.inf)
        waited = np.zeros(width, np.int64)
        sweeps = np.zeros(width, np.int64)
        flags = np.zeros(width, np.int64)
        moving = np.zeros(W, np.bool_)
        made = np.int64(0)
        while True:
            _largest_step(lanes, u, v, W, worst)
            active = False
            for w in range(width):
                waited[w] = 0 if worst[w] < least[w] else waited[w] + 1
                least[w] = min(least[w], worst[w])
                apart = worst[w] > tol[first + w]
                still = made > 0 and not moving[w]
                if share[w] != 0.0 and (not apart or still or waited[w] > 2 * N + 64):
                    share[w] = 0.0
                    flags[w] = 3 if apart else 0
                active = active or share[w] != 0.0
            if not active or made >= max_sweeps:
                break
            for w in range(width):
                sweeps[w] += share[w] != 0.0
            moving[:] = False
            _sweep_float(lanes, kept, lane_flows, u, v, share, W, moved, moving)
            made += 1
        for w in range(width):
            if share[w] != 0.0:
                flags[w] = 2
        local = np.zeros(width)
        for i in range(N):
            for w in range(width):
                local[w] += kept[i * W + w]
        figures[0, first : first + width] = moved[:width]
        figures[1, first : first + width] = local
        figures[2, first : first + width] = sweeps
        figures[3, first : first + width] = flags
