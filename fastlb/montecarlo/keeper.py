"""Where the trials of a run are kept: in memory alone, or part by part in a folder."""

from __future__ import annotations

import hashlib
import re
import time
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, pairwise, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..extras import extra
from ..files.writing import replacing, sync_folder
from .collecting import ALL_COLUMNS, Outputs
from .executors import run_chunks
from .parts import Format, Span, Stretch

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from .chunks import Chunk
    from .collecting import Tallies
    from .grid import Cell
    from .measuring import MethodColumns

PART = re.compile(r"part-(\d{6,})-([0-9a-f]{32})\.parquet")

# A part is written a second after the last one, later on ever less often: a run that is killed
# loses, beside what is under way, a second, a fiftieth of its time or a minute; and one of ten days
# leaves 15,000 files.
SOONEST, SHARE, LATEST = 1.0, 0.02, 60.0
# Rows that wait to be written: some 30 MB. Where so many come before a part would be due, threads
# take turns in making parts of them, of which so many wait for the ones before.
PART_ROWS = 2**18
PARTS_AHEAD = 2
# The bytes of a part and their hash.
_Encoded = tuple[bytes, str]
# Chunks looked at before the first of them is handed on, at most.
CHUNKS_AHEAD = 2**12


class Keeper(Protocol):
    """Runs chunks and counts the rows that are done; whether it needs their columns."""

    done: int
    needs_columns: bool

    def chunks(
        self, chunks: Iterable[Chunk], executor: Executor | None, outputs: Outputs = ALL_COLUMNS
    ) -> Generator[tuple[Chunk, MethodColumns]]:
        """Yield the trials of chunks in order, each chunk whole or in pieces.

        Tallies that are wanted have the trials then. Columns that are not may be missing.
        """


class Memory:
    """Keeps nothing: what is run is handed on."""

    needs_columns = False

    def __init__(self) -> None:
        self.done = 0

    def chunks(
        self, chunks: Iterable[Chunk], executor: Executor | None, outputs: Outputs = ALL_COLUMNS
    ) -> Generator[tuple[Chunk, MethodColumns]]:
        """Run chunks and yield each with its columns."""
        with closing(run_chunks(chunks, executor, outputs)) as computed:
            for chunk, columns in computed:
                self.done += chunk.trials * len(chunk.methods)
                yield chunk, columns


@dataclass(frozen=True)
class _Piece:
    """Some trials of a chunk, and what of them must be run: fewer methods, or nothing."""

    chunk: Chunk
    missing: Chunk | None


@dataclass
class _Part:
    """Pieces that are written together, and what makes bytes of their rows: a thread, or nobody."""

    pieces: list[tuple[_Piece, MethodColumns]] = field(default_factory=list)
    rows: int = 0
    encoded: Future[_Encoded] | None = None

    @property
    def ready(self) -> bool:
        """Whether there is no thread to wait for."""
        return self.encoded is None or self.encoded.done()

    def add(self, piece: _Piece, columns: MethodColumns) -> None:
        """Take a further piece, with the columns of what of it was run."""
        self.pieces.append((piece, columns))
        self.rows += piece.chunk.trials * len(piece.chunk.methods)

    def stretches(self) -> list[Stretch]:
        """Return what of the pieces was run."""
        return [
            Stretch(cell, piece.missing.start, piece.missing.trials, columns)
            for piece, by_method in self.pieces
            if piece.missing
            for cell, columns in zip(piece.missing.cells, by_method, strict=True)
        ]


