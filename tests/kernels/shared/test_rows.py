"""Rows of bundles, medians over them, and the rule of lines equal what NumPy does."""

import numpy as np
import pytest
from numba import njit

from fastlb.kernels.shared.lines import noise_level
from fastlb.kernels.shared.medians import (
    LONGEST_SORTED,
    median_comparators,
    middle,
    rows_needed,
)
from fastlb.kernels.shared.rows import Rows, lines_to_rows, rows_to_lines, sum_and_extremes
from fastlb.kernels.shared.tracing import traced, while_loop
from fastlb.kernels.shared.vectors import any_lane, lanes
from fastlb.kernels.shared.views import CACHE_LINE, aligned

DTYPES = np.int32, np.int64, np.float64


@traced("wide")
def _middle(array, k, comparators, out, wide):
    size = lanes(array.dtype) if wide else 1
    results = middle(
        Rows(array, 0, size, size), k, comparators, 0, comparators.shape[0], wide
    )  # fmt: skip
    for i, row in enumerate(results):
        Rows(out, 0, size, size)[i] = row


@njit
def middle_of_registers(array, k, comparators, out):
    _middle(array, k, comparators, out, True)


@njit
def middle_of_numbers(array, k, comparators, out):
    _middle(array, k, comparators, out, False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("wide", [True, False])
def test_the_middle_of_rows(dtype, wide):
    chance = np.random.default_rng(3)
    size = lanes(dtype) if wide else 1
    run = middle_of_registers if wide else middle_of_numbers
    for k in (1, 2, 3, 4, 7, 8, 15, 16, 17, 30, 31, LONGEST_SORTED, 65, 200):
        pairs = median_comparators(k) if k <= LONGEST_SORTED else []
        comparators = np.array(pairs, np.int64).reshape(-1, 2)
        for spread in (1, 20, 2**30):
            values = chance.integers(-spread, spread, (k, size), endpoint=True).astype(dtype)
            if dtype == np.float64:
                values /= 7
            array, out = np.zeros(int(rows_needed(k)) * size, dtype), np.zeros(2 * size, dtype)
            array[: values.size] = values.reshape(-1)
            run(array, k, comparators, out)
            expected = np.sort(values, axis=0)[[(k - 1) // 2, k // 2]]
            assert np.array_equal(out.reshape(2, size), expected), k


@traced()
def _turn(source, rows, target, first, step, last, count):
    bundle = Rows(rows, 0, lanes(rows.dtype), lanes(rows.dtype))
    lines_to_rows(source, first, step, last, count, bundle)
    rows_to_lines(bundle, count, [(target, first, None), (target, first, last > 99)], step, last)


@njit
def turn(source, rows, target, first, step, last, count):
    _turn(source, rows, target, first, step, last, count)


@pytest.mark.parametrize("inside", DTYPES)
@pytest.mark.parametrize("outside", DTYPES)
def test_lines_become_rows_and_lines_again(inside, outside):
    size = lanes(inside)
    source = np.random.default_rng(4).integers(0, 200, 2000).astype(outside)
    for count in (1, size - 1, size, 2 * size + 3):
        for last in (0, size - 2, size - 1):
            rows, target = np.zeros(count * size, inside), np.zeros(2000, outside)
            turn(source, rows, target, 5, count + 2, last, count)
            starts = 5 + (count + 2) * np.minimum(np.arange(size), last)
            places = starts + np.arange(count)[:, None]
            assert np.array_equal(rows.reshape(count, size), source[places])
            expected = np.zeros_like(target)
            expected[places] = source[places]
            assert np.array_equal(target, expected)


@traced()
def _summarise(array, step, count, out):
    size = lanes(array.dtype)
    rows = Rows(array, 1, step, size)
    for i, row in enumerate(sum_and_extremes(rows, rows, count)):
        out.store(i * size, row)


@traced()
def _halve(array):
    """Halve the register until no lane is above 2."""

    def halve(values):
        return [values >> 1]

    (values,) = while_loop(lambda values: any_lane(values > 2), halve, array.load(0))
    array.store(0, values)


@njit
def summarise_and_halve(array, step, count, out, halved):
    _summarise(array, step, count, out)
    _halve(halved)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_sums_and_loops(dtype):
    size = lanes(dtype)
    array = np.random.default_rng(5).integers(-99, 99, 500).astype(dtype)
    out, halved = np.zeros(3 * size, dtype), np.full(size, 3, dtype)
    halved[-1] = 40
    summarise_and_halve(array, size + 2, 6, out, halved)
    rows = array[1 + (size + 2) * np.arange(6)[:, None] + np.arange(size)]
    expected = np.concatenate([rows.sum(axis=0, dtype=dtype), rows.min(axis=0), rows.max(axis=0)])
    assert np.array_equal(out, expected)
    assert set(halved[:-1].tolist()) == {0}
    assert halved[-1] == 2


@njit
def fill_aligned(array, number):
    view = aligned(array)
    view[:] = number
    return view.size


@traced()
def _noise_level(loads, out):
    out[0] = noise_level(Rows(loads, 0, 1, 1), loads.shape[0])


@njit
def measure_noise(loads, out):
    _noise_level(loads, out)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_aligned_views(dtype):
    less = CACHE_LINE // np.dtype(dtype).itemsize
    for offset in range(less):
        array = np.zeros(100 + less, dtype)[offset:]
        assert fill_aligned(array, 1) == array.size - less
        assert array.sum() == array.size - less


def test_the_noise_level_of_lines():
    for loads, expected in ((np.array([1.0, 1e16, -1e16, 3.0]), 4 * 4 * 2.0**-52),):
        out = np.ones(1)
        measure_noise(loads, out)
        assert out[0] == expected
