"""``fastlb balance``: real input, options, output for people and machines, bad input."""

from __future__ import annotations

import io
import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.topologies.kinds import suitable

from .conftest import Run

VT_16 = Path(str(files("fastlb"))) / "data" / "vt-16"
EXAMPLE_1 = "9,7,4,1,4,6,1,5\n"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "example.csv"
    path.write_text(EXAMPLE_1)
    return path


def test_real_loads_on_a_torus(run: Run) -> None:
    done = run("balance", VT_16, "--topology", "torus:4x4")
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    lines = [line.split() for line in done.out.splitlines()]
    assert "16 loads, 274 tasks, phase 0, float64" in done.out
    assert "dde on torus:4x4 (32 links)" in done.out
    assert ["total", "16,033", "16,033"] in lines
    assert ["largest", "2,923", "1,002.06"] in lines
    assert ["least", "55", "1,002.06"] in lines
    assert ["imbalance", "191.7", "%", "0.0", "%"] in lines
    assert ["before", "after"] in lines
    assert ["2,923", "1,196", "2,363", "646", *["1,002"] * 4] in lines


@pytest.mark.parametrize(
    ("topology", "method"),
    [
        ("torus:4x4", "dde"),
        ("hypercube:4", "dem"),
        ("hypercube:4:faults=0-4,5-7", "fault_tolerant_dem"),
        ("ring:16", "dde"),
        ("grid:4wx4", "dde"),
    ],
)
def test_the_default_method_suits_the_topology(run: Run, topology: str, method: str) -> None:
    assert f"\n{method} on {topology} (" in run("balance", VT_16, "-t", topology).out


def test_example_1_as_json(run: Run, example: Path) -> None:
    done = run("balance", example, "-t", "chain:8", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["flows"] == [[4, 6, 5, 1, 0, 2, -1, 0]]
    assert (found["moved"], found["rounds"], found["reached"]) == (19, 4, True)
    assert found["loads"] == [5, 5, 5, 5, 5, 4, 4, 4]
    assert found["initial_loads"] == [9, 7, 4, 1, 4, 6, 1, 5]
    ring = json.loads(run("balance", example, "-t", "ring:8", "--exchange", "sbr", "--json").out)
    assert (ring["moved"], ring["options"]) == (17, {"exchange": "sbr"})


@pytest.mark.parametrize(
    ("arguments", "method", "options"),
    [
        (["-t", "hypercube:4", "--dims", "3,1,0,2"], "dem", {"dims": [3, 1, 0, 2]}),
        (["-t", "mesh:4x4", "--axes", "1,0"], "dde", {"axes": [1, 0]}),
        (
            ["-t", "mesh:4x4", "-m", "gde", "--lam", "3/4", "--order", "interleaved"],
            "gde",
            {"lam": "3/4", "order": "interleaved"},
        ),
        (["-t", "ring:16", "-m", "gde", "--max-sweeps", "90"], "gde", {"max_sweeps": 90}),
        (["-t", "ring:16", "-m", "gde", "--tol", "0.5"], "gde", {"tol": 0.5}),
        (
            ["-t", "hypercube:4:faults=0-4", "--order", "highest", "--donor", "earliest"],
            "fault_tolerant_dem",
            {"order": "highest", "donor": "earliest"},
        ),
        (
            ["-t", "hypercube:4:faults=0-4", "--finish", "tree", "--fallback", "tree"],
            "fault_tolerant_dem",
            {"finish": "tree", "fallback": "tree"},
        ),
    ],
)
def test_options_reach_the_method(
    run: Run, arguments: list[str], method: str, options: dict[str, Any]
) -> None:
    done = run("balance", VT_16, *arguments, "--json")
    found = json.loads(done.out)
    topology = lb.parse_topology(found["topology"])
    expected = lb.balance(found["initial_loads"], topology, method, record="flows", **options)
    assert found["options"] == options
    assert {key: found[key] for key in expected.to_dict()} == expected.to_dict()


def test_quantum_moves_whole_units(run: Run) -> None:
    found = json.loads(run("balance", VT_16, "-t", "torus:4x4", "--quantum", "0.5", "--json").out)
    assert found["input"]["quantum"] == 0.5
    assert sum(found["loads"]) == 2 * 16033
    assert all(isinstance(load, int) for load in found["loads"])
    assert "int64 units of 0.5" in run("balance", VT_16, "-t", "ring:16", "--quantum", "0.5").out


def test_several_networks_are_listed(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3 * 64).reshape(3, 8, 8) ** 2)
    done = run("balance", tmp_path / "a.npy", "-t", "mesh:8x8")
    assert "3 networks of 64 loads" in done.out
    assert [line[:2] for line in done.out.splitlines()[5:8]] == ["0 ", "1 ", "2 "]
    assert "network 2, the most uneven of 3:" in done.out


