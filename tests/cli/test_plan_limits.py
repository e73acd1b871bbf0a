"""fastlb plan: what stops it is named where it is shown, and data it cannot use with its place."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner, Result

import fastlb as lb
from fastlb.cli.commands import commands
from fastlb.reports.planpicture import _away_from_links

# The link b to c is full; the busiest is a to b, which has room to spare.
LINKS = "source,target,capacity\na,b,50\nb,c,4\n"
LOADS = "node,load\na,30\nb,0\nc,0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "loads.csv").write_text(LOADS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*options: str) -> Result:
    arguments = ["plan", "links.csv", "--loads", "loads.csv", *options]
    return CliRunner().invoke(commands, arguments)


def test_the_full_links_are_shown_with_what_they_hold_back(folder: Path) -> None:
    done = run("--undirected")
    assert done.exit_code == 1
    lines = done.output.splitlines()
    place = lines.index("6 units cannot move: these links are full:")
    assert lines[place + 3].split() == ["b", "c", "4", "0", "4"]
    assert "bottleneck: because of these links the most on a link cannot be below 14:" in lines
    assert place < lines.index(next(line for line in lines if line.startswith("bottleneck")))
    few = run("--undirected", "--max-moves", "3")
    assert "cannot move" not in few.output


def test_the_full_links_are_in_files(folder: Path) -> None:
    document = json.loads(CliRunner().invoke(commands, _json()).stdout)
    assert document["held_back"] == 6
    (full,) = document["full_links"]
    assert (full["source"], full["target"], full["flow"], full["capacity"]) == ("b", "c", 4, 4)
    assert [link["target"] for link in document["bottleneck"]] == ["b"]
    run("--undirected", "--out", "plan.graphml")
    graph = nx.read_graphml("plan.graphml")
    names = nx.get_node_attributes(graph, "name")
    marked = [(names[u], names[v]) for u, v, d in graph.edges(data=True) if d["full"]]
    assert marked == [("b", "c")]


def _json() -> list[str]:
    return ["plan", "links.csv", "--loads", "loads.csv", "--undirected", "--json"]


def test_no_link_at_all_is_said(folder: Path) -> None:
    (folder / "links.csv").write_text("source,target\na,b\nc,b\n")
    assert "10 units cannot move: no link leads from there" in run().output


def test_a_minimum_cut_of_dimacs_is_called_so() -> None:
    case = Path(__file__).parents[1] / "cases" / "gl1.max"
    output = CliRunner().invoke(commands, ["plan", str(case)]).output
    assert "minimum cut: these links are full:" in output
    assert "cannot move" not in output


def test_the_drawing_tells_how_much_of_what_and_marks_full_links(folder: Path) -> None:
    run("--undirected", "--draw", "plan.svg")
    drawn = (folder / "plan.svg").read_text()
    assert "<!-- links.csv: 14 of 20 moved, at most 14 on a link -->" in drawn
    assert "red: full, holding back the rest (1); green: bottleneck (1) -->" in drawn
    assert "#c62828" in drawn


def test_boxes_of_names_are_under_arrows(folder: Path) -> None:
    run("--undirected", "--draw", "plan.svg")
    elements = list(ET.parse("plan.svg").getroot().iter())
    looks = [element.get("style") or "" for element in elements]
    boxes = [i for i, style in enumerate(looks) if "#ffffff" in style and "opacity: 0.75" in style]
    arrows = [i for i, style in enumerate(looks) if "#c62828" in style]
    assert boxes
    assert max(boxes) < min(arrows)


def test_names_stand_away_from_links() -> None:
    plan = lb.minimax_flow(lb.Chain(3).network(), [1, 0, -1])
    places = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    assert _away_from_links(plan, places).tolist() == [[-1, 0], [0, 1], [1, 0]]


def test_help_tells_what_a_capacity_is() -> None:
    output = " ".join(CliRunner().invoke(commands, ["plan", "--help"]).output.split())
    assert "A capacity is in units of load" in output
    assert "inf is no limit" in output


@pytest.mark.parametrize(
    ("name", "old", "new", "text"),
    [
        ("loads.csv", "a,30", "a,30.5", "loads.csv: --whole needs integers, got 30.5 as the load"),
        ("links.csv", "a,b,50", "a,b,7.5", "got 7.5 as the capacity of a - b; --divisible"),
        ("links.csv", "a,b,50", "a,b,", "must have the attribute 'capacity', got none; inf is"),
    ],
)
def test_numbers_that_cannot_be_used_are_named(
    folder: Path, name: str, old: str, new: str, text: str
) -> None:
    path = folder / name
    path.write_text(path.read_text().replace(old, new))
    done = run("--undirected", "--whole")
    assert done.exit_code == 2
    assert text in done.output
    assert done.output.count("\n") == 1
