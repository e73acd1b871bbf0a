"""Algorithms A, B and C: equality with the twin, bounds that are reached, real loads."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours
from tests.hexa_cells.options import OPTIONS
from tests.oracles import hexa_cell, metrics

FIGURES = ("difference", "moved", "local", "cost", "locality", "initial_difference", "steps")


def twin(row: Any, d: int, options: dict[str, Any], **more: Any) -> hexa_cell.Balancing:
    return hexa_cell.hexa_cell(row.tolist(), d, **options, **more)


def same_figures(b: Any, at: int, row: Any, r: hexa_cell.Balancing, edges: Any) -> None:
    assert b.loads[at].tolist() == r.loads
    assert b.difference[at] == r.error
    assert b.moved[at] == r.moved
    assert b.local[at] == sum(r.local)
    assert b.cost[at] == pytest.approx(metrics.cost(r.moved, row.tolist()))
    assert b.locality[at] == pytest.approx(metrics.locality(sum(r.local), row.tolist()))
    assert {name: values[at] for name, values in b.counts.items()} == r.counts
    assert b.stages[:, at].tolist() == r.stages
    assert b.moved_per_stage[:, at].tolist() == r.moved_per_stage
    assert b.after_triangle[at].tolist() == r.stages[0]
    assert b.after_cell[at].tolist() == r.stages[1]
    assert b.flows[at].tolist() == [r.flows.get((u, v), 0) for u, v in edges.tolist()]


@given(st.data())
def test_equal_to_the_twin(data: st.DataObject) -> None:
    d = data.draw(st.integers(1, 4))
    topology = lb.HyperHexaCell(d)
    options = data.draw(st.sampled_from(OPTIONS))
    loads = data.draw(ours.integer_loads(topology.size, batch=data.draw(st.integers(0, 3))))
    expected = [twin(row, d, options) for row in loads]
    final = lb.hexa_cell(loads, topology, record="loads", **options)
    assert final.loads.dtype == loads.dtype
    assert final.loads.tolist() == [r.loads for r in expected]
    assert all(r.error <= d + 2 for r in expected)
    if max((r.moved for r in expected), default=0) > ours.INT64_MAX:
        with pytest.raises(OverflowError, match="moved"):
            lb.hexa_cell(loads, topology, **options)
        return
    b = lb.hexa_cell(loads, topology, record="flows", **options)
    assert b.stages.dtype == loads.dtype
    for at, (row, r) in enumerate(zip(loads, expected, strict=True)):
        same_figures(b, at, row, r, topology.edges)
    metrics_only = lb.hexa_cell(loads, topology, **options)
    for name in FIGURES:
        assert np.array_equal(getattr(b, name), getattr(metrics_only, name)), name
    for name, values in b.counts.items():
        assert np.array_equal(metrics_only.counts[name], values), name


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("top", [40, 10**9, 2**54])
def test_networks_of_many_parts(options: dict[str, Any], top: int) -> None:
    d = 7
    topology = lb.HyperHexaCell(d)
    loads = np.random.default_rng(d).integers(0, top, (2, topology.size))
    b = lb.hexa_cell(loads, topology, record="flows", **options)
    fastest = lb.hexa_cell(loads, topology, record="loads", **options)
    assert fastest.loads.tolist() == b.loads.tolist()
    for at, row in enumerate(loads):
        same_figures(b, at, row, twin(row, d, options), topology.edges)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    ("dtype", "top"), [("int32", 2000), ("int32", 10**9), ("int64", 2**40), ("float32", 1)]
)
def test_parts_of_large_networks(options: dict[str, Any], dtype: str, top: int) -> None:
    """The dimensions above a part of 512 cells, against what is counted in smaller parts."""
    for d in (10, 11, 13):
        topology = lb.HyperHexaCell(d)
        loads = np.random.default_rng(d).integers(0, top + 1, (2, topology.size)).astype(dtype)
        fastest = lb.hexa_cell(loads, topology, record="loads", **options)
        assert np.array_equal(fastest.loads, lb.hexa_cell(loads, topology, **options).loads)


@settings(max_examples=12)
@given(st.data())
def test_a_batch_wider_than_any_tile(data: st.DataObject) -> None:
    d = data.draw(st.sampled_from([1, 2, 3, 6]))
    topology = lb.HyperHexaCell(d)
    options = data.draw(st.sampled_from(OPTIONS))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    loads = rng.integers(0, 100, (3, 43, *topology.shape)).astype(
        data.draw(st.sampled_from(ours.INTEGERS + ours.FLOATS))
    )
    b = lb.hexa_cell(loads, topology, **options)
    fastest = lb.hexa_cell(loads, topology, record="loads", **options)
    assert fastest.loads.tolist() == b.loads.tolist()
    assert b.moved.shape == b.counts["time"].shape == (3, 43)
    for at in [(0, 0), (2, 42), (1, 21)]:
        single = lb.hexa_cell(loads[at], topology, **options)
        assert single.loads.tolist() == b.loads[at].tolist()
        assert (single.moved, single.local) == (b.moved[at], b.local[at])
        assert single.counts == {name: values[at] for name, values in b.counts.items()}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_loads_up_to_the_limit(options: dict[str, Any]) -> None:
    """Sharing unit by unit is done at once, in 64 bits and for narrow types without wrapping."""
    for dtype in ours.INTEGERS:
        top = min(int(np.iinfo(dtype).max), ours.INT64_MAX)
        for d in (1, 2):
            size = lb.HyperHexaCell(d).size
            loads = np.zeros((3, size), dtype)
            loads[0, 1] = top
            loads[1] = top // size
            loads[2, [0, 4]] = top // 2, top // 2 - 1
            b = lb.hexa_cell(loads, lb.HyperHexaCell(d), record="loads", **options)
            assert b.loads.tolist() == [twin(row, d, options).loads for row in loads]


@given(st.data())
def test_load_is_conserved_and_flows_reproduce_it(data: st.DataObject) -> None:
    topology = lb.HyperHexaCell(data.draw(st.integers(1, 7)))
    options = data.draw(st.sampled_from(OPTIONS))
    loads = data.draw(ours.integer_loads(topology.size, dtype="int32", batch=2))
    b = lb.hexa_cell(loads, topology, record="flows", **options)
    assert b.flows.shape == (2, topology.edge_count)
    assert b.loads.min() >= 0
    assert (b.loads.sum(axis=1) == loads.sum(axis=1)).all()
    u, v = topology.edges.T
    for at in range(2):
        final = loads[at].astype(np.int64)
        np.subtract.at(final, u, b.flows[at])
        np.add.at(final, v, b.flows[at])
        assert final.tolist() == b.loads[at].tolist()
    assert (b.difference <= topology.d + 2).all()
    assert (abs(b.flows).sum(axis=1) == b.moved).all() or options["algorithm"] == "A"


@given(st.data())
def test_real_loads_take_exact_means(data: st.DataObject) -> None:
    """Loads that are multiples of ``3 * 2**d`` make every mean exact."""
    d = data.draw(st.integers(1, 6))
    topology = lb.HyperHexaCell(d)
    options = data.draw(st.sampled_from(OPTIONS))
    dtype = data.draw(st.sampled_from(ours.FLOATS))
    whole = data.draw(ours.integer_loads(topology.size, dtype="uint8", batch=2)).astype(dtype)
    loads = whole * dtype.type(3 * 2 ** (d + 1))
    b = lb.hexa_cell(loads, topology, record="flows", **options)
    for at, row in enumerate(loads):
        r = hexa_cell.hexa_cell([Fraction(x) for x in row.tolist()], d, **options, real=True)
        same_figures(b, at, row, r, topology.edges)
    assert (b.difference == 0).all()
    assert b.loads.dtype == b.stages.dtype == dtype
    assert b.moved.dtype == b.local.dtype == b.counts["time"].dtype == b.flows.dtype == np.float64
    fastest = lb.hexa_cell(loads, topology, record="loads", **options)
    assert np.array_equal(fastest.loads, b.loads)


@given(st.data())
def test_any_real_loads_end_at_the_mean(data: st.DataObject) -> None:
    d = data.draw(st.integers(1, 6))
    topology = lb.HyperHexaCell(d)
    options = data.draw(st.sampled_from(OPTIONS))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    loads = rng.random((3, topology.size)) * 10.0 ** rng.integers(-8, 9)
    b = lb.hexa_cell(loads, topology, **options)
    mean = np.repeat(loads.mean(axis=1)[:, None], topology.size, axis=1)
    assert b.loads == pytest.approx(mean)
    assert np.array_equal(lb.hexa_cell(loads, topology, record="loads", **options).loads, b.loads)
    equal = np.full_like(loads, loads[0, 0])
    still = lb.hexa_cell(equal, topology, **options)
    assert np.array_equal(still.loads, equal)
    assert still.counts["load"].tolist() == still.moved.tolist() == [0, 0, 0]


def popcount_shaped(d: int, level: int = 0) -> Any:
    cell = np.bitwise_count(np.arange(2 ** (d - 1))).astype(np.int64) + level
    return (cell[:, None] + np.array([0, 2, 2, 1, 3, 3])).reshape(-1)


@pytest.mark.parametrize("d", [*range(1, 10), 15])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_error_d_plus_2_is_reached(d: int, options: dict[str, Any]) -> None:
    loads = popcount_shaped(d, level=7)
    b = lb.hexa_cell(loads, lb.HyperHexaCell(d), **options)
    assert b.difference == d + 2
    assert b.difference > lb.hexa_cell_formulas(d, 1, options["algorithm"])["error"]


def test_the_known_counterexamples_to_d_plus_1() -> None:
    for loads, d, error in [([0, 2, 2, 1, 3, 3], 1, 3), ([0, 2, 2, 0, 2, 2], 1, 2)]:
        for options in OPTIONS:
            b = lb.hexa_cell(loads, lb.HyperHexaCell(d), **options)
            assert (b.difference, b.moved, b.loads.tolist()) == (error, 0, loads)


@given(st.data())
def test_the_last_phase_is_dem(data: st.DataObject) -> None:
    """In A and B nodes of equal position balance as a cube.

    Sending the larger half of an odd difference is sending the smaller and swapping the two
    nodes: in the end every cell has what its complement has under the other rule.
    """
    d = data.draw(st.integers(1, 8))
    topology = lb.HyperHexaCell(d)
    algorithm = data.draw(st.sampled_from("AB"))
    odd_unit = data.draw(st.sampled_from(["higher", "lower"]))
    dtype = data.draw(st.sampled_from(["int32", "int64", "float64"]))
    loads = data.draw(ours.integer_loads(topology.size, dtype="int16")).astype(dtype)
    b = lb.hexa_cell(loads, topology, algorithm, odd_unit=odd_unit, record="flows")
    by_position = b.after_cell[0].reshape(topology.cells, 6).T.copy()
    cubes = lb.dem(by_position, lb.Hypercube(d - 1), record="loads").loads
    if odd_unit == "lower":
        cubes = cubes[:, ::-1]
    assert np.array_equal(cubes.T.reshape(-1), b.loads[0])
    fastest = lb.hexa_cell(loads, topology, algorithm, odd_unit=odd_unit, record="loads")
    assert np.array_equal(fastest.loads, b.loads)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("d", range(1, 10))
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_one_call_of_a_kernel_gives_the_same_loads(
    d: int, dtype: str, options: dict[str, Any]
) -> None:
    """Plain arrays go one way; with the figures, or as unsigned loads, they go the other."""
    topology = lb.HyperHexaCell(d)
    rng = np.random.default_rng(d)
    for networks, top in ((1, 9), (2, 2**40 if dtype == "int64" else 2**31 - 1), (23, 715827882)):
        loads = rng.integers(0, top, (networks, topology.size)).astype(dtype)
        expected = lb.hexa_cell(loads, topology, **options).loads
        unsigned = lb.hexa_cell(loads.astype(f"u{dtype}"), topology, record="loads", **options)
        assert (unsigned.loads == expected).all()
        assert (lb.hexa_cell(loads, topology, record="loads", **options).loads == expected).all()
        by_address = loads.reshape(networks, *topology.shape)
        shaped = lb.hexa_cell(by_address, topology, record="loads", **options).loads
        assert (shaped.reshape(expected.shape) == expected).all()
        alone = lb.hexa_cell(loads[0], topology, record="loads", **options).loads
        assert (alone == expected[0]).all()
        out = np.full((networks + 1) * topology.size, 77, dtype)[topology.size :]
        out = out.reshape(loads.shape)
        b = lb.hexa_cell(loads, topology, record="loads", out=out, **options)
        assert b.loads is out
        assert (out == expected).all()
        lb.hexa_cell(loads, topology, record="loads", out=loads, **options)
        assert (loads == expected).all()


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
def test_one_network_has_the_figures_of_a_row_to_the_bit(dtype: str) -> None:
    rng = np.random.default_rng(5)
    cases = [("hexa_cell", lb.HyperHexaCell(4)), ("dem", lb.Hypercube(5)), ("dde", lb.Mesh(5, 7))]
    for method, topology in cases:
        loads = rng.integers(0, 2**55, (4, topology.size)).astype(dtype)
        loads[3] = 0
        batch = lb.balance(loads, topology, method).to_dict()
        for i in range(4):
            for one in (loads[i], loads[i : i + 1]):
                found = lb.balance(one, topology, method).to_dict()
                for name, values in batch.items():
                    if name in ("method", "topology"):
                        continue
                    parts = values if name == "counts" else {name: values}
                    own = found[name] if name == "counts" else {name: found[name]}
                    for part, rows in parts.items():
                        assert own[part] == (rows[i] if one.ndim == 1 else rows[i : i + 1]), part
