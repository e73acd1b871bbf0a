"""Where the Hexa-Cell paper is wrong or contradicts itself, each place with its least example.

Examples are searched for: loads of the least total, and among these the first, loads of lower
addresses being the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .hexa_cell_costs import hexa_cell_formulas
from .hexa_cell_exchange import ALGORITHMS, hexa_cell
from .hexa_cell_topology import HyperHexaCell

if TYPE_CHECKING:
    from numpy.typing import NDArray

CELL = HyperHexaCell(1)
TOTALS = 40


@dataclass(frozen=True)
class Erratum:
    """One place of the paper.

    Attributes
    ----------
    place : str
        Section, table or line.
    printed, right : str
        What it says, and what holds.
    example : tuple of int
        Least loads that show it: of a pair, a triangle or a cell, or the arguments (d, M);
        empty for a slip of the text alone.
    shown : str
        What the printed text makes of the example, and what is right.
    """

    place: str
    printed: str
    right: str
    example: tuple[int, ...]
    shown: str


@cache
def hexa_cell_errata() -> tuple[Erratum, ...]:
    """Return the places where the Hexa-Cell paper is wrong, with examples found by running it.

    Examples
    --------
    >>> import fastlb as lb
    >>> first = lb.hexa_cell_errata()[0]
    >>> first.place, first.example, first.shown
    ('A, line 9', (3, 0), 'printed (2, 2), 4 units from 3; right (2, 1)')
    """
    return (*_pseudo_code(), *_texts(), *_bounds(), *_times(), *_steps(), *_speeds())


def least(nodes: int, shows: Callable[[NDArray[np.int64]], Any]) -> tuple[int, ...]:
    """Return the first loads of so many nodes for which ``shows``, called with (n, nodes), holds.

    Raises
    ------
    ValueError
        If none of a total below ``TOTALS`` does.
    """
    for total in range(TOTALS):
        loads = np.array(list(_compositions(total, nodes)), dtype=np.int64)
        found = np.flatnonzero(shows(loads))
        if len(found):
            return tuple(loads[found[0]].tolist())
    raise ValueError(f"shows must hold for a total below {TOTALS}, got none")


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total, -1, -1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def _each(rule: Callable[..., bool]) -> Callable[[NDArray[np.int64]], Any]:
    return lambda loads: np.array([rule(*row) for row in loads.tolist()])


def _after_triangle(loads: Any, algorithm: str) -> NDArray[Any]:
    """Return triangles (.., 3) after the first phase."""
    cells = np.concatenate([loads, np.zeros_like(loads)], axis=-1)
    return hexa_cell(cells, CELL, algorithm, record="flows").after_triangle[..., :3]


def _averaged(x: int, y: int) -> tuple[int, int]:
    sent = abs(x - y) // 2
    return (x - sent, y + sent) if x > y else (x + sent, y - sent)


def printed_pair(left: int, right: int) -> tuple[int, int]:
    """Return what lines 3-9 of Algorithm A, taken literally, make of left and right."""
    average = (left + right + 1) // 2
    after = []
    for own in (left, right):
        receives = own < average and abs(left - right) > 1
        after.append(average if own > average or receives else own)
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


def printed_excess_of_c(loads: tuple[int, ...], looks: int) -> list[int]:
    """Return MyExcessLoad of the first node with any, at first and after each peer looked at."""
    average = (sum(loads) + 2) // 3
    node = next(i for i, load in enumerate(loads) if load > average)
    peers = [load for i, load in enumerate(loads) if i != node]
    excess = [loads[node] - average]
    for look in range(looks):
        needed = peers[look % 2] - average
        sent = needed if excess[-1] >= needed else excess[-1]
        excess.append(excess[-1] - sent if needed < 0 else excess[-1])
    return excess


def _pseudo_code() -> list[Erratum]:
    a_pair = least(2, _each(lambda x, y: sum(printed_pair(x, y)) != x + y))
    made = printed_pair(*a_pair)
    b_pair = least(2, _each(lambda x, y: (x + y) % 2 == 0 and min(printed_dem_of_b(x, y)) < 0))
    above = least(3, lambda loads: loads.max(axis=1) > (loads.sum(axis=1) + 2) // 3)
    growing = ", ".join(map(str, printed_excess_of_c(above, 3)))
    after = tuple(_after_triangle(np.array(above), "C").tolist())
    return [
        Erratum(
            "A, line 9",
            "the receiver ends with the average",
            "it receives what was sent, floor(diff/2)",
            a_pair,
            f"printed {made}, {sum(made)} units from {sum(a_pair)}; right {_averaged(*a_pair)}",
        ),
        Erratum(
            "B, lines 20-23",
            "the average is compared with 0, and a receiver adds average - neighbour's load",
            "the average is compared with the own load; neighbour's load - average is received",
            b_pair,
            f"printed {printed_dem_of_b(*b_pair)}; right {_averaged(*b_pair)}",
        ),
        Erratum(
            "C, lines 10-16",
            "the need of a peer is its load - average, and is subtracted from the excess",
            "it is average - load; with the printed sign the excess never ends",
            above,
            f"printed excess {growing}, ..; right {after}",
        ),
    ]


def _texts() -> list[Erratum]:
    def never_ends(*loads: int) -> bool:
        average = (sum(loads) + 1) // 3
        return max(loads) > average and min(loads) >= average

    endless = least(3, _each(never_ends))
    # The text lets the node below the average report, the lines the right one if none received.
    told = least(2, _each(lambda x, y: x < (x + y + 1) // 2 and abs(x - y) <= 1))
    odd = least(2, _each(lambda x, y: (x + y) % 2 == 1))
    cell_pair = np.repeat(odd, 6)
    floor = hexa_cell(cell_pair, HyperHexaCell(2), "A", odd_unit="lower", record="loads").loads
    kept = hexa_cell(cell_pair, HyperHexaCell(2), "A", record="loads").loads
    return [
        Erratum(
            "C, 2.3.3 step 2",
            "the average of a triangle is floor((total+1)/3)",
            "floor((total+2)/3), as in its line 4; with +1 an excess may find no taker",
            endless,
            f"printed average {(sum(endless) + 1) // 3}, which the rest have: no end; "
            f"right average {(sum(endless) + 2) // 3}, nothing moves",
        ),
        Erratum(
            "A, 2.1.2 step 1 C",
            "a node below the average reports to the coordinator",
            "the receiver reports if the weights differ by more than 1, else the right node "
            "(lines 8-13)",
            told,
            "printed left; right: the right node",
        ),
        Erratum(
            "A, lines 31 and 38",
            "pairs average by floor((x+y+1)/2) in the prism, by floor((x+y)/2) in DEM",
            "one rule, the higher keeps the odd unit; the other as odd_unit='lower'",
            odd,
            f"printed ({floor[0]}, {floor[6]}), a swap; right ({kept[0]}, {kept[6]})",
        ),
        Erratum(
            "C, 2.3.3 part 2",
            "each node sends what exceeds the floor average",
            "only at a difference of at least 2 (lines 3 and 4)",
            odd,
            f"printed ({odd[1]}, {odd[0]}), a swap; right {odd}",
        ),
    ]


def _bounds() -> list[Erratum]:
    def spread(*after: NDArray[Any]) -> Any:
        return np.min([np.ptp(loads, axis=-1) for loads in after], axis=0)

    triangle = least(3, lambda x: spread(*(_after_triangle(x, a) for a in ALGORITHMS)) > 1)
    cell = least(6, lambda x: spread(*(hexa_cell(x, CELL, a).loads for a in ALGORITHMS)) > 2)
    level = np.bitwise_count(np.arange(4)).astype(np.int64)
    dem = hexa_cell(np.repeat(level, 6), HyperHexaCell(3), "B").difference
    return [
        Erratum(
            "Tables 2, 5, 8, step 1",
            "error of a triangle at most 1",
            "at most 2",
            triangle,
            "printed 1; right 2, it stays as it is in A, B and C",
        ),
        Erratum(
            "Tables 2, 5, 8, total",
            "error at most d + 1",
            "at most d + 2",
            cell,
            "printed 2; right 3 in A, B and C (d = 1)",
        ),
        Erratum(
            "Table 5, step 3",
            "maximum error 1, beside d - 1 in its own remark",
            "d - 1",
            tuple(level.tolist()),
            f"printed 1; right {dem} with these loads on all nodes of the cells of d = 3",
        ),
    ]


def _times() -> list[Erratum]:
    def longer(algorithm: str) -> Callable[[NDArray[np.int64]], Any]:
        def shows(loads: NDArray[np.int64]) -> Any:
            times = hexa_cell(loads, CELL, algorithm).counts["time"]
            whole = hexa_cell_formulas(1, 1, algorithm)["time"] * loads.max(axis=1)
            return (times > whole) & ((loads > 0).sum(axis=1) == 2)

        return shows

    found = []
    for algorithm, table in zip(ALGORITHMS, (1, 4, 7), strict=True):
        loads = least(6, longer(algorithm))
        printed = hexa_cell_formulas(1, max(loads), algorithm)["time"]
        time = hexa_cell(loads, CELL, algorithm).counts["time"]
        found.append(
            Erratum(
                f"Table {table}",
                f"no load up to M takes {algorithm} longer than the formula",
                "it is the time of one loaded node; more can take longer",
                loads,
                f"printed {printed}; right {time}",
            )
        )
    coordinator = (6, 0, 0, 0, 0, 0)
    time = hexa_cell(coordinator, CELL, "A").counts["time"]
    printed = hexa_cell_formulas(1, 6, "A")["time"]
    return [
        *found,
        Erratum(
            "Table 1",
            "A takes longer than B wherever the load is",
            "a loaded coordinator takes B's time",
            coordinator,
            f"printed {printed}; right {time}",
        ),
        Erratum(
            "Tables 4, 7, phase 2",
            "the dimensions are d+1, d+2 and d+2",
            "2, 3, 4, .. as in Table 1",
            (),
            "",
        ),
    ]


def _steps() -> list[Erratum]:
    def count(loads: Any, algorithm: str, name: str) -> Any:
        return hexa_cell(loads, CELL, algorithm).counts[name]

    limits = {a: hexa_cell_formulas(1, 0, a) for a in ALGORITHMS}
    most = {a: limits[a]["corrected_max_steps"] for a in ALGORITHMS}
    reached_a = least(6, lambda x: count(x, "A", "endpoint_max") == most["A"])
    reached_c = least(6, lambda x: count(x, "C", "endpoint_max") == most["C"])
    printed = {a: limits[a]["total_steps"] for a in ALGORITHMS}
    total = least(6, lambda x: count(x, "A", "endpoint_total") > printed["A"])
    messages = least(6, lambda x: count(x, "C", "messages") > printed["C"])
    still = (0,) * 6
    ends = {a: count(still, a, "endpoint_total") for a in ALGORITHMS}
    return [
        Erratum(
            "Table 3, most of a node",
            "3d + 8: the 3 of left or right and the 5 of the coordinator added up",
            "3d + 6, as for B, whose claimed advantage vanishes",
            reached_a,
            f"printed {limits['A']['max_steps']}; right {most['A']}, reached here (d = 1)",
        ),
        Erratum(
            "Table 3, step 1 and total",
            "3 * 3 steps in two triangles, in all 18d + 29 a cell",
            "2 * 6 (two nodes, 3 each), in all 18d + 32; the printed total is no upper bound",
            total,
            f"printed {printed['A']}; right {count(total, 'A', 'endpoint_total')}",
        ),
        Erratum(
            "Table 9 beside 3 and 6",
            "the totals of C are set beside those of A and B",
            "C's count messages, the others both ends of each; counted alike B needs less",
            still,
            f"printed order C < B ({printed['C']} < {printed['B']}); right B {ends['B']} < "
            f"C {ends['C']} sends and receives without load",
        ),
        Erratum(
            "Table 9, total",
            "29 messages a cell and 12 a dimension are a worst case",
            "24 + 9d messages; the printed total is too small for d below 3",
            messages,
            f"printed {printed['C']}; right {count(messages, 'C', 'messages')} (d = 1)",
        ),
        Erratum(
            "Table 9, step 2",
            "4 + 2 + 2 steps make 10",
            "6 + 2 + 2: step 1 counts 6 polls",
            (),
            "",
        ),
        Erratum(
            "Table 9, phase 2",
            "2 messages a node and dimension, so 4 a pair",
            "3 a pair, as in its own part 2: load goes one way",
            (),
            "",
        ),
        Erratum(
            "Table 9, most of a node",
            "(missing)",
            "3d + 8",
            reached_c,
            f"right {most['C']}, reached here (d = 1)",
        ),
    ]


def _speeds() -> list[Erratum]:
    costs = hexa_cell_formulas(2, 600, "C")
    return [
        Erratum(
            "2.1.3 D, 2.2.3 C, 2.3.3 C",
            "speed = steps x 250 Mb/s",
            "a number of steps times a rate is no speed; more steps are not faster",
            (),
            "",
        ),
        Erratum(
            "2.3.3 C, speed",
            "the factor 250 stands behind the second term alone",
            "the sum in brackets",
            (2, 600),
            f"printed {costs['speed_as_printed']}; right {costs['speed']} for (d, M)",
        ),
    ]
