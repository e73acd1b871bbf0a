"""Rationals as given, and exact floors of their multiples."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlb.rational import floor_share, multiply_shift, read_rational

SHARES = st.fractions(min_value=0, max_value=1)


@pytest.mark.parametrize(
    "value", [0.723, "723/1000", "0.723", (723, 1000), [723, 1000], Fraction(723, 1000),
              np.float64(0.723), np.float32(0.723)],
)  # fmt: skip
def test_a_rational_is_what_a_person_means(value):
    assert read_rational("lam", value) == Fraction(723, 1000)


@pytest.mark.parametrize(
    "value",
    [
        "x", float("nan"), float("inf"), (1, 0), "1/0", (0.5, 2), Decimal("NaN"), Decimal("-inf"),
        "1e-99999999", "1E+99999999", "1e9_999_999_999", Decimal("1e999999999"),
        Decimal("-1e-999999999"), Decimal("0e999999999"),
    ],
)  # fmt: skip
def test_bad_numbers(value):
    with pytest.raises(ValueError, match="lam must be a finite number"):
        read_rational("lam", value)


@pytest.mark.parametrize("value", ["1e9999", "1e-9999", "1e00000000009"])
def test_exponents_that_are_written_out(value):
    for read in (value, Decimal(value)):
        assert read_rational("lam", read) == Fraction(10) ** int(value[2:])


@pytest.mark.parametrize("value", [None, True, 1j, {}])
def test_what_is_no_number(value):
    with pytest.raises(TypeError, match="lam must be a number"):
        read_rational("lam", value)


@given(SHARES, st.integers(1, 200))
def test_the_floor_share_has_the_same_floors(share, largest):
    equal = floor_share(share, largest)
    assert equal.denominator <= largest
    assert all(int(share * d) == int(equal * d) for d in range(largest + 1))


@given(SHARES, st.integers(1, 3000), st.sampled_from([16, 32, 64]))
def test_multiply_and_shift_is_the_floor(share, largest, bits):
    found = multiply_shift(share, largest, bits)
    if found is None:
        assert bits < 64 or share.denominator * largest**2 >= 2**62
        return
    m, s = found
    assert m * largest < 2**bits
    assert all((m * d) >> s == int(share * d) for d in range(largest + 1))
