"""Networks and loads of one's own: in ``plan``, ``balance`` and ``study``."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import fastlb as lb
from fastlb.files.namednetwork import read_network_file
from fastlb.reports.planpicture import _places, plan_image

from .conftest import Run

SERVERS = "server,load\nfra1,940\nfra2,120\nams1,310\nams2,80\npar1,450\n"
LINKS = (
    "source,target,bandwidth\nfra1,fra2,200\nfra1,ams1,100\nams1,ams2,150\nfra2,par1,80\n"
    "ams2,par1,120\nfra1,par1,275\n"
)
STUDY = """name = "mine"
topologies = ["links.csv"]
methods = ["gde:lam=1/2"]
loads = ["uniform:100"]
trials = 8
"""
NOTE = "fastlb: links.csv: links alone are used, not bandwidth (fastlb plan uses capacities)\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of loads and links, where the commands run."""
    for name, text in {"servers.csv": SERVERS, "links.csv": LINKS, "mine.toml": STUDY}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_bandwidth_is_never_ignored(run: Run) -> None:
    done = run("plan", "links.csv", "--loads", "servers.csv")
    assert (done.code, done.out) == (2, "")
    assert "'bandwidth' is not used: give --capacity bandwidth" in done.err
    done = run("plan", "links.csv", "--loads", "servers.csv", "--ignore", "bandwidth", "--json")
    assert json.loads(done.out)["contention"] > 100


def test_direction_is_stated_and_the_other_offered(run: Run) -> None:
    arguments = ["plan", "links.csv", "--loads", "servers.csv", "--capacity", "bandwidth"]
    done = run(*arguments)
    assert "links.csv: 5 nodes, 6 links of one way each (--undirected: both ways)" in done.out
    assert "nor do links of one way" in done.err
    done = run(*arguments, "--undirected")
    assert "links.csv: 5 nodes, 6 links for both ways" in done.out
    assert "one way" not in done.out + done.err
    document = json.loads(run(*arguments, "--json").out)["input"]
    assert (document["direction"], document["listed"], document["once"]) == ("one way", 6, True)


def test_a_plan_has_loads_before_and_after(run: Run) -> None:
    arguments = ["plan", "links.csv", "--loads", "servers.csv", "--capacity", "bandwidth"]
    done = run(*arguments, "--undirected", "--json")
    nodes = json.loads(done.out)["nodes"]
    assert {node["name"]: node["before"] for node in nodes}["fra1"] == 940
    assert sum(node["after"] for node in nodes) == sum(node["before"] for node in nodes)
    assert all(node["before"] - node["after"] == node["excess"] - node["left"] for node in nodes)
    shown = [line.split() for line in run(*arguments, "--undirected").out.splitlines()]
    assert ["fra1", "940", "530"] in shown
    (Path.cwd() / "e.csv").write_text("fra1,5\nfra2,-5\n")
    done = run("plan", "links.csv", "--ignore", "bandwidth", "--excess", "e.csv", "--json")
    assert json.loads(done.out)["nodes"][0]["before"] is None


def test_loads_without_names_are_told_in_which_order_they_are(run: Run, folder: Path) -> None:
    told = "loads are in the order of the nodes of links.csv: fra1, fra2, ams1, ams2, .."
    (folder / "plain.json").write_text("[9, 0, 0, 0, 1]")
    for command in (
        ("plan", "links.csv", "--ignore", "bandwidth", "--loads", "plain.json"),
        ("balance", "plain.json", "-t", "links.csv"),
    ):
        assert told in run(*command).err
    assert told not in run("balance", "servers.csv", "-t", "links.csv").err


def test_a_plan_for_measured_times_of_processors(run: Run, folder: Path) -> None:
    vt = str(files("fastlb") / "data" / "vt-16")
    found = json.loads(run("plan", "torus:4x4", "--loads", vt, "--json").out)
    assert (found["nodes"][0]["before"], found["nodes"][12]["before"]) == (79, 2923)
    assert "must have a load for each of 9 nodes" in run("plan", "mesh:3x3", "--loads", vt).err


