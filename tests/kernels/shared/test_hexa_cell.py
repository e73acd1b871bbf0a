"""The rules of pairs and triangles, of registers of every dtype, against plain Python."""

import numpy as np
import pytest

from fastlb.kernels.shared.compiling import kernel
from fastlb.kernels.shared.hexa_cell import balance_triangle, count_triangle, exchange_odd
from fastlb.kernels.shared.tracing import traced

# Largest loads of which three, and 2, add up: without a sign in 16 bits.
TOPS = {"int16": 2**14 - 1, "int32": (2**31 - 3) // 3, "int64": (2**63 - 3) // 3}
LANES = 16


def shared(loads, greedy):
    """Let the loads above the average fill those below, unit by unit or in address order."""
    mean = -(-sum(loads) // 3)
    after = [min(load, mean) for load in loads]
    excess = sum(loads) - sum(after)
    for i in range(3):
        if greedy:
            units = min(excess, mean - after[i])
            after[i] += units
            excess -= units
    while excess:
        taker = min((i for i in range(3) if after[i] < mean), key=lambda i: (after[i], i))
        after[taker] += 1
        excess -= 1
    return after


def random_triangles(dtype, seed):
    """Return 3 rows of loads whose excess is small enough to be dealt out unit by unit."""
    rng = np.random.default_rng(seed)
    base = rng.choice([0, 1, 1000, TOPS[dtype] - 40], LANES)
    return (base + rng.integers(0, 41, (3, LANES))).astype(dtype)


@traced()
def _balance(loads, rules, after, counted):
    rows = [loads.load(i * LANES, LANES) for i in range(3)]
    results = balance_triangle(rows, rules)
    for row, result in enumerate(results):
        after.store(row * LANES, result)
    for row, result in enumerate(count_triangle(rows, rules)[0]):
        counted.store(row * LANES, result)


@kernel
def balance(loads, rules, after, counted):
    _balance(loads, rules, after, counted)


@pytest.mark.parametrize("averaging", [None, 1])
@pytest.mark.parametrize("greedy", [None, 1])
@pytest.mark.parametrize("dtype", TOPS)
def test_triangles_share_their_excess(dtype, averaging, greedy):
    rules = averaging, greedy, None, None, None
    for seed in range(20):
        loads = random_triangles(dtype, seed)
        after, counted = np.empty_like(loads), np.empty_like(loads)
        balance(loads, rules, after, counted)
        assert np.array_equal(after, counted)
        for lane, (a, b, c) in enumerate(loads.T.tolist()):
            if averaging:
                sent = (b - c) // 2 if b > c else -((c - b) // 2)
                b, c = b - sent, c + sent
            assert after[:, lane].tolist() == shared([a, b, c], greedy)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_real_triangles_meet_at_the_mean(dtype):
    loads = np.random.default_rng(1).random((3, LANES)).astype(dtype)
    after, counted = np.empty_like(loads), np.empty_like(loads)
    balance(loads, (None, None, None, None, None), after, counted)
    wide = loads.astype(np.float64)
    mean = ((wide[0] + wide[1] + wide[2]) / 3.0).astype(dtype)
    assert all(np.array_equal(row, mean) for row in (*after, *counted))


@traced()
def _exchange(a, b, above, out):
    limit = None if above is None else above.astype(a.dtype)
    for row, result in enumerate(exchange_odd(a.load(0, LANES), b.load(0, LANES), limit)):
        out.store(row * LANES, result)


@kernel
def exchange(a, b, above, out):
    _exchange(a, b, above, out)


@pytest.mark.parametrize("above", [None, 0, 1])
@pytest.mark.parametrize("dtype", TOPS)
def test_odd_differences(dtype, above):
    rng = np.random.default_rng(2)
    for _ in range(10):
        a, b = rng.choice([0, 1, 2, 3, TOPS[dtype] - 1, TOPS[dtype]], (2, LANES)).astype(dtype)
        out = np.empty((3, LANES), dtype)
        exchange(a, b, None if above is None else np.int64(above), out)
        for lane, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            size = abs(x - y)
            sent = size // 2 + (size % 2 if above is not None and size > above else 0)
            signed = sent if x > y else -sent
            assert out[:, lane].tolist() == [x - signed, y + signed, sent]
