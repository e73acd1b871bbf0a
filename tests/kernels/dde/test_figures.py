"""Figures of DDE by its kernel, against plain Python and NumPy."""

import numpy as np
import pytest

from fastlb.accelerate import kernels

INT64_MAX = 2**63 - 1


# One network, whole registers of networks, and networks beyond them; rows may have more columns.
@pytest.mark.parametrize("B, columns", [(1, 1), (16, 16), (37, 48)])
@pytest.mark.parametrize("S", [0, 1, 3])
@pytest.mark.parametrize("top", [9, 2**61])
def test_figures_of_networks(S, B, columns, top):
    N, steps, information = 24, 18, 9
    rows = np.random.default_rng(B + S).integers(0, top, (6 + 2 * S, columns), endpoint=True)
    rows[6 + S :] %= 100
    # Totals of 0 come with loads of 0 alone.
    rows[3] += 1
    rows[:, 3::7] = 0
    if S > 1:
        # The units of an axis, or of all axes together, are beyond int64.
        rows[7, 5::11] = -1
        rows[6:8, 6::11] = INT64_MAX
    whole, real = np.full((8, B), -7), np.full((4, B), np.nan)
    kernels("dde.figures").figures(rows, N, steps, information, whole, real)

    local, least, most, total, least_before, most_before = rows[:6, :B]
    units, rounds = rows[6 : 6 + S, :B], rows[6 + S :, :B].sum(axis=0)
    fits = [min(u, default=0) >= 0 and sum(u) <= INT64_MAX for u in units.T.tolist()]
    moved = np.where(fits, units.sum(axis=0), -1)
    ones = np.ones(B, np.int64)
    assert np.array_equal(
        whole,
        [
            most_before - least_before, most - least, moved, local,
            ones, steps * ones, rounds, rounds + information,
        ],
    )  # fmt: skip

    empty = total == 0
    divisor = np.where(empty, 1, total)
    before, after = (
        np.where(empty, 0, largest / (divisor / N) - 1) for largest in (most_before, most)
    )
    assert np.array_equal(real[0], before)
    assert np.array_equal(real[1], after)
    assert np.array_equal(real[2, fits], (moved / divisor)[fits])
    assert np.array_equal(real[3], np.where(empty, 1, local / divisor))
