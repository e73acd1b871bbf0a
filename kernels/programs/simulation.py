"""Branch and bound on a simulated hypercube: every processor makes one test a unit (More-Wu 4).

A sequence is a pattern of n bits, a value for each variable. It has R = m + 1 tests: test 0
compares its cost with the incumbent's, test r evaluates row r. Each of P processors, the nodes, has
a queue of items; an item is the tests ``low .. high - 1`` of a sequence. Items are numbers:

    number      0 .. P - 1        P .. P + 2**n - 1        from there on
    what it is  end of a queue    a sequence's first item  an item split off, or a spare one

``pool`` is seven int64 arrays (items,): sequence, low, high, holder (the processor), before and
after (neighbours in the queue), chain. A queue is a ring: its end, its first item, .., its last
item, its end again; an item in no queue is linked to itself. The chain leads from a sequence's
first item through all items split off it to NIL, so that one failed test strikes all of them out of
their queues.
"""

import numpy as np
from numba import types

from ..shared.figures import total_and_extremes
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.sums import sum_of_subset, tabulate_subset_sums
from ..shared.tracing import cond, fori, traced, while_loop
from ..shared.vectors import maximum, minimum, select

# Kinds of the pairs (kind, u, v) of a plan of fault-tolerant DEM (More-Wu section 2.2): u and v
# exchange, u sends v its pegs or v registers its holes, pegs are levelled, v pays u its holes.
EXCHANGE, REGISTER, SHIFT, REPAY = 0, 1, 2, 3
# When to balance: never; in every ``period``-th unit, if a processor is idle; in every unit; in
# every ``period``-th unit.
NEVER, IDLE, ALWAYS, PERIOD = 0, 1, 2, 3
NIL = -1


def _append(pool, p, item):
    """Put an item at the tail of processor p's queue."""
    _, _, _, holder, before, after, _ = pool
    last = before[p]
    holder[item], before[item], after[item] = p, last, p
    after[last] = before[p] = item


def _unlink(pool, item):
    """Take an item out of its queue, if it is in one, and link it to itself."""
    _, _, _, _, before, after, _ = pool
    previous, following = before[item], after[item]
    after[previous], before[following] = following, previous
    before[item] = after[item] = item


@traced(returns=types.int64)
def _begin(pool, load, work, problem, spare, size):
    """Begin a program of ``size`` sequences: empty queues, no tests made; return the spare items.

    ``spare`` becomes a stack of all items that are none of the processors' and sequences' own.
    """
    _, _, _, _, before, after, _ = pool
    first = load.shape[0] + size

    def empty(p):
        before[p] = after[p] = p
        load[p] = work[problem, p] = 0

    def fill(item):
        spare[item - first] = item

    fori(load.shape[0], empty)
    fori(spare.shape[0], fill, start=first)
    return spare.shape[0] - first


@traced()
def _hand_out(pool, load, passed, x, tests, p):
    """Put all tests of sequence x at the tail of processor p's queue, as one item."""
    sequence, low, high, _, _, _, chain = pool
    item = load.shape[0] + x
    sequence[item], low[item], high[item], chain[item] = x, 0, tests, NIL
    passed[x] = 0
    load[p] = load[p] + tests
    _append(pool, p, item)


def _send_part(pool, item, tests, part, target, P):
    """Split the last ``tests`` off an item, as the item ``part``, and send them alone."""
    sequence, low, high, _, _, _, chain = pool
    x, end = sequence[item], high[item]
    first = x + P
    high[item] = end - tests
    sequence[part], low[part], high[part] = x, end - tests, end
    chain[part], chain[first] = chain[first], part
    _append(pool, target, part)


