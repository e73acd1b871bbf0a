"""DEM of loads beyond 15 bits: exact in every kind of lane, up to the last load that it holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config, njit

import fastlb as lb
from fastlb.accelerate import kernels

wide = kernels("dem.wide")
ROOT = Path(__file__).resolve().parents[2]
PLAIN = bool(config.DISABLE_JIT)
# Dtype of the loads, of the lanes, and bits that these hold.
LANES = [
    ("int32", "float32", 23),
    ("int32", "int32", 31),
    ("int64", "float64", 52),
    ("int64", "int64", 63),
    ("uint64", "uint64", 64),
]


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: Any) -> None:
    """In plain Python every pass is met by small cubes; compiled sizes do not change."""
    for name, size in {"LARGEST_IN_ROWS": 2**9, "BLOCK": 2**10, "CHUNK": 2**11}.items():
        if PLAIN:
            monkeypatch.setattr(wide, name, size)


def averaged(loads: Any, n: int) -> Any:
    """Balance cubes (B, 2**n) by whole-array arithmetic that no load overflows."""
    load = loads.copy()
    one = load.dtype.type(1)
    for bit in range(n):
        pairs = load.reshape(-1, 2, 1 << bit)
        a, b = pairs[:, 0], pairs[:, 1]
        first_sends = a > b
        high, low = np.maximum(a, b), np.minimum(a, b)
        half = (high - low) >> one
        high -= half
        low += half
        pairs[:, 0] = np.where(first_sends, high, low)
        pairs[:, 1] = np.where(first_sends, low, high)
    return load


def drawn(shape: tuple[int, ...], dtype: str, bits: int) -> Any:
    """Loads over the whole range, and about both ends of it."""
    rng, top = np.random.default_rng(shape[-1]), 2**bits - 1
    loads = rng.integers(0, top, shape, dtype, endpoint=True)
    few = rng.integers(0, 3, shape, dtype, endpoint=True)
    kind = rng.integers(0, 4, (*shape[:-1], 8)).repeat(shape[-1] // 8, axis=-1)
    loads = np.where(kind == 1, few, np.where(kind == 2, np.array(top, dtype) - few, loads))
    loads[..., -1] = top
    return loads


def in_one_go(loads: Any, lanes: str, n: int) -> Any:
    """Balance by the kernel alone, into another array and in place."""
    target, inside = np.zeros_like(loads), loads.copy()
    for source, result in ((loads, target), (inside, inside)):
        given, found = source.reshape(-1), result.reshape(-1)
        wide.dem_wide(given, found, found.view(lanes), n)
    assert np.array_equal(target, inside)
    return target


@pytest.mark.parametrize(("dtype", "lanes", "bits"), LANES)
@pytest.mark.parametrize("n", range(5, 14) if PLAIN else [*range(5, 16), 17, 19, 20, 21])
def test_cubes_of_every_size(n: int, dtype: str, lanes: str, bits: int) -> None:
    batch = 1 if n > 15 or (PLAIN and n > 11) else 3
    loads = drawn((batch, 2**n), dtype, bits)
    assert np.array_equal(in_one_go(loads, lanes, n), averaged(loads, n))
    if n < 12:
        # More cubes than a block holds, not a whole number of blocks.
        loads = drawn((1 if PLAIN else 67, 2**n), dtype, bits)
        assert np.array_equal(in_one_go(loads, lanes, n), averaged(loads, n))


@pytest.mark.parametrize(("dtype", "lanes", "bits"), LANES[::2])
def test_pairs_about_the_ends_of_the_range(dtype: str, lanes: str, bits: int) -> None:
    """One exchange of every two loads near 0, powers of two and the largest, in all 32 places."""
    powers = [2**k for k in range(bits)] + [2**bits - 1]
    values = sorted({v for p in powers for v in range(p - 2, p + 3) if 0 <= v < 2**bits})
    values = values if len(values) % 32 == 0 else values + values[: 32 - len(values) % 32]
    loads = np.array([[a, b] for a in values for b in values], dtype).reshape(-1, 32)
    loads = loads[::16] if PLAIN else loads
    assert np.array_equal(in_one_go(loads, lanes, 5), averaged(loads, 5))


@pytest.mark.parametrize("n", [5, 8, 12])
def test_groups_whose_bases_are_near_each_other(n: int) -> None:
    """Differences of bases about which of two bytes is the larger, and beyond all that counts."""
    for apart in (0, 1, 2, 5, 8, 13, 63, 64, 65, 66, 127, 128, 129, 2**40):
        loads = np.random.default_rng(apart).integers(2**41, 2**41 + 9, 2**n)
        loads += np.arange(2**n) // 128 % 3 * apart
        for lanes in ("int64", "float64"):
            assert np.array_equal(in_one_go(loads, lanes, n), averaged(loads, n))


EDGES = [2**15, 2**23, 2**31, 2**52, 2**62, 2**63]


@pytest.mark.skipif(PLAIN, reason="slow in plain Python, which the kernel's own tests go through")
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("n", [3, 5, 7, 8, 11, 12, 19, 20])
def test_public_calls_about_the_edges_of_the_lanes(n: int, edge: int) -> None:
    """The largest load one less than a power of two, the power, and one more."""
    cube = lb.Hypercube(n)
    rng = np.random.default_rng(n)
    for top in (edge - 1, edge, edge + 1):
        for name in ("int32", "uint32", "int64", "uint64"):
            if top > np.iinfo(name).max:
                continue
            loads = rng.integers(0, top, (2, 2**n), name, endpoint=True)
            loads[1, :-1] %= 9
            loads[:, -1] = top
            wanted = averaged(loads, n)
            assert np.array_equal(lb.dem(loads, cube, record="loads").loads, wanted)
            given = loads.reshape(2, *cube.shape)
            assert lb.dem(given, cube, record="loads", out=given).loads is given
            assert np.array_equal(loads, wanted)


@pytest.mark.skipif(PLAIN, reason="this is plain Python already")
@pytest.mark.parametrize(("dtype", "lane", "bits"), LANES)
def test_vectors_mean_what_their_twins_say(dtype: str, lane: str, bits: int) -> None:
    low, group, rows, across = wide._low, wide._group, wide._rows, wide._across
    unpacked = wide._unpacked

    @njit
    def within(source: Any, target: Any, lanes: Any) -> None:
        low(source, 3, target, 5, lanes, 5)
        low(source, 3, target, 45, lanes, 6)
        low(source, 3, lanes, 120, lanes, 7)

    @njit
    def between(source: Any, target: Any, lanes: Any) -> None:
        for row in range(0, 30 * 128, 128):
            low(source, row, lanes, row, lanes, 7)
        rows(lanes, 1, target, 1)
        rows(lanes, 256 + 3, target, 2)
        rows(lanes, 768 + 5, target, 3)
        rows(lanes, 1792 + 7, target, 4)

    @njit
    def in_bytes(source: Any, target: Any, octets: Any, links: Any) -> None:
        for row in range(0, 14 * 128, 128):
            target[row] = group(source, row + 1, octets, row + 3, target)
        across(octets, 3, 128, links, (0, 0, 0), 1)
        across(octets, 3 + 256, 128, links, (1, 3, 0), 2)
        across(octets, 3 + 768, 128, links, (4, 8, 10), 3)
        unpacked(octets, 3, target, 1, target.dtype.type(2**20))

    source = drawn((4096,), dtype, bits)
    for function in (within, between):
        found, expected = np.zeros((2, 4096), dtype)
        function(source, found, found.view(lane))
        function.py_func(source, expected, expected.view(lane))
        assert found.any()
        assert np.array_equal(found, expected)
    links = np.array([0, 1, -1, 5, -64, 65, 64, -65, 2, -3, 7, 0], np.int8)
    results = []
    for function in (in_bytes, in_bytes.py_func):
        target, octets = np.zeros(4096, dtype), np.zeros(4096, np.uint8)
        function(source, target.view(lane) if lane == dtype else target, octets, links)
        results.append((target, octets))
    for found, expected in zip(*results, strict=True):
        assert found.any()
        assert np.array_equal(found, expected)


WITHOUT = """
import numpy as np
from fastlb.accelerate import kernels
from tests.exchange.test_dem_wide import averaged, drawn, in_one_go

for dtype, lanes, bits in (("int32", "float32", 23), ("int64", "float64", 52)):
    for n in (5, 9, 12):
        loads = drawn((3, 2**n), dtype, bits)
        assert np.array_equal(in_one_go(loads, lanes, n), averaged(loads, n))
assembly = "".join(kernels("dem.wide").dem_wide.inspect_asm().values())
assert "fma" not in assembly and "vfnmadd" not in assembly
"""


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_a_machine_without_a_fused_multiply_add(tmp_path: Any, full: bool) -> None:
    """It exchanges the bits of floats instead of calling the C library for every lane."""
    machine = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    if not full:
        # Half the time: what an instruction becomes that a machine lacks is the same.
        machine["NUMBA_OPT"] = "0"
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        env={**os.environ, **machine, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
