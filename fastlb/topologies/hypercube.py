"""The n-cube and its faulty links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import integer
from ..display.drawings import grid_places
from ..memory import require_memory
from .undirected import Undirected

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Hypercube(Undirected):
    """The n-cube: ``2**n`` nodes, linked where their numbers differ in one bit.

    Bit 0, the least significant, is the last array axis: bit ``b`` is axis ``n - 1 - b``.

    Parameters
    ----------
    n : int
        Number of dimensions, at least 0.
    faults : iterable of (int, int)
        Faulty links as pairs of node numbers that differ in one bit, either way round.

    Raises
    ------
    ValueError
        If a fault is no link of the cube.

    Examples
    --------
    >>> Hypercube(3, faults=[(0, 4)]).edge_count
    11
    """

    n: int
    faults: tuple[tuple[int, int], ...]

    def __init__(self, n: int, faults: Iterable[Sequence[int]] = ()) -> None:
        dimensions = integer("n", n)
        if not 0 <= dimensions <= 62:
            raise ValueError(f"n must be between 0 and 62 dimensions, got {dimensions}")
        if not isinstance(faults, Iterable):
            raise TypeError(f"faults must be pairs of node numbers, got {faults!r}")
        links = sorted({_fault(dimensions, pair) for pair in faults})
        self._init((2,) * dimensions, n=dimensions, faults=tuple(links))

    @property
    def _key(self) -> tuple[object, ...]:
        return ("hypercube", self.n, self.faults)

    @property
    def spec(self) -> str:
        broken = ",".join(f"{u}-{v}" for u, v in self.faults)
        return f"hypercube:{self.n}" + (f":faults={broken}" if broken else "")

    @property
    def edge_count(self) -> int:
        return self.n * self.size // 2 - len(self.faults)

    def _links(self) -> NDArray[np.int64]:
        require_memory(64 * self.size * self.n, f"the links of {self!r}")
        nodes = np.arange(self.size, dtype=np.int64)
        lower = [nodes[(nodes >> bit & 1) == 0] for bit in range(self.n)]
        by_bit = [np.empty((0, 2), np.int64)]
        by_bit += [np.stack([low, low | 1 << bit], axis=1) for bit, low in enumerate(lower)]
        links = np.concatenate(by_bit)
        if not self.faults:
            return links
        faulty = np.array(self.faults, dtype=np.int64)
        codes = links @ np.array([self.size, 1])
        return links[~np.isin(codes, faulty @ np.array([self.size, 1]))]

    def _places(self, links: NDArray[np.int64]) -> NDArray[np.float64]:
        places = grid_places(self.shape)
        return super()._places(links) if places is None else places

    def __repr__(self) -> str:
        return f"Hypercube({self.n}" + (f", faults={list(self.faults)})" if self.faults else ")")


def _fault(n: int, pair: Sequence[int]) -> tuple[int, int]:
    try:
        u, v = sorted(integer("faults", node) for node in pair)
    except (TypeError, ValueError):
        raise ValueError(f"faults must be pairs of node numbers, got {pair!r}") from None
    difference = u ^ v
    if not (u >= 0 and v < 2**n and difference and difference & (difference - 1) == 0):
        raise ValueError(f"faults must be links of the {n}-cube (one bit apart), got ({u}, {v})")
    return u, v
