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

from numba import types

from ..shared.compiling import inlined
from ..shared.figures import total_and_extremes
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.sums import subset_sum, tabulate_subset_sums
from ..shared.tracing import traced

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
    holder[item] = p
    before[item] = last
    after[item] = p
    after[last] = item
    before[p] = item


def _unlink(pool, item):
    """Take an item out of its queue, if it is in one, and link it to itself."""
    _, _, _, _, before, after, _ = pool
    previous = before[item]
    following = after[item]
    after[previous] = following
    before[following] = previous
    before[item] = item
    after[item] = item


@traced()
def _hand_out(pool, load, passed, x, tests, p):
    """Put all tests of sequence x at the tail of processor p's queue, as one item."""
    sequence, low, high, _, _, _, chain = pool
    item = load.shape[0] + x
    sequence[item] = x
    low[item] = 0
    high[item] = tests
    chain[item] = NIL
    passed[x] = 0
    load[p] = load[p] + tests
    _append(pool, p, item)


@traced()
def _send(pool, item, target):
    """Move an item from its queue to the tail of another."""
    _unlink(pool, item)
    _append(pool, target, item)


@traced()
def _leave(pool, item):
    """Take an item out of its queue."""
    _unlink(pool, item)


@traced()
def _send_part(pool, item, tests, part, target, P):
    """Split the last ``tests`` off an item, as the item ``part``, and send them alone."""
    sequence, low, high, _, _, _, chain = pool
    x, end = sequence[item], high[item]
    first = x + P
    high[item] = end - tests
    sequence[part] = x
    low[part] = end - tests
    high[part] = end
    chain[part] = chain[first]
    chain[first] = part
    _append(pool, target, part)


@traced()
def _record(load, traffic, source, target, sent):
    """Count tests that have been sent."""
    load[source] = load[source] - sent
    load[target] = load[target] + sent
    traffic[source] = traffic[source] + sent
    traffic[target] = traffic[target] + sent


@traced(returns=types.int64)
def _strike_out(pool, load, item):
    """Take an item out of its queue, with its tests, and out of its chain; return the next one."""
    _, low, high, holder, _, _, chain = pool
    following, p = chain[item], holder[item]
    load[p] = load[p] - (high[item] - low[item])
    low[item] = high[item]
    chain[item] = NIL
    _unlink(pool, item)
    return following


@inlined
def _amount(kind, u, v, load, pegs, holes):
    """Return (source, target, tests to send) for one pair; load, pegs, holes (P,) are in tests."""
    amount = 0
    if kind == EXCHANGE:
        if load[u] < load[v]:
            u, v = v, u
        amount = (load[u] - load[v]) >> 1
    elif kind == REGISTER:
        pegs[v] = load[u] - load[v]
        holes[v] = max(0, -pegs[v])
        amount = max(0, pegs[v])
    elif kind == SHIFT:
        if pegs[u] < pegs[v]:
            u, v = v, u
        amount = min((pegs[u] - pegs[v]) >> 1, load[u] - holes[u])
    else:
        u, v = v, u
        amount = holes[u]
    return u, v, amount


@inlined
def _balance(pool, spare, spares, pairs, by_row, load, traffic, pegs, holes):
    """Carry the plan's ``pairs`` (K, 3) out; return (spare items, tests moved over links).

    Items go from the tail of one queue to the tail of another, and the last one is split if
    ``by_row``; if not, fewer tests may move than a pair asks for, and pegs follow what moved.
    ``spare`` is a stack of ``spares`` items; load, traffic, pegs, holes (P,) are in tests.
    """
    _, low, high, _, before, _, _ = pool
    moved = 0
    for k in range(pairs.shape[0]):
        kind = pairs[k, 0]
        source, target, amount = _amount(kind, pairs[k, 1], pairs[k, 2], load, pegs, holes)
        if amount == 0:
            continue
        remaining = amount
        while remaining > 0 and before[source] != source:
            item = before[source]
            tests = high[item] - low[item]
            if tests <= remaining:
                _send(pool, item, target)
                remaining -= tests
            elif by_row:
                spares -= 1
                _send_part(pool, item, remaining, spare[spares], target, load.size)
                remaining = 0
            else:
                break
        sent = amount - remaining
        _record(load, traffic, source, target, sent)
        moved += sent
        if kind == REGISTER:
            pegs[target] = sent
        elif kind == SHIFT:
            pegs[source] -= sent
            pegs[target] += sent
    return spares, moved


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
    sequence, low, high, _, before, after, _ = pool
    time, units, moved, balances, argmin, work = figures
    trigger, period, round_cost, unit_cost, by_row, central = rules
    B, R, n = rows.shape
    P = load.size
    lower = n // 2
    size, meter = 1 << n, new_meter()
    for problem in range(first, B):
        tabulate_subset_sums(rows, problem, tables)
        for p in range(P):
            before[p] = p
            after[p] = p
            load[p] = 0
            work[problem, p] = 0
        spares = 0
        for item in range(P + size, spare.size):
            spare[spares] = item
            spares += 1
        waiting = 0
        best = 0
        arg = -1
        clock = 0.0
        unit = 0
        moves = 0
        rounds = 0
        while True:
            if interrupted(meter, 8 * P):
                return problem
            # Sequences are handed out: modulo the processors at the start, or to idle ones.
            p = 0
            while waiting < size and (p < P or not central) and not interrupted(meter, 8):
                if load[p & P - 1] == 0 or not central:
                    _hand_out(pool, load, passed, waiting, R, p & P - 1)
                    waiting += 1
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
            # What fails or passes in this unit is known to the others from the next one on.
            dead = 0
            next_best = best
            next_arg = arg
            for p in range(P):
                item = after[p]
                if item == p:
                    continue
                work[problem, p] += 1
                x = sequence[item]
                test = low[item]
                cost = subset_sum(tables, 0, x, lower)
                total = subset_sum(tables, test, x, lower)
                if total < b[problem, test - 1] if test > 0 else arg >= 0 and cost >= best:
                    ended[dead] = x
                    dead += 1
                    continue
                low[item] = test + 1
                load[p] -= 1
                if test + 1 == high[item]:
                    _leave(pool, item)
                passed[x] += 1
                if passed[x] == R:
                    if next_arg < 0 or cost < next_best or (cost == next_best and x < next_arg):
                        next_best = cost
                        next_arg = x
                    ended[dead] = x
                    dead += 1
            for k in range(dead):
                part = _strike_out(pool, load, P + ended[k])
                while part != NIL:
                    spare[spares] = part
                    spares += 1
                    part = _strike_out(pool, load, part)
            best = next_best
            arg = next_arg
            clock += 1.0
            unit += 1
        time[problem] = clock
        units[problem] = unit
        moved[problem] = moves
        balances[problem] = rounds
        argmin[problem] = arg
    return B
