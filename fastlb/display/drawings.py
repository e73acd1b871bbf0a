"""Small drawings as inline SVG: loads as bars or a map, networks as nodes and links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingExtraError
from ..extras import extra
from .html import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Larger networks and loads are not drawn: a picture of them is slow and tells nothing.
MOST_NODES, MOST_LINKS, MOST_LOADS = 100, 1000, 1024
# Loads drawn one by one; of more the frequencies are drawn.
MOST_BARS, BINS = 64, 32
# Room for links that bend.
MARGIN = 24
# Okabe and Ito's colours, told apart by all kinds of colour vision and in grey.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#999999"
# Ends and quarters of matplotlib's viridis.
VIRIDIS = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)])
# Directions of the axes of grids and hypercubes, from the last axis on.
AXES = np.array([(1, 0), (0, 1), (0.42, 0.3), (2.6, 0.25), (0.3, 2.7)])


def loads_drawing(loads: NDArray[Any], shape: Sequence[int]) -> Markup:
    """Draw the loads of one network: a map of a two-dimensional one, else bars from 0."""
    values = loads.reshape(-1).astype(np.float64)
    if len(shape) == 2 and min(shape) > 1 and values.size <= MOST_LOADS and max(shape) <= 64:
        return _map(values, shape[1])
    if values.size <= MOST_BARS:
        largest = values.max(initial=0)
        about = f"loads of {values.size} nodes, from 0 to {largest:.6g}"
        return _bars(values, about)
    counts, _ = np.histogram(values, BINS)
    about = f"how many nodes have how much load, from {values.min():.6g} to {values.max():.6g}"
    return _bars(counts.astype(np.float64), about)


def _map(values: NDArray[np.float64], columns: int) -> Markup:
    side = max(4, min(20, 240 // columns))
    least, span = values.min(), np.ptp(values) or 1.0
    cells = [
        tag(
            "rect",
            tag("title", f"{value:.6g} at node {i}"),
            x=str(i % columns * side),
            y=str(i // columns * side),
            width=str(side),
            height=str(side),
            fill=_colour((value - least) / span),
        )
        for i, value in enumerate(values.tolist())
    ]
    about = f"map of loads from {least:.6g} (dark) to {values.max():.6g} (bright)"
    return _svg(columns * side, values.size // columns * side, about, cells)


def _bars(values: NDArray[np.float64], about: str, height: int = 80) -> Markup:
    width = max(4, min(24, 320 // max(1, values.size)))
    largest = values.max(initial=0) or 1.0
    bars = []
    for i, value in enumerate(values.tolist()):
        tall = round(height * value / largest, 1)
        bars.append(
            tag(
                "rect",
                tag("title", f"{value:.6g}"),
                x=str(i * width),
                y=f"{height - tall:g}",
                width=str(width - 1),
                height=f"{tall:g}",
                fill=BLUE,
            )
        )
    return _svg(values.size * width, height, about, bars)


def network_drawing(
    places: NDArray[np.float64],
    links: NDArray[np.int64],
    *,
    about: str,
    names: Sequence[str],
    colours: Sequence[str] = (),
    flows: NDArray[np.float64] | None = None,
    tight: Sequence[int] = (),
) -> Markup:
    """Draw nodes (N, 2) and links (L, 2); with flows (L,) links are as wide as these."""
    low = places.min(axis=0)
    span = np.maximum(places.max(axis=0) - low, 1e-9)
    scale = 240 / max(span.max(), 1.0) if span.max() > 1e-6 else 0.0
    at = ((places - low) * min(scale, 90) + MARGIN).round(1)
    width, height = (at.max(axis=0) + MARGIN).tolist()
    widths = np.ones(len(links)) if flows is None else 1 + 4 * flows / (flows.max(initial=0) or 1)
    lines = []
    for i, (u, v) in enumerate(links.tolist()):
        drawn = {"stroke": GREEN if i in tight else GREY, "stroke_width": f"{widths[i]:.2g}"}
        amount = [] if flows is None else [tag("title", f"{names[u]} to {names[v]}: {flows[i]:g}")]
        lines.append(
            tag("path", *amount, d=_path(at, u, v, flows is not None), fill="none", **drawn)
        )
    dots = [
        tag(
            "circle",
            tag("title", name),
            cx=f"{x:g}",
            cy=f"{y:g}",
            r="4",
            fill=colours[i] if colours else BLUE,
        )
        for i, (name, (x, y)) in enumerate(zip(names, at.tolist(), strict=True))
    ]
    return _svg(width, height, about, [*lines, *dots])


def _path(at: NDArray[np.float64], u: int, v: int, bent: bool) -> str:
    """Return the line between two nodes; links that pass over nodes, or go both ways, bend."""
    (x, y), (x2, y2) = at[u].tolist(), at[v].tolist()
    dx, dy = x2 - x, y2 - y
    length = math.hypot(dx, dy) or 1.0
    others = at - at[u]
    along = (others @ (dx, dy)) / length**2
    apart = np.abs(others @ (-dy, dx)) / length
    passed = ((along > 0.01) & (along < 0.99) & (apart < 3)).any()
    bow = 0.18 if passed else 0.08 if bent else 0.0
    if not bow:
        return f"M{x:g} {y:g}L{x2:g} {y2:g}"
    return f"M{x:g} {y:g}Q{(x + x2) / 2 - bow * dy:.1f} {(y + y2) / 2 + bow * dx:.1f} {x2:g} {y2:g}"


def grid_places(shape: Sequence[int]) -> NDArray[np.float64] | None:
    """Return where the nodes of a grid or hypercube are drawn (N, 2); None beyond five axes."""
    if len(shape) > len(AXES):
        return None
    size = math.prod(shape)
    coordinates = np.stack(np.unravel_index(np.arange(size), shape or (1,)), axis=1)
    places: NDArray[np.float64] = coordinates[:, ::-1] @ AXES[: coordinates.shape[1]]
    return places


def ring_places(size: int) -> NDArray[np.float64]:
    """Return places (N, 2) on a circle, from the top on."""
    angles = 2 * math.pi * np.arange(size) / size
    return max(1.0, size / 6) * np.stack([np.sin(angles), -np.cos(angles)], axis=1)


def network_places(size: int, links: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return places (N, 2) by networkx' springs, or on a circle where it is not installed."""
    try:
        networkx = extra("networkx")
    except MissingExtraError:
        return ring_places(size)
    graph = networkx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(links.tolist())
    placed = networkx.spring_layout(graph, seed=1)
    return max(2.0, math.sqrt(size)) * np.array([placed[i] for i in range(size)])


def _colour(part: float) -> str:
    place = part * (len(VIRIDIS) - 1)
    below = min(int(place), len(VIRIDIS) - 2)
    mixed = VIRIDIS[below] + (place - below) * (VIRIDIS[below + 1] - VIRIDIS[below])
    return "#" + "".join(f"{round(c):02x}" for c in mixed.tolist())


def _svg(width: float, height: float, about: str, shapes: Sequence[Markup]) -> Markup:
    return tag(
        "svg",
        tag("title", about),
        *shapes,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        width=f"{width:g}",
        height=f"{height:g}",
        viewBox=f"0 0 {width:g} {height:g}",
    )
