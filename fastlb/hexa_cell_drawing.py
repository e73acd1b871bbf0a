"""Pictures of the Hyper Hexa-Cell network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .accelerate import extra
from .hexa_cell_topology import INTERIOR
from .plotting import BLUE, GREY, ORANGE, STYLE, new_figure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .hexa_cell_topology import HyperHexaCell

MOST_CELLS = 64
# A cell seen as a prism: the upper triangle, and the lower one to its right.
_TRIANGLE = np.array([(0.5, 0.9), (0.0, 0.0), (1.0, 0.0)])
_CELL = np.concatenate([_TRIANGLE, _TRIANGLE + np.array([1.5, -0.35])])
_PITCH = np.array([3.7, 2.6])


def positions(topology: HyperHexaCell) -> NDArray[np.float64]:
    """Return where the nodes are drawn, shape (N, 2): even bits of s to the right, odd ones up."""
    cell = np.arange(topology.cells)
    corner = np.zeros((topology.cells, 2))
    for bit in range(topology.d - 1):
        corner[:, bit % 2] += (cell >> bit & 1) * _PITCH[bit % 2] * 2 ** (bit // 2)
    at: NDArray[np.float64] = (corner[:, None, :] + _CELL).reshape(-1, 2)
    return at


def draw(topology: HyperHexaCell, loads: ArrayLike | None = None) -> Any:
    """Return a figure of the network: triangles blue, prisms grey, dimensions orange."""
    if topology.cells > MOST_CELLS:
        raise ValueError(f"a drawing holds at most {MOST_CELLS} cells, got {topology!r}")
    texts = list(INTERIOR) * topology.cells
    if loads is not None:
        values = np.asarray(loads).reshape(-1)
        if values.size != topology.size:
            raise ValueError(f"loads must be {topology.size} numbers, got {values.size}")
        texts = [f"{value:g}" for value in values.tolist()]
    at = positions(topology)
    extent = at.max(axis=0) - at.min(axis=0) + 1.4
    with extra("matplotlib").rc_context(STYLE):
        page = new_figure(figsize=tuple(0.75 * extent))
        axes = page.add_subplot()
        axes.set_aspect("equal")
        axes.axis("off")
        for offset, lower, _ in topology.links_by_offset():
            colour = BLUE if offset < 3 else GREY if offset == 3 else ORANGE
            for u in lower.tolist():
                # Links of a dimension bend, as those of higher bits would lie upon others.
                bend = 0.0 if offset <= 3 else 0.1
                _line(axes, at[u], at[u + offset], bend, colour)
        axes.scatter(*at.T, s=210, facecolor="white", edgecolor=GREY, zorder=2)
        for place, text in zip(at, texts, strict=True):
            axes.text(*place, text, ha="center", va="center", fontsize=6, zorder=3)
        for cell in range(topology.cells):
            name = topology.label(6 * cell).removesuffix("000)") + "g)"
            axes.text(*(at[6 * cell] + (0.3, 0.2)), name, fontsize=7, color=GREY)
        axes.set_title(f"{topology!r}: {topology.size} nodes, {topology.edge_count} links")
    return page


def _line(axes: Any, start: Any, end: Any, bend: float, colour: str) -> None:
    axes.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops={
            "arrowstyle": "-",
            "color": colour,
            "linewidth": 0.8,
            "connectionstyle": f"arc3,rad={bend}",
            "zorder": 1,
        },
    )
