"""DEM in 16-bit lanes: which loads are taken, and that every size gives what plain DEM gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numba import config, njit
from numba.core.registry import cpu_target

import fastlb as lb
from fastlb.accelerate import kernels

narrow = kernels("dem.narrow")
low, across = narrow._low, narrow._across
PLAIN = bool(config.DISABLE_JIT)
# Loads up to the first are exchanged by one multiplication, those up to the second by means.
TOPS = [narrow.SMALL_TOP, narrow.TOP]


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
@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
@pytest.mark.parametrize("n", [*range(5, 21), 22])
def test_cubes_of_every_size(n: int, dtype: str, top: int) -> None:
    loads = drawn((3 if n < 19 else 1, 2**n), dtype, top)
    assert np.array_equal(in_one_go(loads, n), averaged(loads, n))


@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("n", [5, 9, 13, 14, 15, 17])
def test_no_cubes_at_all(n: int, dtype: str) -> None:
    loads = np.empty((0, 2**n), dtype)
    for out in (None, loads):
        assert lb.dem(loads, lb.Hypercube(n), record="loads", out=out).loads.shape == (0, 2**n)


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="takes minutes in plain Python")
@pytest.mark.parametrize("top", TOPS)
def test_a_cube_of_three_passes(full: bool, top: int) -> None:
    n = 25 if full else 23
    loads = drawn((1, 2**n), "int32", top)
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


LIMITS = [
    2**14 - 1,
    2**14,
    2**15 - 1,
    2**15,
    2**16 - 1,
    2**16,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**62,
]


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


def test_half_a_difference_by_one_multiplication() -> None:
    """Rounded to 0 as far as small loads differ, and no further."""
    top = narrow.SMALL_TOP
    d = np.arange(-top - 1, top + 1)
    sent = ((d * top >> 14) + 1) >> 1
    assert np.array_equal(sent[1:], np.sign(d[1:]) * (abs(d[1:]) // 2))
    assert sent[0] != d[0] // 2
    # No sum of the multiplication leaves 32 bits.
    assert abs(d).max() * top + 2**14 < 2**31


def two_ends(top: int) -> Any:
    """Return two rows of loads with every difference, both as low and as high as they may be."""
    d = np.arange(-top, top + 2) % (2 * top + 1) - top
    low = np.stack([np.maximum(d, 0), np.maximum(-d, 0)])
    return np.concatenate([low, top - low], axis=1).astype(np.int16)


@njit
def exchange(source: Any, target: Any, width: int, small: bool) -> None:
    at = (0, width, 0)
    across(source, at, target, at, width, 1, 1, small)


@pytest.mark.parametrize("top", TOPS)
def test_every_difference(top: int) -> None:
    loads = two_ends(top)
    if PLAIN:
        loads = loads[:, :: max(1, top // 500)][:, :960].copy()
    total, lower = loads.astype(np.int64).sum(axis=0), loads.min(axis=0)
    first = np.where(loads[0] > lower, (total + 1) // 2, total // 2)
    found = np.empty_like(loads)
    for small in (True, False) if top == narrow.SMALL_TOP else (False,):
        exchange(loads.reshape(-1), found.reshape(-1), loads.shape[1], small)
        assert np.array_equal(found, [first, total - first])


@njit
def balance(source: Any, target: Any, small: bool) -> None:
    low(source, 3, target, 5, 32, 5, small)
    low(source, 3, target, 45, 64, 6, small)
    low(source, 3, target, 120, 128, 7, small)
    low(source, 3, target, 260, 512, 8, small)


@njit
def between(source: Any, target: Any, small: bool) -> None:
    across(source, (1, 33, 0), target, (2, 35, 0), 32, 1, 1, small)
    across(source, (1, 66, 7), target, (102, 67, 300), 64, 2, 2, small)
    across(source, (1, 33, 0), target, (702, 35, 0), 32, 1, 3, small)
    across(source, (1, 33, 0), target, (1002, 35, 0), 32, 1, 4, small)


@pytest.mark.skipif(PLAIN, reason="this is plain Python already")
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("wide", [np.int16, np.int32, np.int64])
def test_vectors_mean_what_their_twins_say(wide: Any, small: bool) -> None:
    source = drawn((600,), np.dtype(wide).name, narrow.SMALL_TOP if small else narrow.TOP)
    for function, target_type in ((balance, np.int16), (balance, wide), (between, wide)):
        given = source if function is balance else source.astype(np.int16)
        found, expected = np.zeros((2, 1600), target_type)
        function(given, found, small)
        function.py_func(given, expected, small)
        assert found.any()
        assert np.array_equal(found, expected)


@pytest.mark.skipif(PLAIN, reason="plain Python has no instructions")
def test_small_loads_are_multiplied_in_whole_registers() -> None:
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    found = [f for f in narrow.MULTIPLIED if f in features]
    if not found:
        pytest.skip("this machine has no such multiplication")

    @njit
    def multiply(source: Any, target: Any) -> None:
        low(source, 0, target, 0, source.size, 8, True)

    loads = drawn((2**8,), "int16", narrow.SMALL_TOP)
    multiply(loads, loads.copy())
    code = multiply.inspect_asm(multiply.signatures[0])
    register = "zmm" if found[0] == "+avx512bw" else "ymm"
    assert len(re.findall(rf"\tvpmulhrsw\t.*%{register}", code)) >= 5 * 8 + 12
    assert not re.search(r"vpmulld|vpmaddwd|vpmovsxwd|vpmovdw", code)
