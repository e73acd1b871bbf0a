"""Generalized dimension exchange on edge-coloured networks (Wu-Shu Fig. 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracles import topology

Pair = tuple[int, int]


@dataclass
class Gde:
    loads: list[Any]
    sweeps: int
    stalled: bool
    converged: bool  # all neighbours are within the limit at the end
    moved: Any
    local: Any
    colours: int
    steps: int
    flows: dict[Pair, Any]  # net units over each pair as it stands in its colour, first to second


def gde_coloured(
    loads: Sequence[Any],
    colours: Sequence[Sequence[Pair]],
    lam: Fraction | float,
    *,
    tol: float | None = None,
    max_sweeps: int | None = None,
) -> Gde:
    """Sweep through the colours until all neighbours are within 1, or (with `tol`) within `tol`.

    Without `tol` loads are integers and `floor(lam*d)` moves at d > 1; with it they are real
    numbers and `lam*d` moves at any difference.
    """
    real = tol is not None
    limit = 1 if tol is None else tol
    w = list(loads)
    local = list(w)
    moved = 0 * w[0]
    flows = {pair: 0 * w[0] for colour in colours for pair in colour}
    sweeps = 0
    stalled = False
    while True:
        converged = all(abs(w[u] - w[v]) <= limit for u, v in flows)
        if converged or stalled or sweeps == max_sweeps:
            break
        before = moved
        for colour in colours:
            for u, v in colour:
                sender, taker = (u, v) if w[u] > w[v] else (v, u)
                d = w[sender] - w[taker]
                if real:
                    amount = lam * d
                elif d > 1:
                    amount = d * lam.numerator // lam.denominator  # type: ignore[union-attr]
                else:
                    continue
                w[sender] -= amount
                w[taker] += amount
                local[sender] = min(local[sender], w[sender])
                moved += amount
                flows[u, v] += amount if sender == u else -amount
        sweeps += 1
        stalled = moved == before
    return Gde(
        w,
        sweeps,
        stalled,
        converged,
        moved,
        sum(local),
        len(colours),
        3 * len(colours) * sweeps,
        flows,
    )


def gde(
    loads: Sequence[Any],
    shape: Sequence[int],
    wrap: Sequence[bool],
    lam: Fraction | float,
    order: str = "dimension",
    *,
    tol: float | None = None,
    max_sweeps: int | None = None,
) -> Gde:
    """GDE on a grid, coloured axis by axis."""
    colours = topology.grid_colours(shape, wrap, order)
    return gde_coloured(loads, colours, lam, tol=tol, max_sweeps=max_sweeps)


def grid_flows(result: Gde, shape: Sequence[int], wrap: Sequence[bool]) -> list[list[Any]]:
    """The net flows as [axis][node]: from each node to its successor along that axis."""
    flows = []
    for axis in range(len(shape)):
        along = [0] * topology.size(shape)
        for line in topology.lines(shape, axis):
            for link in topology.line_links(line, wrap[axis]):
                along[link[0]] = result.flows[link]
        flows.append(along)
    return flows
