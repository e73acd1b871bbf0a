"""An example of DDE on a 4x4 torus, in place of Wu-Shu's Figure 11, whose numbers are lost."""

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


def balance() -> Balance:
    """Return the result of the example, with flows and stages."""
    return dde(LOADS, TORUS, record="flows")


def text(result: Balance) -> str:
    """Return the example as text: the loads and flows of each dimension, and the result."""
    lines = ["Figure 11: DDE on a 4x4 torus (our loads; the paper's numbers are lost)"]
    before = LOADS
    for axis, (dimension, after) in enumerate(zip(DIMENSIONS, result.stages, strict=True)):
        flows = result.flows[axis]
        lines += ["", f"  ({'ab'[axis]}) DDE-ring in the {dimension}; moved right or down: +"]
        lines += _side_by_side({"loads": before, "flow to the next": flows, "loads after": after})
        before = after
    lines += [
        "",
        f"  (c) The difference is {result.difference}, at most one a dimension; "
        f"{result.local} of {LOADS.sum()} units stayed,",
        f"      {result.moved} units times links were moved.",
    ]
    return "\n".join(lines)


def _side_by_side(arrays: dict[str, NDArray[np.int64]]) -> list[str]:
    """Return the lines of arrays side by side, each below its title."""
    width = 22
    lines = [
        [" ".join(f"{value:>3}" for value in row) for row in rows]
        for rows in zip(*arrays.values(), strict=True)
    ]
    lines.insert(0, list(arrays))
    return ["      " + "".join(f"{text:<{width}}" for text in line).rstrip() for line in lines]
