"""Figures 3-11 of the Hexa-Cell paper as data, its errata, and its sentences put to the test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errata import hexa_cell_errata
from ..hexa_cell_costs import hexa_cell_formulas
from ..hexa_cell_exchange import hexa_cell
from ..hexa_cell_topology import INTERIOR, HyperHexaCell
from ..report import Statement, Table, Value
from .hexa_cell import (
    DIMENSIONS,
    EVEN_UNITS,
    FIXED_UNITS,
    METHODS,
    NETWORKS,
    UNITS,
    random_loads,
)

if TYPE_CHECKING:
    from ..result import Balance
    from ..results import Results, Statistic

COORDINATOR, LEFT = 0, 1
PRINTED, CORRECTED, SIMULATED, RANDOM = "printed", "corrected", "simulated", "random"


@dataclass(frozen=True)
class Series:
    """One curve of a figure: its label, what kind of curve, a value and maybe an error each."""

    label: str
    kind: str
    values: Sequence[Value]
    errors: Sequence[float | None] | None = None


@dataclass(frozen=True)
class Figure:
    """One of Figures 3-11.

    Attributes
    ----------
    number, title, unit
        Of the figure and its axis.
    by : str
        What the values depend on; ``at`` are its values.
    series : the curves
    log : bool
        Whether values grow as the network does.
    """

    number: int
    title: str
    unit: str
    by: str
    at: Sequence[int]
    series: Sequence[Series]
    log: bool

    @property
    def name(self) -> str:
        """Names its files."""
        return f"figure-{self.number}"

    def table(self) -> Table:
        """Return the data of the figure: a line a point."""
        columns: list[Value] = [self.by, *(series.label for series in self.series)]
        values = [self.at, *(series.values for series in self.series)]
        rows = [list(row) for row in zip(*values, strict=True)]
        title = f"Figure {self.number}: {self.title} ({self.unit})"
        places = 0 if self.by == "M" else 1
        return Table(self.name, title, columns, rows, [places] * len(columns), self._note())

    def _note(self) -> str:
        relative = [
            error / value
            for series in self.series
            for value, error in zip(series.values, series.errors or (), strict=False)
            if error is not None and isinstance(value, float)
        ]
        if not relative:
            return ""
        return (
            f"Standard errors of random loads are at most {100 * max(relative):.1f}% of the mean."
        )


class Found:
    """What one loaded node costs, and what the trials found on random loads."""

    def __init__(self, results: Results) -> None:
        self.trials = results.study.trials
        self._summary = results.summary()

    def statistic(self, figure: str, algorithm: str, d: int, M: int) -> Statistic:
        """Return one figure of random loads over the trials."""
        key = HyperHexaCell(d).spec, METHODS[algorithm], random_loads(M).spec
        return self._summary[key][figure]

    def one_loaded(self, figure: str, algorithm: str, d: int, M: int, node: int) -> int:
        """Return one counter of one node with M units, at one of the six positions."""
        return int(_six_positions(algorithm, d, M).counts[figure][node])


@cache
def _six_positions(algorithm: str, d: int, M: int) -> Balance:
    """Balance six networks, in each of which another node of cell 0 has all the load."""
    topology = HyperHexaCell(d)
    return hexa_cell(M * np.eye(6, topology.size, dtype=np.int64), topology, algorithm)


def figures(found: Found) -> list[Figure]:
    """Return Figures 3-11 in the paper's order."""
    by_units = [_by_units(found, 3, "AB", 96), _by_units(found, 4, "AB", 768)]
    steps = [_steps(found, 6, "A"), _steps(found, 7, "B")]
    c_by_units = [_by_units(found, 8, "C", 96), _by_units(found, 9, "C", 768)]
    by_d = {number: _by_dimension(found, number, names) for number, names in ((5, "AB"), (10, "C"))}
    return [*by_units, by_d[5], *steps, *c_by_units, by_d[10], _messages(found)]


