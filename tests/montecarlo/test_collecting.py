"""Results without rows: the same statistics, in memory that does not grow."""

import pickle
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from threading import Barrier

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo.chunks import divide
from fastlb.montecarlo.collecting import Rows, Tallies
from fastlb.montecarlo.executors import run_elsewhere
from fastlb.montecarlo.measuring import run_chunk
from fastlb.montecarlo.results import Results
from fastlb.montecarlo.tally import Tally

STUDY = lb.Study(
    "small",
    ["mesh:4x4", "ring:8"],
    ["gde:lam=0.7", "dde", "dde:exchange=sbr"],
    "uniform:100",
    trials=500,
    seed=8,
    further=[lb.Part(["mesh:4x4"], ["dde"], "uniform:1000")],
)


@pytest.fixture(scope="module")
def results():
    return lb.run(STUDY)


@pytest.mark.parametrize("chunk", [None, 1, 64, 333])
def test_summaries_are_those_of_the_rows(results, chunk):
    found = lb.run(STUDY, rows=False, chunk=chunk)
    assert found.summary() == results.summary()
    assert found.compare() == results.compare()
    assert found.figures == results.figures
    assert len(found) == len(results)


def test_threads_and_executors_change_nothing(results):
    assert lb.run(STUDY, rows=False, threads=2, chunk=50).summary() == results.summary()
    with ThreadPoolExecutor(2) as executor:
        found = lb.run(STUDY, rows=False, executor=executor, chunk=70)
    assert found.summary() == results.summary()


def columns(n):
    drawn = np.random.default_rng(3)
    return [{"cost": drawn.normal(2, 1, n), "moved": drawn.integers(0, 10**6, n)} for _ in "ab"]


def test_many_distinct_values_differ_in_their_quantiles_alone():
    study = lb.Study("s", ["ring:8"], ["gde", "dde"], "uniform:9", trials=30_000)
    kept = Rows(study), Tallies(study)
    given = columns(30_000)
    for part in range(0, 30_000, 1234):
        piece = [{name: c[part : part + 1234] for name, c in method.items()} for method in given]
        for collector in kept:
            collector.add(study.cells, piece)
    rows, tallies = (lb.Results(study, collector).summary() for collector in kept)
    for key, figures in rows.items():
        for name, exact in figures.items():
            found = tallies[key][name]
            assert 0 < found.quantile_error < (exact.maximum - exact.minimum) / 1000
            for level, value in exact.quantiles.items():
                assert abs(found.quantiles[level] - value) <= found.quantile_error
            assert (found.mean, found.standard_error, found.minimum, found.maximum) == (
                exact.mean,
                exact.standard_error,
                exact.minimum,
                exact.maximum,
            )
    assert lb.Results(study, kept[0]).compare() == lb.Results(study, kept[1]).compare()


MANY = lb.Study("many", ["mesh:4x4"], ["gde:lam=0.7", "dde"], "uniform:100", trials=30_000, seed=8)


@pytest.fixture(scope="module")
def many():
    found = lb.run(MANY, rows=False)
    assert any(s.quantile_error for figures in found.summary().values() for s in figures.values())
    return found


@pytest.mark.parametrize("options", [{"chunk": 1001}, {"threads": 2}, {"threads": 3, "chunk": 499}])
def test_bins_are_the_same_on_threads(many, options):
    found = lb.run(MANY, rows=False, **options)
    assert found.summary() == many.summary()
    assert found.compare() == many.compare()


@pytest.mark.parametrize("chunk", [None, 2000])
def test_processes_send_back_statistics_alone(many, chunk, monkeypatch):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        with monkeypatch.context() as patch:
            patch.setattr(Tallies, "add", None)
            found = lb.run(MANY, rows=False, executor=executor, chunk=chunk)
        seen = []
        watched = lb.run(
            MANY, rows=False, executor=executor, watch=lambda _, c: seen.append(len(c["moved"]))
        )
    assert sum(seen) == len(watched) == len(found) == 60_000
    for other in (found, watched):
        assert other.summary() == many.summary()
        assert other.compare() == many.compare()


def test_trials_that_wait_are_added_up_when_they_are_asked_for():
    (one, other), others = columns(1000), columns(300)
    counted = {"moved": other["moved"]}  # a figure less from here on
    now, later = Tally(), Tally()
    for start in range(0, 1000, 7):
        for add in (now.add, later.add_later):
            found = one, other if start < 500 else counted
            add("ab", [{name: c[start : start + 7] for name, c in part.items()} for part in found])
    assert later._pending
    later.add_later("ab", others)
    now.add("ab", others)
    sent = pickle.loads(pickle.dumps(later))
    for tally in later, sent:
        assert not tally._pending
        for method, figures in now.figures.items():
            for name, (moments, _) in figures.items():
                found = tally.figures[method][name][0]
                assert (found.trials, found._sums()) == (moments.trials, moments._sums())
        for name, moments in now.pairs["a", "b"].items():
            found = tally.pairs["a", "b"][name]
            assert (found.trials, found._sums()) == (moments.trials, moments._sums())
    assert now.pairs["a", "b"]["cost"].trials < now.pairs["a", "b"]["moved"].trials


def test_what_is_watched_may_be_changed():
    """Statistics of few trials wait until there are more, but not where others have the columns."""

    def spoil(_, columns):
        for values in columns.values():
            if values.flags.writeable:
                values[:] = 0

    expected = lb.run(STUDY, rows=False).summary()
    for threads in (1, 2):
        found = lb.run(STUDY, rows=False, watch=spoil, chunk=64, threads=threads)
        assert found.summary() == expected


