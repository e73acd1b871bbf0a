"""Errata of the Hexa-Cell paper's Tables 1-9: errors, times, steps and speeds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..topologies.hexa_cell_topology import HyperHexaCell
from .errata_algorithms import CELL, TWO_CELLS, after_triangle
from .erratum import Erratum, least_dimension, least_loads
from .hexa_cell_costs import LINK_SPEED, hexa_cell_formulas
from .hexa_cell_exchange import hexa_cell
from .hexa_cell_run import ALGORITHMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOUR_CELLS = HyperHexaCell(3)


def errata() -> list[Erratum]:
    """Return the errata table by table."""
    return [*_errors(), *_times(), *_steps(), *_messages_of_c(), *_speeds()]


def count(loads: Any, algorithm: str, name: str) -> Any:
    """Return one counter of cells (.., 6)."""
    return hexa_cell(loads, CELL, algorithm).counts[name]


def printed(name: str, algorithm: str, d: int = 1, M: Any = 0) -> Any:
    """Return one of the formulas, by default of one cell."""
    return hexa_cell_formulas(d, M, algorithm)[name]


def _errors() -> list[Erratum]:
    def spread(*after: NDArray[Any]) -> Any:
        return np.min([np.ptp(loads, axis=-1) for loads in after], axis=0)

    def after_dem(cells: Any) -> Any:
        """Return the difference left by DEM on four cells whose nodes have the same load each."""
        return hexa_cell(np.repeat(cells, 6, axis=-1), FOUR_CELLS, "B").difference

    triangle = least_loads(3, lambda x: spread(*(after_triangle(x, a) for a in ALGORITHMS)) > 1)
    cell = least_loads(6, lambda x: spread(*(hexa_cell(x, CELL, a).loads for a in ALGORITHMS)) > 2)
    level = least_loads(4, lambda x: after_dem(x) > 1)
    beside = least_loads(3, lambda x: (x[:, 0] == 0) & (after_triangle(x, "C") != x).any(axis=1))
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
            level,
            f"printed 1; right {after_dem(level)} with these loads on all nodes of the cells "
            "of d = 3",
        ),
        Erratum(
            "Table 8, step 1",
            "the coordinator of C adjusts the total load",
            "C has none: every node computes the average, and those above it send (2.3.1)",
            beside,
            f"printed: by the empty coordinator; right "
            f"{tuple(after_triangle(np.array(beside), 'C').tolist())}, by the left node",
        ),
    ]


def _times() -> list[Erratum]:
    def longer(algorithm: str) -> Callable[[NDArray[np.int64]], Any]:
        def shows(loads: NDArray[np.int64]) -> Any:
            whole = printed("time", algorithm, M=1) * loads.max(axis=1)
            two = (loads > 0).sum(axis=1) == 2
            return (count(loads, algorithm, "time") > whole) & two

        return shows

    def as_b(loads: NDArray[np.int64]) -> Any:
        """Return where one loaded node takes A exactly the time that is printed for B."""
        whole = printed("time", "B", M=1) * loads.max(axis=1)
        one = (loads > 0).sum(axis=1) == 1
        return (count(loads, "A", "time") == whole) & one

    times = []
    for algorithm, table in zip(ALGORITHMS, (1, 4, 7), strict=True):
        loads = least_loads(6, longer(algorithm))
        times.append(
            Erratum(
                f"Table {table}",
                f"no load up to M takes {algorithm} longer than the formula",
                "it is the time of one loaded node; more can take longer",
                loads,
                f"printed {printed('time', algorithm, M=max(loads))}; "
                f"right {count(loads, algorithm, 'time')}",
            )
        )
    coordinator = least_loads(6, as_b)
    # The sum of the table, M/12 (1 + 1/2 + ..), and its line with the bracket one factor early.
    upwards = {d: Fraction(1, 6) * (1 - Fraction(1, 2 ** (d - 1))) for d in (1, 2, 3)}
    slipped = {d: Fraction(1, 12) * (2 - 2) * Fraction(1, 2 ** (d - 1)) for d in upwards}
    d = least_dimension(lambda d: upwards[d] != slipped[d])
    first = least_dimension(lambda d: HyperHexaCell(d).cells > 1)
    return [
        *times,
        Erratum(
            "Table 1, one loaded node",
            "A takes longer than B wherever the load is",
            "a loaded coordinator takes B's time",
            coordinator,
            f"printed {printed('time', 'A', M=max(coordinator))}; "
            f"right {count(coordinator, 'A', 'time')}",
        ),
        Erratum(
            "Table 7, phase 2",
            "(M/12) ((2-2) (1/2)^(d-1)): the bracket closes too early",
            "(M/12) (2 - 2 (1/2)^(d-1)), as in Tables 1 and 4",
            (d, 1),
            f"printed {slipped[d]}; right {upwards[d]} for (d, M)",
        ),
        Erratum(
            "Tables 4, 7, phase 2",
            "the dimensions are d+1, d+2 and d+2",
            "2, 3, 4, .. as in Table 1",
            (first,),
            f"printed first dimension {first + 1}; right {first} in the network of d = {first}",
        ),
    ]


def _steps() -> list[Erratum]:
    most = {a: printed("corrected_max_steps", a) for a in ALGORITHMS}
    reached = least_loads(6, lambda x: count(x, "A", "endpoint_max") == most["A"])
    total = least_loads(6, lambda x: count(x, "A", "endpoint_total") > printed("total_steps", "A"))
    ordered = least_loads(
        6, lambda x: count(x, "B", "endpoint_total") < count(x, "C", "endpoint_total")
    )
    ends = {a: count(ordered, a, "endpoint_total") for a in "BC"}
    return [
        Erratum(
            "Table 3, most of a node",
            "3d + 8: the 3 of left or right and the 5 of the coordinator added up",
            "3d + 6, as for B, whose claimed advantage vanishes",
            reached,
            f"printed {printed('max_steps', 'A')}; right {most['A']}, reached here (d = 1)",
        ),
        Erratum(
            "Table 3, step 1 and total",
            "3 * 3 steps in two triangles, in all 18d + 29 a cell",
            "2 * 6 (two nodes, 3 each), in all 18d + 32; the printed total is no upper bound",
            total,
            f"printed {printed('total_steps', 'A')}; right {count(total, 'A', 'endpoint_total')}",
        ),
        Erratum(
            "Table 9 beside 3 and 6",
            "the totals of C are set beside those of A and B",
            "C's count messages, the others both ends of each; counted alike B needs less",
            ordered,
            f"printed order C < B ({printed('total_steps', 'C')} < "
            f"{printed('total_steps', 'B')}); right B {ends['B']} < C {ends['C']} sends and "
            "receives without load",
        ),
    ]


def _messages_of_c() -> list[Erratum]:
    def in_triangle(loads: Any) -> Any:
        """Return the messages of C in a triangle beside an empty one."""
        cells = np.concatenate([loads, np.zeros_like(loads)], axis=-1)
        b = hexa_cell(cells, CELL, "C", record="flows")
        # Two triangles' polls and three pairs' weights are always there.
        polled_again = b.counts["information"] - 2 * 6 - 3 * 2
        return 6 + polled_again + np.count_nonzero(b.flows[..., [0, 1, 3]], axis=-1)

    def in_pair(pairs: Any) -> Any:
        """Return the messages of C between two nodes along a dimension."""
        cells = np.repeat(pairs, 6, axis=-1)
        inside = sum(count(cells[..., i : i + 6], "C", "messages") for i in (0, 6))
        return (hexa_cell(cells, TWO_CELLS, "C").counts["messages"] - inside) // 6

    limit = printed("total_steps", "C")
    messages = least_loads(6, lambda x: count(x, "C", "messages") > limit)
    triangle = least_loads(3, lambda x: in_triangle(x) == 6 + 2 + 2)
    pair = least_loads(2, lambda x: in_pair(x) == 2 + 1)
    most = printed("corrected_max_steps", "C")
    reached = least_loads(6, lambda x: count(x, "C", "endpoint_max") == most)
    return [
        Erratum(
            "Table 9, total",
            "29 messages a cell and 12 a dimension are a worst case",
            "24 + 9d messages; the printed total is too small for d below 3",
            messages,
            f"printed {limit}; right {count(messages, 'C', 'messages')} (d = 1)",
        ),
        Erratum(
            "Table 9, step 2",
            "4 + 2 + 2 steps make 10",
            "6 + 2 + 2: step 1 counts 6 polls",
            triangle,
            f"printed terms {4 + 2 + 2}; right {in_triangle(np.array(triangle))} messages",
        ),
        Erratum(
            "Table 9, phase 2",
            "2 messages a node and dimension, so 4 a pair",
            "3 a pair, as in its own part 2: load goes one way",
            pair,
            f"printed {2 * 2}; right {in_pair(np.array(pair))}, the most there are",
        ),
        Erratum(
            "Table 9, most of a node",
            "20 + 9 = 29 at any node of a cell: the messages of all six nodes added up",
            "3d + 8 of one node",
            reached,
            f"printed {20 + 9}; right {most}, reached here (d = 1)",
        ),
    ]


def _speeds() -> list[Erratum]:
    faster = least_dimension(lambda d: printed("speed", "A", d) > printed("speed", "B", d))
    fastest = least_dimension(lambda d: printed("speed", "C", d) > printed("speed", "B", d))
    alike = LINK_SPEED * printed("total_steps", "B", fastest)
    apart = least_dimension(
        lambda d: printed("speed", "C", d) != printed("speed_as_printed", "C", d)
    )
    return [
        Erratum(
            "2.1.3 D, 2.2.3 C, 2.3.3 C",
            "speed = steps x 250 Mb/s",
            "a number of steps times a rate is no speed; more steps are not faster",
            (faster,),
            f"printed A {printed('speed', 'A', faster):,} Mb/s, B "
            f"{printed('speed', 'B', faster):,} Mb/s; right: A has more steps (d = {faster})",
        ),
        Erratum(
            "2.3.3 C beside 2.1.3 D and 2.2.3 C",
            "the speed of C is its total x 250 Mb/s, those of A and B the most of a node x 250",
            "one or the other; by the printed totals B is above C",
            (fastest,),
            f"printed C {printed('speed', 'C', fastest):,} Mb/s, "
            f"B {printed('speed', 'B', fastest):,}; right: by its total B {alike:,} "
            f"(d = {fastest})",
        ),
        Erratum(
            "2.3.3 C, speed",
            "the factor 250 stands behind the second term alone",
            "the sum in brackets",
            (apart,),
            f"printed {printed('speed_as_printed', 'C', apart)}; "
            f"right {printed('speed', 'C', apart)} (d = {apart})",
        ),
    ]
