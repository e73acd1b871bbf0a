"""The kernels' random numbers against NumPy's own Philox."""

import warnings

import numpy as np
import pytest

from fastlb.accelerate import kernels
from fastlb.random_loads.distributions import kernel_law

SEEDS = [0, 1, 1995, 2**64 - 1, 2**64, 0x1234567890ABCDEF1234567890ABCDEF, 2**128 - 1]
STARTS = [0, 1, 2**32, 2**63 - 4]
SIZES = [1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 300]


def numpy_words(seed, start, trials, size):
    streams = [np.random.Philox(key=seed, counter=[0, start + t, 0, 0]) for t in range(trials)]
    return np.stack([stream.random_raw(size) for stream in streams])


@pytest.fixture(scope="module")
def philox():
    return kernels("random.philox")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("start", STARTS)
def test_words_are_numpys(philox, seed, start):
    out = np.empty((3, 9), np.uint64)
    philox.words(philox.round_keys(seed), start, out)
    assert np.array_equal(out, numpy_words(seed, start, 3, 9))


@pytest.mark.parametrize("size", SIZES)
def test_words_of_any_number(philox, size):
    out = np.empty((2, size), np.uint64)
    philox.words(philox.round_keys(7), 5, out)
    assert np.array_equal(out, numpy_words(7, 5, 2, size))


def law(philox, kind, span=0, **others):
    return kernel_law(getattr(philox, kind), span, **others)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("span", [1, 2, 2001, 2**32 - 1, 2**32])
def test_small_ranges_take_a_32_bit_number_a_node(philox, size, span):
    out = np.empty((2, size), np.int64)
    philox.draw_rows(philox.round_keys(7), 5, law(philox, "HALVES", span), out)
    numbers = numpy_words(7, 5, 2, size).view(np.uint32)[:, :size]
    assert out.tolist() == [[number * span >> 32 for number in row] for row in numbers.tolist()]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("span", [1, 2001, 2**32 + 1, 2**63 - 1])
def test_large_ranges_take_a_word_a_node(philox, size, span):
    out = np.empty((2, size), np.int64)
    philox.draw_rows(philox.round_keys(7), 5, law(philox, "SCALED", span), out)
    words = numpy_words(7, 5, 2, size)
    assert out.tolist() == [[word * span >> 64 for word in row] for row in words.tolist()]


def values_law(philox, values, bits):
    """Return the law of given values that lie side by side in so many bits."""
    words = np.full(len(values), -1, np.int64)
    words.view(f"u{bits // 8}")[: len(values)] = values
    return law(philox, "VALUES", len(values), values=words, shift=bits)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_given_values_are_picked_by_a_word_a_node(philox, size, bits):
    out, values = np.empty((3, size), np.int64), [7, 0, 2 ** min(bits, 63) - 1, 5, 5]
    philox.draw_rows(philox.round_keys(7), 5, values_law(philox, values, bits), out)
    words = numpy_words(7, 5, 3, size).tolist()
    assert out.tolist() == [[values[word * 5 >> 64] for word in row] for row in words]


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_tiles_hold_the_given_values_of_the_rows(philox, dtype, bits):
    most = min(np.iinfo(dtype).max, 2 ** min(bits, 63) - 1)
    keys, drawn = philox.round_keys(3), values_law(philox, [7, 0, most, most - 1, 5], bits)
    for nodes in (1, 5, 8):
        rows, tiles = np.empty((96, nodes), np.int64), np.empty((2, nodes, 48), dtype)
        philox.draw_rows(keys, 2**40, drawn, rows)
        philox.draw_tiles(keys, 2**40, drawn, tiles)
        assert np.array_equal(tiles.transpose(0, 2, 1).reshape(rows.shape), rows)


def test_rows_do_not_depend_on_where_they_begin(philox):
    keys = philox.round_keys(3)
    whole, part = np.empty((9, 21), np.int64), np.empty((4, 21), np.int64)
    thousand = law(philox, "HALVES", 1000)
    philox.draw_rows(keys, 0, thousand, whole)
    philox.draw_rows(keys, 5, thousand, part)
    assert np.array_equal(whole[5:], part)


@pytest.mark.parametrize("kind", ["HALVES", "SCALED"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("nodes", [1, 3, 4, 7, 8, 9, 20])
def test_tiles_hold_the_rows(philox, kind, dtype, nodes):
    keys, drawn = philox.round_keys(2**70 + 5), law(philox, kind, 2001)
    for width in (16, 48):
        rows, tiles = np.empty((2 * width, nodes), np.int64), np.empty((2, nodes, width), dtype)
        philox.draw_rows(keys, 2**40, drawn, rows)
        philox.draw_tiles(keys, 2**40, drawn, tiles)
        assert np.array_equal(tiles.transpose(0, 2, 1).reshape(rows.shape), rows)


def test_the_plain_multiplication_is_exact(philox):
    rng = np.random.default_rng(1)
    edges = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1]
    numbers = edges + rng.integers(0, 2**64, 50, dtype=np.uint64).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for a in numbers:
            for b in numbers:
                high, low = philox._multiply(np.uint64(a), np.uint64(b))
                assert (int(high) << 64) + int(low) == a * b
