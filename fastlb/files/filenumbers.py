"""Numbers in files."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

from ..arguments import written
from ..quantities import Number, read_number
from .textfiles import refuse

LARGEST = int(sys.float_info.max)


def file_number(
    place: str, what: str, value: Any, *, signed: bool = False, limit: bool = False
) -> Number:
    """Return a number of a file: int if it is whole, float for a decimal, Fraction for "a/b".

    ``signed`` allows numbers below 0, ``limit`` allows infinity.
    """
    try:
        number = read_number(what, value)
    except (ValueError, TypeError):
        refuse(place, f"{what} must be a number such as 12 or 41/7, got {written(value)}")
    if isinstance(number, int) and abs(number) > LARGEST:
        refuse(place, f"{what} must be less than 1.8e308, got {written(value)}")
    if isinstance(value, str) and isinstance(number, Fraction) and "/" not in value:
        number = float(number)
    if number != number or (number in (math.inf, -math.inf) and not (limit and number > 0)):
        refuse(place, f"{what} must be a finite number, got {written(value)}")
    if number < 0 and not signed:
        refuse(place, f"{what} must not be negative, got {written(value)}")
    return int(number) if isinstance(number, float) and number.is_integer() else number


def is_number(text: Any) -> bool:
    """Return whether a cell holds a number."""
    try:
        read_number("cell", text)
    except (ValueError, TypeError):
        return False
    return True
