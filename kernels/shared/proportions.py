"""Parts of a load in proportion to weights, exactly: quotas of lines, shares of pairs.

Weights are integers without a common unit left out: the sum of those that share something, its
``whole``, is below 2**61. Of a load T = a * whole + b a node of weight w is due

    T * w / whole = a * w + b * w / whole        with 0 <= b < whole

so that only ``b * w`` may be wider than 64 bits: ``part_of`` divides it digit by digit, in a base
so small that no step is. The functions are called inside ``traced`` ones, on numbers.
"""

from .lines import total_of
from .tracing import cond, fori, while_loop
from .vectors import maximum, select, spread


def part_of(amount, weight, whole, base):
    """Return the floor of ``amount * weight / whole``, and the remainder.

    Long division: ``base`` is (bits of a digit, digits of a weight), such that the bits of
    ``whole`` and of a digit are 62 at most together. ``amount`` is below ``whole``, ``weight`` is
    not above it.
    """
    bits, digits = base
    zero, lowest = spread(0, amount), (spread(1, amount) << bits) - 1

    def step(i, quotient, remainder):
        digit = (weight >> (digits - 1 - i) * bits) & lowest
        number = (remainder << bits) + amount * digit
        return [(quotient << bits) + number // whole, number % whole]

    return fori(digits, step, zero, zero)


def set_quotas(rows, weights, quotas, remainders, k, base):
    """Set ``quotas`` to what each of k nodes is due of their loads ``rows``; all are Rows.

    Integers: the floor of its share, and one unit more at the nodes of the largest
    ``remainders``, a workspace; of equal ones the lower nodes. Where all weights are 0 there is
    no load.
    """
    total, weight = total_of(rows, k), total_of(weights, k)
    if total.dtype.kind == "f":
        unit = total / select(weight > 0, weight, spread(1, weight))

        def set_share(i):
            quotas[i] = unit * weights[i]

        fori(k, set_share)
        return
    whole = maximum(weight, spread(1, weight))
    each, rest = total // whole, total % whole

    def set_floor(i, missing):
        part, remainder = part_of(rest, weights[i], whole, base)
        quota = each * weights[i] + part
        quotas[i], remainders[i] = quota, remainder
        return [missing - quota]

    (missing,) = fori(k, set_floor, total)
    cond(missing > 0, lambda: _round_up(quotas, remainders, k, missing, whole))


def _round_up(quotas, remainders, k, missing, whole):
    """Add one unit each to the quotas of the ``missing`` largest remainders, all below ``whole``.

    The least of those is found by halving: the largest limit that so many reach.
    """

    def count_from(limit):
        def count_node(i, count):
            return [count + (remainders[i] >= limit).astype("int64")]

        (count,) = fori(k, count_node, spread(0, missing))
        return count

    def halve(low, high):
        middle = low + ((high - low) >> 1)
        enough = count_from(middle) >= missing
        return [select(enough, middle, low), select(enough, high, middle)]

    limit, _ = while_loop(lambda low, high: high - low > 1, halve, spread(0, missing), whole)

    def add(i, ties):
        remainder = remainders[i]
        is_tie = (remainder == limit) & (ties > 0)
        quotas[i] = quotas[i] + ((remainder > limit) | is_tie).astype("int64")
        return [ties - is_tie.astype("int64")]

    fori(k, add, missing - count_from(limit + 1))


def excess_of_pair(a, b, first, second, base):
    """Return twice the load that one of a pair has beyond its share, and whether ``a`` is the one.

    Loads a and b have weights ``first`` and ``second``, which are not both 0. At equal weights it
    is ``|a - b|``. Integers: rounded up, with the sum of loads below 2**62. Reals: each weight is
    divided by the mean of both.
    """
    if a.dtype.kind == "f":
        twice = a * second - b * first
        return maximum(twice, -twice), twice > 0
    whole, both = first + second, a + b
    part, remainder = part_of(both % whole, first, whole, base)
    # a - share is surplus - remainder / whole.
    surplus, twice = a - (both // whole * first + part), remainder + remainder
    beyond = surplus + surplus - (twice >= whole).astype("int64")
    lacking = (twice > 0).astype("int64") + (twice > whole).astype("int64") - surplus - surplus
    a_gives = surplus > 0
    return select(a_gives, beyond, lacking), a_gives
