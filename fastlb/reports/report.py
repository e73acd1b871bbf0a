"""The report of a study: tables, tested statements of a paper, plots and worked examples."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..display.numbers import counted
from .mean import Mean, number_text

if TYPE_CHECKING:
    from ..montecarlo.results import Results

REPORT_SCHEMA = "fastlb.study"
REPORT_SCHEMA_VERSION = 1

# The command that completes a run.
RESUME = "fastlb study --store DIR --resume"

# Settings listed whose standard errors were not reached.
MOST_MISSED = 6

# The hash of a file's values in the spelling of loads from it.
_HASH = re.compile(r",sha256=[0-9a-f]+")

Value = str | int | float | Mean | None


@dataclass(frozen=True)
class Table:
    """A table of text and numbers.

    Attributes
    ----------
    name : str
        Names its file.
    title, note : str
        Above and below it.
    columns : one heading a column
        A heading of several lines stands in one line in files.
    rows : one value a column in each; None where there is none
        A :class:`Mean` is printed with its standard error; in CSV and JSON that has a column of
        its own, ``COLUMN s.e.``.
    decimals : one number a column
        Places printed of numbers that are neither whole nor means.
    long : bool
        Too long to be printed: only files and JSON have it.
    secondary : bool
        Shown on a terminal only if all tables are.
    brief : Table, optional
        Shown on a terminal in its place, unless all tables are shown.
    """

    name: str
    title: str
    columns: Sequence[Value]
    rows: Sequence[Sequence[Value]]
    decimals: Sequence[int]
    note: str = ""
    long: bool = False
    secondary: bool = False
    brief: Table | None = None

    def printed(self, *, stacked: bool = False) -> list[list[str]]:
        """Return the headings and rows as they are printed.

        With ``stacked`` standard errors stand below their means, which takes less width.
        """
        between, decimals = ("\n" if stacked else " "), self.decimals
        return [
            [_text(value, places, between) for value, places in zip(row, decimals, strict=True)]
            for row in (self.columns, *self.rows)
        ]

    def to_csv(self) -> str:
        """Return the table as CSV, numbers in full."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self._plain())
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return the table JSON-ready."""
        columns, *rows = self._plain()
        return {"name": self.name, "title": self.title, "columns": columns, "rows": rows}

    def _plain(self) -> Iterator[list[str | int | float | None]]:
        """Yield the headings and rows without means: a mean becomes two columns."""
        means = [
            any(isinstance(row[i], Mean) for row in self.rows) for i in range(len(self.columns))
        ]
        headings: list[str | int | float | None] = []
        for column, is_mean in zip(self.columns, means, strict=True):
            assert not isinstance(column, Mean)
            heading = " ".join(column.split("\n")) if isinstance(column, str) else column
            headings += [heading, f"{heading} s.e."] if is_mean else [heading]
        yield headings
        for row in self.rows:
            plain: list[str | int | float | None] = []
            for value, is_mean in zip(row, means, strict=True):
                if isinstance(value, Mean):
                    plain += [value.mean, value.standard_error if value.has_error else None]
                else:
                    plain += [value, None] if is_mean else [value]
            yield plain


@dataclass(frozen=True)
class Statement:
    """A sentence of a paper, and the result of testing it.

    Attributes
    ----------
    sentence : str
        The paper's words.
    test : str
        The condition under which the sentence counts as true.
    evidence : str
        The result of the trials.
    holds : bool
        Whether the condition is met.
    """

    sentence: str
    test: str
    evidence: str
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the statement JSON-ready."""
        return {
            "sentence": self.sentence,
            "test": self.test,
            "found": self.evidence,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class Plot:
    """A plot that is drawn when it is written.

    Attributes
    ----------
    name : str
    draw : callable
        Returns a matplotlib figure.
    about : str
        A sentence about the plot, the text shown in its place.
    """

    name: str
    draw: Callable[[], Any]
    about: str = ""


@dataclass(frozen=True)
class Report:
    """The report of a study.

    Attributes
    ----------
    results : Results
    tables, statements, plots
    examples : sequence of str
        Worked examples, as text.
    about : str
        The question that the study answers, and its methods.
    command : sequence of str
        The words of the command that runs the study again; empty if it needs a file.
    """

    results: Results
    tables: Sequence[Table]
    statements: Sequence[Statement] = ()
    plots: Sequence[Plot] = ()
    examples: Sequence[str] = ()
    about: str = ""
    command: Sequence[str] = ()

    @property
    def heading(self) -> str:
        """The number of trials and combinations, and the seed, as text."""
        results = self.results
        study = results.study
        several = results.trials_text != "1"
        return (
            f"{results.trials_text} trial{'s' if several else ''} of each of "
            f"{counted(len(study.cells), 'combination')}, seed {study.seed}"
        )

    @property
    def ended(self) -> str:
        """Why there are no more trials: the run is not complete, or target errors were reached.

        Empty if all trials of the study were run.
        """
        results = self.results
        targets = results.study.target_error
        if results.missing:
            rows = f"{len(results):,} of {'up to ' if targets else ''}"
            rows += f"{len(results) + results.missing:,} rows"
            return f"NOT COMPLETE: what follows is of {rows}; {RESUME} runs the rest."
        if not targets:
            return ""
        listed = ", ".join(f"{target.figure} {target.spec}" for target in targets)
        reached = f"Trials ended at standard errors of at most: {listed}."
        missed = [f"{topology} with {loads}" for topology, loads in self.results.unreached()]
        if len(missed) > MOST_MISSED:
            missed[MOST_MISSED:] = [f"and {len(missed) - MOST_MISSED:,} more"]
        return f"{reached} Not reached: {'; '.join(missed)}." if missed else reached

    def to_dict(self) -> dict[str, Any]:
        """Return the report JSON-ready: the study, tables, statements, summary, differences."""
        summary = [
            {"topology": topology, "method": method, "loads": loads}
            | {"figures": {name: statistic.to_dict() for name, statistic in figures.items()}}
            for (topology, method, loads), figures in self.results.summary().items()
        ]
        differences = [
            {"topology": topology, "loads": loads, "first": first, "second": second}
            | {"figures": {name: difference.to_dict() for name, difference in figures.items()}}
            for (topology, loads, first, second), figures in self.results.compare().items()
        ]
        study = self.results.study
        return {
            "schema": REPORT_SCHEMA,
            "version": REPORT_SCHEMA_VERSION,
            "fastlb": __version__,
            "study": study.name,
            "about": self.about,
            "complete": not self.results.missing,
            "rows": len(self.results),
            "trials": study.trials,
            "seed": study.seed,
            "target_error": {target.figure: target.spec for target in study.target_error},
            "tables": [table.to_dict() for table in self.tables],
            "statements": [statement.to_dict() for statement in self.statements],
            "summary": summary,
            "differences": differences,
        }


def _text(value: Value, places: int, between: str) -> str:
    if isinstance(value, Mean):
        return value.text(places, between)
    if value is None:
        return ""
    if isinstance(value, float):
        return number_text(value, places)
    return f"{value:,}" if isinstance(value, int) else without_hash(value)


def without_hash(text: str) -> str:
    """Return a text without the hashes in its spellings of loads from files.

    Examples
    --------
    >>> without_hash("resampled:loads.csv,sha256=57abf15bda6c8d8d")
    'resampled:loads.csv'
    """
    return _HASH.sub("", text)
