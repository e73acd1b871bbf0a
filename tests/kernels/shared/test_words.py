"""Words of 64 truth values, and tables of subset sums, against NumPy."""

import numpy as np
import pytest
from numba import config, njit

from fastlb.kernels.shared.sums import tabulate_subset_sums
from fastlb.kernels.shared.words import at_most, lowest_bit
from tests.kernels.shared.test_vectors import variants


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_a_word_has_a_bit_for_each_lane(dtype):
    chance = np.random.default_rng(1)
    compiled = njit(lambda sums, most: at_most(sums, 1, most))
    calls = [compiled] if config.DISABLE_JIT else [compiled, lambda a, b: at_most.plain(a, 1, b)]
    for _ in range(20):
        values = chance.integers(-100, 100, (2, 64)).astype(dtype)
        most = dtype(chance.integers(-120, 120))
        expected = sum(1 << i for i in range(64) if values[1, i] <= most)
        assert [int(call(values, most)) for call in calls] == [expected] * len(calls)


def test_the_lowest_bit_of_a_word():
    expected = {1: 0, 1 << 63: 63, 0b1011000: 3, 2**64 - 1: 0, 3 << 40: 40}
    for lowest in variants(lowest_bit, 1):
        assert {word: lowest(np.uint64(word)) for word in expected} == expected


@pytest.mark.parametrize("n", [0, 1, 2, 5, 6])
def test_subset_sums_of_halves(n):
    rows = np.random.default_rng(n).integers(-9, 10, (2, 3, n))
    tables = np.empty((2, 3, 2 ** (n - n // 2)), dtype=np.int64)
    fill = njit(lambda rows, p, tables: tabulate_subset_sums(rows, p, tables))
    for p in range(2):
        fill(rows, p, tables)
        for x in range(2**n):
            bits = [x >> n - 1 - j & 1 for j in range(n)]
            upper, lower = divmod(x, 2 ** (n // 2))
            assert (tables[0, :, upper] + tables[1, :, lower] == rows[p] @ bits).all()
