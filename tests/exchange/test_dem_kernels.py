"""DEM's general kernels: small cubes, figures, tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import config

from fastlb.accelerate import kernels
from fastlb.kernels.shared.vectors import lanes
from tests.oracles.dem import averaged

small, measured, tiles = kernels("dem.small"), kernels("dem.measured"), kernels("dem.tiles")
PLAIN = bool(config.DISABLE_JIT)
DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64"]


def drawn(shape: tuple[int, ...], dtype: str, top: int | None = None) -> Any:
    rng = np.random.default_rng(shape[-1])
    if np.dtype(dtype).kind == "f":
        return (rng.random(shape) * 10.0 ** rng.integers(-8, 9, shape)).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max if top is None else top, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_cubes(dtype: str) -> None:
    """To the last bit, into another array and in place, whether they fill registers or not."""
    largest = float(np.finfo(dtype).max) if dtype.startswith("f") else 0.0
    for n in range(8 if PLAIN else 13):
        for batch in (1, 3, 16, 37) if n < 7 else (1, 3):
            loads = drawn((batch, 2**n), dtype)
            expected, target = averaged(loads, range(n)), np.zeros_like(loads)
            assert small.balance(loads.reshape(-1), target.reshape(-1), n, largest) == 0
            assert np.array_equal(target, expected)
            assert small.balance(loads.reshape(-1), loads.reshape(-1), n, largest) == 0
            assert np.array_equal(loads, expected)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_nothing_is_written_where_a_load_is_not_legal(dtype: str) -> None:
    for n in (1, 5, 7):
        for where in (0, 2**n // 2, 2**n - 1):
            for illegal in (-1, np.nan, np.inf) if dtype.startswith("f") else (-1,):
                loads, target = drawn((2**n,), dtype, 99), np.full(2**n, 7, dtype)
                loads[where] = illegal
                assert small.balance(loads, target, n, 1e10) == 1
                assert (target == 7).all()
        room = drawn((2 * 2**n,), dtype, 99)
        expected = room.copy()
        assert small.balance(room[: 2**n], room[1 : 1 + 2**n], n, 1e10) == -1
        assert np.array_equal(room, expected)


def one_by_one(loads: Any, bits: Any, faults: Any) -> tuple[Any, Any, Any]:
    """Balance a network pair by pair; return loads, units that never left, units moved a stage."""
    loads, least = loads.tolist(), loads.tolist()
    moved = []
    faulty = set(map(tuple, faults.tolist()))
    for bit in bits.tolist():
        moved.append(0)
        for u in range(len(loads)):
            v = u | 1 << bit
            if u >> bit & 1 or (bit, u) in faulty:
                continue
            a, b = loads[u], loads[v]
            sent = (abs(a - b) // 2) * (1 if a > b else -1)
            loads[u], loads[v] = a - sent, b + sent
            moved[-1] += abs(sent)
            least[u], least[v] = min(least[u], loads[u]), min(least[v], loads[v])
    return loads, least, moved


def some_faults(n: int, bits: Any, count: int) -> Any:
    rng = np.random.default_rng(n)
    links = {(int(b), int(rng.integers(2**n)) & ~(1 << int(b))) for b in bits[:count]}
    return np.array(sorted(links), np.int64).reshape(-1, 2)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64"])
@pytest.mark.parametrize("faulty", [0, 3])
def test_measured_pairs(dtype: str, faulty: int) -> None:
    for n in (0, 1, 2, 4, 6, 7):
        for bits in (np.arange(n), np.random.default_rng(n).permutation(n), np.arange(n)[-1:]):
            faults = some_faults(n, bits, faulty)
            loads = drawn((2, 2**n), dtype, 10**6)
            own, least = loads.copy(), loads.copy()
            moved = np.empty((2, len(bits)), np.int64)
            measured.balance(own, least, bits, faults, moved)
            for b in range(2):
                expected = one_by_one(loads[b], bits, faults)
                got = own[b], least[b], moved[b]
                assert tuple(part.tolist() for part in got) == expected


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_measured_integers_in_registers(dtype: str) -> None:
    first = measured.LEAST_NODES.bit_length() - 1
    for n in range(first, 9 if PLAIN else 15):
        loads = drawn((2, 2**n), dtype, 2000)
        least, other, other_least = loads.copy(), loads.copy(), loads.copy()
        moved, stages = np.empty(2, np.int64), np.empty((2, n), np.int64)
        measured.balance(other, other_least, np.arange(n), np.empty((0, 2), np.int64), stages)
        measured.balance_integers(loads, least, n, moved)
        assert np.array_equal(loads, other)
        assert np.array_equal(least, other_least)
        assert np.array_equal(moved, stages.sum(axis=1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_units_of_real_loads_are_added_up_in_order(dtype: str) -> None:
    """In a whole cube that of the turning cube; else node by node, and run by run from 16 on."""
    n = 6
    no_faults = np.empty((0, 2), np.int64)
    for bits in (np.arange(n), np.arange(n)[::-1].copy()):
        loads = drawn((1, 2**n), dtype)
        own, moved = loads.copy(), np.empty((1, n))
        measured.balance(own, loads.copy(), bits, no_faults, moved)
        cube = loads[0].copy()
        for s, bit in enumerate(bits.tolist()):
            turned = bits[0] == 0
            order = [u for u in range(2**n) if not u >> bit & 1]
            if turned:
                order = [(p << s | p >> n - s) & 2**n - 1 for p in range(0, 2**n, 2)]
            run = 2**bit if bit >= 4 and not turned else 2**n
            total = 0.0
            for start in range(0, len(order), run):
                part = 0.0
                for u in order[start : start + run]:
                    mean = (cube[u] + cube[u | 1 << bit]) * cube.dtype.type(0.5)
                    part += float(abs(cube[u] - mean))
                    cube[u] = cube[u | 1 << bit] = mean
                total += part
            assert moved[0, s] == total
        assert np.array_equal(own[0], cube)


@pytest.mark.parametrize(
    ("dtype", "summed"), [("int16", "int32"), ("int32", "int32"), ("int64", "int64")]
)
def test_tiles(dtype: str, summed: str) -> None:
    W, B = 64, 64 + 61
    assert W % lanes(dtype) == 0
    for n in (0, 1, 2, 3, 5) if PLAIN else (0, 1, 2, 3, 4, 5, 7):
        for faulty in (0, 2):
            bits = np.random.default_rng(n).permutation(n)
            faults = some_faults(n, bits, faulty)
            loads = drawn((2, 2**n, W), dtype, 2000)
            own, room = loads.copy(), np.empty(2**n * W, dtype)
            totals = np.empty((4, B), np.int64)
            tiles.balance(own, room, np.empty((4, W), summed), bits, faults, totals)
            for b in range(0, B, 7):
                k, w = divmod(b, W)
                final, least, moved = one_by_one(loads[k, :, w], bits, faults)
                assert own[k, :, w].tolist() == final
                assert totals[:, b].tolist() == [sum(moved), sum(least), min(final), max(final)]
