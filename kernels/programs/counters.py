"""The paper's sequential search: every sequence in turn, its cost, then its rows (More-Wu 3-4).

A sequence is a pattern of n bits, a value for each variable. Rows of a program are tests: row 0 has
the costs, the m others are constraints, ``row . x >= b``. A row's sum for a sequence is read from
two tables (``shared/sums.py``), one entry of each, instead of n additions.
"""

from ..shared.interrupts import interrupted, long_kernel, new_meter
from ..shared.sums import subset_sum, tabulate_subset_sums


@long_kernel
def count_tests(rows, b, strict, tables, counts):
    """Fill ``counts`` (B, 5) with argmin, -1 if no sequence is feasible, and four counts.

    These are the sequences abandoned, violated and feasible, and the constraints evaluated.
    ``rows`` (B, m + 1, n), costs first, ``b`` (B, m) and ``tables`` (2, m + 1, 2**(n - n // 2)),
    scratch, are int64. A sequence is abandoned if its cost reaches the incumbent's, or if
    ``strict``, only if it exceeds that.
    """
    B, R, n = rows.shape
    m, lower, meter = R - 1, n // 2, new_meter()
    for p in range(B):
        tabulate_subset_sums(rows, p, tables)
        best = 0
        argmin = -1
        abandoned = violated = feasible = tested = 0
        for x in range(1 << n):
            if x & 2**16 - 1 == 0 and interrupted(meter, 2**16):
                return
            cost = subset_sum(tables, 0, x, lower)
            if argmin >= 0 and (cost > best or (cost == best and not strict)):
                abandoned += 1
                continue
            r = 1
            while r <= m and subset_sum(tables, r, x, lower) >= b[p, r - 1]:
                r += 1
            if r <= m:
                tested += r
                violated += 1
                continue
            tested += m
            feasible += 1
            if argmin < 0 or cost < best:
                best = cost
                argmin = x
        counts[p, 0] = argmin
        counts[p, 1] = abandoned
        counts[p, 2] = violated
        counts[p, 3] = feasible
        counts[p, 4] = tested
