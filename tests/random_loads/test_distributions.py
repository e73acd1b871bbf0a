"""Distributions of loads: drawn as documented, with the probabilities they claim."""

import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import fastlb as lb
from fastlb.random_loads import tables
from fastlb.random_loads.parse import by_name
from tests.random_loads.regenerated import numpy_loads

TABULATED = [
    lb.Exponential(1000),
    lb.Exponential(0.5),
    lb.Exponential(0),
    lb.Exponential(2**50),
    lb.Poisson(1000),
    lb.Poisson(0.1),
    lb.Poisson(10**8),
    lb.Normal(1000, 300),
    lb.Normal(10**6, 10**5),
    lb.Normal(0, 2.5),
    lb.TwoValued(0, 1000, 0.1),
    lb.TwoValued(3, 2**63 - 1, 1),
    lb.LogNormal(1000, 1),
    lb.LogNormal(10, 0.1),
    lb.Zipf(1.5, 5000),
    lb.Zipf(0, 10),
]
OTHERS = [
    lb.Uniform(1000),
    lb.Uniform(2**40),
    lb.OneHot(640),
    lb.OneHot(2**62, rest=7),
    lb.Resampled([3, 1, 4, 1, 5]),
    lb.Resampled(np.arange(1000) ** 2),
]
LAWS = TABULATED + OTHERS


def spelled(law):
    return law.spec


@pytest.mark.parametrize("law", LAWS, ids=spelled)
def test_a_trial_is_regenerated_with_numpy(law):
    for nodes in (1, 7, 300):
        loads = lb.sample_loads(law, lb.Chain(nodes), trials=2, seed=2**90 + 7, start=2**40)
        expected = [numpy_loads(law, 2**90 + 7, 2**40 + t, nodes) for t in (0, 1)]
        assert np.array_equal(loads, expected)


