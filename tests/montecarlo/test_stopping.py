import dataclasses
import itertools

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo.stopping import checkpoints
from fastlb.montecarlo.targets import Target

from .stores import EARLY

STUDY = dataclasses.replace(EARLY, trials=3000, target_error={"difference": 0.03, "rounds": "5%"})


@pytest.fixture(scope="module")
def results():
    return lb.run(STUDY)


def test_it_looks_after_doubling_numbers_of_trials():
    assert list(checkpoints(STUDY)) == [100, 200, 400, 800, 1600, 3000]
    assert list(checkpoints(dataclasses.replace(STUDY, trials=90))) == [90]
    assert list(checkpoints(dataclasses.replace(STUDY, trials=200))) == [100, 200]
    assert list(checkpoints(dataclasses.replace(STUDY, target_error=()))) == [3000]


def test_a_group_stops_at_the_first_checkpoint_that_reaches_its_targets(results):
    whole = lb.run(dataclasses.replace(STUDY, target_error=()))
    counts = {}
    for (topology, _), cells in STUDY.groups.items():
        expected = None
        for checkpoint in checkpoints(STUDY):
            errors = []
            for cell in cells:
                for figure, share in (("difference", 0.03), ("rounds", None)):
                    if figure in whole.columns(cell):
                        values = whole.columns(cell)[figure][:checkpoint]
                        target = share or 0.05 * values.mean()
                        errors.append(values.std(ddof=1) / checkpoint**0.5 <= target)
            expected = checkpoint
            if all(errors):
                break
        counts[topology.spec] = expected
        for cell in cells:
            assert results.trials(cell) == expected
            assert np.array_equal(
                results.columns(cell)["moved"], whole.columns(cell)["moved"][:expected]
            )
    assert len(set(counts.values())) > 1
    assert results.unreached() == [
        ("mesh:8x8", "uniform:100") for _ in [0] if counts["mesh:8x8"] == 3000
    ]


@pytest.mark.parametrize(
    "options",
    [{"chunk": 1000}, {"chunk": 33}, {"threads": 2}, {"rows": False}, {"rows": False, "chunk": 7}],
)
def test_it_stops_alike_for_any_chunks_and_threads(results, options):
    found = lb.run(STUDY, **options)
    assert [found.trials(cell) for cell in STUDY.cells] == [
        results.trials(cell) for cell in STUDY.cells
    ]
    assert found.summary() == results.summary()
    assert found.compare() == results.compare()


def test_tables_have_as_many_rows_as_were_run(results):
    table = results.table()
    assert {len(column) for column in table.values()} == {len(results)}
    for cell in STUDY.cells:
        topology, method, _ = cell.key
        rows = (table["topology"] == topology) & (table["method"] == method)
        assert table["trial"][rows].tolist() == list(range(results.trials(cell)))
        assert np.ma.getmaskarray(table["rounds"])[rows].all() == ("gde" in method)
    assert results.to_arrow().num_rows == len(results.to_pandas()) == len(results)
    least, most = (f([results.trials(cell) for cell in STUDY.cells]) for f in (min, max))
    assert results.trials_text == f"{least:,} to {most:,}"


def test_progress_ends_where_the_study_does(results):
    told = []
    lb.run(STUDY, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(results),) * 2
    assert all(a[1] >= b[1] for a, b in itertools.pairwise(told))
    assert told[0][1] == STUDY.trials * len(STUDY.cells)


def test_a_figure_that_no_method_of_a_group_has_does_not_stop_it():
    study = dataclasses.replace(
        STUDY,
        topologies=["ring:4"],
        methods=["gde:lam=1/2"],
        target_error={"rounds": 1e9},
        trials=300,
        further=[lb.Part(["ring:5"], ["dde"], "uniform:9")],
    )
    results = lb.run(study)
    assert [results.trials(cell) for cell in study.cells] == [300, 100]
    assert results.unreached() == [("ring:4", "uniform:100")]


def test_studies_without_targets_have_reached_them():
    assert lb.run(lb.Study("s", ["ring:4"], ["dde"], "uniform:9", trials=3)).unreached() == []


@pytest.mark.parametrize(
    ("given", "targets"),
    [
        ({"cost": 0.5}, (Target("cost", 0.5),)),
        ({"cost": 1, "moved": "0.7%"}, (Target("cost", 1.0), Target("moved", 0.7, True))),
        ({"cost": " 1e-1 % "}, (Target("cost", 0.1, True),)),
        ([Target("cost", 0.5)], (Target("cost", 0.5),)),
        (None, ()),
        ({}, ()),
    ],
)
def test_targets_are_read(given, targets):
    study = lb.Study("s", ["ring:4"], ["dde"], "uniform:9", target_error=given)
    assert study.target_error == targets
    assert hash(study) == hash(dataclasses.replace(study))
    assert lb.Study.from_toml(study.to_toml()) == study


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"cost": 0}, ValueError, "target_error of cost must be positive and finite, got 0"),
        ({"cost": -1.0}, ValueError, "must be positive"),
        ({"cost": float("nan")}, ValueError, "must be positive"),
        ({"cost": 10**400}, ValueError, "must be positive|must be a number"),
        ({"cost": "0%"}, ValueError, "must be positive"),
        ({"cost": "1"}, ValueError, "must be a number or like '1%', got '1'"),
        ({"cost": "1.2.3%"}, ValueError, "must be a number or like '1%'"),
        ({"cost": "nan%"}, ValueError, "must be a number or like '1%'"),
        ({"cost": True}, TypeError, "must be a number or like '1%', got True"),
        ({"cost": None}, TypeError, "must be a number or like '1%'"),
        ({3: 1}, TypeError, "target_error must be errors by figure, got 3"),
        (0.5, TypeError, "target_error must be errors by figure, got 0.5"),
        ("cost", TypeError, "target_error must be errors by figure"),
    ],
)
def test_wrong_targets(given, error, message):
    with pytest.raises(error, match=message):
        lb.Study("s", ["ring:4"], ["dde"], "uniform:9", target_error=given)


def test_wrong_figures_and_minimum_trials():
    with pytest.raises(ValueError, match=r"among .*moved.*, got 'movde'; did you mean moved\?"):
        lb.run(dataclasses.replace(STUDY, target_error={"movde": 1}))
    with pytest.raises(ValueError, match="minimum_trials must be at least 2, got 1"):
        dataclasses.replace(STUDY, minimum_trials=1)
    with pytest.raises(TypeError, match="minimum_trials must be an integer"):
        dataclasses.replace(STUDY, minimum_trials="9")
