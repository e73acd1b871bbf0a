"""A placement made more even: copies exchanged between GPUs, and slots given to other experts.

The fullest GPU of a layer is relieved again and again, until its load is at most the target or
nothing relieves it. An exchange swaps one of its copies for a lighter one of another GPU of the
node. Where none helps, one slot goes to another expert: either the fullest GPU gives a copy up, or
a slot elsewhere gets a further copy of an expert on the fullest GPU. Each expert keeps a copy.

``L`` layers, ``E`` experts, ``R`` slots, ``G`` GPUs of ``S`` slots each, ``P`` GPUs of a node. In
``items`` (G, S) the experts of each GPU stand by falling load of a copy, of equal loads the lower
expert first; ``size`` (G, S) are these loads.
"""

import numpy as np
from numba import types

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.tracing import cond, fori, traced, while_loop
from ..shared.vectors import absolute, maximum, minimum, select

# Relief of a smaller part of the load is rounding.
LEAST_RELIEF = 1e-12


@long_kernel
def refine(loads, nodes, gpus, target, effort, moves, previous, phy2log, logcnt, peak):
    """Lower the largest load of a GPU in each layer, in place.

    ``loads`` (L, E) float64 are of experts; ``phy2log`` (L, R) and ``logcnt`` (L, E) are the
    placement to begin with, and the result; ``target`` (L,) are the loads to reach. ``effort`` is
    the number of pairs of GPUs that are compared in a layer at most. With ``moves`` of 0 or more,
    so many experts may come to GPUs that do not hold them in ``previous`` (L, R). ``peak`` (L,)
    receives the largest load of a GPU.
    """
    L, E = loads.shape
    R = phy2log.shape[1]
    S = R // gpus
    P = gpus // nodes
    is_limited = moves >= 0
    items = np.empty((gpus, S), np.int64)
    size = np.empty((gpus, S), np.float64)
    load = np.empty(gpus, np.float64)
    order = np.empty(gpus, np.int64)
    node_of = np.empty(E, np.int64)
    # Of one copy now, and of one copy after the next change of their number.
    share = np.empty(E, np.float64)
    smaller = np.empty(E, np.float64)
    rise = np.empty(E, np.float64)
    highest = np.empty(E, np.float64)
    second = np.empty(E, np.float64)
    highest_gpu = np.empty(E, np.int64)
    # How many copies of an expert a GPU holds, and whether it held one before (0 or 1): for the
    # limit on moves alone.
    rows = gpus if is_limited else 0
    holds = np.empty((rows, E), np.int64)
    held = np.empty((rows, E), np.int64)
    meter = new_meter()
    for layer in range(L):
        for e in range(E):
            _spread(loads[layer, e], logcnt[layer, e], e, share, smaller, rise)
        for g in range(gpus):
            order[g] = g
            for k in range(S):
                items[g, k] = phy2log[layer, g * S + k]
                node_of[items[g, k]] = g // P
            load[g] = _arrange(items, size, g, share)
        if is_limited:
            for g in range(gpus):
                for e in range(E):
                    holds[g, e] = 0
                    held[g, e] = 0
                for k in range(S):
                    holds[g, items[g, k]] += 1
                    held[g, previous[layer, g * S + k]] = 1
        transfers = 0
        tries = 0
        _settle(order, load)
        while tries < effort and not interrupted(meter, 4 * R):
            h = order[gpus - 1]
            most = load[h]
            if most <= target[layer]:
                break
            best = most - most * LEAST_RELIEF
            enough = max(target[layer], most - (most - load[order[0]]) / 4)
            other = -1
            own_k = 0
            other_k = 0
            for at in range(gpus - 1):
                g = order[at]
                half = (most - load[g]) / 2
                # Not even halves would do, nor will those of fuller GPUs.
                if best <= enough or most - half >= best:
                    break
                if g // P != h // P:
                    continue
                tries += 1
                k, j, off = _closest(size, h, g, half)
                if off < half and most - half + off < best:
                    more = 0
                    if is_limited:
                        more = _transfers(holds, held, h, items[h, k], items[g, j])
                        more += _transfers(holds, held, g, items[g, j], items[h, k])
                    if not is_limited or transfers + more <= moves:
                        best = most - half + off
                        other = g
                        own_k = k
                        other_k = j
            if other >= 0:
                e = items[h, own_k]
                f = items[other, other_k]
                if is_limited:
                    transfers += _transfers(holds, held, h, e, f)
                    transfers += _transfers(holds, held, other, f, e)
                    holds[h, e] -= 1
                    holds[h, f] += 1
                    holds[other, f] -= 1
                    holds[other, e] += 1
                items[h, own_k] = f
                items[other, other_k] = e
                load[h] = _arrange(items, size, h, share)
                load[other] = _arrange(items, size, other, share)
                _settle(order, load)
                continue
            tries += P
            other, other_k, f = _replacement(
                items, load, logcnt, layer, h, P, best, target[layer], node_of, share, smaller,
                rise, highest, second, highest_gpu, is_limited, moves - transfers, holds, held,
            )  # fmt: skip
            if other < 0:
                break
            e = items[other, other_k]
            if is_limited:
                transfers += _transfers(holds, held, other, e, f)
                holds[other, e] -= 1
                holds[other, f] += 1
            items[other, other_k] = f
            logcnt[layer, e] -= 1
            logcnt[layer, f] += 1
            _spread(loads[layer, e], logcnt[layer, e], e, share, smaller, rise)
            _spread(loads[layer, f], logcnt[layer, f], f, share, smaller, rise)
            for g in range(gpus):
                load[g] = _arrange(items, size, g, share)
            _settle(order, load)
        peak[layer] = load[order[gpus - 1]]
        for g in range(gpus):
            for k in range(S):
                phy2log[layer, g * S + k] = items[g, k]


