"""Programs with some variables fixed, and the way back to solutions of the whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..accelerate import kernels
from .fixing import FREE, fix_variables
from .outcome import INFEASIBLE, OPTIMAL, Outcome
from .program import Program

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Reduction(NamedTuple):
    """A program of the variables that are still free.

    Attributes
    ----------
    program : Program
        Of F variables.
    value : (n,) int8
        Values of the fixed variables.
    free : (F,) int64
        Numbers of the others.
    flipped : (F,) bool
        Which of these stand in the reduced program as their complement, 1 - x.
    fixed_cost : int
        What a solution of the whole program costs more.
    """

    program: Program
    value: NDArray[np.int8]
    free: NDArray[np.intp]
    flipped: NDArray[np.bool_]
    fixed_cost: int

    def restored(self, outcome: Outcome) -> Outcome:
        """Return the outcome of the whole program for one of the reduced program."""
        x = None
        if outcome.x is not None:
            x = self.value.copy()
            x[self.free] = outcome.x ^ self.flipped
        bound = outcome.bound + self.fixed_cost
        return Outcome(outcome.status, x, bound, outcome.method, outcome.nodes)

    def without_variables(self, method: str) -> Outcome:
        """Return the outcome of the whole program if no variable is free."""
        if (self.program.b > 0).any():
            return Outcome(INFEASIBLE, None, 0, method, 0)
        return self.restored(Outcome(OPTIMAL, np.zeros(0, dtype=np.int8), 0, method, 0))


def reduce_dense(program: Program) -> Reduction | None:
    """Reduce a program of few variables by ``kernels/programs/presolve.py``; None if infeasible.

    All costs of the reduced program are 0 or more.
    """
    m, n = program.A.shape
    c, A, b = program.c.copy(), program.A.copy(), program.b.copy()
    active, flipped = np.empty(m, np.bool_), np.empty(n, np.bool_)
    value, free = np.empty(n, np.int8), np.empty(n, np.int64)
    rows, columns = kernels("programs.presolve").reduce(c, A, b, active, value, flipped, free)
    if rows < 0:
        return None
    A = A.reshape(-1)[: rows * columns].reshape(rows, columns)
    free, c, b = free[:columns], c[:columns], b[:rows]
    flipped = flipped[free]
    fixed_cost = int(program.c[value == 1].sum() + program.c[free][flipped].sum())
    reduced = _reduced(program, c, A, b, fixed_cost)
    return Reduction(reduced, value, free, flipped, fixed_cost)


def reduce_sparse(program: Program) -> Reduction | None:
    """Reduce a program of many variables by :func:`fix_variables`; None if infeasible.

    The rows of the reduced program are a CSR array.
    """
    from scipy.sparse import csr_array

    A, b = csr_array(program.A), program.b
    fixed = fix_variables(program.c, A, b)
    if fixed is None:
        return None
    value, needed = fixed
    free, ones = np.flatnonzero(value == FREE), np.flatnonzero(value == 1)
    if free.size < value.size or not needed.all():
        A = A[np.flatnonzero(needed)]
        b = b[needed] - A[:, ones].sum(axis=1)
        A = A[:, free]
    fixed_cost = int(program.c[ones].sum())
    reduced = _reduced(program, program.c[free], A, b, fixed_cost)
    return Reduction(reduced, value, free, np.zeros(free.size, dtype=np.bool_), fixed_cost)


def _reduced(
    program: Program, c: NDArray[Any], A: Any, b: NDArray[Any], fixed_cost: int
) -> Program:
    cutoff = None if program.cutoff is None else program.cutoff - fixed_cost
    return Program(c, A, b, program.sum_bound, cutoff)
