"""Sorting of words against NumPy's stable sort of their upper halves."""

import numpy as np
import pytest

from fastlb.kernels.shared.sorting import COUNTERS, sort_words
from tests.kernels.shared.test_vectors import variants

# Compiled once for all sizes.
RUNS = variants(sort_words, 3)


@pytest.mark.parametrize("n", [1, 2, 3, 255, 256, 257, 1000])
@pytest.mark.parametrize("bits", [1, 8, 9, 17, 31])
def test_words_are_sorted_by_their_upper_halves(n, bits):
    draws = np.random.default_rng(n + bits)
    upper = draws.integers(0, 2**bits, n) << draws.integers(0, 32 - bits)
    words = upper << 32 | draws.integers(0, 2**32, n)
    expected = words[np.argsort(upper, kind="stable")]
    for run in RUNS:
        own, spare, digits = words.copy(), np.empty(n, np.int64), np.empty(COUNTERS, np.int64)
        result = spare if run(own, spare, digits) else own
        np.testing.assert_array_equal(result, expected)
