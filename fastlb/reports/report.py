"""What a study has to say: tables, statements put to the test, plots, and the files of these."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..files.writing import as_json, check_target, filling, replacing

if TYPE_CHECKING:
    from ..montecarlo.results import Results
    from ..montecarlo.statistic import Difference

REPORT_SCHEMA = "fastlb.study"
REPORT_SCHEMA_VERSION = 1

# A folder with the first and without the last is not complete.
FIRST, LAST = "study.toml", "report.json"

# Settings named whose standard errors were not reached.
MISSED = 6

# Figures of the general overview, where a method has them.
OVERVIEW = ("difference", "cost", "locality", "sweeps", "steps")

Value = str | int | float | None


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
    decimals : one number a column
        Places printed of numbers that are not whole.
    long : bool
        Too long to be printed: it goes to files and JSON alone.
    """

    name: str
    title: str
    columns: Sequence[Value]
    rows: Sequence[Sequence[Value]]
    decimals: Sequence[int]
    note: str = ""
    long: bool = False

    def printed(self) -> list[list[str]]:
        """Return the headings and rows as they are printed."""
        return [
            [_text(value, places) for value, places in zip(row, self.decimals, strict=True)]
            for row in (self.columns, *self.rows)
        ]

    def to_csv(self) -> str:
        """Return the table as CSV, numbers in full."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self._headings(), *self.rows])
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return the table JSON-ready."""
        rows = [list(row) for row in self.rows]
        columns = self._headings()
        return {"name": self.name, "title": self.title, "columns": columns, "rows": rows}

    def _headings(self) -> list[Value]:
        return [" ".join(c.split("\n")) if isinstance(c, str) else c for c in self.columns]


