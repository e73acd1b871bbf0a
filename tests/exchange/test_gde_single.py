"""GDE of one network, which goes link by link, against the same network in a batch."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastlb as lb
from fastlb.accelerate import kernels
from fastlb.exchange import generalized_exchange

NETWORKS: list[Any] = [
    lb.Mesh(8, 8),
    lb.Mesh(5, 1, 9),
    lb.Torus(4, 6),
    lb.Torus(5, 3, 2),
    lb.Grid((2, 7), wrap=(True, False)),
    lb.Chain(40),
    lb.Ring(9),
    lb.Mesh(1),
    lb.Hypercube(6),
    lb.Hypercube(4, faults=[(0, 1), (5, 7)]),
    lb.HyperHexaCell(3),
    lb.Network([(0, i) for i in range(1, 40)]),
]
FIGURES = (
    "difference", "initial_difference", "imbalance", "initial_imbalance", "moved", "cost", "local",
    "locality", "sweeps", "steps", "stalled", "converged",
)  # fmt: skip


def same_as_in_a_batch(loads: Any, topology: Any, **options: Any) -> None:
    both = lb.gde(np.stack([loads, loads]), topology, **options)
    for batch in ((), (1,), (1, 1)):
        shaped = loads.reshape((*batch, *loads.shape))
        one = lb.gde(shaped, topology, **options)
        assert one.loads.dtype == loads.dtype
        assert np.array_equal(one.loads.reshape(loads.shape), both.loads[0])
        for name in FIGURES:
            mine, expected = getattr(one, name), getattr(both, name)[0]
            assert np.shape(mine) == batch, name
            assert type(mine) is (np.ndarray if batch else type(expected.item())), name
            assert np.array_equal(np.reshape(mine, ()), expected), name
        assert one.colours == both.colours
        alone = lb.gde(shaped, topology, record="loads", **options)
        assert np.array_equal(alone.loads, one.loads)
        with pytest.raises(AttributeError, match="was not recorded"):
            _ = alone.moved


@settings(max_examples=150)
@given(st.data())
def test_one_network_as_in_a_batch(data: st.DataObject) -> None:
    topology = data.draw(st.sampled_from(NETWORKS))
    top = data.draw(st.sampled_from([1, 9, 2000, 10**6, 2**31 - 1, 2**40, 2**55]))
    dtype = data.draw(st.sampled_from(["int64", "int32", "uint8", "int16", "uint32", "uint64"]))
    top = min(top, int(np.iinfo(dtype).max))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    loads = rng.integers(0, top, topology.shape, endpoint=True).astype(dtype)
    if data.draw(st.booleans()):
        loads = loads.reshape(-1)
    options = {
        "lam": data.draw(st.sampled_from([(1, 2), 0.75, "2/3", Fraction(1, 3), 0.9999999, "1/7"])),
        "order": data.draw(st.sampled_from(["dimension", "interleaved"])),
        "max_sweeps": data.draw(st.sampled_from([0, 1, 5, 60])),
    }
    same_as_in_a_batch(loads, topology, **options)


@pytest.mark.parametrize("shape", [(8, 8), (16, 16, 16), (3, 50)])
def test_to_the_end(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    for topology in (lb.Mesh(*shape), lb.Torus(*shape)):
        for top in (2000, 2**40):
            same_as_in_a_batch(rng.integers(0, top, shape), topology)
            same_as_in_a_batch(rng.integers(0, top, shape), topology, lam="1/5")


@pytest.mark.parametrize("out_of", ["loads", "fresh", "rows", "overlapping"])
def test_where_the_result_goes(out_of: str) -> None:
    room = np.random.default_rng(1).integers(0, 2001, 130)
    loads = room[:64]
    expected = lb.gde(loads.copy(), lb.Mesh(8, 8)).loads
    given_to = {
        "loads": loads,
        "fresh": np.empty(64, np.int64),
        "rows": np.empty((64, 2), np.int64)[:, 1],
        "overlapping": room[5:69],
    }[out_of]
    b = lb.gde(loads, lb.Mesh(8, 8), record="loads", out=given_to)
    assert b.loads is given_to
    assert np.array_equal(given_to, expected)


def test_a_long_balancing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up where it should be short, and done where it may be long."""
    loads = np.zeros(600, np.int64)
    loads[0] = 600 * 10**4
    chain, statuses = lb.Chain(600), []
    balance = kernels("gde.single").balance

    def watched(*arguments: Any) -> Any:
        numbers = balance(*arguments)
        statuses.append(numbers[0])
        return numbers

    monkeypatch.setattr(kernels("gde.single"), "balance", watched)
    generalized_exchange._prepare.cache_clear()
    whole = lb.gde(loads, chain, lam=(1, 2))
    monkeypatch.undo()
    generalized_exchange._prepare.cache_clear()
    assert statuses == [kernels("gde.single").REFUSED]
    batch = lb.gde([loads, loads], chain, lam=(1, 2))
    for name in ("loads", *FIGURES):
        assert np.array_equal(getattr(whole, name), getattr(batch, name)[0]), name


