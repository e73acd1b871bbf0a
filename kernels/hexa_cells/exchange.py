"""Algorithms A, B and C on the Hyper Hexa-Cell network (Hexa-Cell 2.1-2.3).

Legend: ``B`` networks of ``N = 6 C`` nodes, ``C = 2**(d-1)`` cells; a part is ``R = 2**bits``
consecutive cells; ``W`` parts lie side by side; ``S`` stages: triangles, prism, cell dimensions.

A part is balanced by passes that take neighbours and lay them apart. A node's number has three
places of a triangle as its lowest digit, then two triangles of a prism, then the bits of its cell.
A pass exchanges between neighbouring loads, which differ in the lowest digit, and writes them one
row after the other, so that this digit becomes the highest and the next one the lowest. After all
of them every load is back at its node. Loops of one kind do all dimensions in whole vectors (part
of 128 cells in 32 bits, 0.35 us; with 16 parts transposed to lie side by side 0.56 us).

Many small networks lie side by side, trials last: a tile holds ``W`` of them as ``N`` rows of ``W``
lanes, so that every exchange is a loop over two or three contiguous rows. Everything is counted in
such tiles of parts.

The dimensions above a part exchange whole parts, which are contiguous in memory as they are.

Algorithms B and C differ from A in that left and right do not average first; afterwards A's
coordinator, giving its excess or collecting the others', does just what B's orders say.

The pair rule stands here once more than in DEM's kernel, because C and ``odd_unit="lower"`` treat
the odd unit in other ways and because the counters need each transfer. Where DEM's own rule
holds and nothing is counted, the dimensions above a part are left to DEM's kernel.

Balancing alone comes first, then the same with everything counted. Both are in one file because
both need the rules of pair and triangle, and numba's cache watches only the file a kernel is in.
Random trials are balanced by ``hexa_cell_tiles.py``.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

A, B, C = 0, 1, 2
# Loads of a block whose dimensions are done while it is in the L2 cache: without, 12 million nodes
# take 1.1 times as long, 2**18 nodes 0.9 to 1.0.
BLOCK = 2**16
# Three loads up to this and 2 add up in 32 bits.
NARROW = (2**31 - 3) // 3
# A part of 512 cells twice in 32 bits takes 24 KiB, and fits the L1 cache: 2048 cells take 0.42 ns
# a node so, 0.59 as one part.
PART = 6 << 9
# As many loads are balanced with their checks in one call.
SMALL = 2**14
# At least so many networks of up to 32 cells lie side by side, up to 64 of them. 64 single cells
# are balanced eight times as fast so, two networks of 32 cells a quarter as fast. With 128 lanes
# networks of 1 to 4 cells take 0.9 of the time, of 32 cells twice as long.
FEWEST, LANES, LARGEST = 8, 64, 6 << 5


def _exchange(a, b, above):
    """Return both loads after the exchange: the higher sends half of the difference.

    The larger half of an odd difference crosses if the difference is more than ``above``, never
    if that is None. Floats meet midway.
    """
    if isinstance(a, np.floating):
        mean = (a + b) * a.dtype.type(0.5)
        return mean, mean
    high, low = (int(a), int(b)) if a > b else (int(b), int(a))
    d = high - low
    sent = d // 2 + (d % 2 if above is not None and d > above else 0)
    return (high - sent, low + sent) if a > b else (low + sent, high - sent)


@overload(_exchange)
def _choose_exchange(a, b, above):
    T = a
    if isinstance(T, types.Float):

        def float_exchange(a, b, above):
            mean = T(T(a + b) * T(0.5))
            return mean, mean

        return float_exchange

    if isinstance(above, types.NoneType):

        def even_exchange(a, b, above):
            d = T(a - b)
            sent = T(T(d + T(d < 0)) >> T(1))
            return T(a - sent), T(b + sent)

        return even_exchange

    def integer_exchange(a, b, above):
        high = max(a, b)
        low = min(a, b)
        d = T(high - low)
        odd = T(d & T(1)) if d > T(above) else T(0)
        sent = T(T(d >> T(1)) + odd)
        x = T(high - sent)
        y = T(low + sent)
        return (x if a > b else y), (y if a > b else x)

    return integer_exchange


def _average(a, b, c):
    """Return the triangle's average load, ``(total+2) // 3``; for floats the mean."""
    if isinstance(a, np.floating):
        mean = a.dtype.type((float(a) + float(b) + float(c)) / 3.0)
        return min(max(mean, min(a, b, c)), max(a, b, c))
    return (int(a) + int(b) + int(c) + 2) // 3


