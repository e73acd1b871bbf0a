import dataclasses
import pickle

import pytest

import fastlb as lb
from fastlb.montecarlo.methodtext import parse_method
from fastlb.montecarlo.studyfile_lines import located

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
        ("gde:lam=.5,tol=1e-300", "gde", {"lam": 0.5, "tol": 1e-300}),
        (f"gde:lam=0.{'3' * 40}", "gde", {"lam": "0." + "3" * 40}),
        ("gde:lam=1e-400,tol=1e400", "gde", {"lam": "1e-400", "tol": "1e400"}),
        ("own:x=inf,y=1e99999999999", "own", {"x": float("inf"), "y": float("inf")}),
        ("dde:axes=0", "dde", {"axes": (0,)}),
        ("dem:dims=0,record_of=3", "dem", {"dims": (0,), "record_of": 3}),
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
        ({"topologies": [8]}, TypeError, "topologies must be a Topology such as"),
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
        (f"seed = {'1' * 5000}", "not valid TOML: Exceeds the limit"),
        (f"seed = {'[' * 50_000}", "not valid TOML: .*recursion"),
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


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (TOML + "trails = 3", "line 5: study takes "),
        (TOML + 'trials = "3"', "line 5: trials must be"),
        (TOML + "trials = 0", "line 5: trials must be at least 1"),
        (
            TOML.replace("mesh:4x4", 'ring:4", \n"mesh:4x'),
            "line 3: topologies: topology must be spelled",
        ),
        (
            TOML.replace('["dde"]', '["dda", # "dda"\n"dda"]'),
            "line 3: methods must be",
        ),
        (
            TOML.replace('["dde"]', '["dda"] # "dda"') + '[[further]] # "dda"\nmethods = [1]\n',
            "line 5: further needs topologies, loads",
        ),
        (TOML.replace("uniform:3", "unifrom:3"), "line 4: loads must be one of"),
        ('name = "s"', ": study needs topologies, methods, loads"),
        (TOML.replace('"mesh:4x4"', "4"), "line 2: topologies must be a Topology such as"),
        (TOML.replace("mesh:4x4", "mesh:0x4"), "line 2: topologies: shape of a Mesh"),
        (TOML.replace('["mesh:4x4"]', "[]"), "line 2: topologies must not be empty"),
        (TOML.replace('"dde"', '"dde", "dde"'), "line 3: methods must differ, got dde twice"),
        (TOML.replace('["dde"]', "{ dde = 1 }"), "line 3: methods must be a list"),
        (TOML.replace("uniform:3", "uniform:-3"), "line 4: loads: mean must be between"),
        (TOML.replace('"s"', "3"), "line 1: name must be printable text, got 3"),
        (TOML + "seed = -1", "line 5: seed must be between"),
        (TOML + "minimum_trials = 1", "line 5: minimum_trials must be at least 2"),
        (TOML + "target_error = 0.1", "line 5: target_error must be errors by figure"),
        (TOML + "target_error = { cost = 0 }", "line 5: target_error of cost must be positive"),
        (TOML + '[target_error]\n"cost" = "x"', "line 6: target_error of cost must be a number"),
        (
            TOML
            + '\n[[further]]\ntopologies = ["rng:4"]\nmethods = ["dde"]\nloads = ["uniform:3"]',
            "line 7: topologies: topology must begin with",
        ),
        (
            TOML + '[[further]]\ntopologies = ["ring:4"]\nmethods = ["dde"]\nloads = []',
            "line 8: loads must not be empty",
        ),
        (
            TOML
            + '[[further]]\ntopologies = ["ring:4"]\nmethods = ["dde"]\nloads = []\ntrials = 1',
            "line 9: further takes topologies, methods, loads, got 'trials'",
        ),
        (TOML + "name = 3", ": study is not valid TOML: Cannot overwrite a value (at line 5"),
    ],
)
def test_errors_name_the_line_where_it_is_plain(tmp_path, wrong, says):
    path = tmp_path / "wrong.toml"
    path.write_text(wrong)
    with pytest.raises(ValueError) as caught:
        lb.Study.read(path)
    assert str(caught.value).removeprefix(str(path)).lstrip().startswith(says)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (
            TOML.replace('"dde"', '"gde",\n"dde:exchnge=sbr"'),
            "line 4: methods: dde:exchnge=sbr on mesh:4x4: dde takes axes, exchange, weights, "
            "got exchnge",
        ),
        (TOML.replace("dde", "gde:lam=7"), "line 3: methods: gde:lam=7 on mesh:4x4: lam must lie"),
        (TOML + 'target_error = { "cots" = 1 }', "line 5: target_error must be among"),
        (TOML + "[target_error]\ncost = 1\ncots = 2", "line 7: target_error must be among"),
    ],
)
def test_errors_of_running_a_file_are_located(tmp_path, wrong, says):
    path = tmp_path / "wrong.toml"
    path.write_text(wrong)
    with pytest.raises((ValueError, TypeError)) as caught:
        lb.run(lb.Study.read(path))
    assert str(located(caught.value, "wrong.toml", wrong)).startswith(f"wrong.toml {says}")


def test_an_error_of_something_else_has_no_line():
    assert str(located(ValueError("no such thing"), "a.toml", TOML)) == "a.toml: no such thing"
    other = located(ValueError("target_error must be among cost, got 'x'"), "a.toml", TOML)
    assert str(other).startswith("a.toml: target_error")


def test_a_byte_order_mark_and_other_encodings(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TOML, encoding="utf-8-sig")
    assert lb.Study.read(path) == lb.Study.from_toml("\ufeff" + TOML) == lb.Study.from_toml(TOML)
    path.write_text(TOML, encoding="utf-16")
    with pytest.raises(ValueError, match=r"study\.toml is no text \(UTF-8\)$"):
        lb.Study.read(path)


@pytest.mark.parametrize("name", ["wu-shu", "hexa-cell", "more-wu", "more-wu-faults"])
def test_a_bundled_study_on_other_topologies_has_the_general_report(name):
    changed = {"topologies": ["hypercube:2"], "further": (), "trials": 2}
    if name == "hexa-cell":
        changed["topologies"] = ["hhc:1"]
    if name == "more-wu":
        changed["loads"] = lb.studies.load(name).loads[:1]
    study = dataclasses.replace(lb.studies.load(name), **changed)
    report = lb.studies.report(lb.run(study))
    assert report.tables[0].name == "overview"


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
        "tasks",
    ]
    with pytest.raises(ValueError, match="did you mean wu-shu"):
        lb.studies.load("wu-shuu")


def test_many_equal_topologies_are_refused_one_by_one(monkeypatch):
    compared = []
    key = lb.Mesh.__eq__

    def counting(self, other):
        compared.append(other)
        return key(self, other)

    monkeypatch.setattr(lb.Mesh, "__eq__", counting)
    meshes = [lb.Mesh(k, 1) for k in range(1, 200)]
    with pytest.raises(ValueError, match="topologies must differ, got Mesh"):
        lb.Study("s", [*meshes, lb.Mesh(7, 1)], ["dde"], "uniform:3")
    assert len(compared) < 1000


def test_a_key_of_very_many_dots_is_refused_before_it_is_parsed(tmp_path):
    text = "a" + ".a" * 50_000 + " = 1\n"
    with pytest.raises(ValueError, match="a line must have at most 5000 dots, got 50000"):
        lb.Study.from_toml(text)
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"study.toml.*at most 5000 dots"):
        lb.Study.read(path)