@traced()
def _spread(load, count, e, share, smaller, rise):
    """Write what a copy of an expert has now, with one more copy, and more with one less."""
    own, one_less = load / count.astype(np.float64), load / (count - 1).astype(np.float64)
    share[e] = own
    smaller[e] = load / (count + 1).astype(np.float64)
    rise[e] = select(count > 1, one_less - own, load * 0)


@traced(returns=types.float64)
def _arrange(items, size, g, share):
    """Sort the experts of a GPU by falling load of a copy, and return the sum of these loads."""
    slots = items.shape[1]

    def insert(k):
        e = items[g, k] + 0
        value = share[e] + 0

        def follows(at):
            before = maximum(at - 1, 0)
            other = size[g, before] + 0
            is_equal = (other == value) & (items[g, before] > e)
            return (at > 0) & ((other < value) | is_equal)

        def move_up(at):
            items[g, at] = items[g, at - 1]
            size[g, at] = size[g, at - 1]
            return [at - 1]

        (at,) = while_loop(follows, move_up, k)
        items[g, at] = e
        size[g, at] = value

    fori(slots, insert)
    (total,) = fori(slots, lambda k, total: [total + size[g, k]], share[0] * 0)
    return total


@traced()
def _settle(order, load):
    """Sort GPUs by rising load, of equal loads the lower first; they are nearly sorted."""

    def insert(i):
        g = order[i] + 0
        value = load[g] + 0

        def follows(at):
            before = order[maximum(at - 1, 0)] + 0
            other = load[before] + 0
            return (at > 0) & ((other > value) | ((other == value) & (before > g)))

        def move_up(at):
            order[at] = order[at - 1]
            return [at - 1]

        (at,) = while_loop(follows, move_up, i)
        order[at] = g

    fori(order.shape[0], insert)


@traced(returns=types.Tuple((types.int64, types.int64, types.float64)))
def _closest(size, h, g, half):
    """Return places of copies of two GPUs whose loads differ by nearly ``half``, and how nearly."""
    S = size.shape[1]

    def compare(k, j, own, other, off):
        distance = size[h, k] - size[g, j] - half
        is_closer = absolute(distance) < off
        off = select(is_closer, absolute(distance), off)
        own, other = select(is_closer, k, own), select(is_closer, j, other)
        # Both fall: the one that is too far down waits for the other one.
        step = (distance > 0).astype(np.int64)
        return k + step, j + 1 - step, own, other, off

    zero = S * 0
    _, _, own, other, off = while_loop(
        lambda k, j, *_: (k < S) & (j < S), compare, zero, zero, zero, zero, half * 0 + np.inf
    )
    return own, other, off


@traced(returns=types.int64)
def _transfers(holds, held, g, leaving, coming):
    """Return by how many the transfers grow where a GPU gets one expert for another."""
    return _growth(holds, held, g, leaving, coming)


def _growth(holds, held, g, leaving, coming):
    """Return the same inside another traced function."""
    differs = leaving != coming
    arrives = differs & (held[g, coming] == 0) & (holds[g, coming] == 0)
    is_undone = differs & (held[g, leaving] == 0) & (holds[g, leaving] == 1)
    return arrives.astype(np.int64) - is_undone.astype(np.int64)


