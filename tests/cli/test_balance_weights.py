"""``fastlb balance --weights``: the forms of the file, what is shown and written, bad weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import fastlb as lb

from .conftest import Run

LOADS = [9, 7, 4, 1]
WEIGHTS = [2, 0.5, 0, 1]


@pytest.fixture
def loads(tmp_path: Path) -> Path:
    path = tmp_path / "loads.csv"
    path.write_text(",".join(map(str, LOADS)))
    return path


FORMS = {
    "node.csv": "node,weight\n3,1\n0,2\n1,0.5\n2,0\n",
    "speed.csv": "rank,Speed,load\n0,2,5\n1,0.5,7\n2,0,1\n3,1,1\n",
    "plain.csv": "2,0.5,0,1\n",
    "column.csv": "2\n0.5\n0\n1\n",
    "object.json": '{"0": 2, "1": "1/2", "2": 0, "3": 1}',
    "list.json": "[2, 0.5, 0, 1]",
    "records.json": '[{"node": 3, "weight": 1}, {"node": 0, "weight": 2}, '
    '{"node": 1, "weight": 0.5}, {"node": 2, "weight": 0}]',
}


@pytest.mark.parametrize("name", [*FORMS, "array.npy"])
@pytest.mark.parametrize("topology", ["ring:4", "hypercube:2", "mesh:2x2"])
def test_files_of_weights(run: Run, loads: Path, tmp_path: Path, name: str, topology: str) -> None:
    if name == "array.npy":
        np.save(tmp_path / name, np.array(WEIGHTS))
    else:
        (tmp_path / name).write_text(FORMS[name])
    done = run("balance", loads, "-t", topology, "--weights", tmp_path / name, "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    method = "dem" if topology == "hypercube:2" else "dde"
    expected = lb.balance(LOADS, topology, method, weights=WEIGHTS, record="flows")
    assert {key: document[key] for key in expected.to_dict()} == expected.to_dict()
    assert document["weights"] == WEIGHTS
    assert document["options"] == {"weights": str(tmp_path / name)}


def test_servers_of_different_speeds_in_one_file(run: Run, tmp_path: Path) -> None:
    servers, links = tmp_path / "servers.csv", tmp_path / "links.csv"
    servers.write_text("server,load,speed\nfra,940,2\nams,120,1\npar,310,1\nlon,30,0\n")
    links.write_text("source,target\nfra,ams\nams,par\npar,lon\n")
    out = tmp_path / "out.csv"
    done = run("balance", servers, "-t", links, "--weights", servers, "--out", out)
    assert done.code == 0
    assert "\ngde on " in done.out
    lines = [line.split() for line in done.out.splitlines()]
    assert ["imbalance", "of", "load", "/", "weight", "37.2", "%", "0.1", "%"] in lines
    assert out.read_text() == "node,load\nfra,701\nams,350\npar,349\nlon,0\n"
    swapped = run(
        "balance", servers, "-t", links, "--weights", servers, "--column", "speed", "--json"
    )
    assert swapped.code == 2
    assert "'load' is not used: give --ignore load to leave it out" in swapped.err


def test_a_batch_says_what_its_figures_are_of(run: Run, tmp_path: Path) -> None:
    (tmp_path / "loads.csv").write_text("9,7,4,1\n3,3,3,3\n")
    (tmp_path / "weights.csv").write_text("2,0.5,0,1\n")
    done = run(
        "balance", tmp_path / "loads.csv", "-t", "ring:4", "--weights", tmp_path / "weights.csv"
    )
    assert done.code == 0
    assert "differences and imbalances are of load / weight" in done.out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("node,weight\n0,2\n1,1\n2,1\n", "must have a weight for every node, '3' has none"),
        ("node,weight\n0,2\n1,1\n2,1\n3,x\n", "weight of 3 must be a number"),
        ("node,weight\n0,2\n1,1\n2,1\n3,-1\n", "weight of 3 must not be negative"),
        ("node,weight\n0,2\n1,1\n2,1\n9,1\n", "has no node '9'"),
        ("node,weight,rack\n0,2,a\n1,1,a\n2,1,b\n3,1,b\n", "'rack' is not used"),
        ("1,2,3\n", "weights must be one number a node, shape (4,) on Ring(4), got shape (3,)"),
        ("0,0,0,0\n", "weights must not all be 0"),
        ("", "holds no numbers"),
    ],
)
def test_bad_weights_are_one_line_and_write_nothing(
    run: Run, loads: Path, tmp_path: Path, content: str, says: str
) -> None:
    (tmp_path / "weights.csv").write_text(content)
    before = sorted(tmp_path.iterdir())
    weights = ["--weights", tmp_path / "weights.csv"]
    done = run("balance", loads, "-t", "ring:4", *weights, "--out", tmp_path / "plan.json")
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_methods_that_take_no_weights(run: Run, loads: Path, tmp_path: Path) -> None:
    cube = ["-t", "hypercube:2", "-m", "fault_tolerant_dem"]
    done = run("balance", loads, *cube, "--weights", loads)
    assert done.code == 2
    assert "--weights does not apply to fault_tolerant_dem" in done.err
    missing = run("balance", loads, "-t", "ring:4", "--weights", tmp_path / "none.csv")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "none.csv: no such file" in missing.err
    faulty = ["-t", "hypercube:2:faults=0-1"]
    assert "gde on hypercube:2:faults=0-1" in run("balance", loads, *faulty, "--weights", loads).out
