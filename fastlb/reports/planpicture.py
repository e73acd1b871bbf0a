"""A drawing of a plan: nodes by excess, links by load, with those that limit the plan marked."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import extra
from ..files.planfile import movable
from .plotting import BLUE, GREEN, GREY, ORANGE, image, new_figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..files.namednetwork import NamedNetwork
    from ..flows.plan import MinimaxPlan
    from ..quantities import Number

MOST_NODES = 1000
NAMED_NODES = 60
# Links whose amounts are written on them.
COUNTED_LINKS = 80

RED = "#C62828"

# Boxes behind texts keep them readable above other links; they are below arrows and nodes.
_BOX = {"boxstyle": "round,pad=0.1", "facecolor": "white", "linewidth": 0, "alpha": 0.75}
_BOX_ZORDER, _TEXT_ZORDER = 1.5, 4

Positions = Sequence[tuple[float, float] | None] | None


def plan_image(
    plan: MinimaxPlan,
    named: NamedNetwork,
    excess: list[Number],
    suffix: str,
    positions: Positions = None,
    loads: list[Number] | None = None,
) -> bytes:
    """Return a drawing of a plan as PNG or SVG bytes.

    Overloaded nodes are orange, nodes with room blue; larger nodes have more of it. The width of
    a link shows its load. Full links that hold load back are red, others of the bottleneck green.
    Names and amounts are written beside nodes and arrows, with boxes for letters that the font
    lacks.

    Parameters
    ----------
    plan : MinimaxPlan
    named : NamedNetwork
    excess : list of number
    suffix : {"png", "svg"}
    positions : sequence of (x, y) or None, optional
        Nodes without a position are drawn among their neighbours.
    loads : list of number, optional
        Loads before, written with those after.

    Raises
    ------
    ValueError
        If the network has more than 1000 nodes.
    """
    if plan.network.size > MOST_NODES:
        raise ValueError(
            f"network must have at most {MOST_NODES} nodes to be drawn, got {plan.network.size}"
        )
    places = _places(plan, positions)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        return image(lambda: _draw(plan, named, loads, excess, places), suffix)


def _draw(
    plan: MinimaxPlan,
    named: NamedNetwork,
    loads: list[Number] | None,
    excess: list[Number],
    places: NDArray[np.float64],
) -> Any:
    figure = new_figure(figsize=(8.0, 6.4))
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_aspect("equal")
    flow = np.array([float(f) for f in plan.flow.tolist()])
    full = set(plan.full_links.tolist())
    tight = set(plan.bottleneck.tolist()) - full
    _draw_links(axes, plan, flow, places, dict.fromkeys(tight, GREEN) | dict.fromkeys(full, RED))
    if np.count_nonzero(flow) <= COUNTED_LINKS:
        _write_amounts(axes, plan, flow, places)
    amounts = np.array([float(x) for x in excess])
    share = np.abs(amounts) / (np.abs(amounts).max(initial=0) or 1.0)
    colours = [ORANGE if x > 0 else BLUE if x < 0 else "#BBBBBB" for x in amounts.tolist()]
    axes.scatter(*places.T, s=25 + 130 * share, c=colours, zorder=3, edgecolors="white")
    if plan.network.size <= NAMED_NODES:
        labels = _labels(plan, named, loads)
        for i, direction in enumerate(_away_from_links(plan, places)):
            _write(axes, labels[i], places[i], 8 * direction, fontsize=7)
    # The title is that of the figure, because the axes may be narrower.
    figure.suptitle(
        f"{named.source}: {_text(plan.eliminated)} of {_text(movable(excess))} moved, "
        f"at most {_text(plan.contention)} on a link\n"
        f"orange has too much, blue has room; wider arrows carry more{_marks(full, tight)}",
        x=0.02,
        ha="left",
        parse_math=False,
    )
    _set_limits(axes, places)
    return figure


def _draw_links(
    axes: Any,
    plan: MinimaxPlan,
    flow: NDArray[np.float64],
    places: NDArray[np.float64],
    colours: dict[int, str],
) -> None:
    """Draw all links as lines, and full ones and those with flow as arrows.

    ``colours`` has those of full links and of the bottleneck by link; the others are grey.
    """
    lines = extra("matplotlib.collections").LineCollection
    links = places[plan.network.links]
    axes.add_collection(lines(links, colors="#DDDDDD", linewidths=0.8, zorder=1))
    largest = flow.max(initial=0) or 1.0
    # Links full of existing traffic carry no load of the plan, but hold load back.
    full = [k for k, colour in colours.items() if colour == RED]
    for k in sorted({*np.flatnonzero(flow).tolist(), *full}):
        u, v = plan.network.edges[k].tolist()
        axes.annotate(
            "",
            places[v],
            places[u],
            arrowprops={
                "arrowstyle": "-|>",
                "color": colours.get(k, GREY),
                "lw": 0.6 + 3.0 * flow[k] / largest,
                "shrinkA": 5,
                "shrinkB": 5,
                # Links of the two directions bend apart.
                "connectionstyle": "arc3,rad=0.08",
            },
            zorder=2,
        )


def _set_limits(axes: Any, places: NDArray[np.float64]) -> None:
    """Leave margins for arcs, circles and names, more at the left and right, and around a line."""
    size = np.ptp(places, axis=0).max(initial=0) or 1.0
    (left, low), (right, high) = places.min(axis=0), places.max(axis=0)
    for set_limits, first, last, share in (
        (axes.set_xlim, left, right, 0.16),
        (axes.set_ylim, low, high, 0.08),
    ):
        margin = max(share * size, (0.3 * size - (last - first)) / 2)
        set_limits(first - margin, last + margin)


def _marks(full: set[int], tight: set[int]) -> str:
    """Return the title's line on the marked links, or nothing if there are none."""
    marks = [f"red: full, holding back the rest ({len(full)})"] if full else []
    marks += [f"green: bottleneck ({len(tight)})"] if tight else []
    return "\n" + "; ".join(marks) if marks else ""


