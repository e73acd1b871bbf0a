"""Exchanges along the dimensions of cubes whose nodes lie in registers.

A register of 2**k lanes holds 2**k nodes next to each other. Links along their low k bits join
lanes; links along higher bits join the same lanes of two registers:

    bit 0: lanes 0-1, 2-3, ..   bit 1: lanes 0-2, 1-3, ..   bit k: registers 0-1, 2-3, ..

``rule`` is what two neighbours have after an exchange, such as ``exchange.exchange``: a function of
two vectors that returns two, and the same two, swapped, for swapped arguments.
"""

from .exchange import exchange, links
from .tracing import cond
from .vectors import permute


def exchange_lanes(rows, bit, rule=exchange):
    """Exchange along a bit of the lanes' numbers in each of some registers.

    Each register meets itself with both ends of all links swapped, and becomes what the first of
    two loads becomes.
    """
    swapped = [lane ^ 1 << bit for lane in range(rows[0].size)]
    return [rule(row, permute(row, swapped))[0] for row in rows]


def exchange_rows(rows, bit, rule=exchange):
    """Exchange along a bit of the registers' numbers, which are 2, 4, 8, ..."""
    rows = list(rows)
    for r, s in links(len(rows).bit_length() - 1, bit):
        rows[r], rows[s] = rule(rows[r], rows[s])
    return rows


def balance_rows(rows, rule=exchange):
    """Exchange along all bits of the registers' numbers, the lowest first."""
    for bit in range(len(rows).bit_length() - 1):
        rows = exchange_rows(rows, bit, rule)
    return rows


def balance_registers(rows, n, rule=exchange):
    """Exchange along those of the low ``n`` bits that registers hold: of lanes, then of rows.

    ``n`` may be a number that is known only when the kernel runs.
    """
    lane_bits = rows[0].size.bit_length() - 1
    for bit in range(lane_bits + len(rows).bit_length() - 1):

        def exchanged(rows=rows, bit=bit):
            if bit < lane_bits:
                return exchange_lanes(rows, bit, rule)
            return exchange_rows(rows, bit - lane_bits, rule)

        rows = cond(n > bit, exchanged, lambda rows=rows: rows)
    return rows