def _by_units(found: Found, number: int, algorithms: str, processors: int) -> Figure:
    d = NETWORKS[processors].d
    points = [(d, M) for M in UNITS]
    return Figure(
        number,
        f"Execution time of {' and '.join(algorithms)}, {processors} processors",
        "units on the critical path",
        "M",
        UNITS,
        _time_series(found, algorithms, points),
        log=False,
    )


def _by_dimension(found: Found, number: int, algorithms: str) -> Figure:
    points = [(d, FIXED_UNITS) for d in DIMENSIONS]
    return Figure(
        number,
        f"Execution time of {' and '.join(algorithms)}, M = {FIXED_UNITS}",
        "units on the critical path",
        "d",
        DIMENSIONS,
        _time_series(found, algorithms, points),
        log=False,
    )


def _time_series(found: Found, algorithms: str, points: list[tuple[int, int]]) -> list[Series]:
    series = []
    for name in algorithms:
        printed = [float(hexa_cell_formulas(d, M, name)["time"] or 0) for d, M in points]
        series.append(Series(f"{name} printed", PRINTED, printed))
        where = {"left": LEFT, "coord.": COORDINATOR} if name == "A" else {"one node": LEFT}
        for node_name, node in where.items():
            one = [found.one_loaded("time", name, d, M, node) for d, M in points]
            series.append(Series(f"{name} {node_name}", SIMULATED, one))
        drawn = [found.statistic("counts.time", name, d, M) for d, M in points]
        series.append(_random(f"{name} random", drawn))
    return series


def _random(label: str, drawn: Sequence[Statistic]) -> Series:
    errors = [s.standard_error if s.trials > 1 else None for s in drawn]
    return Series(label, RANDOM, [s.mean for s in drawn], errors)


def _steps(found: Found, number: int, name: str) -> Figure:
    """Return Figure 6 or 7, which the paper draws multiplied by 250 Mb/s."""
    costs = [hexa_cell_formulas(d, FIXED_UNITS, name) for d in DIMENSIONS]
    drawn = [found.statistic("counts.endpoint_max", name, d, FIXED_UNITS) for d in DIMENSIONS]
    one = [
        max(found.one_loaded("endpoint_max", name, d, FIXED_UNITS, node) for node in range(6))
        for d in DIMENSIONS
    ]
    series = [
        Series("printed", PRINTED, [_whole(c["max_steps"]) for c in costs]),
        Series("corrected", CORRECTED, [_whole(c["corrected_max_steps"]) for c in costs]),
        Series("one node loaded", SIMULATED, one),
        Series("random loads, most of all trials", RANDOM, [round(s.maximum) for s in drawn]),
    ]
    title = f"Steps of the busiest node in {name}; times 250 the paper's speed"
    return Figure(number, title, "sends and receives", "d", DIMENSIONS, series, log=False)


