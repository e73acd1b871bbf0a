"""A reader of MPS files that refuses, line by line, text that HiGHS would drop silently."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import NoReturn

SECTIONS = ("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA")
QUADRATIC = ("QUADOBJ", "QMATRIX", "QSECTION", "QCMATRIX")
# Sections that solvers have added to the format and that a 0-1 program has no use for.
FOREIGN = (
    *("OBJNAME", "SOS", "SOS1", "SOS2", "SETS", "CSECTION"),
    *("INDICATORS", "LAZYCONS", "USERCUTS", "MODELCUTS", "DELAYEDROWS", "GENCONS", "PWLOBJ"),
)
_HEADS = frozenset(SECTIONS + QUADRATIC + FOREIGN)
MINIMISE, MAXIMISE = ("MIN", "MINIMIZE"), ("MAX", "MAXIMIZE")
# (lower, upper) end that a kind of bound sets: "=" is the number in its line, None leaves the end.
INFINITE = float("inf")
BOUNDS: dict[str, tuple[float | str | None, float | str | None]] = {
    "UP": (None, "="),
    "UI": (None, "="),
    "LO": ("=", None),
    "LI": ("=", None),
    "FX": ("=", "="),
    "BV": (0.0, 1.0),
    "FR": (-INFINITE, INFINITE),
    "MI": (-INFINITE, None),
    "PL": (None, INFINITE),
}
# HiGHS drops matrix entries of a size up to the first and refuses those from the second on.
SMALLEST_ENTRY, LARGEST_ENTRY = 1e-9, 1e15
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Columns [begin, end) of the fields in the fixed format.
_FIELDS = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))

Fields = Callable[[str], list[str]]


@dataclass
class Contents:
    """The contents of an MPS file.

    Attributes
    ----------
    rows : dict of name to kind, "N", "L", "G" or "E"
    columns : list of str
    entries : dict of (column, row) to number
    right, ranges : dict of row to number
    lower, upper : dict of column to number
        Ends of intervals that the file sets.
    maximise : bool
    text : str
        The file without its empty lines.
    """

    rows: dict[str, str] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    entries: dict[tuple[str, str], float] = field(default_factory=dict)
    right: dict[str, float] = field(default_factory=dict)
    ranges: dict[str, float] = field(default_factory=dict)
    lower: dict[str, float] = field(default_factory=dict)
    upper: dict[str, float] = field(default_factory=dict)
    maximise: bool = False
    text: str = ""

    @property
    def objective(self) -> str | None:
        """The first row of kind N."""
        return next((row for row, kind in self.rows.items() if kind == "N"), None)

    def interval(self, row: str) -> tuple[float, float]:
        """Return the least and the largest value that a row's left side may have."""
        kind, right, width = self.rows[row], self.right.get(row, 0.0), self.ranges.get(row)
        if kind == "E":
            width = width or 0.0
            return right + min(width, 0.0), right + max(width, 0.0)
        size = INFINITE if width is None else abs(width)
        return (right - size, right) if kind == "L" else (right, right + size)


def check_mps(path: Path) -> Contents:
    """Read an MPS file, free or fixed, plain or .gz.

    Raises
    ------
    ValueError
        For an unknown section, field, number or name and for anything defined twice; the
        message names the line.
    """
    compressed = path.suffix.lower() == ".gz"
    try:
        with gzip.open(path) if compressed else path.open("rb") as file:
            raw = file.read()
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{path}: must be whole and packed by gzip, got {error}") from None
    try:
        # HiGHS splits lines at \n alone and keeps other line ends in the line.
        lines = raw.decode("utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: names must be UTF-8, got byte {error.start}") from None
    try:
        return _Reader(path, lines, _free_fields).contents
    except ValueError as free:
        # Names with spaces can only be read in the fixed format.
        try:
            return _Reader(path, lines, _fixed_fields).contents
        except ValueError:
            raise free from None


