"""Figures 3-11 of the Hexa-Cell paper as data: counts beside printed and corrected formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..reports.mean import Mean
from ..reports.report import Table, Value
from .hexa_cell_measured import Measured, formula, one_loaded
from .hexa_cell_settings import DIMENSIONS, FIXED_UNITS, NETWORKS, UNITS

if TYPE_CHECKING:
    from ..montecarlo.statistic import Statistic

NOTE = "random, mean: of all trials ± standard error."

STEPS = "Steps, busiest node"

# Kinds of curves.
PRINTED, CORRECTED, MOST, LEAST, RANDOM = "printed", "corrected", "most", "least", "random"


@dataclass(frozen=True)
class Series:
    """One curve of a figure: its algorithm and label, its kind, a value and maybe an error each."""

    algorithm: str
    label: str
    kind: str
    values: Sequence[Value]
    errors: Sequence[float | None] | None = None

    def means(self) -> list[Value]:
        """Return the values, with their errors where they are means."""
        if self.errors is None:
            return list(self.values)
        return [
            Mean(value, math.nan if error is None else error) if isinstance(value, float) else value
            for value, error in zip(self.values, self.errors, strict=True)
        ]


@dataclass(frozen=True)
class Figure:
    """One of Figures 3-11, or one like them that the paper lacks.

    Attributes
    ----------
    name, title, unit
        Of its files, of the figure and of its axis.
    by : str
        What the values depend on; ``at`` are its values.
    series : the curves
        Those of several algorithms have the same labels.
    log : bool
        Whether values lie far apart.
    """

    name: str
    title: str
    unit: str
    by: str
    at: Sequence[int]
    series: Sequence[Series]
    log: bool

    @property
    def algorithms(self) -> list[str]:
        """The algorithms compared."""
        return list(dict.fromkeys(series.algorithm for series in self.series))

    def table(self) -> Table:
        """Return the data of the figure: a line an algorithm and point."""
        labels = dict.fromkeys(series.label for series in self.series)
        several = len(self.algorithms) > 1
        rows: list[list[Value]] = []
        for name in self.algorithms:
            values = [series.means() for series in self.series if series.algorithm == name]
            lines = [list(line) for line in zip(self.at, *values, strict=True)]
            rows += [[name, *line] if several else line for line in lines]
        first = ["alg", self.by] if several else [self.by]
        columns = [*first, *(label.replace(", ", ",\n") for label in labels)]
        title = f"{self.title} ({self.unit})"
        note = NOTE if any(series.errors is not None for series in self.series) else ""
        places = 0 if self.by == "M" else 1
        return Table(self.name, title, columns, rows, [places] * len(columns), note)


def figures(measured: Measured) -> list[Figure]:
    """Return Figures 3-11 in the paper's order, and the steps of C, which it does not draw."""
    return [
        _time_by_units(measured, 3, "AB", 96),
        _time_by_units(measured, 4, "AB", 768),
        _time_by_dimension(measured, 5, "AB"),
        _steps(
            measured, "figure-6", "Figure 6: Steps, busiest node, A; the paper's speed / 250", "A"
        ),
        _steps(
            measured, "figure-7", "Figure 7: Steps, busiest node, B; the paper's speed / 250", "B"
        ),
        _time_by_units(measured, 8, "C", 96),
        _time_by_units(measured, 9, "C", 768),
        _time_by_dimension(measured, 10, "C"),
        _messages(measured),
        _steps(measured, "steps-of-c", f"{STEPS}, C; none printed", "C"),
    ]


def _time_by_units(measured: Measured, number: int, algorithms: str, processors: int) -> Figure:
    points = [(NETWORKS[processors].d, M) for M in UNITS]
    where = f"{processors} processors"
    return _time(measured, number, algorithms, where, "M", UNITS, points)


def _time_by_dimension(measured: Measured, number: int, algorithms: str) -> Figure:
    points = [(d, FIXED_UNITS) for d in DIMENSIONS]
    return _time(measured, number, algorithms, f"M = {FIXED_UNITS}", "d", DIMENSIONS, points)


def _time(
    measured: Measured,
    number: int,
    algorithms: str,
    where: str,
    by: str,
    at: Sequence[int],
    points: list[tuple[int, int]],
) -> Figure:
    series = []
    for name in algorithms:
        one = [one_loaded("counts.time", name, d, M) for d, M in points]
        drawn = [measured.statistic("counts.time", name, d, M) for d, M in points]
        series += [
            Series(name, "printed", PRINTED, [formula("time", name, *at) for at in points]),
            Series(
                name,
                "corrected, any loads",
                CORRECTED,
                [formula("corrected_time", name, *at) for at in points],
            ),
            Series(name, "one node, most", MOST, [max(times) for times in one]),
            Series(name, "one node, least", LEAST, [min(times) for times in one]),
            _random(name, "random, mean", drawn),
        ]
    title = f"Figure {number}: Execution time of {' and '.join(algorithms)}, {where}"
    unit = "units on the critical path"
    return Figure(f"figure-{number}", title, unit, by, at, series, log=True)


def _random(name: str, label: str, drawn: Sequence[Statistic]) -> Series:
    errors = [s.standard_error if s.trials > 1 else None for s in drawn]
    return Series(name, label, RANDOM, [s.mean for s in drawn], errors)


def _steps(measured: Measured, file: str, title: str, name: str) -> Figure:
    """Return Figure 6 or 7, which the paper draws multiplied by 250 Mb/s, or that of C."""
    points = [(d, FIXED_UNITS) for d in DIMENSIONS]
    drawn = [measured.statistic("counts.endpoint_max", name, d, M) for d, M in points]
    one = [one_loaded("counts.endpoint_max", name, d, M) for d, M in points]
    printed = [formula("max_steps", name, d, M) for d, M in points]
    corrected = [formula("corrected_max_steps", name, d, M) for d, M in points]
    series = [
        Series(name, "printed", PRINTED, printed),
        Series(name, "corrected", CORRECTED, corrected),
        Series(name, "one node, most", MOST, [max(steps) for steps in one]),
        Series(name, "one node, least", LEAST, [min(steps) for steps in one]),
        Series(name, "random, most", RANDOM, [round(s.maximum) for s in drawn]),
    ]
    known = [s for s in series if None not in s.values]
    return Figure(file, title, "sends and receives", "d", DIMENSIONS, known, log=False)


def _messages(measured: Measured) -> Figure:
    """Return Figure 11: C's messages in all, printed as a speed when multiplied by 250 Mb/s."""
    points = [(d, FIXED_UNITS) for d in DIMENSIONS]
    drawn = [measured.statistic("counts.messages", "C", d, M) for d, M in points]
    one = [one_loaded("counts.messages", "C", d, M) for d, M in points]
    # A message is one send and one receive.
    corrected = [int(formula("corrected_total_steps", "C", *at) or 0) // 2 for at in points]
    series = [
        Series("C", "printed", PRINTED, [formula("total_steps", "C", *at) for at in points]),
        Series("C", "corrected", CORRECTED, corrected),
        Series("C", "one node, most", MOST, [max(messages) for messages in one]),
        Series("C", "one node, least", LEAST, [min(messages) for messages in one]),
        _random("C", "random, mean", drawn),
    ]
    title = "Figure 11: Messages of C in all; the paper's speed / 250"
    return Figure("figure-11", title, "messages", "d", DIMENSIONS, series, log=True)
