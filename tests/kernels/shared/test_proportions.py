"""Parts in proportion to weights, against Python's integers at every width, compiled and not."""

import numpy as np
import pytest
from numba import njit, types

from fastlb.exchange.weighted_run import division_base
from fastlb.kernels.shared.proportions import excess_of_pair, part_of, set_quotas
from fastlb.kernels.shared.rows import Rows
from fastlb.kernels.shared.tracing import traced
from tests.oracles import weighted


@traced(returns=types.UniTuple(types.int64, 2))
def part(amount, weight, whole, base):
    return part_of(amount, weight, whole, base)


@traced()
def quotas(loads, weights, out, remainders, base):
    k = loads.shape[0]
    rows = (Rows(array, 0, 1, 1) for array in (loads, weights, out, remainders))
    set_quotas(*rows, k, base)


@traced(returns=types.int64)
def signed_excess(a, b, first, second, base):
    twice, a_gives = excess_of_pair(a, b, first, second, base)
    return twice * (a_gives.astype("int64") * 2 - 1)


@njit
def compiled_part(amount, weight, whole, base):
    return part(amount, weight, whole, base)


@njit
def compiled_quotas(loads, weights, out, remainders, base):
    quotas(loads, weights, out, remainders, base)


@njit
def compiled_excess(a, b, first, second, base):
    return signed_excess(a, b, first, second, base)


def plain(function):
    return getattr(function, "plain", function)


def numbers(*values):
    return map(np.int64, values)


@pytest.mark.parametrize("way", [compiled_part, plain(part)])
@pytest.mark.parametrize("bits", [1, 2, 8, 30, 31, 32, 33, 42, 53, 60, 61])
def test_parts_are_those_of_whole_numbers(way, bits):
    rng = np.random.default_rng(bits)
    top = 2**bits - 1
    draws = 200 if way is compiled_part else 20
    for number in range(draws):
        whole = top if number % 2 else int(rng.integers(1, top, endpoint=True))
        edges = [0, 1, whole - 1, whole // 2]
        for amount in {*edges, int(rng.integers(0, whole))}:
            for weight in {*edges, whole, int(rng.integers(0, whole, endpoint=True))}:
                result = way(*numbers(amount, weight, whole), division_base(top))
                assert tuple(map(int, result)) == divmod(amount * weight, whole)


@pytest.mark.parametrize("way", [compiled_quotas, plain(quotas)])
def test_quotas_of_lines(way):
    rng = np.random.default_rng(9)
    for number in range(400 if way is compiled_quotas else 40):
        k, top = int(rng.integers(1, 12)), int(rng.choice([1, 3, 50, 2**31, 2**57]))
        weights = rng.integers(0, top, k, endpoint=True)
        weights[0] += not weights.any()
        loads = rng.integers(0, int(rng.choice([2, 100, 2**59])), k)
        out, remainders = np.zeros((2, k), np.int64)
        way(loads, weights, out, remainders, division_base(int(weights.sum())))
        assert out.tolist() == weighted.quotas(int(loads.sum()), weights.tolist()), number


@pytest.mark.parametrize("way", [compiled_excess, plain(signed_excess)])
def test_twice_the_excess_of_pairs(way):
    rng = np.random.default_rng(10)
    for _ in range(2000 if way is compiled_excess else 100):
        top, most = int(rng.choice([3, 40, 2**60])), int(rng.choice([4, 100, 2**61]))
        first, second = rng.integers(0, top, 2).tolist()
        second += first + second == 0
        a, b = rng.integers(0, most, 2).tolist()
        result = int(way(*numbers(a, b, first, second), division_base(first + second)))
        # Of the fraction 2 (a second - b first) / (first + second), rounded away from 0.
        over, whole = 2 * (a * second - b * first), first + second
        assert result == (-(-over // whole) if over > 0 else over // whole)
