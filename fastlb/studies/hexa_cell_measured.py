"""Measurements of the Hexa-Cell study: costs of one loaded node, and of random loads."""

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

# The paper's metrics: the figure that measures each, and its formula.
METRICS = {
    "time": ("counts.time", "time"),
    "error": ("difference", "error"),
    "steps": ("counts.endpoint_max", "max_steps"),
    "total": ("counts.endpoint_total", "total_steps"),
}


class HexaCellMeasurements:
    """Summaries of the trials with random loads.

    Figures have the names of the attributes of ``Balance``, and its counters ``counts.NAME``.
    """

    def __init__(self, results: Results) -> None:
        self._summary = results.summary()
        self._differences = results.compare(figures=[figure for figure, _ in METRICS.values()])

    def statistic(self, figure: str, algorithm: str, d: int, M: int) -> Statistic:
        """Return the summary of one figure over the trials with loads up to M."""
        key = HyperHexaCell(d).spec, METHODS[algorithm], random_loads(M).spec
        return self._summary[key][figure]

    def more_than_b(self, figure: str, algorithm: str, d: int, M: int) -> Difference:
        """Return the summary of a figure's differences from that of B on the same loads."""
        group = HyperHexaCell(d).spec, random_loads(M).spec
        first, second = METHODS[algorithm], METHODS["B"]
        if (*group, first, second) in self._differences:
            return self._differences[*group, first, second][figure]
        return -self._differences[*group, second, first][figure]

    def largest(self, figure: str, algorithm: str, d: int, units: Iterable[int]) -> int:
        """Return the largest value of a figure in all trials with loads up to each of ``units``."""
        return max(round(self.statistic(figure, algorithm, d, M).maximum) for M in units)


@cache
def _balance_single_nodes(algorithm: str, d: int, M: int) -> Balance:
    """Balance six networks: in each, another node of cell 0 has M units and all others none."""
    topology = HyperHexaCell(d)
    return hexa_cell(M * np.eye(6, topology.size, dtype=np.int64), topology, algorithm)


def of_single_nodes(figure: str, algorithm: str, d: int, M: int) -> list[int]:
    """Return one figure of a single node with M units, for each of the six positions in a cell."""
    balance = _balance_single_nodes(algorithm, d, M)
    attribute, _, counter = figure.partition(".")
    values = balance.counts[counter] if counter else getattr(balance, attribute)
    listed: list[int] = np.asarray(values).tolist()
    return listed


def formula(name: str, algorithm: str, d: int, M: int) -> int | float | None:
    """Return the value of one of ``hexa_cell_formulas``, or None if the paper prints none."""
    value = hexa_cell_formulas(d, M, algorithm)[name]
    return value if value is None or isinstance(value, int) else float(value)


def popcount_shaped(d: int) -> Any:
    """Return loads with a difference of d + 2 that no phase of A, B or C changes."""
    level = np.bitwise_count(np.arange(2 ** (d - 1))).astype(np.int64)
    return (level[:, None] + np.array([0, 2, 2, 1, 3, 3])).reshape(-1)
