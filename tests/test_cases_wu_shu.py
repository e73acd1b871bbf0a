"""The library against every Wu-Shu case, through the public names alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb

CASES = Path(__file__).parent / "cases"


def cases(name: str) -> list[Any]:
    found = json.loads((CASES / f"{name}.json").read_text())["cases"]
    return [pytest.param(case, case["out"], id=str(case["id"])) for case in found]


def listed(arrays: Any) -> Any:
    """Nested lists of plain numbers, for comparison with JSON."""
    return np.asarray(arrays).tolist()


@pytest.mark.parametrize(("case", "out"), cases("s003_dem"))
def test_dem(case: dict[str, Any], out: dict[str, Any]) -> None:
    loads = np.array(case["loads"])
    n = len(loads).bit_length() - 1
    b = lb.dem(loads, lb.Hypercube(n), dims=case["dims"], record="flows")
    assert out == {
        "loads": listed(b.loads),
        "moved": b.moved,
        "moved_per_dim": listed(b.moved_per_stage),
        "local": b.local,
        "load_difference": b.difference,
        "comm_steps": b.steps,
    }


@pytest.mark.parametrize(("case", "out"), cases("s003_gde"))
def test_gde(case: dict[str, Any], out: dict[str, Any]) -> None:
    topology = lb.Grid(case["shape"], wrap=case["wrap"])
    b = lb.gde(np.array(case["loads"]), topology, lam=case["lam"], order=case["order"])
    assert out == {
        "loads": listed(b.loads),
        "sweeps": b.sweeps,
        "colours": b.colours,
        "stalled": b.stalled,
        "moved": b.moved,
        "load_difference": b.difference,
        "local": b.local,
        "comm_steps": b.steps,
    }


@pytest.mark.parametrize(("case", "out"), cases("s003_dde"))
def test_dde(case: dict[str, Any], out: dict[str, Any]) -> None:
    topology = lb.Grid(case["shape"], wrap=case["wrap"])
    # The case files hold 3k/2 a torus axis as a rational; the library counts k + k//2.
    steps = sum(
        k + k // 2 if w else 2 * k for k, w in zip(case["shape"], case["wrap"], strict=True)
    )
    for mode in ("rbs", "sbr"):
        b = lb.dde(
            np.array(case["loads"]), topology, axes=case["axes"], exchange=mode, record="flows"
        )
        count = len(case["shape"])
        assert listed(b.loads) == out["loads"]
        assert listed(b.flows.reshape(count, -1)) == out["flows"]
        assert listed(b.stages.reshape(count, -1)) == out["after"]
        assert b.moved == out["moved"]
        assert listed(b.moved_per_stage) == out["moved_per_axis"]
        assert b.difference == out["load_difference"]
        assert b.local == out[mode]["local"]
        assert listed(b.rounds_per_stage) == out[mode]["steps_per_axis"]
        assert b.rounds == sum(out[mode]["steps_per_axis"])
        assert b.simulated_steps == sum(case["shape"]) + b.rounds
        assert b.steps == steps


@pytest.mark.parametrize(("case", "out"), cases("s003_line"))
def test_line(case: dict[str, Any], out: dict[str, Any]) -> None:
    loads = np.array(case["loads"])
    chain, ring = lb.dde_line(loads), lb.dde_line(loads, ring=True)
    for line in (chain, ring):
        assert listed(line.suffix_sums) == out["W"]
        assert listed(line.quotas) == out["q"]
        assert listed(line.suffix_quotas) == out["Q"]
    assert chain.shift == 0
    assert ring.shift == out["x_m"]
    assert listed(chain.flows) == out["x_chain"]
    assert listed(ring.flows) == out["x_ring"]
    for kind, line in (("chain", chain), ("ring", ring)):
        assert np.abs(line.flows).sum() == out[f"moved_{kind}"]
        for mode in ("rbs", "sbr"):
            rounds, local = lb.exchange_rounds(loads, line.flows, ring=kind == "ring", mode=mode)
            assert {"steps": rounds, "local": listed(local)} == out[kind][mode]


@pytest.mark.parametrize(("case", "out"), cases("s003_line"))
def test_printed_send_before_receive(case: dict[str, Any], out: dict[str, Any]) -> None:
    loads = np.array(case["loads"])
    for ring in (False, True):
        expected = out["ring" if ring else "chain"]["sbr_strict"]
        flows = lb.dde_line(loads, ring=ring).flows
        if expected["deadlock"]:
            with pytest.raises(lb.DeadlockError):
                lb.exchange_rounds(loads, flows, ring=ring, mode="sbr-strict")
        else:
            rounds, _ = lb.exchange_rounds(loads, flows, ring=ring, mode="sbr-strict")
            assert rounds == expected["steps"]


@pytest.mark.parametrize(("case", "out"), cases("s003_twa"))
def test_recursive_doubling(case: dict[str, Any], out: dict[str, Any]) -> None:
    r = lb.recursive_doubling(np.array(case["loads"]))
    assert out == {
        "loads": listed(r.loads),
        "exchange_steps": r.exchange_steps,
        "info_steps": r.info_steps,
        "total_steps": r.total_steps,
        "bound": r.bound,
    }


def test_example_1_of_the_paper() -> None:
    loads = np.array([9, 7, 4, 1, 4, 6, 1, 5])
    b = lb.dde(loads, lb.Chain(8), record="flows")
    assert listed(b.loads) == [5, 5, 5, 5, 5, 4, 4, 4]
    assert listed(b.flows) == [[4, 6, 5, 1, 0, 2, -1, 0]]
    assert (b.moved, b.rounds) == (19, 4)
    assert lb.dde(loads, lb.Chain(8), exchange="sbr").rounds == 2
    assert lb.dde(loads, lb.Ring(8)).moved == 17


@pytest.mark.parametrize("name", ["s003_dem", "s003_gde", "s003_dde"])
def test_cases_of_one_network_as_one_batch(name: str) -> None:
    """Each case again, as the middle row of a batch between other loads."""
    for case in json.loads((CASES / f"{name}.json").read_text())["cases"]:
        loads = np.array(case["loads"])
        batch = np.stack([loads[::-1], loads, np.zeros_like(loads)])
        if name == "s003_dem":
            cube = lb.Hypercube(len(loads).bit_length() - 1)
            b = lb.dem(batch, cube, dims=case["dims"])
        else:
            grid = lb.Grid(case["shape"], wrap=case["wrap"])
            if name == "s003_gde":
                b = lb.gde(batch, grid, lam=case["lam"], order=case["order"])
                assert listed(b.sweeps)[1] == case["out"]["sweeps"]
                assert listed(b.stalled) == [b.stalled[0], case["out"]["stalled"], False]
            else:
                b = lb.dde(batch, grid, axes=case["axes"])
        assert listed(b.loads[1]) == case["out"]["loads"]
        assert b.moved[1] == case["out"]["moved"]
        assert not b.loads[2].any()