def _free_fields(line: str) -> list[str]:
    words = line.split()
    if "$" not in line:
        return words
    # A word that begins with a dollar begins a comment.
    end = next((i for i, word in enumerate(words) if word.startswith("$")), len(words))
    return words[:end]


def _fixed_fields(line: str) -> list[str]:
    """Return the fields of a line, or ["?"] if there is text between the fields."""
    ends = (0, *(end for _, end in _FIELDS))
    begins = (*(begin for begin, _ in _FIELDS), max(len(line), ends[-1]))
    if any(line[end:begin].strip() for end, begin in zip(ends, begins, strict=True)):
        return ["?"]
    fields = [line[begin:end].strip() for begin, end in _FIELDS]
    while fields and not fields[-1]:
        fields.pop()
    return fields[1:] if fields and not fields[0] else fields


class _Reader:
    """Reads lines into ``contents``; ``line`` is the number of the current line."""

    def __init__(self, path: Path, lines: list[str], fields: Fields) -> None:
        self.path = path
        self.line = 0
        self.section = ""
        self.contents = Contents(text="\n".join(filter(None, lines)) + "\n")
        # Sections read so far, the name of the one vector of each, and the columns.
        self.sections: set[str] = set()
        self.vectors: dict[str, str] = {}
        self.column_names: set[str] = set()
        # Numbers by their text: most occur many times in a file.
        self.numbers: dict[str, float] = {}
        readers = {
            "OBJSENSE": self._sense,
            "ROWS": self._row,
            "COLUMNS": self._column,
            "RHS": self._vector,
            "RANGES": self._vector,
            "BOUNDS": self._bound,
        }
        for number, line in enumerate(lines, 1):
            self.line = number
            if line.startswith("*"):
                continue
            words = fields(line)
            if not words:
                continue
            first = line.split(maxsplit=1)[0].upper()
            # A vector may be named as its section.
            named = first == self.section and len(words) > 1
            if first in _HEADS and not named and not line[0].isspace():
                self.section = self._header(first, line.split()[1:])
                if first == "ENDATA":
                    return
            elif self.section not in readers:
                self._refuse(f"{line.strip()!r} stands in no section of a 0-1 program")
            elif first in SECTIONS and first != self.section:
                self._refuse(f"{first} names a section and must stand at the start of its line")
            else:
                readers[self.section](words)
        self._refuse("the file ends without ENDATA")

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"{self.path}:{self.line}: {what}")

    def _header(self, section: str, words: list[str]) -> str:
        if section in QUADRATIC:
            self._refuse(f"the objective must be linear, got a quadratic one in {section}")
        if section in FOREIGN:
            self._refuse(f"sections of a 0-1 program are {', '.join(SECTIONS)}, got {section}")
        if section in self.sections:
            self._refuse(f"section {section} stands there twice")
        self.sections.add(section)
        if section == "OBJSENSE" and words:
            if words not in (["MAX"], ["MIN"]):
                self._refuse(f"OBJSENSE in one line must be MAX or MIN, got {' '.join(words)!r}")
            self._sense(words)
        elif section != "NAME" and words:
            self._refuse(f"{section} must stand alone in its line, got {' '.join(words)!r} too")
        return section

    def _sense(self, words: list[str]) -> None:
        if len(words) != 1 or words[0] not in MINIMISE + MAXIMISE:
            self._refuse(f"OBJSENSE must be MIN or MAX, got {' '.join(words)!r}")
        self.contents.maximise = words[0] in MAXIMISE

    def _row(self, words: list[str]) -> None:
        if len(words) != 2 or words[0] not in ("N", "L", "G", "E"):
            self._refuse(f"a row must be N, L, G or E and a name, got {' '.join(words)!r}")
        kind, name = words
        if name in self.contents.rows:
            self._refuse(f"row {name} stands there twice")
        self.contents.rows[name] = kind

    def _column(self, words: list[str]) -> None:
        if words[1:2] == ["'MARKER'"]:
            if words[-1] not in ("'INTORG'", "'INTEND'"):
                self._refuse(f"a marker must be 'INTORG' or 'INTEND', got {words[-1]}")
            return
        if len(words) not in (3, 5):
            self._refuse(f"a column must have one or two rows and numbers, got {' '.join(words)!r}")
        name = words[0]
        columns = self.contents.columns
        if not columns or columns[-1] != name:
            if name in self.column_names:
                self._refuse(f"column {name} stands there twice, apart")
            self.column_names.add(name)
            columns.append(name)
        for row, number in self._pairs(words[1:]):
            if (name, row) in self.contents.entries:
                self._refuse(f"column {name} has row {row} twice")
            self.contents.entries[name, row] = number
            size = abs(number)
            has_limits = self.contents.rows[row] != "N" and size
            if has_limits and not SMALLEST_ENTRY < size < LARGEST_ENTRY:
                self._refuse(
                    f"entries must be 0 or of a size between {SMALLEST_ENTRY:g} and "
                    f"{LARGEST_ENTRY:g}, others HiGHS drops or refuses, got {number!r}"
                )

    def _vector(self, words: list[str]) -> None:
        if len(words) not in (2, 3, 4, 5):
            self._refuse(
                f"{self.section} must have one or two rows and numbers, got {' '.join(words)!r}"
            )
        self._vector_name(words.pop(0) if len(words) % 2 else "")
        numbers = self.contents.right if self.section == "RHS" else self.contents.ranges
        for row, number in self._pairs(words):
            if row in numbers:
                self._refuse(f"{self.section} has row {row} twice")
            numbers[row] = number

    def _vector_name(self, name: str) -> None:
        """Remember the name of the section's vector, and refuse a second one."""
        first = self.vectors.setdefault(self.section, name)
        if first != name:
            self._refuse(f"{self.section} must be of one name, got {first!r} and {name!r}")

    def _pairs(self, words: list[str]) -> Iterator[tuple[str, float]]:
        for row, number in zip(words[::2], words[1::2], strict=True):
            if row not in self.contents.rows:
                self._refuse(f"there is no row {row}")
            yield row, self._number(number)

    def _bound(self, words: list[str]) -> None:
        kind, *rest = words
        if kind not in BOUNDS:
            self._refuse(f"bounds of a 0-1 program are {', '.join(BOUNDS)}, got {kind}")
        numbered = "=" in BOUNDS[kind]
        number = self._number(rest.pop()) if rest and (numbered or len(rest) == 3) else None
        if len(rest) not in (1, 2) or (numbered and number is None):
            self._refuse(
                f"a bound must be {kind}, a set and a column{' and a number' * numbered}, "
                f"got {' '.join(words)!r}"
            )
        column = rest.pop()
        self._vector_name(rest.pop() if rest else "")
        if column not in self.column_names:
            self._refuse(f"there is no column {column}")
        for ends, value in zip(
            (self.contents.lower, self.contents.upper), BOUNDS[kind], strict=True
        ):
            if value is None:
                continue
            if column in ends:
                self._refuse(f"column {column} has an end of its interval set twice")
            ends[column] = number if isinstance(value, str) and number is not None else float(value)

    def _number(self, word: str) -> float:
        if word in self.numbers:
            return self.numbers[word]
        if not _NUMBER.fullmatch(word):
            self._refuse(f"{word!r} is no number")
        if not is_exact(word):
            self._refuse(
                f"{word} is a number that float64 cannot hold: it would be {float(word)!r}"
            )
        return self.numbers.setdefault(word, float(word))


def is_exact(word: str) -> bool:
    """Return whether a decimal is the shortest one of a float64: reading it loses nothing."""
    number = float(word)
    return isfinite(number) and Decimal(word) == Decimal(repr(number))
