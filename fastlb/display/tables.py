"""Tables of text: as lines of equal columns, and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .html import Markup, tag

Row = Sequence[str]


def text_table(headings: Row, rows: Sequence[Row], *, names: int) -> str:
    """Return a table as lines; the first ``names`` columns begin, the others end in one place."""
    lines = [headings, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < names else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def html_table(headings: Row, rows: Sequence[Row], *, names: int) -> Markup:
    """Return the same as an HTML table, without headings where all of them are empty."""
    head = [tag("th", text, style=_aligned(i < names)) for i, text in enumerate(headings)]
    body = [
        tag("tr", *(tag("td", text, style=_aligned(i < names)) for i, text in enumerate(row)))
        for row in rows
    ]
    top = [tag("thead", tag("tr", *head))] if any(headings) else []
    return tag("table", *top, tag("tbody", *body))


def _aligned(is_name: bool) -> str:
    return f"text-align: {'left' if is_name else 'right'}"


def without_repeats(rows: Sequence[Row], names: int) -> list[list[str]]:
    """Leave out, of the first columns, what is the same as in the row above."""
    first = [list(row) for row in rows[:1]]
    for above, row in pairwise(rows):
        same = 0
        while same < names and row[same] == above[same]:
            same += 1
        first.append(["" if i < same else cell for i, cell in enumerate(row)])
    return first
