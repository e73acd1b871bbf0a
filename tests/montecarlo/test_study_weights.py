"""Studies of nodes of different weights: what they run, their files and their stores."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo.description import describe, study_of

METHODS = ["dde", "gde:lam=1/2"]
WEIGHTS = [3, 0.5, "1/3", 0]


def study(**more):
    return lb.Study("w", ["ring:4"], METHODS, "uniform:50", trials=300, weights=WEIGHTS, **more)


def test_trials_are_balanced_by_the_weights():
    results = lb.run(study())
    table = results.table()
    loads = lb.sample_loads("uniform:50", "ring:4", trials=300, seed=0)
    for method, options in (("dde", {}), ("gde", {"lam": "1/2"})):
        expected = lb.balance(loads, "ring:4", method, weights=WEIGHTS, **options)
        rows = table["method"] == (METHODS[1] if options else "dde")
        for figure in ("moved", "imbalance", "initial_imbalance", "difference", "local"):
            assert np.array_equal(table[figure][rows], getattr(expected, figure)), figure
    with ThreadPoolExecutor(2) as executor:
        again = lb.run(study(), executor=executor, chunk=32).table()
    assert all(np.array_equal(again[name], table[name]) for name in table)


def test_equal_weights_change_no_trial():
    plain = lb.run(lb.Study("w", ["mesh:2x3"], METHODS, "uniform:9", trials=40)).table()
    equal = lb.run(
        lb.Study("w", ["mesh:2x3"], METHODS, "uniform:9", trials=40, weights=[1] * 6)
    ).table()
    assert all(np.array_equal(plain[name], equal[name]) for name in plain)


def test_weights_by_topology():
    made = lb.Study(
        "w",
        ["ring:4", "mesh:2x3"],
        ["dde"],
        "uniform:50",
        further=[lb.Part(["ring:2"], ["gde"], "uniform:5")],
        weights={"mesh:2x3": [[1, 2, 3], [4, 5, 6]], "ring:2": [1, 9]},
    )
    assert made.weights_on(lb.Mesh(2, 3)) == tuple(map(Fraction, range(1, 7)))
    assert made.weights_on(lb.Ring(4)) is None
    assert made == lb.Study.from_toml(made.to_toml())
    assert pickle.loads(pickle.dumps(made)) == made
    assert study_of(describe(made)) == made
    part = made.only([(lb.Ring(4), made.loads[0])])
    assert part.weights == ()
    assert made.only([(lb.Mesh(2, 3), made.loads[0])]).weights_on(lb.Mesh(2, 3))
    assert "mesh:2x3" in made._repr_html_()


def test_the_report_says_what_its_figures_are_of():
    said = "differences and imbalances of load / weight"
    assert said in str(lb.studies.report(lb.run(study())).to_dict())
    plain = lb.Study("w", ["ring:4"], METHODS, "uniform:50", trials=30)
    assert said not in str(lb.studies.report(lb.run(plain)).to_dict())


def test_weights_in_a_file():
    made = study()
    assert 'weights = [3, "1/2", "1/3", 0]' in made.to_toml()
    assert lb.Study.from_toml(made.to_toml()) == made
    assert "weights" not in lb.Study("w", ["ring:4"], METHODS, "uniform:5").to_toml()
    assert "weights" not in describe(lb.Study("w", ["ring:4"], METHODS, "uniform:5"))
    text = made.to_toml().replace('"1/2"', "-1")
    with pytest.raises(ValueError, match="weights must not be negative, got -1 at node 1"):
        lb.Study.from_toml(text)


def test_errors_of_a_file_name_its_line(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(study().to_toml().replace('"1/2"', '"x"'))
    with pytest.raises(ValueError, match=r"mine.toml line \d+: weights at node 1 must be a fin"):
        lb.Study.read(path)


def test_a_store_is_of_its_weights(tmp_path):
    store = tmp_path / "store"
    first = lb.run(study(), store=store).table()
    again = lb.run(study(), store=store, resume=True).table()
    assert all(np.array_equal(again[name], first[name]) for name in first)
    read = lb.read_store(store)
    assert read.study == study()
    others = lb.Study("w", ["ring:4"], METHODS, "uniform:50", trials=300, weights=[1, 2, 3, 4])
    with pytest.raises(ValueError, match="weights"):
        lb.run(others, store=store, resume=True)
    plain = lb.Study("w", ["ring:4"], METHODS, "uniform:50", trials=300)
    with pytest.raises(ValueError, match="weights"):
        lb.run(plain, store=store, resume=True)


@pytest.mark.parametrize(
    ("weights", "error", "says"),
    [
        ([1, 2, 3], ValueError, "weights must be one number a node"),
        ({"ring:5": [1, 2, 3, 4, 5]}, ValueError, "weights must be of topologies of the study"),
        ({"ring:4": [0, 0, 0, 0]}, ValueError, "weights must not all be 0"),
        ("1234", TypeError, "weights must be a list of numbers"),
        (5, TypeError, "weights must be a list of numbers"),
        ({"rong:4": [1]}, ValueError, "did you mean ring"),
    ],
)
def test_what_are_no_weights(weights, error, says):
    with pytest.raises(error, match=says):
        lb.Study("w", ["ring:4"], METHODS, "uniform:50", weights=weights)


def test_methods_that_take_no_weights():
    made = lb.Study("w", ["hhc:1"], ["hexa_cell"], "uniform:5", weights=range(6))
    with pytest.raises(TypeError, match=r"hexa_cell on hhc:1: hexa_cell takes .* got weights"):
        lb.run(made)
