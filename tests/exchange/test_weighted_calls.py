"""Balancing by weights: equal weights, shapes and dtypes, limits, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import weighted

METHODS = [
    ("dde", lb.Torus(4, 5), {}),
    ("dde", lb.Hypercube(4), {"axes": (2, 0, 1, 3), "exchange": "sbr"}),
    ("dem", lb.Hypercube(4), {"dims": (2, 0, 1, 3)}),
    ("dem", lb.Hypercube(3, faults=[(0, 1), (3, 7)]), {}),
    ("gde", lb.Mesh(4, 5), {}),
    ("gde", lb.Mesh(4, 5), {"lam": "9/10", "order": "interleaved", "max_sweeps": 3}),
    ("gde", lb.Network([(0, 1), (1, 2), (3, 1), (4, 5)], n=7), {"lam": "1/3"}),
]


@pytest.mark.parametrize(("method", "topology", "options"), METHODS)
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_equal_weights_give_the_unweighted_result(
    method: str, topology: Any, options: dict[str, Any], dtype: Any, batch: tuple[int, ...]
) -> None:
    loads = np.random.default_rng(1).integers(0, 10, (*batch, *topology.shape)).astype(dtype)
    for record in ("loads", "metrics", "flows"):
        plain = lb.balance(loads, topology, method, **options, record=record)
        for weight in (1, "1/3", 7.5):
            weights = np.full(topology.shape, weight, dtype=object)
            b = lb.balance(loads, topology, method, **options, record=record, weights=weights)
            entries = b.to_dict()
            number = float(Fraction(weight))
            assert entries.pop("weights") == np.full(topology.shape, number).tolist()
            expected = plain.to_dict()
            if record != "loads":
                for name in ("difference", "initial_difference"):
                    ratio = np.array(expected.pop(name)) / number
                    assert np.array_equal(entries.pop(name), ratio)
            assert entries == expected
            assert b.loads.dtype == plain.loads.dtype


@pytest.mark.parametrize(("method", "topology", "options"), METHODS)
def test_the_kernels_for_weights_agree_with_the_others_at_equal_ones(
    method: str, topology: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal weights need no kernels of their own; if they take those, nothing differs."""
    from fastlb.exchange import weights as module

    monkeypatch.setattr(module.Weights, "are_equal", False)
    rng = np.random.default_rng(2)
    for top in (3, 50, 10**6):
        loads = rng.integers(0, top, (5, *topology.shape))
        for values in (loads, loads.astype(np.float64)):
            plain = lb.balance(values, topology, method, **options, record="flows").to_dict()
            b = lb.balance(
                values, topology, method, **options, record="flows", weights=np.ones(topology.size)
            ).to_dict()
            b.pop("weights")
            if values.dtype == np.int64 or method == "dde":
                assert b == plain
            else:
                assert np.array(b["loads"]) == pytest.approx(np.array(plain["loads"]), rel=1e-9)


@pytest.mark.parametrize(("method", "topology", "options"), METHODS)
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f4", "f8", ">i8"])
def test_shapes_dtypes_and_out(
    method: str, topology: Any, options: dict[str, Any], dtype: str
) -> None:
    rng = np.random.default_rng(3)
    loads = rng.integers(0, 6, (2, 3, *topology.shape)).astype(dtype)
    weights = rng.integers(1, 5, topology.shape)

    def run(loads: Any, **more: Any) -> Any:
        return lb.balance(loads, topology, method, **{**options, "weights": weights, **more})

    b = run(loads)
    assert b.loads.dtype == np.dtype(dtype).newbyteorder("=")
    assert b.loads.shape == loads.shape
    assert b.weights.shape == topology.shape
    for index in np.ndindex(2, 3):
        alone = run(loads[index])
        assert np.array_equal(alone.loads, b.loads[index])
        assert alone.imbalance == b.imbalance[index]
        assert isinstance(alone.difference, float)
        assert alone.moved == b.moved[index]
    flat = run(loads.reshape(2, 3, -1), weights=weights.reshape(-1), record="flows")
    assert np.array_equal(flat.loads, b.loads.reshape(2, 3, -1))
    assert flat.weights.shape == (topology.size,)
    assert np.array_equal(run(loads, record="loads").loads, b.loads)
    if np.dtype(dtype).isnative:
        out = np.empty_like(loads)
        assert run(loads, out=out).loads is out
        assert np.array_equal(out, b.loads)
        assert run(loads, out=loads, record="flows").loads is loads
        assert np.array_equal(loads, b.loads)


def test_empty_batches_and_single_nodes() -> None:
    assert lb.dde(np.zeros((0, 4), int), "ring:4", weights=[1, 2, 3, 4]).difference.shape == (0,)
    assert lb.gde(np.zeros((0, 4), int), "ring:4", weights=[1, 2, 3, 4]).moved.shape == (0,)
    assert lb.dem(np.zeros((0, 4), int), "hypercube:2", weights=[1, 2, 3, 4]).moved.shape == (0,)
    assert lb.dde([5], "chain:1", weights=[3]).loads.tolist() == [5]
    assert lb.dem([5], "hypercube:0", weights=[3]).loads.tolist() == [5]


