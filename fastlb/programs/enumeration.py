"""Enumeration: the cheapest feasible one of all sequences, for programs of few variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..accelerate import kernels
from ..memory import require_memory
from .batches import enumerate_together
from .binary_solution import sequences
from .outcome import INFEASIBLE, OPTIMAL, Outcome
from .search import LEAF, SAFE_INT32, sums_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .options import Monitor
    from .program import Program, Programs

# Variables up to which enumeration is faster than a search, and up to which its arrays fit memory.
FEW_VARIABLES, MOST_ENUMERATED = 12, 24
# At least so many programs of few variables are enumerated side by side; fewer leave vectors idle.
# With more rows than these, giving up early is worth more: 128 rows of the loose family took 1.6
# times as long.
LEAST_TOGETHER, MOST_ROWS_TOGETHER = 32, 64
# Differences of two sums must fit the dtype of the lanes.
SAFE_INT16 = 2**14
# Row tests at most between two looks at the clock while a batch is enumerated, about 0.1 s.
STRETCH = 2**28


class Enumeration(NamedTuple):
    """What enumerating K programs gives.

    Attributes
    ----------
    pattern : (K,)
        The optimal sequence; bit n - j is x_j.
    cost : (K,) int64
        Its cost.
    feasible : (K,) bool
    all_feasible : bool
    """

    pattern: NDArray[Any]
    cost: NDArray[Any]
    feasible: NDArray[Any]
    all_feasible: bool


def enumerate_programs(programs: Programs, monitor: Monitor) -> Enumeration:
    """Enumerate the programs one after the other, until time is over; at least one of them."""
    B, m, n = programs.A.shape
    require_memory(8 * (m + 1) * 2 ** max(n - LEAF, 0), f"enumerating {n} variables, {m} rows")
    if not monitor.is_limited:
        return _enumerate_part(programs, slice(None))
    count = max(STRETCH // ((m + 1) << n), 1)
    parts = []
    for first in range(0, max(B, 1), count):
        if first and monitor.is_over:
            break
        parts.append(_enumerate_part(programs, slice(first, first + count)))
    pattern, cost, feasible, all_feasible = zip(*parts, strict=True)
    return Enumeration(
        np.concatenate(pattern), np.concatenate(cost), np.concatenate(feasible), all(all_feasible)
    )


def _enumerate_part(programs: Programs, part: slice) -> Enumeration:
    c, A, b = programs.c[part], programs.A[part], programs.b[part]
    B, m, n = A.shape
    bound = programs.sum_bound
    if n <= FEW_VARIABLES and m <= MOST_ROWS_TOGETHER and B >= LEAST_TOGETHER:
        # The narrowest numbers are tried first, for their sums are checked on the way.
        results, count = enumerate_together(c, A, b, np.int16, SAFE_INT16)
        if count < 0 and (bound < SAFE_INT32 or n <= LEAF):
            results, count = enumerate_together(c, A, b, sums_dtype(bound), 0)
        if count >= 0:
            return Enumeration(*results, count == B)
    dtype = np.int16 if bound < SAFE_INT16 else sums_dtype(bound)
    return enumerate_each(c, A, b, dtype)


def enumerate_one(program: Program) -> Outcome:
    """Enumerate one program."""
    c, A, b = (array[np.newaxis] for array in (program.c, program.A, program.b))
    pattern, cost, feasible, _ = enumerate_each(c, A, b, np.int64)
    if not feasible[0]:
        return Outcome(INFEASIBLE, None, 0, "enumeration", 0)
    x = sequences(pattern, program.c.size)[0]
    return Outcome(OPTIMAL, x, int(cost[0]), "enumeration", 0)


def enumerate_each(
    c: NDArray[Any], A: NDArray[Any], b: NDArray[Any], dtype: type[Any]
) -> Enumeration:
    """Enumerate programs c (B, n), A (B, m, n), b (B, m), int64, in a dtype that holds their sums.

    They are solved one after the other.
    """
    B, m, n = A.shape
    rows = np.concatenate([A, c[:, None]], axis=1)
    sums = np.empty((m + 1, 2**LEAF), dtype)
    base = np.empty((m + 1, 2 ** max(n - LEAF, 0)), dtype)
    pattern, cost = np.empty((2, B), dtype=np.int64)
    feasible = np.empty(B, dtype=np.bool_)
    order = np.empty(m, dtype=np.int64)
    kernel = kernels("programs.enumerate").enumerate_each
    kernel(rows, b, sums, base, order, pattern, cost, feasible)
    return Enumeration(pattern, cost, feasible, bool(feasible.all()))