def _amount(kind, u, v, load, pegs, holes):
    """Return (source, target, tests to send) for one pair; load, pegs, holes (P,) are in tests."""

    def exchange():
        u_sends = load[u] >= load[v]
        source, target = select(u_sends, u, v), select(u_sends, v, u)
        return source, target, (load[source] - load[target]) >> 1

    def register():
        difference = load[u] - load[v]
        pegs[v] = difference
        holes[v] = maximum(-difference, 0)
        return u, v, maximum(difference, 0)

    def shift():
        u_sends = pegs[u] >= pegs[v]
        source, target = select(u_sends, u, v), select(u_sends, v, u)
        half = (pegs[source] - pegs[target]) >> 1
        return source, target, minimum(half, load[source] - holes[source])

    def repay():
        return v, u, holes[v]

    def others():
        return cond(kind == SHIFT, shift, repay)

    return cond(kind == EXCHANGE, exchange, lambda: cond(kind == REGISTER, register, others))


@traced(returns=types.UniTuple(types.int64, 2))
def _balance(pool, spare, spares, pairs, by_row, load, traffic, pegs, holes):
    """Carry the plan's ``pairs`` (K, 3) out; return (spare items, tests moved over links).

    Items go from the tail of one queue to the tail of another, and the last one is split if
    ``by_row``; if not, fewer tests may move than a pair asks for, and pegs follow what moved.
    ``spare`` is a stack of ``spares`` items; load, traffic, pegs, holes (P,) are in tests.
    """
    _, low, high, _, before, _, _ = pool

    def carry_out(k, spares, moved):
        kind = pairs[k, 0]
        source, target, amount = _amount(kind, pairs[k, 1], pairs[k, 2], load, pegs, holes)

        def send(remaining, spares, _):
            item = before[source]
            tests = high[item] - low[item]

            def send_whole():
                _unlink(pool, item)
                _append(pool, target, item)
                return remaining - tests, spares

            def split():
                _send_part(pool, item, remaining, spare[spares - 1], target, load.shape[0])
                return remaining * 0, spares - 1

            def send_some():
                return cond(by_row, split, lambda: (remaining, spares))

            is_whole = tests <= remaining
            return *cond(is_whole, send_whole, send_some), is_whole

        remaining, spares, _ = while_loop(
            lambda remaining, _, going: going & (remaining > 0) & (before[source] != source),
            send, amount, spares, amount > 0,
        )  # fmt: skip
        sent = amount - remaining
        for sums, change in ((load, (-sent, sent)), (traffic, (sent, sent))):
            sums[source] = sums[source] + change[0]
            sums[target] = sums[target] + change[1]

        def set_pegs():
            pegs[target] = sent

        def shift_pegs():
            pegs[source] = pegs[source] - sent
            pegs[target] = pegs[target] + sent

        cond((kind == REGISTER) & (amount > 0), set_pegs)
        cond(kind == SHIFT, shift_pegs)
        return spares, moved + sent

    return fori(pairs.shape[0], carry_out, spares, 0)


@traced(returns=types.UniTuple(types.int64, 3))
def _make_tests(pool, load, passed, ended, work, problem, tables, lower, b, best, argmin):
    """Let every processor with an item make a test; return (sequences that ended, best, argmin).

    ``ended`` (P,) receives these sequences: they failed, or passed all tests. ``best`` and
    ``argmin`` are the incumbent's cost and number. What is found out is known to the other
    processors only after this unit.
    """
    sequence, low, high, _, _, after, _ = pool
    R = tables.shape[1]

    def test(p, count, next_best, next_argmin):
        item = after[p]

        def make():
            x, row = sequence[item], low[item]
            cost = sum_of_subset(tables, 0, x, lower)
            (fails,) = cond(
                row > 0,
                lambda: [sum_of_subset(tables, row, x, lower) < b[problem, row - 1]],
                lambda: [(argmin >= 0) & (cost >= best)],
            )
            work[problem, p] = work[problem, p] + 1
            ended[count] = x

            def succeed():
                low[item] = row + 1
                load[p] = load[p] - 1
                passed[x] = passed[x] + 1
                cond(row + 1 == high[item], lambda: _unlink(pool, item))
                all_passed = passed[x] == R
                is_first = (cost == next_best) & (x < next_argmin)
                is_better = (next_argmin < 0) | (cost < next_best) | is_first
                better = all_passed & is_better
                return (
                    count + all_passed.astype(np.int64),
                    select(better, cost, next_best),
                    select(better, x, next_argmin),
                )

            return cond(fails, lambda: (count + 1, next_best, next_argmin), succeed)

        return cond(item == p, lambda: (count, next_best, next_argmin), make)

    return fori(load.shape[0], test, 0, best, argmin)


