"""The Hyper Hexa-Cell network: cells of two triangles, joined as a hypercube."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import integer
from ..memory import require_memory
from .undirected import Undirected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

# The paper's interior addresses g, in the order of the array's last two axes.
INTERIOR = ("000", "001", "010", "100", "101", "110")


class HyperHexaCell(Undirected):
    """The d-dimensional HHC: ``2**(d-1)`` cells of six nodes (Hexa-Cell 1.1, 1.2).

    A cell is an upper and a lower triangle (coordinator, left, right), joined node to node.
    Nodes of equal position in the cells form (d-1)-cubes. The paper's address ``P(s,g)`` of
    cell ``s`` and interior address ``g`` is the array address ``(bits of s, triangle,
    position)``, so the flat index is ``6 s + 3 triangle + position``.

    Parameters
    ----------
    d : int
        Number of dimensions, at least 1; a single cell has one.

    Raises
    ------
    ValueError
        If ``d`` is below 1 or the nodes could not be counted.

    Examples
    --------
    >>> hhc = HyperHexaCell(3)
    >>> hhc.size, hhc.edge_count
    (24, 60)
    >>> hhc.label(17), hhc.node("P(10,110)")
    ('P(10,110)', 17)
    >>> hhc.address(17)
    (1, 0, 1, 2)
    """

    d: int

    def __init__(self, d: int) -> None:
        dimensions = integer("d", d)
        if not 1 <= dimensions <= 60:
            raise ValueError(f"d must be between 1 and 60 dimensions, got {dimensions}")
        self._init((2,) * (dimensions - 1) + (2, 3), d=dimensions)

    @property
    def _key(self) -> tuple[object, ...]:
        return ("hhc", self.d)

    @property
    def spec(self) -> str:
        return f"hhc:{self.d}"

    @property
    def cells(self) -> int:
        """Number of hexa cells, ``2**(d-1)``."""
        return 1 << (self.d - 1)

    @property
    def edge_count(self) -> int:
        return self.cells * (9 + 3 * (self.d - 1))

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Undirected links, shape (E, 2) int64: once each, u < v, lexicographic order."""
        links = self._links()
        links.flags.writeable = False
        return links

    def _links(self) -> NDArray[np.int64]:
        require_memory(24 * self.edge_count + 40 * self.size, f"the links of {self!r}")
        links = np.empty((self.edge_count, 2), np.int64)
        for offset, lower, rows in self.links_by_offset():
            links[rows, 0] = lower
            links[rows, 1] = lower + offset
        return links

    def links_by_offset(self) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the links by the distance of their ends: 1 and 2 in triangles, 3 in prisms.

        Yields
        ------
        offset : int
            Ascending; from 6 on ``6 * 2**j``, along bit j of the cell number.
        lower : (n,) int64
            Lower ends ``u`` of all links from ``u`` to ``u + offset``, ascending.
        rows : (n,) int64
            Rows of these links in ``edges``.
        """
        nodes = np.arange(self.size, dtype=np.int64).reshape(self.cells, 6)
        cell = np.arange(self.cells, dtype=np.int64)
        upwards = self.d - 1 - np.bitwise_count(cell).astype(np.int64)
        counts = upwards[:, None] + np.array([3, 2, 1, 2, 1, 0])
        # The next free row of every node: its links ascend, as the offsets do.
        rows = (np.cumsum(counts) - counts.ravel()).reshape(self.cells, 6)
        for offset, ends in ((1, [0, 1, 3, 4]), (2, [0, 3]), (3, [0, 1, 2])):
            yield offset, nodes[:, ends].ravel(), rows[:, ends].ravel()
            rows[:, ends] += 1
        for bit in range(self.d - 1):
            lower = cell >> bit & 1 == 0
            yield 6 << bit, nodes[lower].ravel(), rows[lower].ravel()
            rows[lower] += 1

    def draw(self, loads: ArrayLike | None = None) -> Any:
        """Return a matplotlib figure of the network, at most 64 cells, with loads at the nodes.

        Parameters
        ----------
        loads : array_like, shape ``shape`` or (size,), optional
            Written into the nodes instead of their interior addresses, large ones rounded.

        Raises
        ------
        TypeError, ValueError
            If there are more than 64 cells, or the loads are not one number a node, finite and
            not negative.
        """
        from ..reports.hexa_cell_drawing import MOST_CELLS, draw

        if self.cells > MOST_CELLS:
            raise ValueError(f"a drawing holds at most {MOST_CELLS} cells, got {self!r}")
        labels = list(INTERIOR) * self.cells
        links = ((offset, lower) for offset, lower, _ in self.links_by_offset())
        # A cell's name is its coordinator's, with g for the interior address.
        names = [self.label(6 * cell).removesuffix("000)") + "g)" for cell in range(self.cells)]
        return draw(self, labels, links, names, loads)

    def label(self, index: int) -> str:
        """Return the paper's address of a node, such as ``P(10,110)``.

        Raises
        ------
        TypeError, ValueError
            If it is no integer, or there is no such node.
        """
        *cell, triangle, position = self.address(index)
        return f"P({''.join(map(str, cell))},{INTERIOR[3 * triangle + position]})"

    def node(self, label: str) -> int:
        """Return the flat index of the node with the paper's address ``P(s,g)``.

        Raises
        ------
        TypeError, ValueError
            If the label is no text, or no address of this network.
        """
        if not isinstance(label, str):
            raise TypeError(f"label must be text such as {self.label(0)}, got {label!r}")
        match = re.fullmatch(r"\s*P\(\s*([01]*)\s*,\s*([01]{3})\s*\)\s*", label)
        if not match or len(match[1]) != self.d - 1 or match[2] not in INTERIOR:
            raise ValueError(
                f"label must be P(s,g) with {self.d - 1} bits s and g among "
                f"{', '.join(INTERIOR)} on {self!r}, got {label!r}"
            )
        return 6 * int(match[1] or "0", 2) + INTERIOR.index(match[2])

    def _labels(self) -> list[str]:
        return [self.label(node) for node in range(self.size)]

    def __repr__(self) -> str:
        return f"HyperHexaCell({self.d})"
