"""Edge colourings: the order in which the links of a network exchange load in GDE."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..accelerate import kernels
from ..arguments import one_of
from ..aside import aside_if_large
from ..memory import require_memory
from .grids import Grid
from .hypercube import Hypercube
from .network import Network
from .topology import Topology

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORDERS = ("dimension", "interleaved")


@dataclass(frozen=True)
class Colouring:
    """Links in the order of their colours; no two of one colour share a node.

    Attributes
    ----------
    u, v : (E,) int64
        Ends of each link; on grids ``v`` is the successor of ``u`` along the link's axis.
    slot : (E,) int64
        Index of the link's flow: ``axis * N + u`` on grids and cubes; else the link's row in
        ``links`` of a network, or in ``edges``.
    starts : (C + 1,) int64
        Links ``starts[c] .. starts[c+1]-1`` have colour c.
    slots : int
        Number of flows, ``ndim * N`` on grids and cubes, ``E`` else.
    lines : (L, 4) int64
        If the colours are ordered by axis, the same links as lines: (first node, step to the
        next, number of nodes, 1 if the last node is linked with the first). Axes of length 2
        have no lines.
    axes : (A, 4) int64
        For every axis (first line, end of lines, first colour, end of colours). Without lines
        there is one row for all colours.
    """

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    slot: NDArray[np.int64]
    starts: NDArray[np.int64]
    slots: int
    lines: NDArray[np.int64]
    axes: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of colours, C."""
        return len(self.starts) - 1


def colouring(topology: Topology, order: str = "dimension") -> Colouring:
    """Return the links of a topology by colours (Wu-Shu section 2).

    Grids and cubes: per axis even links, then odd links (of an even ring the wrap link is odd),
    then, on an odd ring, the wrap link as a third colour; ``order="interleaved"`` takes the
    first colours of all axes, then the second, then the third. A colour without links does not
    exist. Other networks: Misra and Gries' colouring with at most one colour more than the
    largest degree; there is one order only.

    Raises
    ------
    ValueError
        If the order is unknown.
    """
    one_of("order", order, ORDERS)
    return _colouring(topology, order)


@lru_cache(maxsize=16)
def _colouring(topology: Topology, order: str) -> Colouring:
    require_memory(56 * topology.edge_count, f"the links of {topology!r}")
    if isinstance(topology, Grid):
        return _grid_colouring(topology, topology.wrap, order)
    if isinstance(topology, Hypercube):
        full = _grid_colouring(topology, (False,) * topology.ndim, order)
        return _without_faults(full, topology.faults) if topology.faults else full
    links = topology.links if isinstance(topology, Network) else topology.edges
    colours = kernels("gde.colouring").misra_gries(links, topology.size)
    by_colour = np.argsort(colours, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(colours))]).astype(np.int64)
    ordered = links[by_colour]
    u, v = np.ascontiguousarray(ordered[:, 0]), np.ascontiguousarray(ordered[:, 1])
    return _without_lines(u, v, by_colour, starts, len(links))


def _grid_colouring(topology: Topology, wrap: tuple[bool, ...], order: str) -> Colouring:
    links: Colouring = aside_if_large(
        topology.size, _colouring_of_shape, topology.shape, wrap, order
    )
    return links


def _colouring_of_shape(shape: tuple[int, ...], wrap: tuple[bool, ...], order: str) -> Colouring:
    size = int(np.prod(shape, dtype=np.int64))
    nodes = np.arange(size, dtype=np.int64).reshape(shape)
    by_colour = []
    for axis, (k, wrapped) in enumerate(zip(shape, wrap, strict=True)):
        along = np.moveaxis(nodes, axis, 0)
        for rank, positions in enumerate(_line_colours(k, wrapped)):
            u, v = along[positions].ravel(), along[(positions + 1) % k].ravel()
            by_colour.append((rank, axis, u, v))
    if order == "interleaved":
        by_colour.sort(key=lambda colour: colour[:2])
    # np.concatenate refuses an empty list, which a grid of one node would give.
    empty = [np.empty(0, np.int64)]
    links = _without_lines(
        np.concatenate(empty + [u for _, _, u, _ in by_colour]),
        np.concatenate(empty + [v for _, _, _, v in by_colour]),
        np.concatenate(empty + [axis * size + u for _, axis, u, _ in by_colour]),
        np.cumsum([0] + [len(u) for _, _, u, _ in by_colour]),
        len(shape) * size,
    )
    if order == "interleaved":
        return links
    colours = np.bincount([axis for _, axis, _, _ in by_colour], minlength=len(shape))
    lines, axes = _grid_lines(nodes, wrap, colours)
    return replace(links, lines=lines, axes=axes)


def _grid_lines(
    nodes: NDArray[np.int64], wrap: tuple[bool, ...], colours: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ``lines`` and ``axes`` of the :class:`Colouring` of a grid."""
    lines, axes = [np.empty((0, 4), np.int64)], np.zeros((len(colours), 4), np.int64)
    for axis, (k, wrapped) in enumerate(zip(nodes.shape, wrap, strict=True)):
        if k < 3:  # a line of two nodes is a single link
            continue
        first, second = nodes.take(0, axis).ravel(), nodes.take(1, axis).ravel()
        rows = np.full((len(first), 4), k)
        rows[:, 0], rows[:, 1], rows[:, 3] = first, second - first, wrapped
        lines.append(rows)
        axes[axis, 1] = len(first)
    axes[:, 3] = colours
    axes[:, 1::2] = np.cumsum(axes[:, 1::2], axis=0)
    axes[1:, ::2] = axes[:-1, 1::2]
    return np.concatenate(lines), axes


def _line_colours(k: int, wrapped: bool) -> list[NDArray[np.int64]]:
    """Return the colours of one line of k nodes, each as the i of its links (i, i+1 mod k)."""
    chain = [np.arange(0, k - 1, 2), np.arange(1, k - 1, 2)]
    if wrapped and k > 2:
        wrap = np.array([k - 1])
        chain = [chain[0], np.append(chain[1], wrap)] if k % 2 == 0 else [*chain, wrap]
    return [positions for positions in chain if len(positions)]


def _without_faults(all_links: Colouring, faults: tuple[tuple[int, int], ...]) -> Colouring:
    """Remove faulty links, and colours that have no links then."""
    ends = np.array(faults, dtype=np.int64)
    scale = all_links.slots + 1
    healthy = ~np.isin(all_links.u * scale + all_links.v, ends[:, 0] * scale + ends[:, 1])
    counts = np.add.reduceat(healthy, all_links.starts[:-1], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts[counts > 0])]).astype(np.int64)
    links = (all_links.u[healthy], all_links.v[healthy], all_links.slot[healthy])
    return _without_lines(*links, starts, all_links.slots)


def _without_lines(
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    slot: NDArray[np.int64],
    starts: NDArray[np.int64],
    slots: int,
) -> Colouring:
    lines, axes = np.empty((0, 4), np.int64), np.array([[0, 0, 0, len(starts) - 1]])
    return Colouring(u, v, slot, starts, slots, lines, axes)
