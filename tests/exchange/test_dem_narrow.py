"""DEM in 16-bit lanes: which loads are taken, and that every size gives what plain DEM gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import config, njit

import fastlb as lb
from fastlb.accelerate import kernels

narrow = kernels("dem_narrow")
PLAIN = bool(config.DISABLE_JIT)


def averaged(loads: Any, n: int) -> Any:
    """Balance cubes (B, 2**n) by whole-array arithmetic that no load overflows."""
    load = loads.copy()
    for bit in range(n):
        pairs = load.reshape(-1, 2, 1 << bit)
        lower = pairs.min(axis=1)
        half = (pairs.max(axis=1) - lower) >> 1
        first_is_higher = pairs[:, 0] > pairs[:, 1]
        sent = np.where(first_is_higher, half, -half)
        pairs[:, 0] -= sent
        pairs[:, 1] += sent
    return load


def drawn(shape: tuple[int, ...], dtype: str, top: int = narrow.TOP) -> Any:
    rng = np.random.default_rng(shape[-1])
    return rng.integers(0, top, shape, dtype, endpoint=True)


def in_one_go(loads: Any, n: int) -> Any:
    """Balance by the kernel alone, into another array and in place."""
    target, inside = np.zeros_like(loads), loads.copy()
    for source, result in ((loads, target), (inside, inside)):
        found = narrow.dem_narrow(source.reshape(-1), result.reshape(-1), n)
        assert found == np.bitwise_or.reduce(loads, axis=None)
    assert np.array_equal(target, inside)
    return target


@pytest.mark.skipif(PLAIN, reason="the sizes below are for plain Python")
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
@pytest.mark.parametrize("n", [*range(5, 21), 22])
def test_cubes_of_every_size(n: int, dtype: str) -> None:
    loads = drawn((3 if n < 19 else 1, 2**n), dtype)
    assert np.array_equal(in_one_go(loads, n), averaged(loads, n))


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("n", [5, 9, 13, 14, 15, 17])
def test_no_cubes_at_all(n: int, dtype: str) -> None:
    loads = np.empty((0, 2**n), dtype)
    for out in (None, loads):
        assert lb.dem(loads, lb.Hypercube(n), record="loads", out=out).loads.shape == (0, 2**n)


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="takes minutes in plain Python")
def test_a_cube_of_three_passes(full: bool) -> None:
    n = 25 if full else 23
    loads = drawn((1, 2**n), "int32")
    assert np.array_equal(in_one_go(loads, n), averaged(loads, n))


@pytest.mark.skipif(not PLAIN, reason="compiled sizes do not change")
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
@pytest.mark.parametrize("n", range(9, 17))
def test_every_pass_at_small_sizes(n: int, dtype: str, monkeypatch: Any) -> None:
    """Blocks of 2**9, chunks of 2**11, and beyond them up to four bits in a pass."""
    sizes = {"BLOCK_BITS": 9, "CHUNK_BITS": 11, "TILE_BITS": 10, "GATHERED_BITS": 4}
    for name, bits in sizes.items():
        monkeypatch.setattr(narrow, name, bits)
    loads = drawn((2 if n < 14 else 1, 2**n), dtype)
    assert np.array_equal(in_one_go(loads, n), averaged(loads, n))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("beyond", [narrow.TOP + 1, 2**31 - 1, -1])
def test_nothing_is_written_unless_all_loads_fit(dtype: str, beyond: int) -> None:
    loads = drawn((4, 2**10), dtype)
    loads[3, -1] = beyond
    target = np.full_like(loads, 7)
    found = narrow.dem_narrow(loads.reshape(-1), target.reshape(-1), 10)
    assert not 0 <= found <= narrow.TOP
    assert (target == 7).all()
    assert narrow.dem_narrow(loads[:0].reshape(-1), target[:0].reshape(-1), 10) == 0


LIMITS = [2**15 - 1, 2**15, 2**16 - 1, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62]


@pytest.mark.skipif(PLAIN, reason="the kernel for larger loads is slow in plain Python")
@pytest.mark.parametrize("top", LIMITS)
@pytest.mark.parametrize("n", [3, 5, 6, 9, 13, 18, 19])
def test_loads_at_the_edge_of_the_lanes(n: int, top: int) -> None:
    """All loads about the limit, one in the last block alone, and a batch of both."""
    about = top - drawn((2**n,), "int64", min(top, 3))
    alone = drawn((2**n,), "int64", 2000)
    alone[-1] = top
    small = drawn((2**n,), "int64", 9)
    batch = np.stack([small, about, alone, small])
    wanted = averaged(batch, n)
    cube = lb.Hypercube(n)
    for name in ("int16", "uint16", "int32", "uint32", "int64", "uint64"):
        if top > np.iinfo(name).max:
            continue
        for loads, result in ((batch, wanted), *zip(batch, wanted, strict=True)):
            given = loads.astype(name)
            assert np.array_equal(lb.dem(given, cube, record="loads").loads, result)
            assert np.array_equal(lb.dem(given, cube, record="loads", out=given).loads, result)
            assert given.dtype == name


@pytest.mark.skipif(PLAIN, reason="this is plain Python already")
@pytest.mark.parametrize("wide", [np.int16, np.int32, np.int64])
def test_vectors_mean_what_their_twins_say(wide: Any) -> None:
    low, across = narrow._low, narrow._across

    @njit
    def balance(source: Any, target: Any) -> None:
        low(source, 3, target, 5, 5)
        low(source, 3, target, 45, 6)
        low(source, 3, target, 120, 7)
        low(source, 3, target, 260, 8)

    @njit
    def between(source: Any, target: Any) -> None:
        across(source, 1, 33, target, 2, 35, 1)
        across(source, 1, 33, target, 102, 35, 2)
        across(source, 1, 33, target, 302, 35, 3)
        across(source, 1, 33, target, 602, 35, 4)

    source = drawn((600,), np.dtype(wide).name)
    for function, target_type in ((balance, np.int16), (balance, wide), (between, wide)):
        given = source if function is balance else source.astype(np.int16)
        found, expected = np.zeros((2, 1200), target_type)
        function(given, found)
        function.py_func(given, expected)
        assert found.any()
        assert np.array_equal(found, expected)
