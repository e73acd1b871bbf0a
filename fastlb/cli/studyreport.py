"""What ``fastlb study`` prints: tables as wide as the terminal, sentences, worked examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table as Grid
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..reports.report import Report, Statement, Table

# Blanks between two columns.
GAP = 2


def study_report(report: Report, width: int) -> Iterator[RenderableType]:
    """Yield what is to be printed of a study in so many columns."""
    if report.about:
        yield Text(f"{report.about}\n")
    yield Text(f"{report.results.study.name}: {report.heading}")
    if report.ended:
        yield Text(report.ended, style="bold red" if report.results.missing else "")
    for table in report.tables:
        yield Text()
        yield _table(table, width)
    if report.statements:
        yield Text("\nThe paper's sentences")
        for statement in report.statements:
            yield _statement(statement)
    for example in report.examples:
        yield Text()
        yield Text(example)


def _table(table: Table, width: int) -> RenderableType:
    """Return a table; of one too long to be read, its title and where it is to be found."""
    title = Text(table.title, style="bold")
    if table.long:
        return Group(title, Text(f"{len(table.rows):,} lines: {table.name}.csv with --out DIR"))
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    columns = list(zip(*_printed(table, width), strict=True))
    numeric = [
        all(not isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))
    ]
    widths = fitted(columns, numeric, width)
    for column, number, room in zip(columns, numeric, widths, strict=True):
        if number:
            grid.add_column(Text(column[0]), justify="right", no_wrap=True, min_width=room)
        else:
            grid.add_column(Text(broken(column[0], room)), no_wrap=True, min_width=room)
    for row in zip(*(column[1:] for column in columns), strict=True):
        cells = zip(row, numeric, widths, strict=True)
        grid.add_row(*(Text(t if number else broken(t, room)) for t, number, room in cells))
    notes = [Text(table.note)] if table.note else []
    return Group(title, grid, *notes)


def _printed(table: Table, width: int) -> list[list[str]]:
    """Return a table's texts, standard errors below their means where they do not fit beside."""
    printed = table.printed()
    widths = _natural(list(zip(*printed, strict=True)))
    return table.printed(stacked=True) if sum(widths) + GAP * (len(widths) - 1) > width else printed


def _natural(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of columns whose texts are not broken."""
    return [max(map(len, "\n".join(column).split("\n"))) for column in columns]


def fitted(columns: Sequence[Sequence[str]], numeric: Sequence[bool], width: int) -> list[int]:
    """Return the widths of columns, a heading and texts each, that fill at most ``width``.

    Numbers are shown whole, and texts are broken as by :func:`broken`: where that does not suffice
    the table is wider.
    """
    widths = _natural(columns)
    least = [
        wide
        if number
        else max(len(piece.strip()) for text in column for piece in _pieces(text) or [""])
        for column, number, wide in zip(columns, numeric, widths, strict=True)
    ]
    room = width - GAP * (len(columns) - 1)
    while sum(widths) > room:
        shrinkable = [i for i in range(len(widths)) if widths[i] > least[i]]
        if not shrinkable:
            break
        widths[max(shrinkable, key=widths.__getitem__)] -= 1
    return widths


def broken(text: str, room: int) -> str:
    """Return a text in lines of at most ``room``, broken at blanks, commas and colons alone."""
    lines = [""]
    for piece in _pieces(text):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _pieces(text: str) -> list[str]:
    """Return the parts of a text that stay together, each with the blanks behind it."""
    return re.findall(r"[^\s,:]+[,:]*\s*|[,:]+\s*|\s+", text)


def _statement(statement: Statement) -> RenderableType:
    verdict = Text("holds", "green") if statement.holds else Text("does not", "red")
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(width=8)
    grid.add_column()
    grid.add_row(verdict, Text(f'"{statement.sentence}"'))
    grid.add_row("", Text(f"{statement.found} (tested: {statement.test})", style="dim"))
    return grid
