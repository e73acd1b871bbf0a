"""Running chunks of trials in this process, on threads, or on processes and clusters, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait

from .._version import __version__
from ..errors import ExecutorError
from ..registry import function_of
from .chunks import MAX_LOADS, Chunk, subdivide
from .collecting import ALL_COLUMNS, Outputs
from .measuring import MethodColumns, run_chunk
from .methodtext import parse_method
from .tally import Dropped, Tally

# How far an executor runs ahead of the chunk that is yielded next, in rows of results, some 100
# bytes each. A cluster has many workers, whose chunks may all be ready before that one; a pool of
# this machine must only be kept busy while a part of a store is written.
CLUSTER_ROWS_AHEAD = 2**22
POOL_ROWS_AHEAD = 2**18
# The same in chunks.
MIN_CHUNKS_AHEAD = 4 * (os.cpu_count() or 1)
MAX_CHUNKS_AHEAD = 1024

# Seconds that this thread waits at most for several chunks of other threads. If it woke up for each
# of them, it would take the interpreter and a processor from the others: they would wait 2.5 times
# as often.
MAX_WAIT = 0.02

# How often a chunk that the executor lost is sent again.
RETRIES = 3

Answer = MethodColumns | Tally | Exception


def in_process(executor: Executor | None) -> bool:
    """Return whether chunks are run in this process, where tallies can be added to."""
    return executor is None or isinstance(executor, ThreadPoolExecutor)


def run_chunks(
    chunks: Iterable[Chunk], executor: Executor | None, outputs: Outputs = ALL_COLUMNS
) -> Generator[tuple[Chunk, MethodColumns]]:
    """Run chunks here or on an executor, and yield each with its columns, in order.

    A chunk that the executor lost is sent again, as it depends on nothing else. The tallies of
    ``outputs`` get the trials of chunks that they cover; ``outputs.columns`` must be True if there
    are others. Without ``outputs.columns`` there are no columns.

    Raises
    ------
    ExecutorError
        If the executor is broken, or loses the same chunk again and again.
    """
    if executor is None:
        for chunk in chunks:
            yield chunk, _run_here(chunk, outputs)
        return
    is_pool = isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)
    max_rows = POOL_ROWS_AHEAD if is_pool else CLUSTER_ROWS_AHEAD
    # While this thread sends chunks, threads that have their first one wait some milliseconds for
    # the interpreter. So a pool begins with few chunks and gets two for each that comes back.
    max_chunks = MIN_CHUNKS_AHEAD if is_pool else MAX_CHUNKS_AHEAD
    # Columns may have to be written to a store, which must not wait.
    waits_for_several = isinstance(executor, ThreadPoolExecutor) and not outputs.columns
    remaining = iter(chunks)
    sent: deque[tuple[Chunk, Future[Answer]]] = deque()
    rows_ahead = 0
    try:
        while True:
            while len(sent) < MIN_CHUNKS_AHEAD or (
                rows_ahead < max_rows and len(sent) < max_chunks
            ):
                following = next(remaining, None)
                if following is None:
                    break
                sent.append((following, _send(executor, following, outputs)))
                rows_ahead += following.rows
            if not sent:
                return
            if waits_for_several and not sent[0][1].done():
                wait([sent[len(sent) // 2][1]], MAX_WAIT)
            chunk, future = sent.popleft()
            rows_ahead -= chunk.rows
            max_chunks = min(max_chunks + 1, MAX_CHUNKS_AHEAD)
            yield chunk, _receive(executor, chunk, outputs, future)
    finally:
        for _, future in sent:
            future.cancel()


def _run_here(chunk: Chunk, outputs: Outputs) -> MethodColumns:
    """Run a chunk in this process, on any thread."""
    columns = run_chunk(chunk)
    tallies = outputs.tallies
    if tallies is not None and tallies.covers(chunk):
        if outputs.columns:
            tallies.add(chunk.cells, columns)
        else:
            tallies.add_later(chunk.cells, columns)
    return columns if outputs.columns else []


def run_on_thread(chunk: Chunk, outputs: Outputs) -> MethodColumns | Exception:
    """Run a chunk on another thread; an error is returned as by :func:`run_elsewhere`."""
    try:
        return _run_here(chunk, outputs)
    except Exception as error:
        return error


def run_elsewhere(chunk: Chunk, version: str, dropped: Dropped | None = None) -> Answer:
    """Run a chunk in another process, and return its columns, its tally or its error.

    An error of the chunk is returned, so that those that are raised are the executor's own.

    Parameters
    ----------
    chunk : Chunk
    version : str
        That of fastlb where the study is run: results of another one could differ.
    dropped : dict, optional
        What :meth:`Tallies.dropped` returned for the group of the chunk. With it, the trials are
        added up here and their tally is returned.
    """
    if version != __version__:
        return ExecutorError(
            f"fastlb must be {version} on all workers, as where the study is run; got {__version__}"
        )
    for method in chunk.methods:
        name, _ = parse_method(method)
        if function_of(name) is None:
            return ExecutorError(
                f"methods must be registered on all workers, as where the study is run: "
                f"register_method({name!r}, ..) in a module that they import or in the "
                f"initializer of a process pool; {name} is not there"
            )
    try:
        if dropped is None:
            return run_chunk(chunk)
        tally = Tally(dropped)
        for part in subdivide(chunk, MAX_LOADS):
            tally.add_later(part.methods, run_chunk(part))
    except Exception as error:
        return error
    return tally


def _send(executor: Executor, chunk: Chunk, outputs: Outputs) -> Future[Answer]:
    try:
        if in_process(executor):
            return executor.submit(run_on_thread, chunk, outputs)
        dropped = None
        if outputs.tallies is not None and not outputs.columns:
            dropped = outputs.tallies.dropped(chunk.group)
        return executor.submit(run_elsewhere, chunk, __version__, dropped)
    except Exception as error:  # each kind of executor raises its own
        raise ExecutorError(f"the executor takes no more work: {error}") from error


def _receive(
    executor: Executor, chunk: Chunk, outputs: Outputs, future: Future[Answer]
) -> MethodColumns:
    """Return the columns of a chunk that was sent, once the tallies have its trials."""
    answer = _answer(executor, chunk, outputs, future)
    if isinstance(answer, Exception):
        raise answer
    tallies = outputs.tallies
    if isinstance(answer, Tally):
        if tallies is not None:
            tallies.merge(chunk.group, answer)
        return []
    if tallies is not None and not in_process(executor) and tallies.covers(chunk):
        tallies.add(chunk.cells, answer)
    return answer


def _answer(executor: Executor, chunk: Chunk, outputs: Outputs, future: Future[Answer]) -> Answer:
    """Wait for the answer to a chunk, and send the chunk again if the executor lost it."""
    losses = 0
    while True:
        try:
            return future.result()
        except Exception as error:
            losses += 1
            if losses > RETRIES:
                raise ExecutorError(
                    f"the executor lost the trials from {chunk.start} on {chunk.topology.spec} "
                    f"{losses} times: {str(error) or type(error).__name__}"
                ) from error
        future = _send(executor, chunk, outputs)
