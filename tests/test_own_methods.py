"""Balancing methods of one's own, registered under a name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb


def to_the_first(loads: Any, topology: lb.Topology) -> Any:
    """Send all load to the first node, in place."""
    rows = loads.reshape(-1, topology.size)
    rows[:, 0] = rows.sum(axis=1)
    rows[:, 1:] = 0
    return loads


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    monkeypatch.setattr("fastlb.registry._METHODS", {"dde": lb.dde, "gde": lb.gde})

    def under_the_name_own(function: Callable[..., Any]) -> None:
        lb.registry._METHODS.pop("own", None)
        lb.register_method("own", function)

    return under_the_name_own


def test_loads_alone_give_the_figures_of_loads(register: Any) -> None:
    register(to_the_first)
    loads = np.array([[1, 2, 3], [4, 0, 0]])
    b = lb.balance(loads, "chain:3", "own")
    assert isinstance(b, lb.Balance)
    assert (b.method, b.topology) == ("own", lb.Chain(3))
    assert b.loads.tolist() == [[6, 0, 0], [4, 0, 0]]
    assert loads.tolist() == [[1, 2, 3], [4, 0, 0]]
    assert b.difference.tolist() == [6, 4]
    assert b.initial_difference.tolist() == [2, 4]
    assert b.imbalance.tolist() == [2, 2]
    for name in ("moved", "cost", "local", "locality", "sweeps", "steps"):
        with pytest.raises(AttributeError, match=f"{name} does not apply to own"):
            getattr(b, name)
    one = lb.balance([1, 2, 3], lb.Chain(3), "own")
    assert (one.difference, type(one.difference)) == (6, int)


@pytest.mark.parametrize("rows", [True, False])
def test_a_study_compares_it(register: Any, rows: bool) -> None:
    register(to_the_first)
    study = lb.Study("own", ["mesh:2x2"], ["own", "dde"], "uniform:9", trials=20)
    results = lb.run(study, rows=rows)
    compared = results.compare()["mesh:2x2", "uniform:9", "own", "dde"]
    assert set(compared) == {"difference", "initial_difference", "imbalance", "initial_imbalance"}
    assert compared["difference"].greater == 1
    assert compared["initial_difference"].equal == 1


def test_figures_beside_the_loads(register: Any) -> None:
    register(lambda loads, topology: {"loads": loads, "moved": 12, "local": [6, 0], "steps": 3})
    b = lb.balance([[1, 2, 3], [0, 0, 4]], "ring:3", "own")
    assert (b.moved.tolist(), b.steps.tolist(), b.local.tolist()) == ([12, 12], [3, 3], [6, 0])
    assert (b.cost.tolist(), b.locality.tolist()) == ([2, 3], [1, 0])
    assert "sweeps" not in b.to_dict()


def test_record_and_out(register: Any) -> None:
    register(to_the_first)
    loads = np.array([1, 2, 3])
    b = lb.balance(loads, "chain:3", "own", record="loads", out=loads)
    assert b.loads is loads
    assert loads.tolist() == [6, 0, 0]
    with pytest.raises(AttributeError, match="difference was not recorded"):
        _ = b.difference
    with pytest.raises(ValueError, match="record must not be 'flows': own does not take record"):
        lb.balance(loads, "chain:3", "own", record="flows")
    register(lambda loads, topology, record="metrics": lb.dde(loads, topology, record=record))
    assert lb.balance(loads, "chain:3", "own", record="flows").flows.shape == (1, 3)
    target = np.zeros_like(loads)
    assert lb.balance(loads, "chain:3", "own", out=target).loads is target
    assert target.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (None, TypeError, "own must return the final loads, a dict of them and figures"),
        ([1, 2], ValueError, r"own must return loads of the shape \(3,\)"),
        ([1, 2, 4], ValueError, "own must return loads with the total it was given, got 7 for 6"),
        ([-1, 4, 3], ValueError, "own returned what no loads are: loads must be finite and not"),
        ([2.0, 2.0, np.nan], ValueError, "own returned what no loads are"),
        (["a", "b", "c"], TypeError, "own returned what no loads are"),
        ({"moved": 3}, TypeError, "own must return a dict with loads and any of moved, .* moved$"),
        ({"loads": [2, 2, 2], "move": 3}, TypeError, "got loads, move$"),
        (([2, 2, 2], 5), ValueError, "own must return loads as one array: "),
        (np.ma.array([2, 2, 2], mask=True), TypeError, "own returned .* be a masked array"),
        (
            {"loads": [2, 2, 2], "moved": "x"},
            TypeError,
            "own must return moved as a number, .* 'x'",
        ),
        ({"loads": [2, 2, 2], "moved": -5}, ValueError, "moved finite and not negative, got -5"),
        ({"loads": [2, 2, 2], "steps": np.nan}, ValueError, "steps finite and not negative"),
        (
            {"loads": [2, 2, 2], "steps": [1, 2]},
            ValueError,
            r"steps .* of shape \(\), got \[1, 2\]",
        ),
        ({"loads": [2, 2, 2], "steps": [[1], []]}, ValueError, "own must return steps as a number"),
    ],
)
def test_what_it_must_not_return(
    register: Any, returned: Any, error: type[Exception], message: str
) -> None:
    register(lambda loads, topology: returned)
    with pytest.raises(error, match=message):
        lb.balance([1, 2, 3], "chain:3", "own")


def test_real_loads_of_whole_ones(register: Any) -> None:
    register(lambda loads, topology: np.full(loads.shape, loads.mean()))
    assert lb.balance([1, 2, 4], "chain:3", "own").difference == 0


def test_options_are_checked(register: Any) -> None:
    register(lambda loads, topology, *, rounds=3: loads)
    lb.balance([1, 2, 3], "chain:3", "own", rounds=4)
    with pytest.raises(TypeError, match="own takes rounds, got round"):
        lb.balance([1, 2, 3], "chain:3", "own", round=4)


def test_registered_again_it_replaces_the_one_before(register: Any) -> None:
    register(to_the_first)
    lb.register_method("own", lambda loads, topology: loads)
    assert lb.balance([1, 2, 3], "chain:3", "own").loads.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="name must not be that of a method of fastlb, got 'dde'"):
        lb.register_method("dde", to_the_first)


def test_its_exceptions_carry_its_name(register: Any) -> None:
    def fails(loads: Any, topology: lb.Topology) -> Any:
        raise ZeroDivisionError("no load")

    register(fails)
    with pytest.raises(ZeroDivisionError, match="no load") as raised:
        lb.balance([1, 2, 3], "chain:3", "own")
    assert raised.value.__notes__ == ["raised by the method own on Chain(3)"]


def as_it_is(loads: Any, topology: lb.Topology) -> Any:
    return loads


def reversed_twice(loads: Any, topology: lb.Topology) -> Any:
    return loads[..., ::-1][..., ::-1]


def test_a_store_notices_that_the_source_has_changed(register: Any, tmp_path: Path) -> None:
    """With the same source, and without one, a run resumes in silence."""
    pytest.importorskip("pyarrow")
    register(as_it_is)
    study = lb.Study("own", ["mesh:2x2"], ["own", "dde"], "uniform:9", trials=20)
    lb.run(study, store=tmp_path)
    lb.run(study, store=tmp_path, resume=True)
    register(reversed_twice)
    for trials in (20, 30, 30):
        longer = dataclasses.replace(study, trials=trials)
        with pytest.warns(RuntimeWarning, match="trials of own from before its source changed"):
            lb.run(longer, store=tmp_path, resume=True)
    register(partial(as_it_is))
    lb.run(longer, store=tmp_path, resume=True)
    register(as_it_is)
    assert len(lb.run(longer, store=tmp_path, resume=True)) == 60
