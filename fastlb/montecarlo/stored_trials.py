"""The trials in a store's part files: which ones are there, and their figures."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..extras import extra
from .parts import Format, Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .chunks import Chunk
    from .grid import Cell

PART_NAME = re.compile(r"part-(\d{6,})-([0-9a-f]{32})\.parquet")


class StoredTrials:
    """The trials in the part files of a folder.

    Attributes
    ----------
    rows : int
        Rows of results in the files: one per trial and combination.
    damaged : list of Path
        Files whose bytes do not have the hash in their name. Their trials do not count.
    next_number : int
        Number of the next file: larger than that of any other.
    """

    def __init__(self, folder: Path, form: Format) -> None:
        self.rows = 0
        self.damaged: list[Path] = []
        self.next_number = 0
        self._format = form
        # By combination, in the order of the first trial.
        self._spans: dict[Cell, list[tuple[Span, Path]]] = {cell: [] for cell in form.study.cells}
        # Chunks are read in order, so that two files at a time suffice.
        self._table = lru_cache(2)(_read_table)
        for path in sorted(folder.iterdir()):
            if match := PART_NAME.fullmatch(path.name):
                self.next_number = max(self.next_number, int(match[1]) + 1)
                self._read_spans(path, match[2])

    def _read_spans(self, path: Path, expected_hash: str) -> None:
        content = path.read_bytes()
        if content_hash(content) != expected_hash:
            self.damaged.append(path)
            return
        try:
            self.add(path, content)
        except ValueError as error:
            raise ValueError(f"{path} {error}") from None

    def add(self, path: Path, content: bytes) -> None:
        """Add the trials of a file with these bytes."""
        for span in self._format.spans(content):
            insort(self._spans[span.cell], (span, path), key=_first_trial)
            self.rows += span.stop - span.start

    def overlapping(self, cell: Cell, start: int, stop: int) -> Iterator[tuple[Span, Path]]:
        """Yield where the stored ones among the trials ``start .. stop - 1`` are, in order."""
        spans = self._spans[cell]
        for i in range(max(0, bisect_right(spans, start, key=_first_trial) - 1), len(spans)):
            if spans[i][0].start >= stop:
                return
            if spans[i][0].stop > start:
                yield spans[i]

    def trials_from_first(self, cells: Iterable[Cell]) -> int:
        """Return how many trials, from the first one on, are stored for all these combinations."""
        stops = []
        for cell in cells:
            stop = 0
            for span, _ in self._spans[cell]:
                if span.start > stop:
                    break
                stop = max(stop, span.stop)
            stops.append(stop)
        return min(stops)

    def read(self, cell: Cell, chunk: Chunk) -> dict[str, NDArray[Any]]:
        """Return the figures of a combination in the trials of a chunk, which one file has."""
        span, path = next(self.overlapping(cell, chunk.start, chunk.start + chunk.trials))
        row = span.row + chunk.start - span.start
        return self._format.decode(self._table(path), cell, row, chunk.trials)


def content_hash(content: bytes) -> str:
    """Return the hash that the name of a file with these bytes has: the beginning of SHA-256."""
    return hashlib.sha256(content).hexdigest()[:32]


def _first_trial(entry: tuple[Span, Path]) -> int:
    return entry[0].start


def _read_table(path: Path) -> Any:
    return extra("pyarrow.parquet").read_table(path, partitioning=None)
