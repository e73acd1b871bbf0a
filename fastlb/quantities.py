"""Exact numbers as users give them: int, float, Fraction or "41/7", one a link or node."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import refused_dtype, tensor_as_array
from .rational import has_long_exponent

Number = int | float | Fraction
Numbers = ArrayLike | Sequence[Number | str]
# Numbers of several types in one list are objects to type checkers.
MixedNumbers = ArrayLike | Sequence[object]
# Arrays of one axis, and of two.
Vector = np.ndarray[tuple[int], np.dtype[Any]]
Matrix = np.ndarray[tuple[int, int], np.dtype[Any]]
Kind = Literal["integer", "rational", "float"]

_INFINITE = re.compile(r"\s*[+]?inf(inity)?\s*", re.IGNORECASE)
_LARGEST = 2**63 - 1


@dataclass(frozen=True, eq=False)
class Quantities:
    """One exact number each of ``K`` links or nodes, held as compactly as they allow.

    Attributes
    ----------
    values : (K,) int64, float64 or object
        The numbers; object holds int, Fraction and float as given. 0 where unlimited.
    unlimited : (K,) bool
        Where there is no limit.
    """

    values: NDArray[Any]
    unlimited: NDArray[np.bool_]

    @cached_property
    def kind(self) -> Kind:
        """``"float"`` if any number is one, else ``"rational"`` if any is no integer."""
        if self.values.dtype != object:
            return "float" if self.values.dtype.kind == "f" else "integer"
        kinds = {type(value) for value in self.values.tolist()}
        if float in kinds:
            return "float"
        return "rational" if Fraction in kinds else "integer"

    @cached_property
    def numbers(self) -> tuple[Number | None, ...]:
        """The numbers one by one, None where unlimited."""
        pairs = zip(self.values.tolist(), self.unlimited.tolist(), strict=True)
        return tuple(None if free else value for value, free in pairs)

    @property
    def key(self) -> tuple[object, ...]:
        """What equality of two columns is taken from."""
        exact = self.values.dtype == object
        held: object = tuple(self.values.tolist()) if exact else self.values.tobytes()
        return (self.values.dtype.char, held, self.unlimited.tobytes())


def read_quantities(
    name: str,
    quantities: Any,
    count: int,
    of: str,
    *,
    unlimited: bool = False,
    signed: bool = False,
) -> Quantities:
    """Read a number for each of ``count`` links or nodes; one number serves all.

    Parameters
    ----------
    name, of : str
        The argument and what it is counted by, for messages.
    unlimited : bool
        Whether None and infinity are allowed and mean "no limit"; else None means 0.
    signed : bool
        Whether numbers may be negative.

    Raises
    ------
    TypeError, ValueError
        If something is no number, NaN, infinite or negative where that is not allowed, or
        there is another count of them.
    """
    quantities = tensor_as_array(name, quantities)
    if quantities is None or isinstance(quantities, str | int | float | Fraction | np.generic):
        column = _column(name, [quantities], unlimited, signed)
        return Quantities(_spread(column.values, count), _spread(column.unlimited, count))
    if isinstance(quantities, np.ndarray) and quantities.dtype.kind not in "OUS":
        column = _array(name, quantities, unlimited, signed)
    elif isinstance(quantities, Iterable):
        column = _column(name, list(quantities), unlimited, signed)
    else:
        raise TypeError(
            f"{name} must be a number or one for each of {count} {of}, got {quantities!r}"
        )
    if column.values.shape != (count,):
        raise ValueError(
            f"{name} must be one value for each of {count} {of}, got {column.values.shape}"
        )
    return column


def read_number(name: str, value: Any) -> Number:
    """Read one number: int, float (infinity allowed), Fraction or a string such as "41/7"."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        if _INFINITE.fullmatch(value):
            return math.inf
        try:
            if has_long_exponent(value):
                raise ValueError("the exponent alone would fill the memory")
            value = Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"{name} must be a number such as 12 or 41/7, got {value!r}") from None
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be int, float, Fraction or a string, got {value!r}")
    return value


def _spread(values: NDArray[Any], count: int) -> NDArray[Any]:
    return np.broadcast_to(values, (count,))


def _array(name: str, quantities: NDArray[Any], unlimited: bool, signed: bool) -> Quantities:
    kind = quantities.dtype.kind
    if kind not in "iuf" or (kind == "f" and quantities.itemsize not in (4, 8)):
        got = refused_dtype(name, quantities.dtype)
        raise TypeError(f"{name} must be int, float, Fraction or a string, got {got}")
    if kind == "u" and quantities.size and int(quantities.max()) > _LARGEST:
        return _column(name, quantities.tolist(), unlimited, signed)
    values = quantities.astype(np.float64 if kind == "f" else np.int64)
    free = np.zeros(values.shape, dtype=bool)
    if kind == "f":
        free = (values == np.inf) & unlimited
        values[free] = 0.0
        _refuse(name, ~np.isfinite(values), quantities, "be finite and not NaN")
    if not signed:
        _refuse(name, values < 0, quantities, "not be negative")
    return Quantities(values, free)


def _refuse(name: str, bad: NDArray[np.bool_], quantity: NDArray[Any], rule: str) -> None:
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), bad.shape)
        place = ", ".join(str(int(i)) for i in where)
        raise ValueError(f"{name} must {rule}, got {quantity[where]!r} at {place}")


def _column(name: str, quantities: list[Any], unlimited: bool, signed: bool) -> Quantities:
    read = [_quantity(name, value, unlimited, signed) for value in quantities]
    free = np.array([number is None for number in read], dtype=bool)
    kinds = {type(number) for number in read if number is not None} or {int}
    nothing: Number = 0.0 if kinds == {float} else 0
    numbers: list[Number] = [nothing if number is None else number for number in read]
    if kinds <= {int} and all(-_LARGEST <= number <= _LARGEST for number in numbers):
        return Quantities(np.array(numbers, dtype=np.int64), free)
    if kinds == {float}:
        return Quantities(np.array(numbers, dtype=np.float64), free)
    values = np.empty(len(numbers), dtype=object)
    values[:] = numbers
    return Quantities(values, free)


def _quantity(name: str, value: Any, unlimited: bool, signed: bool) -> Number | None:
    if value is None:
        return None if unlimited else 0
    number = read_number(name, value)
    if number != number:
        raise ValueError(f"{name} must not be NaN, got {value!r}")
    if isinstance(number, float) and math.isinf(number):
        if unlimited and number > 0:
            return None
        raise ValueError(f"{name} must be finite, got {value!r}")
    if number < 0 and not signed:
        raise ValueError(f"{name} must not be negative, got {value!r}")
    return number
