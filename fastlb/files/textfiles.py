"""Text, JSON and CSV files of users; errors name the place in the file."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn


def refuse(place: str, rule: str) -> NoReturn:
    """Raise a ValueError that begins with a place in a file."""
    raise ValueError(f"{place}: {rule}") from None


def once(place: str, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return pairs as a dict; refuse a repeated key."""
    listed = list(pairs)
    mapping = dict(listed)
    if len(mapping) < len(listed):
        counts = Counter(key for key, _ in listed)
        repeated = next(key for key in mapping if counts[key] > 1)
        refuse(place, f"{repeated!r:.40} must be named once, got it again")
    return mapping


def flag(place: str, what: str, value: Any, words: dict[Any, bool]) -> bool:
    """Return the bool that a word stands for; refuse words that are not in ``words``."""
    for word, meaning in words.items():
        if type(value) is type(word) and value == word:
            return meaning
    choices = " or ".join(json.dumps(word) for word in words)
    refuse(place, f"{what} must be {choices}, got {value!r}")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; objects with a repeated name are refused."""
    try:
        return json.loads(read_text(path), object_pairs_hook=lambda pairs: once(str(path), pairs))
    except json.JSONDecodeError as error:
        refuse(f"{path} line {error.lineno}", f"is no JSON: {error.msg}")
    except RecursionError:
        refuse(str(path), "is nested too deeply")
    except ValueError as error:
        if str(error).startswith(f"{path}:"):
            raise
        refuse(str(path), "must hold numbers of at most 4300 digits")


def csv_rows(path: Path) -> Iterator[tuple[list[str], str]]:
    """Yield the cells of every line and its place; see :func:`rows_of`."""
    return rows_of(read_text(path), str(path))


def rows_of(text: str, source: str) -> Iterator[tuple[list[str], str]]:
    """Yield the cells of every line of CSV and its place, without empty lines and # comments.

    Cells are separated by semicolons, tabs or commas: by the first of these in the first line.
    """
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text), strict=True)
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if is_row(cells):
                yield cells, f"{source} line {rows.line_num}"
    except csv.Error as error:
        refuse(f"{source} line {rows.line_num}", f"is no CSV text: {error}")


def is_row(cells: list[str]) -> bool:
    """Return whether the stripped cells of a line are neither empty nor a # comment."""
    return any(cells) and not cells[0].startswith("#")


def delimiter(text: str) -> str:
    """Return what separates cells: the first of semicolon, tab, comma in the first line."""
    for line in io.StringIO(text):
        if line.strip() and not line.lstrip().startswith("#"):
            return next((mark for mark in ";\t," if mark in line), ",")
    return ","


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        refuse(str(path), "is no text (UTF-8)")
