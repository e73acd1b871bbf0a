"""Pictures of the Hyper Hexa-Cell network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..exchange.loads import batch_shape
from ..extras import extra
from .plotting import BLUE, GREY, ORANGE, STYLE, new_figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ..topologies.topology import Topology

MOST_CELLS = 64
# A cell seen as a prism: the upper triangle, and the lower one to its right.
_TRIANGLE = np.array([(0.5, 0.9), (0.0, 0.0), (1.0, 0.0)])
_CELL = np.concatenate([_TRIANGLE, _TRIANGLE + np.array([1.5, -0.35])])
_PITCH = np.array([3.7, 2.6])
# Links of a dimension are arcs, because straight ones of higher bits would cover others: matplotlib
# bends them by this share of their length, and they reach half as far to the right or down.
_BEND = 0.1
# Room around the nodes for their frames.
_MARGIN = 0.55
# Inches a unit, and the least width of a figure: that of its title.
_SCALE, _LEAST_WIDTH = 0.75, 4.0


def positions(bits: int) -> NDArray[np.float64]:
    """Return the positions of the nodes of ``2**bits`` cells, shape (N, 2).

    Even bits of the cell number lead to the right, odd ones up.
    """
    cell = np.arange(1 << bits)
    corner = np.zeros((1 << bits, 2))
    for bit in range(bits):
        corner[:, bit % 2] += (cell >> bit & 1) * _PITCH[bit % 2] * 2 ** (bit // 2)
    result: NDArray[np.float64] = (corner[:, None, :] + _CELL).reshape(-1, 2)
    return result


def draw(
    topology: Topology,
    labels: Sequence[str],
    links: Iterable[tuple[int, NDArray[np.int64]]],
    names: Sequence[str],
    loads: ArrayLike | None = None,
) -> Any:
    """Return a figure of the network: triangles blue, prisms grey, dimensions orange.

    Parameters
    ----------
    topology : Topology
        The network, of at most ``MOST_CELLS`` cells of six nodes.
    labels : sequence of str, one a node
        Written into the nodes where there are no loads.
    links : iterable of (offset, lower ends)
        By the distance of their ends: 1 and 2 in triangles, 3 in prisms, above in dimensions.
    names : sequence of str, one a cell
    loads : array_like, optional
    """
    bits = len(names).bit_length() - 1
    texts = labels if loads is None else _load_texts(topology, loads)
    nodes = positions(bits)
    longest = max(_PITCH) * 2 ** ((bits - 1) // 2) if bits > 0 else 0.0
    arc = _BEND / 2 * longest * np.array([1, -1])
    low = nodes.min(axis=0) - _MARGIN + np.minimum(arc, 0)
    high = nodes.max(axis=0) + _MARGIN + np.maximum(arc, 0)
    width, height = _SCALE * (high - low)
    with extra("matplotlib").rc_context(STYLE):
        figure = new_figure(figsize=(max(width, _LEAST_WIDTH), height + 0.4))
        axes = figure.add_subplot(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        axes.set_aspect("equal")
        axes.axis("off")
        for offset, lower in links:
            colour = BLUE if offset < 3 else GREY if offset == 3 else ORANGE
            for u in lower.tolist():
                bend = 0.0 if offset <= 3 else _BEND
                _line(axes, nodes[u], nodes[u + offset], bend, colour)
        for node, text in zip(nodes, texts, strict=True):
            _node(axes, node, text)
        for coordinator, name in zip(nodes[::6], names, strict=True):
            _name(axes, coordinator + np.array([-0.25, 0.2]), name)
        title = f"{topology!r}: {topology.size} nodes, {topology.edge_count} links"
        figure.suptitle(title, x=0.02, ha="left")
    return figure


def _load_texts(topology: Topology, loads: ArrayLike) -> list[str]:
    """Return each load as text of about nine characters: integers of six digits in full."""
    try:
        values = np.asarray(loads)
    except ValueError:
        raise ValueError("loads must be an array, got rows of unequal length") from None
    if values.dtype.kind not in "iuf":
        raise TypeError(f"loads must be numbers, got dtype {values.dtype}")
    if batch_shape(values.shape, topology):
        raise ValueError(f"loads must be those of one network, got shape {values.shape}")
    refused = values[~(np.isfinite(values) & (values >= 0))]
    if refused.size:
        raise ValueError(f"loads must be finite and not negative, got {refused.flat[0]}")
    return [
        f"{load:.0f}"
        if load < 10**6 and (load == int(load) or load >= 10**4)
        # Four digits, and an exponent where that is shorter.
        else f"{load:.4g}"
        for load in values.reshape(-1).tolist()
    ]


def _node(axes: Any, place: Any, text: str) -> None:
    """Write a text in a circle, a long one in a frame of its length."""
    short = len(text) <= 3
    axes.text(
        *place,
        text,
        ha="center",
        va="center",
        fontsize=6,
        zorder=3,
        bbox={
            "boxstyle": "circle,pad=0.35" if short else "round,pad=0.35",
            "facecolor": "white",
            "edgecolor": GREY,
        },
    )


def _name(axes: Any, place: Any, name: str) -> None:
    """Write a cell's name."""
    axes.text(
        *place,
        name,
        ha="right",
        va="center",
        fontsize=7,
        color=GREY,
        zorder=2,
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
    )


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