def test_slips_are_named(run: Run, folder: Path) -> None:
    (folder / "bad.toml").write_text(STUDY.replace("links.csv", "lnks.csv"))
    done = run("study", "bad.toml")
    assert "bad.toml line 2: topologies: topology must be a file that is there" in done.err
    done = run("plan", "links.csv", "--loads", "servers.csv", "--capacity", "bandwith")
    assert "must have the attribute 'bandwith', got 'bandwidth'" in done.err


def test_loads_of_the_network_itself(run: Run, folder: Path) -> None:
    nodes = [{"id": "a", "load": 9, "cpu": 1}, {"id": "b", "load": 1, "cpu": 7}]
    document = {"nodes": nodes, "links": [{"source": "a", "target": "b"}]}
    (folder / "n.json").write_text(json.dumps(document))
    assert "'cpu' is not used: give --ignore cpu" in run("plan", "n.json").err
    found = json.loads(run("plan", "n.json", "--ignore", "cpu", "--json").out)
    assert [node["after"] for node in found["nodes"]] == [5, 5]
    arguments = ["--column", "cpu", "--ignore", "load", "--json"]
    found = json.loads(run("plan", "n.json", *arguments).out)
    assert [node["before"] for node in found["nodes"]] == [1, 7]
    assert (
        "nodes must have the attribute 'gpu', got load, cpu"
        in run("plan", "n.json", "--column", "gpu").err
    )
    found = json.loads(run("balance", "n.json", "-t", "n.json", "--ignore", "cpu", "--json").out)
    assert found["loads"] == [5, 5]


def test_balance_on_a_file_keeps_names(run: Run, folder: Path) -> None:
    done = run("balance", "servers.csv", "-t", "links.csv")
    assert (done.code, done.err) == (0, NOTE)
    assert "gde on links.csv (6 links), lam 1/2" in done.out
    assert any(line.split()[0] == "ams2" for line in done.out.splitlines() if line)
    found = json.loads(run("balance", "servers.csv", "-t", "links.csv", "--json").out)
    assert found["names"] == ["fra1", "fra2", "ams1", "ams2", "par1"]
    assert (found["links"][0], len(found["flows"])) == (["fra1", "fra2"], 6)
    before, sent = dict(zip(found["names"], found["initial_loads"], strict=True)), found["flows"]
    for (u, v), amount in zip(found["links"], sent, strict=True):
        before[u] -= amount
        before[v] += amount
    assert list(before.values()) == found["loads"]
    assert run("balance", "servers.csv", "-t", "links.csv", "--out", "after.csv").code == 0
    assert (folder / "after.csv").read_text().splitlines()[0] == "node,load"
    again = json.loads(run("balance", "after.csv", "-t", "links.csv", "--json").out)
    assert again["initial_loads"] == found["loads"]


def test_names_do_not_steer_the_terminal(run: Run, folder: Path) -> None:
    red = "\x1b[31mred\x9b0m"
    (folder / "named.csv").write_text(f"source,target\n{red},b\n", encoding="utf-8")
    (folder / "loads.csv").write_text(f"node,load\n{red},9\nb,0\n", encoding="utf-8")
    done = run("plan", "named.csv", "--loads", "loads.csv")
    assert " [31mred0m > b\n" in done.out
    assert not {"\x1b", "\x9b"} & set(done.out)
    (folder / "named.csv").write_text(f"source,target,capacity\n{red},b,x\n", encoding="utf-8")
    done = run("plan", "named.csv", "--loads", "loads.csv")
    assert "capacity of" in done.err
    assert "\x1b" not in done.err


def test_balance_of_a_graph_file_alone(run: Run, folder: Path) -> None:
    gml = "graph [ node [ id 0 load 9 ] node [ id 1 load 1 ] edge [ source 0 target 1 ] ]"
    (folder / "n.gml").write_text(gml)
    assert json.loads(run("balance", "n.gml", "--json").out)["loads"] == [5, 5]
    assert "gde on n.gml (1 link), lam 1/2" in run("balance", "n.gml").out
    assert "or a file of links of your own" in run("balance", "servers.csv").err
    named = run("balance", "servers.csv", "-t", "ring:5")
    assert "servers.csv line 2: ring:5 has no node 'fra1'" in named.err


