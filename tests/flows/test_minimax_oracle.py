"""The plain twin of minimax flow against every case."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.oracles import minimax
from tests.oracles.minimax import Link

CASES = Path(__file__).parents[1] / "cases"


def cases(name: str) -> list[Any]:
    found = json.loads((CASES / f"{name}.json").read_text())["cases"]
    return [pytest.param(case, case["out"], id=str(case["id"])) for case in found]


def links(case: dict[str, Any]) -> list[Link]:
    return [
        Link(u, v, None if c is None else Fraction(c), w, Fraction(f))
        for u, v, c, w, f in case["edges"]
    ]


@pytest.mark.parametrize(("case", "out"), cases("s002_minimax"))
@pytest.mark.parametrize(("name", "contention"), [("C1", "total"), ("C2", "transfer")])
def test_minimax(case: dict[str, Any], out: dict[str, Any], name: str, contention: str) -> None:
    found = minimax.minimax(case["n"], links(case), case["s"], case["t"], contention)
    assert found.value == Fraction(out[name]["f_star"])
    assert found.beta == Fraction(out[name]["beta"])
    if f"{name}_integral_beta" in out:
        whole = minimax.minimax(
            case["n"], links(case), case["s"], case["t"], contention, integral=True
        )
        assert whole.beta == out[f"{name}_integral_beta"]


def one_order(topology: list[Any]) -> tuple[int, list[tuple[int, int]], Any]:
    """Nodes, undirected links and the rule of two-link paths of a cube or mesh."""
    if topology[0] == "cube":
        n = 2 ** topology[1]
        pairs = [(u, u ^ 1 << b) for u in range(n) for b in range(topology[1]) if u < u ^ 1 << b]
        return n, pairs, lambda u, v, w: u ^ v < v ^ w
    rows, cols = topology[1:]
    n = rows * cols
    pairs = [(u, u + 1) for u in range(n) if (u + 1) % cols] + [
        (u, u + cols) for u in range(n - cols)
    ]

    def row_column(u: int, v: int, w: int) -> bool:
        straight = w - v == v - u
        return straight or (abs(u - v) == cols and abs(v - w) != cols)

    return n, pairs, row_column


@pytest.mark.parametrize(("case", "out"), cases("s002_routing"))
def test_routing(case: dict[str, Any], out: dict[str, Any]) -> None:
    n, pairs, allows = one_order(case["topology"])
    both = [Link(u, v, case["capacity"]) for u, v in pairs + [(v, u) for u, v in pairs]]
    excess = {int(node): amount for node, amount in case["excess"].items()}
    deficit = {int(node): amount for node, amount in case["deficit"].items()}
    vertices, edges, made, s, t = minimax.transformed(n, both, allows, excess, deficit)
    assert (vertices, edges) == (out["n_vertices_r123"], out["n_edges_r123"])
    routed = minimax.minimax(t + 1, made, s, t, "transfer")
    assert routed.value == Fraction(out["routed"]["f_star"])
    assert routed.beta == Fraction(out["routed"]["beta"])


@pytest.mark.parametrize(("case", "out"), cases("s002_odfs"))
def test_ordered_search(case: dict[str, Any], out: dict[str, Any]) -> None:
    template = [Fraction(f) for f in case["template"]]
    entities = [(node, Fraction(size)) for node, size in case["entities"]]
    paths, load = minimax.ordered_search(links(case), entities, template, case["s"], case["t"])
    assert paths == out["paths"]
    assert load == [Fraction(f) for f in out["load"]]
