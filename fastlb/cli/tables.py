"""Tables as wide as the terminal: texts are broken, and columns go on below where need be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

# Blanks between two columns.
GAP = 2
# A text is broken inside its words, where nothing else helps, into pieces of this many letters.
LEAST = 4


def fitted_tables(
    rows: Sequence[Sequence[str]], numeric: Sequence[bool], width: int
) -> Iterator[Table]:
    """Yield a table of rows, the first one the headings, as several where it is too wide.

    Each has the columns that tell the lines apart, and as many others as fit.
    """
    columns = list(zip(*rows, strict=True))
    widths = fitted(columns, numeric, width)
    keys = _keys(rows[1:], len(columns))
    others = list(range(keys, len(columns)))
    while others:
        shown = [*range(keys), others.pop(0)]
        _shorten(widths, shown, numeric, width)
        while others and _total(widths, [*shown, others[0]]) <= width:
            shown.append(others.pop(0))
        yield _table(columns, shown, numeric, widths)


def _keys(rows: Sequence[Sequence[str]], columns: int) -> int:
    """Return how many leading columns tell the lines apart; one is left for the others."""
    for count in range(1, columns):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return max(0, min(1, columns - 1))


def _total(widths: Sequence[int], shown: Sequence[int]) -> int:
    return sum(widths[i] for i in shown) + GAP * (len(shown) - 1)


def _shorten(widths: list[int], shown: Sequence[int], numeric: Sequence[bool], width: int) -> None:
    """Take letters from the widest texts until the columns fit, or are as narrow as can be."""
    while _total(widths, shown) > width:
        texts = [i for i in shown if not numeric[i] and widths[i] > LEAST]
        if not texts:
            return
        widths[max(texts, key=widths.__getitem__)] -= 1


def _table(
    columns: Sequence[Sequence[str]],
    shown: Sequence[int],
    numeric: Sequence[bool],
    widths: Sequence[int],
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for i in shown:
        if numeric[i]:
            table.add_column(
                Text(columns[i][0]), justify="right", no_wrap=True, min_width=widths[i]
            )
        else:
            heading = Text(broken(columns[i][0], widths[i]))
            table.add_column(heading, overflow="fold", min_width=widths[i], max_width=widths[i])
    for line in range(1, len(columns[0])):
        cells = [(columns[i][line], i) for i in shown]
        table.add_row(*(Text(text if numeric[i] else broken(text, widths[i])) for text, i in cells))
    return table


def fitted(columns: Sequence[Sequence[str]], numeric: Sequence[bool], width: int) -> list[int]:
    """Return the widths of columns, a heading and texts each, that fill at most ``width``.

    Numbers are shown whole, and texts are broken as by :func:`broken`: where that does not suffice
    the widths are larger.
    """
    widths = natural_widths(columns)
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


def natural_widths(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of columns whose texts are not broken."""
    return [max(map(len, "\n".join(column).split("\n"))) for column in columns]


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
