"""The outcomes of a batch of programs as arrays, and the solution that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .binary_solution import (
    STATUS_NAMES,
    BinaryBatch,
    BinarySolution,
    EnumeratedBatch,
    masked,
    sequences,
)
from .outcome import INFEASIBLE, LIMIT, OPTIMAL, STATUSES, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .enumeration import Enumeration
    from .program import Programs


class Outcomes:
    """The outcomes of programs as arrays with a row a program; see :class:`Outcome`.

    Attributes
    ----------
    programs : Programs
    status : (B,) int64
    x : (B, n) int8
        0 where no solution is known.
    is_known : (B,) bool
        Whether a solution is known.
    bound : (B,) int64, or Python integers if costs are wide
    method : (B,) str
    nodes : (B,) int64
    """

    def __init__(self, programs: Programs) -> None:
        B = len(programs.c)
        self.programs = programs
        self.status = np.full(B, LIMIT, dtype=np.int64)
        self.x: NDArray[np.int8] = np.zeros(programs.c.shape, dtype=np.int8)
        self.is_known = np.zeros(B, dtype=bool)
        self.bound: NDArray[Any] = np.zeros(B, dtype=object if programs.wide else np.int64)
        self.method = np.full(B, "enumeration")
        self.nodes = np.zeros(B, dtype=np.int64)

    def set_enumerated(self, enumeration: Enumeration) -> None:
        """Set the outcomes of the first programs from their enumeration."""
        pattern, cost, feasible, _ = enumeration
        first = slice(len(feasible))
        self.status[first] = np.where(feasible, OPTIMAL, INFEASIBLE)
        self.x[first] = sequences(pattern, self.x.shape[1])
        self.is_known[first] = feasible
        self.bound[first] = cost

    def set(self, i: int, outcome: Outcome) -> None:
        """Set the outcome of program i."""
        self.status[i], self.bound[i] = outcome.status, outcome.bound
        self.method[i], self.nodes[i] = outcome.method, outcome.nodes
        self.is_known[i] = outcome.x is not None
        self.x[i] = 0 if outcome.x is None else outcome.x

    def solution(self) -> BinarySolution | BinaryBatch:
        """Return the solution of the batch, or of the only program, in the user's units."""
        programs, batch = self.programs, self.programs.batch
        costs, is_infeasible = programs.costs(self.x), self.status == INFEASIBLE
        objective = programs.objectives(costs)
        bound = programs.lower_bounds(
            np.where(self.status == OPTIMAL, costs, self.bound), self.status == LIMIT
        )
        if not batch:
            return BinarySolution(
                self.x[0] if self.is_known[0] else None,
                objective.tolist()[0] if self.is_known[0] else None,
                STATUSES[self.status[0]],
                None if is_infeasible[0] else bound.tolist()[0],
                str(self.method[0]),
                int(self.nodes[0]),
            )
        unknown, impossible = (
            (None, None) if self.is_known.all() else (~self.is_known, is_infeasible)
        )
        return BinaryBatch(
            masked(self.x, unknown, batch),
            masked(objective, unknown, batch),
            STATUS_NAMES.take(self.status).reshape(batch),
            masked(bound, impossible, batch),
            self.method.reshape(batch),
            self.nodes.reshape(batch),
        )


def interim_solution(programs: Programs, i: int, outcome: Outcome) -> BinarySolution:
    """Return the solution of program i alone for what is known of it so far."""
    outcomes = Outcomes(programs.only(i))
    outcomes.set(0, outcome)
    solution = outcomes.solution()
    assert isinstance(solution, BinarySolution)  # It is of one program.
    return solution


def enumerated_solution(
    programs: Programs, enumeration: Enumeration
) -> BinarySolution | BinaryBatch:
    """Return the solution of programs that were all enumerated, none of them with wide numbers."""
    n, batch = programs.c.shape[1], programs.batch
    pattern, cost, feasible, all_feasible = enumeration
    objective = programs.objectives(cost)
    if batch:
        unknown = None if all_feasible else ~feasible
        return EnumeratedBatch(batch, n, pattern, objective, unknown)
    if not all_feasible:
        return BinarySolution(None, None, "infeasible", None, "enumeration", 0)
    value = objective.tolist()[0]
    return BinarySolution(sequences(pattern, n)[0], value, "optimal", value, "enumeration", 0)
