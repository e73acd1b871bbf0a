"""DEM of integers in every kind of lane: exact up to the last load that it holds, at every size."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config, njit

import fastlb as lb
from fastlb.accelerate import kernels
from tests.oracles.dem import averaged

kernel = kernels("dem.integers")
ROOT = Path(__file__).resolve().parents[2]
PLAIN = bool(config.DISABLE_JIT)
# Dtype of the loads, of the lanes, and bits that these hold.
LANES = [
    ("int16", "int16", 14),
    ("int16", "int32", 15),
    ("uint16", "int32", 16),
    ("int32", "int16", 14),
    ("int32", "int32", 31),
    ("int64", "int16", 14),
    ("int64", "int64", 63),
    ("uint64", "uint64", 64),
] + ([("int32", "float32", 23), ("int64", "float64", 52)] if kernel.FUSED else [])


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: Any) -> None:
    """In plain Python every pass is met by small cubes; compiled sizes do not change."""
    if PLAIN:
        monkeypatch.setattr(kernel, "BLOCK_NODES", {2: 2**10, 4: 2**9, 8: 2**8})
        monkeypatch.setattr(kernel, "CHUNK_NODES", 2**11)


def drawn(shape: tuple[int, ...], dtype: str, bits: int) -> Any:
    """Loads over the whole range, and about both ends of it."""
    rng, top = np.random.default_rng(shape[-1]), 2**bits - 1
    loads = rng.integers(0, top, shape, dtype, endpoint=True)
    few = rng.integers(0, 3, shape, dtype, endpoint=True)
    kind = rng.integers(0, 4, (shape[0], shape[-1] // 8 + 1)).repeat(8, axis=-1)[:, : shape[-1]]
    loads = np.where(kind == 1, few, np.where(kind == 2, np.array(top, dtype) - few, loads))
    loads[..., -1] = top
    return loads


def balance(source: Any, target: Any, lanes: str, n: int, largest: int = 0) -> int:
    """Balance by the kernel alone, in lanes of a dtype."""
    source, target = source.reshape(-1), target.reshape(-1)
    same_width = np.dtype(lanes).itemsize == target.itemsize
    like = target.view(lanes) if same_width else np.empty(0, lanes)
    in_block = 1 << n <= kernel.BLOCK_NODES[like.itemsize]
    run = kernel.balance if in_block else kernel.balance_in_bytes
    status: int = run(source, target, like, n, largest)
    return status


def check(loads: Any, lanes: str, n: int) -> None:
    """Compare both ways, into another array and in place."""
    expected, target, inside = averaged(loads, range(n)), np.zeros_like(loads), loads.copy()
    assert balance(loads, target, lanes, n) == 0
    assert np.array_equal(target, expected)
    assert balance(inside, inside, lanes, n) == 0
    assert np.array_equal(inside, expected)


@pytest.mark.parametrize(("dtype", "lanes", "bits"), LANES)
def test_cubes_of_every_size(dtype: str, lanes: str, bits: int, full: bool) -> None:
    largest = 12 if PLAIN else 23 if full else 21
    for n in [*range(16 if not PLAIN else largest), *range(17, largest, 2)]:
        # More cubes than a block holds, no whole number of blocks.
        for batch in {1, 3 if n < 15 else 1, 67 if n < 6 or (n < 12 and not PLAIN) else 1}:
            check(drawn((batch, 2**n), dtype, bits), lanes, n)


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="takes minutes in plain Python")
def test_a_cube_beyond_many_chunks(full: bool) -> None:
    n = 25 if full else 23
    check(drawn((1, 2**n), "int32", 14), "int16", n)


@pytest.mark.parametrize(("dtype", "lanes", "bits"), LANES)
def test_pairs_about_the_ends_of_the_range(dtype: str, lanes: str, bits: int) -> None:
    """One exchange of every two loads near 0, powers of two and the largest, in all places."""
    powers = [2**k for k in range(bits)] + [2**bits - 1]
    values = sorted({v for p in powers for v in range(p - 2, p + 3) if 0 <= v < 2**bits})
    values = values if len(values) % 32 == 0 else values + values[: 32 - len(values) % 32]
    loads = np.array([[a, b] for a in values for b in values], dtype)
    check(loads[::16].copy() if PLAIN else loads, lanes, 1)
    check(loads.reshape(-1, 32)[:: 16 if PLAIN else 1].copy(), lanes, 5)


def test_half_a_difference_by_one_multiplication() -> None:
    """Rounded to 0 as far as small loads differ, and no further."""
    top = kernel.SMALL_TOP
    d = np.arange(-top - 1, top + 1)
    sent = ((d * top >> 14) + 1) >> 1
    assert np.array_equal(sent[1:], np.sign(d[1:]) * (abs(d[1:]) // 2))
    assert sent[0] != d[0] // 2
    # No sum of the multiplication leaves 32 bits.
    assert abs(d).max() * top + 2**14 < 2**31
    # Every difference, of loads both as low and as high as they may be.
    low = np.stack([np.maximum(d[1:], 0), np.maximum(-d[1:], 0)], axis=1)
    pairs = np.concatenate([low, top - low]).astype(np.int16)
    check(pairs[:: 500 if PLAIN else 1].copy(), "int16", 1)


@pytest.mark.parametrize("n", [8, 12])
def test_blocks_whose_bases_are_near_each_other(n: int) -> None:
    """Differences of bases about which of two bytes is the larger, and beyond all that counts."""
    n = n if PLAIN else n + 2
    block = kernel.BLOCK_NODES[8]
    for apart in (0, 1, 2, 5, 8, 13, 63, 64, 65, 66, 127, 128, 129, 2**40):
        loads = np.random.default_rng(apart).integers(2**41, 2**41 + 9, (1, 2**n))
        loads += np.arange(2**n) // block % 3 * apart
        for lanes in ["int64", "float64"] if kernel.FUSED else ["int64"]:
            check(loads, lanes, n)


@pytest.mark.parametrize("n", [6, 13])
def test_nothing_is_written_unless_all_loads_fit(n: int) -> None:
    top = kernel.SMALL_TOP
    for dtype in ("int32", "int64"):
        for beyond in (top + 1, 2**31 - 1, -1):
            loads = drawn((4, 2**n), dtype, 14)
            loads[3, -1] = beyond
            target = np.full_like(loads, 7)
            status = balance(loads, target, "int16", n, top)
            assert status == np.bitwise_or.reduce(loads, axis=None)
            assert (target == 7).all()
            assert balance(loads[:0], target[:0], "int16", n, top) == 0
    room = drawn((5, 2**n), "int64", 14)
    expected = room.copy()
    assert balance(room[:3], room[1:4], "int16", n, top) == kernel.OVERLAP
    assert np.array_equal(room, expected)


EDGES = [2**14, 2**15, 2**16, 2**23, 2**31, 2**32, 2**52, 2**62, 2**63, 2**64]


@pytest.mark.skipif(PLAIN, reason="slow in plain Python, which the kernel's own tests go through")
@pytest.mark.parametrize("n", [3, 6, 11, 13, 17])
def test_public_calls_about_the_edges_of_the_lanes(n: int) -> None:
    """The largest load at, below and above each edge; all loads about it, or one, or a batch."""
    cube, rng = lb.Hypercube(n), np.random.default_rng(n)
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        tops = {top for edge in EDGES for top in (edge - 1, edge, edge + 1)}
        most = int(np.iinfo(name).max)
        for top in sorted({min(top, most) for top in tops}):
            loads = rng.integers(0, top, (66 if n < 8 else 3, 2**n), name, endpoint=True)
            loads[1, :-1] %= 9
            loads[2] = np.array(top, name) - loads[2] % 3
            loads[:, -1] = top
            expected = averaged(loads, range(n))
            for given, right in ((loads, expected), (loads[1], expected[1])):
                assert np.array_equal(lb.dem(given, cube, record="loads").loads, right)
                own = given.copy()
                assert lb.dem(own, cube, record="loads", out=own).loads is own
                assert np.array_equal(own, right)


@pytest.mark.skipif(PLAIN, reason="plain Python has no instructions")
def test_small_loads_are_multiplied_in_whole_registers() -> None:
    from fastlb.kernels.shared.processor import REGISTER_BYTES, features

    if REGISTER_BYTES == 16:
        pytest.skip("registers have one name, whatever their lanes")
    # Code from the cache cannot be looked at.
    compiled, loads = njit(kernel.balance.py_func), drawn((1, 2**9), "int16", 14)[0]
    compiled(loads, loads, loads, 9, 0)
    code = "".join(compiled.inspect_asm().values())
    register = "zmm" if "+avx512bw" in features() else "ymm"
    assert len(re.findall(rf"\tvpmulhrsw\t.*%{register}", code)) >= 8 * 5
    assert not re.search(r"vpmulld|vpmaddwd", code)


WITHOUT = """
from fastlb.accelerate import kernels
from tests.oracles.dem import averaged
from tests.oracles.dem import averaged
from tests.exchange.test_dem_integers import LANES, check, drawn

assert not kernels("dem.integers").FUSED
for dtype, lanes, bits in (("int16", "int16", 14), ("int64", "int64", 63)):
    for n in (5, 9, 12):
        check(drawn((3, 2**n), dtype, bits), lanes, n)
"""


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_a_machine_without_a_fused_multiply_add(tmp_path: Any, full: bool) -> None:
    """It exchanges integers instead of calling the C library for every lane."""
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
