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

# Larger networks and more loads are not drawn: pictures of them are slow and show nothing.
MOST_NODES, MOST_LINKS, MOST_LOADS = 100, 1000, 1024
# Loads with a bar each; for more loads the bars show a histogram.
MOST_BARS, BINS = 64, 32
# Pixels around the nodes, for links that bend.
MARGIN = 24
# Okabe and Ito's colours, which all kinds of colour vision distinguish, and grey prints too.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#999999"
# Ends and quarters of matplotlib's viridis.
VIRIDIS = np.array([(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)])
# Directions of the axes of grids and hypercubes, from the last axis on.
AXES = np.array([(1, 0), (0, 1), (0.42, 0.3), (2.6, 0.25), (0.3, 2.7)])


def loads_drawing(loads: NDArray[Any], shape: Sequence[int]) -> Markup:
    """Draw the loads of one network: a map for a two-dimensional one, else bars from 0."""
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
        bar_height = round(height * value / largest, 1)
        bars.append(
            tag(
                "rect",
                tag("title", f"{value:.6g}"),
                x=str(i * width),
                y=f"{height - bar_height:g}",
                width=str(width - 1),
                height=f"{bar_height:g}",
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
    """Draw a network.

    Parameters
    ----------
    places : (N, 2)
        Positions of the nodes, in any unit.
    links : (L, 2) int64
    about : str
        The title, read aloud by screen readers.
    names, colours : of the nodes
    flows : (L,), optional
        Widths of the links, which then bend.
    tight : sequence of int
        Links drawn in green.
    """
    low = places.min(axis=0)
    span = np.maximum(places.max(axis=0) - low, 1e-9)
    scale = 240 / max(span.max(), 1.0) if span.max() > 1e-6 else 0.0
    pixels = ((places - low) * min(scale, 90) + MARGIN).round(1)
    width, height = (pixels.max(axis=0) + MARGIN).tolist()
    widths = np.ones(len(links)) if flows is None else 1 + 4 * flows / (flows.max(initial=0) or 1)
    lines = []
    for i, (u, v) in enumerate(links.tolist()):
        stroke = {"stroke": GREEN if i in tight else GREY, "stroke_width": f"{widths[i]:.2g}"}
        amount = [] if flows is None else [tag("title", f"{names[u]} to {names[v]}: {flows[i]:g}")]
        path = _path(pixels, u, v, bent=flows is not None)
        lines.append(tag("path", *amount, d=path, fill="none", **stroke))
    dots = [
        tag(
            "circle",
            tag("title", name),
            cx=f"{x:g}",
            cy=f"{y:g}",
            r="4",
            fill=colours[i] if colours else BLUE,
        )
        for i, (name, (x, y)) in enumerate(zip(names, pixels.tolist(), strict=True))
    ]
    return _svg(width, height, about, [*lines, *dots])


def _path(pixels: NDArray[np.float64], u: int, v: int, *, bent: bool) -> str:
    """Return the path between two nodes, which bends if it would pass over another node."""
    (x, y), (x2, y2) = pixels[u].tolist(), pixels[v].tolist()
    dx, dy = x2 - x, y2 - y
    length = math.hypot(dx, dy) or 1.0
    # Every node's place along the line, from 0 to 1, and its distance from it.
    offsets = pixels - pixels[u]
    along = (offsets @ (dx, dy)) / length**2
    distance = np.abs(offsets @ (-dy, dx)) / length
    passes_node = ((along > 0.01) & (along < 0.99) & (distance < 3)).any()
    bend = 0.18 if passes_node else 0.08 if bent else 0.0
    if not bend:
        return f"M{x:g} {y:g}L{x2:g} {y2:g}"
    middle = (x + x2) / 2 - bend * dy, (y + y2) / 2 + bend * dx
    return f"M{x:g} {y:g}Q{middle[0]:.1f} {middle[1]:.1f} {x2:g} {y2:g}"


def grid_places(shape: Sequence[int]) -> NDArray[np.float64] | None:
    """Return positions (N, 2) of the nodes of a grid or hypercube; None beyond five axes."""
    if len(shape) > len(AXES):
        return None
    size = math.prod(shape)
    coordinates = np.stack(np.unravel_index(np.arange(size), shape or (1,)), axis=1)
    places: NDArray[np.float64] = coordinates[:, ::-1] @ AXES[: coordinates.shape[1]]
    return places


def ring_places(size: int) -> NDArray[np.float64]:
    """Return positions (N, 2) on a circle, the first at the top."""
    angles = 2 * math.pi * np.arange(size) / size
    return max(1.0, size / 6) * np.stack([np.sin(angles), -np.cos(angles)], axis=1)


def network_places(size: int, links: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return positions (N, 2) by networkx's spring layout, without networkx on a circle."""
    try:
        networkx = extra("networkx")
    except MissingExtraError:
        return ring_places(size)
    graph = networkx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(links.tolist())
    layout = networkx.spring_layout(graph, seed=1)
    return max(2.0, math.sqrt(size)) * np.array([layout[i] for i in range(size)])


def _colour(part: float) -> str:
    """Return the colour between the ends of viridis, at a part from 0 to 1."""
    place = part * (len(VIRIDIS) - 1)
    below = min(int(place), len(VIRIDIS) - 2)
    colour = VIRIDIS[below] + (place - below) * (VIRIDIS[below + 1] - VIRIDIS[below])
    return "#" + "".join(f"{round(c):02x}" for c in colour.tolist())


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