def test_many_networks_are_summed_up(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.random.default_rng(1).integers(0, 100, (40, 16)))
    done = run("balance", tmp_path / "a.npy", "-t", "hypercube:4", "--no-picture")
    assert "40 networks of 16 loads" in done.out
    assert "difference after" in done.out
    assert "before  " not in done.out.splitlines()[-1]


def test_phases_are_named(run: Run, tmp_path: Path) -> None:
    for rank in range(4):
        phases = [{"id": p, "tasks": [{"time": float(p * rank)}]} for p in (2, 5)]
        (tmp_path / f"a.{rank}.json").write_text(json.dumps({"phases": phases}))
    done = run("balance", tmp_path, "-t", "ring:4")
    assert "2 networks of 4 loads, 8 tasks, phases 2 5" in done.out
    assert "phase 5, the most uneven of 2:" in done.out
    one = json.loads(run("balance", tmp_path, "-t", "ring:4", "--phase", "2", "--json").out)
    assert one["initial_loads"] == [0, 2, 4, 6]
    assert one["input"]["phases"] == [2]


def test_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(EXAMPLE_1))
    assert "standard input: 8 loads" in run("balance", "-", "-t", "chain:8").out


@pytest.mark.parametrize("suffix", [".json", ".npz", ".csv"])
def test_out_is_written_and_named(run: Run, example: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plan{suffix}"
    done = run("balance", example, "-t", "chain:8", "--out", path)
    assert done.code == 0
    assert f"wrote {path}" in done.out
    content = path.read_bytes()
    again = run("balance", example, "-t", "ring:8", "--out", path)
    assert (again.code, again.out) == (2, "")
    assert "is there already (--force overwrites it)" in again.err
    assert path.read_bytes() == content
    assert run("balance", example, "-t", "ring:8", "--out", path, "--force").code == 0


def test_out_and_json_hold_the_same(run: Run, example: Path, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    done = run("balance", example, "-t", "chain:8", "--out", path, "--json")
    assert json.loads(done.out) == json.loads(path.read_text())
    assert "flows" in json.loads(path.read_text())
    short = run("balance", example, "-t", "chain:8", "--json", "--record", "metrics")
    assert "flows" not in json.loads(short.out)


def test_gde_that_does_not_converge(run: Run, example: Path, tmp_path: Path) -> None:
    arguments = ["-t", "chain:8", "-m", "gde", "--max-sweeps", "1"]
    done = run("balance", example, *arguments)
    assert done.code == 1
    assert "largest" in done.out
    assert done.err == (
        "fastlb: gde stopped before neighbours were balanced: it ran out of sweeps\n"
    )
    done = run("balance", example, *arguments, "--json", "--out", tmp_path / "plan.json")
    assert done.code == 1
    assert json.loads(done.out)["reached"] is False
    (tmp_path / "two.csv").write_text("0,2\n0,0\n")
    done = run("balance", tmp_path / "two.csv", "-t", "chain:2", "-m", "gde", "--lam", "2/5")
    assert done.code == 1
    assert "on 1 of 2 networks: 1 stalled, 0 at the last sweep allowed" in done.err


@pytest.mark.parametrize("columns", [20, 30, 44, 60, 200])
def test_narrow_terminals(run: Run, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    calls = [("-t", "torus:4x4"), ("-t", "ring:16"), ("-t", "hypercube:4", "-m", "gde")]
    for arguments in calls:
        monkeypatch.setenv("COLUMNS", str(columns))
        done = run("balance", VT_16, *arguments)
        assert done.code == 0
        assert max(map(len, done.out.splitlines()[2:])) <= columns


def test_colour_only_where_it_is_wanted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    assert "48;2;" in run("balance", VT_16, "-t", "torus:4x4").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "48;2;" not in run("balance", VT_16, "-t", "torus:4x4").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--topology is needed: 8 nodes fit torus:2x4, mesh:2x4"),
        (["-t", "torus:3x3"], "on Torus(3, 3), got (8,): 8 nodes fit torus:2x4"),
        (["-t", "trous:8"], "got 'trous:8'; did you mean torus?"),
        (["-t", "ring:8", "-m", "ded"], "method must be one of dem, gde, dde"),
        (["-t", "ring:8", "-m", "gde:lam=1/2"], "did you mean gde, its options given apart?"),
        (["-t", "ring:8", "-m", "dem"], "topology must be a Hypercube for dem, got Ring(8)"),
        (["-t", "ring:8", "--lam", "1/2"], "--lam does not apply to dde, which takes --axes"),
        (["-t", "ring:8", "-m", "gde", "--lam", "2"], "lam must lie between 0 and 1"),
        (["-t", "ring:8", "-m", "gde", "--lam", "x"], "lam"),
        (["-t", "ring:8", "-m", "gde", "--max-sweeps", "-1"], "max_sweeps"),
        (["-t", "hypercube:3:faults=0-1,0-2,0-4"], "no plan: nodes {0, 1, 2, 3, ..}"),
        (["-t", "hypercube:3:faults=0-1,0-2,0-4"], "(--fallback tree balances without a plan)"),
        (["-t", "ring:8", "--axes", "1"], "axes must be an order of 0..0, got [1]"),
        (["-t", "ring:8", "--axes", "a"], "'--axes': must be an order such as 1,0,2, got 'a'"),
        (["-t", "ring:8", "--exchange", "x"], "'--exchange'"),
        (["-t", "ring:8", "--phase", "0"], "phase must be given for vt data alone"),
        (["-t", "ring:8", "--quantum", "2"], "quantum must be left out for integer loads"),
        (["-t", "ring:8", "--out", "plan.xml"], "out must end in .json, .npz, .csv"),
        (["-t", "ring:8", "--out", "/missing/plan.csv"], "/missing: no such folder"),
        (["-t", "ring:8", "more.csv"], "more.csv: no such file or folder"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    run: Run, example: Path, arguments: list[str], says: str
) -> None:
    before = sorted(example.parent.iterdir())
    done = run("balance", example, *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.startswith("fastlb")
    assert done.err.count("\n") == 1
    assert sorted(example.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("1,2\n3,x\n", "line 2 must hold finite numbers of at least 0, got 'x'"),
        ("1,-2\n", "got '-2'"),
        ("", "holds no numbers"),
        (f"{2**62},{2**62},{2**62}\n", "must have a total that fits int64"),
        ("1e308,1e308,1e308\n", "must have a total that fits float64"),
    ],
)
def test_bad_loads_write_nothing(run: Run, tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "a.csv").write_text(content)
    done = run("balance", tmp_path / "a.csv", "-t", "ring:3", "--out", tmp_path / "plan.json")
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_denormal_loads(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("5e-324,0,0,1e-320\n")
    for topology in ("ring:4", "hypercube:2", "mesh:2x2"):
        for method in suitable(lb.parse_topology(topology)):
            done = run("balance", tmp_path / "a.csv", "-t", topology, "-m", method, "--json")
            assert done.code == (1 if "it stalled" in done.err else 0)
            json.loads(done.out, parse_constant=lambda name: pytest.fail(name))


def test_out_that_is_no_file(run: Run, example: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "plan.json").symlink_to(tmp_path / "pipe")
    done = run("balance", example, "-t", "chain:8", "--out", tmp_path / "plan.json", "--force")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("plan.json: is a device, a pipe or the like, no file to replace\n")
    assert (tmp_path / "pipe").is_fifo()


def test_no_networks_at_all(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((0, 4), int))
    done = run("balance", tmp_path / "a.npy", "-t", "ring:4")
    assert (done.code, done.err) == (0, "")
    assert "0 networks of 4 loads" in done.out


def test_a_registered_method_is_found(
    run: Run, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastlb.registry._METHODS", {"mine": lb.dde})
    done = run("balance", example, "-t", "ring:8", "-m", "mine", "--exchange", "sbr")
    assert done.code == 0
    assert "dde on ring:8" in done.out


def test_closed_standard_input_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    done = run("balance", "-", "--topology", "ring:4")
    assert done.code == 2
    assert "standard input must hold numbers, but it is closed" in done.err