@overload(_average)
def _choose_average(a, b, c):
    T = a
    if isinstance(T, types.Float):

        def float_average(a, b, c):
            # Between the loads also where rounding says otherwise: equal loads stay.
            mean = T((np.float64(a) + np.float64(b) + np.float64(c)) / 3.0)
            return min(max(mean, min(min(a, b), c)), max(max(a, b), c))

        return float_average
    if T.bitwidth == 32:
        return lambda a, b, c: T(np.uint32(np.uint32(a + b) + np.uint32(c + 2)) // np.uint32(3))

    def wide_average(a, b, c):
        # 2**32 and 2**16 leave 1 modulo 3: three 32-bit products instead of a 64-bit division.
        total = np.uint64(a) + np.uint64(b) + np.uint64(c) + np.uint64(2)
        high = total >> np.uint64(32)
        rest = high + (total & np.uint64(0xFFFFFFFF))
        middle = rest >> np.uint64(16)
        rest = middle + (rest & np.uint64(0xFFFF))
        low = (rest * np.uint64(0xAAAAAAAB)) >> np.uint64(33)
        return T(high * np.uint64(0x55555555) + middle * np.uint64(0x5555) + low)

    return wide_average


def _shared(a, b, c, greedy):
    """Return a triangle's loads after those above the average have filled those below."""
    m = _average(a, b, c)
    if isinstance(a, np.floating):
        return m, m, m
    total = int(a) + int(b) + int(c)
    x, y, z = min(int(a), m), min(int(b), m), min(int(c), m)
    excess = total - x - y - z
    if greedy:
        first = min(m, x + excess)
        second = min(m, y + excess - (first - x))
        return first, second, total - first - second
    both = total - m
    first = max(x, min(x + excess, (both + 1) // 2))
    last = max(z, min(z + excess, both // 2))
    return first, total - first - last, last


@overload(_shared)
def _choose_shared(a, b, c, greedy):
    T = a
    if isinstance(T, types.Float):

        def float_shared(a, b, c, greedy):
            m = _average(a, b, c)
            return m, m, m

        return float_shared

    def integer_shared(a, b, c, greedy):
        m = _average(a, b, c)
        total = T(T(a + b) + c)
        x = min(a, m)
        y = min(b, m)
        z = min(c, m)
        excess = T(T(T(total - x) - y) - z)
        if greedy:
            first = min(m, T(x + excess))
            second = min(m, T(y + T(excess - T(first - x))))
            return first, second, T(T(total - first) - second)
        # Unit by unit to the lighter of two takers, who end with total - m between them: the
        # lower address has half of that rounded up, unless it needs or has less or more.
        both = T(total - m)
        first = max(x, min(T(x + excess), T(T(both + T(1)) >> T(1))))
        last = max(z, min(T(z + excess), T(both >> T(1))))
        return first, T(T(total - first) - last), last

    return integer_shared


@njit(cache=True, nogil=True)
def _load(source, first, W, tile):
    """Lay rows ``first .. first+W-1`` of ``source`` side by side: ``tile[i * W + w]``."""
    nodes = source.shape[1]
    parts = source[first : first + W].reshape(-1)
    for i in range(nodes):
        row = tile[i * W : (i + 1) * W]
        column = parts[i:]
        for w in range(W):
            row[w] = column[w * nodes]


@njit(cache=True, nogil=True)
def _store(tile, target, first, W):
    """Copy what ``_load`` laid side by side back to rows of ``target``."""
    nodes = target.shape[1]
    parts = target[first : first + W].reshape(-1)
    for w in range(W):
        row = parts[w * nodes : (w + 1) * nodes]
        column = tile[w:]
        for i in range(nodes):
            row[i] = column[i * W]


@njit(cache=True, nogil=True)
def _triangles(tile, R, W, rules):
    """Balance the triangles of ``R`` cells, ``W`` of each side by side."""
    for t in range(2 * R):
        first = tile[3 * t * W : (3 * t + 1) * W]
        left = tile[(3 * t + 1) * W : (3 * t + 2) * W]
        right = tile[(3 * t + 2) * W : (3 * t + 3) * W]
        # One loop each: a short one of its own for A's exchange takes four times as long.
        if rules[0] == A:
            if rules[1]:
                for w in range(W):
                    b, c = _exchange(left[w], right[w], None)
                    first[w], left[w], right[w] = _shared(first[w], b, c, True)
            else:
                for w in range(W):
                    b, c = _exchange(left[w], right[w], None)
                    first[w], left[w], right[w] = _shared(first[w], b, c, False)
        elif rules[1]:
            for w in range(W):
                first[w], left[w], right[w] = _shared(first[w], left[w], right[w], True)
        else:
            for w in range(W):
                first[w], left[w], right[w] = _shared(first[w], left[w], right[w], False)


@njit(cache=True, nogil=True)
def _rows(loads, run, above, never):
    """Exchange every two neighbouring runs of ``run`` loads."""
    for base in range(0, loads.size, 2 * run):
        low = loads[base : base + run]
        high = loads[base + run : base + 2 * run]
        if above == never:
            for u in range(run):
                low[u], high[u] = _exchange(low[u], high[u], None)
        else:
            for u in range(run):
                low[u], high[u] = _exchange(low[u], high[u], above)


@njit(cache=True, nogil=True)
def _pairs_of_rows(loads, run, above, never):
    """Exchange every two neighbouring runs, and then every two neighbouring pairs of runs.

    Run by run the dimensions above a part take 1.4 to 1.5 times as long where the higher keeps the
    odd unit, else 0.95 to 1.3.
    """
    for base in range(0, loads.size, 4 * run):
        a = loads[base : base + run]
        b = loads[base + run : base + 2 * run]
        c = loads[base + 2 * run : base + 3 * run]
        d = loads[base + 3 * run : base + 4 * run]
        if above == never:
            for u in range(run):
                p, q = _exchange(a[u], b[u], None)
                r, s = _exchange(c[u], d[u], None)
                a[u], c[u] = _exchange(p, r, None)
                b[u], d[u] = _exchange(q, s, None)
        else:
            for u in range(run):
                p, q = _exchange(a[u], b[u], above)
                r, s = _exchange(c[u], d[u], above)
                a[u], c[u] = _exchange(p, r, above)
                b[u], d[u] = _exchange(q, s, above)


@njit(cache=True, nogil=True)
def _stages(loads, run, end, above, never):
    """Exchange runs of ``run``, twice as many, and so on up to half of ``end`` loads."""
    while 2 * run < end:
        _pairs_of_rows(loads, run, above, never)
        run *= 4
    if run < end:
        _rows(loads, run, above, never)


@njit(cache=True, nogil=True)
def side_by_side(source, target, tile, rules):
    """Balance networks (B, N) by all stages, as many side by side as ``tile`` (W N,) holds.

    ``target`` may be ``source``. ``tile`` : scratch of the dtype to compute in, which three loads
    and 2 fit. ``rules`` : algorithm, whether the share is greedy, and the largest odd difference
    of which the smaller half is sent, in A's left-right pair (which is never exceeded), in the
    prism and in the dimensions.
    """
    B, N = source.shape
    W = tile.size // N
    for start in range(0, B, W):
        width = min(W, B - start)
        lanes = tile[: N * width]
        _load(source, start, width, lanes)
        _triangles(lanes, N // 6, width, rules)
        if rules[3] == rules[4]:
            _stages(lanes, 3 * width, lanes.size, rules[4], rules[2])
        else:
            _rows(lanes, 3 * width, rules[3], rules[2])
            _stages(lanes, 6 * width, lanes.size, rules[4], rules[2])
        _store(lanes, target, start, width)


@njit(cache=True, nogil=True)
def dimensions(loads, run, rules):
    """Balance every row of ``loads`` (B, N) in place by the dimensions whose runs begin at ``run``.

    A dimension exchanges runs of ``run`` loads, the next one of twice as many; as many of them
    as fit the L2 cache are done block by block.
    """
    block = run
    while block < min(loads.shape[1], BLOCK):
        block *= 2
    for b in range(loads.shape[0]):
        for start in range(0, loads.shape[1], block):
            _stages(loads[b, start : start + block], run, block, rules[4], rules[2])
        _stages(loads[b], block, loads.shape[1], rules[4], rules[2])


@njit(cache=True, nogil=True)
def _triangles_apart(source, target, rules):
    """Balance triangles, three neighbouring loads each, and lay their nodes out in three rows."""
    size = source.size // 3
    first = target[:size]
    left = target[size : 2 * size]
    right = target[2 * size : 3 * size]
    if rules[0] == A:
        if rules[1]:
            for t in range(size):
                b, c = _exchange(source[3 * t + 1], source[3 * t + 2], None)
                first[t], left[t], right[t] = _shared(source[3 * t], b, c, True)
        else:
            for t in range(size):
                b, c = _exchange(source[3 * t + 1], source[3 * t + 2], None)
                first[t], left[t], right[t] = _shared(source[3 * t], b, c, False)
    elif rules[1]:
        for t in range(size):
            a, b, c = source[3 * t], source[3 * t + 1], source[3 * t + 2]
            first[t], left[t], right[t] = _shared(a, b, c, True)
    else:
        for t in range(size):
            a, b, c = source[3 * t], source[3 * t + 1], source[3 * t + 2]
            first[t], left[t], right[t] = _shared(a, b, c, False)


@njit(cache=True, nogil=True)
def _pairs_apart(source, target, above, never):
    """Exchange every two neighbouring loads, and lay them out in two rows."""
    half = source.size >> 1
    low = target[:half]
    high = target[half:]
    if above == never:
        for j in range(half):
            low[j], high[j] = _exchange(source[2 * j], source[2 * j + 1], None)
    else:
        for j in range(half):
            low[j], high[j] = _exchange(source[2 * j], source[2 * j + 1], above)


@njit(cache=True, nogil=True)
def part_by_part(source, target, scratch, rules):
    """Balance parts (P 6 R,) by triangles, prism and the dimensions within a part.

    ``scratch`` : (2, 6 R); else as ``side_by_side``.
    """
    size = scratch.shape[1]
    for start in range(0, source.size, size):
        given = source[start : start + size]
        here = scratch[0]
        there = scratch[1]
        # Apart from the triangles, whose loops take half as long again if they narrow loads.
        for i in range(size):
            there[i] = given[i]
        _triangles_apart(there, here, rules)
        above = rules[3]
        cells = size // 6
        while cells > 1:
            _pairs_apart(here, there, above, rules[2])
            here, there = there, here
            above = rules[4]
            cells >>= 1
        _pairs_apart(here, target[start : start + size], above, rules[2])


@njit(cache=True, nogil=True)
def small(source, target, d, way):
    """Check and balance few integers of shape (N,) or (B, N) in one call.

    Returns whether they are not for this: too many, another ``N``, a load below 0 or above
    ``NARROW``, shapes that differ, or arrays that overlap without being the same. Then nothing is
    written. ``way`` : 4 times the algorithm, 2 if the share is greedy, 1 if the lower takes the odd
    unit; the tuple of ``rules`` would take 0.1 us to be handed over.
    """
    N = 6 << (d - 1)
    apart = abs(np.int64(source.ctypes.data) - np.int64(target.ctypes.data))
    fits = source.shape[-1] == N and source.size <= SMALL and source.shape == target.shape
    if not fits or 0 < apart < source.nbytes:
        return True
    # A literal is a type of its own, for which all that takes the rules would be compiled again.
    never = np.int64(2**31 - 1)
    prism = 1 if way >> 2 == C else never
    rules = way >> 2, way >> 1 & 1, never, prism, 0 if way & 1 else prism
    return _checked(source.reshape(-1), target.reshape(-1), N, rules)


@njit(cache=True, nogil=True)
def _checked(source, target, N, rules):
    """Balance flat networks unless a load is refused; return whether one is, as ``small``."""
    outside = 0
    for i in range(source.size):
        outside += not (source[i] >= 0 and source[i] <= NARROW)
    if outside:
        return True
    B = source.size // N
    if B >= FEWEST and N <= LARGEST:
        tile = np.empty(N * min(B, LANES), np.int32)
        side_by_side(source.reshape(-1, N), target.reshape(-1, N), tile, rules)
    else:
        part_by_part(source, target, np.empty((2, min(N, PART)), np.int32), rules)
        if N > PART:
            dimensions(target.reshape(-1, N), np.int64(PART), rules)
    return False


def _units(a, b):
    """Return the units sent by a node that had ``a`` and has ``b``, signed: int64 or float64."""
    return float(a) - float(b) if isinstance(a, np.floating) else int(a) - int(b)


@overload(_units)
def _choose_units(a, b):
    if isinstance(a, types.Float):
        return lambda a, b: np.float64(a) - np.float64(b)
    return lambda a, b: np.int64(a) - np.int64(b)


@njit(cache=True, nogil=True)
def _flow(sent, taken):
    """Return the net units from one node to another, from what each sent in all."""
    return min(max(sent, 0), max(-taken, 0)) - min(max(-sent, 0), max(taken, 0))


@njit(cache=True, nogil=True)
def _triangle_measured(tile, kept, ends, t, W, rules, lanes):
    """Balance triangle ``t`` of ``W`` parts side by side, and count in as many lanes."""
    algorithm, greedy, never, _, _ = rules
    moved, longest, sent, polled = lanes
    i, j, k, end = 3 * t * W, (3 * t + 1) * W, (3 * t + 2) * W, (3 * t + 3) * W
    first, left, right = tile[i:j], tile[j:k], tile[k:end]
    kept_first, kept_left, kept_right = kept[i:j], kept[j:k], kept[k:end]
    ends_first, ends_left, ends_right = ends[i:j], ends[j:k], ends[k:end]
    for w in range(W):
        a, b, c = first[w], left[w], right[w]
        units = _units(a, a)
        crossed = 0
        told = 4, 4, 4
        if algorithm == A:
            p, q = _exchange(b, c, never)
            crossed = int(p != b)
            units += abs(_units(b, p))
            # The report comes from the node that received, else from the right one.
            reports = int(p != b and b < c)
            told = 3, 3 + crossed + reports, 4 + crossed - reports
            kept_left[w] = min(kept_left[w], p)
            kept_right[w] = min(kept_right[w], q)
            b, c = p, q
        elif algorithm == B:
            told = 4, 2, 2
        x, y, z = _shared(a, b, c, greedy)
        sent_x, sent_y, sent_z = _units(a, x), _units(b, y), _units(c, z)
        units += max(sent_x, 0) + max(sent_y, 0) + max(sent_z, 0)
        xy, xz, yz = _flow(sent_x, sent_y), _flow(sent_x, sent_z), _flow(sent_y, sent_z)
        if algorithm == C:
            # A node polls again as long as it has excess: one peer, or both.
            x1, x2 = sent_x > 0, sent_x > abs(xy)
            y1, y2 = sent_y > 0, sent_y > abs(xy)
            z1, z2 = sent_z > 0, sent_z > abs(xz)
            polled[w] += x1 + x2 + y1 + y2 + z1 + z2
            told = 4 + x1 + x2 + y1 + z1, 4 + y1 + y2 + x1 + z2, 4 + z1 + z2 + x2 + y2
        ends_first[w] += told[0] + (xy != 0) + (xz != 0)
        ends_left[w] += told[1] + (xy != 0) + (yz != 0)
        ends_right[w] += told[2] + (xz != 0) + (yz != 0)
        sent[w] += crossed + (xy != 0) + (xz != 0) + (yz != 0)
        moved[w] += units
        longest[w] = max(longest[w], units)
        first[w], left[w], right[w] = x, y, z
        kept_first[w] = min(kept_first[w], x)
        kept_left[w] = min(kept_left[w], y)
        kept_right[w] = min(kept_right[w], z)


@njit(cache=True, nogil=True)
def _rows_measured(loads, kept, ends, run, W, above, lanes):
    """Exchange neighbouring runs, ``W`` loads at a time, and count in as many lanes."""
    moved, longest, sent, _ = lanes
    for base in range(0, loads.size, 2 * run):
        for i in range(base, base + run, W):
            j = i + run
            low, high = loads[i : i + W], loads[j : j + W]
            kept_low, kept_high = kept[i : i + W], kept[j : j + W]
            ends_low, ends_high = ends[i : i + W], ends[j : j + W]
            for w in range(W):
                a = low[w]
                x, y = _exchange(a, high[w], above)
                units = abs(_units(a, x))
                moved[w] += units
                longest[w] = max(longest[w], units)
                sent[w] += units > 0
                ends_low[w] += 2 + (units > 0)
                ends_high[w] += 2 + (units > 0)
                low[w], high[w] = x, y
                kept_low[w] = min(kept_low[w], x)
                kept_high[w] = min(kept_high[w], y)


@njit(cache=True, nogil=True)
def _new_lanes(W, moved):
    """Return empty lanes: units moved, most units at once, messages with load, C's polls again."""
    units = np.zeros((2, W), moved.dtype)
    messages = np.zeros((2, W), np.int64)
    return units[0], units[1], messages[0], messages[1]


@njit(cache=True, nogil=True)
def _add_up(lanes, first, s, parts, figures):
    """Add lanes ``first ..`` to the figures of their networks, of ``parts`` each; empty them."""
    moved, longest, messages = figures
    for w in range(lanes[0].size):
        network = (first + w) // parts
        moved[network, s] += lanes[0][w]
        longest[network, s] = max(longest[network, s], lanes[1][w])
        messages[network, 0] += lanes[2][w]
        messages[network, 1] += lanes[3][w]
    lanes[0][:] = 0
    lanes[1][:] = 0
    lanes[2][:] = 0
    lanes[3][:] = 0


@njit(cache=True, nogil=True)
def cells_measured(nodes, tiles, bits, stages, rules, figures):
    """Do the stages ``stages[0] .. stages[1]-1`` within parts in place, and count.

    ``nodes`` : three arrays (P, 6 R): loads; kept, which receives the running minimum of each
    load, the units that never left; and ends, uint8, to which what each node sends and receives
    is added. ``tiles`` : scratch (6 R W,) for each. ``figures`` : moved and longest (B, S), the
    units in all and on the critical path; messages (B, 2), those with load and C's polls again.
    """
    P = nodes[0].shape[0]
    R = 1 << bits
    W = tiles[0].size // (6 * R)
    for start in range(0, P, W):
        width = min(W, P - start)
        tile = tiles[0][: 6 * R * width]
        kept = tiles[1][: 6 * R * width]
        ends = tiles[2][: 6 * R * width]
        _load(nodes[0], start, width, tile)
        _load(nodes[1], start, width, kept)
        _load(nodes[2], start, width, ends)
        lanes = _new_lanes(width, figures[0])
        for s in range(stages[0], stages[1]):
            if s == 0:
                for t in range(2 * R):
                    _triangle_measured(tile, kept, ends, t, width, rules, lanes)
            elif s == 1:
                _rows_measured(tile, kept, ends, 3 * width, width, rules[3], lanes)
            else:
                _rows_measured(tile, kept, ends, 6 * width << (s - 2), width, rules[4], lanes)
            _add_up(lanes, start, s, P // figures[0].shape[0], figures)
        _store(tile, nodes[0], start, width)
        _store(kept, nodes[1], start, width)
        _store(ends, nodes[2], start, width)


@njit(cache=True, nogil=True)
def dimensions_measured(nodes, run, stages, rules, figures):
    """Do and count stages of ``dimensions``, the first with runs of ``run`` loads.

    Arrays (B, N), else as ``cells_measured``.
    """
    loads, kept, ends = nodes
    # Runs begin with a part of 16 cells, and are whole multiples of it.
    W = min(run, 96)
    lanes = _new_lanes(W, figures[0])
    for b in range(loads.shape[0]):
        for s in range(stages[0], stages[1]):
            length = run << (s - stages[0])
            _rows_measured(loads[b], kept[b], ends[b], length, W, rules[4], lanes)
            _add_up(lanes, b * W, s, W, figures)


@njit(cache=True, nogil=True)
def triangle_flows(loads, rules, flows):
    """Fill ``flows`` (T, 3): net units 0 to 1, 0 to 2 and 1 to 2 in triangles ``loads`` (T, 3)."""
    for t in range(loads.shape[0]):
        a, b, c = loads[t, 0], loads[t, 1], loads[t, 2]
        averaged = _units(a, a)
        if rules[0] == A:
            p, q = _exchange(b, c, rules[2])
            averaged = _units(b, p)
            b, c = p, q
        x, y, z = _shared(a, b, c, rules[1])
        flows[t, 0] = _flow(_units(a, x), _units(b, y))
        flows[t, 1] = _flow(_units(a, x), _units(c, z))
        flows[t, 2] = averaged + _flow(_units(b, y), _units(c, z))
