"""``fastlb topologies``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fastlb as lb
from fastlb.cli.fitting import describe_fits, fitting, squarest
from fastlb.topologies.kinds import suitable
from fastlb.topologies.parse import SPELLINGS

from .conftest import Run


def test_the_list_has_every_spelling(run: Run) -> None:
    done = run("topologies")
    assert (done.code, done.err) == (0, "")
    for name in SPELLINGS:
        assert f"\n{name}:" in "\n" + done.out
    found = json.loads(run("topologies", "--json").out)
    assert [one["topology"].partition(":")[0] for one in found] == list(SPELLINGS)
    for one in found:
        topology = lb.parse_topology(one["topology"])
        assert (one["nodes"], one["links"]) == (topology.size, len(topology.edges))
        assert one["shape"] == list(topology.shape)


def test_one_is_described(run: Run) -> None:
    done = run("topologies", "torus:16x16")
    assert (done.code, done.err) == (0, "")
    for text in ("fastlb.Torus(16, 16)", "256", "512", "diameter   16", "optimal lambda 0.723"):
        assert text in done.out
    assert "3 dimensions, leaves largest - least <= 3" in run("topologies", "hypercube:3").out
    faulty = run("topologies", "hypercube:3:faults=0-1,2-3").out
    assert "skips 2 faulty links and promises no difference" in faulty


@pytest.mark.parametrize(
    "spec", ["grid:3wx4", "hypercube:3:faults=0-4", "ring:2", "chain:1", "torus:3x4x5"]
)
def test_json_lists_links_and_the_right_diameter(run: Run, spec: str) -> None:
    import networkx as nx

    found = json.loads(run("topologies", spec, "--json").out)
    topology = lb.parse_topology(spec)
    assert found["edges"] == topology.edges.tolist()
    if found["diameter"] is not None:
        assert found["diameter"] == nx.diameter(topology.to_networkx())


@pytest.mark.parametrize(
    "spec", ["hypercube:3", "hypercube:3:faults=0-4", "mesh:2x2", "ring:5", "grid:2wx3", "hhc:1"]
)
def test_the_methods_are_those_that_balance_it(spec: str) -> None:
    def balances(method: str) -> bool:
        options = {"lam": "1/2"} if method == "gde" else {}
        try:
            lb.balance([0] * topology.size, topology, method, **options)
        except (TypeError, ValueError):
            return False
        return True

    topology = lb.parse_topology(spec)
    listed = suitable(topology)
    assert sorted(listed) == sorted(filter(balances, lb.methods()))
    assert (
        lb.balance([0] * topology.size, topology, listed[0]).loads.tolist() == [0] * topology.size
    )


def test_numbers_are_never_cut(run: Run) -> None:
    out = run("topologies", "--nodes", 2**40).out
    assert "…" not in out
    assert out.count("1,099,511,627,776") >= 7


def test_huge_ones_are_described_without_their_links(run: Run) -> None:
    assert "1,099,511,627,776" in run("topologies", "hypercube:40").out
    done = run("topologies", "hypercube:40", "--json")
    assert done.code == 2
    assert "at most 1000000 links" in done.err


def test_shapes_for_a_number_of_nodes(run: Run) -> None:
    found = json.loads(run("topologies", "--nodes", "48", "--json").out)
    assert {one["nodes"] for one in found} == {48}
    assert [one["topology"] for one in found] == [
        "torus:6x8", "mesh:6x8", "torus:3x4x4", "mesh:3x4x4", "hhc:4", "ring:48", "chain:48",
    ]  # fmt: skip


@pytest.mark.parametrize("nodes", [*range(1, 200), 2**20, 10**6 + 3])
def test_what_fits_has_that_many_nodes(nodes: int) -> None:
    for spec in fitting(nodes):
        assert lb.parse_topology(spec).size == nodes


def test_squarest() -> None:
    assert squarest(36, 2) == (6, 6)
    assert squarest(64, 3) == (4, 4, 4)
    assert squarest(13, 2) is None
    assert squarest(12, 3) == (2, 2, 3)


def test_fits_in_words() -> None:
    assert describe_fits((7,)) == "7 nodes fit ring:7, chain:7"
    assert describe_fits((3, 4)) == (
        "3x4 loads fit torus:3x4, mesh:3x4, or, as 3 networks, "
        "torus:2x2, mesh:2x2, hypercube:2, ring:4, chain:4"
    )
    assert describe_fits(()) == "1 node fits ring:1, chain:1"


@pytest.mark.parametrize(
    "arguments", [["torus:0x4"], ["torsu:4"], ["ring:4", "--nodes", "3"], ["--nodes", "0"]]
)
def test_bad_input(run: Run, arguments: list[str]) -> None:
    done = run("topologies", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1


def test_the_table_of_methods(run: Run) -> None:
    done = run("topologies", "--methods")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].split("  ")[-1] == "network"
    marks = {line.split()[0]: line.split()[1:] for line in lines[1:7]}
    assert marks["dde"] == ["yes", "-", "usual", "-", "-"]
    assert marks["gde"] == ["yes", "yes", "yes", "yes", "usual"]
    assert marks["minimax_flow"] == ["yes"] * 5
    assert set(marks) == {*lb.methods(), "minimax_flow"}
    assert max(map(len, lines)) <= 80
    found = json.loads(run("topologies", "--methods", "--json").out)
    assert found[-1] == {
        "kind": "network",
        "examples": "any other graph: links.csv, net.graphml, lb.Network(..)",
        "methods": ["gde", "minimax_flow"],
    }
    assert run("topologies", "ring:8", "--methods").code == 2


def test_a_network_of_ones_own_is_described(run: Run, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("source,target\na,b\nb,c\n")
    done = run("topologies", tmp_path / "links.csv")
    assert done.code == 0
    assert "gde        sweeps until neighbours are within 1; lambda 1/2 by default" in done.out
    assert "shape (3,), any batch axes before" in done.out


def test_a_method_that_does_not_fit_names_those_that_do(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("9,0,0,0,0,3\n")
    done = run("balance", tmp_path / "a.csv", "-t", "hhc:1", "-m", "dde")
    assert done.code == 2
    assert "on a hyper hexa-cell use hexa_cell, gde or minimax_flow" in done.err
    assert "gde on hhc:1 (9 links), lam 1/2" in (
        run("balance", tmp_path / "a.csv", "-t", "hhc:1", "-m", "gde").out
    )


def test_the_methods_fit_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = run("topologies", "--methods").out
    monkeypatch.setenv("COLUMNS", "40")
    narrow = run("topologies", "--methods").out
    assert max(map(len, narrow.splitlines())) <= 40
    assert set(wide.split()) <= set(narrow.split())
