"""DEM in one call of a kernel: what is taken that short way gives what the whole way gives."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numba import config

import fastlb as lb
from fastlb.exchange import dimension_exchange

DTYPES = ["int16", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64"]
INTEGERS = ["int32", "int64", "uint32"]
REALS = ["float32", "float64"]
# In plain Python a cube of 8 dimensions takes long.
CUBES = [0, 1, 2, 3, 5] if config.DISABLE_JIT else [0, 1, 2, 3, 5, 6, 8, 10]


def drawn(shape: tuple[int, ...], dtype: str, top: int = 2000) -> Any:
    if np.dtype(dtype).kind != "f":
        top = min(top, np.iinfo(dtype).max)
    return np.random.default_rng(len(shape)).integers(0, top, shape, endpoint=True).astype(dtype)


def the_whole_way(loads: Any, n: int, out: Any = None) -> Any:
    """Balance with the order of the bits spelled out, which is not taken the short way."""
    return lb.dem(loads, lb.Hypercube(n), record="loads", dims=range(n), out=out)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", CUBES)
def test_every_shape_of_plain_loads(n: int, dtype: str) -> None:
    cube, by_address = lb.Hypercube(n), (2,) * n
    for batch in ((), (1,), (3,), (2, 2), (0,)):
        for shape in ((*batch, 2**n), (*batch, *by_address)):
            for top in (2000, 2**15, 2**31 - 1, 2**40):
                loads = drawn(shape, dtype, top)
                expected = the_whole_way(loads, n).loads
                given, out = loads.copy(), np.full_like(loads, 7)
                assert np.array_equal(lb.dem(given, cube, record="loads").loads, expected)
                assert np.array_equal(given, loads)
                for result in (out, given):
                    assert lb.dem(given, cube, record="loads", out=result).loads is result
                    assert np.array_equal(result, expected)
                    assert result.dtype == loads.dtype


@pytest.mark.parametrize("n", [6, 6 if config.DISABLE_JIT else 13])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_plain_cube_is_balanced_by_a_prepared_call(
    dtype: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for shape in ((2**n,), (2,) * n):
        loads = drawn(shape, dtype)
        expected = the_whole_way(loads, n).loads
        with monkeypatch.context() as patched:
            patched.delattr(dimension_exchange, "read_loads")
            for out in (None, np.empty_like(loads), loads):
                balance = lb.dem(loads, lb.Hypercube(n), record="loads", out=out)
                assert np.array_equal(balance.loads, expected)


@pytest.mark.parametrize("shift", [-65, -64, -63, -1, 0, 1, 63, 64, 65])
@pytest.mark.parametrize("dtype", [*INTEGERS, *REALS])
@pytest.mark.parametrize("n", [3, 6])
def test_overlapping_results_are_right(n: int, dtype: str, shift: int) -> None:
    N = 2**n
    for shape in ((N,), (1, N), (2,) * n):
        room = drawn((5 * 64,), dtype)
        loads = room[128 : 128 + N].reshape(shape)
        out = room[128 + shift : 128 + shift + N].reshape(shape)
        expected = the_whole_way(loads.copy(), n).loads
        assert lb.dem(loads, lb.Hypercube(n), record="loads", out=out).loads is out
        assert np.array_equal(out, expected)


@pytest.mark.parametrize("n", [3, 6, 10])
@pytest.mark.parametrize("where", [0, -1])
@pytest.mark.parametrize(
    ("dtype", "value"),
    [("int32", -1), ("int64", -(2**63)), *((T, v) for T in REALS for v in (-1, np.nan, np.inf))],
)
def test_nothing_is_written_when_a_load_is_refused(
    dtype: str, value: float, where: int, n: int
) -> None:
    for shape in ((2**n,), (3, 2**n), (3, *(2,) * n)):
        loads = drawn(shape, dtype)
        loads.flat[where] = value
        given, out = loads.copy(), np.full_like(loads, 7)
        for result in (None, out, given):
            with pytest.raises(ValueError, match="finite and not negative, got") as caught:
                lb.dem(given, lb.Hypercube(n), record="loads", out=result)
            with pytest.raises(ValueError, match="finite") as expected:
                the_whole_way(given, n)
            assert str(caught.value) == str(expected.value)
        assert (out == 7).all()
        assert np.array_equal(given, loads, equal_nan=loads.dtype.kind == "f")


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("n", [3, 6, 10])
def test_real_loads_about_the_largest_total(n: int, dtype: str) -> None:
    """The short way is for loads whose total is finite whatever they are; larger ones may be."""
    largest = np.finfo(dtype).max
    mean = largest / np.dtype(dtype).type(2**n)
    above = np.nextafter(mean, largest, dtype=dtype)
    for loads in (np.full(2**n, mean), np.r_[np.zeros(2**n - 1, dtype), above]):
        found = lb.dem(loads, lb.Hypercube(n), record="loads").loads
        assert np.array_equal(found, the_whole_way(loads, n).loads)
        assert np.isfinite(found).all()
    too_many = np.full(2**n, above)
    if dtype == "float64":
        with pytest.raises(OverflowError, match="loads must have a total that fits float64"):
            lb.dem(too_many, lb.Hypercube(n), record="loads", out=too_many)
    else:
        lb.dem(too_many, lb.Hypercube(n), record="loads", out=too_many)
    assert (too_many == above).all()


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
@pytest.mark.parametrize("n", [3, 6, 10])
def test_a_matrix_is_balanced_as_the_array_that_it_is(n: int, dtype: str) -> None:
    """Its rows are flattened for the kernels, which a matrix itself never is."""
    loads = drawn((5, 2**n), dtype)
    expected = the_whole_way(loads, n).loads
    room = np.full((7, 2**n), 7, dtype)
    room[1:6] = loads
    inside = np.asmatrix(room[1:6])
    assert lb.dem(inside, lb.Hypercube(n), record="loads", out=inside).loads is inside
    assert np.array_equal(room[1:6], expected)
    assert (room[[0, 6]] == 7).all()


def test_results_that_do_not_fit_are_refused() -> None:
    cube, loads = lb.Hypercube(6), drawn((2, 64), "int32")
    read_only = np.empty_like(loads)
    read_only.flags.writeable = False
    for out, kind, rule in (
        (np.empty((1, 64), "int32"), ValueError, "loads' shape"),
        (np.empty((2, 65), "int32"), ValueError, "loads' shape"),
        (np.empty((64, 2), "int32"), ValueError, "loads' shape"),
        (np.empty(128, "int32"), ValueError, "loads' shape"),
        (np.empty((2, 64), "uint32"), ValueError, "dtype int32"),
        (np.empty((2, 64), "float32"), ValueError, "dtype int32"),
        (np.ma.masked_array(loads), TypeError, "got MaskedArray"),
        (loads.tolist(), TypeError, "got list"),
        (read_only, ValueError, "read-only"),
    ):
        with pytest.raises(kind, match=rule):
            lb.dem(loads, cube, record="loads", out=out)


def test_views_larger_than_memory_are_refused_for_what_they_are() -> None:
    loads, cube = np.broadcast_to(np.zeros(1, np.int64), (2**50,)), lb.Hypercube(3)
    lb.dem(np.arange(8), cube, record="loads")
    for topology in (cube, lb.Hypercube(3)):
        with pytest.raises(ValueError, match="loads must have shape"):
            lb.dem(loads, topology, record="loads")
    with pytest.raises(TypeError, match="topology must be a Hypercube"):
        lb.dem(loads, lb.Mesh(2, 4), record="loads")  # type: ignore[arg-type]


def test_loads_alone_are_a_balance_like_any_other() -> None:
    loads = drawn((64,), "int64")
    short = lb.dem(loads, lb.Hypercube(6), record="loads")
    whole = the_whole_way(loads, 6)
    assert repr(short) == repr(whole)
    assert dir(short) == dir(whole)
    assert short.to_dict() == whole.to_dict()
    assert list(short.to_dict()) == ["method", "topology", "loads"]
    for made in (short, copy.copy(short), copy.deepcopy(whole), pickle.loads(pickle.dumps(short))):
        assert (made.method, made.topology, made.record) == ("dem", lb.Hypercube(6), "loads")
        assert np.array_equal(made.loads, short.loads)
        for name in ("loads", "method", "moved", "anything"):
            with pytest.raises(AttributeError, match=f"frozen, cannot set {name}"):
                setattr(made, name, 1)
            with pytest.raises(AttributeError, match=f"frozen, cannot delete {name}"):
                delattr(made, name)
        with pytest.raises(AttributeError, match="moved was not recorded"):
            _ = made.moved
