"""How a study is divided: enough for all workers, little enough for the memory."""

import dataclasses
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo import measuring
from fastlb.montecarlo.chunks import (
    CHUNK_BYTES,
    LOAD_BYTES,
    MAX_LOADS,
    MAX_ROWS,
    MIN_CHUNKS,
    MIN_LOADS,
    TALLY_LOADS,
    divide,
    subdivide,
)
from fastlb.montecarlo.measuring import run_chunk


def study_of(topology, trials, methods=("dde",), loads="uniform:9"):
    return lb.Study("s", [topology], list(methods), loads, trials=trials)


@pytest.mark.parametrize("tallied", [False, True])
@pytest.mark.parametrize("trials", [1, 100, 10**4, 10**6, 10**9])
@pytest.mark.parametrize(
    "topology",
    ["chain:1", "mesh:8x8", "mesh:16x16x16", "mesh:128x128", "hypercube:20", "hypercube:24"],
)
def test_chunks_fit(topology, trials, tallied):
    study = study_of(topology, trials)
    first = next(divide(study, tallied=tallied))
    N, step = first.topology.size, first.trials
    assert 1 <= step <= trials
    assert step == 1 or step * N * LOAD_BYTES <= CHUNK_BYTES
    assert step <= 16 or step * N <= (TALLY_LOADS if tallied else MAX_LOADS)
    assert tallied or step <= MAX_ROWS
    if 16 < step < trials:
        # Pieces for all workers, unless they would be too short.
        assert step * N <= max(trials * N / MIN_CHUNKS, MAX_LOADS if tallied else MIN_LOADS)
        assert step % 64 == 0 or step in (16, 32, 48)


def test_a_cube_of_24_dimensions_does_not_take_gigabytes():
    (_, *_, last) = chunks = list(divide(study_of("hypercube:24", 7)))
    assert [chunk.trials for chunk in chunks] == [2, 2, 2, 1]
    assert last.start == 6


def test_many_methods_have_shorter_chunks():
    many = [f"dde:axes={axes}" for axes in ("0-1", "1-0")]
    one, two = (next(divide(study_of("mesh:2x2", 10**8, m))) for m in (("dde",), many))
    assert one.trials == 2 * two.trials == MAX_ROWS


def test_pieces_are_the_chunk():
    (chunk,) = divide(study_of("mesh:8x8", 1000), 1000)
    parts = list(subdivide(chunk, 64 * 64))
    assert [part.trials for part in parts] == [64] * 15 + [40]
    assert [part.start for part in parts] == list(range(0, 1000, 64))


@pytest.mark.parametrize("methods", [("dde:exchange=sbr",), ("gde:lam=0.7", "dde:exchange=sbr")])
def test_rows_are_balanced_piece_by_piece(monkeypatch, methods):
    (chunk,) = divide(study_of("mesh:4x4", 200, methods), 200)
    expected = run_chunk(chunk)
    monkeypatch.setattr(measuring, "ROWS_LOADS", 16 * 20)
    for found, wanted in zip(run_chunk(chunk), expected, strict=True):
        assert list(found) == list(wanted)
        for name, values in wanted.items():
            assert np.array_equal(found[name], values)
            assert found[name].dtype == values.dtype


def test_memory_is_asked_for_before_loads_are_drawn(monkeypatch):
    asked = []

    def refuse(needed, what):
        asked.append(needed)
        raise MemoryError(what)

    monkeypatch.setattr(measuring, "require_memory", refuse)
    monkeypatch.setattr(measuring, "sample_loads", None)
    chunk = next(divide(study_of("mesh:256x256", 10)))
    with pytest.raises(MemoryError, match="10 trials on mesh:256x256"):
        run_chunk(chunk)
    assert asked == [10 * 2**16 * LOAD_BYTES]


def test_an_error_of_one_piece_is_told(monkeypatch):
    study = study_of("mesh:4x4", 100, loads=f"uniform:{2**62 - 1}")
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor,
        pytest.raises(OverflowError, match="loads must have a total that fits int64"),
    ):
        lb.run(study, executor=executor, rows=False)
    with pytest.raises(OverflowError, match="loads must have a total that fits int64"):
        lb.run(dataclasses.replace(study, trials=20_000), threads=2, rows=False)
