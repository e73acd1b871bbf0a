"""What holds for every method: equality with the twin, conservation, batches, records, out."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours

FLOAT_FIGURES = {"imbalance", "initial_imbalance", "cost", "locality"}
METRICS = [
    "difference",
    "initial_difference",
    "imbalance",
    "initial_imbalance",
    "moved",
    "cost",
    "local",
    "locality",
    "sweeps",
    "steps",
]
OWN_METRICS = {
    "dem": [],
    "fault_tolerant_dem": [],
    "dde": ["rounds", "simulated_steps"],
    "gde": ["stalled", "converged"],
}


def same(found: Any, expected: Any) -> bool:
    """Equal in type, dtype, shape and every value."""
    if isinstance(found, np.ndarray):
        return found.dtype == expected.dtype and np.array_equal(found, expected)
    return type(found) is type(expected) and found == expected


@given(st.data())
def test_equal_to_the_twin(data: st.DataObject) -> None:
    problem = data.draw(ours.problems())
    size = problem.topology.size
    loads = data.draw(ours.integer_loads(size, batch=data.draw(st.integers(0, 3))))
    expected = [problem.twin(row.tolist()) for row in loads]
    shaped = problem.shaped(loads)
    final = problem.run(shaped, record="loads").loads
    assert final.dtype == loads.dtype
    assert final.reshape(loads.shape).tolist() == [r.loads for r in expected]
    for r in expected:
        assert max(r.loads) - min(r.loads) <= problem.bound(r)
    if not ours.fits(expected, loads):
        with pytest.raises(OverflowError):
            problem.run(shaped)
        return
    b = problem.run(shaped, record="flows")
    assert b.loads.tolist() == final.tolist()
    assert b.flows.shape == (len(loads), problem.topology.ndim, *problem.topology.shape)
    for i, (row, r) in enumerate(zip(loads, expected, strict=True)):
        assert b.flows[i].reshape(problem.topology.ndim, size).tolist() == r.flows
        for name, value in ours.figures(r, row.tolist()).items():
            found = getattr(b, name) if name == "colours" else getattr(b, name)[i]
            assert found == (pytest.approx(value) if name in FLOAT_FIGURES else value), name
        if r.stages is not None:
            stages = b.stages.reshape(len(r.stages), len(loads), size)
            assert stages[:, i].tolist() == r.stages
            assert b.moved_per_stage[:, i].tolist() == r.moved_per_stage
        if r.rounds_per_stage is not None:
            assert b.rounds_per_stage[:, i].tolist() == r.rounds_per_stage


@given(st.data())
def test_load_is_conserved_and_flows_reproduce_it(data: st.DataObject) -> None:
    problem = data.draw(ours.problems())
    shape = problem.topology.shape
    loads = data.draw(ours.integer_loads(math.prod(shape), dtype="int32", batch=2))
    b = problem.run(loads.reshape(2, *shape), record="flows")
    assert b.loads.min(initial=0) >= 0
    assert (b.loads.sum(axis=tuple(range(1, b.loads.ndim))) == loads.sum(axis=1)).all()
    final = loads.reshape(2, *shape).astype(np.int64)
    for axis in range(len(shape)):
        sent = b.flows[:, axis]
        final += np.roll(sent, 1, axis=1 + axis) - sent
    assert final.tolist() == b.loads.tolist()


@given(st.data())
def test_batch_equals_loop_and_permutes(data: st.DataObject) -> None:
    problem = data.draw(ours.problems())
    count = data.draw(st.integers(1, 5))
    loads = problem.shaped(
        data.draw(ours.integer_loads(problem.topology.size, dtype="int32", batch=count))
    )
    batch = problem.run(loads)
    singles = [problem.run(row) for row in loads]
    order = data.draw(st.permutations(range(count)))
    permuted = problem.run(loads[order])
    for name in ["loads", *METRICS, *OWN_METRICS[problem.name]]:
        together = getattr(batch, name)
        assert same(together, np.array([getattr(b, name) for b in singles], together.dtype)), name
        assert same(getattr(permuted, name), together[order]), name


@settings(max_examples=20)
@given(st.data())
def test_a_batch_wider_than_any_tile(data: st.DataObject) -> None:
    """Trials past a full tile, and all batch axes, give what single calls give."""
    problem = data.draw(ours.problems())
    size = problem.topology.size
    dtype = data.draw(st.sampled_from(ours.INTEGERS + ours.FLOATS))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    shape = data.draw(st.sampled_from([(131,), (3, 43), (257,), (2, 1, 65)]))
    loads = rng.integers(0, 100, (*shape, size)).astype(dtype)
    batch = problem.run(loads)
    assert batch.loads.shape == loads.shape
    assert batch.moved.shape == shape
    for at in [(0,) * len(shape), tuple(k - 1 for k in shape), tuple(k // 2 for k in shape)]:
        single = problem.run(loads[at])
        assert same(batch.loads[at], single.loads)
        for name in METRICS:
            assert getattr(batch, name)[at] == getattr(single, name), name


@given(st.data())
def test_shape_and_dtype_come_back(data: st.DataObject) -> None:
    # Of one node without axes, or behind axes of length 1, both readings of a shape can fit.
    problem = data.draw(ours.problems().filter(lambda p: p.topology.shape[:1] not in ((), (1,))))
    topology = problem.topology
    dtype = data.draw(st.sampled_from(ours.INTEGERS + ours.FLOATS))
    batch = data.draw(st.lists(st.integers(0, 3), max_size=2))
    count = math.prod(batch)
    rows = data.draw(ours.integer_loads(topology.size, dtype="uint8", batch=count)) // 2
    flat = rows.astype(dtype).reshape((*batch, topology.size))
    addressed = flat.reshape((*batch, *topology.shape))
    kept = flat.copy()
    by_node, by_address = problem.run(flat, record="flows"), problem.run(addressed, record="flows")
    for b, loads in ((by_node, flat), (by_address, addressed)):
        assert b.loads.dtype == dtype
        assert b.loads.shape == loads.shape
        assert not np.shares_memory(b.loads, loads)
        if problem.name in ("dem", "dde"):
            assert b.stages.shape == (topology.ndim, *loads.shape)
        if batch:
            assert np.shape(b.moved) == tuple(batch)
    assert by_node.loads.tolist() == by_address.loads.reshape(flat.shape).tolist()
    assert same(by_node.flows, by_address.flows)
    assert by_node.flows.shape == (*batch, topology.ndim, *topology.shape)
    assert by_node.flows.dtype == (np.float64 if dtype.kind == "f" else np.int64)
    assert same(flat, kept)


@given(st.data())
def test_out_and_layout_do_not_matter(data: st.DataObject) -> None:
    problem = data.draw(ours.problems())
    record = data.draw(st.sampled_from(["loads", "metrics", "flows"]))
    dtype = data.draw(st.sampled_from(["int32", "int64", "uint8"]))
    loads = data.draw(ours.integer_loads(problem.topology.size, dtype=dtype, batch=3)) // 64
    expected = problem.run(loads, record=record)
    other = np.full_like(loads, 77)
    elsewhere = problem.run(loads, record=record, out=other)
    assert np.shares_memory(elsewhere.loads, other)
    read_only = loads.copy()
    # None but int64: kernels are compiled anew for arrays that they must not write.
    read_only.flags.writeable = dtype != "int64"
    in_place = loads.copy()
    inside = problem.run(in_place, record=record, out=in_place)
    assert np.shares_memory(inside.loads, in_place)
    swapped = loads.astype(loads.dtype.newbyteorder("S"))
    assert problem.run(swapped, record=record, out=swapped).loads is swapped
    assert np.array_equal(swapped, expected.loads)
    wide = np.repeat(loads, 2, axis=1)
    runs = [
        elsewhere,
        inside,
        problem.run(read_only, record=record),
        problem.run(np.asfortranarray(loads), record=record),
        problem.run(wide[:, ::2], record=record),
        problem.run(loads[::-1].copy()[::-1], record=record),
    ]
    for b in runs:
        assert same(b.loads, expected.loads)
        if record != "loads":
            for name in METRICS:
                assert same(getattr(b, name), getattr(expected, name)), name
        if record == "flows":
            assert same(b.flows, expected.flows)
    assert same(other, expected.loads)
    assert same(in_place, expected.loads)


@given(st.data())
def test_records_agree(data: st.DataObject) -> None:
    problem = data.draw(ours.problems())
    loads = data.draw(ours.integer_loads(problem.topology.size, batch=2, dtype="int32"))
    plain, full, flows = (problem.run(loads, record=r) for r in ("loads", "metrics", "flows"))
    assert same(plain.loads, full.loads)
    assert same(full.loads, flows.loads)
    for name in [*METRICS, *OWN_METRICS[problem.name]]:
        assert same(getattr(full, name), getattr(flows, name)), name
    for name in ("moved", "difference", "flows", "stages", "cost"):
        with pytest.raises(AttributeError, match=name):
            getattr(plain, name)
    with pytest.raises(AttributeError, match="flows"):
        _ = full.flows
    for name in sorted({n for names in OWN_METRICS.values() for n in names}):
        if name not in OWN_METRICS[problem.name]:
            with pytest.raises(AttributeError, match=name):
                getattr(flows, name)


@given(st.data())
def test_metrics_follow_from_one_another(data: st.DataObject) -> None:
    problem = data.draw(ours.problems())
    dtype = data.draw(st.sampled_from(["int32", "uint16", "float64"]))
    loads = data.draw(ours.integer_loads(problem.topology.size, batch=2, dtype="uint16"))
    loads = loads.astype(dtype)
    if dtype == "float64" and problem.name == "gde":
        problem.options["tol"] = 0.01
    b = problem.run(loads)
    total = loads.sum(axis=1, dtype=np.float64)
    some = np.where(total > 0, total, 1)
    assert b.cost == pytest.approx(b.moved / some)
    assert b.locality == pytest.approx(np.where(total > 0, b.local / some, 1))
    for prefix, w in (("initial_", loads), ("", b.loads)):
        spread = w.max(axis=1).astype(float) - w.min(axis=1)
        excess = np.where(total > 0, w.max(axis=1).astype(float) * w.shape[1] / some - 1, 0)
        assert getattr(b, f"{prefix}difference") == pytest.approx(spread)
        assert getattr(b, f"{prefix}imbalance") == pytest.approx(excess, abs=1e-9)
    assert (b.local <= total * (1 + 1e-12)).all()
    assert (b.moved >= total * (1 - 1e-12) - b.local).all()
    if problem.name == "gde":
        assert (b.steps == 3 * b.colours * b.sweeps).all()
    else:
        assert (b.sweeps == 1).all()
        assert len(set(b.steps.tolist())) == 1


@given(st.data())
def test_no_batch_gives_plain_python(data: st.DataObject) -> None:
    problem = data.draw(ours.problems())
    loads = data.draw(ours.integer_loads(problem.topology.size, dtype="int16"))[0]
    b = problem.run(loads, record="flows")
    for name in METRICS:
        kind = float if name in FLOAT_FIGURES else int
        assert type(getattr(b, name)) is kind, name
    for name in OWN_METRICS[problem.name]:
        assert type(getattr(b, name)) is (bool if name in ("stalled", "converged") else int), name
    for record in ("loads", "metrics", "flows"):
        told = problem.run(loads, record=record).to_dict()
        assert json.loads(json.dumps(told))["loads"] == b.loads.tolist()
    with pytest.raises(AttributeError):
        b.loads = loads


@given(st.data())
def test_balance_by_name_is_the_method_itself(data: st.DataObject) -> None:
    problem = data.draw(ours.problems())
    loads = data.draw(ours.integer_loads(problem.topology.size, dtype="int16"))
    b = lb.balance(loads, problem.topology, method=problem.name, **problem.options)
    assert problem.name in lb.methods()
    assert same(b.loads, problem.run(loads).loads)
    assert same(b.moved, problem.run(loads).moved)


def test_lists_of_integers_are_loads() -> None:
    b = lb.dde([[4, 0], [0, 3]], lb.Chain(2))
    assert b.loads.tolist() == [[2, 2], [2, 1]]
    assert b.loads.dtype == np.int64


@pytest.mark.parametrize("method", ["dem", "dde"])
def test_zero_dimensional_hypercube(method: str) -> None:
    run, cube = getattr(lb, method), lb.Hypercube(0)
    single = run(np.array(5), cube, record="flows")
    assert single.loads.shape == ()
    assert (int(single.loads), single.moved, single.local) == (5, 0, 5)
    assert single.flows.shape == (0,)
    flat = run(np.array([5]), cube)
    assert flat.loads.tolist() == [5]
    assert type(flat.moved) is int
    assert run(np.array([5, 6]), cube).moved.tolist() == [0, 0]
    assert run(np.array([[5], [6]]), cube).moved.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("method", "topology"),
    [("dem", lb.Hypercube(3)), ("gde", lb.Mesh(2, 4)), ("dde", lb.Torus(2, 4))],
)
def test_empty_batch(method: str, topology: Any) -> None:
    for shape in ((0, 8), (0, *topology.shape), (3, 0, 8)):
        for record in ("loads", "metrics", "flows"):
            b = getattr(lb, method)(np.zeros(shape, np.int32), topology, record=record)
            assert b.loads.shape == shape
            assert b.loads.dtype == np.int32
        batch = shape[:-1] if shape[-1] == 8 else shape[:1]
        assert b.moved.shape == b.cost.shape == b.difference.shape == batch
        assert b.flows.shape == (*batch, topology.ndim, *topology.shape)
