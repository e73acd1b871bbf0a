"""Distributions of random loads: a load depends on the seed, the trial and the node alone."""

from __future__ import annotations

import dataclasses
import difflib
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .accelerate import kernels
from .topology import _integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_MEAN = 2**62 - 1


@dataclass(frozen=True)
class Distribution(ABC):
    """What the loads of a trial are drawn from. Frozen, hashable, comparable.

    A distribution is a frozen dataclass of its parameters, spelled ``name:value,value`` or
    ``name:key=value``.

    Attributes
    ----------
    name : str
        What its spelling begins with.
    """

    name: ClassVar[str]

    @property
    def spec(self) -> str:
        """The command line's spelling; ``parse_distribution`` reads it back."""
        values = [str(getattr(self, field.name)) for field in dataclasses.fields(self)]
        return f"{self.name}:{','.join(values)}" if values else self.name

    @abstractmethod
    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Write the loads of the trials ``start, start + 1, ..`` to ``rows`` (trials, N)."""


@dataclass(frozen=True)
class Uniform(Distribution):
    """Integers uniform on ``0 .. 2 * mean`` (Wu-Shu section 6).

    Up to a mean of 2**31 - 1 a node takes one 32-bit number ``u`` of the trial's Philox stream and
    its load is ``u * (2 * mean + 1) >> 32``, the low half of each 64-bit word first: each load's
    probability is right to ``2**-32``, that is to ``(2 * mean + 1) / 2**32`` of itself. Beyond, a
    node takes a 64-bit word, with 64 in place of 32.

    Parameters
    ----------
    mean : int
        Mean load, from 0 to 2**62 - 1.

    Raises
    ------
    TypeError
        If the mean is no integer.
    ValueError
        If the mean is out of range.

    Examples
    --------
    >>> Uniform(mean=1000).spec
    'uniform:1000'
    """

    name: ClassVar[str] = "uniform"
    mean: int

    def __post_init__(self) -> None:
        mean = _integer("mean", self.mean)
        if not 0 <= mean <= MAX_MEAN:
            raise ValueError(f"mean must be between 0 and 2**62 - 1, got {mean}")
        object.__setattr__(self, "mean", mean)

    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Write the loads of the trials ``start, start + 1, ..`` to ``rows`` (trials, N)."""
        philox = kernels("philox")
        span = 2 * self.mean + 1
        draw = philox.uniform_32 if span <= 2**32 else philox.uniform_64
        draw(philox.round_keys(seed), start, np.uint64(span), rows)


_BY_NAME: dict[str, type[Distribution]] = {kind.name: kind for kind in (Uniform,)}


def parse_distribution(text: str) -> Distribution:
    """Read a distribution from its spelling, ``uniform:1000`` or ``uniform:mean=1000``.

    Raises
    ------
    TypeError
        If it is no text, or a parameter is of another kind.
    ValueError
        If the name is unknown, a parameter is missing, unknown, unreadable or out of range.

    Examples
    --------
    >>> parse_distribution("uniform:1000")
    Uniform(mean=1000)
    """
    if not isinstance(text, str):
        raise TypeError(f"loads must be a distribution or a spelling of one, got {text!r}")
    name, _, values = text.strip().partition(":")
    kind = _BY_NAME.get(name.strip().lower())
    if kind is None:
        close = difflib.get_close_matches(name, _BY_NAME, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ValueError(f"loads must be one of {', '.join(_BY_NAME)}, got {text!r}{hint}")
    known = [field.name for field in dataclasses.fields(kind)]
    parameters: dict[str, Any] = {}
    for position, part in enumerate(filter(None, values.split(","))):
        key, equals, value = part.rpartition("=")
        key = key.strip() if equals else known[position] if position < len(known) else ""
        if key not in known or key in parameters:
            raise ValueError(f"{kind.name} takes {', '.join(known)}, got {text!r}")
        parameters[key] = _number(value, text)
    missing = [key for key in known if key not in parameters]
    if missing:
        raise ValueError(f"{kind.name} needs {', '.join(missing)}, got {text!r}")
    return kind(**parameters)


def _number(value: str, text: str) -> int | float:
    if re.fullmatch(r"\s*[+-]?\d+\s*", value, re.ASCII):
        return int(value)
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"parameters of loads must be numbers, got {text!r}") from None
