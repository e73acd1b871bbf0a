"""Distributions whose loads are looked up in tables of exact probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..accelerate import kernels
from ..exchange.casting import INT64_MAX
from ..rational import read_rational
from . import tables
from .bounds import above, bounds_of, whole, within
from .distributions import Independent

if TYPE_CHECKING:
    from dataclasses import Field
    from fractions import Fraction

    from .distributions import LawAndTable


# With larger means tails and intermediate results would not fit int64.
MAX_MEAN = 2**50


@dataclass(frozen=True)
class Tabulated(Independent):
    """Loads looked up in a table of exact probabilities.

    Node i takes ``u``, word i of the trial's Philox stream. With ``table``, a
    :class:`fastlb.random_loads.tables.Table`, and
    ``c = searchsorted(table.thresholds, u, side="right")`` its load is
    ``table.first[c] + (u & table.mask[c])``. The probability of a load below ``first[c]`` has an
    error of at most ``2**-64``; less likely loads never occur. Loads of a cell are equally likely.
    Tables are computed in integers: they are the same on every machine.
    """

    # The function that makes the table from the parameters, which are fractions if they need not
    # be whole.
    make: ClassVar[Callable[..., tables.Table]]

    @property
    def table(self) -> tables.Table:
        """The table of the parameters."""
        return _table_of(self)

    @property
    def largest(self) -> int:
        """The largest possible load."""
        return self.table.largest

    def law(self) -> LawAndTable:
        """Return the kernels' table."""
        t, loads = self.table, kernels("random.loads")
        table = loads.Table(t.thresholds, t.first, t.mask, t.guide, np.uint64(t.shift))
        return loads.Law(None, None, None), table

    def make_table(self) -> tables.Table:
        """Return a new table of the parameters."""
        return self.make(*map(self._exact, fields(self)))

    def _exact(self, parameter: Field[Any]) -> int | Fraction:
        """Return a parameter as an integer if it must be whole, and as a fraction otherwise."""
        value = getattr(self, parameter.name)
        bounds = bounds_of(parameter)
        return value if bounds and bounds.whole else read_rational(parameter.name, value)


@lru_cache(maxsize=64)
def _table_of(distribution: Tabulated) -> tables.Table:
    return distribution.make_table()


@dataclass(frozen=True)
class Exponential(Tabulated):
    """Whole loads with an exponential tail: ``P(load >= k) = (mean / (1 + mean))**k``.

    This is the geometric distribution on 0, 1, 2, .. with exactly this mean. :class:`Tabulated`
    describes how a load is drawn: loads below 2048 have their own cells, and larger ones share a
    cell if they agree in their 11 leading bits.

    Parameters
    ----------
    mean : number
        From 0 to 2**50.

    Raises
    ------
    TypeError, ValueError
        If the mean is not such a number.

    Examples
    --------
    >>> table = Exponential(1).table
    >>> (table.thresholds[:3] / 2**64).tolist()
    [0.5, 0.75, 0.875]
    """

    name: ClassVar[str] = "exponential"
    mean: float = field(metadata=within(0, MAX_MEAN))
    make = staticmethod(tables.geometric)


@dataclass(frozen=True)
class Poisson(Tabulated):
    """Poisson distributed loads: ``P(load = k) = exp(-mean) mean**k / k!``.

    :class:`Tabulated` describes how a load is drawn. Up to a mean of ten million all loads have
    their own cells; with larger means cells are at most 1/100 of the standard deviation wide.

    Parameters
    ----------
    mean : number
        Above 0, to 2**32.

    Raises
    ------
    TypeError, ValueError
        If the mean is not such a number.

    Examples
    --------
    >>> Poisson(1000).table.least, Poisson(1000).largest
    (725, 1303)
    """

    name: ClassVar[str] = "poisson"
    mean: float = field(metadata=above(0, 2**32))
    make = staticmethod(tables.poisson)


