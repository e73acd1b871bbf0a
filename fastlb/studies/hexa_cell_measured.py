"""What the Hexa-Cell study measures: counts of one loaded node, and of random loads by trial."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..hexa_cells.hexa_cell_costs import hexa_cell_formulas
from ..hexa_cells.hexa_cell_exchange import hexa_cell
from ..topologies.hexa_cell_topology import HyperHexaCell
from .hexa_cell_settings import METHODS, random_loads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..exchange.result import Balance
    from ..montecarlo.results import Results
    from ..montecarlo.statistic import Difference, Statistic

# The paper's metrics: our figure, and its formula.
METRICS = {
    "time": ("counts.time", "time"),
    "error": ("difference", "error"),
    "steps": ("counts.endpoint_max", "max_steps"),
    "total": ("counts.endpoint_total", "total_steps"),
}


class Measured:
    """What one loaded node costs, and what the trials found on random loads.

    Figures are named as in ``Balance``, counters ``counts.NAME``.
    """

    def __init__(self, results: Results) -> None:
        self._summary = results.summary()
        self._differences = results.compare(figures=[figure for figure, _ in METRICS.values()])

    def statistic(self, figure: str, algorithm: str, d: int, M: int) -> Statistic:
        """Return one figure of random loads over the trials."""
        key = HyperHexaCell(d).spec, METHODS[algorithm], random_loads(M).spec
        return self._summary[key][figure]

    def more_than_b(self, figure: str, algorithm: str, d: int, M: int) -> Difference:
        """Return by how much one figure exceeds that of B, trial by trial on the same loads."""
        group = HyperHexaCell(d).spec, random_loads(M).spec
        first, second = METHODS[algorithm], METHODS["B"]
        if (*group, first, second) in self._differences:
            return self._differences[*group, first, second][figure]
        return -self._differences[*group, second, first][figure]

    def largest(self, figure: str, algorithm: str, d: int, units: Iterable[int]) -> int:
        """Return the largest of one figure in all trials with loads up to each of ``units``."""
        return max(round(self.statistic(figure, algorithm, d, M).maximum) for M in units)


@cache
def six_positions(algorithm: str, d: int, M: int) -> Balance:
    """Balance six networks, in each of which another node of cell 0 has all the load."""
    topology = HyperHexaCell(d)
    return hexa_cell(M * np.eye(6, topology.size, dtype=np.int64), topology, algorithm)


def one_loaded(figure: str, algorithm: str, d: int, M: int) -> list[int]:
    """Return one figure of one node with M units, at each of the six positions."""
    balance = six_positions(algorithm, d, M)
    kind, _, counter = figure.partition(".")
    values: list[int] = (balance.counts[counter] if counter else getattr(balance, kind)).tolist()
    return values


def formula(name: str, algorithm: str, d: int, M: int) -> int | float | None:
    """Return one of ``hexa_cell_formulas`` as a number for a table, None where none is printed."""
    value = hexa_cell_formulas(d, M, algorithm)[name]
    return value if value is None or isinstance(value, int) else float(value)


def popcount_shaped(d: int) -> Any:
    """Return loads that no phase of A, B or C changes, with a difference of d + 2."""
    level = np.bitwise_count(np.arange(2 ** (d - 1))).astype(np.int64)
    return (level[:, None] + np.array([0, 2, 2, 1, 3, 3])).reshape(-1)
