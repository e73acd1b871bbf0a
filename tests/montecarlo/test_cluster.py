"""Studies on Dask clusters: the same bits, whatever becomes of the workers."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fastlb as lb
from fastlb.montecarlo import cluster

from ..cli.conftest import Run
from ..cli.conftest import run as run
from .stores import STUDY, parts, same

dask: Any = pytest.importorskip("distributed")
config: Any = pytest.importorskip("dask.config")

QUIET = {
    "threads_per_worker": 1,
    "dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
    "silence_logs": logging.CRITICAL,
}
MANY = dataclasses.replace(STUDY, trials=2000)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes, which all tests share that leave them alone."""
    with dask.LocalCluster(n_workers=2, **QUIET) as workers, dask.Client(workers) as connected:
        yield connected


@pytest.fixture
def mortal() -> Iterator[Any]:
    """Two worker processes, which are started again when they die."""
    with (
        # Else a worker that is dead is asked for its results for 30 seconds.
        config.set({"distributed.comm.timeouts.connect": "2s"}),
        dask.LocalCluster(n_workers=2, **QUIET) as workers,
        dask.Client(workers) as connected,
    ):
        yield connected


@pytest.mark.parametrize("chunk", [None, 300])
def test_the_same_bits_on_a_cluster(client: Any, chunk: int | None) -> None:
    assert same(lb.run(MANY, executor=client.get_executor(), chunk=chunk), lb.run(MANY))


def test_it_stops_alike_and_keeps_no_rows_on_a_cluster(client: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    study = dataclasses.replace(MANY, target_error={"cost": "0.7%"}, minimum_trials=100)
    expected = lb.run(study)
    assert len(expected) < len(study.cells) * study.trials
    for options in ({}, {"store": tmp_path}):
        executor = client.get_executor()
        found = lb.run(study, executor=executor, chunk=90, rows=False, **options)  # type: ignore[arg-type]
        assert found.summary() == expected.summary()
        assert found.compare() == expected.compare()
    assert same(lb.read_store(tmp_path), expected)


def test_workers_are_killed_in_the_middle(mortal: Any, tmp_path: Path) -> None:
    killed = []

    def tell(done: int, total: int) -> None:
        if done >= total * (1 + len(killed)) // 4 and len(killed) < 2:
            mortal.wait_for_workers(1)
            found = mortal.run(os.getpid, on_error="ignore")
            # One that dies before the cluster has heard of it would be an error when that closes.
            known = mortal.cluster.scheduler_info["workers"]
            new = [pid for name, pid in found.items() if name in known and pid not in killed]
            if new:
                os.kill(new[0], signal.SIGKILL)
                killed.append(new[0])

    pytest.importorskip("pyarrow")
    for options in ({}, {"store": tmp_path}):
        killed.clear()
        executor = mortal.get_executor()
        found = lb.run(MANY, executor=executor, chunk=20, progress=tell, **options)  # type: ignore[arg-type]
        assert len(killed) == 2
        assert same(found, lb.run(MANY))
    assert same(lb.read_store(tmp_path), found)


def test_a_cluster_that_ends_leaves_the_store(mortal: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")

    def tell(done: int, total: int) -> None:
        if done:
            mortal.cluster.close()

    lb.run(STUDY, store=tmp_path)
    with pytest.raises(lb.ExecutorError):
        lb.run(
            MANY,
            executor=mortal.get_executor(),
            store=tmp_path,
            resume=True,
            chunk=20,
            progress=tell,
        )
    assert parts(tmp_path)
    assert same(lb.run(MANY, store=tmp_path, resume=True), lb.run(MANY))


def test_processes_of_this_machine(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.to_toml())
    with cluster.dask_executor("local", processes=2) as executor:
        assert same(lb.run(STUDY, executor=executor), lb.run(STUDY))
    expected = run("study", path, "--json")
    assert run("study", path, "--json", "--dask", "local", "--threads", 2) == expected


def test_a_scheduler_elsewhere(client: Any, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.to_toml())
    address = client.scheduler.address
    found = run("study", path, "--json", "--dask", address, "--store", tmp_path / "store")
    assert json.loads(found.out) == lb.studies.report(lb.run(STUDY)).to_dict()
    assert (found.code, found.err) == (0, "")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:1", "Timed out trying to connect to tcp://127.0.0.1:1"),
        ("nonsense://a", "nonsense"),
        ("no-port", "no-port"),
    ],
)
def test_schedulers_that_do_not_answer(address: str, message: str) -> None:
    code = (
        "from fastlb.cli import main\n"
        "from fastlb.montecarlo import cluster\n"
        "cluster.ANSWER = 0.5\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "study", "wu-shu", "--dask", address],
        cwd=Path(lb.__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


def test_an_address_is_not_blamed_on_the_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.to_toml())
    done = run("study", path, "--dask", "no-port")
    assert (done.code, done.out) == (2, "")
    assert "no-port" in done.err
    assert path.name not in done.err


def test_a_scheduler_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "FIRST_WORKER", 0.2)
    with (
        dask.LocalCluster(n_workers=0, **QUIET) as workers,
        pytest.raises(TimeoutError, match=r"tcp://.* has no workers after 0.2 seconds"),
        cluster.dask_executor(workers.scheduler_address),
    ):
        pass
