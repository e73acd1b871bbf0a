"""A drawing of a plan: nodes by excess, links by what they carry, the bottleneck marked."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import extra
from .plotting import BLUE, GREEN, GREY, ORANGE, image, new_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..files.namednetwork import NamedNetwork
    from ..flows.plan import MinimaxPlan
    from ..quantities import Number

MOST_NODES = 1000
NAMED_NODES = 60


def plan_image(plan: MinimaxPlan, named: NamedNetwork, excess: list[Number], suffix: str) -> bytes:
    """Return a drawing of a plan as PNG or SVG bytes.

    Overloaded nodes are orange, nodes with room blue, larger ones for more load. Links are as
    wide as the load they carry; those of the bottleneck are green. Names are drawn as they are,
    with boxes for letters that the font lacks.

    Raises
    ------
    ValueError
        If the network has more than 1000 nodes.
    """
    if plan.network.size > MOST_NODES:
        raise ValueError(
            f"network must have at most {MOST_NODES} nodes to be drawn, got {plan.network.size}"
        )
    places = _places(plan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        return image(lambda: _draw(plan, named, excess, places), suffix)


def _draw(
    plan: MinimaxPlan, named: NamedNetwork, excess: list[Number], places: NDArray[np.float64]
) -> Any:
    figure = new_figure(figsize=(8.0, 6.4))
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_aspect("equal")
    lines = extra("matplotlib.collections").LineCollection
    links = places[plan.network.links]
    axes.add_collection(lines(links, colors="#DDDDDD", linewidths=0.8, zorder=1))
    flow = np.array([float(f) for f in plan.flow.tolist()])
    largest = flow.max(initial=0) or 1.0
    tight = set(plan.bottleneck.tolist())
    size = np.ptp(places, axis=0).max(initial=0) or 1.0
    for k in np.flatnonzero(flow).tolist():
        u, v = plan.network.edges[k].tolist()
        axes.annotate(
            "",
            places[v],
            places[u],
            arrowprops={
                "arrowstyle": "-|>",
                "color": GREEN if k in tight else GREY,
                "lw": 0.6 + 3.0 * flow[k] / largest,
                "shrinkA": 5,
                "shrinkB": 5,
                # Links of the two directions bend apart.
                "connectionstyle": "arc3,rad=0.08",
            },
            zorder=2,
        )
    amounts = np.array([float(x) for x in excess])
    share = np.abs(amounts) / (np.abs(amounts).max(initial=0) or 1.0)
    colours = [ORANGE if x > 0 else BLUE if x < 0 else "#BBBBBB" for x in amounts.tolist()]
    axes.scatter(*places.T, s=25 + 130 * share, c=colours, zorder=3, edgecolors="white")
    if plan.network.size <= NAMED_NODES:
        for name, (x, y) in zip(named.names, places.tolist(), strict=True):
            axes.text(
                x,
                y + 0.025 * size,
                name,
                ha="center",
                va="bottom",
                fontsize=7,
                zorder=4,
                parse_math=False,
            )
    axes.set_title(
        f"{named.source}: {_shown(plan.eliminated)} moved, at most {_shown(plan.contention)} "
        f"on a link (bottleneck: {len(tight)}, green)\n"
        "orange has too much, blue has room; wider arrows carry more",
        parse_math=False,
    )
    # Nodes on a line, too, get a picture with room for arcs, names and circles.
    (left, low), (right, high) = places.min(axis=0), places.max(axis=0)
    for bound, first, last in ((axes.set_xlim, left, right), (axes.set_ylim, low, high)):
        spare = max(0.08 * size, (0.3 * size - (last - first)) / 2)
        bound(first - spare, last + spare)
    return figure


def _shown(number: Number) -> str:
    return f"{float(number):.6g}"


def _places(plan: MinimaxPlan) -> NDArray[np.float64]:
    """Return where nodes are drawn: by address on meshes and tori, in a circle or by springs."""
    topology = plan.network.topology
    n = plan.network.size
    if topology is not None and topology.ndim == 2:
        rows, columns = np.unravel_index(np.arange(n), topology.shape)
        return np.stack([columns, -rows], axis=1).astype(np.float64)
    if (
        topology is not None
        and topology.ndim == 1
        and getattr(topology, "wrap", (True,)) == (False,)
    ):
        return np.stack([np.arange(n), np.zeros(n)], axis=1).astype(np.float64)
    if n > 2 and len(plan.network.links) != n:
        graph = extra("networkx").Graph()
        graph.add_nodes_from(range(n))
        graph.add_edges_from(plan.network.links.tolist())
        found = extra("networkx").spring_layout(graph, seed=1)
        return np.array([found[i] for i in range(n)])
    angles = 2 * math.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)
