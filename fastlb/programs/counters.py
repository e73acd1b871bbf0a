"""The paper's sequential search and its counters (More-Wu sections 3-4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import one_of
from ..display.cards import Displayed
from ..memory import require_memory
from .binary_solution import sequences
from .layout import read_programs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..figuretypes import Optimum, Position, Whole

PRUNINGS = (">=", ">")
# Variables at most: 2**32 sequences take ten seconds or more.
MOST_COUNTED = 32


@dataclass(frozen=True, eq=False)
class Counters(Displayed):
    """Result and tests of the sequential search; with a batch every field has its shape.

    Attributes
    ----------
    optimum : int or float, or None if no sequence is feasible (masked in a batch)
    argmin : int, or None (masked in a batch)
        Number of the first sequence that reaches the optimum; x_1 is its most significant bit.
    abandoned, violated, feasible : int
        Sequences abandoned for their cost, those that violate a row, and feasible ones.
    rows : int
        Row tests made.
    """

    optimum: Optimum
    argmin: Position
    abandoned: Whole
    violated: Whole
    feasible: Whole
    rows: Whole


def count_tests(c: ArrayLike, A: ArrayLike, b: ArrayLike, *, prune: str = ">=") -> Counters:
    """Count the tests of the paper's sequential search (More-Wu sections 3-4).

    Sequences are tested in increasing order. One is abandoned when its cost reaches the
    incumbent, which only a lower cost replaces; the others' rows are tested in order until
    the first that is violated. Rows that do not fit int64 are tested with a tolerance of 1e-9 of
    their absolute sum.

    Parameters
    ----------
    c : array_like, shape (*batch, n)
        Costs, of any sign. n is at most 32, which takes ten seconds to minutes; 40 would take
        hours.
    A : array_like, shape (*batch, m, n)
    b : array_like, shape (*batch, m)
    prune : ">=" or ">"
        Abandon at a cost equal to the incumbent, or only beyond it.

    Raises
    ------
    TypeError, ValueError, OverflowError
        For numbers, shapes and sums that do not fit; see ``solve_binary``. Also for costs beyond
        int64, if no costs in int64 order the sequences as they do.

    Examples
    --------
    >>> import fastlb as lb
    >>> r = lb.count_tests([2, 2, 2, 2], [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1])
    >>> r.optimum, r.argmin, r.abandoned, r.violated, r.feasible, r.rows
    (4, 5, 9, 6, 1, 10)
    """
    one_of("prune", prune, PRUNINGS)
    programs = read_programs(c, A, b)
    n = programs.c.shape[1]
    if n > MOST_COUNTED:
        raise ValueError(f"c must have at most {MOST_COUNTED} variables to count tests, got {n}")
    m = programs.A.shape[1]
    require_memory(16 * (m + 1) * 2 ** ((n + 1) // 2), f"the sums of {n} variables, {m} rows")
    tables = np.empty((2, m + 1, 2 ** ((n + 1) // 2)), dtype=np.int64)
    counts = np.empty((len(programs.c), 5), dtype=np.int64)
    count = kernels("programs.counters").count_tests
    count(programs.tests(), programs.b, prune == ">", tables, counts)
    argmin, abandoned, violated, feasible, rows = counts.T
    is_infeasible = argmin < 0
    x = sequences(np.where(is_infeasible, 0, argmin), n)
    fields: dict[str, Any] = {
        "optimum": np.ma.masked_array(programs.objectives(programs.costs(x)), is_infeasible),
        "argmin": np.ma.masked_array(argmin, is_infeasible),
        "abandoned": abandoned,
        "violated": violated,
        "feasible": feasible,
        "rows": rows,
    }
    if programs.batch:
        return Counters(**{name: v.reshape(programs.batch) for name, v in fields.items()})
    return Counters(**{name: v.tolist()[0] for name, v in fields.items()})
