"""Distributions of random loads: a load depends on the seed, the trial and the node alone."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..accelerate import kernels
from .bounds import bounds_of, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..kernels.random.loads import Law, Table
    from ..topologies.topology import Topology

    # Arguments of the kernels that draw loads: the table replaces the law unless it is None.
    LawAndTable = tuple[Law, Table | None]


@dataclass(frozen=True)
class Distribution(ABC):
    """A distribution of random loads. Frozen, hashable, comparable.

    A distribution is a frozen dataclass of its parameters, spelled ``name:value,value`` or
    ``name:key=value``. The metadata of a parameter may have its bounds: see ``bounds.py``.

    Attributes
    ----------
    name : str
        The first part of its spelling.
    """

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for parameter in dataclasses.fields(self):
            if bounds := bounds_of(parameter):
                value = bounds.read(parameter.name, getattr(self, parameter.name))
                object.__setattr__(self, parameter.name, value)

    @property
    def spec(self) -> str:
        """The command line's spelling; ``parse_distribution`` reads it back."""
        values = [str(getattr(self, parameter.name)) for parameter in dataclasses.fields(self)]
        return f"{self.name}:{','.join(values)}" if values else self.name

    @classmethod
    def read(cls, values: str) -> Distribution:
        """Return the distribution whose spelling has these values after its name.

        Raises
        ------
        ValueError, TypeError
            If a parameter is missing, unknown, unreadable or out of range.
        """
        parameters = dataclasses.fields(cls)
        names = [parameter.name for parameter in parameters]
        arguments: dict[str, Any] = {}
        for position, part in enumerate(filter(None, values.split(","))):
            key, equals, value = part.rpartition("=")
            key = key.strip() if equals else names[position] if position < len(names) else ""
            if key not in names or key in arguments:
                raise ValueError(f"{cls.name} takes {', '.join(names)}")
            arguments[key] = _read_number(value)
        optional = [p.name for p in parameters if p.default is not dataclasses.MISSING]
        missing = [key for key in names if key not in arguments and key not in optional]
        if missing:
            raise ValueError(f"{cls.name} needs {', '.join(missing)}")
        return cls(**arguments)

    @abstractmethod
    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Write the loads of the trials ``start, start + 1, ..`` to ``rows`` (trials, N)."""


@dataclass(frozen=True)
class Experiment(Distribution):
    """Random input of trials that measure something else than the balancing of loads.

    It replaces the loads of a study. Its methods are those of the study, with its own options.
    """

    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Raise ``ValueError``: there are no loads."""
        raise ValueError(f"loads must be drawn from a distribution of loads, got {self.spec}")

    @abstractmethod
    def measure(
        self, topology: Topology, method: str, *, seed: int, start: int, trials: int
    ) -> dict[str, NDArray[Any]]:
        """Return the figures of the trials ``start, start + 1, ..``, a column (trials,) each."""


@dataclass(frozen=True)
class PhiloxLoads(Distribution):
    """Loads that kernels make of Philox words, in rows or in tiles with trials side by side."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """The largest possible load."""

    @abstractmethod
    def fill_tiles(self, tiles: NDArray[Any], *, seed: int, start: int) -> None:
        """Write the loads to tiles (K, N, W) of integers.

        Lane w of tile k is the trial ``start + k W + w``. ``W`` is a multiple of 16, and
        ``largest`` fits the dtype of the tiles.
        """


@lru_cache(maxsize=64)
def round_keys(seed: int) -> NDArray[np.uint64]:
    """Return the keys of all rounds of Philox, (10, 2), of a seed below 2**128."""
    keys: NDArray[np.uint64] = kernels("shared.philox").round_keys(seed)
    return keys


@lru_cache(maxsize=64)
def _law_of(distribution: Independent) -> LawAndTable:
    return distribution.law()


def word_law(span: int, values: NDArray[Any] | None = None) -> LawAndTable:
    """Return the law of loads ``u * span >> 64``, or of the values at these indices."""
    return kernels("random.loads").Law(None, np.uint64(span), values), None


@dataclass(frozen=True)
class Independent(PhiloxLoads):
    """Loads that are independent of each other and have the same distribution on every node."""

    @abstractmethod
    def law(self) -> LawAndTable:
        """Return the kernels' law and table; the result is cached."""

    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Write the loads of the trials ``start, start + 1, ..`` to ``rows`` (trials, N)."""
        kernels("random.loads").draw_rows(round_keys(seed), start, *_law_of(self), rows)

    def fill_tiles(self, tiles: NDArray[Any], *, seed: int, start: int) -> None:
        """Write the loads to tiles (K, N, W): lane w of tile k is the trial ``start + k W + w``."""
        kernels("random.loads").draw_tiles(round_keys(seed), start, *_law_of(self), tiles)


@dataclass(frozen=True)
class Uniform(Independent):
    """Integers uniform on ``0 .. 2 * mean`` (Wu-Shu section 6).

    Up to a mean of 2**31 - 1, each node takes one 32-bit number ``u`` of the trial's Philox
    stream, the low half of each 64-bit word first, and its load is ``u * (2 * mean + 1) >> 32``.
    The absolute error of each load's probability is at most ``2**-32``, the relative one
    ``(2 * mean + 1) / 2**32``. For larger means a node takes a 64-bit word, and 64 replaces 32.

    Parameters
    ----------
    mean : int
        Mean load, from 0 to 2**62 - 1.

    Raises
    ------
    TypeError
        If the mean is not an integer.
    ValueError
        If the mean is out of range.

    Examples
    --------
    >>> Uniform(mean=1000).spec
    'uniform:1000'
    """

    name: ClassVar[str] = "uniform"
    mean: int = field(metadata=whole(0, 2**62 - 1))

    @property
    def largest(self) -> int:
        """The largest possible load."""
        return 2 * self.mean

    def law(self) -> LawAndTable:
        """Return the kernels' law."""
        span = 2 * self.mean + 1
        if span > 2**32:
            return word_law(span)
        return kernels("random.loads").Law(np.uint64(span), None, None), None


def _read_number(value: str) -> int | float:
    if re.fullmatch(r"\s*[+-]?\d{1,4000}\s*", value, re.ASCII):
        return int(value)
    try:
        return float(value)
    except ValueError:
        raise ValueError("parameters of loads must be numbers") from None
