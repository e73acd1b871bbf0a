"""Tables that fit the terminal: texts are wrapped, and wide tables are split into several."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

# Blanks between two columns.
GAP = 2
# As a last resort words are broken into pieces of at least this many letters.
MIN_PIECE = 4
# Least width of a text beside a name.
MIN_TEXT = 16


def definitions(texts: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield names with a text each beside them; its further lines begin below its first."""
    margin = max(map(len, texts), default=0) + GAP
    for name, text in texts.items():
        yield textwrap.fill(
            text,
            max(width, margin + MIN_TEXT),
            initial_indent=name.ljust(margin),
            subsequent_indent=" " * margin,
            break_long_words=False,
            break_on_hyphens=False,
        )


def fitted_tables(
    rows: Sequence[Sequence[str]], numeric: Sequence[bool], width: int
) -> Iterator[Table]:
    """Yield a table of rows, of which the first are the headings, as several if it is too wide.

    Each of them begins with the columns that identify the lines, then has as many others as fit.
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
    """Return how many leading columns identify the lines, at most all but one."""
    for count in range(1, columns):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return max(0, min(1, columns - 1))


def _total(widths: Sequence[int], shown: Sequence[int]) -> int:
    return sum(widths[i] for i in shown) + GAP * (len(shown) - 1)


def _shorten(widths: list[int], shown: Sequence[int], numeric: Sequence[bool], width: int) -> None:
    """Narrow the widest columns of text until all fit, or are as narrow as possible."""
    while _total(widths, shown) > width:
        texts = [i for i in shown if not numeric[i] and widths[i] > MIN_PIECE]
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
    """Return widths of columns (a heading and cells each) that fit ``width`` if possible.

    Numbers are not broken, and texts only as :func:`broken` does, so the widths may exceed it.
    """
    widths = natural_widths(columns)
    minima = [
        natural
        if is_numeric
        else max(len(piece.strip()) for text in column for piece in _pieces(text) or [""])
        for column, is_numeric, natural in zip(columns, numeric, widths, strict=True)
    ]
    available = width - GAP * (len(columns) - 1)
    while sum(widths) > available:
        shrinkable = [i for i in range(len(widths)) if widths[i] > minima[i]]
        if not shrinkable:
            break
        widths[max(shrinkable, key=widths.__getitem__)] -= 1
    return widths


def natural_widths(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of columns without line breaks."""
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
    """Return the unbreakable parts of a text, each with the blanks behind it."""
    return re.findall(r"[^\s,:]+[,:]*\s*|[,:]+\s*|\s+", text)
