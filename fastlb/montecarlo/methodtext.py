"""How a method of a study is spelled: ``gde:lam=0.723``, a name and its options."""

from __future__ import annotations

import difflib
import re
from decimal import Decimal
from typing import Any

# Results are long tables of figures: what is recorded, and where it goes, is not a method's option.
RESERVED_OPTIONS = ("record", "out")

# Options that are orders: a single number is an order of one.
ORDERS = ("axes", "dims")


def parse_method(text: str) -> tuple[str, dict[str, Any]]:
    """Read a method's spelling, ``name:option=value,option=value``, as its name and options.

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
        option, equals, value = (piece.strip() for piece in part.partition("="))
        if not (equals and value and option.isidentifier()) or option in options:
            raise ValueError(f"methods must be spelled like 'gde:lam=0.723', got {text!r}")
        if option in RESERVED_OPTIONS:
            raise ValueError(f"methods of a study cannot set {option}, got {text!r}")
        options[option] = _value(value)
        if option in ORDERS and type(options[option]) is int:
            options[option] = (options[option],)
    return name.strip(), options


def _value(text: str) -> Any:
    named = {"true": True, "false": False, "none": None}
    if text.lower() in named:
        return named[text.lower()]
    if re.fullmatch(r"[+-]?\d{1,4000}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"\d{1,18}(-\d{1,18})+", text, re.ASCII):
        return tuple(int(i) for i in text.split("-"))
    try:
        nearest = float(text)
    except ValueError:
        return text
    # Rationals are read from text: a decimal that a float would round stays as it is spelled.
    plain = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", text, re.ASCII | re.IGNORECASE)
    return text if plain and Decimal(text) != Decimal(repr(nearest)) else nearest


def read_method(text: str) -> str:
    """Return the method's spelling without spaces, once its name is known to exist."""
    from ..registry import methods

    name, _ = parse_method(text)
    if name not in methods():
        close = difflib.get_close_matches(name, methods(), n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"methods must be among {', '.join(methods())}, got {text!r}{hint}")
    return "".join(text.split())