def _away_from_links(plan: MinimaxPlan, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every node the direction (N, 2) that points away from its links, or up."""
    directions = np.zeros_like(places)
    for u, v in plan.network.links.tolist():
        step = places[v] - places[u]
        step = step / (np.hypot(*step) or 1.0)
        directions[u] -= step
        directions[v] += step
    lengths = np.hypot(*directions.T)
    directions[lengths < 0.1] = 0, 1
    return directions / np.where(lengths < 0.1, 1.0, lengths)[:, None]


def _write(
    axes: Any,
    text: str,
    place: NDArray[np.float64],
    offset: NDArray[np.float64],
    *,
    fontsize: int,
) -> None:
    """Write a text ``offset`` points beside a place, on top; its box is below the arrows."""
    dx, dy = np.sign(np.where(np.abs(offset) < 0.35 * np.hypot(*offset), 0, offset)).tolist()
    for zorder, style in ((_BOX_ZORDER, {"color": "none", "bbox": _BOX}), (_TEXT_ZORDER, {})):
        axes.annotate(
            text,
            place,
            offset,
            textcoords="offset points",
            ha={-1: "right", 0: "center", 1: "left"}[dx],
            va={-1: "top", 0: "center", 1: "bottom"}[dy],
            fontsize=fontsize,
            zorder=zorder,
            parse_math=False,
            **style,
        )


def _labels(plan: MinimaxPlan, named: NamedNetwork, loads: list[Number] | None) -> list[str]:
    """Return every node's name, with its load before and after if loads are known."""
    if loads is None:
        return list(named.names)
    after: list[Any] = list(loads)
    for (u, v), sent in zip(plan.network.edges.tolist(), plan.flow.tolist(), strict=True):
        after[u] -= sent
        after[v] += sent
    changes = zip(named.names, loads, after, strict=True)
    return [f"{name}\n{_text(a)} → {_text(b)}" for name, a, b in changes]


def _write_amounts(
    axes: Any, plan: MinimaxPlan, flow: NDArray[np.float64], places: NDArray[np.float64]
) -> None:
    """Write the amount on every arrow beside the middle of its arc."""
    for k in np.flatnonzero(flow).tolist():
        u, v = plan.network.edges[k].tolist()
        dx, dy = places[v] - places[u]
        # The middle of an arc with rad=r is r / 2 of the chord's length away from the chord; the
        # amount is on the arc's outer side.
        outward = np.array([dy, -dx])
        middle = (places[u] + places[v]) / 2 + 0.04 * outward
        amount = _text(plan.flow[k : k + 1].tolist()[0])
        _write(axes, amount, middle, 4 * outward / (np.hypot(dx, dy) or 1.0), fontsize=6)


def _text(number: Number) -> str:
    return f"{float(number):.6g}"


def _places(plan: MinimaxPlan, positions: Positions) -> NDArray[np.float64]:
    """Return where nodes are drawn: by their data, their address, in a circle or by springs."""
    topology = plan.network.topology
    n = plan.network.size
    placed = {i: place for i, place in enumerate(positions or ()) if place is not None}
    if len(set(placed.values())) > 1:
        return _by_position(plan, placed)
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
        layout = extra("networkx").spring_layout(graph, seed=1)
        return np.array([layout[i] for i in range(n)])
    angles = 2 * math.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _by_position(plan: MinimaxPlan, placed: dict[int, tuple[float, float]]) -> NDArray[np.float64]:
    """Return the positions, for nodes without one the mean of their neighbours' positions."""
    places = np.full((plan.network.size, 2), np.nan)
    places[list(placed)] = list(placed.values())
    centre = np.nanmean(places, axis=0)
    neighbours: dict[int, list[int]] = {}
    for u, v in plan.network.links.tolist():
        neighbours.setdefault(u, []).append(v)
        neighbours.setdefault(v, []).append(u)
    is_placed = np.zeros(len(places), dtype=bool)
    is_placed[list(placed)] = True
    while not is_placed.all():
        # Nodes next to a placed one, or all others if no node is.
        near = {
            i: [j for j in neighbours.get(i, []) if is_placed[j]]
            for i in np.flatnonzero(~is_placed).tolist()
        }
        reached = [i for i in near if near[i]] or list(near)
        for i in reached:
            places[i] = places[near[i]].mean(axis=0) if near[i] else centre
        is_placed[reached] = True
    return places
