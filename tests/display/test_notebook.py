"""What a notebook shows of results, plans, studies and topologies: well-formed, escaped, small."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import fastlb as lb
from fastlb.display import drawings
from fastlb.display.cards import card
from fastlb.display.drawings import loads_drawing
from fastlb.display.html import tag
from fastlb.display.numbers import shown
from fastlb.display.tables import html_table
from fastlb.errors import MissingExtraError
from tests.test_results_compare import MAKERS

GRAPH = lb.Network([(0, 1), (1, 2), (2, 0), (2, 3)])
TOPOLOGIES = [
    lb.Mesh(4, 6),
    lb.Torus(4, 4),
    lb.Ring(9),
    lb.Chain(1),
    lb.Mesh(2, 2, 2, 2, 2, 2),
    lb.Hypercube(0),
    lb.Hypercube(4, faults=[(0, 1)]),
    lb.HyperHexaCell(2),
    GRAPH,
    lb.Network(np.empty((0, 2), int), n=3),
    lb.Torus(4, 4).network(),
]
MORE: dict[str, Any] = {
    "summary": lambda: lb.run(lb.Study("s", ["ring:4"], ["dde"], "uniform:3", trials=3)).summary(),
    "comparison": lambda: lb.run(
        lb.Study("s", ["ring:4"], ["dde", "gde"], "uniform:3", trials=3)
    ).compare(),
    "batch": lambda: lb.gde(np.arange(48).reshape(3, 4, 4), "mesh:4x4"),
    "stalled": lambda: lb.gde([0, 2], "chain:2", lam="2/5"),
    "counters": lambda: lb.hexa_cell(np.arange(12), "hhc:2"),
    "loads alone": lambda: lb.dem(np.arange(2048), "hypercube:11", record="loads"),
    "no networks": lambda: lb.dde(np.zeros((0, 4), int), "ring:4"),
    "levels": lambda: lb.minimax_flow(GRAPH, [3, -1, -1, -1], integral=False, levels=2),
    "check": lambda: lb.check_routing("ring:4", "shortest-direction"),
}


def html_of(shown: Any) -> str:
    text: str = shown._repr_html_()
    ElementTree.fromstring(text)
    assert "matplotlib" not in text
    return text


@pytest.mark.parametrize("name", sorted(MAKERS.keys() - {"law", "program file", "memory"}))
def test_everything_that_is_returned_is_shown(name: str) -> None:
    html_of(MAKERS[name]())


@pytest.mark.parametrize("name", MORE)
def test_more_is_shown(name: str) -> None:
    html_of(MORE[name]())


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=repr)
def test_topologies_are_drawn(topology: lb.Topology) -> None:
    text = html_of(topology)
    assert text.count("<circle") == topology.size
    links = topology.links if isinstance(topology, lb.Network) else topology.edges
    assert text.count("<path") == len(links)
    assert "nan" not in text


def test_large_ones_are_not_drawn() -> None:
    for topology in (lb.Hypercube(40), lb.Mesh(1000, 1000), lb.Ring(10**6)):
        assert "<svg" not in html_of(topology)
    assert len(html_of(lb.dde(np.zeros((64, 64), int), "mesh:64x64"))) < 20_000


def test_without_networkx_nodes_stand_on_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise MissingExtraError(name)

    monkeypatch.setattr(drawings, "extra", missing)
    assert html_of(GRAPH).count("<circle") == 4


def test_names_are_escaped() -> None:
    study = lb.Study("<script>alert(1)</script>", ["ring:4"], ["dde"], "uniform:3", trials=3)
    for titled in (study, lb.run(study)):
        assert "<script" not in html_of(titled)
        assert "&lt;script&gt;" in html_of(titled)
    table = html_table(["<a>"], [["<b>"]], names=1)
    assert "<b>" not in card("<c>", {"<d>": "<e>"}, table, note="<f>")
    assert tag("p", title='"<') == '<p title="&quot;&lt;"></p>'


def test_nodes_are_drawn_with_their_names() -> None:
    network = lb.Network([(0, 1), (1, 0)], names=["web & <b>", "db"])
    assert "<title>web &amp; &lt;b&gt;</title>" in html_of(network)
    assert "web &amp; &lt;b&gt; db" in html_of(lb.minimax_flow(network, [1, -1]))
    assert "web &amp; &lt;b&gt;</td>" in html_of(lb.gde([3, 1], network))
    assert "web &amp; &lt;b&gt;</td>" not in html_of(lb.gde([[3, 1], [1, 1]], network))


def test_a_balance_prints_what_matters() -> None:
    assert repr(lb.dde([9, 7, 4, 1, 4, 6, 1, 5], "ring:8")) == (
        "<Balance: dde on Ring(8); difference 8 -> 1, imbalance 94.6 % -> 8.1 %, "
        "moved 17 (0.4595 a unit of load), stayed 75.7 %, steps 12 (11 simulated), "
        "loads [5 5 5 5 5 4 4 4]>"
    )
    stalled = repr(lb.gde([0, 2], "chain:2", lam="2/5"))
    assert "gde on Chain(2), lam 2/5; difference 2 -> 2" in stalled
    assert "not converged: stalled" in stalled
    batch = repr(lb.gde([[0, 2], [4, 0], [1, 1]], "chain:2", lam="2/5"))
    assert "lam 2/5, 3 networks; means: difference 2 -> 1.333" in batch
    assert "2 of 3 not converged" in batch
    assert repr(lb.dem([3, 1], "hypercube:1", record="loads")) == (
        "<Balance: dem on Hypercube(1); loads [2 2]>"
    )


def test_results_of_a_run_that_is_not_complete_say_so() -> None:
    whole = lb.run(lb.Study("s", ["ring:4"], ["dde"], "uniform:3", trials=3))
    part = lb.Results(whole.study, whole._collected, missing=1234)
    assert "not complete, 1,234 rows are to come" in html_of(part)
    assert repr(part).endswith("3 trials each, 1,234 rows to come>")
    assert "to come" not in html_of(whole) + repr(whole)


def test_long_integers_are_not_written_out() -> None:
    assert shown(10**30) == "1," + ",".join(["000"] * 10)
    assert shown([10**5000]) == "an integer of 16610 bits"
    assert shown(((1, 2), np.array([1.5, np.nan]), np.arange(99))) == "(1, 2), 1.5 nan, 99 int64"


def test_a_plan_shows_its_bottleneck_and_routes() -> None:
    text = html_of(lb.minimax_flow("ring:4", [4, -2, -1, -1]))
    for words in ("eliminated", "contention", "bottleneck", "route", "0 1", "<title>0 to 1: 2"):
        assert words in text


@pytest.mark.parametrize("shape", [(1,), (64,), (65,), (8, 8), (3, 40), (64, 64), (2, 2, 2)])
@pytest.mark.parametrize("load", [0, 7, 1e300])
def test_loads_are_drawn(shape: tuple[int, ...], load: float) -> None:
    loads = np.full(shape, load)
    loads.flat[0] *= 0.5
    text = loads_drawing(loads, shape)
    ElementTree.fromstring(text)
    assert "nan" not in text
    assert "-" not in text.partition(">")[2].replace("e+", "")