@pytest.mark.parametrize("law", LAWS, ids=spelled)
def test_tiles_are_rows_with_trials_last(law):
    rows = lb.sample_loads(law, lb.Chain(37), trials=96, seed=5, start=11)
    for dtype in (np.int64, np.int32)[: 2 if law.largest < 2**31 else 1]:
        for width in (16, 48):
            tiles = np.empty((96 // width, 37, width), dtype)
            law.fill_tiles(tiles, seed=5, start=11)
            assert np.array_equal(tiles.transpose(0, 2, 1).reshape(96, 37), rows)


@pytest.mark.parametrize("law", LAWS, ids=spelled)
def test_loads_depend_on_seed_trial_and_node_and_stay_within_bounds(law):
    loads = lb.sample_loads(law, lb.Chain(50), trials=200, seed=1)
    assert loads.min() >= 0
    assert loads.max() <= law.largest
    part = lb.sample_loads(law, lb.Chain(50), trials=9, seed=1, start=63)
    assert np.array_equal(part, loads[63:72])
    if not isinstance(law, lb.OneHot):
        few = lb.sample_loads(law, lb.Chain(21), trials=200, seed=1)
        assert np.array_equal(few, loads[:, :21])


@pytest.mark.parametrize("law", LAWS, ids=spelled)
def test_spelling_and_pickle_give_the_same_law(law):
    again = pickle.loads(pickle.dumps(law))
    assert again == law
    assert hash(again) == hash(law)
    assert lb.sample_loads(again, "ring:5", trials=3, seed=1).tolist() == (
        lb.sample_loads(law, "ring:5", trials=3, seed=1).tolist()
    )
    if not (isinstance(law, lb.Resampled) and len(law.values) > 32):
        assert lb.parse_distribution(law.spec) == law


# The distribution function P(load < k) by scipy, in double precision.
FUNCTIONS = {
    lb.Exponential(1000): lambda k: -np.expm1(k * np.log(1000 / 1001)),
    lb.Exponential(0.5): lambda k: 1 - 3.0**-k,
    lb.Poisson(1000): lambda k: stats.poisson.cdf(k - 1, 1000),
    lb.Poisson(0.1): lambda k: stats.poisson.cdf(k - 1, 0.1),
    lb.Normal(1000, 300): lambda k: stats.norm.cdf((k - 0.5 - 1000) / 300),
    lb.Normal(10**6, 10**5): lambda k: stats.norm.cdf((k - 0.5 - 1e6) / 1e5),
    lb.Normal(0, 2.5): lambda k: stats.norm.cdf((k - 0.5) / 2.5),
    lb.LogNormal(1000, 1): lambda k: stats.norm.cdf(np.log(k - 0.5) - np.log(1000) + 0.5),
    lb.LogNormal(10, 0.1): lambda k: stats.norm.cdf((np.log(k - 0.5) - np.log(10) + 0.005) / 0.1),
    lb.Zipf(1.5, 5000): lambda k: stats.zipfian.cdf(k - 1, 1.5, 5000),
}


@pytest.mark.parametrize("law", FUNCTIONS, ids=spelled)
def test_thresholds_are_those_of_scipy(law):
    table = law.table
    claimed = table.thresholds / 2.0**64
    assert np.abs(claimed - FUNCTIONS[law](table.first[1:])).max() < 2e-14
    # What is left out at either end is less likely than 2**-64, up to scipy's own rounding.
    if table.least > 0:
        assert FUNCTIONS[law](np.array([table.least]))[0] < 2e-14
    assert 1 - FUNCTIONS[law](np.array([table.largest + 1]))[0] < 2e-14


@pytest.mark.parametrize("law", TABULATED, ids=spelled)
def test_tables_are_in_order(law):
    table = law.table
    assert np.all(table.thresholds[1:] >= table.thresholds[:-1])
    assert len(table.first) == len(table.mask) == len(table.thresholds) + 1
    if not isinstance(law, lb.TwoValued):
        assert np.array_equal(
            table.first[:-1] + table.mask[:-1].astype(np.int64) + 1, table.first[1:]
        )
    assert np.all(table.mask & (table.mask + np.uint64(1)) == 0)
    for word in (0, 1, 2**52 - 1, 2**52, 2**63, 2**64 - 1):
        beginning = word >> table.shift
        count = np.searchsorted(table.thresholds, np.uint64(word), side="right")
        assert table.guide[beginning] <= count <= table.guide[beginning + 1]


def test_exponential_thresholds_are_exactly_rounded():
    for mean in (1, 3, 0.25, 1000):
        ratio = Fraction(mean) / (1 + Fraction(mean))
        table = lb.Exponential(mean).table
        for k in range(1, min(len(table.first), 400)):
            exact = (1 - ratio ** int(table.first[k])) * 2**64
            assert int(table.thresholds[k - 1]) == int(exact + Fraction(1, 2))


def test_poisson_thresholds_are_exactly_rounded():
    with localcontext() as context:
        context.prec = 60
        table, term, below = lb.Poisson(7).table, Decimal(-7).exp(), Decimal(0)
        assert table.least == 0
        for k, threshold in enumerate(table.thresholds.tolist()):
            below += term
            term *= Decimal(7) / (k + 1)
            assert threshold == int(below * 2**64 + Decimal("0.5"))


def test_normal_thresholds_are_exactly_rounded():
    # Phi(-3) .. Phi(3) to 30 digits (Abramowitz and Stegun give 15 of them).
    known = {
        -3: "0.001349898031630094526651814767594",
        -2: "0.022750131948179207200282637166533",
        -1: "0.158655253931457051414767454367962",
        1: "0.841344746068542948585232545632037",
        2: "0.977249868051820792799717362833467",
        3: "0.998650101968369905473348185232405",
    }
    with localcontext() as context:
        context.prec = 40
        for x, digits in known.items():
            found = Decimal(tables._standard_normal(Decimal(x))) / tables.ONE
            assert abs(found - Decimal(digits)) < Decimal("1e-27")


SAMPLED = [law for law in LAWS if law.largest < 2**62 and not isinstance(law, lb.OneHot)]


def moments(law):
    """Return mean and standard deviation from the probabilities that a law claims."""
    if isinstance(law, lb.Uniform):
        return law.mean, ((2 * law.mean + 1) ** 2 - 1) ** 0.5 / 12**0.5
    if isinstance(law, lb.Resampled):
        return law.values.mean(), law.values.std()
    table = law.table
    ends = [0, *table.thresholds.tolist(), 2**64]
    mean = square = Fraction(0)
    cells = zip(ends, ends[1:], table.first.tolist(), table.mask.tolist(), strict=False)
    for low, high, first, mask in cells:
        share = Fraction(high - low, 2**64)
        middle = first + Fraction(mask, 2)
        mean += share * middle
        square += share * (middle**2 + Fraction((mask + 1) ** 2 - 1, 12))
    return float(mean), float(square - mean**2) ** 0.5


@pytest.mark.parametrize("law", SAMPLED, ids=spelled)
def test_moments_of_the_sample(law):
    loads = lb.sample_loads(law, lb.Chain(500), trials=200, seed=2026).astype(float)
    mean, deviation = moments(law)
    assert abs(loads.mean() - mean) <= 4 * deviation / loads.size**0.5
    if isinstance(law, lb.Exponential | lb.Poisson | lb.Normal | lb.Uniform):
        assert abs(loads.std() - deviation) <= 0.03 * deviation


@pytest.mark.parametrize(
    ("law", "mean", "deviation"),
    [
        (lb.Exponential(1000), 1000, (1000 * 1001) ** 0.5),
        (lb.Exponential(2**40), 2**40, 2**40),
        (lb.Poisson(1000), 1000, 1000**0.5),
        (lb.Poisson(10**8), 10**8, 10**4),
        (lb.Normal(10**6, 10**5), 10**6, 10**5),
        (lb.LogNormal(1000, 0.5), 1000, 1000 * np.expm1(0.25) ** 0.5),
        (lb.Zipf(3, 1000), stats.zipfian.mean(3, 1000), stats.zipfian.std(3, 1000)),
        (lb.TwoValued(10, 20, 0.25), 12.5, 75**0.5 / 2),
    ],
    ids=str,
)
def test_moments_are_those_of_the_textbook(law, mean, deviation):
    found = moments(law)
    assert found[0] == pytest.approx(mean, rel=2e-6)
    assert found[1] == pytest.approx(deviation, rel=2e-5)


@pytest.mark.parametrize("law", SAMPLED, ids=spelled)
def test_chi_square(law):
    """Loads of twenty equally likely groups, as far as the values can be parted."""
    loads = lb.sample_loads(law, lb.Chain(500), trials=200, seed=7).ravel()
    if isinstance(law, lb.Resampled):
        values, counts = np.unique(law.values, return_counts=True)
        ends, weights = values[::50] if len(values) > 20 else values, counts / counts.sum()
        share = np.add.reduceat(weights, np.searchsorted(values, ends))
    elif isinstance(law, lb.Uniform):
        ends = np.arange(20) * (2 * law.mean + 1) // 20
        share = np.diff([*ends.tolist(), 2 * law.mean + 1]) / (2 * law.mean + 1)
    else:
        starts = np.array([0.0, *(law.table.thresholds / 2.0**64)])
        chosen = np.unique(np.searchsorted(starts, np.arange(20) / 20))
        chosen = chosen[chosen < len(starts)]
        ends, share = law.table.first[chosen], np.diff([*starts[chosen], 1.0])
    group = np.searchsorted(ends, loads, side="right") - 1
    counts = np.bincount(group, minlength=len(ends))
    expected = share * loads.size
    counts, expected = counts[expected > 5], expected[expected > 5]
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert statistic <= stats.chi2.isf(1e-4, max(len(counts) - 1, 1))


@pytest.mark.parametrize("law", [lb.Exponential(1000), lb.Uniform(1000)], ids=spelled)
def test_seeds_trials_and_nodes_are_independent(law):
    chain = lb.Chain(100)
    first = lb.sample_loads(law, chain, trials=1000, seed=1).astype(float)
    pairs = {
        "seeds": (first, lb.sample_loads(law, chain, trials=1000, seed=2)),
        "high seeds": (first, lb.sample_loads(law, chain, trials=1000, seed=1 + 2**64)),
        "trials": (first[1:], first[:-1]),
        "far trials": (first, lb.sample_loads(law, chain, trials=1000, seed=1, start=2**32)),
        "nodes": (first[:, 1:], first[:, :-1]),
        "fourth nodes": (first[:, 4:], first[:, :-4]),
        "seed and trial": (first[1:], lb.sample_loads(law, chain, trials=999, seed=2)),
    }
    for a, b in pairs.values():
        correlation = np.corrcoef(a.ravel(), b.ravel())[0, 1]
        assert abs(correlation) < 4.5 / a.size**0.5


def test_every_node_is_hot_equally_often():
    loads = lb.sample_loads(lb.OneHot(5, rest=1), lb.Mesh(2, 5), trials=20_000, seed=3)
    assert np.all(loads.sum(axis=(1, 2)) == 14)
    counts = (loads == 5).sum(axis=0)
    assert ((counts - 2000) ** 2 / 2000).sum() <= stats.chi2.isf(1e-4, 9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exponential", "exponential needs mean"),
        ("exponential:-1", "mean must be between 0"),
        ("exponential:nan", "mean must be between 0"),
        ("poisson:0", r"mean must be above 0, to 2\*\*32, got 0$"),
        ("poisson:-1", r"mean must be above 0, to 2\*\*32, got -1$"),
        ("poisson:1e10", r"mean must be above 0, to 2\*\*32, got 10000000000.0$"),
        ("normal:-1,5", r"mean must be between 0 and 2\*\*50, got -1$"),
        ("normal:5,-2", r"deviation must be above 0, to 2\*\*50, got -2$"),
        ("normal:5", "normal needs deviation"),
        ("normal:5,0", "deviation must be above 0"),
        ("log-normal:5,9", "sigma must be above 0, to 4, got 9$"),
        ("log-normal:5,0", "sigma must be above 0, to 4, got 0$"),
        ("log-normal:-3,1", r"mean must be above 0, to 2\*\*50, got -3$"),
        ("log-normal:1e15,4", r"sigma must leave loads below 2\*\*60, got 4"),
        ("log-normal:0,1", "mean must be above 0"),
        ("zipf:1,0", "largest_load must be between 1"),
        ("zipf:1,65537", r"largest_load must be between 1 and 2\*\*16, got 65537"),
        (f"uniform:{2**62}", r"mean must be between 0 and 2\*\*62 - 1, got 4611686018427387904$"),
        (f"uniform:1{'0' * 3000}", r"between 0 and 2\*\*62 - 1, got an integer of 9966 bits$"),
        ("two-valued:5,5", "low must be below high, got 5 and 5"),
        ("two-valued:1,5,2", "share must be between 0 and 1, got 2"),
        ("one-hot:5,6", "rest must be at most load, got 6 and 5"),
        ("one-hot:-5", "load must be between 0"),
        ("resampled:", "needs values such as 3-1-4 or a file"),
        ("resampled:7 values,sha256=12", "needs values such as 3-1-4 or a file"),
        ("expnential:5", "did you mean exponential"),
    ],
)
def test_wrong_spellings(text, message):
    with pytest.raises(ValueError, match=message):
        lb.parse_distribution(text)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([], ValueError, "values must not be empty"),
        ([1.5], TypeError, "values must be whole numbers, got dtype float64"),
        ([3, -1], ValueError, "values must not be negative, got -1"),
        ([2**63], OverflowError, "values must fit int64, got 9223372036854775808"),
        ([2**63, 1], OverflowError, "values must fit int64, got 9223372036854775808"),
        ([2**64], OverflowError, "values must fit int64"),
        (None, ValueError, "resampled needs values or a file"),
    ],
)
def test_wrong_values(values, error, message):
    with pytest.raises(error, match=message):
        lb.Resampled(values)


def test_wrong_kinds_of_parameters():
    with pytest.raises(TypeError, match="mean must be a number, got '3'"):
        lb.Exponential("3")
    with pytest.raises(TypeError, match="largest_load must be an integer"):
        lb.Zipf(1, 2.5)
    with pytest.raises(TypeError, match="low must be an integer"):
        lb.TwoValued(0.5, 2)
    with pytest.raises(FileNotFoundError):
        lb.parse_distribution("resampled:nowhere.npy")


def test_numbers_of_any_kind_are_the_same_law():
    assert lb.Normal(5.0, np.float64(2)) == lb.Normal(5, 2)
    assert lb.Normal(5.0, 2).spec == "normal:5,2"
    assert set(by_name()) == {law.name for law in LAWS}
