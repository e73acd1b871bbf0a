"""Numbers and other values as short texts, for tables and lines."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..arguments import written

# Longer arrays are shown by their shape.
MOST_VALUES = 8
# Longer integers are shown by their size: Python refuses to write thousands of digits.
MOST_BITS = 200
# Decimal places at most.
MOST_PLACES = 12


def shown(value: Any) -> str:
    """Return a value as text for a table; an array as its values or, if it is long, its shape.

    Examples
    --------
    >>> shown(1234567), shown(0.123456), shown(True), shown(None)
    ('1,234,567', '0.1235', 'yes', '-')
    """
    if value is None or value is np.ma.masked:
        return "-"
    if isinstance(value, np.ndarray) and value.ndim:
        return _array(value)
    if isinstance(value, np.ndarray | np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if value.bit_length() < MOST_BITS else written(value)
    if isinstance(value, float):
        return _real(value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, list | tuple):
        more = [".."] if len(value) > MOST_VALUES else []
        return ", ".join([*map(_part, value[:MOST_VALUES]), *more])
    if isinstance(value, dict):
        return ", ".join(f"{name} {shown(part)}" for name, part in value.items())
    return str(value)


def counted(number: int, noun: str) -> str:
    """Return how many of something there are.

    Examples
    --------
    >>> counted(1, "link"), counted(1200, "link")
    ('1 link', '1,200 links')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _part(value: Any) -> str:
    return f"({shown(value)})" if isinstance(value, list | tuple) else shown(value)


def _real(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.1f}" if 1e3 <= abs(value) < 1e15 else f"{value:.4g}"


def _array(values: Any) -> str:
    if values.size > MOST_VALUES or values.ndim > 1:
        return f"{'x'.join(map(str, values.shape))} {values.dtype}"
    return " ".join("-" if value is None else shown(value) for value in values.tolist())


def percent(part: float) -> str:
    """Return a part of a whole in per cent."""
    return f"{100 * part:,.1f} %"


def with_error(mean: float, error: float) -> tuple[str, str]:
    """Return a mean and its standard error, with the decimals that show two digits of the error.

    Examples
    --------
    >>> with_error(11.27613, 0.0123), with_error(0.5, 0.0), with_error(3.0, float("nan"))
    (('11.276', '0.012'), ('0.5', '0'), ('3', '-'))
    """
    if math.isnan(mean):
        return "-", "-"
    if not 0 < error < math.inf:
        return shown(mean), "-" if math.isnan(error) else shown(error)
    if not 1e-9 < error < 1e15 or abs(mean) >= 1e15:
        return f"{mean:.6g}", f"{error:.2g}"
    places = min(MOST_PLACES, max(0, 1 - math.floor(math.log10(error))))
    return f"{mean:,.{places}f}", f"{error:,.{places}f}"
