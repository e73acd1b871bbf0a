"""A minimax-flow problem in whole units, and its capacities at a contention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .scaling import Integers, checked, exact_sum

if TYPE_CHECKING:
    from ..kernels.shared.residual import ResidualGraph
    from ..topologies.network import Expanded

Nodes = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Problem:
    """A scaled minimax-flow problem; all amounts are int64 units.

    Attributes
    ----------
    graph : Expanded
        The links, E of them.
    usable, base : (E,) int64
        Capacity for load; existing traffic that counts as contention (C1; 0 in C2 and on links
        whose contention does not count).
    counted : (E,) bool
        Links whose contention counts.
    excess, room : (N,) int64
        Load to send, load that fits.
    limit : int
        Most units to send, at most the total excess and the total room.
    """

    graph: Expanded
    usable: Integers
    base: Integers
    counted: Nodes
    excess: Integers
    room: Integers
    limit: int

    @property
    def tail(self) -> Integers:
        """Where the links (E,) begin."""
        return self.graph.tail

    @property
    def head(self) -> Integers:
        """Where the links (E,) end."""
        return self.graph.head

    @property
    def residual(self) -> ResidualGraph:
        """The residual graph of the links."""
        return self.graph.residual

    @cached_property
    def lowest(self) -> int:
        """The contention that exists already: 0 in C2, the largest counted traffic in C1."""
        return int(self.base.max(initial=0))

    def capacity(self, beta: Fraction | None) -> tuple[Integers, int]:
        """Return the capacities (E,) of N(beta) and the factor that makes them whole.

        ``None`` leaves contention unlimited.
        """
        if beta is None:
            return self.usable, 1
        self.check_beta(beta)
        p, q = beta.numerator, beta.denominator
        scaled = self.scaled(q)
        within = np.minimum(scaled.usable, np.maximum(p - scaled.base, 0))
        return np.where(self.counted, within, scaled.usable), q

    def scaled(self, q: int) -> Problem:
        """Return the problem in units ``q`` times smaller.

        Raises
        ------
        OverflowError
            If a total then exceeds ``2**61``.
        """
        if q == 1:
            return self
        self.check_scale(q)
        return replace(
            self,
            usable=self.usable * q,
            base=self.base * q,
            excess=self.excess * q,
            room=self.room * q,
            limit=self.limit * q,
        )

    def check_beta(self, beta: Fraction) -> None:
        """Raise OverflowError if the flow at ``beta`` does not fit the kernels."""
        checked("the exact contention's numerator", beta.numerator)
        if beta.denominator > 1:
            self.check_scale(beta.denominator)

    def check_scale(self, q: int) -> None:
        """Raise OverflowError if a total in units ``q`` times smaller exceeds ``2**61``."""
        if q == 1:
            return
        for name, values in (("excess", self.excess), ("room", self.room)):
            checked(f"total {name} times {q}, the denominator of beta*,", exact_sum(values) * q)
        checked(f"traffic times {q}, the denominator of beta*,", int(self.base.max(initial=0)) * q)

    def growing(self, side: Nodes, beta: Fraction) -> Nodes:
        """Mark the counted links (E,) out of ``side`` that carry more when beta grows."""
        capacity, q = self.capacity(beta)
        across = side[self.tail] & ~side[self.head]
        return across & self.counted & (capacity < self.usable * q)