def test_shares_that_are_equal_are_not_the_same() -> None:
    """What was read once is remembered by its type, not by its value."""
    mesh, loads = lb.Mesh(4, 4), np.arange(16) * 10**6
    tenth = lb.gde(loads, mesh, lam=0.1, max_sweeps=3).loads
    exact = lb.gde(loads, mesh, lam=Fraction(0.1), max_sweeps=3).loads
    stacked = np.stack([loads, loads])
    assert np.array_equal(tenth, lb.gde(stacked, mesh, lam=(1, 10), max_sweeps=3).loads[0])
    assert np.array_equal(exact, lb.gde(stacked, mesh, lam=Fraction(0.1), max_sweeps=3).loads[0])
    lb.gde(loads, mesh, lam=(1, 2))
    for lam in ((1.0, 2), (1, 2.0), (0.5,), [0.5], (1, 2, 3), True):
        with pytest.raises((TypeError, ValueError), match="lam"):
            lb.gde(loads, mesh, lam=lam)


def test_a_share_given_anew_is_read_anew() -> None:
    loads, mesh = np.arange(64) * 31, lb.Mesh(8, 8)
    for lam in ((1, 2), (1, 3), (2, 3), 0.5, "1/3", (2, 3), None):
        once = lb.gde(loads, mesh, lam=lam)
        expected = lb.gde(np.stack([loads, loads]), mesh, lam=lam)
        for b in (once, lb.gde(loads, mesh, lam=lam)):
            assert np.array_equal(b.loads, expected.loads[0])
    for bad in ((2, generalized_exchange), (1, 2, 3)):
        with pytest.raises((TypeError, ValueError), match="lam"):
            lb.gde(loads, mesh, lam=bad)


def test_a_pair_of_numpy_integers_does_not_wrap() -> None:
    loads = np.random.default_rng(6).integers(0, 2**55, 64)
    for lam in ((1, 3), (723, 1000)):
        given_as = tuple(np.int64(part) for part in lam)
        wrapped = lb.gde(loads, lb.Mesh(8, 8), lam=given_as, max_sweeps=9).loads
        assert np.array_equal(wrapped, lb.gde(loads, lb.Mesh(8, 8), lam=lam, max_sweeps=9).loads)


@pytest.mark.parametrize(
    ("options", "kind", "word"),
    [
        ({"lam": 1}, ValueError, "lam"),
        ({"lam": {}}, TypeError, "lam"),
        ({"order": "random"}, ValueError, "order"),
        ({"order": []}, ValueError, "order"),
        ({"max_sweeps": -1}, ValueError, "max_sweeps"),
        ({"max_sweeps": 1.5}, TypeError, "max_sweeps"),
        ({"record": "load"}, ValueError, "record"),
        ({"record": ["loads"]}, ValueError, "record"),
        ({"tol": 1}, ValueError, "tol"),
        ({"out": np.empty((8, 8), np.int32)}, ValueError, "out"),
        ({"out": [0] * 64}, TypeError, "out"),
    ],
)
def test_what_is_refused(options: dict[str, Any], kind: type[Exception], word: str) -> None:
    with pytest.raises(kind, match=word):
        lb.gde(np.ones((8, 8), np.int64), lb.Mesh(8, 8), **options)


def test_loads_that_are_refused() -> None:
    for shape in ((4, 16), (8, 8, 1), (2, 8, 4), (63,), ()):
        with pytest.raises(ValueError, match="loads must have shape"):
            lb.gde(np.ones(shape, np.int64), lb.Mesh(8, 8))
    loads = np.ones((8, 8), np.int64)
    loads[3, 3] = -1
    with pytest.raises(ValueError, match="got -1 at node 27"):
        lb.gde(loads, lb.Mesh(8, 8))
    loads[3, 3] = loads[0, 0] = 2**62
    with pytest.raises(OverflowError, match="total"):
        lb.gde(loads, lb.Mesh(8, 8))


def test_units_beyond_int64_are_refused_and_nothing_is_written() -> None:
    loads = np.zeros(64, np.int64)
    loads[0] = 2**62
    before = loads.copy()
    with pytest.raises(OverflowError, match="moved must fit int64"):
        lb.gde(loads, lb.Chain(64), out=loads)
    assert np.array_equal(loads, before)
    assert lb.gde(loads, lb.Chain(64), record="loads", out=loads).loads.sum() == 2**62


def test_units_of_a_short_balancing_beyond_int64_are_refused() -> None:
    """The total fits, but in the end most of it has crossed many links."""
    loads = np.repeat([2**59 - 1, 0], 8)
    before = loads.copy()
    for shaped in (loads, loads[None]):
        with pytest.raises(OverflowError, match="moved must fit int64"):
            lb.gde(shaped, lb.Chain(16), lam=(1, 2), out=shaped)
        assert np.array_equal(loads, before)
    assert lb.gde(loads, lb.Chain(16), lam=(1, 2), record="loads").loads.sum() == before.sum()


@pytest.mark.parametrize("top", [2001, 2**27])
@pytest.mark.parametrize("trials", [17, 32, 70])
@pytest.mark.parametrize("topology", NETWORKS, ids=str)
def test_batches_of_all_widths(topology: Any, trials: int, top: int) -> None:
    loads = np.random.default_rng(trials).integers(0, top, (trials, *topology.shape))
    batch = lb.gde(loads, topology, lam="723/1000")
    ends = lb.gde(loads, topology, lam="723/1000", record="loads").loads
    for i in range(trials):
        alone = lb.gde(loads[i], topology, lam="723/1000")
        assert np.array_equal(batch.loads[i], alone.loads)
        assert np.array_equal(ends[i], alone.loads)
        for name in ("moved", "local", "sweeps"):
            assert getattr(batch, name)[i] == getattr(alone, name)
