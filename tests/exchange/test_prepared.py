"""Calls that repeat: what goes to a prepared kernel, and what does not."""

import copy
import pickle
from functools import lru_cache

import numpy as np
import pytest

import fastlb as lb
from fastlb.exchange.prepared import PreparedCall, run_prepared
from fastlb.exchange.result import Balance


class Method:
    """A method that doubles loads, and refuses those from 100 on."""

    def __init__(self, with_figures=False):
        self.prepared = 0
        self.with_figures = with_figures
        self.prepare = lru_cache(self._prepare)

    def _prepare(self, topology, dtype, shape, record, *options):
        self.prepared += 1
        if dtype != np.int64 or shape != topology.shape:
            return None
        fields = (lambda total: {"moved": total}) if self.with_figures else None
        return PreparedCall(self._kernel, options, fields)

    def _kernel(self, source, target, *constants):
        assert source.ndim == target.ndim == 1
        total = int(source.sum())
        if total >= 100:
            return (-1, 0) if self.with_figures else -1
        target[:] = 2 * source
        return (0, total) if self.with_figures else 0

    def __call__(self, loads, out=None, record="loads", topology=None, *options):
        topology = topology or lb.Mesh(2, 2)
        return run_prepared("double", self.prepare, loads, topology, record, out, *options)


def test_the_same_call_is_prepared_once():
    double, loads = Method(), np.arange(4).reshape(2, 2)
    for _ in range(3):
        balance = double(loads)
        assert balance.loads.tolist() == [[0, 2], [4, 6]]
    assert double.prepared == 1
    assert balance.method == "double" and balance.record == "loads"
    double(loads, topology=lb.Torus(2, 2))
    double(loads.astype(np.int32))
    double(loads, record="metrics")
    assert double.prepared == 4


def test_lists_are_taken():
    double = Method()
    assert double([[0, 1], [2, 3]]).loads.tolist() == [[0, 2], [4, 6]]
    loads = [[0, 1], [2, 3]]
    out = np.zeros((2, 2), int)
    assert double(loads, out).loads is out
    assert double.prepared == 1
    assert loads == [[0, 1], [2, 3]]


def test_figures_are_named():
    balance = Method(with_figures=True)(np.ones((2, 2), int), record="metrics")
    assert balance.moved == 4
    assert balance.loads.sum() == 8


def test_out_receives_the_loads():
    double, loads = Method(), np.arange(4).reshape(2, 2)
    out = np.empty_like(loads)
    assert double(loads, out).loads is out
    assert double(loads, loads).loads is loads
    assert loads.tolist() == out.tolist() == [[0, 2], [4, 6]]


READ_ONLY = np.zeros((2, 2), int)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("loads", "out"),
    [
        ([[1, 2], [3]], None),
        ([[1, 2], [3, 2**64]], None),
        ([1, 2, 3, 4], None),
        (((1, 2), (3, 4)), None),
        (np.zeros((2, 2), np.int32), None),
        (np.zeros((3, 2, 2), int), None),
        (np.zeros((2, 2), ">i8"), None),
        (np.zeros((2, 2), int, order="F")[:, :1], None),
        (np.asfortranarray(np.arange(4).reshape(2, 2)), None),
        (READ_ONLY, None),
        (np.ma.zeros((2, 2), int), None),
        (np.full((2, 2), 50), None),
        (np.zeros((2, 2), int), np.zeros(4, int)),
        (np.zeros((2, 2), int), np.zeros((2, 2))),
        (np.zeros((2, 2), int), np.zeros((4, 2), int)[::2]),
        (np.zeros((2, 2), int), READ_ONLY),
        (np.zeros((2, 2), int), [[0, 0], [0, 0]]),
    ],
)
def test_all_else_takes_the_general_path(loads, out):
    for with_figures in (False, True):
        before = None if out is None else np.array(out)
        assert Method(with_figures)(loads, out) is None
        assert out is None or np.array_equal(before, out)


def test_what_cannot_be_hashed_takes_the_general_path():
    assert Method()(np.zeros((2, 2), int), None, "loads", None, [1]) is None
    assert Method()(np.zeros((2, 2), int), None, np.array("loads")) is None


def test_a_balance_is_frozen_and_copied():
    balance = Balance("dde", lb.Mesh(2, 2), "metrics", {"loads": np.zeros(4, int), "moved": 3})
    with pytest.raises(AttributeError, match="frozen, cannot set moved"):
        balance.moved = 4
    with pytest.raises(AttributeError, match="frozen, cannot delete moved"):
        del balance.moved
    with pytest.raises(AttributeError, match="call dde with record='flows'"):
        _ = balance.flows
    with pytest.raises(AttributeError, match="sweeps does not apply to dde on Mesh"):
        _ = balance.sweeps
    with pytest.raises(AttributeError, match="no attribute 'wrong'"):
        _ = balance.wrong
    assert "moved" in dir(balance) and "flows" not in dir(balance)
    for other in (copy.copy(balance), copy.deepcopy(balance), pickle.loads(pickle.dumps(balance))):
        assert other.to_dict() == balance.to_dict()
        assert other != balance
