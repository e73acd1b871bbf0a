"""The outcome of one program, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STATUSES = ("optimal", "infeasible", "limit")
OPTIMAL, INFEASIBLE, LIMIT = range(3)


@dataclass
class Outcome:
    """What a solver returns for one program.

    Attributes
    ----------
    status : int
        ``OPTIMAL``, ``INFEASIBLE`` or ``LIMIT``: a place in ``STATUSES``.
    x : (n,) int8, or None where no solution is known
    bound : int
        No solution costs less; the cost of x where it is optimal.
    method : str
        The method that ended it, as in :class:`BinarySolution`.
    nodes : int
        Nodes of the depth-first search.
    """

    status: int
    x: NDArray[np.int8] | None
    bound: int
    method: str
    nodes: int
