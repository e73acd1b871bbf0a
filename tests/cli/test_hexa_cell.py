"""Hyper hexa-cells on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fastlb as lb

from .conftest import Run

LOADS = [0, 4, 0, 0, 0, 7]


@pytest.fixture
def loads(tmp_path: Path) -> Path:
    path = tmp_path / "loads.csv"
    path.write_text(",".join(map(str, LOADS)) + "\n")
    return path


@pytest.mark.parametrize(
    "options", [{}, {"algorithm": "A", "odd_unit": "lower", "share": "greedy"}, {"algorithm": "C"}]
)
def test_balance(run: Run, loads: Path, options: dict[str, str]) -> None:
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = run("balance", loads, "--topology", "hhc:1", "--json", *flags)
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    b = lb.hexa_cell(LOADS, lb.HyperHexaCell(1), **options, record="flows")
    assert (told["method"], told["topology"]) == ("hexa_cell", "hhc:1")
    assert told["loads"] == b.loads.tolist()
    assert told["counts"] == b.counts
    assert told["flows"] == b.flows.tolist()


def test_options_of_other_methods(run: Run, loads: Path) -> None:
    done = run("balance", loads, "--topology", "hhc:1", "--lam", "1/2")
    assert done.code == 2
    assert "--lam does not apply to hexa_cell" in done.err
    assert "--algorithm" in done.err
    refused = run("balance", loads, "-t", "hhc:1", "--algorithm", "C", "--odd-unit", "lower")
    assert refused.code == 2
    assert "odd_unit" in refused.err


@pytest.mark.parametrize("algorithm", [None, "A", "C"])
def test_figures_for_people(run: Run, loads: Path, algorithm: str | None) -> None:
    flags = () if algorithm is None else ("--algorithm", algorithm)
    out = run("balance", loads, "-t", "hhc:1", *flags).out
    b = lb.hexa_cell(LOADS, lb.HyperHexaCell(1), algorithm or "B")
    assert f"hexa_cell on hhc:1 (9 links), algorithm {algorithm or 'B'}\n" in out
    counts = b.counts
    for text in (
        f"{counts['messages']}: {counts['information']} of information, {counts['load']} with load",
        f"{counts['time']} units on the critical path",
        f"{b.steps} at most" if algorithm == "C" else f"{b.steps} by the formula",
        f"{counts['endpoint_max']} counted at the busiest node, {counts['endpoint_total']} in all",
    ):
        assert text in out
    nodes = [line.split()[0] for line in out.splitlines() if line.lstrip().startswith("P(")]
    assert nodes == [lb.HyperHexaCell(1).label(i) for i in range(6)]
    assert max(map(len, out.splitlines()[1:])) <= 80


def test_several_networks_show_their_counters(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "loads.csv"
    path.write_text("0,4,0,0,0,7\n1,1,1,9,9,9\n")
    out = run("balance", path, "-t", "hhc:1", "--algorithm", "A").out
    counts = lb.hexa_cell([LOADS, [1, 1, 1, 9, 9, 9]], lb.HyperHexaCell(1), "A").counts
    names = ("messages", "load", "endpoint_max", "endpoint_total", "time")
    lines = [line.split() for line in out.splitlines()]
    for i in range(2):
        assert [str(i), *(str(counts[name][i]) for name in names)] in lines
    assert max(map(len, out.splitlines()[1:])) <= 80
    path.write_text("0,4,0,0,0,7\n" * 20)
    assert "steps of busiest node" in run("balance", path, "-t", "hhc:1").out


def test_the_algorithm_stands_in_the_document(run: Run, loads: Path) -> None:
    told = json.loads(run("balance", loads, "-t", "hhc:1", "--json").out)
    assert told["options"] == {"algorithm": "B"}


def test_loads_of_another_size(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "loads.csv"
    path.write_text(",".join(["1"] * 24))
    refused = run("balance", path, "-t", "hhc:4")
    assert refused.code == 2
    assert "24 nodes fit" in refused.err
    assert "hhc:3" in refused.err


def test_topologies(run: Run) -> None:
    told = json.loads(run("topologies", "hhc:3", "--json").out)
    assert (told["nodes"], told["links"], told["diameter"]) == (24, 60, 4)
    assert told["methods"] == ["hexa_cell", "gde"]
    assert "leaves largest - least <= 5" in run("topologies", "hhc:3").out


def test_no_table_of_the_study_is_cut_at_80_columns(run: Run) -> None:
    out = run("study", "hexa-cell", "--trials", "2").out
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    rules = [i for i, line in enumerate(lines) if line.startswith("──")]
    first = [lines[i - 1].split()[0] for i in rules]
    assert first == [*["alg"] * 3, *"ddMMddd", *["alg"] * 8, "place"]
    assert "1,134 lines: settings.csv with --out DIR" in lines
