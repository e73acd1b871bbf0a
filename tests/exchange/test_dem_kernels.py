"""DEM's kernels for small cubes, and vectors that mean what their twins say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import config, njit

from fastlb.accelerate import kernels

kernel = kernels("dem.small")
PLAIN = bool(config.DISABLE_JIT)


SMALL = [0, 1, 2, 3, 4]


def averaged(loads: Any, n: int) -> Any:
    load = loads.copy()
    for bit in range(n):
        pairs = load.reshape(-1, 2, 1 << bit)
        a, b = pairs[:, 0].copy(), pairs[:, 1].copy()
        if load.dtype.kind == "f":
            pairs[:, 0] = pairs[:, 1] = (a + b) * load.dtype.type(0.5)
        else:
            half = (np.maximum(a, b) - np.minimum(a, b)) >> load.dtype.type(1)
            pairs[:, 0] = np.where(a > b, a - half, a + half)
            pairs[:, 1] = np.where(a > b, b + half, b - half)
    return load


def drawn(shape: tuple[int, ...], dtype: str, top: int) -> Any:
    rng = np.random.default_rng(shape[-1])
    if np.dtype(dtype).kind == "f":
        return (rng.random(shape) * 10.0 ** rng.integers(-8, 9, shape)).astype(dtype)
    return rng.integers(0, top, shape, dtype, endpoint=True)


def check(name: str, n: int, dtype: str, top: int) -> None:
    """To the last bit, into another array and in place; a batch is no whole number of blocks."""
    loads = drawn((3 if n < 16 else 1, 2**n), dtype, top)
    wanted = averaged(loads, n)
    target = np.zeros_like(loads)
    getattr(kernel, name)(loads.reshape(-1), target.reshape(-1), n)
    assert np.array_equal(target, wanted)
    getattr(kernel, name)(loads.reshape(-1), loads.reshape(-1), n)
    assert np.array_equal(loads, wanted)


@pytest.mark.parametrize(
    ("dtype", "top"),
    [("int32", 2**31 - 1), ("int64", 2**63 - 1), ("uint64", 2**64 - 1), ("float32", 0)],
)
@pytest.mark.parametrize("n", SMALL)
def test_small_cubes(n: int, dtype: str, top: int) -> None:
    check("dem", n, dtype, top)


@pytest.mark.skipif(PLAIN, reason="this is plain Python already")
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64", "float32", "float64"])
def test_vectors_mean_what_their_twins_say(dtype: str) -> None:
    within, across = kernel._within, kernel._across

    @njit
    def balance(source: Any, target: Any) -> None:
        within(source, target, 32, 1)
        within(source, target, 64, 2)
        within(source, target, 128, 3)
        within(source, target, 160, 4)

    @njit
    def between(source: Any, target: Any) -> None:
        target[:] = source
        across(target, 2, 18, 1)
        across(target, 52, 18, 2)
        across(target, 152, 18, 3)

    kind = np.dtype(dtype)
    source = drawn((300,), dtype, 0 if kind.kind == "f" else np.iinfo(kind).max)
    for function in (balance, between):
        found, expected = np.zeros((2, 300), kind)
        function(source, found)
        function.py_func(source, expected)
        assert found.any()
        assert np.array_equal(found, expected)
