"""Where the trials of a run come from and are stored: in memory alone, or in files of a folder."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise, tee
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..files.writing import replacing, sync_folder
from .collecting import ALL_COLUMNS, Outputs
from .executors import run_chunks
from .parts import Format, Stretch
from .stored_trials import StoredTrials, content_hash

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .chunks import Chunk
    from .collecting import Tallies
    from .measuring import MethodColumns

# Seconds between two part files: at least one, then a fiftieth of the time of the run, at most a
# minute. A killed run loses no more than that and what is under way, and a run of ten days leaves
# 15,000 files.
MIN_INTERVAL, INTERVAL_SHARE, MAX_INTERVAL = 1.0, 0.02, 60.0
# Most rows that wait to be written: some 30 MB. Where they come faster than files are due, threads
# encode them, and this many encoded files wait for the ones before them.
PART_ROWS = 2**18
PARTS_AHEAD = 2
# Most chunks that are searched for trials to run, ahead of the chunks that are yielded.
CHUNKS_AHEAD = 2**12

# The bytes of a part file and their hash.
_Encoded = tuple[bytes, str]


class Storage(Protocol):
    """What runs chunks, or reads their trials.

    Attributes
    ----------
    done : int
        Rows that are done and, where they are stored, safe.
    needs_columns : bool
        Whether the columns of trials are necessary, even if only their tallies are collected.
    """

    needs_columns: bool

    @property
    def done(self) -> int: ...

    def chunks(
        self, chunks: Iterable[Chunk], executor: Executor | None, outputs: Outputs = ALL_COLUMNS
    ) -> Generator[tuple[Chunk, MethodColumns]]:
        """Yield the trials of chunks in order, each chunk whole or in pieces, with its columns.

        Its trials have been added to ``outputs.tallies`` by then. Without ``outputs.columns``
        columns may be absent.
        """


class NoStorage:
    """Runs chunks and stores nothing."""

    needs_columns = False

    def __init__(self) -> None:
        self.done = 0

    def chunks(
        self, chunks: Iterable[Chunk], executor: Executor | None, outputs: Outputs = ALL_COLUMNS
    ) -> Generator[tuple[Chunk, MethodColumns]]:
        """Run chunks and yield each with its columns."""
        with closing(run_chunks(chunks, executor, outputs)) as measured:
            for chunk, columns in measured:
                self.done += chunk.rows
                yield chunk, columns


@dataclass(frozen=True)
class _Piece:
    """Some trials of a chunk, and the same with those methods alone that the store lacks, if any.

    For each method, either all of the trials are in the store or none.
    """

    chunk: Chunk
    missing: Chunk | None


@dataclass
class _Part:
    """Pieces whose new rows are written to one file; a thread may encode the rows."""

    pieces: list[tuple[_Piece, MethodColumns]] = field(default_factory=list)
    rows: int = 0
    encoded: Future[_Encoded] | None = None

    @property
    def ready(self) -> bool:
        """Whether no thread is encoding the rows."""
        return self.encoded is None or self.encoded.done()

    def add(self, piece: _Piece, columns: MethodColumns) -> None:
        """Add a piece, with the columns of its missing methods, which were run."""
        self.pieces.append((piece, columns))
        self.rows += piece.chunk.rows

    def new_rows(self) -> list[Stretch]:
        """Return the trials that were run, which are to be written."""
        return [
            Stretch(cell, piece.missing.start, piece.missing.trials, columns)
            for piece, by_method in self.pieces
            if piece.missing
            for cell, columns in zip(piece.missing.cells, by_method, strict=True)
        ]


class Store:
    """Reads trials from a folder, runs the others and writes them there.

    :func:`~fastlb.montecarlo.store.open_store` opens one. Each ``part-NUMBER-HASH.parquet`` has
    rows of :meth:`Results.to_arrow`; HASH is the beginning of the SHA-256 of its bytes. A file is
    written beside its name, flushed to the disk and then named, so that a file with such a name is
    whole. How trials are divided among files depends on the time they took; the trials do not.

    Parameters
    ----------
    folder : Path
    form : Format
    read_only : bool
        Whether no trials may be run.

    Attributes
    ----------
    trials : StoredTrials
        The trials in the folder, safe on the disk.
    """

    needs_columns = True

    def __init__(self, folder: Path, form: Format, *, read_only: bool = False) -> None:
        self.trials = StoredTrials(folder, form)
        self._folder = folder
        self._format = form
        self._read_only = read_only
        self._failed = False
        self._opened = self._last_write = time.monotonic()

    @property
    def done(self) -> int:
        """Rows that are in the folder, safe on the disk."""
        return self.trials.rows

    def chunks(
        self, chunks: Iterable[Chunk], executor: Executor | None, outputs: Outputs = ALL_COLUMNS
    ) -> Generator[tuple[Chunk, MethodColumns]]:
        """Yield the trials of chunks in order: those in the folder, and those that are run now.

        What was run before an error or an interrupt is written as well.

        Raises
        ------
        ValueError
            If trials are missing and the store is read-only.
        """
        remaining = iter(chunks)
        while some := list(islice(remaining, CHUNKS_AHEAD)):
            yield from self._read_or_run(some, executor, outputs.tallies)

    def _read_or_run(
        self, chunks: Iterable[Chunk], executor: Executor | None, tallies: Tallies | None
    ) -> Generator[tuple[Chunk, MethodColumns]]:
        """Yield the trials of at most ``CHUNKS_AHEAD`` chunks.

        Pieces are gathered into parts. They are yielded once their part is written.
        """
        parts = deque([_Part()])  # in order; pieces are added to the last one
        with closing(self._measured(chunks, executor, tallies)) as measured:
            try:
                for piece, columns in measured:
                    parts[-1].add(piece, columns)
                    if self._is_due(parts[-1]):
                        self._start_encoding(parts[-1], executor)
                        yield from self._finish_ready(parts, tallies)
                        parts.append(_Part())
                self._start_encoding(parts[-1], executor)
                while parts:
                    yield from self._finish(parts.popleft(), tallies)
            except BaseException:
                while parts and not self._failed:
                    self._write(parts.popleft())
                raise

    def _measured(
        self, chunks: Iterable[Chunk], executor: Executor | None, tallies: Tallies | None
    ) -> Generator[tuple[_Piece, MethodColumns]]:
        """Yield the pieces of chunks, each with the columns of its missing methods, which are run.

        The executor runs ahead of the pieces that are yielded.
        """
        pieces, ahead = tee(self._pieces(chunks))
        missing = (piece.missing for piece in ahead if piece.missing is not None)
        with closing(run_chunks(missing, executor, Outputs(tallies))) as results:
            for piece in pieces:
                yield piece, next(results)[1] if piece.missing else []

    def _pieces(self, chunks: Iterable[Chunk]) -> Iterator[_Piece]:
        """Divide chunks where a span of stored trials begins or ends."""
        for chunk in chunks:
            cells, stop = chunk.cells, chunk.start + chunk.trials
            cuts = {chunk.start, stop}
            for cell in cells:
                for span, _ in self.trials.overlapping(cell, chunk.start, stop):
                    cuts |= {max(span.start, chunk.start), min(span.stop, stop)}
            for start, end in pairwise(sorted(cuts)):
                piece = replace(chunk, start=start, trials=end - start)
                methods = tuple(
                    cell.method
                    for cell in cells
                    if next(self.trials.overlapping(cell, start, end), None) is None
                )
                if methods and self._read_only:
                    raise ValueError(self._incomplete())
                yield _Piece(piece, replace(piece, methods=methods) if methods else None)

    def _incomplete(self) -> str:
        study = self._format.study
        rows = f"{study.trials * len(study.cells):,}"
        return (
            f"{self._folder} holds {self.done:,} rows of "
            f"{f'up to {rows}' if study.target_error else rows}: the run is not complete "
            "(--resume goes on with it)"
        )

    def _is_due(self, part: _Part) -> bool:
        now = time.monotonic()
        interval = min(max(MIN_INTERVAL, INTERVAL_SHARE * (now - self._opened)), MAX_INTERVAL)
        return now - self._last_write >= interval or part.rows >= PART_ROWS

    def _start_encoding(self, part: _Part, executor: Executor | None) -> None:
        """Let a thread encode a part if parts follow each other within a second."""
        is_soon = time.monotonic() - self._last_write < MIN_INTERVAL
        if is_soon and isinstance(executor, ThreadPoolExecutor) and (rows := part.new_rows()):
            with suppress(RuntimeError):  # the pool may take no more work
                part.encoded = executor.submit(_encode, self._format, rows)

    def _finish_ready(
        self, parts: deque[_Part], tallies: Tallies | None
    ) -> Iterator[tuple[Chunk, MethodColumns]]:
        """Finish the first of several parts, those that no thread is encoding any more.

        If no thread encodes the last one, this thread does, and all before it are finished first.
        """
        most_waiting = 0 if parts[-1].encoded is None else PARTS_AHEAD
        while parts and (parts[0].ready or len(parts) > most_waiting):
            yield from self._finish(parts.popleft(), tallies)

    def _finish(
        self, part: _Part, tallies: Tallies | None
    ) -> Iterator[tuple[Chunk, MethodColumns]]:
        """Write a part, and yield its pieces with the columns of all methods.

        The tallies get those pieces of which trials were read: run_chunks adds the others.
        """
        self._write(part)
        for piece, columns in part.pieces:
            all_columns = self._all_columns(piece, columns)
            if tallies is not None and piece.missing != piece.chunk:
                tallies.add(piece.chunk.cells, all_columns)
            yield piece.chunk, all_columns

    def _all_columns(self, piece: _Piece, columns: MethodColumns) -> MethodColumns:
        """Return the columns of all methods of a piece: those that were run, and stored ones."""
        run = dict(zip(piece.missing.methods, columns, strict=True)) if piece.missing else {}
        return [
            run[cell.method] if cell.method in run else self.trials.read(cell, piece.chunk)
            for cell in piece.chunk.cells
        ]

    def _write(self, part: _Part) -> None:
        """Write the new rows of a part; when this returns, they are safe on the disk."""
        if part.new_rows():
            # After an error no further part is written. An interrupt does not prevent that.
            try:
                content, digest = self._encoded(part)
                path = self._folder / f"part-{self.trials.next_number:06}-{digest}.parquet"
                put(path, content)
            except Exception:
                self._failed = True
                raise
            self.trials.next_number += 1
            self.trials.add(path, content)
        self._last_write = time.monotonic()

    def _encoded(self, part: _Part) -> _Encoded:
        """Return the bytes of a part that a thread encoded, or encode them here."""
        # They are encoded here if the thread has not begun, as chunks queued before may take long,
        # and if the pool is broken: the rows are stored in any case.
        if part.encoded is not None and not part.encoded.cancel():
            with suppress(BrokenExecutor):
                return part.encoded.result()
        return _encode(self._format, part.new_rows())


def put(path: Path, content: bytes) -> None:
    """Write a file of a store, whole or not at all; when this returns, it is safe on the disk."""
    try:
        with replacing(path, force=True) as stream:
            stream.write(content)
        sync_folder(path.parent)
    except OSError as error:
        reason = f"{error.strerror}; what was kept before is safe, --resume goes on from there"
        raise OSError(error.errno, reason, error.filename) from error


def _encode(form: Format, rows: list[Stretch]) -> _Encoded:
    """Return rows as the bytes of a part file, and their hash."""
    content = form.encode(rows)
    return content, content_hash(content)
