"""A check of LP files, token by token, for text that HiGHS would drop without a message."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from .mps_check import is_exact

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
# Characters of names. The period is added below: a name may not begin with it.
_LETTERS = r"\w!\"#$%&(),;?@'`{}~"
_TOKEN = re.compile(
    rf"(?P<number>{_NUMBER})|(?P<name>[{_LETTERS}][.{_LETTERS}]*)(?P<label>\s*:)?"
    r"|(?P<comparison>[<>]=?|=[<>]?)|\S"
)
_ROWS = re.compile(r"\s*(subject\s+to|such\s+that|s\.t\.|st\b)(?!\s*:)", re.IGNORECASE)
_SECTION = re.compile(r"\s*(min|max|bound|gen|bin|semi|sos|end)\w*([ -]\w+)?\s*$", re.IGNORECASE)
_INFINITE = ("inf", "infinity")


def check_lp(path: Path) -> None:
    """Refuse an LP file (plain or .gz) of which HiGHS would drop or change something.

    Raises
    ------
    ValueError
        If float64 does not hold a number exactly, or a comparison has a constant or no variable
        to its left; the message names the line.
    """
    is_compressed = path.suffix.lower() == ".gz"
    with gzip.open(path) if is_compressed else path.open("rb") as file:
        lines = file.read().decode("utf-8", errors="replace").split("\n")
    # State of the current row: the last constant, whether it has variables, and whether its
    # comparison was read.
    constant, has_variables, after_comparison = "", False, False
    for number, in_rows, token in _tokens(lines):
        where, word = f"{path}:{number}", token[0]
        if token["number"] and not is_exact(word):
            raise ValueError(
                f"{where}: {word} is a number that float64 cannot hold: it would be {float(word)!r}"
            )
        if not in_rows:
            continue
        if after_comparison:
            # The number after a comparison ends the row.
            after_comparison = not (token["number"] or word.lower() in _INFINITE)
            constant, has_variables = "", False
        elif token["label"]:
            constant, has_variables = "", False
        elif token["number"]:
            constant = word
        elif token["name"]:
            constant, has_variables = "", True
        elif token["comparison"] and not has_variables:
            raise ValueError(
                f"{where}: a row must have variables before its comparison, got none before "
                f"{word!r}: write a row with two ends as two rows"
            )
        elif constant:
            raise ValueError(
                f"{where}: a row must have its constant behind the comparison, got {constant} "
                "before it, which HiGHS drops"
            )
        elif token["comparison"]:
            after_comparison = True


def _tokens(lines: list[str]) -> Iterator[tuple[int, bool, re.Match[str]]]:
    """Yield the number of the line, whether it belongs to the rows, and each token."""
    in_rows = False
    for number, line in enumerate(lines, 1):
        text = line.partition("\\")[0]
        begin = _ROWS.match(text)
        if begin:
            in_rows, text = True, text[begin.end() :]
        elif _SECTION.match(text):
            in_rows = False
        for token in _TOKEN.finditer(text):
            yield number, in_rows, token
