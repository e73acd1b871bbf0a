"""Executors of studies: pools, losses, and how much is handed out at a time."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any

import pytest

import fastlb as lb
from fastlb import registry
from fastlb.montecarlo import executors
from fastlb.montecarlo.chunks import Chunk, divide
from fastlb.montecarlo.collecting import Outputs

from .stores import STUDY, parts, same


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # Python 3.12 beside threads
@pytest.mark.parametrize("method", get_all_start_methods())
def test_the_same_bits_on_processes(method: str) -> None:
    expected = lb.run(STUDY)
    with ProcessPoolExecutor(2, mp_context=get_context(method)) as executor:
        assert same(lb.run(STUDY, executor=executor, chunk=40), expected)


def test_a_process_that_is_killed_breaks_its_pool_and_loses_nothing(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    told: list[int] = []

    def tell(done: int, _total: int) -> None:
        if done and not told:
            executor.submit(os._exit, 1)
        if done:
            told.append(done)

    many = dataclasses.replace(STUDY, trials=3000)
    # The first trials only, so that the run with the pool begins with some that are there.
    lb.run(STUDY, store=tmp_path)
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor,
        pytest.raises(lb.ExecutorError, match="the executor takes no more work: A child process"),
    ):
        lb.run(many, executor=executor, store=tmp_path, resume=True, chunk=10, progress=tell)
    assert told[0] == len(STUDY.cells) * STUDY.trials
    assert parts(tmp_path)
    assert same(lb.run(many, store=tmp_path, resume=True), lb.run(many))


class Scripted(Executor):
    """An executor that does with the n-th chunk what a script says, and counts what it holds."""

    def __init__(self, script: Callable[[int], Any]) -> None:
        self.script = script
        self.submitted = 0

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        outcome = self.script(self.submitted)
        self.submitted += 1
        if outcome is None:
            future.set_result(function(*arguments, **options))
        elif outcome == "lost":
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            raise outcome
        return future


def test_chunks_that_are_lost_are_sent_again() -> None:
    executor = Scripted(lambda n: "lost" if n % 3 == 0 else None)
    assert same(lb.run(STUDY, executor=executor, chunk=20), lb.run(STUDY))
    chunks = len(list(divide(STUDY, 20)))
    assert executor.submitted > chunks * 4 // 3


def test_a_chunk_that_is_always_lost_is_an_error() -> None:
    executor = Scripted(lambda n: "lost")
    with pytest.raises(lb.ExecutorError, match="lost the trials from 0 on mesh:8x8 4 times: Cance"):
        lb.run(STUDY, executor=executor, chunk=100)


def test_an_executor_that_takes_no_more_work() -> None:
    executor = Scripted(lambda n: ConnectionError("closed") if n == 3 else None)
    with pytest.raises(lb.ExecutorError, match="the executor takes no more work: closed"):
        lb.run(STUDY, executor=executor, chunk=20)


def test_workers_of_another_version_are_refused() -> None:
    chunk = next(divide(STUDY, 5))
    assert len(executors.run_elsewhere(chunk, lb.__version__)) == len(chunk.methods)
    refused = executors.run_elsewhere(chunk, "0.0.7")
    assert isinstance(refused, lb.ExecutorError)
    assert "fastlb must be 0.0.7 on all workers" in str(refused)


def test_methods_that_workers_do_not_know_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(registry._METHODS)
    monkeypatch.setattr(registry, "_METHODS", known)
    lb.register_method("own", lambda loads, topology: loads)
    chunk = dataclasses.replace(next(divide(STUDY, 5)), methods=("own",))
    assert len(executors.run_elsewhere(chunk, lb.__version__)) == 1
    del known["own"]
    refused = executors.run_elsewhere(chunk, lb.__version__)
    assert isinstance(refused, lb.ExecutorError)
    assert "methods must be registered on all workers" in str(refused)
    assert "register_method('own', ..)" in str(refused)


def test_an_error_in_a_chunk_is_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[int] = []

    def failing(chunk: Chunk) -> Any:
        run.append(chunk.start)
        raise OverflowError("loads must have a total that fits int64")

    monkeypatch.setattr(executors, "run_chunk", failing)
    executor = Scripted(lambda n: None)
    with pytest.raises(OverflowError, match="loads must have a total"):
        lb.run(STUDY, executor=executor, chunk=150)
    assert len(run) == len(list(divide(STUDY, 150)))


@pytest.mark.parametrize(
    ("chunk", "most"),
    [(1, executors.MAX_CHUNKS_AHEAD), (10**6, executors.MIN_CHUNKS_AHEAD), (10**5, 24)],
)
def test_what_is_handed_out_is_bounded(
    monkeypatch: pytest.MonkeyPatch, chunk: int, most: int
) -> None:
    """However many trials a study has, the results that may wait take up no more memory."""
    monkeypatch.setattr(executors, "run_chunk", lambda chunk: [])
    monkeypatch.setattr(executors, "CLUSTER_ROWS_AHEAD", 4_700_000)
    study = lb.Study("s", ["ring:4"], ["dde", "gde"], "uniform:9", trials=10**11)
    executor = Scripted(lambda n: None)
    found = executors.run_chunks(divide(study, chunk), executor)
    for taken in range(5):
        next(found)
        assert executor.submitted == most + taken
    found.close()


def test_pools_of_this_machine_are_kept_busy_but_not_flooded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executors, "run_chunk", lambda chunk: [])
    taken = 0

    def counted() -> Any:
        nonlocal taken
        for chunk in divide(dataclasses.replace(STUDY, trials=10**9), 2**14):
            taken += 1
            yield chunk

    with ThreadPoolExecutor(2) as executor:
        found = executors.run_chunks(counted(), executor)
        next(found)
        assert taken == max(executors.MIN_CHUNKS_AHEAD, executors.POOL_ROWS_AHEAD // 2**15)
        found.close()


def test_pools_begin_before_all_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool gets one chunk more ahead whenever one comes back, up to what it may have."""
    monkeypatch.setattr(executors, "run_chunk", lambda chunk: [])
    monkeypatch.setattr(executors, "POOL_ROWS_AHEAD", 160 * executors.MIN_CHUNKS_AHEAD)
    taken = []
    chunks = divide(dataclasses.replace(STUDY, trials=10**6), 10)
    with ThreadPoolExecutor(2) as executor:
        found = executors.run_chunks((taken.append(chunk) or chunk for chunk in chunks), executor)
        for received in range(1, 12 * executors.MIN_CHUNKS_AHEAD):
            next(found)
            ahead = len(taken) - received + 1
            assert ahead == min(
                executors.MIN_CHUNKS_AHEAD + received - 1, 8 * executors.MIN_CHUNKS_AHEAD
            )
        found.close()


@pytest.mark.parametrize("columns", [True, False])
def test_a_chunk_is_handed_on_before_many_are_done(
    monkeypatch: pytest.MonkeyPatch, columns: bool
) -> None:
    """However long those behind it take: what is found is not kept back for them."""
    received = threading.Event()

    def run_chunk(chunk: Chunk) -> list[Any]:
        if chunk.start:
            received.wait()
        return []

    monkeypatch.setattr(executors, "run_chunk", run_chunk)
    with ThreadPoolExecutor(2) as executor:
        found = executors.run_chunks(divide(STUDY, 10), executor, Outputs(columns=columns))
        try:
            assert next(found)[0].start == 0
        finally:
            received.set()
        assert len(list(found)) == len(list(divide(STUDY, 10))) - 1
