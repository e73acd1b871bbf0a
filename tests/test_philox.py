"""The kernels' random numbers against NumPy's own Philox."""

import warnings

import numpy as np
import pytest

from fastlb.accelerate import kernels

SEEDS = [0, 1, 1995, 2**64 - 1, 2**64, 0x1234567890ABCDEF1234567890ABCDEF, 2**128 - 1]
STARTS = [0, 1, 2**32, 2**63 - 4]
SIZES = [1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 300]


def numpy_words(seed, start, trials, size):
    streams = [np.random.Philox(key=seed, counter=[0, start + t, 0, 0]) for t in range(trials)]
    return np.stack([stream.random_raw(size) for stream in streams])


@pytest.fixture(scope="module")
def philox():
    return kernels("philox")


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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("span", [1, 2, 2001, 2**32 - 1, 2**32])
def test_small_ranges_take_a_32_bit_number_a_node(philox, size, span):
    out = np.empty((2, size), np.int64)
    philox.uniform_32(philox.round_keys(7), 5, np.uint64(span), out)
    numbers = numpy_words(7, 5, 2, size).view(np.uint32)[:, :size]
    assert out.tolist() == [[number * span >> 32 for number in row] for row in numbers.tolist()]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("span", [1, 2001, 2**32 + 1, 2**63 - 1])
def test_large_ranges_take_a_word_a_node(philox, size, span):
    out = np.empty((2, size), np.int64)
    philox.uniform_64(philox.round_keys(7), 5, np.uint64(span), out)
    words = numpy_words(7, 5, 2, size)
    assert out.tolist() == [[word * span >> 64 for word in row] for row in words.tolist()]


def test_rows_do_not_depend_on_where_they_begin(philox):
    keys = philox.round_keys(3)
    whole, part = np.empty((9, 21), np.int64), np.empty((4, 21), np.int64)
    philox.uniform_32(keys, 0, np.uint64(1000), whole)
    philox.uniform_32(keys, 5, np.uint64(1000), part)
    assert np.array_equal(whole[5:], part)


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
