"""What the parameters of a distribution may be, as the metadata of its dataclass's fields."""

from __future__ import annotations

from dataclasses import Field, dataclass
from typing import Any

import numpy as np

from ..arguments import integer, written

_KEY = "bounds"


@dataclass(frozen=True)
class Bounds:
    """Numbers from ``least``, or only above it, to ``most``; ``whole`` ones alone."""

    least: int
    most: int
    above: bool = False
    whole: bool = False

    def read(self, name: str, value: Any) -> int | float:
        """Return a parameter as an integer where it is whole, else as a float.

        Raises
        ------
        TypeError, ValueError
            If it is no such number; ``name`` is the parameter to blame.
        """
        if isinstance(value, float | np.floating) and not self.whole:
            number: int | float = float(value)
        elif self.whole or (isinstance(value, int | np.integer) and not isinstance(value, bool)):
            number = integer(name, value)
        else:
            raise TypeError(f"{name} must be a number, got {value!r}")
        reached = number > self.least if self.above else number >= self.least
        if not (reached and number <= self.most):
            raise ValueError(f"{name} must be {self}, got {written(number)}")
        return int(number) if number == int(number) else number

    def __str__(self) -> str:
        """Return the rule as errors tell it."""
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
    """Return what a parameter may be, None where its class checks it by itself."""
    return parameter.metadata.get(_KEY)


def _power(value: int) -> str:
    for less in (0, 1):
        bits = (value + less).bit_length() - 1
        if bits >= 16 and value + less == 2**bits:
            return f"2**{bits}" + " - 1" * less
    return str(value)
