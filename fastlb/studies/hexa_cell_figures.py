"""Figures 3-11 of the Hexa-Cell paper as data: counts beside printed and corrected formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..reports.mean import Mean
from ..reports.report import Table, Value
from .hexa_cell_measured import HexaCellMeasurements, formula, of_single_nodes
from .hexa_cell_settings import DIMENSIONS, FIXED_UNITS, NETWORKS, UNITS

if TYPE_CHECKING:
    from ..montecarlo.statistic import Statistic

# Below a figure's table.
NOTE = "random, mean: of all trials ± standard error."

STEPS = "Steps, busiest node"
TIME_UNIT = "units on the critical path"

# Kinds of curves: formulas as printed and as corrected, the largest and the smallest value of a
# single loaded node, and random loads.
PRINTED, CORRECTED, MOST, LEAST, RANDOM = "printed", "corrected", "most", "least", "random"


@dataclass(frozen=True)
class Curve:
    """One curve of a figure.

    Attributes
    ----------
    algorithm, label, kind : str
    values : one for each point of the figure
    errors : standard errors of the values, if they are means
    """

    algorithm: str
    label: str
    kind: str
    values: Sequence[Value]
    errors: Sequence[float | None] | None = None

    def means(self) -> list[Value]:
        """Return the values, as a :class:`Mean` each if they have errors."""
        if self.errors is None:
            return list(self.values)
        return [
            Mean(value, math.nan if error is None else error) if isinstance(value, float) else value
            for value, error in zip(self.values, self.errors, strict=True)
        ]


@dataclass(frozen=True)
class Figure:
    """One of Figures 3-11, or a similar one that the paper does not have.

    Attributes
    ----------
    name : str
        Name of its files.
    title, unit : str
        Title, and unit of the y axis.
    parameter : str
        The quantity on the x axis: ``"M"`` or ``"d"``.
    points : sequence of int
        Its values.
    curves : sequence of Curve
        If there are several algorithms, they have the same labels.
    log : bool
        Whether the y axis is logarithmic.
    """

    name: str
    title: str
    unit: str
    parameter: str
    points: Sequence[int]
    curves: Sequence[Curve]
    log: bool

    @property
    def algorithms(self) -> list[str]:
        """The algorithms that have curves."""
        return list(dict.fromkeys(curve.algorithm for curve in self.curves))

    def table(self) -> Table:
        """Return the data of the figure, with one row per algorithm and point."""
        labels = dict.fromkeys(curve.label for curve in self.curves)
        several = len(self.algorithms) > 1
        rows: list[list[Value]] = []
        for name in self.algorithms:
            values = [curve.means() for curve in self.curves if curve.algorithm == name]
            of_points = [list(row) for row in zip(self.points, *values, strict=True)]
            rows += [[name, *row] if several else row for row in of_points]
        first = ["alg", self.parameter] if several else [self.parameter]
        columns = [*first, *(label.replace(", ", ",\n") for label in labels)]
        title = f"{self.title} ({self.unit})"
        note = NOTE if any(curve.errors is not None for curve in self.curves) else ""
        places = 0 if self.parameter == "M" else 1
        return Table(self.name, title, columns, rows, [places] * len(columns), note)


def figures(measured: HexaCellMeasurements) -> list[Figure]:
    """Return Figures 3-11 in the paper's order, and the steps of C, which it does not draw."""
    return [
        _time_by_units(measured, 3, "AB", 96),
        _time_by_units(measured, 4, "AB", 768),
        _time_by_dimension(measured, 5, "AB"),
        _steps(measured, "figure-6", f"Figure 6: {STEPS}, A; the paper's speed / 250", "A"),
        _steps(measured, "figure-7", f"Figure 7: {STEPS}, B; the paper's speed / 250", "B"),
        _time_by_units(measured, 8, "C", 96),
        _time_by_units(measured, 9, "C", 768),
        _time_by_dimension(measured, 10, "C"),
        _messages(measured),
        _steps(measured, "steps-of-c", f"{STEPS}, C; none printed", "C"),
    ]


def _time_by_units(
    measured: HexaCellMeasurements, number: int, algorithms: str, processors: int
) -> Figure:
    settings = [(NETWORKS[processors].d, M) for M in UNITS]
    title = _time_title(number, algorithms, f"{processors} processors")
    curves = _time_curves(measured, algorithms, settings)
    return Figure(f"figure-{number}", title, TIME_UNIT, "M", UNITS, curves, log=True)


