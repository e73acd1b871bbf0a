"""Shares of differences against Python's integers, in registers and numbers, compiled and not."""

from fractions import Fraction

import numpy as np
import pytest

from fastlb.exchange.gde_share import widest_factor
from fastlb.kernels.shared.shares import exchange_share, two_units_move
from fastlb.kernels.shared.tracing import each_register, traced
from fastlb.rational import floor_share, multiply_shift
from tests.kernels.shared.test_vectors import variants

SHARES = [
    Fraction(text)
    for text in (
        "1/2", "1/3", "723/1000", "65534/65535", "1/65535", "1/10000000", "32767/65535",
        f"{2**62}/{2**63 - 1}", f"{2**63 - 1}/{2**63}", f"{10**29 + 1}/{10**30}", f"1/{2**63 - 1}",
        "2441223341597144718/4622282802752022874", "29905189447778807/29905189447778808",
    )
]  # fmt: skip


@traced()
def exchange_all(loads, out, share):
    """Exchange the first row of loads with the second; results, sent and flow go to ``out``."""
    count = loads.shape[1]

    def exchange(at, size):
        results = exchange_share(loads.load((0, at), size), loads.load((1, at), size), share)
        for row, result in enumerate(results):
            out.store((row, at), result)

    each_register(count, loads.dtype, exchange)


@traced()
def exchange_numbers(loads, out, share):
    for row, result in enumerate(exchange_share(loads[0, 0], loads[1, 0], share)):
        out[row, 0] = result


EXCHANGE_ALL, EXCHANGE_NUMBERS = (variants(way, 3) for way in (exchange_all, exchange_numbers))
TWO_UNITS_MOVE = variants(two_units_move, 1)


def expected(loads, share):
    """Return loads after the exchange, units sent and the net flow, by Python's integers."""
    rows = []
    for a, b in zip(*loads.tolist(), strict=True):
        sent = share.numerator * abs(a - b) // share.denominator
        flow = sent if a > b else -sent
        rows.append((a - flow, b + flow, sent, flow))
    return np.array(rows, loads.dtype).T


def differences(share, top):
    """Return differences up to ``top``, many of them where the floor of the share changes."""
    rng = np.random.default_rng(7)
    p, q = share.numerator, share.denominator
    steps = [-(-i * q // p) for i in range(1, 60)]
    some = [0, 1, 2, top, top - 1, *steps, *(step - 1 for step in steps)]
    some += [int(rng.integers(0, top, endpoint=True)) >> int(rng.integers(60)) for _ in range(300)]
    some = [d for d in some if 0 <= d <= top]
    return np.array(some[: len(some) // 64 * 64], np.int64)


def check(loads, share, numbers):
    right = expected(loads, share)
    for call in EXCHANGE_ALL:
        for part in (loads, loads[::-1].copy()):
            out = np.zeros((4, loads.shape[1]), loads.dtype)
            call(part, out, numbers)
            swapped = int(part is not loads)
            assert np.array_equal(out[swapped], right[0])
            assert np.array_equal(out[1 - swapped], right[1])
            assert np.array_equal(out[2], right[2])
            assert np.array_equal(out[3], -right[3] if swapped else right[3])


@pytest.mark.parametrize("bits", [32, 64])
def test_floors_by_one_product(bits):
    unsigned, dtype = np.dtype(f"u{bits // 8}").type, f"i{bits // 8}"
    for share in SHARES[:7]:
        top = 2 ** (bits // 2 - 2)
        equal = floor_share(share, top)
        factor = multiply_shift(equal, top, bits)
        if factor is None:
            continue
        numbers = tuple(map(unsigned, factor))
        high = differences(share, top).astype(dtype)
        check(np.stack([high, np.zeros_like(high)]), share, numbers)
        assert all(call(numbers) == (share >= Fraction(1, 2)) for call in TWO_UNITS_MOVE)


def test_floors_of_any_share_and_difference():
    for share in SHARES:
        high = differences(share, 2**63 - 1)
        numbers = widest_factor(share)
        assert all(number < 2**64 for number in map(int, numbers))
        check(np.stack([high, np.zeros_like(high)]), share, numbers)
        check(np.stack([high[:1], high[1:2]]), share, numbers)
        for call in EXCHANGE_NUMBERS:
            for i in range(9):
                loads = np.stack([high[i : i + 1], high[i + 1 : i + 2]])
                out = np.zeros((4, 1), np.int64)
                call(loads, out, numbers)
                assert np.array_equal(out, expected(loads, share))


def test_real_shares():
    loads = np.random.default_rng(2).random((2, 64))
    flow = (loads[0] - loads[1]) * 0.3
    for call in EXCHANGE_ALL:
        out = np.zeros((4, 64))
        call(loads, out, 0.3)
        assert np.array_equal(out, [loads[0] - flow, loads[1] + flow, abs(flow), flow])
