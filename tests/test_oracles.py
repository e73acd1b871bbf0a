"""The plain twins against the paper's worked example and every Wu-Shu case."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.oracles import dde, dem, exchange, gde, metrics, topology, tree

CASES = Path(__file__).parent / "cases"


def cases(name: str) -> list[Any]:
    found = json.loads((CASES / f"{name}.json").read_text())["cases"]
    return [pytest.param(case["loads"], case, case["out"], id=str(case["id"])) for case in found]


@pytest.mark.parametrize(("loads", "case", "out"), cases("s003_dem"))
def test_dem(loads: list[int], case: dict[str, Any], out: dict[str, Any]) -> None:
    r = dem.dem(loads, len(loads).bit_length() - 1, case["dims"])
    assert out == {
        "loads": r.loads,
        "moved": r.moved,
        "moved_per_dim": r.moved_per_dim,
        "local": r.local,
        "load_difference": metrics.difference(r.loads),
        "comm_steps": r.steps,
    }


@pytest.mark.parametrize(("loads", "case", "out"), cases("s003_gde"))
def test_gde(loads: list[int], case: dict[str, Any], out: dict[str, Any]) -> None:
    r = gde.gde(loads, case["shape"], case["wrap"], Fraction(case["lam"]), case["order"])
    assert out == {
        "loads": r.loads,
        "sweeps": r.sweeps,
        "colours": r.colours,
        "stalled": r.stalled,
        "moved": r.moved,
        "load_difference": metrics.difference(r.loads),
        "local": r.local,
        "comm_steps": r.steps,
    }
    assert r.converged is not r.stalled


@pytest.mark.parametrize(("loads", "case", "out"), cases("s003_dde"))
def test_dde(loads: list[int], case: dict[str, Any], out: dict[str, Any]) -> None:
    shape, wrap, axes = case["shape"], case["wrap"], case["axes"]
    rbs = dde.dde(loads, shape, wrap, axes, "rbs")
    sbr = dde.dde(loads, shape, wrap, axes, "sbr")
    formula = sum(Fraction(3 * k, 2) if w else 2 * k for k, w in zip(shape, wrap, strict=True))
    odd_rings = sum(w and k % 2 for k, w in zip(shape, wrap, strict=True))
    assert rbs.steps == formula - Fraction(odd_rings, 2)
    assert out | {"comm_steps_formula": Fraction(out["comm_steps_formula"])} == {
        "loads": rbs.loads,
        "flows": rbs.flows,
        "after": rbs.stages,
        "moved": rbs.moved,
        "moved_per_axis": rbs.moved_per_axis,
        "load_difference": metrics.difference(rbs.loads),
        "comm_steps_formula": formula,
        "rbs": {"local": rbs.local, "steps_per_axis": rbs.rounds_per_axis},
        "sbr": {"local": sbr.local, "steps_per_axis": sbr.rounds_per_axis},
    }


def simulated(loads: list[int], flows: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for mode in ("rbs", "sbr"):
        rounds, local = exchange.exchange_rounds(loads, flows, mode)
        found[mode] = {"steps": rounds, "local": local}
    try:
        rounds, _ = exchange.exchange_rounds(loads, flows, "sbr-strict")
        found["sbr_strict"] = {"deadlock": False, "steps": rounds}
    except exchange.Deadlock:
        found["sbr_strict"] = {"deadlock": True, "steps": None}
    return found


@pytest.mark.parametrize(("loads", "case", "out"), cases("s003_line"))
def test_line(loads: list[int], case: dict[str, Any], out: dict[str, Any]) -> None:
    chain, ring = dde.dde_line(loads), dde.dde_line(loads, ring=True)
    assert out == {
        "W": chain.suffix_sums,
        "q": chain.quotas,
        "Q": chain.suffix_quotas,
        "x_chain": chain.flows,
        "x_ring": ring.flows,
        "x_m": ring.shift,
        "moved_chain": sum(map(abs, chain.flows)),
        "moved_ring": sum(map(abs, ring.flows)),
        "chain": simulated(loads, chain.flows),
        "ring": simulated(loads, ring.flows),
    }


@pytest.mark.parametrize(("loads", "case", "out"), cases("s003_twa"))
def test_recursive_doubling(loads: list[int], case: dict[str, Any], out: dict[str, Any]) -> None:
    r = tree.recursive_doubling(loads)
    assert out == {
        "loads": r.loads,
        "exchange_steps": r.exchange_steps,
        "info_steps": r.info_steps,
        "total_steps": r.total_steps,
        "bound": r.bound,
    }


def test_example_1_of_the_paper() -> None:
    loads = [9, 7, 4, 1, 4, 6, 1, 5]
    chain, ring = dde.dde_line(loads), dde.dde_line(loads, ring=True)
    assert chain.flows == [4, 6, 5, 1, 0, 2, -1, 0]
    assert sum(map(abs, chain.flows)) == 19
    assert sum(map(abs, ring.flows)) == 17
    assert exchange.exchange_rounds(loads, chain.flows, "rbs")[0] == 4
    assert exchange.exchange_rounds(loads, chain.flows, "sbr")[0] == 2


def test_real_forms_take_exact_means() -> None:
    assert dem.dem([3, 0, 1, 1], 2, real=True).loads == [Fraction(5, 4)] * 4
    assert (
        dde.dde([1, 0, 0, 1, 0, 0], (2, 3), (False, True), real=True).loads == [Fraction(1, 3)] * 6
    )
    r = gde.gde([8.0, 0.0], (2,), (False,), 0.75, tol=1e-9)
    assert r.converged
    assert r.loads == pytest.approx([4.0, 4.0])


def test_dem_skips_faulty_links() -> None:
    assert dem.dem([8, 0, 0, 0], 2, faults=[(0, 1)]).loads == [4, 0, 4, 0]


def test_cyclic_flows_deadlock_receive_before_send() -> None:
    with pytest.raises(exchange.Deadlock):
        exchange.exchange_rounds([1, 1, 1], [1, 1, 1], "rbs")
    assert exchange.exchange_rounds([1, 1, 1], [1, 1, 1], "sbr") == (1, [0, 0, 0])


def test_colours_are_proper_and_cover_every_link() -> None:
    shape, wrap = (5, 2, 4, 1), (True, True, True, False)
    for order in ("dimension", "interleaved"):
        colours = topology.grid_colours(shape, wrap, order)
        assert len(colours) == 3 + 1 + 2
        for colour in colours:
            ends = [node for link in colour for node in link]
            assert len(ends) == len(set(ends))
        covered = sorted((min(link), max(link)) for colour in colours for link in colour)
        assert covered == topology.grid_links(shape, wrap)
    assert topology.grid_links((2, 2), (False, True)) == topology.hypercube_links(2)
