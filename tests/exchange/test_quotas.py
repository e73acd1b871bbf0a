"""Quotas by weight: against Fractions, the least time by trying everything, and at the limits."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import dde, weighted

DRAWS = 400


def drawn(number: int) -> tuple[int, list[int]]:
    """A total and weights: few and small, or many and wide, some of them 0."""
    rng = np.random.default_rng([5, number])
    n, top = int(rng.integers(1, 9)), int(rng.choice([2, 5, 100, 10**9, 10**17]))
    weights = rng.integers(0, top, n, endpoint=True).tolist()
    weights[int(rng.integers(n))] += not any(weights)
    return int(rng.integers(0, rng.choice([5, 100, 10**6, 2**62]))), weights


@pytest.mark.parametrize("rule", ["share", "time"])
def test_quotas_are_those_of_fractions(rule: str) -> None:
    twin = weighted.quotas if rule == "share" else weighted.quotas_by_time
    for number in range(DRAWS):
        total, weights = drawn(number)
        quotas = lb.quotas(total, weights, rule=rule)
        assert quotas.dtype == np.int64
        assert quotas.tolist() == twin(total, weights)


def test_whole_units_are_within_one_of_the_share() -> None:
    for number in range(DRAWS):
        total, weights = drawn(number)
        quotas = lb.quotas(total, weights).tolist()
        assert sum(quotas) == total
        shares = weighted.shares(total, weights)
        assert all(abs(q - x) < 1 for q, x in zip(quotas, shares, strict=True))


def test_equal_weights_give_the_quotas_of_dde() -> None:
    rng = np.random.default_rng(6)
    for _ in range(DRAWS):
        n, total = int(rng.integers(1, 20)), int(rng.integers(0, 1000))
        expected = dde.quotas([total, *[0] * (n - 1)])
        assert lb.quotas(total, [int(rng.integers(1, 9))] * n).tolist() == expected


def test_by_time_the_largest_is_the_least_possible() -> None:
    rng = np.random.default_rng(7)
    better = 0
    for _ in range(DRAWS):
        n, total = int(rng.integers(1, 5)), int(rng.integers(0, 8))
        weights = rng.integers(0, 12, n).tolist()
        weights[0] += not any(weights)

        def time(quotas: list[int], weights: list[int] = weights) -> Fraction:
            return max(Fraction(q, w) for q, w in zip(quotas, weights, strict=True) if w)

        by_time = lb.quotas(total, weights, rule="time").tolist()
        assert time(by_time) == weighted.least_time(total, weights)
        assert sum(by_time) == total
        better += time(lb.quotas(total, weights).tolist()) > time(by_time)
    assert 20 < better < DRAWS


@pytest.mark.parametrize(
    "weights",
    [
        [0.1, 0.2, 0.3],
        np.array([0.1, 0.2, 0.3]),
        np.array([0.1, 0.2, 0.3], np.float32),
        ["0.1", "1/5", "3/10"],
        [Fraction(1, 10), 0.2, Decimal("0.3")],
        [1, 2, 3],
        np.array([10, 20, 30], np.uint8),
        [10**30, 2 * 10**30, 3 * 10**30],
        (0.1, "0.2", Fraction(3, 10)),
    ],
)
def test_weights_are_what_people_mean_by_them(weights: Any) -> None:
    """In float64, 0.1 + 0.2 is not 0.3, and the halves would not be exact."""
    assert lb.quotas(6 * 10**17, weights).tolist() == [10**17, 2 * 10**17, 3 * 10**17]


def test_wide_weights_are_exact() -> None:
    rng = np.random.default_rng(8)
    weights = rng.random(200)
    exact = [Fraction(str(w)) for w in weights.tolist()]
    for total in (199, 10**12, 2**63 - 1):
        assert lb.quotas(total, weights).tolist() == weighted.quotas(total, exact)


def test_batches_and_floats() -> None:
    totals = np.arange(24).reshape(2, 3, 4)
    quotas = lb.quotas(totals, [5, 3, 1])
    assert quotas.shape == (2, 3, 4, 3)
    for index in np.ndindex(totals.shape):
        assert quotas[index].tolist() == weighted.quotas(int(totals[index]), [5, 3, 1])
    assert lb.quotas(np.array([], np.int64), [1, 2]).shape == (0, 2)
    for rule in ("share", "time"):
        parts = lb.quotas(3.5, [3, 0, 4], rule=rule)
        assert (parts.dtype, parts.tolist()) == (np.float64, [1.5, 0.0, 2.0])


@pytest.mark.parametrize(
    ("total", "weights", "kind", "says"),
    [
        (-1, [1], ValueError, "total must be finite and not negative, got -1"),
        (np.nan, [1], ValueError, "total must be finite and not negative, got nan"),
        ("3", [1], TypeError, "total must be integers, float32 or float64"),
        (2**63, [1], OverflowError, "total must fit int64, got 9223372036854775808"),
        (3, [], ValueError, "weights must be one number a node"),
        (3, 5, ValueError, "weights must be one number a node"),
        (3, [[1, 2]], ValueError, "weights must be one number a node"),
        (3, [0, 0], ValueError, "weights must not all be 0"),
        (3, [1, -2], ValueError, "weights must not be negative, got -2 at node 1"),
        (3, [1, -0.5], ValueError, "weights must not be negative, got -0.5 at node 1"),
        (3, [1, np.inf], ValueError, "weights at node 1 must be a finite number"),
        (3, np.array([1, np.nan]), ValueError, "weights must be finite, got nan at node 1"),
        (3, [1, "fast"], ValueError, "weights at node 1 must be a finite number"),
        (3, [1, None], TypeError, "weights at node 1 must be a number"),
        (3, np.array([True]), TypeError, "weights must be integers, floats, Fractions or strings"),
        (3, np.array([1j]), TypeError, "weights must be integers, floats, Fractions or strings"),
        (3, np.ma.masked_array([1, 2]), TypeError, "weights must not be a masked array"),
    ],
)
def test_what_is_no_total_or_weight(total: Any, weights: Any, kind: Any, says: str) -> None:
    with pytest.raises(kind) as error:
        lb.quotas(total, weights)
    assert str(error.value).startswith(says)
    assert "\n" not in str(error.value)


def test_what_is_no_rule() -> None:
    with pytest.raises(ValueError, match="rule must be one of share, time, got 'speed'"):
        lb.quotas(3, [1], rule="speed")
