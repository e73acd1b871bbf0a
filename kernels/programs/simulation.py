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

from ..shared.compiling import inlined
from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.sums import tabulate_subset_sums
from ..shared.tracing import traced

# Kinds of the pairs (kind, u, v) of a plan of fault-tolerant DEM (More-Wu section 2.2): u and v
# exchange, u sends v its pegs or v registers its holes, pegs are levelled, v pays u its holes.
EXCHANGE, REGISTER, SHIFT, REPAY = 0, 1, 2, 3
# When to balance: never; in every ``period``-th unit, if a processor is idle; in every unit; in
# every ``period``-th unit.
NEVER, IDLE, ALWAYS, PERIOD = 0, 1, 2, 3
NIL = -1


@traced()
def _append(holder, before, after, p, item):
    """Put an item at the tail of processor p's queue."""
    last = before[p]
    holder[item] = p
    before[item] = last
    after[item] = p
    after[last] = item
    before[p] = item


@traced()
def _unlink(before, after, item):
    """Take an item out of its queue, if it is in one, and link it to itself."""
    previous = before[item]
    following = after[item]
    after[previous] = following
    before[following] = previous
    before[item] = item
    after[item] = item


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
    sequence, low, high, holder, before, after, chain = pool
    moved = 0
    for k in range(pairs.shape[0]):
        kind = pairs[k, 0]
        source, target, amount = _amount(kind, pairs[k, 1], pairs[k, 2], load, pegs, holes)
        remaining = amount
        while remaining > 0 and before[source] != source:
            item = before[source]
            tests = high[item] - low[item]
            if tests <= remaining:
                _unlink(before, after, item)
            elif by_row:
                x = sequence[item]
                tests = remaining
                high[item] -= tests
                spares -= 1
                part = spare[spares]
                sequence[part] = x
                low[part] = high[item]
                high[part] = high[item] + tests
                chain[part] = chain[load.size + x]
                chain[load.size + x] = part
                item = part
            else:
                break
            _append(holder, before, after, target, item)
            remaining -= tests
        if amount == 0:
            continue
        sent = amount - remaining
        load[source] -= sent
        load[target] += sent
        traffic[source] += sent
        traffic[target] += sent
        moved += sent
        if kind == REGISTER:
            pegs[target] = sent
        elif kind == SHIFT:
            pegs[source] -= sent
            pegs[target] += sent
    return spares, moved


@inlined
def _strike_out(pool, spare, spares, load, x):
    """Take all items of sequence x out of their queues; return how many items are spare."""
    _, low, high, holder, before, after, chain = pool
    item = load.size + x
    while item != NIL:
        load[holder[item]] -= high[item] - low[item]
        low[item] = high[item]
        _unlink(before, after, item)
        part = chain[item]
        chain[item] = NIL
        if part != NIL:
            spare[spares] = part
            spares += 1
        item = part
    return spares


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
    sequence, low, high, holder, before, after, chain = pool
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
                    item = P + waiting
                    sequence[item] = waiting
                    low[item] = 0
                    high[item] = R
                    chain[item] = NIL
                    passed[waiting] = 0
                    _append(holder, before, after, p & P - 1, item)
                    load[p & P - 1] += R
                    waiting += 1
                p += 1
            least = R
            most = 0
            for p in range(P):
                least = min(least, load[p])
                most = max(most, load[p])
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
                busiest = 0
                for p in range(P):
                    busiest = max(busiest, traffic[p])
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
                cost = tables[0, 0, x >> lower] + tables[1, 0, x & (1 << lower) - 1]
                total = tables[0, test, x >> lower] + tables[1, test, x & (1 << lower) - 1]
                if total < b[problem, test - 1] if test > 0 else arg >= 0 and cost >= best:
                    ended[dead] = x
                    dead += 1
                    continue
                low[item] = test + 1
                load[p] -= 1
                if test + 1 == high[item]:
                    _unlink(before, after, item)
                passed[x] += 1
                if passed[x] == R:
                    if next_arg < 0 or cost < next_best or (cost == next_best and x < next_arg):
                        next_best = cost
                        next_arg = x
                    ended[dead] = x
                    dead += 1
            for k in range(dead):
                spares = _strike_out(pool, spare, spares, load, ended[k])
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