@traced(returns=types.UniTuple(types.int64, 3))
def _replacement(
    items, load, logcnt, layer, h, P, best, target, node_of, share, smaller, rise,
    highest, second, highest_gpu, is_limited, remaining, holds, held,
):  # fmt: skip
    """Return the GPU, the place and the new expert of the slot whose change relieves GPU h most.

    The GPU is -1 if none makes the loads that change less than ``best``. Loads that fall by the
    change elsewhere are counted as they are.
    """
    S, E = items.shape[1], share.shape[0]
    node = h // P
    first_gpu = node * P

    def after_copies(g, k, e, after, change):
        """Return the place behind the copies of e from k on, and a load changed by each."""

        def is_copy(at, _):
            return (at < S) & (items[g, minimum(at, S - 1)] == e)

        return while_loop(is_copy, lambda at, after: [at + 1, after + change], k, after)

    def each_expert(g, body, *carried):
        """Run ``body(k, e, *carried)`` for the first place k of each expert e on a GPU."""

        def run(k, *carried):
            e = items[g, k] + 0
            behind, _ = after_copies(g, k, e, share[e] + 0, share[e] * 0)
            return behind, *(body(k, e, *carried) or ())

        return while_loop(lambda k, *_: k < S, run, h * 0, *carried)[1:]

    def is_allowed(g, leaving, coming):
        def few():
            return [_growth(holds, held, g, leaving, coming) <= remaining]

        (result,) = cond(is_limited, few, lambda: [~is_limited])
        return result

    def elsewhere(e, g):
        return select(highest_gpu[e] == g, second[e], highest[e])

    # The two largest loads of GPUs that hold an expert, after it has lost a copy elsewhere.
    def clear(e):
        highest[e] = -1
        second[e] = -1
        highest_gpu[e] = -1

    fori(E, clear)

    def compare(g):
        def compare_expert(k, e):
            _, after = after_copies(g, k, e, load[g] + 0, rise[e])
            most, is_more = highest[e] + 0, after > highest[e]
            second[e] = maximum(select(is_more, most, after), second[e])
            highest[e] = maximum(after, most)
            highest_gpu[e] = select(is_more, g, highest_gpu[e])

        each_expert(g, compare_expert)

    fori(first_gpu + P, compare, start=first_gpu)

    # The fullest GPU gives up a copy: for the largest other one that fits, else the least.
    def give_up(k, e, *result):
        _, after = after_copies(h, k + 1, e, load[h] - share[e], rise[e])
        other = elsewhere(e, h)

        def choose(f, fitting, least):
            there = (node_of[f] == node) & (f != e)

            def look():
                allowed, size = is_allowed(h, e, f), smaller[f] + 0
                is_larger = (fitting < 0) | (size > smaller[maximum(fitting, 0)])
                is_least = (least < 0) | (size < smaller[maximum(least, 0)])
                is_fitting = allowed & (after + size <= target) & is_larger
                return select(is_fitting, f, fitting), select(allowed & is_least, f, least)

            return cond(there, look, lambda: (fitting, least))

        def replace():
            fitting, least = fori(E, choose, h * 0 - 1, h * 0 - 1)
            f = select(fitting >= 0, fitting, least)
            peak = maximum(after + smaller[maximum(f, 0)], other)
            return better((f >= 0) & (peak < result[0]), (peak, h, k, f), result)

        is_possible = (logcnt[layer, e] > 1) & (maximum(after, other) < result[0])
        return cond(is_possible, replace, lambda: result)

    def better(condition, new, old):
        return [select(condition, a, b) for a, b in zip(new, old, strict=True)]

    # An expert of the fullest GPU gets a further copy elsewhere, in place of one of several.
    def copy_elsewhere(k, f, *result):
        _, after = after_copies(h, k, f, load[h] + 0, smaller[f] - share[f])

        def look_at(g, *result):
            most = load[g] + smaller[f] - share[items[g, 0]]

            def replace(j, e, *result):
                _, there = after_copies(g, j + 1, e, load[g] + smaller[f] - share[e], rise[e])
                peak = maximum(maximum(after, there), elsewhere(e, g))
                is_possible = (logcnt[layer, e] > 1) & (e != f) & (peak < result[0])

                def update():
                    return better(is_allowed(g, e, f), (peak, g, j, f), result)

                return cond(is_possible, update, lambda: result)

            return cond(
                (g != h) & (most < result[0]),
                lambda: each_expert(g, replace, *result),
                lambda: result,
            )

        return cond(
            after < result[0],
            lambda: fori(first_gpu + P, look_at, *result, start=first_gpu),
            lambda: result,
        )

    result = each_expert(h, give_up, best, h * 0 - 1, h * 0, h * 0)
    result = each_expert(h, copy_elsewhere, *result)
    return result[1:]
