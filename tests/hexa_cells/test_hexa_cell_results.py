"""What hexa_cell returns: shapes, plain numbers, counts, and results in arrays of the caller."""

from __future__ import annotations

import copy
import json
import multiprocessing
import operator
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours
from tests.hexa_cells.options import OPTIONS


def test_no_two_batch_readings_of_one_shape() -> None:
    b = lb.hexa_cell(np.arange(36).reshape(6, 6), lb.HyperHexaCell(1))
    assert b.moved.shape == (6,)
    assert lb.hexa_cell(np.arange(12).reshape(2, 2, 3), lb.HyperHexaCell(2)).loads.shape == (
        2,
        2,
        3,
    )


def test_empty_batches() -> None:
    for d in (1, 3, 7):
        topology = lb.HyperHexaCell(d)
        for shape in ((0, topology.size), (0, *topology.shape), (3, 0, topology.size)):
            for record in ("loads", "metrics", "flows"):
                b = lb.hexa_cell(np.zeros(shape, np.int32), topology, record=record)
                assert b.loads.shape == shape
            assert b.flows.shape == (*b.moved.shape, topology.edge_count)
            assert b.counts["time"].shape == b.moved.shape


def test_no_batch_gives_plain_python() -> None:
    b = lb.hexa_cell([5, 0, 0, 0, 0, 1], lb.HyperHexaCell(1), "C", record="flows")
    assert {type(value) for value in b.counts.values()} == {int}
    told = json.loads(json.dumps(b.to_dict()))
    assert told["topology"] == "hhc:1"
    assert told["counts"] == b.counts
    real = lb.hexa_cell([5.0, 0, 0, 0, 0, 1], lb.HyperHexaCell(1), "C")
    assert type(real.counts["time"]) is float
    assert type(real.counts["load"]) is int
    for name in ("rounds", "stalled", "colours", "rounds_per_stage"):
        with pytest.raises(AttributeError, match=name):
            getattr(b, name)
    with pytest.raises(AttributeError, match="counts"):
        _ = lb.hexa_cell([5, 0, 0, 0, 0, 1], lb.HyperHexaCell(1), record="loads").counts


@given(st.data())
def test_out_and_layout_do_not_matter(data: st.DataObject) -> None:
    d = data.draw(st.sampled_from([1, 3, 6]))
    topology = lb.HyperHexaCell(d)
    options = data.draw(st.sampled_from(OPTIONS))
    record = data.draw(st.sampled_from(["loads", "metrics", "flows"]))
    dtype = data.draw(st.sampled_from(["int32", "int64", "uint8", "float64"]))
    loads = data.draw(ours.integer_loads(topology.size, dtype="uint8", batch=3)).astype(dtype)
    expected = lb.hexa_cell(loads, topology, record=record, **options)
    kept = loads.copy()
    other = np.full_like(loads, 77)
    lb.hexa_cell(loads, topology, record=record, out=other, **options)
    in_place = loads.copy()
    lb.hexa_cell(in_place, topology, record=record, out=in_place, **options)
    read_only = loads.copy()
    # None but int64: kernels are compiled anew for arrays that they must not write.
    read_only.flags.writeable = dtype != "int64"
    wide = np.repeat(loads, 2, axis=1)
    for found in (
        other,
        in_place,
        lb.hexa_cell(read_only, topology, record=record, **options).loads,
        lb.hexa_cell(wide[:, ::2], topology, record=record, **options).loads,
        lb.hexa_cell(np.asfortranarray(loads), topology, record=record, **options).loads,
        lb.balance(loads, topology, "hexa_cell", record=record, **options).loads,
    ):
        assert found.dtype == loads.dtype
        assert np.array_equal(found, expected.loads)
    assert np.array_equal(loads, kept)


@pytest.mark.parametrize("shift", [-11, -1, 0, 1, 11, 12])
@pytest.mark.parametrize("record", ["loads", "metrics"])
def test_overlapping_results_are_right(shift: int, record: str) -> None:
    topology = lb.HyperHexaCell(2)
    both = np.arange(36)[::-1].copy()
    loads, out = both[12:24], both[12 + shift : 24 + shift]
    expected = lb.hexa_cell(loads.copy(), topology).loads
    assert lb.hexa_cell(loads, topology, record=record, out=out).loads is out
    assert (out == expected).all()


@pytest.mark.parametrize("shape", [(), (4, 3, 4), (48, 1), (2, 2, 12, 1), (3, 2, 2, 2, 2)])
def test_as_many_loads_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    loads = np.ones(shape, np.int64)
    for record in ("loads", "metrics"):
        with pytest.raises(ValueError, match="loads must have shape"):
            lb.hexa_cell(loads, lb.HyperHexaCell(4), record=record)
    one = np.ones(48, np.int64)
    for out in (np.ones((1, 48), np.int64), np.ones((2, 2, 2, 2, 3), np.int64), one[:47]):
        with pytest.raises(ValueError, match="out must have the loads' shape"):
            lb.hexa_cell(one, lb.HyperHexaCell(4), record="loads", out=out)


def test_counts_are_frozen_and_travel() -> None:
    b = lb.hexa_cell([[0, 4, 0, 0, 0, 7]] * 2, lb.HyperHexaCell(1))
    kept = {name: values.tolist() for name, values in b.counts.items()}
    for change in (
        lambda: b.counts.update(time=0),
        lambda: b.counts.__setitem__("time", 0),
        lambda: b.counts.pop("time"),
        lambda: b.counts.clear(),
        lambda: operator.ior(b.counts, {"time": 0}),
    ):
        with pytest.raises(TypeError, match="frozen"):
            change()
    for again in (b, copy.deepcopy(b), pickle.loads(pickle.dumps(b))):
        assert {name: values.tolist() for name, values in again.counts.items()} == kept
        with pytest.raises(TypeError, match="frozen"):
            again.counts["time"] = 0
    assert json.loads(json.dumps(b.to_dict()))["counts"] == kept


@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
def test_a_balance_lists_what_was_recorded_once(record: str) -> None:
    b = lb.hexa_cell([0, 4, 0, 0, 0, 7], lb.HyperHexaCell(1), record=record)
    listed = [name for name in dir(b) if not name.startswith("_")]
    assert len(set(listed)) == len(listed)
    assert {*b.to_dict(), "record", "to_dict"} == {*listed}
    for name in listed:
        getattr(b, name)


def test_counts_come_back_from_another_process() -> None:
    loads, topology = [0, 4, 0, 0, 0, 7], lb.HyperHexaCell(1)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = pool.submit(lb.hexa_cell, loads, topology, "C").result()
    assert there.to_dict() == lb.hexa_cell(loads, topology, "C").to_dict()
