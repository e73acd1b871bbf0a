"""Distributions of loads of which a table is searched, and the one with a single hot node."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..accelerate import kernels
from ..exchange.result import INT64_MAX
from ..rational import read_rational
from ..topologies.topology import _integer
from . import tables
from .distributions import Drawn, Law, kernel_law, read_parameter, round_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

# From here on neither tails nor what is computed on the way would fit.
MAX_MEAN = 2**50
MAX_POISSON = 2**32
MAX_ZIPF = 2**16


@dataclass(frozen=True)
class Tabulated(Drawn):
    """Loads found in a table of exact probabilities.

    Node i takes ``u``, word i of the trial's Philox stream. With ``table``, a
    :class:`fastlb.random_loads.tables.Table`, and
    ``c = searchsorted(table.thresholds, u, side="right")`` its load is
    ``table.first[c] + (u & table.mask[c])``. Every probability of a load below ``first[c]`` is
    right to ``2**-64``; what is less likely never occurs. Loads of a cell are equally likely.
    Tables are computed in integers: they are the same on every machine.
    """

    @property
    def table(self) -> tables.Table:
        """The table that the words are looked up in."""
        return _table_of(self)

    @property
    def largest(self) -> int:
        """No load is larger."""
        return self.table.largest

    def law(self) -> Law:
        """Return what the kernels are told."""
        t = self.table
        kind = kernels("philox").TABLE
        return kernel_law(kind, 0, t.thresholds, t.first, t.mask, t.guide, t.shift)

    @abstractmethod
    def tabulated(self) -> tables.Table:
        """Make the table; it is asked for once."""


@lru_cache(maxsize=64)
def _table_of(distribution: Tabulated) -> tables.Table:
    return distribution.tabulated()


@dataclass(frozen=True)
class Exponential(Tabulated):
    """Whole loads with an exponential tail: ``P(load >= k) = (mean / (1 + mean))**k``.

    This is the geometric distribution from 0 on, of exactly this mean. See :class:`Tabulated`
    for how a load is drawn: loads below 2048 have their own cells, above loads that agree in
    their 11 leading bits share one.

    Parameters
    ----------
    mean : number
        From 0 to 2**50.

    Raises
    ------
    TypeError, ValueError
        If the mean is no such number.

    Examples
    --------
    >>> table = Exponential(1).table
    >>> (table.thresholds[:3] / 2**64).tolist()
    [0.5, 0.75, 0.875]
    """

    name: ClassVar[str] = "exponential"
    mean: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", read_parameter("mean", self.mean, 0, MAX_MEAN))

    def tabulated(self) -> tables.Table:
        """Make the table."""
        return tables.geometric(read_rational("mean", self.mean))


@dataclass(frozen=True)
class Poisson(Tabulated):
    """Poisson distributed loads: ``P(load = k) = exp(-mean) mean**k / k!``.

    See :class:`Tabulated` for how a load is drawn. All loads have their own cells up to a mean
    of ten million; beyond, cells are at most 1/100 of the standard deviation wide.

    Parameters
    ----------
    mean : number
        Above 0, to 2**32.

    Raises
    ------
    TypeError, ValueError
        If the mean is no such number.

    Examples
    --------
    >>> Poisson(1000).table.least, Poisson(1000).largest
    (725, 1303)
    """

    name: ClassVar[str] = "poisson"
    mean: float

    def __post_init__(self) -> None:
        mean = read_parameter("mean", self.mean, 0, MAX_POISSON)
        if not mean:
            raise ValueError(f"mean must be above 0, got {self.mean}")
        object.__setattr__(self, "mean", mean)

    def tabulated(self) -> tables.Table:
        """Make the table."""
        return tables.poisson(read_rational("mean", self.mean))


@dataclass(frozen=True)
class Normal(Tabulated):
    """Normally distributed numbers, rounded to whole loads and clipped at 0.

    ``P(load <= k) = Phi((k + 1/2 - mean) / deviation)``. See :class:`Tabulated` for how a load
    is drawn: cells are single loads up to a deviation of 200, and at most 1/100 of the deviation
    wide beyond.

    Parameters
    ----------
    mean : number
        Mean before clipping, from 0 to 2**50.
    deviation : number
        Standard deviation before rounding and clipping, above 0, to 2**50.

    Raises
    ------
    TypeError, ValueError
        If a parameter is no such number.

    Examples
    --------
    >>> Normal(mean=1000, deviation=100).spec
    'normal:1000,100'
    """

    name: ClassVar[str] = "normal"
    mean: float
    deviation: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", read_parameter("mean", self.mean, 0, MAX_MEAN))
        deviation = read_parameter("deviation", self.deviation, 0, MAX_MEAN)
        if not deviation:
            raise ValueError(f"deviation must be above 0, got {self.deviation}")
        object.__setattr__(self, "deviation", deviation)

    def tabulated(self) -> tables.Table:
        """Make the table."""
        mean = read_rational("mean", self.mean)
        return tables.normal(mean, read_rational("deviation", self.deviation))


@dataclass(frozen=True)
class LogNormal(Tabulated):
    """Numbers whose logarithm is normally distributed, rounded to whole loads.

    ``P(load <= k) = Phi((ln(k + 1/2) - ln(mean) + sigma**2 / 2) / sigma)``. See
    :class:`Tabulated` for how a load is drawn: loads below 512 have their own cells, above loads
    that agree in their 9 leading bits share one.

    Parameters
    ----------
    mean : number
        Mean before rounding, above 0, to 2**50.
    sigma : number
        Standard deviation of the logarithm, above 0. The largest load, about
        ``mean * exp(10 * sigma - sigma**2 / 2)``, must stay below 2**60.

    Raises
    ------
    TypeError, ValueError
        If a parameter is no such number.

    Examples
    --------
    >>> LogNormal(mean=1000, sigma=0.5).spec
    'log-normal:1000,0.5'
    """

    name: ClassVar[str] = "log-normal"
    mean: float
    sigma: float

    def __post_init__(self) -> None:
        mean = read_parameter("mean", self.mean, 0, MAX_MEAN)
        sigma = read_parameter("sigma", self.sigma, 0, 4)
        for name, value in {"mean": mean, "sigma": sigma}.items():
            if not value:
                raise ValueError(f"{name} must be above 0, got {value}")
            object.__setattr__(self, name, value)
        reach = float(np.log2(mean) + (10 * sigma - sigma**2 / 2) / np.log(2))
        if reach > 60:
            raise ValueError(
                f"sigma must leave loads below 2**60, got {sigma}: they reach 2**{reach:.0f}"
            )

    def tabulated(self) -> tables.Table:
        """Make the table."""
        mean = read_rational("mean", self.mean)
        return tables.log_normal(mean, read_rational("sigma", self.sigma))


@dataclass(frozen=True)
class Zipf(Tabulated):
    """Loads from 1 to ``largest_load`` with ``P(load = k)`` proportional to ``k**-exponent``.

    See :class:`Tabulated` for how a load is drawn. Every load has its own cell.

    Parameters
    ----------
    exponent : number
        From 0 to 64.
    largest_load : int
        From 1 to 2**16.

    Raises
    ------
    TypeError, ValueError
        If a parameter is no such number.

    Examples
    --------
    >>> Zipf(exponent=1, largest_load=2).table.thresholds.tolist() == [(2**65 + 1) // 3]
    True
    """

    name: ClassVar[str] = "zipf"
    exponent: float
    largest_load: int

    def __post_init__(self) -> None:
        exponent = read_parameter("exponent", self.exponent, 0, 64)
        most = _integer("largest_load", self.largest_load)
        if not 1 <= most <= MAX_ZIPF:
            raise ValueError(f"largest_load must be between 1 and 2**16, got {most}")
        object.__setattr__(self, "exponent", exponent)
        object.__setattr__(self, "largest_load", most)

    def tabulated(self) -> tables.Table:
        """Make the table."""
        return tables.zipf(read_rational("exponent", self.exponent), self.largest_load)


@dataclass(frozen=True)
class TwoValued(Tabulated):
    """One of two loads, ``high`` with probability ``share``.

    A node's load is ``high`` if its word is at least ``(1 - share) * 2**64``; see
    :class:`Tabulated`.

    Parameters
    ----------
    low, high : int
        From 0 to 2**63 - 1, ``low`` below ``high``.
    share : number
        From 0 to 1.

    Raises
    ------
    TypeError, ValueError
        If a parameter is no such number.

    Examples
    --------
    >>> TwoValued(low=0, high=100, share=0.25).table.thresholds.tolist() == [3 * 2**62]
    True
    """

    name: ClassVar[str] = "two-valued"
    low: int
    high: int
    share: float = 0.5

    def __post_init__(self) -> None:
        low, high = _load("low", self.low), _load("high", self.high)
        if low >= high:
            raise ValueError(f"low must be below high, got {low} and {high}")
        values = {"low": low, "high": high, "share": read_parameter("share", self.share, 0, 1)}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def tabulated(self) -> tables.Table:
        """Make the table."""
        return tables.two_values(self.low, self.high, read_rational("share", self.share))


@dataclass(frozen=True)
class OneHot(Drawn):
    """One node of a trial has a load, all others have the same smaller one.

    Of N nodes it is node ``u * N >> 64``, ``u`` the first word of the trial's Philox stream.

    Parameters
    ----------
    load : int
        Load of the hot node, from 0 to 2**63 - 1.
    rest : int
        Load of every other node, from 0 to ``load``.

    Raises
    ------
    TypeError, ValueError
        If a parameter is no such number.

    Examples
    --------
    >>> OneHot(load=640).spec
    'one-hot:640,0'
    """

    name: ClassVar[str] = "one-hot"
    load: int
    rest: int = 0

    def __post_init__(self) -> None:
        load, rest = _load("load", self.load), _load("rest", self.rest)
        if rest > load:
            raise ValueError(f"rest must be at most load, got {rest} and {load}")
        object.__setattr__(self, "load", load)
        object.__setattr__(self, "rest", rest)

    @property
    def largest(self) -> int:
        """No load is larger."""
        return self.load

    def law(self) -> Law:
        """Raise ``TypeError``: where the load lies depends on the number of nodes."""
        raise TypeError("one-hot loads follow no law of a single node")

    def fill(self, rows: NDArray[np.int64], *, seed: int, start: int) -> None:
        """Write the loads of the trials ``start, start + 1, ..`` to ``rows`` (trials, N)."""
        hot = self._hot(rows.shape[0], rows.shape[1], seed, start)
        rows[:] = self.rest
        rows[np.arange(len(rows)), hot] = self.load

    def fill_tiles(self, tiles: NDArray[Any], *, seed: int, start: int) -> None:
        """Write them to tiles (K, N, W), int32 or int64: trial ``k W + w`` to lane w of tile k."""
        K, N, W = tiles.shape
        hot = self._hot(K * W, N, seed, start)
        tiles[:] = self.rest
        k, w = np.divmod(np.arange(K * W), W)
        tiles[k, hot, w] = self.load

    def _hot(self, trials: int, nodes: int, seed: int, start: int) -> NDArray[np.int64]:
        philox = kernels("philox")
        hot = np.empty((trials, 1), np.int64)
        law = kernel_law(philox.SCALED, nodes)
        philox.draw_rows(round_keys(seed), start, law, hot)
        return hot[:, 0]


def _load(name: str, value: Any) -> int:
    load = _integer(name, value)
    if not 0 <= load <= INT64_MAX:
        raise ValueError(f"{name} must be between 0 and 2**63 - 1, got {load}")
    return load
