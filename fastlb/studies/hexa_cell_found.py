"""What the Hexa-Cell study finds: counts of one loaded node, and of random loads by trial."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..hexa_cell_exchange import hexa_cell
from ..hexa_cell_topology import INTERIOR, HyperHexaCell
from .hexa_cell import METHODS, random_loads

if TYPE_CHECKING:
    from ..result import Balance
    from ..results import Results
    from ..statistic import Statistic

COORDINATOR, LEFT = 0, 1
POSITIONS = range(len(INTERIOR))


class Found:
    """What one loaded node costs, and what the trials found on random loads."""

    def __init__(self, results: Results) -> None:
        self.trials = results.study.trials
        self._summary = results.summary()

    def statistic(self, figure: str, algorithm: str, d: int, M: int) -> Statistic:
        """Return one figure of random loads over the trials."""
        key = HyperHexaCell(d).spec, METHODS[algorithm], random_loads(M).spec
        return self._summary[key][figure]

    def one_loaded(self, figure: str, algorithm: str, d: int, M: int, node: int) -> int:
        """Return one counter of one node with M units, at one of the six positions."""
        return int(six_positions(algorithm, d, M).counts[figure][node])

    def most_of_one_loaded(self, figure: str, algorithm: str, d: int, M: int) -> int:
        """Return the largest of one counter over the six positions."""
        return max(self.one_loaded(figure, algorithm, d, M, node) for node in POSITIONS)


@cache
def six_positions(algorithm: str, d: int, M: int) -> Balance:
    """Balance six networks, in each of which another node of cell 0 has all the load."""
    topology = HyperHexaCell(d)
    return hexa_cell(M * np.eye(6, topology.size, dtype=np.int64), topology, algorithm)


def popcount_shaped(d: int) -> Any:
    """Return loads that no phase of A, B or C changes, with a difference of d + 2."""
    level = np.bitwise_count(np.arange(2 ** (d - 1))).astype(np.int64)
    return (level[:, None] + np.array([0, 2, 2, 1, 3, 3])).reshape(-1)
