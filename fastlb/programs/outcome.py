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
    """The outcome of one program in whole numbers; ``x`` is None where no solution is known."""

    status: int
    x: NDArray[np.int8] | None
    bound: int
    method: str
    nodes: int
