"""Errata of the Hexa-Cell paper's pseudo-code and of its descriptions in words."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..topologies.hexa_cell_topology import HyperHexaCell
from .erratum import Erratum, least_dimension, least_loads, row_by_row
from .hexa_cell_exchange import hexa_cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

CELL, TWO_CELLS = HyperHexaCell(1), HyperHexaCell(2)


def errata() -> list[Erratum]:
    """Return the errata, those of pseudo-code first."""
    return [*_lines(), *_averages(), *_texts()]


def after_triangle(loads: Any, algorithm: str) -> NDArray[Any]:
    """Return triangles (.., 3) after the first phase."""
    cells = np.concatenate([loads, np.zeros_like(loads)], axis=-1)
    return hexa_cell(cells, CELL, algorithm, record="flows").after_triangle[..., :3]


def after_dimension(pairs: Any, algorithm: str, **options: Any) -> NDArray[Any]:
    """Return pairs (.., 2) after an exchange along a dimension, which no other phase disturbs."""
    cells = np.repeat(pairs, 6, axis=-1)
    return hexa_cell(cells, TWO_CELLS, algorithm, record="loads", **options).loads[..., ::6]


def _as_tuple(loads: NDArray[Any]) -> tuple[int, ...]:
    values: list[int] = loads.tolist()
    return tuple(values)


def printed_pair(left: int, right: int) -> tuple[int, int]:
    """Return what lines 3-9 of Algorithm A, taken literally, make of left and right."""
    average = (left + right + 1) // 2
    after = []
    for own in (left, right):
        receives = own < average and abs(left - right) > 1
        after.append(average if own > average or receives else own)
    return after[0], after[1]


def printed_dem_of_a(x: int, y: int) -> tuple[int, int]:
    """Return what lines 38-43 of Algorithm A make of a pair, its average floored."""
    average = (x + y) // 2
    after = []
    for own, other in ((x, y), (y, x)):
        received = other - average if own < average else 0
        after.append(average if own > average else own + received)
    return after[0], after[1]


def printed_dem_of_b(x: int, y: int) -> tuple[int, int]:
    """Return what lines 19-23 of Algorithm B make of a pair whose average is an integer.

    The test is read as it must be meant, own load against the average.
    """
    average = (x + y) // 2
    after = []
    for own, other in ((x, y), (y, x)):
        after.append(average if own > average else own + (average - other))
    return after[0], after[1]


def printed_excess_of_c(loads: tuple[int, ...], steps: int) -> list[int]:
    """Return MyExcessLoad of the first node with excess, at first and after each step.

    A step compares with a peer's load, the two peers in turn.
    """
    average = (sum(loads) + 2) // 3
    node = next(i for i, load in enumerate(loads) if load > average)
    peers = [load for i, load in enumerate(loads) if i != node]
    excess = [loads[node] - average]
    for step in range(steps):
        needed = peers[step % 2] - average
        sent = needed if excess[-1] >= needed else excess[-1]
        excess.append(excess[-1] - sent if needed < 0 else excess[-1])
    return excess


def printed_dem_in_words(x: int, y: int) -> tuple[int, int]:
    """Return what step B of phase 2 makes of a pair: the node below the average sends."""
    average = (x + y) // 2
    sent_by_x, sent_by_y = max(average - x, 0), max(average - y, 0)
    return x - sent_by_x + sent_by_y, y - sent_by_y + sent_by_x


def printed_halves(first: int, left: int, right: int) -> tuple[Fraction, ...]:
    """Return a triangle whose coordinator sends half of its excess to either node (2.1.2, A)."""
    half = max(Fraction(first - (first + left + right + 2) // 3, 2), Fraction(0))
    return first - 2 * half, left + half, right + half


def floored_pair(x: int, y: int) -> tuple[int, int]:
    """Return a pair after the higher node has sent what exceeds the floor of the average."""
    sent = max(x, y) - (x + y) // 2
    return (x - sent, y + sent) if x > y else (x + sent, y - sent)


def _lines() -> list[Erratum]:
    a_pair = least_loads(2, row_by_row(lambda x, y: sum(printed_pair(x, y)) != x + y))
    a_printed = printed_pair(*a_pair)
    dem_pair = least_loads(2, row_by_row(lambda x, y: sum(printed_dem_of_a(x, y)) < x + y))
    dem_printed = printed_dem_of_a(*dem_pair)
    b_pair = least_loads(
        2, row_by_row(lambda x, y: (x + y) % 2 == 0 and min(printed_dem_of_b(x, y)) < 0)
    )
    c_loads = least_loads(3, lambda loads: loads.max(axis=1) > (loads.sum(axis=1) + 2) // 3)
    c_excess = ", ".join(map(str, printed_excess_of_c(c_loads, 3)))
    return [
        Erratum(
            "A, line 9",
            "the receiver ends with the average",
            "it receives what was sent, floor(diff/2)",
            a_pair,
            f"printed {a_printed}, {sum(a_printed)} units from {sum(a_pair)}; "
            f"right {_as_tuple(after_dimension(a_pair, 'A'))}",
        ),
        Erratum(
            "A, lines 39-43",
            "only a node below the (floored) average receives",
            "every node receives what is sent to it",
            dem_pair,
            f"printed {dem_printed}, {sum(dem_printed)} units from {sum(dem_pair)}; "
            f"right {_as_tuple(after_dimension(dem_pair, 'A'))}",
        ),
        Erratum(
            "B, lines 20-23",
            "the average is compared with 0, and a receiver adds average - neighbour's load",
            "the average is compared with the own load; neighbour's load - average is received",
            b_pair,
            f"printed {printed_dem_of_b(*b_pair)}; right {_as_tuple(after_dimension(b_pair, 'B'))}",
        ),
        Erratum(
            "C, lines 10-16",
            "the need of a peer is its load - average, and is subtracted from the excess",
            "it is average - load; with the printed sign the excess never ends",
            c_loads,
            f"printed excess {c_excess}, ..; "
            f"right {_as_tuple(after_triangle(np.array(c_loads), 'C'))}",
        ),
    ]


def _averages() -> list[Erratum]:
    """Return the errata about how averages are rounded."""

    def never_ends(added: int) -> Any:
        """Return whether a load exceeds floor((total + added) / 3) while none is below it."""

        def shows(*loads: int) -> bool:
            average = (sum(loads) + added) // 3
            return max(loads) > average and min(loads) >= average

        return row_by_row(shows)

    endless, floored = least_loads(3, never_ends(1)), least_loads(3, never_ends(0))
    odd = least_loads(2, row_by_row(lambda x, y: (x + y + 1) // 2 != (x + y) // 2))
    swapped = least_loads(
        2, lambda x: (after_dimension(x, "C") != row_by_row(floored_pair)(x)).any(axis=1)
    )
    return [
        Erratum(
            "A, lines 32 and 38; B, lines 12 and 19",
            "pairs average by floor((x+y+1)/2) in the prism, by (x+y)/2 in DEM",
            "one rule, the higher keeps the odd unit; A's floor in DEM as odd_unit='lower'",
            odd,
            f"printed {_as_tuple(after_dimension(odd, 'A', odd_unit='lower'))} in DEM, a swap; "
            f"right {_as_tuple(after_dimension(odd, 'A'))}",
        ),
        Erratum(
            "A, 2.1.2, parts 1 and 2; B, 2.2.2, part 2",
            "averages are floored",
            "after adding 2 for three nodes, 1 for two (A, lines 3, 16, 32; B, lines 5, 12)",
            floored,
            f"printed average {sum(floored) // 3}, an excess of "
            f"{max(floored) - sum(floored) // 3} without a taker; "
            f"right {(sum(floored) + 2) // 3}, nothing moves",
        ),
        Erratum(
            "C, 2.3.3 step 2",
            "the average of a triangle is floor((total+1)/3)",
            "floor((total+2)/3), as in its line 4; with +1 an excess may find no taker",
            endless,
            f"printed average {(sum(endless) + 1) // 3}, which the rest have: no end; "
            f"right average {(sum(endless) + 2) // 3}, nothing moves",
        ),
        Erratum(
            "C, 2.3.3 part 2",
            "each node sends what exceeds the floor average",
            "only at a difference of at least 2 (lines 3 and 4)",
            swapped,
            f"printed {floored_pair(*swapped)}, a swap; "
            f"right {_as_tuple(after_dimension(swapped, 'C'))}",
        ),
    ]


def _texts() -> list[Erratum]:
    # In the text the node below the average reports, in the lines the right node if none received.
    example = least_loads(2, row_by_row(lambda x, y: x < (x + y + 1) // 2 and abs(x - y) <= 1))
    upwards = least_loads(2, row_by_row(lambda x, y: min(printed_dem_in_words(x, y)) < 0))
    halved = least_loads(
        3, row_by_row(lambda *x: any(load.denominator > 1 for load in printed_halves(*x)))
    )
    halves = ", ".join(map(str, printed_halves(*halved)))
    differing = least_loads(
        2, lambda x: (after_dimension(x, "A") != after_dimension(x, "C")).any(axis=1)
    )
    sizes = {
        d: HyperHexaCell(d).size for d in (least_dimension(_has(96)), least_dimension(_has(768)))
    }
    small, large = sizes
    return [
        Erratum(
            "A, 2.1.2; B, 2.2.2; C, 2.3.3: phase 2, step B",
            "a node sends if the average is greater than its load",
            "if it is less: the sign is reversed in all three",
            upwards,
            f"printed {printed_dem_in_words(*upwards)}; "
            f"right {_as_tuple(after_dimension(upwards, 'A'))}",
        ),
        Erratum(
            "A, 2.1.2 step 1 C",
            "a node below the average reports to the coordinator",
            "the receiver reports if the weights differ by more than 1, else the right node "
            "(lines 8-13)",
            example,
            "printed left; right: the right node",
        ),
        Erratum(
            "A, 2.1.2 step 2 A",
            "the coordinator sends half of its excess to either node",
            "to one or both, according to their weights (line 20): the lighter first",
            halved,
            f"printed ({halves}); right {_as_tuple(after_triangle(np.array(halved), 'A'))}",
        ),
        Erratum(
            "2 and 4",
            "A, B and C differ in the first phase alone",
            "C's prism and DEM send the larger half, and only at a difference of at least 2",
            differing,
            f"printed the same; right {_as_tuple(after_dimension(differing, 'A'))} in A and B, "
            f"{_as_tuple(after_dimension(differing, 'C'))} in C",
        ),
        Erratum(
            "3.2.1",
            "Figure 4 is of 96 processors",
            "768, as its caption says; 96 are Figure 3",
            (small, large),
            f"{sizes[small]} nodes are d = {small}, {sizes[large]} nodes d = {large}",
        ),
    ]


def _has(nodes: int) -> Any:
    return lambda d: HyperHexaCell(d).size == nodes
