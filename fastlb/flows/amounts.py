"""Capacities, demands and costs of a flow in whole units, and units as the user's numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..quantities import Kind, Number, Quantities
from .certificate import difference
from .maximum import UNLIMITED
from .scaling import SMALLEST_EXPONENT, common_denominator, common_kind, exact_sum, rounded, times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.network import Network
    from .problem import Nodes
    from .scaling import Integers

# The sum of all amounts of floats has at most so many bits.
SUM_BITS = 61


@dataclass(frozen=True, eq=False)
class Scale:
    """How numbers become whole units.

    Attributes
    ----------
    kind : str
        ``"integer"``, ``"rational"`` or ``"float"`` data.
    per_one : Fraction
        Units in the number 1: 1 for integers, the common denominator of rationals, a power of two
        for floats.
    """

    kind: Kind
    per_one: Fraction

    @classmethod
    def of(cls, bits: int, *columns: Quantities) -> Scale:
        """Return the scale of some columns; the sum of floats then has at most so many bits."""
        kind = common_kind(*columns)
        if kind != "float":
            return cls(kind, Fraction(common_denominator(*columns)))
        try:
            total = math.fsum(abs(x) for column in columns for x in column.values.tolist())
        except OverflowError:
            total = math.inf
        if total == math.inf:
            raise OverflowError("sums of capacities, of demands and of costs must fit a float64")
        exponent = SMALLEST_EXPONENT if total == 0 else bits - math.frexp(total)[1]
        return cls(kind, Fraction(2) ** min(exponent, SMALLEST_EXPONENT))

    def units(self, column: Quantities, rounding: Any = np.rint) -> NDArray[Any]:
        """Return a column in units, int64 or Python's integers; floats are rounded."""
        if self.kind == "float":
            return rounded(column, _exponent(self.per_one), rounding)[0]
        values: NDArray[Any] = column.values
        return times(column, int(self.per_one)) if self.per_one > 1 else values

    def number(self, units: int) -> Number:
        """Return units as a number of the user's kind."""
        if self.kind == "integer":
            return units
        exact = units / self.per_one
        return float(exact) if self.kind == "float" else exact

    def numbers(self, units: Integers) -> NDArray[Any]:
        """Return units (E,) as int64, float64, or an array of Fractions."""
        if self.kind == "integer":
            return units.copy()
        if self.kind == "float":
            return np.ldexp(units.astype(np.float64), -_exponent(self.per_one))
        exact = np.empty(len(units), dtype=object)
        exact[:] = [u / self.per_one for u in units.tolist()]
        return exact


@dataclass(frozen=True, eq=False)
class Capacities:
    """What the links (E,) of a network carry beside their traffic.

    ``units`` are int64, cut off at the largest; ``total`` is the exact sum where they are limited.
    """

    units: Integers
    unlimited: Nodes
    total: int

    @classmethod
    def of(cls, available: Quantities, scale: Scale) -> Capacities:
        """Return capacities in units, rounded down."""
        units = scale.units(available, np.floor)
        total = exact_sum(units)
        if units.dtype == object:
            units = np.minimum(units, UNLIMITED).astype(np.int64)
        unlimited = np.asarray(available.unlimited)
        return cls(np.where(unlimited, UNLIMITED, units), unlimited, total)


def available_capacity(network: Network, most: float = math.inf) -> Quantities:
    """Return capacity less traffic (E,), never below 0; floats rounded down, and at most ``most``.

    A link that would carry more than anything ever sends may so be cut off before it is scaled,
    which would take digits from the others.
    """
    column = network.capacities
    values = exactly_available(network)
    if common_kind(column, network.traffics) == "float":
        if values.dtype != np.float64:
            values = np.array([_float_below(value) for value in values.tolist()])
        values = np.minimum(values, np.nextafter(most, np.inf))
    return Quantities(values, column.unlimited)


def exactly_available(network: Network) -> NDArray[Any]:
    """Return capacity less traffic (E,), exactly and never below 0; 0 where unlimited."""
    capacity, traffic = network.capacities, network.traffics
    if not traffic.values.any():
        return np.asarray(capacity.values)
    available = difference(capacity.values, traffic.values)
    return np.where(capacity.unlimited, 0 * available, np.maximum(available, 0 * available))


def outflow(network: Network, units: Integers) -> Integers:
    """Return what every node (N,) sends less what it receives; sums that wrap cancel out."""
    net = np.zeros(network.size, np.int64)
    np.add.at(net, network.edges[:, 0], units)
    np.subtract.at(net, network.edges[:, 1], units)
    return net


def _exponent(power: Fraction) -> int:
    """Return k of a power of two ``2**k``."""
    return power.numerator.bit_length() - power.denominator.bit_length()


def _float_below(exact: Fraction) -> float:
    near = float(exact)
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)
