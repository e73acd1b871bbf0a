"""Fault-tolerant DEM: equality with the twin, the paper's promises, trees, limits, bad input."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours
from tests.exchange.test_fault_plans import CHOICES, cubes
from tests.oracles import fault_tolerant_dem as twin
from tests.oracles import topology

RECORDS = ("loads", "metrics", "flows")
METRICS = ("difference", "moved", "local", "cost", "locality", "imbalance", "steps", "sweeps")


def sent(cube: lb.Hypercube, flows: Any) -> Any:
    """What every node sends net, from flows (ndim, *shape)."""
    net = np.zeros(cube.shape, flows.dtype)
    for axis in range(cube.n):
        net += flows[axis] - np.roll(flows[axis], 1, axis)
    return net.reshape(-1)


def flow_on_faults(cube: lb.Hypercube, flows: Any) -> Any:
    """Flows on the faulty links, from flows (batch, ndim, *shape)."""
    flat = flows.reshape(-1, cube.n, cube.size)
    return [flat[:, cube.n - (u ^ v).bit_length(), u] for u, v in cube.faults]


@given(st.data())
def test_equal_to_the_twin(data: st.DataObject) -> None:
    cube = data.draw(cubes(extra=1))
    order, donor = data.draw(st.sampled_from(CHOICES))
    finish = data.draw(st.sampled_from([None, "tree"]))
    batch = data.draw(st.sampled_from([0, 1, 3, 8, 11]))
    loads = data.draw(ours.integer_loads(cube.size, batch=batch))
    options = {"order": order, "donor": donor, "finish": finish}
    try:
        rows = loads.tolist()
        runs = [
            twin.fault_tolerant_dem(row, cube.faults, order, donor, finish=finish) for row in rows
        ]
    except twin.NoPlan:
        with pytest.raises(lb.FaultError):
            lb.fault_tolerant_dem(loads, cube, **options)
        return
    most = max((load for run in runs for stage in run.stages for load in stage), default=0)
    moved = max((run.moved for run in runs), default=0)
    for record in RECORDS:
        too_much = record != "loads" and moved > ours.INT64_MAX
        if too_much or most > np.iinfo(loads.dtype).max:
            with pytest.raises(OverflowError):
                lb.fault_tolerant_dem(loads, cube, record=record, **options)
            continue
        b = lb.fault_tolerant_dem(loads, cube, record=record, **options)
        assert b.loads.dtype == loads.dtype
        assert b.loads.tolist() == [run.loads for run in runs]
        if record == "loads":
            continue
        assert b.moved.tolist() == [run.moved for run in runs]
        assert b.local.tolist() == [run.local for run in runs]
        if record == "flows":
            flat = b.flows.reshape(batch, cube.n, cube.size)
            assert flat.tolist() == [run.flows for run in runs]
            for i, run in enumerate(runs):
                assert b.stages[:, i].tolist() == run.stages
                assert b.moved_per_stage[:, i].tolist() == run.moved_per_stage


@settings(max_examples=15)
@given(st.data())
def test_large_cubes_and_wide_batches(data: st.DataObject) -> None:
    """Cubes past the tiles, batches past a tile, subcubes past the blocks."""
    n, batch = data.draw(
        st.sampled_from([(12, 1), (13, 2), (11, 9), (7, 131), (5, 700), (3, 9000)])
    )
    order, donor = data.draw(st.sampled_from(CHOICES))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    cube = lb.Hypercube(n, faults=some_faults(rng, n, n - 1))
    dtype = data.draw(st.sampled_from(["int32", "uint16", "int64"]))
    loads = rng.integers(0, 1000, (batch, cube.size)).astype(dtype)
    b = lb.fault_tolerant_dem(loads, cube, order=order, donor=donor)
    plain = lb.fault_tolerant_dem(loads, cube, order=order, donor=donor, record="loads")
    assert np.array_equal(b.loads, plain.loads)
    assert (b.loads.sum(axis=1, dtype=np.int64) == loads.sum(axis=1, dtype=np.int64)).all()
    for i in {0, batch - 1}:
        run = twin.fault_tolerant_dem(loads[i].tolist(), cube.faults, order, donor)
        assert b.loads[i].tolist() == run.loads
        assert (b.moved[i], b.local[i]) == (run.moved, run.local)


def some_faults(rng: Any, n: int, count: int) -> list[tuple[int, int]]:
    """Random links; half of the time many of them at one node."""
    near = rng.random() < 0.5
    found: set[tuple[int, int]] = set()
    while len(found) < count:
        bit = int(rng.integers(n))
        node = int(rng.integers(4 if near else 2**n)) & ~(1 << bit)
        found.add((node, node | 1 << bit))
    return sorted(found)


def check_promises(cube: lb.Hypercube, order: str, donor: str, rng: Any) -> None:
    loads = rng.integers(0, 1 << rng.integers(1, 12), (2, cube.size))
    loads[1] *= rng.random(cube.size) < 0.3
    b = lb.fault_tolerant_dem(loads, cube, order=order, donor=donor, record="flows")
    assert b.loads.min() >= 0
    assert b.stages.min() >= 0
    assert (b.loads.sum(axis=1) == loads.sum(axis=1)).all()
    assert not np.any(flow_on_faults(cube, b.flows))
    for i in range(2):
        assert (loads[i] - sent(cube, b.flows[i]) == b.loads[i]).all()
    real = lb.fault_tolerant_dem(loads.astype(float), cube, order=order, donor=donor)
    assert (real.difference == 0).all()
    assert (real.loads[:, 0] == loads.mean(axis=1)).all()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_promises_for_every_set_of_at_most_n_minus_1_faults(n: int) -> None:
    rng = np.random.default_rng(n)
    links = topology.hypercube_links(n)
    sets = (s for count in range(n) for s in itertools.combinations(links, count))
    for i, faults in enumerate(sets):
        # Every set by the defaults; the other choices take turns on a 4-cube.
        for order, donor in CHOICES if n < 4 else {CHOICES[0], CHOICES[i % 4]}:
            check_promises(lb.Hypercube(n, faults=faults), order, donor, rng)


@pytest.mark.parametrize("n", range(5, 11))
def test_promises_for_random_sets(n: int) -> None:
    rng = np.random.default_rng(n)
    for i in range(40):
        faults = some_faults(rng, n, int(rng.integers(n)))
        check_promises(lb.Hypercube(n, faults=faults), *CHOICES[i % 4], rng)


def test_without_the_cap_of_the_spec_a_load_would_fall_below_zero() -> None:
    loads = [2, 0, 1, 0, 2, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
    b = lb.fault_tolerant_dem(loads, lb.Hypercube(4, faults=[(4, 6), (0, 2), (8, 10)]))
    assert b.loads.min() == 0
    assert b.loads.sum() == sum(loads)


@given(st.data())
def test_without_faults_it_is_dem(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 7))
    loads = data.draw(ours.integer_loads(2**n, batch=2, dtype="int32"))
    order = data.draw(st.sampled_from(["lowest", "highest"]))
    b = lb.fault_tolerant_dem(loads, lb.Hypercube(n), order=order)
    dims = range(n) if order == "lowest" else range(n)[::-1]
    same = lb.dem(loads, lb.Hypercube(n), dims=dims)
    assert b.loads.tolist() == same.loads.tolist()
    for name in METRICS:
        assert getattr(b, name).tolist() == getattr(same, name).tolist(), name


@given(st.data())
def test_loads_up_to_the_limit_need_no_total_without_repairs(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 4))
    dtype = data.draw(st.sampled_from(["int64", "uint64"]))
    loads = data.draw(ours.integer_loads(2**n, dtype=dtype, whole_range=True))
    b = lb.fault_tolerant_dem(loads, lb.Hypercube(n), record="loads")
    assert b.loads[0].tolist() == twin.fault_tolerant_dem(loads[0].tolist(), []).loads


def test_a_load_above_the_initial_largest_must_fit_the_dtype() -> None:
    """With many faults a donor is not level, and may end above every initial load."""
    faults = [(0, 4), (0, 16), (1, 17), (2, 3), (3, 7), (3, 19), (5, 21), (28, 30)]
    cube = lb.Hypercube(5, faults=faults)
    below = [0, 0, 0, 2, 0, 1, 2, 1, 0, 0, 0, 2, 1, 1, 2, 1, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1]
    wide = 127 - np.array([*below, 0, 2, 1, 0])
    assert lb.fault_tolerant_dem(wide, cube).loads.max() == 128
    loads = wide.astype(np.int8)
    kept = loads.copy()
    for record in RECORDS:
        with pytest.raises(OverflowError, match="int8"):
            lb.fault_tolerant_dem(loads, cube, record=record, out=loads)
        assert (loads == kept).all()


@given(st.data())
def test_real_loads_follow_the_exact_twin(data: st.DataObject) -> None:
    cube = data.draw(cubes(most=5, extra=1))
    order, donor = data.draw(st.sampled_from(CHOICES))
    finish = data.draw(st.sampled_from([None, "tree"]))
    dtype = data.draw(st.sampled_from(ours.FLOATS))
    batch = data.draw(st.sampled_from([1, 9]))
    loads = data.draw(ours.integer_loads(cube.size, batch=batch, dtype="uint8")).astype(dtype)
    options: dict[str, Any] = {"order": order, "donor": donor, "finish": finish}
    try:
        runs = [
            twin.fault_tolerant_dem(row, cube.faults, order, donor, finish=finish, real=True)
            for row in loads.tolist()
        ]
    except twin.NoPlan:
        assume(False)
    for record in RECORDS:
        b = lb.fault_tolerant_dem(loads, cube, record=record, **options)
        assert b.loads.dtype == dtype
        for i, run in enumerate(runs):
            assert b.loads[i].tolist() == run.loads
            if record != "loads":
                assert (b.moved[i], b.local[i]) == (run.moved, run.local)
            if record == "flows":
                assert b.flows[i].reshape(cube.n, cube.size).tolist() == run.flows
                assert b.stages[:, i].tolist() == run.stages


@given(st.data())
def test_any_real_loads_end_equal_up_to_rounding(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    cube = lb.Hypercube(n, faults=some_faults(rng, n, n - 1))
    loads = rng.random((3, cube.size)) * 10.0 ** rng.integers(-8, 9)
    b = lb.fault_tolerant_dem(loads, cube)
    assert b.loads == pytest.approx(np.repeat(loads.mean(axis=1)[:, None], cube.size, axis=1))
    assert b.loads.min() >= 0


@settings(max_examples=10)
@given(st.data())
def test_real_figures_do_not_depend_on_the_batch(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 7))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    cube = lb.Hypercube(n, faults=some_faults(rng, n, n - 1))
    loads = rng.random((150, cube.size)).astype(data.draw(st.sampled_from(ours.FLOATS)))
    whole = lb.fault_tolerant_dem(loads, cube)
    for part in (slice(0, 1), slice(3, 9), slice(60, 150)):
        b = lb.fault_tolerant_dem(loads[part], cube)
        for name in ("loads", *METRICS):
            assert getattr(b, name).tolist() == getattr(whole, name)[part].tolist(), name


@given(st.data())
def test_trees_give_exact_quotas_in_every_component(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 5))
    links = topology.hypercube_links(n)
    share = data.draw(st.sampled_from([0.2, 0.5, 0.9]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    cube = lb.Hypercube(n, faults=[link for link in links if rng.random() < share])
    loads = data.draw(ours.integer_loads(cube.size, batch=2))
    try:
        lb.fault_plan(cube)
    except lb.FaultError:
        pass
    else:
        return
    with pytest.raises(lb.FaultError):
        lb.fault_tolerant_dem(loads, cube)
    b = lb.fault_tolerant_dem(loads, cube, fallback="tree", record="flows")
    assert not np.any(flow_on_faults(cube, b.flows))
    for i, row in enumerate(loads.tolist()):
        run = twin.tree(row, cube.faults)
        assert b.loads[i].tolist() == run.loads
        assert (b.moved[i], b.local[i]) == (run.moved, run.local)
        assert b.flows[i].reshape(n, cube.size).tolist() == run.flows
        for order in twin.components(n, cube.faults):
            part = [b.loads[i].tolist()[node] for node, _ in order]
            assert sum(part) == sum(row[node] for node, _ in order)
            assert max(part) - min(part) <= 1
    for record in RECORDS:
        again = lb.fault_tolerant_dem(loads, cube, fallback="tree", record=record)
        assert again.loads.tolist() == b.loads.tolist()


def test_a_node_that_is_cut_off_keeps_its_load() -> None:
    cube = lb.Hypercube(3, faults=[(0, 1), (0, 2), (0, 4)])
    b = lb.fault_tolerant_dem([9, 7, 0, 0, 0, 0, 0, 0], cube, fallback="tree")
    assert b.loads.tolist() == [9, 1, 1, 1, 1, 1, 1, 1]


def test_a_last_polish_ends_within_one() -> None:
    rng = np.random.default_rng(4)
    for n in range(1, 8):
        cube = lb.Hypercube(n, faults=some_faults(rng, n, n - 1))
        loads = rng.integers(0, 1000, (5, cube.size))
        b = lb.fault_tolerant_dem(loads, cube, finish="tree")
        assert b.difference.max() <= 1
        assert (b.loads.sum(axis=1) == loads.sum(axis=1)).all()


@given(st.data())
def test_out_layout_and_shape_do_not_matter(data: st.DataObject) -> None:
    cube = data.draw(cubes(most=5, extra=0))
    record = data.draw(st.sampled_from(RECORDS))
    dtype = data.draw(st.sampled_from(["int32", "int64", "uint8", "float32"]))
    loads = data.draw(ours.integer_loads(cube.size, dtype="uint8", batch=3)).astype(dtype) // 2
    expected = lb.fault_tolerant_dem(loads, cube, record=record).loads
    other = np.full_like(loads, 77)
    assert lb.fault_tolerant_dem(loads, cube, record=record, out=other).loads is other
    inside = loads.copy()
    lb.fault_tolerant_dem(inside, cube, record=record, out=inside)
    read_only = loads.copy()
    # None but int64: kernels are compiled anew for arrays that they must not write.
    read_only.flags.writeable = dtype != "int64"
    locked = lb.fault_tolerant_dem(read_only, cube, record=record)
    wide = np.repeat(loads, 2, axis=1)
    strided = lb.fault_tolerant_dem(wide[:, ::2], cube, record=record)
    shaped = lb.fault_tolerant_dem(loads.reshape(3, *cube.shape), cube, record=record)
    assert shaped.loads.shape == (3, *cube.shape)
    for found in (other, inside, locked.loads, strided.loads, shaped.loads.reshape(expected.shape)):
        assert found.dtype == dtype
        assert np.array_equal(found, expected)


def test_empty_batches_and_single_trials() -> None:
    cube = lb.Hypercube(3, faults=[(0, 4), (5, 7)])
    for shape in ((0, 8), (0, 2, 2, 2), (3, 0, 8)):
        for record in RECORDS:
            b = lb.fault_tolerant_dem(np.zeros(shape, np.int32), cube, record=record)
            assert b.loads.shape == shape
    b = lb.fault_tolerant_dem([3, 9, 2, 8, 1, 7, 0, 30], cube, record="flows")
    assert (type(b.moved), type(b.steps), b.steps) == (int, int, 23)
    assert b.flows.shape == (3, 2, 2, 2)
    assert b.stages.shape == (2, 8)
    none = lb.fault_tolerant_dem(np.array(5), lb.Hypercube(0))
    assert (int(none.loads), none.moved, none.local, none.steps) == (5, 0, 5, 0)


GOOD = np.arange(8)
BAD = [
    (ValueError, "loads", [-1] + [1] * 7, {}),
    (ValueError, "loads", [float("nan")] + [1.0] * 7, {}),
    (ValueError, "loads", [float("inf")] + [1.0] * 7, {}),
    (ValueError, "loads", np.ones(7), {}),
    (TypeError, "loads", np.ones(8, bool), {}),
    (TypeError, "loads", np.ones(8, np.float16), {}),
    (OverflowError, "loads", np.full(8, 2**61), {}),
    (ValueError, "order", GOOD, {"order": "low"}),
    (ValueError, "donor", GOOD, {"donor": "last"}),
    (ValueError, "fallback", GOOD, {"fallback": "Tree"}),
    (ValueError, "finish", GOOD, {"finish": True}),
    (ValueError, "record", GOOD, {"record": "load"}),
    (ValueError, "out", GOOD, {"out": np.zeros(7, int)}),
    (TypeError, "out", GOOD, {"out": [0] * 8}),
]


@pytest.mark.parametrize(("kind", "argument", "loads", "options"), BAD)
def test_bad_input(
    kind: type[Exception], argument: str, loads: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(kind, match=argument) as caught:
        lb.fault_tolerant_dem(loads, lb.Hypercube(3, faults=[(0, 4)]), **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("where", [None, 8, lb.Chain(8), lb.Network([(0, 1)], n=8)])
def test_topologies_that_are_no_hypercubes(where: Any) -> None:
    for options in ({}, {"fallback": "tree"}):
        with pytest.raises(TypeError, match="topology"):
            lb.fault_tolerant_dem(GOOD, where, **options)


def test_units_times_links_beyond_int64() -> None:
    loads = np.zeros(16, np.int64)
    loads[0] = 2**63 - 1
    cube = lb.Hypercube(4, faults=[(1, 3)])
    run = twin.fault_tolerant_dem(loads.tolist(), cube.faults)
    assert run.moved > ours.INT64_MAX
    for record in ("metrics", "flows"):
        with pytest.raises(OverflowError, match="moved"):
            lb.fault_tolerant_dem(loads, cube, record=record)
    assert lb.fault_tolerant_dem(loads, cube, record="loads").loads.tolist() == run.loads


def test_figure_1_of_the_paper() -> None:
    """Plain DEM against this one on 3-cubes with 2 faults, loads 0..1000: 185 against 1.6."""
    rng = np.random.default_rng(1993)
    found = []
    for faults in itertools.combinations(topology.hypercube_links(3), 2):
        cube = lb.Hypercube(3, faults=faults)
        loads = rng.integers(0, 1001, (400, 8))
        found.append([m(loads, cube).difference.mean() for m in (lb.dem, lb.fault_tolerant_dem)])
    skipping, tolerant = np.mean(found, axis=0)
    assert skipping == pytest.approx(186, abs=4)
    assert tolerant == pytest.approx(1.6, abs=0.05)


@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
def test_the_tree_with_a_total_at_the_end_of_int64(record: str) -> None:
    top = 2**63 - 1
    single = lb.Hypercube(0)
    assert lb.fault_tolerant_dem([top], single, finish="tree", record=record).loads == [top]
    apart = lb.Hypercube(1, faults=[(0, 1)])
    b = lb.fault_tolerant_dem([top, 0], apart, fallback="tree", record=record)
    assert b.loads.tolist() == [top, 0]
