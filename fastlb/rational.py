"""Rationals as given, and their exact use on bounded integers."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

# Powers of ten beyond are not written out.
LONGEST_EXPONENT = 9999
_LONG_EXPONENT = re.compile(r"e[+-]?0*[1-9]\d{4,}", re.IGNORECASE)


def read_rational(name: str, value: Any) -> Fraction:
    """Read a number as the rational a person means by it.

    Parameters
    ----------
    name : str
        The argument to blame.
    value : int, float, str, (int, int), Fraction or Decimal
        A float means its shortest decimal, so 0.723 is 723/1000.

    Raises
    ------
    TypeError, ValueError
        If it is no such thing, or not finite.
    """
    try:
        if isinstance(value, str | Decimal) and has_long_exponent(value):
            raise ValueError("the exponent alone would fill the memory")
        if isinstance(value, tuple | list) and len(value) == 2:
            share = Fraction(*value)
            # Parts may be NumPy's, which wrap.
            return Fraction(int(share.numerator), int(share.denominator))
        if isinstance(value, float | np.floating):
            return Fraction(str(value))
        if isinstance(value, np.integer):
            return Fraction(int(value))
        if isinstance(value, int | str | Fraction | Decimal) and not isinstance(value, bool):
            return Fraction(value)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        raise ValueError(
            f"{name} must be a finite number such as 723/1000, got {value!r}"
        ) from None
    raise TypeError(f"{name} must be a number, a string or a pair, got {value!r}")


def has_long_exponent(value: str | Decimal) -> bool:
    """Tell whether a number has a power of ten that would fill the memory, were it written out."""
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        return isinstance(exponent, int) and abs(exponent) > LONGEST_EXPONENT
    return _LONG_EXPONENT.search(value.replace("_", "")) is not None


def floor_share(share: Fraction, largest: int) -> Fraction:
    """Return the fraction of least denominator with the same ``floor(share * d)``, d <= largest.

    It is the largest fraction below or at ``share`` whose denominator is at most ``largest``:
    between the two no other such fraction lies, so no floor differs.
    """
    largest = max(1, largest)
    if share.denominator <= largest:
        return share
    before, convergent = (0, 1), (1, 0)
    n, d = share.numerator, share.denominator
    while True:
        whole = n // d
        denominator = before[1] + whole * convergent[1]
        if denominator > largest:
            break
        before, convergent = convergent, (before[0] + whole * convergent[0], denominator)
        n, d = d, n - whole * d
    steps = (largest - before[1]) // convergent[1]
    between = Fraction(before[0] + steps * convergent[0], before[1] + steps * convergent[1])
    bounds = (between, Fraction(*convergent))
    return max(bound for bound in bounds if bound <= share)


def multiply_shift(share: Fraction, largest: int, bits: int) -> tuple[int, int] | None:
    """Return (m, s) with ``m * d >> s == floor(share * d)`` for 0 <= d <= largest, or None.

    Every product stays below ``2**bits``. With ``m = ceil(share * 2**s)`` and the excess
    ``e = m q - p 2**s``, the floor is right while ``d e < 2**s``.
    """
    p, q = share.numerator, share.denominator
    for s in range(bits):
        m = -(-(p << s) // q)
        if m * largest >= 1 << bits:
            return None
        if (m * q - (p << s)) * largest < 1 << s:
            return m, s
    return None
