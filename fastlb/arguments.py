"""Checks of plain arguments: numbers, truth values, folders, and one of several words."""

from __future__ import annotations

import difflib
import operator
import os
from collections.abc import Iterable
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Integers of more bits are not written out: Python refuses it from thousands of digits on.
_MOST_BITS = 200
# Longer texts are cut.
_MOST_LETTERS = 100


def written(value: Any) -> str:
    """Return a value as an error shows it: in one line, and cut where it is long.

    Examples
    --------
    >>> written(2**500), written([1, 2]), written("a" * 998)[-20:]
    ('an integer of 501 bits', '[1, 2]', '.. (1000 characters)')
    """
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= _MOST_LETTERS else f"{text[:60]}.. ({len(text)} characters)"


def whole_number(name: str, value: Any, least: int, below: int = 2**63) -> int:
    """Return a whole number as an int, or raise ``TypeError`` or ``ValueError``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if not least <= value < below:
        upper = f" and below 2**{below.bit_length() - 1}" if value >= below else ""
        raise ValueError(
            f"{name} must be a whole number, {least} or more{upper}, got {written(value)}"
        )
    return int(value)


def integer(name: str, value: Any) -> int:
    """Return an integer of any sign and type as an int, or raise ``TypeError``."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None


def cost(name: str, value: Any) -> float:
    """Return a number that is finite and not negative, or raise."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not (isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be finite and not negative, got {written(value)}")
    return number


def yes_or_no(name: str, value: Any) -> bool:
    """Return a truth value, or raise ``TypeError``."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def folder(name: str, value: Any) -> Path:
    """Return the path of a folder, or raise ``TypeError`` or ``ValueError``."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be the path of a folder, got {value!r}")
    if not os.fspath(value):
        raise ValueError(f"{name} must be the path of a folder, got {value!r}")
    return Path(value)


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return one of a few words, or raise ``ValueError``."""
    words = tuple(choices)
    # An array would be compared word by word.
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} must be one of {', '.join(words)}, got {written(value)}")
    return value


def did_you_mean(value: str, choices: Iterable[str]) -> str:
    """Return the end of an error that names the choice most like a value; empty if none is."""
    close = difflib.get_close_matches(value, list(choices), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def refused_dtype(name: str, dtype: np.dtype[Any]) -> str:
    """Return in words the dtype of numbers that are refused, why, and how to go on."""
    if dtype.kind == "b":
        return f"dtype bool, which says whether, not how much: pass {name}.astype(int)"
    if dtype == np.float16:
        return f"dtype float16, which loses units above 2048: pass {name}.astype(np.float32)"
    if dtype.kind == "f":
        return f"dtype {dtype}, which float64 rounds: pass {name}.astype(np.float64) to have it so"
    return f"dtype {dtype}"


def as_array(name: str, values: Any) -> NDArray[Any]:
    """Return ``numpy.asarray(values)``, in which whole numbers stay whole.

    NumPy makes float64 of a list with integers both below and from 2**63 on. Arrays of other
    libraries, such as PyTorch's tensors, share their memory with the array returned.

    Raises
    ------
    OverflowError
        If whole numbers fit neither int64 nor uint64; ``name`` is the argument to blame.
    TypeError
        If an array of another library is not in the CPU's memory, or of a dtype that NumPy lacks.
    ValueError
        If rows are of unequal length.
    """
    values = tensor_as_array(name, values)
    array = np.asarray(values)
    large = array.dtype == np.float64 and bool((abs(array) >= 2**63).any())
    if hasattr(values, "dtype") or not array.size or not (large or array.dtype == object):
        return array
    exact = np.array(values, dtype=object)
    if not all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in exact.flat):
        return array
    if exact.min() < 0 or exact.max() >= 2**64:
        raise OverflowError(
            f"{name} must fit int64 or uint64, got integers from {written(exact.min())} "
            f"to {written(exact.max())}"
        )
    return exact.astype(np.uint64)


def tensor_as_array(name: str, values: Any) -> Any:
    """Return an array that shares the memory of another library's; anything else as it is.

    Raises
    ------
    TypeError
        If an array of another library is not in the CPU's memory, or of a dtype that NumPy lacks.
    """
    if not hasattr(values, "__dlpack__") or isinstance(values, np.ndarray | np.generic):
        return values
    try:
        return np.from_dlpack(values)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        device = getattr(values, "device", None)
        where = "" if device is None else f" on {written(str(device))}"
        raise TypeError(
            f"{name} must be an array in the CPU's memory, of a dtype that NumPy has, got "
            f"{type(values).__name__}{where} ({written(str(error))}): pass such as "
            f"{name}.detach().cpu(), or {name}.detach().float().cpu()"
        ) from None
