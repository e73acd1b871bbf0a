"""The middle one or two of k values, in each lane of a register: row i holds value i of each lane.

Up to ``IN_REGISTERS`` values stand in registers at once, and a fixed list of comparators (low,
high) puts the lesser value of two rows into the row ``low``, the greater one into ``high``:

    row 0  --o-----o-----        A selection network is a sorting network without the comparators
    row 1  --o--o--|--o--        on which the middle rows do not depend. All lanes take the same
    row 2  --o--o--o--o--        steps whatever their values, so that there is no branch.
    row 3  --o-----o-----

Up to ``LONGEST_SORTED`` values are compared in memory, by a table of comparators. Of more the range
in which the middle lies is halved until it is one value: as many passes as the range has bits, each
of which counts the values in the lower half.
"""

import numpy as np

from .tracing import cond, fori, while_loop
from .vectors import any_lane, maximum, minimum, select, spread

# The most values that stand in registers at once.
IN_REGISTERS = 16
# The most values that are sorted: of more, if they are small numbers, halving takes no longer.
LONGEST_SORTED = 64


def median_comparators(k):
    """Return comparators [(low, high), ..] that put the middle one or two of k values in place.

    Batcher's merge exchange (Knuth, volume 3, Algorithm 5.2.2M, with its letters), without the
    comparators that the middle does not depend on.
    """
    network = []
    p = largest_step = 1 << max(0, (k - 1).bit_length() - 1)
    while p > 0:
        q, r, d = largest_step, 0, p
        while True:
            network += [(i, i + d) for i in range(k - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    needed = {(k - 1) // 2, k // 2}
    pruned = []
    for low, high in reversed(network):
        if low in needed or high in needed:
            needed |= {low, high}
            pruned.append((low, high))
    return pruned[::-1]


def middle_in_registers(rows, k):
    """Return the middle two of k rows, or the middle one twice; rows from k on are used up.

    They are filled with the lowest values there are and the highest, so many of each that the
    middle of all ``IN_REGISTERS`` rows is that of the k.
    """
    dtype = rows[0].dtype
    top = np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    low, high = spread(-top, rows[0]), spread(top, rows[0])
    first_high = k // 2 + IN_REGISTERS // 2

    def fill(i):
        rows[i] = select(i < first_high, low, high)

    fori(IN_REGISTERS, fill, start=k)
    values = [rows[i] for i in range(IN_REGISTERS)]
    for i, j in median_comparators(IN_REGISTERS):
        values[i], values[j] = minimum(values[i], values[j]), maximum(values[i], values[j])
    lower, upper = values[IN_REGISTERS // 2 - 1 : IN_REGISTERS // 2 + 1]
    return [lower, select(k % 2 == 1, lower, upper)]


def middle_by_table(rows, k, comparators, first, last):
    """Return the middle two of k rows; the k rows after them receive a copy to sort.

    Those of ``comparators`` (C, 2) from number ``first`` to before ``last`` are those of
    ``median_comparators(k)``.
    """

    def copy(i):
        rows[k + i] = rows[i]

    def compare(c):
        low, high = k + comparators[c, 0], k + comparators[c, 1]
        a, b = rows[low], rows[high]
        rows[low], rows[high] = minimum(a, b), maximum(a, b)

    fori(k, copy)
    fori(last, compare, start=first)
    return [rows[k + (k - 1) // 2], rows[k + k // 2]]


def _ranked(value):
    """Return a value as an integer; integers are ordered as the values are."""
    if value.dtype.kind != "f":
        return value
    # Bits of negative floats grow with the magnitude: all but the sign are turned over.
    bits = value.view(np.int64)
    return bits ^ ((bits >> 63) & np.iinfo(np.int64).max)


def middle_by_halving(rows, k):
    """Return the middle two of k rows, integers or float64.

    The lower one is the least value that more than (k - 1) // 2 values do not exceed.
    """

    def value(i):
        return _ranked(rows[i])

    def widen(i, least, most):
        return [minimum(least, value(i)), maximum(most, value(i))]

    least, most = fori(k, widen, value(0), value(0), start=1)

    def count_up_to(limit):
        def count_row(i, count):
            return [select(value(i) <= limit, count + 1, count)]

        (count,) = fori(k, count_row, spread(0, least))
        return count

    def halve(least, most):
        # The mean of both, rounded down, whose sum might not fit.
        middle = (least & most) + ((least ^ most) >> 1)
        enough = count_up_to(middle) > spread((k - 1) // 2, middle)
        return [select(enough, least, middle + 1), select(enough, middle, most)]

    lower, _ = while_loop(lambda least, most: any_lane(least < most), halve, least, most)

    def next_above(i, above):
        return [select(value(i) > lower, minimum(above, value(i)), above)]

    (above,) = fori(k, next_above, most)
    upper = select(count_up_to(lower) > spread(k // 2, lower), lower, above)
    if rows[0].dtype.kind == "f":
        lower, upper = (_ranked(bits.view(np.float64)).view(np.float64) for bits in (lower, upper))
    return [lower, upper]


def rows_needed(k):
    """Return how many rows there must be for the middle of k: these and workspace after them."""
    return maximum(2 * k, IN_REGISTERS)


def middle(rows, k, comparators, first, last, in_registers):
    """Return the middle two of k rows, in the way that is fastest.

    Rows from k to before ``rows_needed(k)`` are used up. Without ``in_registers``, a Python truth
    value, the 53 comparators of that way are not compiled. ``comparators``, ``first`` and ``last``
    are those of ``middle_by_table``; no comparators for a k above ``LONGEST_SORTED``.
    """

    def of_many():
        return cond(
            first < last,
            lambda: middle_by_table(rows, k, comparators, first, last),
            lambda: middle_by_halving(rows, k),
        )

    if not in_registers:
        return of_many()
    return cond(k <= IN_REGISTERS, lambda: middle_in_registers(rows, k), of_many)
