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

    # How to draw loads, by a law or, where there is one, by a table.
    Drawing = tuple[Law, Table | None]


@dataclass(frozen=True)
class Distribution(ABC):
    """What the loads of a trial are drawn from. Frozen, hashable, comparable.

    A distribution is a frozen dataclass of its parameters, spelled ``name:value,value`` or
    ``name:key=value``. A parameter's metadata may say what it may be: see ``bounds.py``.

    Attributes
    ----------
    name : str
        What its spelling begins with.
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
        """Read what stands behind the name of a spelling.

        Raises
        ------
        ValueError, TypeError
            If a parameter is missing, unknown, unreadable or out of range.
        """
        parameters = dataclasses.fields(cls)
        known = [parameter.name for parameter in parameters]
        arguments: dict[str, Any] = {}
        for position, part in enumerate(filter(None, values.split(","))):
            key, equals, value = part.rpartition("=")
            key = key.strip() if equals else known[position] if position < len(known) else ""
            if key not in known or key in arguments:
                raise ValueError(f"{cls.name} takes {', '.join(known)}")
            arguments[key] = _read_number(value)
        optional = [p.name for p in parameters if p.default is not dataclasses.MISSING]
        missing = [key for key in known if key not in arguments and key not in optional]
        if missing:
            raise ValueError(f"{cls.name} needs {', '.join(missing)}")
        return cls(**arguments)

    @abstractmethod
    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Write the loads of the trials ``start, start + 1, ..`` to ``rows`` (trials, N)."""


@dataclass(frozen=True)
class Experiment(Distribution):
    """Random input of trials that are measured, instead of loads that are balanced.

    A study takes one in the place of loads; its methods say how :meth:`measure` balances.
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
class Drawn(Distribution):
    """Loads made of Philox words by the kernels, in rows or with trials side by side."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """No load is larger."""

    @abstractmethod
    def fill_tiles(self, tiles: NDArray[Any], *, seed: int, start: int) -> None:
        """Write them to tiles (K, N, W) of integers: trial ``k W + w`` to lane w of tile k.

        ``W`` is a multiple of 16, and ``largest`` fits the tiles' dtype.
        """


@lru_cache(maxsize=64)
def round_keys(seed: int) -> NDArray[np.uint64]:
    """Return the keys of all rounds, (10, 2), of a seed below 2**128."""
    keys: NDArray[np.uint64] = kernels("random.loads").round_keys(seed)
    return keys


@lru_cache(maxsize=64)
def _law_of(distribution: Independent) -> Drawing:
    return distribution.law()


def scaled(span: int, values: NDArray[Any] | None = None) -> Drawing:
    """Return what the kernels are told of words times ``span``, or of values that these number."""
    return kernels("random.loads").Law(None, np.uint64(span), values), None


@dataclass(frozen=True)
class Independent(Drawn):
    """Loads that every node draws by the same law, whatever the others have."""

    @abstractmethod
    def law(self) -> Drawing:
        """Return what the kernels are told; it is asked for once."""

    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Write the loads of the trials ``start, start + 1, ..`` to ``rows`` (trials, N)."""
        kernels("random.loads").draw_rows(round_keys(seed), start, *_law_of(self), rows)

    def fill_tiles(self, tiles: NDArray[Any], *, seed: int, start: int) -> None:
        """Write them to tiles (K, N, W) of integers: trial ``k W + w`` to lane w of tile k."""
        kernels("random.loads").draw_tiles(round_keys(seed), start, *_law_of(self), tiles)


@dataclass(frozen=True)
class Uniform(Independent):
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
    mean: int = field(metadata=whole(0, 2**62 - 1))

    @property
    def largest(self) -> int:
        """No load is larger."""
        return 2 * self.mean

    def law(self) -> Drawing:
        """Return what the kernels are told."""
        span = 2 * self.mean + 1
        if span > 2**32:
            return scaled(span)
        return kernels("random.loads").Law(np.uint64(span), None, None), None


def _read_number(value: str) -> int | float:
    if re.fullmatch(r"\s*[+-]?\d{1,4000}\s*", value, re.ASCII):
        return int(value)
    try:
        return float(value)
    except ValueError:
        raise ValueError("parameters of loads must be numbers") from None