def test_a_tally_for_another_process_is_small_however_many_trials_it_has():
    (chunk,) = divide(MANY, MANY.trials)
    columns, tally = (run_elsewhere(chunk, lb.__version__, d) for d in (None, {}))
    assert isinstance(tally, Tally)
    assert 4 * len(pickle.dumps(tally)) < len(pickle.dumps(columns))
    kept = Tallies(MANY)
    kept.merge(chunk.group, tally)
    dropped = kept.dropped(chunk.group)
    assert dropped["dde"]["cost"] >= 32
    assert "rounds" not in dropped["dde"]
    again = run_elsewhere(chunk, lb.__version__, dropped)
    assert again.dropped() == dropped
    kept.merge(chunk.group, again)
    assert kept.trials(MANY.cells[0]) == 60_000


def test_threads_add_to_tallies_of_their_own():
    """At the same time and in turn, and the pool's next thread after the last one ended."""
    chunks = list(divide(MANY, 5_000))
    together = Barrier(2)
    kept, alone = Tallies(MANY), Tallies(MANY)

    def add(chunk):
        together.wait(60)
        kept.add(chunk.cells, run_chunk(chunk))

    for half in (chunks[:6], chunks[6:]):
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(add, half))
    for chunk in chunks:
        alone.add(chunk.cells, run_chunk(chunk))
    found, expected = Results(MANY, kept), Results(MANY, alone)
    assert found.summary() == expected.summary()
    assert found.compare() == expected.compare()


def test_memory_does_not_grow_with_the_trials():
    study = lb.Study("s", ["ring:8"], ["gde", "dde"], "uniform:9", trials=10**9)
    kept = Tallies(study)
    given = columns(2**15)
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(20):
            kept.add(study.cells, given)
            sizes.append(tracemalloc.get_traced_memory()[0])
            for method in given:
                method["cost"] += 0.001
    finally:
        tracemalloc.stop()
    assert sizes[-1] - sizes[2] < 2**16
    assert sizes[-1] < 2**22
    assert kept.trials(study.cells[0]) == 20 * 2**15


def test_no_room_is_asked_for_rows_that_are_not_kept(monkeypatch):
    asked = []
    for module in ("collecting", "measuring"):
        monkeypatch.setattr(
            f"fastlb.montecarlo.{module}.require_memory", lambda *needed: asked.append(needed)
        )
    lb.run(STUDY, rows=False)
    assert asked
    assert all(" on mesh:" in what or " on ring:" in what for _, what, *_ in asked)
    lb.run(STUDY)
    assert any(what.startswith("the table") for _, what, *_ in asked)


def test_rows_that_were_not_kept_are_told():
    found = lb.run(STUDY, rows=False)
    cell = STUDY.cells[0]
    assert not found.has_rows
    for ask in (
        found.table,
        found.to_arrow,
        found.to_pandas,
        lambda: found.columns(cell),
        lambda: found.figure("moved", *cell.key),
    ):
        with pytest.raises(ValueError, match="the rows of small were not kept"):
            ask()
    back = pickle.loads(pickle.dumps(found))
    assert back.summary() == found.summary()
    assert back.compare() == found.compare()
    assert repr(found) == "<Results of small: 7 combinations, 500 trials each>"


def test_differences_are_trial_by_trial(results):
    compared = results.compare(confidence=0.9)
    assert [key[2:] for key in compared][:3] == [
        ("gde:lam=0.7", "dde"),
        ("gde:lam=0.7", "dde:exchange=sbr"),
        ("dde", "dde:exchange=sbr"),
    ]
    assert len(compared) == 6
    from scipy import stats

    for (topology, loads, first, second), figures in compared.items():
        assert "rounds" not in figures or "gde" not in first
        for name, found in figures.items():
            a, b = (results.figure(name, topology, m, loads) for m in (first, second))
            difference = a.astype(np.float64) - b.astype(np.float64)
            assert (found.less, found.equal, found.greater) == (
                np.mean(a < b),
                np.mean(a == b),
                np.mean(a > b),
            )
            assert found.mean == pytest.approx(difference.mean(), rel=1e-12, abs=1e-12)
            if difference.std() > 0:
                expected = stats.t.interval(
                    0.9, 499, loc=difference.mean(), scale=stats.sem(difference)
                )
                assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)
            else:
                assert found.low == found.mean == found.high


def test_the_figures_and_confidence_of_a_comparison(results):
    wanted = results.compare(figures=["cost", "rounds"])
    assert {tuple(figures) for figures in wanted.values()} == {("cost",), ("cost", "rounds")}
    narrow, wide = (results.compare(confidence=level) for level in (0.5, 0.99))
    key = next(iter(narrow))
    assert narrow[key]["cost"].high < wide[key]["cost"].high
    with pytest.raises(ValueError, match="confidence must be between 0 and 1, got 95"):
        results.compare(confidence=95)
    with pytest.raises(ValueError, match=r"figures must be among .*, got 'cots'"):
        results.compare(figures=["cots"])
    with pytest.raises(ValueError, match="levels must be between 0 and 1"):
        results.summary([50])


def test_one_trial_has_differences_without_an_error():
    study = lb.Study("s", ["ring:4"], ["gde:lam=1/2", "dde"], "uniform:3", trials=1)
    (figures,) = lb.run(study, rows=False).compare().values()
    told = figures["moved"].to_dict()
    assert (told["standard_error"], told["low"], told["high"]) == (None, None, None)
    assert told["less"] + told["equal"] + told["greater"] == 1


def test_what_comes_in_can_be_watched(results):
    seen = {cell: [] for cell in STUDY.cells}
    lb.run(STUDY, chunk=100, rows=False, watch=lambda cell, c: seen[cell].append(c["moved"]))
    for cell, parts in seen.items():
        assert len(parts) == 5
        assert np.array_equal(np.concatenate(parts), results.columns(cell)["moved"])
