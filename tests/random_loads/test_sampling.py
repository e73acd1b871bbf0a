import dataclasses

import numpy as np
import pytest

import fastlb as lb
from fastlb import memory

MESH = lb.Mesh(8, 8)


def test_a_trial_is_regenerated_with_numpy_alone():
    loads = lb.sample_loads(lb.Uniform(mean=1000), MESH, trials=3, seed=1995, start=40)
    for t, trial in enumerate(loads, start=40):
        words = np.random.Philox(key=1995, counter=[0, t, 0, 0]).random_raw(32)
        numbers = words.view(np.uint32).astype(np.uint64)
        expected = (numbers * np.uint64(2001) >> np.uint64(32)).reshape(8, 8)
        assert np.array_equal(trial, expected)


def test_shape_and_dtype():
    loads = lb.sample_loads("uniform:3", "torus:2x3x5", trials=4, seed=0)
    assert loads.shape == (4, 2, 3, 5)
    assert loads.dtype == np.int64
    assert lb.sample_loads("uniform:3", "hypercube:0", trials=2, seed=0).shape == (2,)
    assert lb.sample_loads("uniform:3", "ring:5", trials=0, seed=0).shape == (0, 5)


def test_a_load_depends_on_seed_trial_and_node_alone():
    wide = lb.sample_loads(lb.Uniform(50), lb.Chain(100), trials=20, seed=3)
    narrow = lb.sample_loads(lb.Uniform(50), lb.Chain(37), trials=5, seed=3, start=11)
    assert np.array_equal(narrow, wide[11:16, :37])
    other = lb.sample_loads(lb.Uniform(50), lb.Chain(100), trials=20, seed=4)
    assert (other == wide).mean() < 0.05


@pytest.mark.parametrize("mean", [0, 1, 5, 1000, 2**31 - 1, 2**31, 2**40, 2**62 - 1])
def test_uniform_fills_its_range(mean):
    loads = lb.sample_loads(lb.Uniform(mean), lb.Chain(1000), trials=10, seed=5)
    assert loads.min() >= 0
    assert loads.max() <= 2 * mean
    centred = loads.astype(float) - mean
    deviation = mean * (1 + 1 / max(mean, 1)) ** 0.5 / 3**0.5
    assert abs(centred.mean()) <= 4 * deviation / 100
    assert abs(centred.std() - deviation) <= 0.05 * deviation


def test_uniform_values_are_equally_frequent():
    loads = lb.sample_loads(lb.Uniform(5), lb.Chain(1000), trials=110, seed=11)
    counts = np.bincount(loads.ravel(), minlength=11)
    expected = loads.size / 11
    # Chi-square with 10 degrees of freedom: 29.6 is passed once in a thousand.
    assert ((counts - expected) ** 2 / expected).sum() < 29.6


def test_spellings():
    assert lb.parse_distribution("uniform:1000") == lb.Uniform(mean=1000)
    assert lb.parse_distribution(" Uniform:mean=7 ") == lb.Uniform(7)
    assert lb.parse_distribution(lb.Uniform(3).spec) == lb.Uniform(3)
    assert repr(lb.Uniform(3)) == "Uniform(mean=3)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        lb.Uniform(3).mean = 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unifrom:3", "did you mean uniform"),
        ("uniform", "needs mean"),
        ("uniform:", "needs mean"),
        ("uniform:x", "must be numbers"),
        ("uniform:1,2", "takes mean"),
        ("uniform:median=2", "takes mean"),
        ("uniform:-1", "mean must be between 0"),
        ("uniform:4611686018427387904", "mean must be between 0"),
    ],
)
def test_wrong_spellings(text, message):
    with pytest.raises(ValueError, match=message):
        lb.parse_distribution(text)


@pytest.mark.parametrize("mean", [1.5, "3", None, True])
def test_a_mean_is_an_integer(mean):
    with pytest.raises(TypeError, match="mean must be an integer"):
        lb.Uniform(mean)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"seed": -1}, ValueError, "seed must be between 0 and 2"),
        ({"seed": 2**128}, ValueError, "seed must be between 0 and 2"),
        ({"seed": 1.0}, TypeError, "seed must be an integer"),
        ({"trials": -1}, ValueError, "trials must be between 0 and 2"),
        ({"trials": 10**30}, ValueError, "trials must be between 0 and 2"),
        ({"start": 10**5000}, ValueError, "start must be .* got an integer of 16610 bits"),
        ({"trials": "3"}, TypeError, "trials must be an integer"),
        ({"start": -1}, ValueError, "start must be between 0"),
        ({"start": 2**63 - 1}, ValueError, "start must be between 0"),
    ],
)
def test_bad_numbers(changed, error, message):
    with pytest.raises(error, match=message):
        lb.sample_loads(lb.Uniform(3), MESH, **{"trials": 1, "seed": 0, **changed})


def test_bad_topology_and_distribution():
    with pytest.raises(TypeError, match="topology must be a Topology"):
        lb.sample_loads(lb.Uniform(3), (8, 8), trials=1, seed=0)
    with pytest.raises(TypeError, match="loads must be a distribution"):
        lb.sample_loads(3, MESH, trials=1, seed=0)


def test_too_many_trials_for_the_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    with pytest.raises(MemoryError, match=r"needs about 4\.77 GiB"):
        lb.sample_loads(lb.Uniform(3), MESH, trials=10**7, seed=0)