@dataclass(frozen=True)
class Normal(Tabulated):
    """Normally distributed numbers, rounded to whole loads and clipped at 0.

    ``P(load <= k) = Phi((k + 1/2 - mean) / deviation)``. :class:`Tabulated` describes how a load is
    drawn. Up to a deviation of 200 all loads have their own cells; with larger deviations cells are
    at most 1/100 of the deviation wide.

    Parameters
    ----------
    mean : number
        Mean before clipping, from 0 to 2**50.
    deviation : number
        Standard deviation before rounding and clipping, above 0, to 2**50.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not such a number.

    Examples
    --------
    >>> Normal(mean=1000, deviation=100).spec
    'normal:1000,100'
    """

    name: ClassVar[str] = "normal"
    mean: float = field(metadata=within(0, MAX_MEAN))
    deviation: float = field(metadata=above(0, MAX_MEAN))
    make = staticmethod(tables.normal)


@dataclass(frozen=True)
class LogNormal(Tabulated):
    """Numbers whose logarithm is normally distributed, rounded to whole loads.

    ``P(load <= k) = Phi((ln(k + 1/2) - ln(mean) + sigma**2 / 2) / sigma)``. :class:`Tabulated`
    describes how a load is drawn: loads below 512 have their own cells, and larger ones share a
    cell if they agree in their 9 leading bits.

    Parameters
    ----------
    mean : number
        Mean before rounding, above 0, to 2**50.
    sigma : number
        Standard deviation of the logarithm, above 0, to 4. The largest load, about
        ``mean * exp(10 * sigma - sigma**2 / 2)``, must stay below 2**60.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not such a number.

    Examples
    --------
    >>> LogNormal(mean=1000, sigma=0.5).spec
    'log-normal:1000,0.5'
    """

    name: ClassVar[str] = "log-normal"
    mean: float = field(metadata=above(0, MAX_MEAN))
    sigma: float = field(metadata=above(0, 4))
    make = staticmethod(tables.log_normal)

    def __post_init__(self) -> None:
        super().__post_init__()
        mean, sigma = self.mean, self.sigma
        largest_bits = float(np.log2(mean) + (10 * sigma - sigma**2 / 2) / np.log(2))
        if largest_bits > 60:
            raise ValueError(
                f"sigma must leave loads below 2**60, got {sigma}: they reach 2**{largest_bits:.0f}"
            )


@dataclass(frozen=True)
class Zipf(Tabulated):
    """Loads from 1 to ``largest_load`` with ``P(load = k)`` proportional to ``k**-exponent``.

    :class:`Tabulated` describes how a load is drawn. Every load has its own cell.

    Parameters
    ----------
    exponent : number
        From 0 to 64.
    largest_load : int
        From 1 to 2**16.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not such a number.

    Examples
    --------
    >>> Zipf(exponent=1, largest_load=2).table.thresholds.tolist() == [(2**65 + 1) // 3]
    True
    """

    name: ClassVar[str] = "zipf"
    exponent: float = field(metadata=within(0, 64))
    largest_load: int = field(metadata=whole(1, 2**16))
    make = staticmethod(tables.zipf)


@dataclass(frozen=True)
class TwoValued(Tabulated):
    """One of two loads, ``high`` with probability ``share``.

    A node's load is ``high`` if its word, as described by :class:`Tabulated`, is at least
    ``(1 - share) * 2**64``.

    Parameters
    ----------
    low, high : int
        From 0 to 2**63 - 1, ``low`` below ``high``.
    share : number
        From 0 to 1.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not such a number.

    Examples
    --------
    >>> TwoValued(low=0, high=100, share=0.25).table.thresholds.tolist() == [3 * 2**62]
    True
    """

    name: ClassVar[str] = "two-valued"
    low: int = field(metadata=whole(0, INT64_MAX))
    high: int = field(metadata=whole(0, INT64_MAX))
    share: float = field(default=0.5, metadata=within(0, 1))
    make = staticmethod(tables.two_values)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low >= self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}")
