"""Exchanges along the dimensions of cubes whose nodes lie in registers.

A register of 2**k lanes holds 2**k nodes next to each other; ``rows`` is a list of registers that
follow each other. Links along the low k bits of the nodes' numbers join lanes of one register;
links along higher bits join the same lanes of two registers. With 4 lanes, k is 2:

    rows[0]   node 0  1  2  3        bit 0: lanes 0-1 and 2-3 of each      bit 2: rows 0-1 and 2-3
    rows[1]   node 4  5  6  7        bit 1: lanes 0-2 and 1-3 of each      bit 3: rows 0-2 and 1-3

``rule`` is what two neighbours have after an exchange, such as ``exchange.exchange``: a function of
two vectors that returns two, and the same two, swapped, for swapped arguments.
"""

from .exchange import exchange, exchange_and_count, links
from .tracing import cond
from .vectors import minimum, permute


def exchange_lanes(rows, bit, rule=exchange):
    """Exchange along a bit of the lanes' numbers, in each register by itself.

    A register meets itself with the two ends of every link swapped; each lane becomes what the
    first of two loads becomes.
    """
    swapped = [lane ^ 1 << bit for lane in range(rows[0].size)]
    return [rule(row, permute(row, swapped))[0] for row in rows]


def exchange_rows(rows, bit, rule=exchange):
    """Exchange along a bit of the numbers of 2, 4, 8, .. registers."""
    rows = list(rows)
    for r, s in links(len(rows).bit_length() - 1, bit):
        rows[r], rows[s] = rule(rows[r], rows[s])
    return rows


def balance_rows(rows, rule=exchange):
    """Exchange along all bits of the registers' numbers, the lowest first."""
    for bit in range(len(rows).bit_length() - 1):
        rows = exchange_rows(rows, bit, rule)
    return rows


def balance_and_record(rows, minima, rule=exchange_and_count):
    """Do the same with a rule that counts; return (rows, minima, units of each exchange).

    ``minima`` are registers, too: the least load of each node so far, before and after.
    """
    rows, minima, units = list(rows), list(minima), []
    bits = len(rows).bit_length() - 1
    for bit in range(bits):
        for r, s in links(bits, bit):
            rows[r], rows[s], moved = rule(rows[r], rows[s])
            minima[r], minima[s] = minimum(rows[r], minima[r]), minimum(rows[s], minima[s])
            units.append(moved)
    return rows, minima, units


def corners(first, strides):
    """Return the places of the 2, 4, 8, .. nodes of a cube, ``strides[d]`` apart along bit d."""
    places = [first]
    for stride in strides:
        places += [place + stride for place in places]
    return places


def balance_registers(rows, n, rule=exchange):
    """Exchange along bits 0 .. n-1 of the nodes, or those of them that all registers hold.

    The bits of the lanes come first, then those of the registers. ``n`` may be a number that is
    known only when the kernel runs.
    """
    lane_bits = rows[0].size.bit_length() - 1
    for bit in range(lane_bits + len(rows).bit_length() - 1):

        def exchanged(rows=rows, bit=bit):
            if bit < lane_bits:
                return exchange_lanes(rows, bit, rule)
            return exchange_rows(rows, bit - lane_bits, rule)

        rows = cond(n > bit, exchanged, lambda rows=rows: rows)
    return rows
