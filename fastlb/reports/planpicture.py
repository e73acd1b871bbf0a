"""A drawing of a plan: nodes by excess, links by what they carry, those that limit it marked."""

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

# Boxes behind texts, so that they can be read above other links; under arrows and nodes.
_BEHIND = {"boxstyle": "round,pad=0.1", "facecolor": "white", "linewidth": 0, "alpha": 0.75}
_BEHIND_ZORDER, _TEXT_ZORDER = 1.5, 4

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

    Overloaded nodes are orange, nodes with room blue, larger ones for more load. Links are as
    wide as the load they carry; the full links that hold load back are red, others of the
    bottleneck green. Names and amounts are drawn as they are, with boxes for letters that the
    font lacks, beside nodes and arrows; ``loads`` are those before, and shown with those after.
    Nodes stand where ``positions`` has them; those without a position, near their neighbours.

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
    lines = extra("matplotlib.collections").LineCollection
    links = places[plan.network.links]
    axes.add_collection(lines(links, colors="#DDDDDD", linewidths=0.8, zorder=1))
    flow = np.array([float(f) for f in plan.flow.tolist()])
    largest = flow.max(initial=0) or 1.0
    full = set(plan.full_links.tolist())
    tight = set(plan.bottleneck.tolist()) - full
    size = np.ptp(places, axis=0).max(initial=0) or 1.0
    # Links that existing traffic fills carry nothing of the plan, and yet hold load back.
    for k in sorted({*np.flatnonzero(flow).tolist(), *full}):
        u, v = plan.network.edges[k].tolist()
        axes.annotate(
            "",
            places[v],
            places[u],
            arrowprops={
                "arrowstyle": "-|>",
                "color": RED if k in full else GREEN if k in tight else GREY,
                "lw": 0.6 + 3.0 * flow[k] / largest,
                "shrinkA": 5,
                "shrinkB": 5,
                # Links of the two directions bend apart.
                "connectionstyle": "arc3,rad=0.08",
            },
            zorder=2,
        )
    if np.count_nonzero(flow) <= COUNTED_LINKS:
        _write_amounts(axes, plan, flow, places)
    amounts = np.array([float(x) for x in excess])
    share = np.abs(amounts) / (np.abs(amounts).max(initial=0) or 1.0)
    colours = [ORANGE if x > 0 else BLUE if x < 0 else "#BBBBBB" for x in amounts.tolist()]
    axes.scatter(*places.T, s=25 + 130 * share, c=colours, zorder=3, edgecolors="white")
    if plan.network.size <= NAMED_NODES:
        labels = _labels(plan, named, loads)
        for i, aside in enumerate(_away_from_links(plan, places)):
            _write(axes, labels[i], places[i], 8 * aside, fontsize=7)
    # At the left of the figure: the drawing may be narrower than its title.
    figure.suptitle(
        f"{named.source}: {_shown(plan.eliminated)} of {_shown(movable(excess))} moved, "
        f"at most {_shown(plan.contention)} on a link\n"
        f"orange has too much, blue has room; wider arrows carry more{_marked(full, tight)}",
        x=0.02,
        ha="left",
        parse_math=False,
    )
    # Nodes on a line, too, get a picture with room for arcs, names and circles.
    (left, low), (right, high) = places.min(axis=0), places.max(axis=0)
    # Names at the left and the right stand outside the nodes.
    for bound, first, last, share in (
        (axes.set_xlim, left, right, 0.16),
        (axes.set_ylim, low, high, 0.08),
    ):
        spare = max(share * size, (0.3 * size - (last - first)) / 2)
        bound(first - spare, last + spare)
    return figure


def _marked(full: set[int], tight: set[int]) -> str:
    """Return the title's line on the links that are marked, if any are."""
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
    """Write a text ``offset`` points beside a place: its box under the arrows, itself on top."""
    dx, dy = np.sign(np.where(np.abs(offset) < 0.35 * np.hypot(*offset), 0, offset)).tolist()
    for zorder, looks in ((_BEHIND_ZORDER, {"color": "none", "bbox": _BEHIND}), (_TEXT_ZORDER, {})):
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
            **looks,
        )


def _labels(plan: MinimaxPlan, named: NamedNetwork, loads: list[Number] | None) -> list[str]:
    """Return every node's name, with its load before and after where it is known."""
    if loads is None:
        return list(named.names)
    after: list[Any] = list(loads)
    for (u, v), sent in zip(plan.network.edges.tolist(), plan.flow.tolist(), strict=True):
        after[u] -= sent
        after[v] += sent
    changes = zip(named.names, loads, after, strict=True)
    return [f"{name}\n{_shown(a)} → {_shown(b)}" for name, a, b in changes]


def _write_amounts(
    axes: Any, plan: MinimaxPlan, flow: NDArray[np.float64], places: NDArray[np.float64]
) -> None:
    """Write beside every arrow what it carries, at the middle of its arc."""
    for k in np.flatnonzero(flow).tolist():
        u, v = plan.network.edges[k].tolist()
        dx, dy = places[v] - places[u]
        # A quadratic arc of rad r passes the middle of its chord at r / 2 of its length; the
        # amount stands on the arc's outer side.
        outward = np.array([dy, -dx])
        middle = (places[u] + places[v]) / 2 + 0.04 * outward
        amount = _shown(plan.flow[k : k + 1].tolist()[0])
        _write(axes, amount, middle, 4 * outward / (np.hypot(dx, dy) or 1.0), fontsize=6)


def _shown(number: Number) -> str:
    return f"{float(number):.6g}"


def _places(plan: MinimaxPlan, positions: Positions) -> NDArray[np.float64]:
    """Return where nodes are drawn: where their data say, by address, in a circle or by springs."""
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
        found = extra("networkx").spring_layout(graph, seed=1)
        return np.array([found[i] for i in range(n)])
    angles = 2 * math.pi * np.arange(n) / n
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _by_position(plan: MinimaxPlan, placed: dict[int, tuple[float, float]]) -> NDArray[np.float64]:
    """Return the positions, and for nodes that have none the middle of their neighbours."""
    places = np.full((plan.network.size, 2), np.nan)
    places[list(placed)] = list(placed.values())
    centre = np.nanmean(places, axis=0)
    neighbours: dict[int, list[int]] = {}
    for u, v in plan.network.links.tolist():
        neighbours.setdefault(u, []).append(v)
        neighbours.setdefault(v, []).append(u)
    waiting = [i for i in range(len(places)) if i not in placed]
    while waiting:
        near = {i: [j for j in neighbours.get(i, []) if j in placed] for i in waiting}
        reached = [i for i in waiting if near[i]] or waiting
        for i in reached:
            places[i] = places[near[i]].mean(axis=0) if near[i] else centre
        placed = placed | {i: (float(places[i, 0]), float(places[i, 1])) for i in reached}
        waiting = [i for i in waiting if i not in placed]
    return places
