"""A place where a paper is wrong, and the search for the least loads that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.cards import Displayed

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOTALS = 40


@dataclass(frozen=True)
class Erratum(Displayed):
    """One place of the paper.

    Attributes
    ----------
    place : str
        Section, table or line.
    printed, right : str
        What it says, and what holds.
    example : tuple of int
        Least loads that show it: of a pair, a triangle or a cell; or the least arguments ``(d,)``
        or ``(d, M)``.
    shown : str
        What the printed text makes of the example, and what is right.
    """

    place: str
    printed: str
    right: str
    example: tuple[int, ...]
    shown: str


def least(nodes: int, shows: Callable[[NDArray[np.int64]], Any]) -> tuple[int, ...]:
    """Return the first loads of so many nodes for which ``shows``, called with (n, nodes), holds.

    They are of the least total, and among these loads of lower addresses are the largest.

    Raises
    ------
    ValueError
        If none of a total below ``TOTALS`` does.
    """
    for total in range(TOTALS):
        loads = np.array(list(_compositions(total, nodes)), dtype=np.int64)
        hits = np.flatnonzero(shows(loads))
        if len(hits):
            return tuple(loads[hits[0]].tolist())
    raise ValueError(f"shows must hold for a total below {TOTALS}, got none")


def each(rule: Callable[..., Any]) -> Callable[[NDArray[np.int64]], Any]:
    """Return a rule of single loads as one of rows of loads."""
    return lambda loads: np.array([rule(*row) for row in loads.tolist()])


def least_d(shows: Callable[[int], bool]) -> int:
    """Return the first dimension for which ``shows`` holds."""
    return next(d for d in range(1, TOTALS) if shows(d))


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total, -1, -1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)
