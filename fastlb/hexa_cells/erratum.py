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
        The least loads of a pair, a triangle or a cell that show it, or the least arguments
        ``(d,)`` or ``(d, M)``.
    shown : str
        The result of the printed text for the example, and the right one.
    """

    place: str
    printed: str
    right: str
    example: tuple[int, ...]
    shown: str


def least_loads(nodes: int, shows: Callable[[NDArray[np.int64]], Any]) -> tuple[int, ...]:
    """Return the loads of least total that show an error.

    Of equal totals, those with the larger loads at lower addresses come first.

    Parameters
    ----------
    nodes : int
    shows : callable
        Of loads (n, nodes), a row each, returns the mask (n,) of those that show the error.

    Raises
    ------
    ValueError
        If no loads of a total below ``TOTALS`` do.
    """
    for total in range(TOTALS):
        loads = np.array(list(_compositions(total, nodes)), dtype=np.int64)
        matches = np.flatnonzero(shows(loads))
        if len(matches):
            return tuple(loads[matches[0]].tolist())
    raise ValueError(f"shows must hold for a total below {TOTALS}, got none")


def row_by_row(rule: Callable[..., Any]) -> Callable[[NDArray[np.int64]], Any]:
    """Return a function of rows of loads that applies ``rule`` to each row."""
    return lambda loads: np.array([rule(*row) for row in loads.tolist()])


def least_dimension(shows: Callable[[int], bool]) -> int:
    """Return the least dimension for which ``shows`` returns True."""
    return next(d for d in range(1, TOTALS) if shows(d))


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total, -1, -1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)