def test_a_study_on_a_file(run: Run, folder: Path) -> None:
    done = run("study", "mine.toml", "--json")
    assert (done.code, done.err) == (0, NOTE)
    summary = json.loads(done.out)["summary"]
    assert [cell["topology"] for cell in summary] == ["links.csv"]
    with pytest.warns(UserWarning, match="links alone"):
        study = lb.Study.read("mine.toml")
        assert lb.Study.from_toml(study.to_toml()) == study
    done = run("study", "mine.toml", "-t", "ring:5", "-t", "links.csv", "--json")
    assert [c["topology"] for c in json.loads(done.out)["summary"]] == ["ring:5", "links.csv"]
    assert "--topology is for a FILE.toml" in run("study", "wu-shu", "-t", "ring:5").err


def test_a_store_notices_that_the_file_has_changed(run: Run, folder: Path) -> None:
    assert run("study", "mine.toml", "--store", "kept").code == 0
    assert run("study", "--store", "kept", "--resume", "--trials", "9").code == 0
    (folder / "links.csv").write_text(LINKS.replace("par1,275", "ams2,275"))
    done = run("study", "mine.toml", "--store", "kept", "--resume")
    assert done.code == 2
    assert "kept holds another study; topologies: links.csv sha256:" in done.err
    done = run("study", "--store", "kept", "--resume")
    assert "links.csv must hold the network of the store: it has changed" in done.err


def test_topologies_describes_a_file(run: Run) -> None:
    done = run("topologies", "links.csv")
    assert (done.code, done.err) == (0, NOTE)
    assert "fastlb.parse_topology('links.csv')" in done.out


PLACED = """{"nodes": [{"id": "a", "load": 9, "x": 0, "y": 5}, {"id": "b", "load": 1},
{"id": "c", "load": 2, "x": 8, "y": 1}], "links": [{"source": "a", "target": "b"},
{"source": "b", "target": "c"}]}"""


def test_drawings_use_positions_and_show_amounts(run: Run, folder: Path) -> None:
    (folder / "n.json").write_text(PLACED)
    named = read_network_file("n.json")
    excess = [5, -3, -2]
    plan = lb.minimax_flow(named.network, excess)
    places = _places(plan, named.positions)  # type: ignore[arg-type]
    # b has no position: it stands between its neighbours.
    assert places.tolist() == [[0, 5], [4, 3], [8, 1]]
    drawn = plan_image(plan, named, excess, "svg", named.positions, [9, 1, 2])  # type: ignore[arg-type]
    text = drawn.decode()
    for amount in ("<!-- 5 -->", "<!-- 2 -->", "<!-- 9 → 4 -->"):
        assert amount in text
    assert plan_image(plan, named, excess, "svg") != drawn  # type: ignore[arg-type]
    (folder / "l.csv").write_text("node,load,lon,lat\na,9,0,50\nb,1,9,50\nc,2,4,40\n")
    for loads in ((), ("--loads", "l.csv")):
        assert run("plan", "n.json", *loads, "--draw", f"p{len(loads)}.svg").code == 0
    assert (folder / "p0.svg").read_bytes() != (folder / "p2.svg").read_bytes()


@pytest.mark.parametrize("columns", [24, 40, 60])
@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "links.csv", "--loads", "servers.csv", "--capacity", "bandwidth"),
        ("study", "mine.toml", "-t", "ring:5", "-t", "links.csv"),
        ("topologies", "--nodes", "48"),
        ("balance", "servers.csv", "-t", "links.csv"),
    ],
)
def test_tables_fit_narrow_terminals(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: int, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run(*arguments).out.splitlines()
    tables = lines[2:] if arguments[0] == "balance" else lines
    assert max(map(len, tables)) <= columns


def test_long_names_leave_room_for_bars(run: Run, folder: Path) -> None:
    names = ["n" * 70, "m" * 70]
    (folder / "l.json").write_text(json.dumps(dict(zip(names, (9, 1), strict=True))))
    (folder / "n.csv").write_text(f"{names[0]},{names[1]}\n")
    lines = run("balance", "l.json", "-t", "n.csv").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert np.any(["nnn.." in line for line in lines])