def test_at_the_limits_of_int64() -> None:
    most = 2**63 - 1
    weights = [2**60 - 1, 2**60 - 2, 1]
    b = lb.dde([most, 0, 0], lb.Chain(3), weights=weights)
    assert b.loads.tolist() == weighted.quotas(most, weights)
    assert sum(b.loads.tolist()) == most
    pair = lb.gde([2**62 - 1, 0], lb.Chain(2), lam="1/2", weights=[2**60, 2**60 - 1])
    assert pair.loads[0] == weighted.quotas(2**62 - 1, [2**60, 2**60 - 1])[0]
    for method, topology in (("gde", lb.Chain(2)), ("dem", lb.Hypercube(1))):
        with pytest.raises(OverflowError, match=r"loads must have totals below 2\*\*62 with weig"):
            lb.balance([[1, 1], [2**62, 0]], topology, method, weights=[1, 2])
        with pytest.raises(OverflowError, match=r"weights must have a sum below 2\*\*61"):
            lb.balance([1, 1], topology, method, weights=[2**60, 2**60 + 1])
    chain = lb.Chain(64)
    out = np.zeros(64, np.int64)
    out[0] = 2**62 - 1
    with pytest.raises(OverflowError, match="moved must fit int64"):
        lb.dde(out, chain, weights=[0] * 63 + [5], out=out)
    assert out[0] == 2**62 - 1
    with pytest.raises(OverflowError, match="moved must fit int64"):
        lb.gde(out, chain, weights=[0] * 63 + [5], out=out)
    assert out[0] == 2**62 - 1
    with pytest.raises(OverflowError, match="weights must fit float64"):
        lb.dde([1, 2], lb.Chain(2), weights=["1e400", "2e400"])
    weights = 1000 * np.random.default_rng(4).random(256)
    with pytest.raises(OverflowError, match=r"round them, as np.round\(weights, 12\) does"):
        lb.dde(np.arange(256), lb.Chain(256), weights=weights)
    assert lb.dde(np.arange(256), lb.Chain(256), weights=np.round(weights, 12)).imbalance < 0.1
    with pytest.raises(OverflowError, match="round them"):
        lb.dde([1, 2, 3], lb.Chain(3), weights=[f"1/{3**1500}", f"1/{2**3000 - 1}", "1/7"])


@pytest.mark.parametrize("method", ["dde", "dem", "gde"])
@pytest.mark.parametrize(
    ("weights", "kind", "says"),
    [
        ([1, 2, 3], ValueError, "weights must be one number a node, shape (2, 2) or (4,)"),
        ([[1, 2], [3, "x"]], ValueError, "weights at node 3 must be a finite number"),
        ([1, 2, 3, -4], ValueError, "weights must not be negative, got -4 at node 3"),
        ([0, 0, 0, 0.0], ValueError, "weights must not all be 0"),
        ("1234", ValueError, "weights must be one number a node"),
        (3, ValueError, "weights must be one number a node"),
        ({"a": 1}, ValueError, "weights must be one number a node"),
        (np.ones((1, 4)), ValueError, "weights must be one number a node"),
        (np.ones(4, bool), TypeError, "weights must be integers, floats, Fractions or strings"),
    ],
)
def test_what_are_no_weights(method: str, weights: Any, kind: Any, says: str) -> None:
    with pytest.raises(kind) as error:
        lb.balance([1, 2, 3, 4], lb.Hypercube(2), method, weights=weights)
    assert str(error.value).startswith(says)
    assert "\n" not in str(error.value)


def test_denormal_loads_and_weights() -> None:
    for method in ("dde", "dem", "gde"):
        b = lb.balance([5e-324, 0, 0, 0], "hypercube:2", method, weights=[3, 1, 1, 1])
        assert b.imbalance == 0
        b = lb.balance([1e-310, 0, 0, 0], "hypercube:2", method, weights=[3, 1, 1, 2**59])
        assert b.loads[3] == pytest.approx(1e-310, rel=1e-9)
        b = lb.balance([9.0, 0, 0, 0], "hypercube:2", method, weights=[5e-324, 1e-323, 0, 0])
        assert b.loads.tolist() == pytest.approx([3.0, 6.0, 0.0, 0.0])
        assert b.initial_difference == np.inf


def test_load_that_no_link_leads_from() -> None:
    apart = lb.Network([(0, 1), (2, 3)])
    assert lb.gde([4, 4, 0, 0], apart, weights=[1, 3, 0, 0]).loads.tolist() == [2, 6, 0, 0]
    with pytest.raises(ValueError, match=r"loads must be 0 where no link .* got 5 at node 2"):
        lb.gde([4, 4, 5, 0], apart, weights=[1, 3, 0, 0])


def test_the_result_says_what_its_figures_are_of() -> None:
    b = lb.dde([6, 0, 0], lb.Chain(3), weights=[1, 2, 3])
    assert "imbalance of load / weight 500.0 % -> 0.0 %" in repr(b)
    assert "imbalance of load / weight" in b._repr_html_()
    assert b.weights.dtype == np.int64
    plain = lb.dde([6, 0, 0], lb.Chain(3))
    assert "weights" not in plain.to_dict()
    with pytest.raises(AttributeError, match="weights does not apply to dde"):
        _ = plain.weights
    with pytest.raises(TypeError, match=r"hexa_cell takes .* got weights"):
        lb.balance(np.arange(6), lb.HyperHexaCell(1), "hexa_cell", weights=np.arange(6))
