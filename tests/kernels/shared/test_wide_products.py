"""Wide products and the cipher on registers, against whole numbers and NumPy's own Philox."""

import numpy as np
import pytest
from numba import njit, types

from fastlb.kernels.shared import philox
from fastlb.kernels.shared.tracing import traced
from fastlb.kernels.shared.wide_products import wide_product

EDGES = [
    near + off
    for near in (0, 2**12, 2**32, 2**40, 2**52, 2**63, 2**64 - 2**52, 2**64 - 2**12, 2**64)
    for off in (-1, 0, 1)
    if 0 <= near + off < 2**64
]
SIZES = [2, 4, 8, 16]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("factor", [philox.MULTIPLIER_0, philox.MULTIPLIER_1])
def test_products_of_registers_are_exact(size, factor):
    @traced()
    def multiply(words, others, out):
        for i in range(0, 64, size):
            a, b = words.load(i, size), others.load(i, size)
            for part, product in enumerate((*wide_product(a, b), *wide_product(a, factor))):
                out.store(64 * part + i, product)

    @njit
    def compiled(words, others, out):
        multiply(words, others, out)

    # Words whose product ends just below and just above where a carry begins.
    inverse = pow(factor, -1, 2**64)
    numbers = EDGES + [edge * inverse % 2**64 for edge in EDGES]
    random = np.random.default_rng(5).integers(0, 2**64, 640, dtype=np.uint64).tolist()
    numbers = np.array((numbers + random)[:640], np.uint64)
    for words in numbers.reshape(-1, 64):
        others, out = words[::-1].copy(), np.empty(256, np.uint64)
        compiled(words, others, out)
        high, low, high_by_factor, low_by_factor = out.reshape(4, 64).tolist()
        for i in range(64):
            assert (high[i] << 64) + low[i] == int(words[i]) * int(others[i])
            assert (high_by_factor[i] << 64) + low_by_factor[i] == int(words[i]) * factor


def test_products_of_numbers_are_exact():
    @traced(returns=types.UniTuple(types.uint64, 2))
    def multiply(a, b):
        return wide_product(a, b)

    @njit
    def compiled(a, b):
        return multiply(a, b)

    numbers = EDGES + np.random.default_rng(1).integers(0, 2**64, 20, dtype=np.uint64).tolist()
    for a in numbers:
        for b in numbers:
            high, low = compiled(np.uint64(a), np.uint64(b))
            assert (int(high) << 64) + int(low) == a * b


def stream(numbers, trials, seed):
    """Return NumPy's blocks of four words of these counters."""
    blocks = []
    for number, trial in zip(numbers.tolist(), trials.tolist(), strict=True):
        # NumPy counts up before it draws.
        before = (number + (trial << 64) - 1) % 2**256
        parts = np.array([before >> 64 * k & (2**64 - 1) for k in range(4)], dtype=np.uint64)
        blocks.append(np.random.Philox(key=seed, counter=parts).random_raw(4))
    return np.array(blocks)


@pytest.mark.parametrize("count", [1, 31, 32, 33, 64])
def test_blocks_are_numpys(count):
    @njit
    def draw(keys, numbers, trials, count, words):
        philox.draw_blocks(keys, numbers, trials, count, words)

    numbers = np.array((EDGES * 3)[:64], np.uint64)
    trials, words = numbers[::-1].copy(), np.empty(4 * 64, np.uint64)
    draw(philox.round_keys(2**128 - 1), numbers, trials, count, words)
    expected = stream(numbers, trials, 2**128 - 1)
    assert np.array_equal(words.reshape(-1, 4)[:count], expected[:count])


@pytest.mark.parametrize("width", [1, 3, 5])
def test_blocks_side_by_side_are_numpys(width):
    @njit
    def draw(keys, number, trials, words):
        philox.draw_side_by_side(keys, number, trials, words)

    # No multiple of the group: the last one overlaps the one before it.
    W = philox.GROUP + philox.LANES * (width - 1)
    trials = np.array((EDGES * 10)[:W], np.uint64)
    for number in np.array([1, 2**52, 2**64 - 1], np.uint64):
        words = np.empty(4 * W, np.uint64)
        draw(philox.round_keys(2**100 + 3), number, trials, words)
        expected = stream(np.full(W, number), trials, 2**100 + 3)
        assert np.array_equal(words.reshape(4, W).T, expected)
