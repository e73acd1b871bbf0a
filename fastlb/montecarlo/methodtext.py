"""How a method of a study is spelled: ``gde:lam=0.723``, a name and its options."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from ..arguments import did_you_mean

# Options that the study sets itself: it decides what is recorded and where results go.
RESERVED_OPTIONS = ("record", "out")

# Options that are orders of axes or dimensions: a single number is an order of length 1.
ORDERS = ("axes", "dims")


def parse_method(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a method spelled ``name:option=value,option=value``.

    Raises
    ------
    TypeError, ValueError
        If it is no text, is not spelled like that, or sets an option of the study.

    Examples
    --------
    >>> parse_method("gde:lam=723/1000,order=interleaved")
    ('gde', {'lam': '723/1000', 'order': 'interleaved'})
    """
    if not isinstance(text, str):
        raise TypeError(f"methods must be spelled like 'gde:lam=0.723', got {text!r}")
    name, _, listed = text.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, map(str.strip, listed.split(","))):
        option, equals, value = (text.strip() for text in part.partition("="))
        if not (equals and value and option.isidentifier()) or option in options:
            raise ValueError(f"methods must be spelled like 'gde:lam=0.723', got {text!r}")
        if option in RESERVED_OPTIONS:
            raise ValueError(f"methods of a study cannot set {option}, got {text!r}")
        options[option] = _value(value)
        if option in ORDERS and type(options[option]) is int:
            options[option] = (options[option],)
    return name.strip(), options


def _value(text: str) -> Any:
    """Return the value of an option: a constant, an integer, an order, a decimal or other text."""
    constants = {"true": True, "false": False, "none": None}
    if text.lower() in constants:
        return constants[text.lower()]
    if re.fullmatch(r"[+-]?\d{1,4000}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"\d{1,18}(-\d{1,18})+", text, re.ASCII):
        return tuple(int(i) for i in text.split("-"))
    try:
        nearest = float(text)
    except ValueError:
        return text
    # A decimal that a float would round stays text, from which methods read an exact rational.
    decimal = re.fullmatch(
        r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", text, re.ASCII | re.IGNORECASE
    )
    return text if decimal and Decimal(text) != Decimal(repr(nearest)) else nearest


def read_method(text: str) -> str:
    """Return a method's spelling without spaces, or raise if there is no such method."""
    from ..registry import methods

    name, _ = parse_method(text)
    if name not in methods():
        raise ValueError(
            f"methods must be among {', '.join(methods())}, got {text!r}"
            f"{did_you_mean(name, methods())}"
        )
    return "".join(text.split())
