import dataclasses
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from types import SimpleNamespace

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo.chunks import divide
from fastlb.montecarlo.measuring import dry_run
from fastlb.montecarlo.methodtext import parse_method

STUDY = lb.Study(
    "small",
    topologies=["mesh:8x8", "torus:3x5", "hypercube:5"],
    methods=["gde:lam=0.723", "gde:lam=1/2,max_sweeps=3"],
    loads=["uniform:1000", "uniform:3"],
    trials=150,
    seed=1995,
    further=[lb.Part(["torus:3x5"], ["dde", "dde:exchange=sbr"], "uniform:1000")],
)


def same(a, b):
    first, second = a.table(), b.table()
    return list(first) == list(second) and all(
        np.array_equal(first[name], second[name])
        and first[name].dtype == second[name].dtype
        and np.array_equal(np.ma.getmaskarray(first[name]), np.ma.getmaskarray(second[name]))
        for name in first
    )


@pytest.fixture(scope="module")
def results():
    return lb.run(STUDY)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("chunk", [1, 7, 64, 100, 149, 150, 1000])
def test_the_same_bits_for_any_threads_and_chunks(results, threads, chunk):
    assert same(lb.run(STUDY, threads=threads, chunk=chunk), results)


def test_the_same_bits_on_two_processes(results):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert same(lb.run(STUDY, executor=executor, chunk=50), results)
        early = dataclasses.replace(STUDY, target_error={"difference": "5%"}, minimum_trials=20)
        found = lb.run(early, executor=executor, chunk=15, rows=False)
    here = lb.run(early)
    assert len({here.trials(cell) for cell in early.cells}) > 1
    assert found.summary() == here.summary()
    assert found.compare() == here.compare()


def test_figures_are_those_of_the_methods(results):
    for cell in STUDY.cells:
        topology, method, loads = cell.key
        drawn = lb.sample_loads(cell.loads, cell.topology, trials=STUDY.trials, seed=STUDY.seed)
        name, options = parse_method(method)
        expected = lb.balance(drawn, cell.topology, method=name, **options)
        for figure in ("difference", "moved", "local", "cost", "sweeps", "steps"):
            found = results.figure(figure, topology, method, loads)
            assert np.array_equal(found, getattr(expected, figure))


def test_fewer_trials_are_the_first_ones(results):
    few = lb.Study("few", ["torus:3x5"], ["dde"], "uniform:1000", trials=11, seed=1995)
    key = few.cells[0].key
    whole = results.figure("moved", *key)
    assert np.array_equal(lb.run(few).figure("moved", *key), whole[:11])


def test_chunks_cover_every_trial_once():
    for size in (None, 1, 64, 149):
        chunks = list(divide(STUDY, size))
        for cell in STUDY.cells:
            ranges = [
                range(c.start, c.start + c.trials)
                for c in chunks
                if (c.topology, c.loads) == (cell.topology, cell.loads) and cell.method in c.methods
            ]
            assert [trial for part in ranges for trial in part] == list(range(STUDY.trials))


def test_a_method_of_ones_own(monkeypatch):
    monkeypatch.setattr("fastlb.registry._METHODS", {"dem": lb.dem})

    def halve(loads, topology, *, record="metrics", keep=1):
        return lb.dem(loads, topology, record=record)

    lb.register_method("halve", halve)
    study = lb.Study("own", ["hypercube:3"], ["halve:keep=2", "dem"], "uniform:9", trials=5)
    found = lb.run(study)
    first, second = (found.figure("moved", *cell.key) for cell in study.cells)
    assert np.array_equal(first, second)


@pytest.mark.parametrize("rows", [True, False])
@pytest.mark.parametrize("chunk", [None, 10])
def test_a_method_may_use_its_arrays_again(monkeypatch, rows, chunk):
    monkeypatch.setattr("fastlb.registry._METHODS", {"dem": lb.dem})
    room = np.empty(50, np.int64)

    def reuse(loads, topology, *, record="metrics"):
        found = lb.dem(loads, topology, record=record)
        moved = room[: len(loads)]
        moved[:] = found.moved
        return SimpleNamespace(moved=moved, steps=np.broadcast_to(np.int64(2), len(loads)))

    lb.register_method("reuse", reuse)
    study = lb.Study("own", ["hypercube:3"], ["reuse", "dem"], "uniform:9", trials=50)
    summary = lb.run(study, rows=rows, chunk=chunk).summary()
    first, second = (summary[cell.key] for cell in study.cells)
    assert first["moved"] == second["moved"]
    assert first["steps"].minimum == first["steps"].maximum == 2


@pytest.mark.parametrize(
    ("topology", "method", "error", "message"),
    [
        ("mesh:4x4", "dem", TypeError, "dem on mesh:4x4: topology must be a Hypercube"),
        ("mesh:4x4", "gde:lam=1.5", ValueError, "gde:lam=1.5 on mesh:4x4: lam must"),
        (
            "mesh:4x4",
            "dde:lam=0.7",
            TypeError,
            "^dde:lam=0.7 on mesh:4x4: dde takes axes, exchange, got lam$",
        ),
        ("mesh:4x4", "dde:axes=1-1", ValueError, "axes must be an order"),
    ],
)
def test_what_cannot_run_is_refused_before_a_trial_is_drawn(
    monkeypatch, topology, method, error, message
):
    monkeypatch.setattr("fastlb.montecarlo.measuring.sample_loads", None)
    study = lb.Study("wrong", [topology], ["dde:exchange=sbr", method], "uniform:9")
    with pytest.raises(error, match=message):
        lb.run(study)


