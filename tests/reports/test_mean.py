"""Means with their standard errors, as tables print them."""

import math

import numpy as np
import pytest

from fastlb.reports.mean import Mean, number_text, ratio


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (12.3456, 0.0456, "12.35 ± 0.05"),
        (12.3456, 0.0156, "12.346 ± 0.016"),
        (0.00034, 0.000021, "0.00034 ± 0.00002"),
        (123456.7, 890.0, "123,457 ± 890"),
        (-1.5, 0.0999, "-1.50 ± 0.10"),
        (64.0, 0.0, "64 ± 0"),
        (1 / 3, 0.0, "0.333333 ± 0"),
        (1 / 3, 2e-17, "0.333333 ± 2e-17"),
        (2.5, math.nan, "2.50"),
    ],
)
def test_a_mean_has_the_digits_that_its_error_makes_sure(mean, error, text):
    assert Mean(mean, error).text() == text


def test_no_number_but_0_is_printed_as_0():
    for value in (0.004, -0.0004, 1e-9):
        assert float(number_text(value, 2)) == pytest.approx(value)
    assert number_text(0.0, 2) == "0"
    assert number_text(0.005, 2) == "0.01"


def test_a_ratio_of_paired_means_knows_how_they_vary_together():
    draws = np.random.default_rng(5)
    b = draws.normal(10, 1, 4000)
    a = 2 * b + draws.normal(0, 0.1, 4000)
    found = ratio(Mean.of(a), Mean.of(b), Mean.of(a - b))
    assert found.mean == pytest.approx(2, abs=0.001)
    assert found.standard_error == pytest.approx(0.1 / 10 / 4000**0.5, rel=0.05)
