"""Running chunks of trials here, on threads, or on processes and clusters, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait

from .._version import __version__
from ..errors import ExecutorError
from ..registry import function_of
from .chunks import CHUNK_LOADS, Chunk, pieces
from .collecting import ALL_COLUMNS, Dropped, Outputs, Tally
from .measuring import MethodColumns, run_chunk
from .methodtext import parse_method

# What is handed to an executor ahead of the chunk waited for. A cluster has many workers, whose
# results may all come before that one; a pool of this machine only has to be kept busy while a part
# of a store is written. In rows of results, some 100 bytes each; and in chunks, at least and most.
CLUSTER_AHEAD = 2**22
POOL_AHEAD = 2**18
LEAST_AHEAD = 4 * (os.cpu_count() or 1)
MOST_AHEAD = 1024

# Seconds that this thread sleeps at most while others run chunks and add them up. Awake for each of
# them, it takes the interpreter and a processor from the others: they wait 2.5 times as often.
NAP = 0.02

# Times that a chunk is sent once more after a cluster has lost it.
RETRIES = 3


def in_process(executor: Executor | None) -> bool:
    """Return whether chunks are run in this process, where tallies can be added to."""
    return executor is None or isinstance(executor, ThreadPoolExecutor)


def run_chunks(
    chunks: Iterable[Chunk], executor: Executor | None, outputs: Outputs = ALL_COLUMNS
) -> Generator[tuple[Chunk, MethodColumns]]:
    """Run chunks here, or on an executor, and yield each with its columns, in order.

    A chunk that the executor lost is sent again: it depends on nothing but itself. Tallies that
    are wanted get the trials of chunks that they cover; of others columns must be wanted.

    Raises
    ------
    ExecutorError
        If the executor is broken, or loses the same chunk again and again.
    """
    if executor is None:
        for chunk in chunks:
            yield chunk, _run_here(chunk, outputs)
        return
    here = isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)
    most = POOL_AHEAD if here else CLUSTER_AHEAD
    # While this thread sends all that, threads that have their first chunk wait for the
    # interpreter, some milliseconds: a pool gets one more ahead whenever one comes back.
    room = LEAST_AHEAD if here else MOST_AHEAD
    # Columns may have to be written, for which threads must not wait.
    rests = isinstance(executor, ThreadPoolExecutor) and not outputs.columns
    waiting = iter(chunks)
    sent: deque[tuple[Chunk, Sent]] = deque()
    rows = 0
    try:
        while True:
            while len(sent) < LEAST_AHEAD or (rows < most and len(sent) < room):
                following = next(waiting, None)
                if following is None:
                    break
                sent.append((following, _send(executor, following, outputs)))
                rows += following.trials * len(following.methods)
            if not sent:
                return
            if rests and not sent[0][1].done():
                wait([sent[len(sent) // 2][1]], NAP)  # for several of them
            first, future = sent.popleft()
            rows -= first.trials * len(first.methods)
            room = min(room + 1, MOST_AHEAD)
            yield first, _received(executor, first, outputs, future)
    finally:
        for _, future in sent:
            future.cancel()


def _run_here(chunk: Chunk, outputs: Outputs) -> MethodColumns:
    """Run a chunk in this process, on any thread."""
    columns = run_chunk(chunk)
    if outputs.tallies is not None and outputs.tallies.covers(chunk):
        add = outputs.tallies.add if outputs.columns else outputs.tallies.add_later
        add(chunk.cells, columns)
    return columns if outputs.columns else []


def run_on_thread(chunk: Chunk, outputs: Outputs) -> MethodColumns | Exception:
    """Run a chunk on another thread; an error is returned as for :func:`run_elsewhere`."""
    try:
        return _run_here(chunk, outputs)
    except Exception as error:
        return error


def run_elsewhere(
    chunk: Chunk, version: str, dropped: Dropped | None = None
) -> MethodColumns | Tally | Exception:
    """Run a chunk for a process that may be of another version, whose results could differ.

    With ``dropped``, what :meth:`Tallies.dropped` said of its group, the trials are added up here.
    An error of the chunk is returned: those that are raised are the executor's own.
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
        for piece in pieces(chunk, CHUNK_LOADS):
            tally.add_later(piece.methods, run_chunk(piece))
    except Exception as error:
        return error
    return tally


Sent = Future[MethodColumns | Tally | Exception]


def _send(executor: Executor, chunk: Chunk, outputs: Outputs) -> Sent:
    try:
        if in_process(executor):
            return executor.submit(run_on_thread, chunk, outputs)
        alone = outputs.tallies is not None and not outputs.columns
        dropped = outputs.tallies.dropped(chunk.group) if outputs.tallies and alone else None
        return executor.submit(run_elsewhere, chunk, __version__, dropped)
    except Exception as error:  # of whatever kind each sort of executor has for it
        raise ExecutorError(f"the executor takes no more work: {error}") from error


def _received(executor: Executor, chunk: Chunk, outputs: Outputs, future: Sent) -> MethodColumns:
    losses = 0
    while True:
        try:
            answer = future.result()
            break
        except Exception as error:
            losses += 1
            if losses > RETRIES:
                raise ExecutorError(
                    f"the executor lost the trials from {chunk.start} on {chunk.topology.spec} "
                    f"{losses} times: {str(error) or type(error).__name__}"
                ) from error
        future = _send(executor, chunk, outputs)
    if isinstance(answer, Exception):
        raise answer
    if isinstance(answer, Tally):
        if outputs.tallies is not None:
            outputs.tallies.merge(chunk.group, answer)
        return []
    if in_process(executor) or outputs.tallies is None:
        return answer
    if outputs.tallies.covers(chunk):
        outputs.tallies.add(chunk.cells, answer)
    return answer
