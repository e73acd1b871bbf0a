"""fastlb plan --rounds: the hops of a plan's routes in rounds, printed and written."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fastlb.cli.commands import commands

LINKS = "source,target\nfra1,fra2\nfra1,ams1\nfra1,par1\nams1,ams2\nams2,par1\nfra2,par1\n"
LOADS = "server,load\nfra1,940\nfra2,120\nams1,310\nams2,80\npar1,450\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "loads.csv").write_text(LOADS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*options: str) -> Result:
    arguments = ["plan", "links.csv", "--loads", "loads.csv", "--undirected", *options]
    return CliRunner().invoke(commands, arguments)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("more", [[], ["--divisible"]])
def test_the_document_can_be_carried_out(most: int, more: list[str]) -> None:
    document = json.loads(run("--rounds", str(most), "--json", *more).output)
    rounds = document["rounds"]
    assert rounds["per_node"] == most
    assert rounds["gap"] == rounds["count"] / rounds["bound"] - 1
    now = {node["name"]: Fraction(node["before"]) for node in document["nodes"]}
    numbers = [transfer["round"] for transfer in rounds["transfers"]]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, rounds["count"] + 1))
    for number in range(1, rounds["count"] + 1):
        part = [t for t in rounds["transfers"] if t["round"] == number]
        ends = Counter(t[end] for t in part for end in ("source", "target"))
        assert max(ends.values()) <= most
        for t in part:
            now[t["source"]] -= Fraction(t["amount"])
        assert min(now.values()) >= 0
        for t in part:
            now[t["target"]] += Fraction(t["amount"])
    assert now == {node["name"]: Fraction(node["after"]) for node in document["nodes"]}
    for t in rounds["transfers"]:
        route = document["routes"][t["route"]]
        assert route["path"][t["hop"] : t["hop"] + 2] == [t["source"], t["target"]]
        assert route["amount"] == t["amount"]


def test_rounds_change_nothing_else() -> None:
    with_rounds, without = (json.loads(run("--json", *o).output) for o in (["--rounds", "1"], []))
    assert without["rounds"] is None
    assert {**with_rounds, "rounds": None} == without


def test_files_have_the_rounds_of_the_routes(folder: Path) -> None:
    document = json.loads(run("--rounds", "1", "--json").output)
    assert run("--rounds", "1", "--out", "plan.json").exit_code == 0
    assert json.loads((folder / "plan.json").read_text()) == document
    assert run("--rounds", "1", "--out", "plan.csv").exit_code == 0
    rows = list(csv.DictReader((folder / "plan.csv").read_text().splitlines()))
    listed = {(t["route"], t["hop"]): t["round"] for t in document["rounds"]["transfers"]}
    for r, row in enumerate(rows):
        hops = [int(number) for number in row["rounds"].split(" > ")]
        assert hops == [listed[r, hop] for hop in range(len(hops))]
        assert len(row["path"].split(" > ")) == len(hops) + 1
        assert hops == sorted(set(hops))


def test_what_is_printed() -> None:
    lines = run("--rounds", "1").output.splitlines()
    (place,) = (i for i, line in enumerate(lines) if "with at most 1 transfer a node" in line)
    assert "rounds" in lines[place]
    assert lines[place + 1].split() == ["round", "amount", "from", "to"]
    assert lines[place + 3].split()[0] == "1"
    heading = lines[lines.index("routes, largest first:") + 1]
    assert heading.split() == ["amount", "path", "rounds"]
    assert "round" not in run().output


def test_one_round_and_none(folder: Path) -> None:
    assert "1 round with at most 9 transfers" not in run("--rounds", "9").output
    (folder / "loads.csv").write_text("server,load\n" + "".join(f"{n},5\n" for n in NAMES))
    level = run("--rounds", "1")
    assert level.exit_code == 0
    assert "transfer" not in level.output
    assert json.loads(run("--rounds", "1", "--json").output)["rounds"]["count"] == 0


NAMES = ("fra1", "fra2", "ams1", "ams2", "par1")


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "x", "nan"])
def test_a_limit_is_a_whole_number(value: str) -> None:
    refused = run("--rounds", value)
    assert refused.exit_code == 2
    assert "--rounds" in refused.output
    assert "Traceback" not in refused.output
