"""Exact moments of figures, and their quantiles from counted values."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastlb.accelerate import kernels
from fastlb.montecarlo.histogram import DISTINCT, Histogram
from fastlb.montecarlo.moments import Column, Moments

LEVELS = (0.0, 0.01, 0.25, 0.5, 0.9, 1.0)
RANDOM = np.random.default_rng(1)
COLUMNS = {
    "integers": RANDOM.integers(-50, 5000, 3000),
    "large integers": RANDOM.integers(-(2**60), 2**60, 3000),
    "floats": RANDOM.normal(1e3, 2, 3000),
    "wide floats": np.exp(RANDOM.normal(0, 50, 3000)) * RANDOM.choice([-1, 1], 3000),
    "ten exponents apart": RANDOM.choice([1.0, 1 + 2**-52, 2047.999, 2048 - 2**-42, -1.5], 3000),
    "eleven exponents apart": RANDOM.choice([1.0, -(2048 + 2**-41), 4095.999], 3000),
    "subnormal": RANDOM.normal(0, 1e-310, 3000),
    "true or false": RANDOM.random(3000) < 0.3,
    "constant": np.full(3000, 0.1),
    "zeros": np.zeros(3000),
    "one value for all": np.broadcast_to(np.int64(-7), 3000),
}


def tallied(parts):
    moments, histogram = Moments(), Histogram()
    for part in parts:
        moments.add(Column.of(part))
        histogram.add(Column.of(part))
    return moments, histogram


def exact(values):
    """Mean and square of the standard error, in rationals."""
    numbers = [Fraction(float(value)) for value in values]
    n, mean = len(numbers), sum(numbers) / len(numbers)
    return mean, sum((x - mean) ** 2 for x in numbers) / (n * (n - 1))


@pytest.mark.parametrize("name", COLUMNS)
def test_moments_are_exact_and_rounded_once(name):
    values = COLUMNS[name]
    moments, _ = tallied(np.array_split(values, 7))
    mean, square = exact(values)
    assert moments.trials == len(values)
    assert moments.mean == float(mean)
    assert moments.standard_error == math.sqrt(float(square))
    assert (moments.minimum, moments.maximum) == (values.min(), values.max())
    assert moments.negative == np.count_nonzero(values < 0)
    assert moments.zero == np.count_nonzero(values == 0)


def test_sums_of_near_and_far_values_are_the_same(monkeypatch):
    for values in COLUMNS.values():
        near, _ = tallied([values])
        with monkeypatch.context() as patch:
            patch.setattr(kernels("statistics.sums"), "NEAR", -1)
            far, _ = tallied([values])
        assert near._sums() == far._sums()
        assert (near.negative, near.zero) == (far.negative, far.zero)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=2))
def test_moments_of_any_floats(values):
    moments, histogram = tallied([np.array(values)])
    mean, square = exact(values)
    assert moments.mean == float(mean)
    try:
        assert moments.standard_error == math.sqrt(float(square))
    except OverflowError:
        assert moments.standard_error == math.inf
    found, error = histogram.quantiles((0.0, 1.0), moments.minimum, moments.maximum)
    assert (found, error) == ([min(values), max(values)], 0.0)


def test_quantiles_over_more_than_the_largest_float():
    values = [1.7976931348623157e308, -1.7976931348623157e308, 0.0]
    moments, histogram = tallied([np.array(values)])
    found, _ = histogram.quantiles((0.0, 0.25, 1.0), moments.minimum, moments.maximum)
    assert found == [values[1], values[1] / 2, values[0]]
    moments, histogram = tallied([np.array(values[:2])])
    assert histogram.quantiles((0.5,), moments.minimum, moments.maximum) == ([0.0], 0.0)


@pytest.mark.parametrize("name", COLUMNS)
def test_few_values_have_the_quantiles_of_numpy(name):
    values = COLUMNS[name]
    moments, histogram = tallied(np.array_split(values, 7))
    found, error = histogram.quantiles(LEVELS, moments.minimum, moments.maximum)
    assert error == 0
    assert found == np.quantile(values.astype(np.float64), LEVELS).tolist()


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(2).normal(1e3, 2, 50_000),
        np.exp(np.random.default_rng(3).normal(0, 5, 50_000)),
        np.random.default_rng(4).integers(-(10**6), 10**6, 50_000),
    ],
    ids=["narrow", "wide", "integers"],
)
def test_many_values_are_counted_in_bins_that_depend_on_them_alone(values):
    drawn = np.random.default_rng(5)
    divided = [
        np.array_split(values, 1),
        np.array_split(values, 13),
        np.array_split(drawn.permutation(values), 5),
    ]
    told = []
    for parts in divided:
        moments, histogram = tallied(parts)
        assert histogram._used <= DISTINCT
        told.append(
            (
                moments.mean,
                moments.standard_error,
                histogram.quantiles(LEVELS, moments.minimum, moments.maximum),
            )
        )
    assert told[0] == told[1] == told[2]
    found, error = told[0][2]
    expected = np.quantile(values, LEVELS)
    assert 0 < np.abs(found - expected).max() <= error
    assert found == sorted(found)


def test_bins_are_as_narrow_as_they_can_be():
    values = np.arange(DISTINCT, dtype=np.float64)
    _, histogram = tallied([values])
    assert histogram.dropped == 0
    # 52 bits after the first, 12 of them for 4096 .. 8191: a 41st bit merges these in pairs.
    histogram.add(Column.of(np.array([0.5])))
    assert histogram.dropped == 41
    assert histogram._used == DISTINCT - 2048 + 1


def test_the_order_of_values_does_not_widen_the_bins():
    # The last value shares its bin with another once a bit is dropped, and no others do.
    values = (np.arange(DISTINCT, dtype=np.int64) << 34).view(np.float64)
    late = ((np.array([5], dtype=np.int64) << 34) + (1 << 33)).view(np.float64)
    told = []
    for parts in ([values, late], [late, values], [values[100:], late, values[:100]]):
        _, histogram = tallied(parts)
        told.append((histogram.dropped, histogram._used))
    assert told == [(34, DISTINCT)] * 3
    _, near = tallied([values, (np.array([5 << 34], dtype=np.int64) + 1).view(np.float64)])
    assert (near.dropped, near._used) == (32, DISTINCT)


@given(st.data())
def test_any_order_counts_alike(data):
    step = data.draw(st.integers(0, 44))
    seed = data.draw(st.integers(0, 2**32))
    drawn = np.random.default_rng(seed)
    bits = drawn.integers(0, 3 * DISTINCT, 2 * DISTINCT) << step
    values = (bits + (1023 << 52)).view(np.float64) * drawn.choice([-1.0, 1.0], 2 * DISTINCT)
    one, other = (tallied(parts) for parts in ([values], [drawn.permutation(values)]))
    assert one[1].dropped == other[1].dropped
    for moments, histogram in (one, other):
        found = histogram.quantiles(LEVELS, moments.minimum, moments.maximum)
        assert found == one[1].quantiles(LEVELS, one[0].minimum, one[0].maximum)


def test_bins_in_a_row_and_in_a_hash_table_count_alike():
    drawn = np.random.default_rng(6)
    near = drawn.normal(1e6, 1e4, 4 * DISTINCT)
    parts = [near[:DISTINCT], near[DISTINCT:], near.min() - np.arange(1, 2000.0)]
    far = [np.array([-1e300, 1e300]), drawn.normal(-3.0, 1e-3, 20), near[:7]]
    row = tallied(parts)
    assert row[1]._keys is None
    table = tallied(parts + far)
    assert table[1]._keys is not None
    keys, counts = np.unique(
        np.concatenate(parts).view(np.int64) >> row[1].dropped, return_counts=True
    )
    assert state(*row)[-1] == list(
        zip((keys << row[1].dropped).tolist(), counts.tolist(), strict=True)
    )
    for order in (parts + far)[::-1], [np.concatenate(parts + far)], [*far, *parts]:
        assert state(*tallied(order)) == state(*table)
    assert state(*tallied(parts[::-1])) == state(*row)


def test_a_histogram_that_knows_what_others_dropped_may_stay_empty():
    none = Histogram(40)
    none.merge(Histogram(41))
    assert none.dropped == 41
    none.merge(pickle.loads(pickle.dumps(Histogram(39))))
    none.add(Column.of(np.array([1.0, 1.0, -2.0])))
    assert none._used == 2


def state(moments, histogram):
    keys, counts = histogram._entries()
    counted = sorted(zip(keys.tolist(), counts.tolist(), strict=True))
    special = None if math.isnan(moments._nonfinite) else moments._nonfinite
    told = moments.trials, moments.negative, moments.zero, moments._sums(), special
    return told, histogram.dropped, histogram._used, counted


@settings(max_examples=settings().max_examples // 2)
@given(st.data())
def test_merged_parts_are_what_all_values_are_in_one(data):
    drawn = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    distinct = data.draw(st.sampled_from([9, DISTINCT, DISTINCT + 1, 3 * DISTINCT]))
    bits = drawn.integers(0, distinct, 2 * DISTINCT) << data.draw(st.integers(0, 45))
    values = (bits + (1023 << 52)).view(np.float64)
    values *= drawn.choice([-1.0, 1.0], len(values))
    whole = tallied([values])
    cuts = data.draw(st.lists(st.integers(0, len(values)), max_size=4).map(sorted))
    moments, histogram = Moments(), Histogram()
    for part in np.split(values, cuts):
        if len(part):
            # As a part is sent that knows what the others have dropped so far.
            further = Histogram(histogram.dropped)
            further.add(Column.of(part))
            histogram.merge(pickle.loads(pickle.dumps(further)))
            moments.merge(pickle.loads(pickle.dumps(tallied([part])[0])))
    assert state(moments, histogram) == state(*whole)


def test_merged_values_without_end():
    moments = Moments()
    for values in ([1.0, math.inf], [math.inf, -2.0], [-math.inf]):
        assert math.isnan(moments.mean) != (moments.trials > 0)
        moments.merge(tallied([np.array(values)])[0])
    assert math.isnan(moments.mean)
    assert (moments.minimum, moments.maximum) == (-math.inf, math.inf)
    assert moments.negative == 2


@pytest.mark.parametrize(
    ("values", "mean"),
    [([1.0, math.inf], math.inf), ([-math.inf, 1.0], -math.inf), ([math.nan, 1.0], math.nan)],
)
def test_values_without_end(values, mean):
    moments, histogram = tallied([np.array(values), np.array([2.0])])
    assert moments.mean == mean or (math.isnan(mean) and math.isnan(moments.mean))
    assert math.isnan(moments.standard_error)
    assert moments.trials == 3
    assert moments.negative == (values[0] == -math.inf)
    assert len(histogram.quantiles(LEVELS, moments.minimum, moments.maximum)[0]) == len(LEVELS)


def test_differences_of_columns_and_constants():
    one, values = np.broadcast_to(np.int64(1), 4), np.array([0, 1, 2, 3])
    for a, b in ((one, values), (values, one), (one, one), (values, values)):
        moments = Moments()
        moments.add(Column.of(a) - Column.of(b))
        assert moments.trials == 4
        assert moments.mean == np.mean(a - b)


def test_nothing_added():
    moments = Moments()
    moments.add(Column.of(np.array([])))
    assert moments.trials == 0
    assert math.isnan(moments.mean)
    assert math.isnan(moments.standard_error)