def _messages(found: Found) -> Figure:
    """Return Figure 11: C's messages in all, printed as a speed when multiplied by 250 Mb/s."""
    costs = [hexa_cell_formulas(d, FIXED_UNITS, "C") for d in DIMENSIONS]
    drawn = [found.statistic("counts.messages", "C", d, FIXED_UNITS) for d in DIMENSIONS]
    one = [
        max(found.one_loaded("messages", "C", d, FIXED_UNITS, node) for node in range(6))
        for d in DIMENSIONS
    ]
    series = [
        Series("printed", PRINTED, [_whole(c["total_steps"]) for c in costs]),
        Series("corrected", CORRECTED, [_whole(c["corrected_total_steps"]) // 2 for c in costs]),
        Series("one node loaded", SIMULATED, one),
        _random("random loads", drawn),
    ]
    title = "Messages of C in all; times 250 the paper's speed"
    return Figure(11, title, "messages", "d", DIMENSIONS, series, log=True)


def one_node(found: Found) -> Table:
    """Return the time of one loaded node in each of the six positions beside the formulas."""
    nodes = range(len(INTERIOR))
    rows: list[list[Value]] = []
    for name in METHODS:
        for d in DIMENSIONS:
            times = [found.one_loaded("time", name, d, EVEN_UNITS, node) for node in nodes]
            costs = hexa_cell_formulas(d, EVEN_UNITS, name)
            bound = float(costs["corrected_time"] or 0)
            rows.append([name, d, *times, float(costs["time"] or 0), bound])
    return Table(
        "one-node",
        f"Time of one loaded node by position, M = {EVEN_UNITS:,}",
        ["algorithm", "d", *INTERIOR, "printed", "bound for any loads"],
        rows,
        [0] * 8 + [1, 1],
        note="000 and 100 are coordinators: loaded, they take B's time in A too.",
    )


def popcount_shaped(d: int) -> Any:
    """Return loads that no phase of A, B or C changes, with a difference of d + 2."""
    level = np.bitwise_count(np.arange(2 ** (d - 1))).astype(np.int64)
    return (level[:, None] + np.array([0, 2, 2, 1, 3, 3])).reshape(-1)


def errors(found: Found) -> Table:
    """Return the final differences: printed, corrected, one node, random, and the worst."""
    rows: list[list[Value]] = []
    for d in DIMENSIONS:
        topology = HyperHexaCell(d)
        one = [int(np.max(_six_positions(name, d, FIXED_UNITS).difference)) for name in METHODS]
        drawn = [found.statistic("difference", name, d, FIXED_UNITS) for name in METHODS]
        worst = [hexa_cell(popcount_shaped(d), topology, name).difference for name in METHODS]
        rows.append([d, d + 1, d + 2, *one, *(round(s.maximum) for s in drawn), min(worst)])
    named = [f"{name} {what}" for what in ("one node", "random") for name in METHODS]
    return Table(
        "errors",
        f"Largest final difference, M = {FIXED_UNITS}",
        ["d", "printed", "corrected", *named, "popcount"],
        rows,
        [0] * 10,
        note="Of random loads the largest of all trials; popcount: the least of A, B and C on "
        "popcount(s)-shaped loads.",
    )


def errata() -> Table:
    """Return the places where the paper is wrong."""
    rows: list[list[Value]] = []
    for erratum in hexa_cell_errata():
        shown = f"{erratum.example}: {erratum.shown}" if erratum.example else None
        rows.append([erratum.place, erratum.printed, erratum.right, shown])
    title = "Where the paper is wrong, with the least example of each"
    return Table("errata", title, ["place", "printed", "right", "least example"], rows, [0] * 4)


def statements(found: Found) -> list[Statement]:
    """Return the paper's sentences, each with its test and what was found."""
    return [
        _b_is_faster(found),
        _error_bound(),
        _most_steps(found),
        _best_metrics(found),
        _linear(found),
        _more_dimensions(found),
        _analytical_is_more(found),
    ]


def _b_is_faster(found: Found) -> Statement:
    def ratios(node: int) -> list[float]:
        return [
            found.one_loaded("time", "A", d, FIXED_UNITS, node)
            / found.one_loaded("time", "B", d, FIXED_UNITS, node)
            for d in DIMENSIONS
        ]

    left, coordinator = ratios(LEFT), ratios(COORDINATOR)
    drawn = [
        found.statistic("counts.time", "A", d, FIXED_UNITS).mean
        / found.statistic("counts.time", "B", d, FIXED_UNITS).mean
        for d in DIMENSIONS
    ]
    return Statement(
        "Algorithm B outperforms algorithm A in execution time.",
        "A takes longer with a left node, with a coordinator and with random loads, for every d",
        f"A / B: left {_span(left)}, coordinator {_span(coordinator)}, random {_span(drawn)}",
        min(*left, *coordinator, *drawn) > 1,
    )


def _error_bound() -> Statement:
    worst = [hexa_cell(popcount_shaped(d), HyperHexaCell(d), "B").difference for d in DIMENSIONS]
    return Statement(
        "Total error (e) <= 1 + d.",
        "no loads with a larger final difference",
        f"popcount(s)-shaped loads keep {_listed(worst)} for d = 1 to {DIMENSIONS[-1]}",
        all(error <= d + 1 for error, d in zip(worst, DIMENSIONS, strict=True)),
    )


def _most_steps(found: Found) -> Statement:
    most = [
        max(
            *(found.one_loaded("endpoint_max", "A", d, FIXED_UNITS, node) for node in range(6)),
            round(found.statistic("counts.endpoint_max", "A", d, FIXED_UNITS).maximum),
        )
        for d in DIMENSIONS
    ]
    return Statement(
        "Maximum communication steps at any single node is 3d + 8 (Algorithm A).",
        "reached by one loaded node or random loads; 3d + 6 is proved",
        f"at most {_listed(most)}",
        all(steps == 3 * d + 8 for steps, d in zip(most, DIMENSIONS, strict=True)),
    )


def _best_metrics(found: Found) -> Statement:
    names = ("time", "endpoint_max", "endpoint_total")
    beaten = []
    for figure in ("difference", *(f"counts.{name}" for name in names)):
        for d in DIMENSIONS:
            b, *others = (found.statistic(figure, a, d, FIXED_UNITS) for a in "BAC")
            for other in others:
                error = (b.standard_error**2 + other.standard_error**2) ** 0.5
                if b.mean - other.mean > (3 * error if found.trials > 1 else 0):
                    beaten.append(f"{figure.removeprefix('counts.')} at d = {d}")
    return Statement(
        "The analytical analysis showed that algorithm B has the best metrics over the other two.",
        "on random loads neither A's nor C's mean time, error, most steps of a node or total of "
        "sends and receives is less than B's by 3 standard errors",
        f"beaten in {_listed(beaten)}" if beaten else "never beaten",
        not beaten,
    )


def _linear(found: Found) -> Statement:
    per_unit = [
        [found.one_loaded("time", "C", network.d, M, LEFT) / M for M in UNITS if M >= 1000]
        for network in NETWORKS.values()
    ]
    return Statement(
        "There is a direct linear relation between workload size and execution time.",
        "C's time over M constant within 1% from M = 1000 on, on each network",
        "; ".join(
            f"{processors} processors: time / M = {_span(ratios, '.4f')}"
            for processors, ratios in zip(NETWORKS, per_unit, strict=True)
        ),
        all(max(ratios) <= 1.01 * min(ratios) for ratios in per_unit),
    )


def _more_dimensions(found: Found) -> Statement:
    one = [found.one_loaded("time", "C", d, FIXED_UNITS, LEFT) for d in DIMENSIONS]
    drawn = [found.statistic("counts.time", "C", d, FIXED_UNITS).mean for d in DIMENSIONS]
    return Statement(
        "Increasing the dimension of the HHC network, the execution time shall also increase.",
        "C's time never falls with d, with one loaded node and with random loads",
        f"one node {_listed(one)}; random {_listed([round(mean) for mean in drawn])}",
        all(a <= b for a, b in [*pairwise(one), *pairwise(drawn)]),
    )


def _analytical_is_more(found: Found) -> Statement:
    printed = [_whole(hexa_cell_formulas(d, FIXED_UNITS, "C")["total_steps"]) for d in DIMENSIONS]
    one = [found.one_loaded("messages", "C", d, FIXED_UNITS, LEFT) for d in DIMENSIONS]
    drawn = [found.statistic("counts.messages", "C", d, FIXED_UNITS).maximum for d in DIMENSIONS]
    return Statement(
        "A slight increase is noticed in the analytical model since it is based on the worst case.",
        "C's printed total at least its messages with one loaded node and with random loads",
        f"printed {_listed(printed)}; one node {_listed(one)}; "
        f"random at most {_listed([round(most) for most in drawn])}",
        all(p >= max(a, b) for p, a, b in zip(printed, one, drawn, strict=True)),
    )


def _whole(value: Any) -> int:
    return int(value)


def _listed(values: Iterable[object], form: str = "") -> str:
    return ", ".join(format(value, form) for value in values)


def _span(values: Sequence[float], form: str = ".2f") -> str:
    return f"{min(values):{form}} to {max(values):{form}}"