@dataclass(frozen=True)
class Statement:
    """A sentence of a paper beside what was found.

    Attributes
    ----------
    sentence : str
        The paper's words.
    test : str
        What has to hold for the sentence to be called true.
    found : str
        What the trials say.
    holds : bool
    """

    sentence: str
    test: str
    found: str
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the statement JSON-ready."""
        return {
            "sentence": self.sentence,
            "test": self.test,
            "found": self.found,
            "holds": self.holds,
        }


@dataclass(frozen=True)
class Plot:
    """A plot that is drawn when it is written; ``draw`` returns a matplotlib figure.

    ``about`` says in a sentence what it shows, for those who do not see it.
    """

    name: str
    draw: Callable[[], Any]
    about: str = ""


@dataclass(frozen=True)
class Report:
    """What a study has to say of its results.

    Attributes
    ----------
    results : Results
    tables, statements, plots
    examples : sequence of str
        Worked examples, as text.
    """

    results: Results
    tables: Sequence[Table]
    statements: Sequence[Statement] = ()
    plots: Sequence[Plot] = ()
    examples: Sequence[str] = ()

    @property
    def ended(self) -> str:
        """At which standard errors trials ended, and where these were not reached; or nothing."""
        targets = self.results.study.target_error
        if not targets:
            return ""
        listed = ", ".join(f"{target.figure} {target.spec}" for target in targets)
        told = f"Trials ended at standard errors of at most: {listed}."
        missed = [f"{topology} with {loads}" for topology, loads in self.results.unreached()]
        if len(missed) > MISSED:
            missed[MISSED:] = [f"and {len(missed) - MISSED:,} more"]
        return f"{told} Not reached: {'; '.join(missed)}." if missed else told

    def to_dict(self) -> dict[str, Any]:
        """Return the report JSON-ready: the study, tables, statements, summary, differences."""
        summary = [
            {"topology": topology, "method": method, "loads": loads}
            | {"figures": {name: statistic.to_dict() for name, statistic in figures.items()}}
            for (topology, method, loads), figures in self.results.summary().items()
        ]
        differences = [
            {"topology": topology, "loads": loads, "first": first, "second": second}
            | {"figures": {name: found.to_dict() for name, found in figures.items()}}
            for (topology, loads, first, second), figures in self.results.compare().items()
        ]
        study = self.results.study
        return {
            "schema": REPORT_SCHEMA,
            "version": REPORT_SCHEMA_VERSION,
            "fastlb": __version__,
            "study": study.name,
            "trials": study.trials,
            "seed": study.seed,
            "target_error": {target.figure: target.spec for target in study.target_error},
            "tables": [table.to_dict() for table in self.tables],
            "statements": [statement.to_dict() for statement in self.statements],
            "summary": summary,
            "differences": differences,
        }

    def to_html(self) -> str:
        """Return the report as one page that needs nothing else: tables, plots and settings.

        A report without plots gets those of the main figures' means.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        from .webpage import page

        return page(self)

    def write_html(self, path: str | Path, *, force: bool = False) -> Path:
        """Write :meth:`to_html` to a file, which appears whole or not at all.

        Raises
        ------
        ValueError
            If the path does not end in ``.html``.
        OSError
            If the file is there and ``force`` is not given, or it cannot be written.
        """
        target = check_target(path, force=force, suffixes=(".html",))
        text = self.to_html()
        with replacing(target, force=force) as stream:
            stream.write(text.encode())
        return target

    def write(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Write the report to a folder, which is made if need be, and return the files.

        ``report.json`` (:meth:`to_dict`), ``study.toml``, ``NAME.csv`` of every table,
        ``NAME.png`` and ``NAME.svg`` of every plot, ``examples.txt``. A new folder appears with
        all its files; in one that is there already, ``report.json`` comes last.

        Raises
        ------
        OSError
            As for :func:`check_folder`.
        MissingExtraError
            If there are plots to draw and matplotlib is not installed.
        """
        target = check_folder(folder, force=force)
        contents = dict(self._files())
        if target.is_dir():
            for name in sorted(contents, key=LAST.__eq__):
                with replacing(target / name, force=force) as stream:
                    stream.write(contents[name])
        else:
            with filling(target) as partial:
                for name, content in contents.items():
                    (partial / name).write_bytes(content)
        return [target / name for name in contents]

    def _files(self) -> Iterator[tuple[str, bytes]]:
        yield LAST, as_json(self.to_dict()).encode()
        with suppress(ValueError):  # general networks have no spelling
            yield FIRST, self.results.study.to_toml().encode()
        for table in self.tables:
            yield f"{table.name}.csv", table.to_csv().encode()
        if self.examples:
            yield "examples.txt", "\n\n".join(self.examples).encode() + b"\n"
        if self.plots:
            from .plotting import image

            for plot in self.plots:
                for suffix in ("png", "svg"):
                    yield f"{plot.name}.{suffix}", image(plot.draw, suffix)


def _text(value: Value, places: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.{places}f}"
    return f"{value:,}" if isinstance(value, int) else value


def check_folder(folder: str | Path, *, force: bool = False) -> Path:
    """Return the folder to write to, before any work is done for it.

    Raises
    ------
    OSError
        If it holds files and ``force`` is not given, is no folder, has no parent, or cannot be
        written to.
    """
    target = Path(folder)
    if os.path.lexists(target) and not target.is_dir():
        raise NotADirectoryError(20, "is no folder", str(target))
    names = {path.name for path in target.iterdir()} if target.is_dir() else set()
    if names and not force:
        part = "part of a report" if FIRST in names and LAST not in names else "files already"
        raise FileExistsError(17, f"holds {part} (--force overwrites them)", str(target))
    parent = target.resolve().parent
    if not parent.is_dir():
        raise FileNotFoundError(2, "no such folder", str(parent))
    written = target if target.is_dir() else parent
    if not os.access(written, os.W_OK | os.X_OK):
        raise PermissionError(13, "folder is not writable", str(written))
    return target


def overview(results: Results) -> Report:
    """Return the report of a study in general: means of the main figures, and how methods differ.

    What is the same in all lines, such as the only distribution, stands in the title alone.
    """
    return Report(results, [_means(results), *_differences(results)])


def main_figures(results: Results) -> list[str]:
    """Return the figures that a general report shows: the main ones, or all there are."""
    found = results.figures
    return [name for name in OVERVIEW if name in found] or list(found)


def varied(keys: Iterable[tuple[str, ...]], kinds: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return which parts of the keys differ among them, and the others as text."""
    listed = list(keys)
    differ = [i for i in range(len(kinds)) if len({key[i] for key in listed}) > 1]
    same = [f"{kind} {listed[0][i]}" for i, kind in enumerate(kinds) if i not in differ]
    return differ, same


def _means(results: Results) -> Table:
    summary, names = results.summary(), main_figures(results)
    kinds = ("topology", "method", "loads")
    differ, same = varied(summary, kinds)
    trials = [results.trials(cell) for cell in results.study.cells]
    counted = ["trials"] if len(set(trials)) > 1 else []
    rows: list[list[Value]] = []
    for count, (key, figures) in zip(trials, summary.items(), strict=True):
        means = [figures[name].mean if name in figures else None for name in names]
        rows.append([*(key[i] for i in differ), *(count for _ in counted), *means])
    title = f"Means of {results.trials_text} trial{'s' if max(trials) > 1 else ''}"
    return Table(
        "overview",
        "; ".join([title, *same]),
        [*(kinds[i] for i in differ), *counted, *names],
        rows,
        [*(0 for _ in (*differ, *counted)), *(2 for _ in names)],
    )


def _differences(results: Results) -> Iterator[Table]:
    """Yield the paired differences, a table a main figure and a line a pair of methods."""
    compared = results.compare(figures=main_figures(results))
    kinds = ("topology", "loads", "first", "second")
    note = (
        "The mean's 95 % confidence interval (Student's t) for each line by itself, and in how "
        "many trials the first method has less, as much, and more."
    )
    for name in main_figures(results):
        found = {key: figures[name] for key, figures in compared.items() if name in figures}
        if not found:
            continue
        differ, same = varied(found, kinds)
        if 2 not in differ and 3 not in differ:
            _, _, first, second = next(iter(found))
            same = [*same[:-2], f"{first} minus {second}"]
        else:
            same.append("first method minus second")
        rows: list[list[Value]] = []
        for key, difference in found.items():
            told = difference.to_dict()
            shares = [100 * told[part] for part in ("less", "equal", "greater")]
            spread = [told[part] for part in ("mean", "standard_error", "low", "high")]
            rows.append([*(key[i] for i in differ), *spread, *shares])
        yield Table(
            f"differences-{name}",
            "; ".join([f"Paired differences in {name}", *same]),
            [
                *(kinds[i] for i in differ),
                *("mean", "s.e.", "from", "to", "less %", "equal %", "more %"),
            ],
            rows,
            [*(0 for _ in differ), *[_places(found.values())] * 4, 1, 1, 1],
            note,
        )
        note = ""


def _places(found: Iterable[Difference]) -> int:
    """Return the decimal places that show two digits of the least standard error."""
    errors = [x.standard_error for x in found if 0 < x.standard_error < math.inf]
    return min(9, max(0, 1 - math.floor(math.log10(min(errors))))) if errors else 2
