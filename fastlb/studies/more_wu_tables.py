"""Tables of speedups in the More-Wu study, and tests of the paper's observations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..montecarlo.grid import Cell
from ..reports.mean import Mean
from ..reports.report import Statement, Table, Value
from ..topologies.hypercube import Hypercube
from .more_wu_programs import FAMILIES, FREE, Programs
from .more_wu_settings import (
    COLUMNS,
    DIMENSIONS,
    ROWS,
    VARIANTS,
    VARIANTS_NOTE,
    VARIED_DIMENSION,
    VARIED_ROWS,
    faulty_cube,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..montecarlo.results import Results

# Share of problems that may be slower with balancing.
MAX_SLOWER = 0.001
# Standard errors from 0 from which on a difference is certain.
CERTAIN_ERRORS = 3.0

# The paper's observations.
FIRST = (
    "Every problem was speeded up with load balancing regardless of the number of rows, columns "
    "or processor faults."
)
SECOND = (
    "The value of speedup increases with the increase in hypercube dimension, if the other "
    "attributes of the problem are kept the same."
)
THIRD = (
    "A sharp rise in speedup is obtained with load balancing for any dimension of hypercube when "
    "the number of rows and number of faults are constant but the number of columns for the "
    "problems is increased."
)


@dataclass(frozen=True)
class Line:
    """A line of a table or plot: its label, and means for the headings from the first on."""

    label: str | int
    means: list[Mean]


class SearchMeasurements:
    """Speedups of the trials, and their means over the attributes of the settings.

    The attributes, by which tables and plots are named, are ``dimension``, ``columns``, ``rows``,
    ``faults`` and ``variants``.
    """

    def __init__(self, results: Results) -> None:
        self.trials = results.study.trials
        self._results = results
        self._cubes = {(n, f): faulty_cube(n, f) for n in DIMENSIONS for f in range(n)}
        self._speedups: dict[Cell, NDArray[np.float64]] = {
            cell: results.columns(cell)["speedup"] for cell in results.study.cells
        }
        # Speedups with free balancing, by setting.
        self._settings = [
            self._speedups[Cell(cube, FREE, f(m, n))]
            for cube in self._cubes.values()
            for f in FAMILIES
            for m in ROWS
            for n in COLUMNS
        ]

    def kind(self, attribute: str) -> str:
        """Return the attribute that distinguishes the lines of the table over another one."""
        return {"dimension": "rows", "variants": ""}.get(attribute, "dimension")

    def headings(self, attribute: str) -> list[Value]:
        """Return the values of an attribute, the headings of the columns of its table."""
        values: dict[str, Iterable[Value]] = {
            "dimension": DIMENSIONS,
            "rows": ROWS,
            "faults": range(max(DIMENSIONS)),
        }
        return list(values.get(attribute, COLUMNS))

    def lines(self, attribute: str, family: type[Programs]) -> list[Line]:
        """Return the mean speedups over one attribute; :meth:`kind` distinguishes the lines."""
        if attribute == "variants":
            cube = Hypercube(VARIED_DIMENSION)
            programs = [family(VARIED_ROWS, n) for n in COLUMNS]
            return [
                Line(label, [self._mean([Cell(cube, method, p)]) for p in programs])
                for method, label in VARIANTS.items()
            ]
        if attribute == "dimension":
            return [Line(m, [self._free(family, [d], [m]) for d in DIMENSIONS]) for m in ROWS]
        return [Line(d, self._of_dimension(attribute, family, d)) for d in DIMENSIONS]

    def _of_dimension(self, attribute: str, family: type[Programs], d: int) -> list[Mean]:
        """Return the mean speedups on cubes of dimension d for each value of an attribute."""
        if attribute == "columns":
            return [self._free(family, [d], ROWS, [n]) for n in COLUMNS]
        if attribute == "rows":
            return [self._free(family, [d], [m]) for m in ROWS]
        return [self._free(family, [d], faults=[f]) for f in range(d)]

    def tables(self) -> list[Table]:
        """Return the tables of speedups over each attribute, one per family."""
        titles = {
            "dimension": "speedup by dimension (mean over 1..9 columns and all faults)",
            "columns": "speedup by columns (mean over 10..50 rows and all faults)",
            "rows": "speedup by rows (mean over 1..9 columns and all faults)",
            "faults": "speedup by faults (mean over 10..50 rows and 1..9 columns)",
            "variants": f"speedup by columns under costs and granularities (dimension "
            f"{VARIED_DIMENSION}, {VARIED_ROWS} rows, no faults)",
        }
        return [
            self._table(attribute, family, title)
            for attribute, title in titles.items()
            for family in FAMILIES
        ]

    def statements(self) -> list[Statement]:
        """Return the paper's observations, each with its test and the outcome."""
        return [
            self._every_problem(),
            self._on_average(),
            self._dimension(),
            self._columns(),
            *(self._variant(method) for method in VARIANTS if method != FREE),
        ]

    def _table(self, attribute: str, family: type[Programs], title: str) -> Table:
        headings = self.headings(attribute)
        rows: list[list[Value]] = []
        for line in self.lines(attribute, family):
            absent = [None] * (len(headings) - len(line.means))
            rows.append([line.label, *line.means, *absent])
        note = "Means ± standard error." if self.trials > 1 else ""
        if attribute == "variants":
            note = f"{VARIANTS_NOTE} {note}".strip()
        columns = [self.kind(attribute), *headings]
        name = f"{family.name}-over-{attribute}"
        return Table(name, f"{family.name}: {title}", columns, rows, [2] * len(columns), note)

    def _every_problem(self) -> Statement:
        speedups = np.concatenate(self._settings)
        slower, equal = int((speedups < 1).sum()), int((speedups == 1).sum())
        return Statement(
            FIRST,
            "speedup above 1 in every problem",
            f"of {speedups.size:,} problems {speedups.size - slower - equal:,} faster, {equal:,} "
            f"the same, {slower:,} slower; least speedup {speedups.min():.3f}",
            bool((speedups > 1).all()),
        )

    def _on_average(self) -> Statement:
        means = [Mean.of(values) for values in self._settings]
        least, largest = (f(means, key=lambda mean: mean.mean) for f in (min, max))
        shares = [(values < 1).mean() for values in self._settings]
        slower = float(np.mean(shares))
        return Statement(
            FIRST,
            f"on average: mean speedup at least 1 in every setting, at most "
            f"{100 * MAX_SLOWER:g} % of all problems slower",
            f"means from {least.text()} to {largest.text()} over {len(means)} settings; "
            f"{100 * slower:.3g} % slower in all, at most {100 * max(shares):.3g} % in one setting",
            least.mean >= 1 and slower <= MAX_SLOWER,
        )

    def _dimension(self) -> Statement:
        falls = rises = 0
        for f in FAMILIES:
            for m in ROWS:
                for n in COLUMNS:
                    cells = [Cell(self._cubes[d, 0], FREE, f(m, n)) for d in DIMENSIONS]
                    for smaller, larger in pairwise(cells):
                        z = _z_score(self._speedups[larger] - self._speedups[smaller])
                        rises += z > CERTAIN_ERRORS
                        falls += z < -CERTAIN_ERRORS
        pairs = len(FAMILIES) * len(ROWS) * len(COLUMNS) * (len(DIMENSIONS) - 1)
        means = [[self._free(f, [d], faults=[0]) for d in DIMENSIONS] for f in FAMILIES]
        return Statement(
            SECOND,
            "the mean over rows and columns, without faults, rises with every dimension in both "
            "families",
            f"{_by_family(means)}; of {pairs} single steps {rises} rise and {falls} fall by more "
            f"than {CERTAIN_ERRORS:g} standard errors",
            all(a.mean < b.mean for line in means for a, b in pairwise(line)),
        )

    def _columns(self) -> Statement:
        ends = [
            [self._free(f, [d], ROWS, [n]) for n in (COLUMNS[0], COLUMNS[-1])]
            for f in FAMILIES
            for d in DIMENSIONS
        ]
        return Statement(
            THIRD,
            f"free balancing by rows: more at {COLUMNS[-1]} columns than at {COLUMNS[0]}, at every "
            "dimension in both families",
            "; ".join(
                f"{f.name} "
                + ", ".join(f"{a.text()} to {b.text()}" for a, b in ends[i * len(DIMENSIONS) :][:5])
                for i, f in enumerate(FAMILIES)
            ),
            all(a.mean < b.mean for a, b in ends),
        )

    def _variant(self, method: str) -> Statement:
        cube = Hypercube(VARIED_DIMENSION)
        ends = [
            [self._mean([Cell(cube, method, f(VARIED_ROWS, n))]) for n in COLUMNS] for f in FAMILIES
        ]
        return Statement(
            THIRD,
            f"{VARIANTS[method]}: above 1 and more at {COLUMNS[-1]} columns than at "
            f"{COLUMNS[0]}, at dimension {VARIED_DIMENSION} with {VARIED_ROWS} rows, in both "
            "families",
            _by_family([[line[0], line[-1]] for line in ends]),
            all(max(1.0, line[0].mean) < line[-1].mean for line in ends),
        )

    def _free(
        self,
        family: type[Programs],
        dimensions: Iterable[int],
        rows: Iterable[int] = ROWS,
        columns: Iterable[int] = COLUMNS,
        faults: Iterable[int] | None = None,
    ) -> Mean:
        """Return the mean speedup with free balancing over all settings of these attributes."""
        sizes = [(m, n) for m in rows for n in columns]
        cubes = [
            self._cubes[d, f] for d in dimensions for f in (range(d) if faults is None else faults)
        ]
        return self._mean([Cell(cube, FREE, family(m, n)) for cube in cubes for m, n in sizes])

    def _mean(self, cells: list[Cell]) -> Mean:
        """Return the mean over cells and trials.

        Cells are averaged trial by trial, as the programs of a trial share their random numbers.
        """
        return Mean.of(np.mean([self._speedups[cell] for cell in cells], axis=0))


def _z_score(differences: NDArray[np.float64]) -> float:
    """Return the mean over its standard error; 0 if that is 0 or not known."""
    mean = Mean.of(differences)
    return mean.mean / mean.standard_error if mean.standard_error > 0 else 0.0


def _by_family(means: list[list[Mean]]) -> str:
    """Return the means of each family as text."""
    return "; ".join(
        f"{f.name} {', '.join(mean.text() for mean in line)}"
        for f, line in zip(FAMILIES, means, strict=True)
    )