def _time_by_dimension(measured: HexaCellMeasurements, number: int, algorithms: str) -> Figure:
    settings = [(d, FIXED_UNITS) for d in DIMENSIONS]
    title = _time_title(number, algorithms, f"M = {FIXED_UNITS}")
    curves = _time_curves(measured, algorithms, settings)
    return Figure(f"figure-{number}", title, TIME_UNIT, "d", DIMENSIONS, curves, log=True)


def _time_title(number: int, algorithms: str, where: str) -> str:
    return f"Figure {number}: Execution time of {' and '.join(algorithms)}, {where}"


def _time_curves(
    measured: HexaCellMeasurements, algorithms: str, settings: Sequence[tuple[int, int]]
) -> list[Curve]:
    """Return the curves of the execution time over settings (d, M)."""
    curves = []
    for name in algorithms:
        printed = [formula("time", name, d, M) for d, M in settings]
        corrected = [formula("corrected_time", name, d, M) for d, M in settings]
        single = [of_single_nodes("counts.time", name, d, M) for d, M in settings]
        random = [measured.statistic("counts.time", name, d, M) for d, M in settings]
        curves += [
            Curve(name, "printed", PRINTED, printed),
            Curve(name, "corrected, any loads", CORRECTED, corrected),
            *_single_node_curves(name, single),
            _random_means(name, random),
        ]
    return curves


def _single_node_curves(name: str, values: Sequence[Sequence[int]]) -> list[Curve]:
    """Return the curves of the largest and the smallest value of the six positions."""
    return [
        Curve(name, "one node, most", MOST, list(map(max, values))),
        Curve(name, "one node, least", LEAST, list(map(min, values))),
    ]


def _random_means(name: str, statistics: Sequence[Statistic]) -> Curve:
    errors = [s.standard_error if s.trials > 1 else None for s in statistics]
    return Curve(name, "random, mean", RANDOM, [s.mean for s in statistics], errors)


def _steps(measured: HexaCellMeasurements, file: str, title: str, name: str) -> Figure:
    """Return Figure 6 or 7, which the paper draws multiplied by 250 Mb/s, or that of C."""
    figure = "counts.endpoint_max"
    random = [measured.statistic(figure, name, d, FIXED_UNITS) for d in DIMENSIONS]
    single = [of_single_nodes(figure, name, d, FIXED_UNITS) for d in DIMENSIONS]
    printed = [formula("max_steps", name, d, FIXED_UNITS) for d in DIMENSIONS]
    corrected = [formula("corrected_max_steps", name, d, FIXED_UNITS) for d in DIMENSIONS]
    curves = [
        Curve(name, "printed", PRINTED, printed),
        Curve(name, "corrected", CORRECTED, corrected),
        *_single_node_curves(name, single),
        Curve(name, "random, most", RANDOM, [round(s.maximum) for s in random]),
    ]
    complete = [curve for curve in curves if None not in curve.values]
    return Figure(file, title, "sends and receives", "d", DIMENSIONS, complete, log=False)


def _messages(measured: HexaCellMeasurements) -> Figure:
    """Return Figure 11: all messages of C, which the paper draws multiplied by 250 Mb/s."""
    random = [measured.statistic("counts.messages", "C", d, FIXED_UNITS) for d in DIMENSIONS]
    single = [of_single_nodes("counts.messages", "C", d, FIXED_UNITS) for d in DIMENSIONS]
    printed = [formula("total_steps", "C", d, FIXED_UNITS) for d in DIMENSIONS]
    # The formula counts sends and receives; a message is one of each.
    steps = [int(formula("corrected_total_steps", "C", d, FIXED_UNITS) or 0) for d in DIMENSIONS]
    curves = [
        Curve("C", "printed", PRINTED, printed),
        Curve("C", "corrected", CORRECTED, [count // 2 for count in steps]),
        *_single_node_curves("C", single),
        _random_means("C", random),
    ]
    title = "Figure 11: Messages of C in all; the paper's speed / 250"
    return Figure("figure-11", title, "messages", "d", DIMENSIONS, curves, log=True)
