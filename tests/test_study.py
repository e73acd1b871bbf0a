import dataclasses
import pickle

import pytest

import fastlb as lb
from fastlb.study import parse_method

GIVEN = {"topologies": ["mesh:8x8"], "methods": ["dde"], "loads": "uniform:1000"}


def test_spellings_and_objects_make_the_same_study():
    spelled = lb.Study("s", ["mesh:4x4", "ring:8"], ["gde: lam=0.7", "dde"], "uniform:3", 7, 9)
    given = lb.Study(
        name="s",
        topologies=[lb.Mesh(4, 4), lb.Ring(8)],
        methods=["gde:lam=0.7", "dde"],
        loads=[lb.Uniform(mean=3)],
        trials=7,
        seed=9,
    )
    assert spelled == given
    assert hash(spelled) == hash(given)
    assert pickle.loads(pickle.dumps(given)) == given
    with pytest.raises(dataclasses.FrozenInstanceError):
        given.trials = 8


def test_cells_are_the_grid_and_what_is_further():
    further = lb.Part(["mesh:4x4", "mesh:2x2"], ["dde"], ["uniform:1", "uniform:2"])
    study = lb.Study("s", ["mesh:4x4"], ["gde", "dde"], "uniform:1", further=[further])
    assert [cell.key for cell in study.cells] == [
        ("mesh:4x4", "gde", "uniform:1"),
        ("mesh:4x4", "dde", "uniform:1"),
        ("mesh:4x4", "dde", "uniform:2"),
        ("mesh:2x2", "dde", "uniform:1"),
        ("mesh:2x2", "dde", "uniform:2"),
    ]


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("dde", "dde", {}),
        ("gde:lam=0.723", "gde", {"lam": 0.723}),
        (" gde : lam = 723/1000 , order = interleaved ", "gde", None),
        ("gde:max_sweeps=5,tol=1e-9", "gde", {"max_sweeps": 5, "tol": 1e-9}),
        ("dde:axes=2-0-1,exchange=sbr", "dde", {"axes": (2, 0, 1), "exchange": "sbr"}),
        ("own:on=true,off=False,nothing=none", "own", {"on": True, "off": False, "nothing": None}),
    ],
)
def test_methods_are_read(text, name, options):
    expected = {"lam": "723/1000", "order": "interleaved"} if options is None else options
    assert parse_method(text) == (name, expected)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"name": ""}, ValueError, "name must be printable text"),
        ({"name": "a\nb"}, ValueError, "name must be printable text"),
        ({"topologies": []}, ValueError, "topologies must not be empty"),
        ({"topologies": "mesh:8x8"}, TypeError, "topologies must be a list"),
        ({"topologies": [8]}, TypeError, "topologies must be topologies or spellings"),
        ({"topologies": ["msh:8x8"]}, ValueError, "did you mean mesh"),
        ({"topologies": ["mesh:8x8", lb.Mesh(8, 8)]}, ValueError, "topologies must differ"),
        ({"methods": "dde"}, TypeError, "methods must be a list"),
        ({"methods": ["dda"]}, ValueError, "methods must be among .*did you mean dde"),
        ({"methods": ["gde:lam"]}, ValueError, "methods must be spelled like"),
        ({"methods": ["gde:lam=1,lam=2"]}, ValueError, "methods must be spelled like"),
        ({"methods": ["gde:record=flows"]}, ValueError, "cannot set record"),
        ({"methods": ["dde", " dde "]}, ValueError, "methods must differ"),
        ({"methods": [3]}, TypeError, "methods must be spelled like"),
        ({"loads": ["unifrom:3"]}, ValueError, "did you mean uniform"),
        ({"loads": []}, ValueError, "loads must not be empty"),
        ({"loads": 3}, TypeError, "loads must be a list"),
        ({"trials": 0}, ValueError, "trials must be at least 1"),
        ({"trials": 1.5}, TypeError, "trials must be an integer"),
        ({"seed": -1}, ValueError, "seed must be between"),
        ({"further": [3]}, TypeError, "further must be parts"),
    ],
)
def test_wrong_arguments(changed, error, message):
    with pytest.raises(error, match=message):
        lb.Study(**{"name": "s", **GIVEN, **changed})


def test_networks_of_one_spelling_cannot_be_told_apart():
    networks = [lb.Network([(0, 1), (1, 2)]), lb.Network([(0, 2), (1, 2)])]
    with pytest.raises(ValueError, match="topologies must differ"):
        lb.Study("s", networks, ["gde:lam=1/2"], "uniform:3")


def test_toml_goes_there_and_back(tmp_path):
    study = lb.Study(
        'a "quoted" näme',
        ["mesh:8x8", "hypercube:3:faults=0-4", "grid:4wx6"],
        ["gde:lam=0.723", "gde:lam=1/2,order=interleaved"],
        ["uniform:10", "uniform:1000"],
        trials=12,
        seed=2**128 - 1,
        further=[
            lb.Part(["ring:5"], ["dde"], "uniform:2"),
            lb.Part(["ring:6"], ["dde"], "uniform:2"),
        ],
    )
    assert lb.Study.from_toml(study.to_toml()) == study
    path = tmp_path / "study.toml"
    path.write_text(study.to_toml(), encoding="utf-8")
    assert lb.Study.read(path) == study
    assert lb.Study.from_toml(lb.studies.load("wu-shu").to_toml()).cells == (
        lb.studies.load("wu-shu").cells
    )


def test_a_network_has_no_toml():
    study = lb.Study("s", [lb.Network([(0, 1), (1, 2)])], ["gde:lam=1/2"], "uniform:3")
    with pytest.raises(ValueError, match="must have a spelling"):
        study.to_toml()


TOML = 'name = "s"\ntopologies = ["mesh:4x4"]\nmethods = ["dde"]\nloads = ["uniform:3"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 1\nname 2", "not valid TOML.*line 2"),
        ('name = "s"', "study needs topologies, methods, loads"),
        (TOML + "trails = 3", "got 'trails'; did you mean trials"),
        (TOML + 'trials = "3"', "trials must be an integer"),
        (TOML + "further = 3", "further must be tables"),
        (TOML + '[[further]]\nmethods = ["dde"]', "further needs topologies, loads"),
        (TOML + "[further]\nx = 1", "further must be tables"),
        (TOML.replace("mesh:4x4", "mesh:4x"), "topology must be spelled like"),
        (TOML.replace('["dde"]', "3"), "methods must be a list"),
    ],
)
def test_wrong_files(tmp_path, text, message):
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        lb.Study.read(path)
    assert str(path) in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        lb.Study.read(tmp_path / "none.toml")


def test_bundled_studies():
    assert list(lb.studies.names()) == [
        "wu-shu",
        "hexa-cell",
        "more-wu",
        "more-wu-faults",
        "minimax",
    ]
    with pytest.raises(ValueError, match="did you mean wu-shu"):
        lb.studies.load("wu-shuu")
