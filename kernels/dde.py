"""Direct dimension exchange: every line of an axis is balanced at once (Wu-Shu Figs 3-10).

Legend: ``B`` networks, ``N`` nodes, ``S`` axes in the order balanced, ``k`` length of a line,
``L`` lines side by side, ``W`` trials side by side in a tile.

The unit of work is a bundle of up to ``LINES`` lines as ``k`` rows of ``L`` lanes: prefix sums,
quotas, flows and the ring's median are loops over contiguous rows. In a tile of many trials a
bundle is a few neighbouring lines of every trial; in a single large network neighbouring lines
are gathered, transposed where the axis is the last one.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

LINES = 64
TRANSPOSED = 16
LARGEST = np.int64(2**63 - 1)
NOISE = 4 * 2.0**-52


def _quotas(total, k):
    """Return (average, remainder) of a line's total; for floats the exact mean and 0."""
    if isinstance(total, np.floating):
        return total / k, total.dtype.type(0)
    T = total.dtype.type
    return T(int(total) // k), T(int(total) % k)


@overload(_quotas)
def _choose_quotas(total, k):
    T = total
    if isinstance(T, types.Float):
        return lambda total, k: (T(total / k), T(0))
    if T.bitwidth == 32:

        def quotas_by_reciprocal(total, k):
            # A float64 quotient of 32-bit integers is off by one at most.
            average = T(np.float64(total) * (1.0 / np.float64(k)))
            rest = T(total - average * T(k))
            average = T(average - T(rest < 0) + T(rest >= k))
            return average, T(total - average * T(k))

        return quotas_by_reciprocal
    return lambda total, k: (T(total // k), T(total % k))


def _rounding(total):
    """Return the size below which a flow is rounding noise: 0 for integers.

    Sums are compensated, so what remains is the rounding of the mean and of ``load - mean``.
    """
    return total * NOISE if isinstance(total, np.floating) else total.dtype.type(0)


@overload(_rounding)
def _choose_rounding(total):
    T = total
    if isinstance(T, types.Float):
        return lambda total: total * NOISE
    return lambda total: T(0)


def _add(sums, errors, u, value):
    """Add a value to ``sums[u]``; of floats keep the rounding error in ``errors[u]`` (Neumaier)."""
    if not isinstance(value, np.floating):
        sums[u] += value
        return
    before = sums[u]
    sums[u] = before + value
    taken = sums[u] - before
    errors[u] += (before - (sums[u] - taken)) + (value - taken)


@overload(_add)
def _choose_add(sums, errors, u, value):
    T = sums.dtype
    if isinstance(T, types.Float):

        def add_float(sums, errors, u, value):
            before = sums[u]
            both = before + value
            taken = both - before
            sums[u] = both
            errors[u] += (before - (both - taken)) + (value - taken)

        return add_float

    def add_integer(sums, errors, u, value):
        sums[u] = T(sums[u] + value)

    return add_integer


def _sum(sums, errors, u):
    """Return a sum with its error made good."""
    return sums[u] + errors[u] if sums.dtype.kind == "f" else sums[u]


@overload(_sum)
def _choose_sum(sums, errors, u):
    if isinstance(sums.dtype, types.Float):
        return lambda sums, errors, u: sums[u] + errors[u]
    return lambda sums, errors, u: sums[u]


@njit(cache=True, nogil=True)
def _gather(array, first, stride, run, k, L, lines):
    """Copy L lines into rows; line l begins at ``first[l]`` and goes on in ``stride``.

    Every ``run`` lines begin side by side.
    """
    if run > 1:
        for g in range(0, L, run):
            for i in range(k):
                row = array[first[g] + i * stride : first[g] + i * stride + run]
                line = lines[i * L + g : i * L + g + run]
                for u in range(run):
                    line[u] = row[u]
        return
    for u in range(L):
        for i in range(k):
            lines[i * L + u] = array[first[u] + i * stride]


@njit(cache=True, nogil=True)
def _scatter(lines, first, stride, run, k, L, array):
    if run > 1:
        for g in range(0, L, run):
            for i in range(k):
                row = array[first[g] + i * stride : first[g] + i * stride + run]
                line = lines[i * L + g : i * L + g + run]
                for u in range(run):
                    row[u] = line[u]
        return
    for u in range(L):
        for i in range(k):
            array[first[u] + i * stride] = lines[i * L + u]


@njit(cache=True, nogil=True)
def _find_quotas(lines, k, L, average, remainder, noise):
    """Set average and remainder of every line's total, and what is noise in its flows."""
    total = average
    error = noise
    total[:] = 0
    error[:] = 0
    for i in range(k):
        row = lines[i * L : i * L + L]
        for u in range(L):
            _add(total, error, u, row[u])
    for u in range(L):
        whole = _sum(total, error, u)
        noise[u] = _rounding(whole)
        average[u], remainder[u] = _quotas(whole, k)


@njit(cache=True, nogil=True)
def _chain_flows(lines, k, L, flows, average, remainder, surplus, error):
    """Set flows (k, L), link i from node i to i + 1, and 0 on the wrap link."""
    T = lines.dtype.type
    flows[(k - 1) * L : k * L] = 0
    surplus[:] = 0
    error[:] = 0
    for i in range(k - 1):
        row = lines[i * L : i * L + L]
        flow = flows[i * L : i * L + L]
        for u in range(L):
            more = T(T(row[u] - average[u]) - T(i < remainder[u]))
            _add(surplus, error, u, more)
            flow[u] = _sum(surplus, error, u)


@njit(cache=True, nogil=True)
def _silence(flows, k, L, noise):
    """Set flows that are mere rounding to 0."""
    for i in range(k):
        flow = flows[i * L : i * L + L]
        for u in range(L):
            flow[u] = flow[u] if abs(flow[u]) > noise[u] else 0


def _middle(flows, k, L, scratch, lower, upper):
    """Set the two middle values of each of L lanes of k values."""
    for u in range(L):
        lane = sorted(flows[u : k * L : L])
        lower[u] = lane[(k - 1) // 2]
        upper[u] = lane[k // 2]


@njit(cache=True, nogil=True)
def _middle_selected(flows, k, L, lower, upper):
    for u in range(L):
        lane = np.partition(flows[u : k * L : L], (k - 1) // 2)
        lower[u] = lane[(k - 1) // 2]
        upper[u] = lower[u] if k % 2 else lane[k // 2 :].min()


@njit(cache=True, nogil=True)
def _middle_bisected(flows, k, L, scratch, lower, upper):
    """Halve the range of all lanes at once: 30 passes in vectors beat one selection a lane."""
    T = flows.dtype.type
    count = scratch[:L]
    top = upper
    lower[:] = flows[:L]
    top[:] = flows[:L]
    for i in range(1, k):
        flow = flows[i * L : i * L + L]
        for u in range(L):
            lower[u] = min(lower[u], flow[u])
            top[u] = max(top[u], flow[u])
    halving = True
    while halving:
        # The flows of a line differ by less than its total, which fits.
        count[:] = 0
        middle = scratch[L : 2 * L]
        for u in range(L):
            middle[u] = T(lower[u] + T(T(top[u] - lower[u]) >> T(1)))
        for i in range(k):
            flow = flows[i * L : i * L + L]
            for u in range(L):
                count[u] += T(flow[u] <= middle[u])
        halving = False
        for u in range(L):
            enough = count[u] > (k - 1) // 2
            top[u] = middle[u] if enough else top[u]
            lower[u] = lower[u] if enough else min(T(middle[u] + 1), top[u])
            halving |= lower[u] < top[u]
    count[:] = 0
    above = scratch[L : 2 * L]
    above[:] = np.iinfo(T).max
    for i in range(k):
        flow = flows[i * L : i * L + L]
        for u in range(L):
            count[u] += T(flow[u] <= lower[u])
            above[u] = min(above[u], flow[u] if flow[u] > lower[u] else above[u])
    for u in range(L):
        upper[u] = lower[u] if count[u] > k // 2 else above[u]


@overload(_middle)
def _choose_middle(flows, k, L, scratch, lower, upper):
    if isinstance(flows.dtype, types.Float):
        return lambda flows, k, L, scratch, lower, upper: _middle_selected(
            flows, k, L, lower, upper
        )

    def middle(flows, k, L, scratch, lower, upper):
        if L < 8:
            _middle_selected(flows, k, L, lower, upper)
        else:
            _middle_bisected(flows, k, L, scratch, lower, upper)

    return middle


@njit(cache=True, nogil=True)
def _ring_shift(flows, k, L, sorter, scratch, lower, upper):
    """Set ``lower`` to x_m, what the ring subtracts from each of its flows (Fig. 8, step 1).

    The paper's rule in terms of the two middle flows: the upper one if more than half the
    flows are positive, that is if the lower one is; the lower one if more than half are
    negative; else 0.
    """
    if sorter.shape[0] > 0:
        scratch[: k * L] = flows[: k * L]
        for c in range(sorter.shape[0]):
            a = scratch[sorter[c, 0] * L : sorter[c, 0] * L + L]
            b = scratch[sorter[c, 1] * L : sorter[c, 1] * L + L]
            for u in range(L):
                least = min(a[u], b[u])
                b[u] = max(a[u], b[u])
                a[u] = least
        lower[:] = scratch[(k - 1) // 2 * L : (k - 1) // 2 * L + L]
        upper[:] = scratch[k // 2 * L : k // 2 * L + L]
    else:
        _middle(flows, k, L, scratch, lower, upper)
    for u in range(L):
        lower[u] = upper[u] if lower[u] > 0 else (lower[u] if upper[u] < 0 else 0)


@njit(cache=True, nogil=True)
def _add_units_plainly(flows, k, L, units, over):
    T = flows.dtype.type
    for i in range(k):
        flow = flows[i * L : i * L + L]
        for u in range(L):
            units[u] = T(units[u] + T(abs(flow[u])))


@njit(cache=True, nogil=True)
def _add_units_checked(flows, k, L, units, over):
    for i in range(k):
        flow = flows[i * L : i * L + L]
        for u in range(L):
            sent = abs(flow[u])
            over[u] |= sent > LARGEST - units[u]
            units[u] = min(units[u], LARGEST - sent) + sent


def _add_units(flows, k, L, units, over):
    """Add up the units moved by each line; ``over`` tells where they pass int64.

    With 32-bit lanes the caller has seen to it that ``k`` times the total fits.
    """
    add = _add_units_checked if flows.dtype == np.int64 else _add_units_plainly
    add(flows, k, L, units, over)


@overload(_add_units)
def _choose_add_units(flows, k, L, units, over):
    if flows.dtype == types.int64:
        return lambda flows, k, L, units, over: _add_units_checked(flows, k, L, units, over)
    return lambda flows, k, L, units, over: _add_units_plainly(flows, k, L, units, over)


def _too_many(moved, units):
    """Tell whether a sum of units passes int64; sums of floats never do."""
    return not isinstance(units, np.floating) and int(moved) + int(units) > LARGEST


@overload(_too_many)
def _choose_too_many(moved, units):
    if isinstance(units, types.Float):
        return lambda moved, units: False
    return lambda moved, units: units > LARGEST - moved


@njit(cache=True, nogil=True)
def _receive_first_rounds(flows, k, L, ring, rising, falling, rounds):
    """Set the rounds of receive-before-send: the longest run of flows in one direction.

    A node passes on what comes along its line in the round after, so a run of m flows of one
    sign takes m rounds, and runs do not hinder each other. On a ring a run may go on over the
    wrap link; no ring has all its flows in one direction.
    """
    T = rounds.dtype.type
    rising[:] = 0
    falling[:] = 0
    rounds[:] = 0
    for i in range(2 * k if ring else k):
        flow = flows[i % k * L : i % k * L + L]
        longest = T(0)
        for u in range(L):
            rising[u] = T(rising[u] + 1) if flow[u] > 0 else T(0)
            falling[u] = T(falling[u] + 1) if flow[u] < 0 else T(0)
            run = max(rising[u], falling[u])
            rounds[u] = max(rounds[u], run)
            longest = max(longest, run)
        # The second turn only ends the runs that came over the wrap link.
        if i >= k and longest <= i - k + 1:
            break


@njit(cache=True, nogil=True)
def _send_first_rounds(lines, kept, pending, arrived, k, L, slack, sending, rounds, changed):
    """Simulate send-before-receive (Fig. 6): a link's whole flow once a node holds as much.

    A node serves its lower link before its upper one, and gives away foreign units first.
    ``lines`` (loads) and ``pending`` (flows) are used up, ``kept`` is what never left. Only rows
    to which something has come are looked at again: ``changed`` (3, k) lists them, now and
    next, and says in which round a row was last listed.
    """
    T = lines.dtype.type
    rounds[:] = 0
    arrived[: k * L] = 0
    now, following, listed = changed[0], changed[1], changed[2]
    for i in range(k):
        now[i] = i
        listed[i] = 0
    count = k
    made = 0
    while count > 0:
        made += 1
        sending[:] = False
        reached = 0
        for c in range(count):
            i = now[c]
            below = i - 1 if i > 0 else k - 1
            above = i + 1 if i < k - 1 else 0
            goes_down = False
            goes_up = False
            for u in range(L):
                here = i * L + u
                held = lines[here]
                down = T(-pending[below * L + u])
                if down > 0 and held + slack[u] >= down:
                    held = T(held - down)
                    arrived[below * L + u] += down
                    pending[below * L + u] = 0
                    sending[u] = True
                    goes_down = True
                up = pending[here]
                if up > 0 and held + slack[u] >= up:
                    held = T(held - up)
                    arrived[above * L + u] += up
                    pending[here] = 0
                    sending[u] = True
                    goes_up = True
                lines[here] = held
                kept[here] = min(kept[here], max(held, T(0)))
            for node, goes in ((below, goes_down), (above, goes_up)):
                if goes and listed[node] < made:
                    listed[node] = made
                    following[reached] = node
                    reached += 1
        for c in range(reached):
            row = lines[following[c] * L : following[c] * L + L]
            more = arrived[following[c] * L : following[c] * L + L]
            for u in range(L):
                row[u] += more[u]
                more[u] = 0
        for u in range(L):
            rounds[u] += sending[u]
        now, following = following, now
        count = reached


@njit(cache=True, nogil=True)
def _set_quotas(average, remainder, k, L, lines):
    T = lines.dtype.type
    for i in range(k):
        row = lines[i * L : i * L + L]
        for u in range(L):
            row[u] = T(average[u] + T(i < remainder[u]))


@njit(cache=True, nogil=True)
def _keep_least(kept, lines, size):
    for i in range(size):
        kept[i] = min(kept[i], lines[i])


@njit(cache=True, nogil=True)
def _axis_loads(tile, outer, k, stride):
    """Balance all lines of one axis of a tile (outer, k, stride) in place, loads alone.

    No flow is needed for that: one pass adds up the lines, a second writes the quotas.
    """
    T = tile.dtype.type
    width = min(stride, LINES)
    total = np.empty(width, tile.dtype)
    error = np.empty(width, tile.dtype)
    average = np.empty(width, tile.dtype)
    remainder = np.empty(width, tile.dtype)
    for o in range(outer):
        if stride == 1:
            _line_loads(tile[o * k : o * k + k])
            continue
        for start in range(0, stride, width):
            L = min(width, stride - start)
            first = o * k * stride + start
            total[:] = 0
            error[:] = 0
            for i in range(k):
                row = tile[first + i * stride : first + i * stride + L]
                for u in range(L):
                    _add(total, error, u, row[u])
            for u in range(L):
                average[u], remainder[u] = _quotas(_sum(total, error, u), k)
            for i in range(k):
                row = tile[first + i * stride : first + i * stride + L]
                for u in range(L):
                    row[u] = T(average[u] + T(i < remainder[u]))


def _line_total(line):
    """Return the total of a line that lies together, of floats with its rounding made good."""
    sums, errors = np.zeros(1, line.dtype), np.zeros(1, line.dtype)
    for i in range(line.size):
        _add(sums, errors, 0, line[i])
    return _sum(sums, errors, 0)


@overload(_line_total)
def _choose_line_total(line):
    T = line.dtype
    if isinstance(T, types.Float):
        return _line_total

    def integer_total(line):
        total = T(0)
        for i in range(line.size):
            total = T(total + line[i])
        return total

    return integer_total


@njit(cache=True, nogil=True)
def _line_loads(line):
    """Balance one line that lies together."""
    T = line.dtype.type
    average, remainder = _quotas(_line_total(line), line.size)
    more = int(remainder)
    line[:more] = T(average + T(1))
    line[more:] = average


@njit(cache=True, nogil=True)
def _axis(tile, kept, flows, outer, k, inner, W, ring, sorter, send_first, moved, rounds, over):
    """Balance all lines of one axis of a tile (outer, k, inner, W) in place, and measure.

    ``flows`` is None where flows are not wanted. ``moved``, ``rounds`` and ``over`` (W,) take
    each trial's units, rounds and overflow.
    """
    T = tile.dtype.type
    stride = inner * W
    in_rows = W == 1 and inner >= TRANSPOSED
    count = outer * stride
    lanes = min(count, max(W, LINES // W * W))
    lines = np.empty(k * lanes, tile.dtype)
    found = np.empty(k * lanes, tile.dtype)
    scratch = np.empty(k * lanes, tile.dtype)
    lines_kept = np.empty(k * lanes, tile.dtype)
    average = np.empty(lanes, tile.dtype)
    remainder = np.empty(lanes, tile.dtype)
    noise = np.empty(lanes, tile.dtype)
    lower = np.empty(lanes, tile.dtype)
    upper = np.empty(lanes, tile.dtype)
    units = np.empty(lanes, tile.dtype)
    over_units = np.zeros(lanes, np.bool_)
    sending = np.empty(lanes, np.bool_)
    rising = np.empty(lanes, np.int32)
    falling = np.empty(lanes, np.int32)
    taken = np.empty(lanes, np.int32)
    changed = np.empty((3, k if send_first else 0), np.int64)
    first = np.empty(lanes, np.int64)
    line = 0
    while line < count:
        L = min(lanes, count - line)
        if in_rows:
            L = min(L, stride - line % stride)
        run = L if in_rows else W
        for u in range(L):
            first[u] = (line + u) // stride * k * stride + (line + u) % stride
        _gather(tile, first, stride, run, k, L, lines)
        _find_quotas(lines, k, L, average[:L], remainder[:L], noise[:L])
        _chain_flows(lines, k, L, found, average[:L], remainder[:L], lower[:L], upper[:L])
        if ring:
            _ring_shift(found, k, L, sorter, scratch, lower[:L], upper[:L])
            for i in range(k):
                flow = found[i * L : i * L + L]
                for u in range(L):
                    flow[u] = T(flow[u] - lower[u])
        if noise[:L].any():
            _silence(found, k, L, noise)
        if flows is not None:
            _scatter(found, first, stride, run, k, L, flows)
        units[:] = 0
        _add_units(found, k, L, units, over_units)
        _gather(kept, first, stride, run, k, L, lines_kept)
        if send_first:
            _send_first_rounds(
                lines, lines_kept, found, scratch, k, L, noise, sending[:L], taken[:L],
                changed,
            )  # fmt: skip
            _set_quotas(average, remainder, k, L, lines)
        else:
            _receive_first_rounds(found, k, L, ring, rising[:L], falling[:L], taken[:L])
            _set_quotas(average, remainder, k, L, lines)
            _keep_least(lines_kept, lines, k * L)
        _scatter(lines_kept, first, stride, run, k, L, kept)
        for u in range(L):
            trial = u % W
            rounds[trial] = max(rounds[trial], np.int64(taken[u]))
            over[trial] |= over_units[u] or _too_many(moved[trial], units[u])
            moved[trial] += units[u] if not over[trial] else T(0)
        _scatter(lines, first, stride, run, k, L, tile)
        line += L


@njit(cache=True, nogil=True)
def dde(tiles, kept, flows, shape, wrap, axes, sorters, starts, send_first, moved, rounds, over):
    """Balance every network of ``tiles`` (K, N, W) in place.

    ``tiles`` are int32, int64 or float64, in which every total fits, for int32 also the longest
    axis times every total. ``kept`` (K, N, W): units that never left, updated; None where only
    loads are wanted. ``flows`` (K, N, W): flow from each node to its successor, for a single
    axis; or None. All these are of one dtype. ``shape``, ``wrap`` (d,); ``axes`` (S,) in order.
    ``sorters`` (C, 2) are the comparators of each axis' ring, rows ``starts[a]`` to
    ``starts[a + 1]``; none where the ring is to be selected from. ``moved`` and ``rounds``
    (B, S) receive units and rounds of each axis, ``over`` (B,) whether the units pass int64.
    """
    K, N, W = tiles.shape
    units = np.empty(W, moved.dtype)
    taken = np.empty(W, np.int64)
    passed = np.empty(W, np.bool_)
    for t in range(K):
        first = t * W
        trials = min(W, over.size - first)
        passed[:] = False
        for s in range(axes.size):
            a = axes[s]
            k = shape[a]
            outer = 1
            for before in range(a):
                outer *= shape[before]
            units[:] = 0
            taken[:] = 0
            if kept is None:
                _axis_loads(tiles[t].reshape(-1), outer, k, N // (outer * k) * W)
                continue
            _axis(
                tiles[t].reshape(-1), kept[t].reshape(-1),
                None if flows is None else flows[t].reshape(-1), outer, k, N // (outer * k), W,
                wrap[a] and k > 2, sorters[starts[a] : starts[a + 1]], send_first, units, taken,
                passed,
            )  # fmt: skip
            moved[first : first + trials, s] = units[:trials]
            rounds[first : first + trials, s] = taken[:trials]
        over[first : first + trials] = passed[:trials]
