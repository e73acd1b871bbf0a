"""Where the Hexa-Cell paper is wrong or contradicts itself, each place with its least example."""

from __future__ import annotations

from functools import cache

from .erratum import Erratum

__all__ = ["Erratum", "hexa_cell_errata"]


@cache
def hexa_cell_errata() -> tuple[Erratum, ...]:
    """Return the places where the Hexa-Cell paper is wrong, each with the least example.

    Examples are searched by running the paper's algorithms on loads of larger and larger totals;
    of equal totals, those with the larger loads at lower addresses come first.

    Examples
    --------
    >>> import fastlb as lb
    >>> first = lb.hexa_cell_errata()[0]
    >>> first.place, first.example, first.shown
    ('A, line 9', (3, 0), 'printed (2, 2), 4 units from 3; right (2, 1)')
    """
    from . import errata_algorithms, errata_tables

    return (*errata_algorithms.errata(), *errata_tables.errata())
