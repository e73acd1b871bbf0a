"""Rows of loads for fault-tolerant DEM: what is known of them before, and the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .loads import Survey


@dataclass(frozen=True)
class Checks:
    """What a check of the loads has shown; all of them are legal.

    Attributes
    ----------
    survey : Survey, optional
        Totals and extremes, if they were computed.
    are_small : bool
        Integer loads are so small that int32 holds all that the plan computes.
    """

    survey: Survey | None
    are_small: bool

    @property
    def largest_total(self) -> Any:
        """The largest total of a row; 0 if it is not known."""
        return 0 if self.survey is None else self.survey.total.max(initial=0)

    @property
    def largest_load(self) -> int | None:
        return None if self.survey is None else int(self.survey.largest.max(initial=0))

    def may_exceed_int64(self, rows: NDArray[Any]) -> bool:
        """Return whether unsigned loads may exceed int64, which a survey rules out."""
        return rows.dtype == np.uint64 and self.survey is None and not self.are_small


@dataclass(frozen=True)
class Result:
    """Units and figures of B balanced rows.

    Attributes
    ----------
    largest : int or float
        Largest load after a repair, before it was cast.
    moved : (B,) or, in S stages, (B, S) int64 or float64
        Units times links, if they were counted.
    local : (B,) int64 or float64
        Units that never left, if they were counted.
    figures : dict, optional
        All figures, if they were computed with the loads.
    flows, stages : (B, n, N) and (S, B, N), optional
        Net flow over each link from its lower end; the loads after each stage.
    """

    largest: Any
    moved: NDArray[Any]
    local: NDArray[Any]
    figures: dict[str, NDArray[Any]] | None = None
    flows: NDArray[Any] | None = None
    stages: NDArray[Any] | None = None
