"""Bounds of a distribution's parameters, stored as metadata of the fields of its dataclass."""

from __future__ import annotations

from dataclasses import Field, dataclass
from typing import Any

import numpy as np

from ..arguments import integer, written

_KEY = "bounds"


@dataclass(frozen=True)
class Bounds:
    """The values that a parameter may have.

    Attributes
    ----------
    least, most : int
        The least and the largest value.
    above : bool
        Whether the value must be larger than ``least``.
    whole : bool
        Whether the value must be a whole number.
    """

    least: int
    most: int
    above: bool = False
    whole: bool = False

    def read(self, name: str, value: Any) -> int | float:
        """Return the value of a parameter, as an integer if it is whole and as a float otherwise.

        Raises
        ------
        TypeError, ValueError
            If the value is not within the bounds; the message begins with ``name``.
        """
        if isinstance(value, float | np.floating) and not self.whole:
            number: int | float = float(value)
        elif self.whole or (isinstance(value, int | np.integer) and not isinstance(value, bool)):
            number = integer(name, value)
        else:
            raise TypeError(f"{name} must be a number, got {value!r}")
        is_enough = number > self.least if self.above else number >= self.least
        if not (is_enough and number <= self.most):
            raise ValueError(f"{name} must be {self}, got {written(number)}")
        return int(number) if number == int(number) else number

    def __str__(self) -> str:
        """Return the bounds in words, for error messages."""
        least, most = _power(self.least), _power(self.most)
        return f"above {least}, to {most}" if self.above else f"between {least} and {most}"


def within(least: int, most: int) -> dict[str, Bounds]:
    """Return the metadata of a parameter that is a number from ``least`` to ``most``."""
    return {_KEY: Bounds(least, most)}


def above(least: int, most: int) -> dict[str, Bounds]:
    """Return the metadata of a parameter that is a number above ``least``, to ``most``."""
    return {_KEY: Bounds(least, most, above=True)}


def whole(least: int, most: int) -> dict[str, Bounds]:
    """Return the metadata of a parameter that is a whole number from ``least`` to ``most``."""
    return {_KEY: Bounds(least, most, whole=True)}


def bounds_of(parameter: Field[Any]) -> Bounds | None:
    """Return the bounds of a parameter, or None if its class checks it in another way."""
    return parameter.metadata.get(_KEY)


def _power(value: int) -> str:
    """Return a number as text; large ones as ``2**n`` or ``2**n - 1`` if possible."""
    for subtracted in (0, 1):
        bits = (value + subtracted).bit_length() - 1
        if bits >= 16 and value + subtracted == 2**bits:
            return f"2**{bits}" + " - 1" * subtracted
    return str(value)
