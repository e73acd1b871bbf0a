"""A worked example in place of Wu-Shu Figure 11, whose numbers are lost: DDE on a 4x4 torus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..exchange.direct_exchange import dde
from ..topologies.grids import Torus

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..exchange.result import Balance

TORUS = Torus(4, 4)
LOADS = np.array([[9, 5, 8, 2], [6, 6, 4, 1], [4, 5, 3, 3], [2, 2, 2, 1]])
DIMENSIONS = ("first dimension (down the columns)", "second dimension (along the rows)")


def worked() -> Balance:
    """Return the balance of the example, with flows and stages."""
    return dde(LOADS, TORUS, record="flows")


def text(balance: Balance) -> str:
    """Return the example as text: loads and flows of each dimension, and the result."""
    lines = ["Figure 11: DDE on a 4x4 torus (our loads; the paper's numbers are lost)"]
    before = LOADS
    for axis, (dimension, after) in enumerate(zip(DIMENSIONS, balance.stages, strict=True)):
        flows = balance.flows[axis]
        lines += ["", f"  ({'ab'[axis]}) DDE-ring in the {dimension}; moved right or down: +"]
        lines += _beside({"loads": before, "flow to the next": flows, "loads after": after})
        before = after
    lines += [
        "",
        f"  (c) The difference is {balance.difference}, at most one a dimension; "
        f"{balance.local} of {LOADS.sum()} units stayed,",
        f"      {balance.moved} units times links were moved.",
    ]
    return "\n".join(lines)


def _beside(arrays: dict[str, NDArray[np.int64]]) -> list[str]:
    width = 22
    rows = [[" ".join(f"{value:>3}" for value in row) for row in a] for a in arrays.values()]
    heads = "".join(f"{title:<{width}}" for title in arrays)
    return ["      " + heads.rstrip()] + [
        "      " + "".join(f"{cell:<{width}}" for cell in line).rstrip()
        for line in zip(*rows, strict=True)
    ]
