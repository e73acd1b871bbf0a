"""The output of ``fastlb study``: tables as wide as the terminal, sentences, worked examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

from ..reports.report import without_hash
from .tables import GAP, fitted_tables, natural_widths

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..reports.report import Report, Statement, Table


def study_report(
    report: Report, width: int, *, everything: bool = False
) -> Iterator[RenderableType]:
    """Yield what is to be printed of a study in so many columns.

    Secondary tables, and all columns of those that have a brief form, only with ``everything``.
    """
    if report.about:
        yield Text(f"{report.about}\n")
    yield Text(f"{report.results.study.name}: {report.heading}")
    if report.ended:
        yield Text(report.ended, style="bold red" if report.results.missing else "")
    for table in report.tables:
        if everything or not table.secondary:
            yield Text()
            yield _table(table if everything else table.brief or table, width)
    if not everything and any(table.secondary or table.brief for table in report.tables):
        yield Text(f"\n{_more(report)}")
    hashed = {cell.loads.spec for cell in report.results.study.cells}
    for spec in sorted(spec for spec in hashed if without_hash(spec) != spec):
        yield Text(f"\n{without_hash(spec)} in full: {spec}")
    if report.statements:
        yield Text("\nThe paper's sentences")
        for statement in report.statements:
            yield _statement(statement)
    for example in report.examples:
        yield Text()
        yield Text(example)


def _more(report: Report) -> str:
    """Return where the rest is that a terminal does not show by default."""
    names = [table.name.partition("-")[2] for table in report.tables if table.secondary]
    pairs = f"paired differences in {', '.join(names)}, and " if names else ""
    return (
        f"Not shown: {pairs}all columns of the differences. --all prints them; --out DIR writes "
        "all tables and plots to files, --report FILE.html to a page."
    )


def _table(table: Table, width: int) -> RenderableType:
    """Return a table; of a very long one only the title and the file that holds it."""
    title = Text(table.title, style="bold")
    if table.long:
        return Group(title, Text(f"{len(table.rows):,} lines: {table.name}.csv with --out DIR"))
    numeric = [
        all(not isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))
    ]
    notes = [Text(table.note)] if table.note else []
    return Group(title, *fitted_tables(_printed(table, width), numeric, width), *notes)


def _printed(table: Table, width: int) -> list[list[str]]:
    """Return a table's cells, with standard errors below the means if they do not fit beside."""
    printed = table.printed()
    widths = natural_widths(list(zip(*printed, strict=True)))
    return table.printed(stacked=True) if sum(widths) + GAP * (len(widths) - 1) > width else printed


def _statement(statement: Statement) -> RenderableType:
    verdict = Text("holds", "green") if statement.holds else Text("does not", "red")
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(width=8)
    grid.add_column()
    grid.add_row(verdict, Text(f'"{statement.sentence}"'))
    grid.add_row("", Text(f"{statement.evidence} (tested: {statement.test})", style="dim"))
    return grid
