"""DEM's kernel for real loads, which go up a tree of means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import config

import fastlb as lb
from fastlb.accelerate import kernels
from tests.oracles.dem import averaged

kernel = kernels("dem.real")
PLAIN = bool(config.DISABLE_JIT)
SMALL = [4, 5, 6, 7, 8]
SIZES = [*SMALL, 9, 10, 11] if PLAIN else [*SMALL, 9, 10, 11, 12, 13, 16, 18, 20, 22]
DTYPES = ["float32", "float64"]


@pytest.fixture(autouse=True)
def small_sizes(monkeypatch: Any) -> None:
    """In plain Python every pass is met by small cubes; compiled sizes do not change."""
    if PLAIN:
        monkeypatch.setattr(kernel, "BLOCK_BITS", 9)


def drawn(shape: tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(shape[-1])
    return (rng.random(shape) * 10.0 ** rng.integers(-8, 9, shape)).astype(dtype)


def run(source: Any, target: Any, n: int) -> int:
    """Balance by the kernel alone, loads of which a total is finite for sure."""
    largest = float(np.finfo(source.dtype).max) / 2.0**n
    status: int = kernel.balance(source.reshape(-1), target.reshape(-1), n, largest)
    return status


def same(a: Any, b: Any) -> bool:
    """Tell whether floats are the same to the last bit, the sign of 0 included."""
    return bool(np.array_equal(a.view(np.uint8), b.view(np.uint8)))


def extreme(n: int, dtype: str) -> Any:
    """Draw loads as small and as large as may be, zeros of both signs among them."""
    rng = np.random.default_rng(n)
    info = np.finfo(dtype)
    largest = info.max / info.dtype.type(2**n)
    kinds = np.array([0.0, -0.0, info.smallest_subnormal, info.tiny, 1.0, largest], dtype)
    rows = np.stack(
        [
            rng.choice(kinds, 2**n),
            rng.choice(kinds[:2], 2**n),
            np.full(2**n, -0.0, dtype),
            rng.integers(0, 50, 2**n).astype(dtype) * info.smallest_subnormal,
            rng.random(2**n).astype(dtype) * info.tiny,
            np.full(2**n, largest),
        ]
    )
    return rows.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_every_size(n: int, dtype: str) -> None:
    """To the last bit, into another array and in place."""
    loads = drawn((3 if n < 16 else 1, 2**n), dtype)
    wanted = averaged(loads, range(n))
    target = np.zeros_like(loads)
    assert run(loads, target, n) == 0
    assert same(target, wanted)
    assert run(loads, loads, n) == 0
    assert same(loads, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES[:11])
def test_loads_of_every_size(n: int, dtype: str) -> None:
    loads = extreme(n, dtype)
    wanted = averaged(loads, range(n))
    target = np.zeros_like(loads)
    assert run(loads, target, n) == 0
    assert same(target, wanted)
    for row, one in zip(loads, wanted, strict=True):
        assert run(row, row, n) == 0
        assert same(row, one)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES[:11])
def test_illegal_loads_are_seen_wherever_they_are(n: int, dtype: str) -> None:
    info = np.finfo(dtype)
    over = np.nextafter(info.max / info.dtype.type(2**n), info.dtype.type(np.inf))
    below = -info.smallest_subnormal
    loads = drawn((3, 2**n), dtype)
    loads[0] = -0.0
    target = np.full_like(loads, 7)
    for number, illegal in enumerate((below, -1.0, over, np.inf, -np.inf, np.nan, -np.nan) * 5):
        place = (number % 3, number * 331 % 2**n)
        kept, loads[place] = loads[place], illegal
        assert run(loads, target, n) == 1, (illegal, place)
        loads[place] = kept
    assert (target == 7).all()
    assert run(loads, target, n) == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("B", [0, 1, 15, 16, 17, 35, 48])
@pytest.mark.parametrize("n", SMALL)
def test_small_cubes_side_by_side_and_those_left_over(n: int, B: int, dtype: str) -> None:
    loads = np.resize(np.vstack([drawn((4, 2**n), dtype), extreme(n, dtype)]), (B, 2**n))
    wanted = averaged(loads, range(n))
    target = np.zeros_like(loads)
    assert run(loads, target, n) == 0
    assert same(target, wanted)
    for b in range(B):
        illegal = loads.copy()
        illegal[b, b * 37 % 2**n] = np.nan
        target[:] = 7
        assert run(illegal, target, n) == 1
        assert (target == 7).all()
    assert run(loads, loads, n) == 0
    assert same(loads, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 7, 8, 10])
def test_batches_at_the_public_door(n: int, dtype: str) -> None:
    loads = drawn((5, 2**n), dtype)
    wanted = averaged(loads, range(n))
    assert same(lb.dem(loads, lb.Hypercube(n), record="loads").loads, wanted)
    assert same(lb.dem(loads[::-1], lb.Hypercube(n), record="loads").loads, wanted[::-1].copy())


@pytest.mark.parametrize("dtype", DTYPES)
def test_overlapping_arrays_are_not_written(dtype: str) -> None:
    room = drawn((5, 2**7), dtype)
    expected = room.copy()
    assert run(room[:3], room[1:4], 7) == -1
    assert same(room, expected)
