"""Studies as TOML files: their text, and errors that name the line."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..random_loads.distributions import Experiment
from ..random_loads.sampling import read_distribution
from ..topologies.parse import parse_topology, read_topology
from .grid import GRID, Part
from .methodtext import read_method

if TYPE_CHECKING:
    from ..topologies.topology import Topology
    from .targets import Target

MOST_DOTS = 5000
REQUIRED = ("name", "topologies", "methods", "loads")

# What reads one value of a list.
READERS: dict[str, Callable[[Any], object]] = {
    "topologies": lambda topology: read_topology(topology, "topologies"),
    "methods": read_method,
    "loads": read_distribution,
}


# Stands above the first of them in a file.
FURTHER = "# [[further]]: one more grid of combinations, with the same trials and seed."


def toml_text(
    name: str,
    grids: Sequence[Part],
    *,
    trials: int,
    seed: int,
    targets: Sequence[Target],
    minimum_trials: int,
) -> str:
    """Return a study as the text of a TOML file; errors as for ``Study.to_toml``."""
    lines = [
        f"name = {json.dumps(name, ensure_ascii=False)}",
        f"trials = {trials}",
        f"seed = {seed}",
    ]
    if targets:
        listed = [f"{json.dumps(t.figure)} = {json.dumps(t.spec)}" for t in targets]
        lines.append(f"target_error = {{ {', '.join(listed)} }}")
        lines.append(f"minimum_trials = {minimum_trials}")
    first, *further = grids
    lines += _part_lines(first)
    for i, part in enumerate(further):
        lines += ["", *([FURTHER] if i == 0 else []), "[[further]]", *_part_lines(part)]
    return "\n".join(lines) + "\n"


def read_keys(text: str, known: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of a study from the text of a TOML file with these ``known`` keys.

    Errors as for ``Study.from_toml``.
    """
    try:
        keys = _parsed(f"{text}\n")  # so that errors of the last line have its number
    except (ValueError, RecursionError) as error:  # too many digits, too deep a nesting as well
        raise ValueError(f"study is not valid TOML: {error}") from None
    _check_keys(keys, known, "study")
    further = keys.get("further", [])
    if not isinstance(further, list) or not all(isinstance(part, dict) for part in further):
        raise ValueError(f"further must be tables [[further]], got {further!r}")
    for part in further:
        _check_keys(part, GRID, "further")
    return {**keys, "further": [Part(**part) for part in further]}


def _parsed(text: str) -> dict[str, Any]:
    """Parse TOML, in a time that grows with the square of the parts of a dotted key."""
    dots = max(line.count(".") for line in text.split("\n"))
    if dots > MOST_DOTS:
        raise ValueError(f"a line must have at most {MOST_DOTS} dots, got {dots}")
    return tomllib.loads(text)


def located(error: Exception, path: object, text: str) -> ValueError:
    """Return an error of reading or running a study's file, with the file, its line and key."""
    message = str(error)
    line, key = _Lines(text).of(message)
    where = f"{path}{f' line {line}' if line else ''}"
    begins_with_key = key is None or message.startswith((key, "study ", "further "))
    return ValueError(f"{where}: {message}" if begins_with_key else f"{where}: {key}: {message}")


