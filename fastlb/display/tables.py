"""Tables of texts, as aligned lines and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .html import Markup, tag

Row = Sequence[str]


def text_table(headings: Row, rows: Sequence[Row], *, names: int) -> str:
    """Return a table as lines; the first ``names`` columns are left-aligned, the others right."""
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
    """Return a table as HTML, aligned likewise, without a head if all headings are empty."""
    styles = [f"text-align: {'left' if i < names else 'right'}" for i in range(len(headings))]

    def row(name: str, texts: Row) -> Markup:
        cells = zip(texts, styles, strict=True)
        return tag("tr", *(tag(name, text, style=style) for text, style in cells))

    head = [tag("thead", row("th", headings))] if any(headings) else []
    return tag("table", *head, tag("tbody", *(row("td", texts) for texts in rows)))


def without_repeats(rows: Sequence[Row], names: int) -> list[list[str]]:
    """Return rows in which names are empty where they repeat those of the row above.

    The first ``names`` columns are names; one is emptied only if all before it are.
    """
    result = [list(row) for row in rows[:1]]
    for above, row in pairwise(rows):
        same = 0
        while same < names and row[same] == above[same]:
            same += 1
        result.append(["" if i < same else cell for i, cell in enumerate(row)])
    return result
