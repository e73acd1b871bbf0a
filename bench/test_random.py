"""Random loads against NumPy's own Philox."""

import numpy as np
import pytest

import fastlb as lb
from fastlb.accelerate import kernels
from fastlb.random_loads.distributions import round_keys

SEED = 1995


def test_words(race, quick):
    """The same 64-bit words in the same order."""
    philox = kernels("random.loads")
    keys = round_keys(SEED)
    out = np.empty((1, 2**10 if quick else 2**18), np.uint64)

    def fastlb():
        philox.draw_rows(keys, 0, philox.Law(None, None, None), None, out)
        return out

    def numpy():
        return np.random.Philox(key=SEED, counter=[0, 0, 0, 0]).random_raw(out.size)

    race(
        "random 64-bit words, one stream",
        fastlb,
        {"NumPy": numpy},
        nodes=out.size,
        targets={"NumPy": 2},
    )


def test_uniform_loads(race, quick):
    """Uniform loads; NumPy's ``integers`` draws others of the same distribution."""
    ring = lb.Ring(2**10 if quick else 2**18)
    uniform = lb.Uniform(1000)

    def numpy():
        words = np.random.Philox(key=SEED, counter=[0, 0, 0, 0]).random_raw(ring.size // 2)
        numbers = words.view(np.uint32).astype(np.uint64)
        return (numbers * np.uint64(2001) >> np.uint64(32)).astype(np.int64)

    def integers():
        return np.random.Generator(np.random.Philox(key=SEED)).integers(0, 2001, ring.size)

    race(
        "random uniform loads, one large network",
        lambda: lb.sample_loads(uniform, ring, trials=1, seed=SEED),
        {"NumPy": numpy},
        nodes=ring.size,
        yardsticks={"NumPy integers": integers},
        targets={"NumPy": 2, "NumPy integers": 0.5},
    )


@pytest.mark.parametrize("values", [100, 10_000, 1_000_000], ids="{:,} values".format)
def test_resampled_loads(race, quick, values):
    """Loads from one's own data; NumPy's ways draw others of the same distribution."""
    ring = lb.Ring(2**10 if quick else 2**18)
    data = np.random.Generator(np.random.Philox(key=3)).integers(0, 2001, values)
    resampled = lb.Resampled(data)
    random = np.random.Generator(np.random.Philox(key=SEED))

    def numpy():
        # The high words of words times values, in halves.
        words = np.random.Philox(key=SEED, counter=[0, 0, 0, 0]).random_raw(ring.size)
        low = (words & np.uint64(2**32 - 1)) * np.uint64(values) >> np.uint64(32)
        return data.take((words >> np.uint64(32)) * np.uint64(values) + low >> np.uint64(32))

    race(
        f"random loads from {values:,} given ones, one large network",
        lambda: lb.sample_loads(resampled, ring, trials=1, seed=SEED),
        {"NumPy": numpy},
        nodes=ring.size,
        yardsticks={
            "NumPy choice": lambda: random.choice(data, ring.size),
            "NumPy integers": lambda: data.take(random.integers(0, values, ring.size)),
        },
        targets={"NumPy": 2, "NumPy choice": 0.5, "NumPy integers": 0.5},
    )
