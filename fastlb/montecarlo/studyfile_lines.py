"""The lines of a study's TOML file that errors are about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..random_loads.sampling import read_distribution
from ..topologies.parse import read_topology
from .grid import Part
from .methodtext import read_method
from .studyfile import parse_toml

# The lists of a grid, by key: what reads one of their values.
READERS: dict[str, Callable[[Any], object]] = {
    "topologies": lambda topology: read_topology(topology, "topologies"),
    "methods": read_method,
    "loads": read_distribution,
}

# A line of the file and a key in it, each None if it is not certain.
Place = tuple[int | None, str | None]


def located(error: Exception, path: object, text: str) -> ValueError:
    """Return an error of reading or running a study's file, with the file, its line and key."""
    message = str(error)
    line, key = _StudyText(text).place(message)
    where = f"{path}{f' line {line}' if line else ''}"
    begins_with_key = key is None or message.startswith((key, "study ", "further "))
    return ValueError(f"{where}: {message}" if begins_with_key else f"{where}: {key}: {message}")


class _StudyText:
    """The text of a study's file: the tables it holds, and the lines of their keys.

    Tables are numbered: 0 is the study, each ``[[further]]`` is one more.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        try:
            study = parse_toml(text)
        except (ValueError, RecursionError):
            study = {}
        further = study.get("further", [])
        parts = further if isinstance(further, list) else []
        self._tables = [study, *(part for part in parts if isinstance(part, dict))]
        # The line of the header of each table, and (table, key, line) of each key.
        self._headers: list[int] = [0]
        self._keys: list[tuple[int, str, int]] = []
        for number, line in enumerate(self._lines, 1):
            if re.match(r"\s*\[\[\s*further\s*\]\]", line):
                self._headers.append(number)
            elif match := re.match(r"\s*(?:\[\s*(\w+)\s*\]|[\"']?([\w.-]+)[\"']?\s*=)", line):
                self._keys.append((len(self._headers) - 1, match[1] or match[2], number))

    def place(self, message: str) -> Place:
        """Return the place that an error with this message is about."""
        for find in (
            self._unknown_key,
            self._missing_key,
            self._refused_value,
            self._refused_table,
            self._target,
        ):
            place = find(message)
            if place is not None:
                return place
        key = _first_word(message)
        return self._line(0, key), key if key in self._tables[0] else None

    def _unknown_key(self, message: str) -> Place | None:
        match = re.match(r"(study|further) takes .*, got '(.+?)'(;|$)", message)
        if match is None:
            return None
        tables = [0] if match[1] == "study" else range(1, len(self._headers))
        lines = (line for table in tables for line in self._lines_of(table, match[2]))
        return next(lines, None), match[2]

    def _missing_key(self, message: str) -> Place | None:
        if not message.startswith("further needs "):
            return None
        for number, table in enumerate(self._tables):
            if number and not all(key in table for key in READERS):
                header = self._headers[number] if number < len(self._headers) else None
                return header, "further"
        return None, "further"

    def _refused_value(self, message: str) -> Place | None:
        """Return the place of the first value that is refused with this message."""
        for number, table in enumerate(self._tables):
            for key, reader in READERS.items():
                values = table.get(key)
                for value in values if isinstance(values, list) else [values]:
                    if _is_refused(reader, value, message) or _is_about_method(value, message):
                        return self._line_of_value(number, key, value), key
        return None

    def _refused_table(self, message: str) -> Place | None:
        """Return the place of the first grid that is refused with this message."""
        key = _first_word(message)
        for number, table in enumerate(self._tables):
            grid = {name: table[name] for name in READERS if name in table}
            if _is_refused(lambda lists: Part(**lists), grid, message):
                return self._line(number, key), key
        return None

    def _target(self, message: str) -> Place | None:
        """Return the place of a figure among the target errors, in a table or in one line."""
        match = re.match(
            r"target_error (?:of (\S+) |must be among .*, got '(.+?)'(?:;|$))", message
        )
        if match is None:
            return None
        figure = match[1] or match[2]
        for line in self._lines_of(0, "target_error"):
            if figure in self._lines[line - 1]:
                return line, "target_error"
        return self._line(0, figure), "target_error"

    def _lines_of(self, table: int, key: str) -> Iterator[int]:
        return (line for t, name, line in self._keys if (t, name) == (table, key))

    def _line(self, table: int, key: str) -> int | None:
        return next(self._lines_of(table, key), None)

    def _line_of_value(self, table: int, key: str, value: Any) -> int | None:
        """Return the first line of a key that has this text, else the first line of the key."""
        first = self._line(table, key)
        if first is None:
            return None
        starts = [*self._headers, *(line for _, _, line in self._keys), len(self._lines) + 1]
        for line in range(first, min(start for start in starts if start > first)):
            if isinstance(value, str) and value in self._lines[line - 1]:
                return line
        return first


def _first_word(message: str) -> str:
    return message.partition(" ")[0]


def _is_refused(reader: Callable[[Any], object], value: Any, message: str) -> bool:
    """Return whether a reader raises an error with this message."""
    try:
        reader(value)
    except (ValueError, TypeError) as error:
        return str(error) == message
    return False


def _is_about_method(value: Any, message: str) -> bool:
    """Return whether an error of a run is about this method: it begins with its spelling."""
    return isinstance(value, str) and message.startswith(f"{''.join(value.split())} on ")
