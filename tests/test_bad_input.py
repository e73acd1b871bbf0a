"""Bad input to the balancing functions: one line naming the argument, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fastlb as lb

METHODS: dict[str, tuple[Callable[..., Any], Any]] = {
    "dem": (lb.dem, lb.Hypercube(3)),
    "gde": (lb.gde, lb.Mesh(2, 4)),
    "dde": (lb.dde, lb.Torus(4, 2)),
    "fault_tolerant_dem": (lb.fault_tolerant_dem, lb.Hypercube(3, faults=[(0, 4)])),
}
GOOD = np.arange(8)
INTEGER_TYPES = ["int8", "int16", "int32", "int64"]

every_method = pytest.mark.parametrize("method", METHODS)


def refused(
    kind: type[Exception] | tuple[type[Exception], ...],
    argument: str,
    call: Callable[..., Any],
    *args: Any,
    **options: Any,
) -> str:
    with pytest.raises(kind) as caught:
        call(*args, **options)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    assert argument in message
    return message


def with_one(value: Any, dtype: str = "float64") -> Any:
    loads = np.ones((3, 8), dtype)
    loads[1, 5] = value
    return loads


@every_method
@pytest.mark.parametrize("shape", [(), (7,), (9,), (8, 7), (0,), (8, 0), (3, 4), (2, 2), (8, 1)])
@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
def test_wrong_shape(method: str, shape: tuple[int, ...], record: str) -> None:
    call, topology = METHODS[method]
    message = refused(ValueError, "loads", call, np.ones(shape), topology, record=record)
    assert repr(topology) in message


@every_method
@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, -1e-30])
def test_real_loads_that_are_none(method: str, value: float, dtype: str, record: str) -> None:
    call, topology = METHODS[method]
    refused(ValueError, "loads", call, with_one(value, dtype), topology, record=record)


@every_method
@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_negative_loads(method: str, dtype: str, record: str) -> None:
    call, topology = METHODS[method]
    for value in (-1, np.iinfo(dtype).min):
        refused(ValueError, "loads", call, with_one(value, dtype), topology, record=record)


@every_method
@pytest.mark.parametrize(
    "loads",
    [
        np.ones(8, bool),
        np.ones(8, complex),
        np.ones(8, np.float16),
        np.ones(8, object),
        np.ones(8, "datetime64[s]"),
        np.ones(8, "timedelta64[s]"),
        np.array(["1"] * 8),
        ["a"] * 8,
        [None] * 8,
        None,
        "12345678",
        dict.fromkeys(range(8), 1),
        [2**70] * 8,
    ],
    ids=lambda loads: getattr(loads, "dtype", None) or type(loads).__name__,
)
def test_loads_of_no_number_type(method: str, loads: Any) -> None:
    call, topology = METHODS[method]
    refused((TypeError, OverflowError), "loads", call, loads, topology)


@every_method
def test_ragged_loads(method: str) -> None:
    call, topology = METHODS[method]
    refused((ValueError, TypeError), "loads", call, [[1] * 8, [1] * 7], topology)


@every_method
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_totals_beyond_int64(method: str, dtype: str) -> None:
    call, topology = METHODS[method]
    loads = np.zeros((2, 8), dtype)
    loads[1] = 2**61
    for record in ("metrics", "flows"):
        kept = loads.copy()
        refused(OverflowError, "loads", call, kept, topology, record=record, out=kept)
        assert (kept == loads).all()


@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
def test_a_line_beyond_int64(record: str) -> None:
    for loads in (np.full(3, 2**62), np.array([2**63, 0, 0], np.uint64)):
        refused(OverflowError, "loads", lb.dde, loads, lb.Chain(3), record=record)
        refused(OverflowError, "loads", lb.dde, loads, lb.Ring(3), record=record)


@every_method
@pytest.mark.parametrize("record", ["load", "", "METRICS", None, 1, ["loads"]])
def test_unknown_record(method: str, record: Any) -> None:
    call, topology = METHODS[method]
    refused((ValueError, TypeError), "record", call, GOOD, topology, record=record)


@every_method
@pytest.mark.parametrize(
    ("out", "kind"),
    [
        (np.zeros(7, int), ValueError),
        (np.zeros((1, 8), int), ValueError),
        (np.zeros((2, 8), int), ValueError),
        (np.zeros(8, np.int32), (ValueError, TypeError)),
        (np.zeros(8, np.uint64), (ValueError, TypeError)),
        (np.zeros(8), (ValueError, TypeError)),
        ([0] * 8, TypeError),
        (np.broadcast_to(np.int64(0), 8), ValueError),
    ],
    ids=str,
)
def test_out_that_does_not_fit(method: str, out: Any, kind: Any) -> None:
    call, topology = METHODS[method]
    refused(kind, "out", call, GOOD, topology, out=out)


@every_method
@pytest.mark.parametrize("record", ["loads", "metrics", "flows"])
def test_nothing_is_written(method: str, record: str) -> None:
    call, topology = METHODS[method]
    loads = with_one(-1, "int64")
    loads[0] = GOOD
    kept = loads.copy()
    refused(ValueError, "loads", call, loads, topology, record=record, out=loads)
    assert (loads == kept).all()
    other = np.full_like(loads, 77)
    refused(ValueError, "loads", call, loads, topology, record=record, out=other)
    assert (other == 77).all()


@every_method
@pytest.mark.parametrize("topology", [None, 8, (2, 4), lb.Hypercube])
def test_topology_of_another_kind(method: str, topology: Any) -> None:
    refused((TypeError, ValueError), "topology", METHODS[method][0], GOOD, topology)


@pytest.mark.parametrize("topology", [lb.Chain(8), lb.Network([(0, 1)], n=8)])
def test_dem_needs_a_hypercube(topology: Any) -> None:
    refused((TypeError, ValueError), "topology", lb.dem, GOOD, topology)


def test_dde_needs_a_grid() -> None:
    refused((TypeError, ValueError), "topology", lb.dde, GOOD, lb.Network([(0, 1)], n=8))


BAD_ORDERS = [(0, 0), (0, 3), (-1, 0), (0, 1, 1), (0.5, 1), ("0", "1"), 0, "01", (None, 0)]


@pytest.mark.parametrize("order", BAD_ORDERS)
def test_bad_dims(order: Any) -> None:
    refused((ValueError, TypeError), "dims", lb.dem, GOOD[:4], lb.Hypercube(2), dims=order)


@pytest.mark.parametrize("order", BAD_ORDERS)
def test_bad_axes(order: Any) -> None:
    refused((ValueError, TypeError), "axes", lb.dde, GOOD, lb.Mesh(2, 4), axes=order)


@pytest.mark.parametrize(
    "word", ["", "RSB", "sbr-strict?", None, 1, ["rbs"], np.array(["rbs", "dimension"])], ids=repr
)
def test_unknown_words(word: Any) -> None:
    refused(ValueError, "exchange", lb.dde, GOOD, lb.Chain(8), exchange=word)
    refused(ValueError, "order", lb.gde, GOOD, lb.Chain(8), order=word)
    refused(ValueError, "mode", lb.exchange_rounds, [1, 1, 1], [0, 0, 0], mode=word)


@pytest.mark.parametrize(
    "lam",
    [
        *(0, 1, 0.0, 1.0, -0.1, 1.5, float("nan"), float("inf")),
        *((0, 5), (5, 5), (7, 5), (-1, 2), (1, 0)),
        *("0", "1", "5/4", "-1/2", "1/0", "abc", "", "1/2/3"),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_lambda_outside_0_1(lam: Any, dtype: str) -> None:
    refused(ValueError, "lam", lb.gde, GOOD.astype(dtype), lb.Chain(8), lam=lam)


@pytest.mark.parametrize("lam", [[], (1,), (1, 2, 3), 1j, {}, (0.5, 1), ("1", "2"), b"1/2", True])
def test_lambda_of_another_type(lam: Any) -> None:
    refused((TypeError, ValueError), "lam", lb.gde, GOOD, lb.Chain(8), lam=lam)


def test_networks_have_no_optimal_lambda() -> None:
    refused(ValueError, "lam", lb.optimal_lambda, lb.Network([(0, 1)]))


@pytest.mark.parametrize("order", ["", "dim", "interleave", None, 0, ["dimension"]])
def test_unknown_gde_order(order: Any) -> None:
    refused((ValueError, TypeError), "order", lb.gde, GOOD, lb.Chain(8), order=order)


@pytest.mark.parametrize("tol", [-1.0, -1e-9, np.nan, "x", 1j])
def test_bad_tolerance(tol: Any) -> None:
    refused((ValueError, TypeError), "tol", lb.gde, GOOD.astype(float), lb.Chain(8), tol=tol)


@pytest.mark.parametrize("max_sweeps", [-1, 1.5, "3", np.nan, True])
def test_bad_max_sweeps(max_sweeps: Any) -> None:
    call, chain = METHODS["gde"][0], lb.Chain(8)
    refused((ValueError, TypeError), "max_sweeps", call, GOOD, chain, max_sweeps=max_sweeps)


@pytest.mark.parametrize("method", ["", "DDE?", "ddee", None, 1, ["dde"]])
def test_unknown_method(method: Any) -> None:
    refused((ValueError, TypeError), "method", lb.balance, GOOD, lb.Chain(8), method=method)


def test_unknown_method_lists_the_known() -> None:
    message = refused(ValueError, "method", lb.balance, GOOD, lb.Chain(8), method="ddd")
    assert all(name in message for name in ("dem", "gde", "dde", "'ddd'"))


@every_method
def test_unknown_arguments(method: str) -> None:
    call, topology = METHODS[method]
    refused(TypeError, "nonsense", call, GOOD, topology, nonsense=1)
    with pytest.raises(TypeError):
        call(GOOD, topology, "metrics")


LINES: dict[str, Callable[..., Any]] = {
    "dde_line": lb.dde_line,
    "recursive_doubling": lb.recursive_doubling,
    "exchange_rounds": lambda loads: lb.exchange_rounds(loads, np.zeros(3, int)),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize(
    ("loads", "kind"),
    [
        (5, ValueError),
        ([], (ValueError, TypeError)),
        (np.zeros(0, int), ValueError),
        ([[1, 2, 3]] * 2, ValueError),
        ([1, -1, 1], ValueError),
        ([1.0, np.nan, 1.0], ValueError),
        ([1.0, np.inf, 1.0], ValueError),
        ([True, False, True], TypeError),
        ([1j, 0, 0], TypeError),
        (["a", "b", "c"], TypeError),
    ],
    ids=str,
)
def test_bad_lines(name: str, loads: Any, kind: Any) -> None:
    refused(kind, "loads", LINES[name], loads)


@pytest.mark.parametrize("name", ["dde_line", "recursive_doubling"])
def test_lines_beyond_int64(name: str) -> None:
    for loads in (np.full(3, 2**62), np.array([2**63, 0, 0], np.uint64), [2**63 - 1, 1]):
        refused(OverflowError, "loads", LINES[name], loads)


@pytest.mark.parametrize("flows", [[1, 0], [1, 0, 0, 0], 1, [[0, 0, 0]], ["a", "b", "c"]])
def test_flows_that_do_not_fit(flows: Any) -> None:
    refused((ValueError, TypeError), "flows", lb.exchange_rounds, [1, 1, 1], flows)


def test_flows_that_are_none() -> None:
    nan, inf = float("nan"), float("inf")
    for bad in (nan, inf, -inf):
        refused(ValueError, "flows", lb.exchange_rounds, [1.0, 1.0, 1.0], [0.0, bad, 0.0])


def test_a_chain_has_no_wrap_link() -> None:
    refused(ValueError, "flows", lb.exchange_rounds, [1, 1, 1], [0, 0, 1])


@pytest.mark.parametrize("mode", ["rbs", "sbr", "sbr-strict"])
def test_overdrawing_flows(mode: str) -> None:
    refused(ValueError, "flows", lb.exchange_rounds, [1, 0, 0], [2, 0, 0], mode=mode)
    with pytest.raises(ValueError, match="flows") as caught:
        lb.exchange_rounds([1, 0, 0], [1, 2, 0], mode=mode)
    assert not isinstance(caught.value, lb.DeadlockError)


def test_deadlocks() -> None:
    says = "wait for ever"
    refused(lb.DeadlockError, says, lb.exchange_rounds, [1] * 3, [1] * 3, ring=True)
    refused(lb.DeadlockError, says, lb.exchange_rounds, [0] * 3, [1] * 3, ring=True, mode="sbr")
    refused(lb.DeadlockError, says, lb.exchange_rounds, [0, 1], [-1, 0], mode="sbr-strict")


@pytest.mark.parametrize("mode", ["", "RBS?", "strict", None, ["rbs"]])
def test_unknown_exchange_mode(mode: Any) -> None:
    refused((ValueError, TypeError), "mode", lb.exchange_rounds, [1, 1], [0, 0], mode=mode)