@traced(returns=types.int64)
def _strike_out(pool, load, ended, count, spare, spares):
    """Take all items of ``count`` sequences out of their queues; return how many are spare then."""
    _, low, high, holder, _, _, chain = pool

    def strike(item):
        following, p = chain[item], holder[item]
        load[p] = load[p] - (high[item] - low[item])
        low[item] = high[item]
        chain[item] = NIL
        _unlink(pool, item)
        return following

    def strike_part(part, spares):
        spare[spares] = part
        return strike(part), spares + 1

    def strike_sequence(k, spares):
        part = strike(load.shape[0] + ended[k])
        _, spares = while_loop(lambda part, _: part != NIL, strike_part, part, spares)
        return [spares]

    return fori(count, strike_sequence, spares)[0]


@long_kernel
def simulate(first, rows, b, pairs, rules, workspace, figures):
    """Simulate programs ``rows`` (B, m + 1, n), costs first, ``b`` (B, m) from ``first`` on.

    Return how many of the B are done: fewer than B if the next one may need more spare items.

    Parameters
    ----------
    pairs : (K, 3) int64
        The plan between nodes: kind, u, v.
    rules : (trigger, period, round cost, unit cost, by_row, central)
        One of NEVER, IDLE, ALWAYS, PERIOD; in units; the time of a round of balancing, and of each
        test that the busiest node sends or receives in it, in units; whether items are split by
        rows; whether sequences are handed out centrally, to idle nodes, not all at the start.
    workspace : (tables, pool, spare, passed, nodes)
        (2, m + 1, 2**(n - n // 2)); seven arrays (items,); (items,); (2**n,), the tests that each
        sequence has passed; five arrays (P,).
    figures : (time, units, moved, balances, argmin, work)
        To be filled: (B,) each, argmin the incumbent at the end, -1 if nothing is feasible; and
        (B, P), the tests that each processor made.
    """
    tables, pool, spare, passed, (load, traffic, pegs, holes, ended) = workspace
    time, units, moved, balances, argmin, work = figures
    trigger, period, round_cost, unit_cost, by_row, central = rules
    B, R, n = rows.shape
    P, size, lower, meter = load.size, 1 << n, n // 2, new_meter()
    for problem in range(first, B):
        tabulate_subset_sums(rows, problem, tables)
        spares = _begin(pool, load, work, problem, spare, size)
        # Sequences handed out, units and rounds of balancing so far, tests moved, the incumbent.
        handed_out = unit = rounds = moves = best = 0
        arg = -1
        clock = 0.0
        while True:
            if interrupted(meter, 8 * P):
                return problem
            # Sequences are handed out: modulo the processors at the start, or to idle ones.
            p = 0
            while handed_out < size and (p < P or not central) and not interrupted(meter, 8):
                if load[p & P - 1] == 0 or not central:
                    _hand_out(pool, load, passed, handed_out, R, p & P - 1)
                    handed_out += 1
                p += 1
            _, least, most = total_and_extremes(load)
            if most == 0:
                break
            due = trigger == ALWAYS or (trigger != NEVER and unit % period == 0)
            if due and (trigger != IDLE or (least == 0 and most > 1)):
                # A pair splits one item at most.
                if spares < pairs.shape[0]:
                    return problem
                for p in range(P):
                    traffic[p] = 0
                spares, sent = _balance(
                    pool, spare, spares, pairs, by_row, load, traffic, pegs, holes
                )
                moves += sent
                rounds += 1
                _, _, busiest = total_and_extremes(traffic)
                clock += round_cost + unit_cost * busiest
            count, best, arg = _make_tests(
                pool, load, passed, ended, work, problem, tables, lower, b, best, arg
            )
            spares = _strike_out(pool, load, ended, count, spare, spares)
            clock += 1.0
            unit += 1
        time[problem] = clock
        units[problem] = unit
        moved[problem] = moves
        balances[problem] = rounds
        argmin[problem] = arg
    return B