@pytest.mark.parametrize("trials", [10**12, 2**63 - 1])
def test_a_table_beyond_all_memory_is_refused_at_once(monkeypatch, trials):
    monkeypatch.setattr("fastlb.montecarlo.measuring.sample_loads", None)
    study = lb.Study("huge", ["mesh:4x4"], ["dde", "gde:lam=0.7"], "uniform:9", trials=trials)
    with pytest.raises(MemoryError, match=r"the table of [0-9,]+ trials needs about .* GiB"):
        lb.run(study)


def test_a_topology_beyond_all_memory_is_refused_at_once():
    study = lb.Study("huge", ["mesh:1000000000x1000000000"], ["dde"], "uniform:9", trials=1)
    with pytest.raises(MemoryError, match="a trial on mesh:1000000000x1000000000 needs about"):
        lb.run(study)


def test_a_dry_run_knows_the_figures():
    results = lb.run(STUDY)
    found = {cell: results.columns(cell) for cell in STUDY.cells}
    assert dry_run(STUDY) == {
        cell: {name: values.dtype for name, values in columns.items()}
        for cell, columns in found.items()
    }


def test_a_method_that_takes_anything(monkeypatch):
    monkeypatch.setattr("fastlb.registry._METHODS", {})
    lb.register_method("any", lambda loads, topology, **options: lb.dde(loads, topology))
    lb.register_method("plain", lambda loads, topology, record="metrics": lb.dde(loads, topology))
    lb.run(lb.Study("own", ["ring:4"], ["any:a=1,b=2"], "uniform:9", trials=1))
    with pytest.raises(TypeError, match="plain takes no options, got a"):
        lb.run(lb.Study("own", ["ring:4"], ["plain:a=1"], "uniform:9", trials=1))


def test_orders_of_one_and_long_decimals():
    share = "0.7230000000000000000000000000000000000001"
    methods = ["dde:axes=0", f"gde:lam={share}", "gde:lam=0.723"]
    results = lb.run(lb.Study("s", ["chain:8"], methods, "uniform:9", trials=3))
    loads = lb.sample_loads("uniform:9", "chain:8", trials=3, seed=0)
    for method, expected in zip(
        methods,
        (
            lb.dde(loads, lb.Chain(8)),
            *(lb.gde(loads, lb.Chain(8), lam=x) for x in (share, "0.723")),
        ),
        strict=True,
    ):
        assert np.array_equal(
            results.figure("moved", "chain:8", method, "uniform:9"), expected.moved
        )


def test_loads_beyond_int64():
    study = lb.Study("large", ["mesh:4x4"], ["dde"], f"uniform:{2**62 - 1}", trials=2)
    with pytest.raises(OverflowError, match="loads must have a total that fits int64"):
        lb.run(study)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threads": 0}, ValueError, "threads must be at least 1"),
        ({"threads": 1.0}, TypeError, "threads must be an integer"),
        ({"chunk": 0}, ValueError, "chunk must be at least 1"),
        ({"executor": "local"}, TypeError, "executor must be a .*Executor, got 'local'"),
        ({"store": 5}, TypeError, "store must be the path of a folder, got 5"),
        ({"store": ""}, ValueError, "store must be the path of a folder, got ''"),
        ({"rows": 2}, TypeError, "rows must be True or False, got 2"),
        ({"resume": "no"}, TypeError, "resume must be True or False, got 'no'"),
        ({"progress": 5}, TypeError, "progress must be True, False or a function, got 5"),
        ({"progress": None}, TypeError, "progress must be True, False or a function, got None"),
        ({"watch": 5}, TypeError, "watch must be a function, got 5"),
    ],
)
def test_wrong_arguments(options, error, message):
    with pytest.raises(error, match=message):
        lb.run(STUDY, **options)


def test_threads_beside_an_executor():
    with pytest.raises(ValueError, match="threads must be 1 beside an executor"):
        lb.run(STUDY, executor=Failing(after=0), threads=2)
    with pytest.raises(TypeError, match="study must be a Study, got str"):
        lb.run("wu-shu")


def test_progress_is_told(capsys):
    told = []
    lb.run(STUDY, chunk=100, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (STUDY.trials * len(STUDY.cells),) * 2
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    lb.run(STUDY, progress=True)
    assert capsys.readouterr() == ("", "")


class Failing(Executor):
    """An executor that loses one chunk again and again, and remembers what waits."""

    def __init__(self, after):
        self.after = after
        self.chunks = []
        self.futures = []

    def submit(self, function, chunk, /, *arguments, **options):
        future = Future()
        number = len(self.futures)
        if number < self.after:
            future.set_result(function(chunk, *arguments, **options))
        elif number == self.after or chunk in self.chunks:
            future.set_exception(ConnectionError("the worker is gone"))
        self.chunks.append(chunk)
        self.futures.append(future)
        return future


def test_an_executor_that_fails_is_not_left_with_work():
    executor = Failing(after=3)
    with pytest.raises(lb.ExecutorError, match="4 times: the worker is gone"):
        lb.run(STUDY, executor=executor, chunk=10)
    waiting = [future for future in executor.futures if not future.done() or future.cancelled()]
    assert len(waiting) > 4
    assert all(future.cancelled() for future in waiting)