class Store:
    """The trials in a folder; :func:`~fastlb.montecarlo.store.open_store` opens one.

    Each ``part-NUMBER-HASH.parquet`` has rows of :meth:`Results.to_arrow`; HASH is the beginning
    of the SHA-256 of its bytes. A part is written beside its name, flushed to the disk and then
    named: one that has its name is whole. How trials are divided among parts depends on the time
    they took; what they are does not.

    Attributes
    ----------
    folder : Path
    done : int
        Rows that are in the folder, safe on the disk.
    damaged : list of Path
        Parts whose bytes are not those of their hash. Their trials count as not done.
    """

    needs_columns = True

    def __init__(self, folder: Path, form: Format, *, complete: bool = False) -> None:
        self.done = 0
        self.damaged: list[Path] = []
        self.folder = folder
        self._format = form
        self._complete = complete
        self._spans: dict[Cell, list[tuple[Span, Path]]] = {cell: [] for cell in form.study.cells}
        self._number = 0
        self._failed = False
        self._opened = self._written = time.monotonic()
        self._table = lru_cache(2)(_read_table)
        for path in sorted(folder.iterdir()):
            if named := PART.fullmatch(path.name):
                self._number = max(self._number, int(named[1]) + 1)
                self._find(path, named[2])

    def chunks(
        self, chunks: Iterable[Chunk], executor: Executor | None, outputs: Outputs = ALL_COLUMNS
    ) -> Generator[tuple[Chunk, MethodColumns]]:
        """Yield the trials of chunks in order: those in the folder, and those run and kept now.

        What was run before an error or an interruption is kept as well.

        Raises
        ------
        ValueError
            If trials are missing and the store was opened to be read alone.
        """
        waiting = iter(chunks)
        while some := list(islice(waiting, CHUNKS_AHEAD)):
            yield from self._looked_at(some, executor, outputs.tallies)

    def trials_from_first(self, cells: Iterable[Cell]) -> int:
        """Return how many trials, counted from the first, the folder has of all these cells."""
        stops = []
        for cell in cells:
            stop = 0
            for span, _ in self._spans[cell]:
                if span.start > stop:
                    break
                stop = max(stop, span.stop)
            stops.append(stop)
        return min(stops)

    def _looked_at(
        self, chunks: Iterable[Chunk], executor: Executor | None, tallies: Tallies | None
    ) -> Generator[tuple[Chunk, MethodColumns]]:
        """Do so with chunks that are all looked at before the first of them is handed on."""
        pieces, ahead = tee(self._pieces(chunks))
        missing = (piece.missing for piece in ahead if piece.missing is not None)
        parts = deque([_Part()])  # in order; the last one still grows
        with closing(run_chunks(missing, executor, Outputs(tallies))) as computed:
            try:
                for piece in pieces:
                    last = parts[-1]
                    last.add(piece, next(computed)[1] if piece.missing else [])
                    if not self._due(last):
                        continue
                    self._begin(last, executor)
                    parts.append(_Part())
                    most = 1 if last.encoded is None else 1 + PARTS_AHEAD
                    while len(parts) > 1 and (parts[0].ready or len(parts) > most):
                        yield from self._written_out(parts.popleft(), tallies)
                self._begin(parts[-1], executor)
                while parts:
                    yield from self._written_out(parts.popleft(), tallies)
            except BaseException:
                while parts and not self._failed:
                    self._write(parts.popleft())
                raise

    def _begin(self, part: _Part, executor: Executor | None) -> None:
        """Let a thread make bytes of a part, if others will soon follow."""
        soon = time.monotonic() - self._written < SOONEST
        if soon and isinstance(executor, ThreadPoolExecutor) and (rows := part.stretches()):
            with suppress(RuntimeError):  # one that takes no more work
                part.encoded = executor.submit(_encode, self._format, rows)

    def _written_out(
        self, part: _Part, tallies: Tallies | None
    ) -> Iterator[tuple[Chunk, MethodColumns]]:
        """Write a part, and yield its pieces."""
        self._write(part)
        yield from self._handed(part.pieces, tallies)

    def _handed(
        self, pieces: Iterable[tuple[_Piece, MethodColumns]], tallies: Tallies | None
    ) -> Iterator[tuple[Chunk, MethodColumns]]:
        """Yield pieces with all columns, and add to the tallies what was not run just now."""
        for piece, columns in pieces:
            whole = self._whole(piece, columns)
            if tallies is not None and piece.missing != piece.chunk:
                tallies.add(piece.chunk.cells, whole)
            yield piece.chunk, whole

    def _pieces(self, chunks: Iterable[Chunk]) -> Iterator[_Piece]:
        """Divide chunks where a span of kept trials begins or ends."""
        for chunk in chunks:
            cells, stop = chunk.cells, chunk.start + chunk.trials
            cuts = {chunk.start, stop}
            for cell in cells:
                for span, _ in self._overlapping(cell, chunk.start, stop):
                    cuts |= {max(span.start, chunk.start), min(span.stop, stop)}
            for start, end in pairwise(sorted(cuts)):
                piece = replace(chunk, start=start, trials=end - start)
                methods = tuple(
                    cell.method
                    for cell in cells
                    if next(self._overlapping(cell, start, end), None) is None
                )
                if methods and self._complete:
                    study = self._format.study
                    rows = f"{study.trials * len(study.cells):,}"
                    raise ValueError(
                        f"{self.folder} holds {self.done:,} rows of "
                        f"{f'up to {rows}' if study.target_error else rows}: the run is not "
                        "complete (--resume goes on with it)"
                    )
                yield _Piece(piece, replace(piece, methods=methods) if methods else None)

    def _overlapping(self, cell: Cell, start: int, stop: int) -> Iterator[tuple[Span, Path]]:
        spans = self._spans[cell]
        for i in range(max(0, bisect_right(spans, start, key=_first_trial) - 1), len(spans)):
            if spans[i][0].start >= stop:
                return
            if spans[i][0].stop > start:
                yield spans[i]

    def _due(self, part: _Part) -> bool:
        now = time.monotonic()
        if now - self._written >= min(max(SOONEST, SHARE * (now - self._opened)), LATEST):
            return True
        return part.rows >= PART_ROWS

    def _whole(self, piece: _Piece, columns: MethodColumns) -> MethodColumns:
        """Return the columns of all methods of a piece, those that were not run read."""
        run = dict(zip(piece.missing.methods, columns, strict=True)) if piece.missing else {}
        return [
            run[cell.method] if cell.method in run else self._read(cell, piece.chunk)
            for cell in piece.chunk.cells
        ]

    def _read(self, cell: Cell, chunk: Chunk) -> dict[str, NDArray[Any]]:
        span, path = next(self._overlapping(cell, chunk.start, chunk.start + chunk.trials))
        row = span.row + chunk.start - span.start
        return self._format.decode(self._table(path), cell, row, chunk.trials)

    def _write(self, part: _Part) -> None:
        """Write what was run of a part; when this returns it is safe."""
        if part.stretches():
            try:  # an interrupt says nothing of the parts that follow, an error does
                content, digest = self._encoded(part)
                path = self.folder / f"part-{self._number:06}-{digest}.parquet"
                put(path, content)
            except Exception:
                self._failed = True
                raise
            self._number += 1
            self._add(path, content)
        self._written = time.monotonic()

    def _encoded(self, part: _Part) -> _Encoded:
        """Return the bytes that a thread made of a part, or make them here."""
        # A thread that has not begun comes too late: the chunks before may take their time. In
        # a broken pool none comes, and what was run is kept all the same.
        if part.encoded is not None and not part.encoded.cancel():
            with suppress(BrokenExecutor):
                return part.encoded.result()
        return _encode(self._format, part.stretches())

    def _find(self, path: Path, named: str) -> None:
        content = path.read_bytes()
        if _hash(content) != named:
            self.damaged.append(path)
            return
        try:
            self._add(path, content)
        except ValueError as error:
            raise ValueError(f"{path} {error}") from None

    def _add(self, path: Path, content: bytes) -> None:
        for span in self._format.spans(content):
            insort(self._spans[span.cell], (span, path), key=_first_trial)
            self.done += span.stop - span.start


def put(path: Path, content: bytes) -> None:
    """Write a file of a store, whole or not at all; when this returns, it is safe on the disk."""
    try:
        with replacing(path, force=True) as stream:
            stream.write(content)
        sync_folder(path.parent)
    except OSError as error:
        said = f"{error.strerror}; what was kept before is safe, --resume goes on from there"
        raise OSError(error.errno, said, error.filename) from error


def _first_trial(entry: tuple[Span, Path]) -> int:
    return entry[0].start


def _encode(form: Format, rows: list[Stretch]) -> _Encoded:
    """Return rows as the bytes of a part, and their hash."""
    content = form.encode(rows)
    return content, _hash(content)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _read_table(path: Path) -> Any:
    return extra("pyarrow.parquet").read_table(path, partitioning=None)
