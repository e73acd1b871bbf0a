"""Studies of every method and distribution: the same bits on whatever they are run."""

from __future__ import annotations

import dataclasses
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo import measuring
from fastlb.montecarlo.results import Results

from .stores import parts, same

LOADS = [
    "uniform:1000",
    "exponential:1000",
    "poisson:3.5",
    "normal:1000,300",
    "log-normal:1000,1",
    "zipf:1.5,100",
    "two-valued:0,1000,0.1",
    "one-hot:64000",
    "resampled:3-1-4-1-5",
]
TOML = f"""
name = "together"
topologies = ["mesh:4x4", "torus:3x5"]
methods = ["gde:lam=0.723", "dde", "dde:exchange=sbr"]
loads = {[*LOADS, "resampled:FILE"]}
trials = 90
seed = 11

[[further]]
topologies = ["hypercube:4"]
methods = ["dem", "fault_tolerant_dem", "gde"]
loads = ["exponential:9", "resampled:FILE"]

[[further]]
topologies = ["hypercube:3:faults=0-1"]
methods = ["fault_tolerant_dem"]
loads = ["zipf:1.2,50"]

[[further]]
topologies = ["hhc:2"]
methods = ["hexa_cell", "hexa_cell:algorithm=A", "hexa_cell:algorithm=C"]
loads = ["poisson:100", "one-hot:1000"]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "loads.npy"
    np.save(path, np.random.default_rng(4).integers(0, 10**6, 300))
    return path


@pytest.fixture(scope="module")
def study(file: Path) -> lb.Study:
    return lb.Study.from_toml(TOML.replace("FILE", str(file)))


@pytest.fixture(scope="module")
def results(study: lb.Study) -> Results:
    """Every method by its public function, on the loads that ``sample_loads`` shows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "measure_in_tiles", lambda chunk: {})
        return lb.run(study)


def process_pool() -> AbstractContextManager[Executor]:
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


@pytest.mark.parametrize("chunk", [None, 1, 17, 64])
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_and_chunks(
    study: lb.Study, results: Results, threads: int, chunk: int | None
) -> None:
    assert same(lb.run(study, threads=threads, chunk=chunk), results)
    summary = lb.run(study, threads=threads, chunk=chunk, rows=False)
    assert summary.summary() == results.summary()
    assert summary.compare() == results.compare()


@pytest.mark.parametrize("pool", [lambda: ThreadPoolExecutor(3), process_pool])
def test_executors(study: lb.Study, results: Results, pool: Any) -> None:
    with pool() as executor:
        assert same(lb.run(study, executor=executor, chunk=40), results)
        summary = lb.run(study, executor=executor, chunk=50, rows=False).summary()
    assert summary == results.summary()


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("pool", [nullcontext, process_pool])
def test_stores(study: lb.Study, results: Results, tmp_path: Path, pool: Any) -> None:
    pytest.importorskip("pyarrow")
    few = dataclasses.replace(study, trials=30)
    lb.run(few, store=tmp_path, chunk=7, rows=False)
    with pool() as executor:
        found = lb.run(study, store=tmp_path, resume=True, chunk=33, executor=executor)
    assert same(found, results)
    for part in parts(tmp_path)[::3]:
        part.unlink()
    again = lb.run(study, store=tmp_path, resume=True, threads=2, rows=False)
    assert again.compare() == results.compare()
    assert same(lb.read_store(tmp_path), results)
    assert lb.read_store(tmp_path, rows=False).summary() == results.summary()


def test_trials_that_are_left_to_rows_and_those_in_tiles_share_a_store(
    study: lb.Study, results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    with monkeypatch.context() as patch:
        patch.setattr(measuring, "measure_in_tiles", lambda chunk: {})
        lb.run(dataclasses.replace(study, trials=41), store=tmp_path)
    assert same(lb.run(study, store=tmp_path, resume=True), results)


def test_a_file_of_loads_is_kept_by_its_hash(study: lb.Study, file: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    small = dataclasses.replace(study, trials=5, further=[])
    found = lb.run(small, store=tmp_path)
    (name,) = (loads.spec for loads in small.loads if str(file) in loads.spec)
    assert ",sha256=" in name
    assert name in (tmp_path / "_manifest.json").read_text()
    kept = file.read_bytes()
    values = np.load(file)
    try:
        np.save(file, values + 1)
        with pytest.raises(ValueError, match="got other values"):
            lb.read_store(tmp_path)
        changed = lb.Study.from_toml(TOML.replace("FILE", str(file)))
        changed = dataclasses.replace(changed, trials=5, further=[])
        with pytest.raises(ValueError, match=r"sha256=\w+ in the store only, resampled:.*now only"):
            lb.run(changed, store=tmp_path, resume=True)
        file.unlink()
        with pytest.raises(FileNotFoundError, match=r"loads\.npy"):
            lb.read_store(tmp_path)
        # The values that the study holds are those of the store all the same.
        assert same(lb.run(small, store=tmp_path, resume=True), found)
        assert same(lb.read_store(tmp_path, small), found)
    finally:
        file.write_bytes(kept)
    assert same(lb.read_store(tmp_path), found)


def test_values_without_a_file_are_kept_by_their_hash(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    values = np.arange(500)
    study = lb.Study("own", ["ring:8"], ["dde"], lb.Resampled(values), trials=20)
    found = lb.run(study, store=tmp_path)
    assert same(lb.read_store(tmp_path, study), found)
    with pytest.raises(ValueError, match=r"500 values.* has no spelling to be read back from"):
        lb.read_store(tmp_path)
    other = dataclasses.replace(study, loads=lb.Resampled(values[::-1]))
    with pytest.raises(ValueError, match="holds another study; loads: resampled:500 values"):
        lb.run(other, store=tmp_path, resume=True)
