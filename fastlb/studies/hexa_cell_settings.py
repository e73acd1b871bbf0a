"""The settings of the Hexa-Cell study: algorithms, networks and loads of the paper's figures."""

from __future__ import annotations

from ..random_loads.distributions import Uniform
from ..topologies.hexa_cell_topology import HyperHexaCell

METHODS = {name: f"hexa_cell:algorithm={name}" for name in "ABC"}
DIMENSIONS = tuple(range(1, 10))

# Figures 3, 4, 8 and 9: 96 and 768 processors, by the largest load M of a node.
NETWORKS = {96: HyperHexaCell(5), 768: HyperHexaCell(8)}
UNITS = (10, 100, 1000, 10000, 100000)

# Figures 5 and 10: M = 500, by dimension.
FIXED_UNITS = 500
ALL_UNITS = tuple(sorted({*UNITS, FIXED_UNITS}))

# A load that can be divided by 2 and by 3, and halved along all dimensions up to 9.
EVEN_UNITS = 6 * 2**8


def random_loads(M: int) -> Uniform:
    """Return loads uniform on ``0 .. M``."""
    return Uniform(M // 2)
