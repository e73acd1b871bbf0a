"""Figures 3-11 of the Hexa-Cell paper as data: counts beside printed and corrected formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..hexa_cell_costs import hexa_cell_formulas
from ..report import Table, Value
from .hexa_cell import DIMENSIONS, FIXED_UNITS, NETWORKS, UNITS
from .hexa_cell_found import COORDINATOR, LEFT, Found

if TYPE_CHECKING:
    from ..statistic import Statistic

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
    one = [found.most_of_one_loaded("endpoint_max", name, d, FIXED_UNITS) for d in DIMENSIONS]
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
    one = [found.most_of_one_loaded("messages", "C", d, FIXED_UNITS) for d in DIMENSIONS]
    series = [
        Series("printed", PRINTED, [_whole(c["total_steps"]) for c in costs]),
        Series("corrected", CORRECTED, [_whole(c["corrected_total_steps"]) // 2 for c in costs]),
        Series("one node loaded", SIMULATED, one),
        _random("random loads", drawn),
    ]
    title = "Messages of C in all; times 250 the paper's speed"
    return Figure(11, title, "messages", "d", DIMENSIONS, series, log=True)


def _whole(value: Any) -> int:
    return int(value)