class _Lines:
    """Where the keys of a study's file stand: section 0, and one for each ``[[further]]``."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        try:
            keys = _parsed(text)
        except (ValueError, RecursionError):
            keys = {}
        further = keys.get("further", [])
        tables = further if isinstance(further, list) else []
        self._sections = [keys, *(table for table in tables if isinstance(table, dict))]
        self._headers: list[int] = [0]
        self._keys: list[tuple[int, str, int]] = []
        section = 0
        for number, line in enumerate(self._lines, 1):
            if re.match(r"\s*\[\[\s*further\s*\]\]", line):
                self._headers.append(number)
                section = len(self._headers) - 1
            elif match := re.match(r"\s*(?:\[\s*(\w+)\s*\]|[\"']?([\w.-]+)[\"']?\s*=)", line):
                self._keys.append((section, match[1] or match[2], number))

    def of(self, message: str) -> tuple[int | None, str | None]:
        """Return the line and the key that an error is about, or None where it is not plain."""
        unknown = re.match(r"(study|further) takes .*, got '(.+?)'(;|$)", message)
        if unknown:
            sections = [0] if unknown[1] == "study" else range(1, len(self._headers))
            lines = (n for section in sections for n in self._of_key(section, unknown[2]))
            return next(lines, None), unknown[2]
        if message.startswith("further needs "):
            return self._of_lacking(), "further"
        for section, key, value in self._values():
            if _refused(READERS[key], value, message):
                return self._of_value(section, key, value), key
        key = message.partition(" ")[0]
        for section, table in enumerate(self._sections):
            part = {name: table[name] for name in READERS if name in table}
            if _refused(lambda given: Part(**given), part, message):
                return next(self._of_key(section, key), None), key
        figure = re.match(
            r"target_error (?:of (\S+) |must be among .*, got '(.+?)'(?:;|$))", message
        )
        if figure:
            return self._of_figure(figure[1] or figure[2]), key
        return next(self._of_key(0, key), None), key if key in self._sections[0] else None

    def _of_key(self, section: int, key: str) -> Iterator[int]:
        return (number for s, name, number in self._keys if (s, name) == (section, key))

    def _of_figure(self, figure: str) -> int | None:
        """Return the line of a figure in the table of targets, or of the targets in one line."""
        for line in self._of_key(0, "target_error"):
            if figure in self._lines[line - 1]:
                return line
        return next(self._of_key(0, figure), None)

    def _of_lacking(self) -> int | None:
        for section, table in enumerate(self._sections):
            if section and not all(key in table for key in READERS):
                return self._headers[section] if section < len(self._headers) else None
        return None

    def _of_value(self, section: int, key: str, value: Any) -> int | None:
        """Return the first line with this text among those of a key."""
        first = next(self._of_key(section, key), None)
        if first is None:
            return None
        starts = [*self._headers, *(n for _, _, n in self._keys), len(self._lines) + 1]
        for number in range(first, min(n for n in starts if n > first)):
            if isinstance(value, str) and value in self._lines[number - 1]:
                return number
        return first

    def _values(self) -> Iterator[tuple[int, str, Any]]:
        for section, table in enumerate(self._sections):
            for key in READERS:
                entry = table.get(key)
                for value in entry if isinstance(entry, list) else [entry]:
                    yield section, key, value


def _refused(reader: Callable[[Any], object], value: Any, message: str) -> bool:
    """Return whether a value is refused with this message, or with it by the method's run."""
    try:
        reader(value)
    except (ValueError, TypeError) as error:
        return str(error) == message
    return isinstance(value, str) and message.startswith(f"{''.join(value.split())} on ")


def _part_lines(part: Part) -> list[str]:
    for topology in part.topologies:
        _check_spelling(topology)
    for loads in part.loads:
        if isinstance(loads, Experiment):
            raise ValueError(f"loads of a TOML file must have a spelling, got {loads!r}")
    spelled = {
        "topologies": [topology.spec for topology in part.topologies],
        "methods": list(part.methods),
        "loads": [loads.spec for loads in part.loads],
    }
    return [f"{key} = {json.dumps(values, ensure_ascii=False)}" for key, values in spelled.items()]


def _check_spelling(topology: Topology) -> None:
    try:
        same = parse_topology(topology.spec) == topology
    except ValueError:
        same = False
    if not same:
        raise ValueError(f"topologies of a TOML file must have a spelling, got {topology!r}")


def _check_keys(keys: dict[str, Any], known: Sequence[str], where: str) -> None:
    for key in keys:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"{where} takes {', '.join(known)}, got {key!r}{hint}")
    missing = [key for key in known if key in REQUIRED and key not in keys]
    if missing:
        raise ValueError(f"{where} needs {', '.join(missing)}")
