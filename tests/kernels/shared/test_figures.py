"""Figures of kernels against those that NumPy works out, to the last bit."""

import numpy as np
import pytest

from fastlb.exchange.figures import figures, figures_of_one
from fastlb.exchange.loads import Survey
from fastlb.kernels.shared import figures as shared
from fastlb.kernels.shared.compiling import kernel

NAMES = (
    *("initial_difference", "difference", "moved", "local"),
    *("initial_imbalance", "imbalance", "cost", "locality"),
)


@kernel
def of_one(total, before, after, moved, local, size):
    return shared.figures_of_one(
        (total, 0 * total, before), (total, 0 * total, after), moved, local, size
    )


@pytest.mark.parametrize("top", [3, 1000, 2**63 - 1])
def test_figures_of_one_network(top):
    rng = np.random.default_rng(top % 1000)
    numbers = rng.integers(0, top, (200, 5), endpoint=True)
    numbers[:20] = 0
    total, before, after, moved, local = numbers.T
    surveys = (Survey(total, 0 * total, largest) for largest in (before, after))
    expected = figures(*surveys, 24, moved, local)
    for b, row in enumerate(numbers.tolist()):
        result = tuple(of_one(*map(np.int64, row), 24))
        if row[0] or not any(row):
            assert result == tuple(expected[name][b] for name in NAMES)
            one = figures_of_one(row[0], (0, row[1]), (0, row[2]), 24, *row[3:])
            assert result == tuple(one[name] for name in NAMES)
