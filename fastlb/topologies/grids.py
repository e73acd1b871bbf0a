"""Grids: meshes, tori, chains, rings, and grids of which some axes wrap."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import integer
from ..display.drawings import grid_places, ring_places
from ..memory import require_memory
from .topology import MAX_NODES, Topology
from .undirected import Undirected

if TYPE_CHECKING:
    from numpy.typing import NDArray

# NumPy allows 64 axes; one is for batches and one for flows.
MAX_AXES = 62


class Grid(Undirected):
    """A grid with one wrap flag per axis: a mesh, a torus, or wrapped along some axes.

    Neighbours differ by one along one axis. A wrapped axis also links its last coordinate to
    its first (Wu-Shu section 5); of length 2 it has one link a pair, of length 1 none.

    Parameters
    ----------
    shape : iterable of int
        Length of every axis, each at least 1.
    wrap : bool or iterable of bool
        Whether an axis wraps; one value serves all axes.

    Raises
    ------
    ValueError
        If an axis is shorter than 1, there is none, or ``wrap`` has another length.

    Examples
    --------
    >>> Grid((4, 6), wrap=(True, False)).edge_count
    44
    """

    wrap: tuple[bool, ...]

    def __init__(self, shape: Iterable[int], wrap: bool | Iterable[bool] = False) -> None:
        lengths = _axis_lengths(type(self).__name__, shape)
        is_scalar = isinstance(wrap, bool | np.bool_)
        wraps = wrap if isinstance(wrap, Iterable) else ()
        flags = (wrap,) * len(lengths) if is_scalar else tuple(wraps)
        if len(flags) != len(lengths) or not all(isinstance(f, bool | np.bool_) for f in flags):
            raise ValueError(
                f"wrap must be a bool or one for each of {len(lengths)} axes, got {wrap}"
            )
        self._init(lengths, wrap=tuple(bool(f) for f in flags))

    @property
    def _key(self) -> tuple[object, ...]:
        return ("grid", self.shape, self.wrap)

    @property
    def spec(self) -> str:
        lengths = [f"{k}w" if w else str(k) for k, w in zip(self.shape, self.wrap, strict=True)]
        return "grid:" + "x".join(lengths)

    def _links(self) -> NDArray[np.int64]:
        require_memory(64 * self.size * self.ndim, f"the links of {self!r}")
        nodes = np.arange(self.size, dtype=np.int64).reshape(self.shape)
        links = [np.empty((0, 2), np.int64)]
        for axis, (k, wrap) in enumerate(zip(self.shape, self.wrap, strict=True)):
            along = np.moveaxis(nodes, axis, 0)
            links.append(_pairs(along[:-1], along[1:]))
            if wrap and k > 2:
                links.append(_pairs(along[:1], along[-1:]))
        return np.concatenate(links)

    def _places(self, links: NDArray[np.int64]) -> NDArray[np.float64]:
        if self.ndim == 1 and self.wrap[0] and self.size > 2:
            return ring_places(self.size)
        places = grid_places(self.shape)
        return super()._places(links) if places is None else places

    @property
    def edge_count(self) -> int:
        per_axis = zip(self.shape, self.wrap, strict=True)
        return sum(self.size // k * axis_links(k, wrap) for k, wrap in per_axis)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape}, wrap={self.wrap})"


class Mesh(Grid):
    """A mesh ``k1 x .. x kd``: neighbours along every axis, no wrap.

    Examples
    --------
    >>> Mesh(8, 8).size
    64
    """

    def __init__(self, *shape: int) -> None:
        super().__init__(_unpacked(shape), False)

    @property
    def spec(self) -> str:
        return _spec("mesh", self.shape)

    def __repr__(self) -> str:
        return _call(self)


class Torus(Grid):
    """A torus (k-ary n-cube) ``k1 x .. x kd``: every axis wraps.

    Examples
    --------
    >>> Torus(4, 4).edge_count
    32
    """

    def __init__(self, *shape: int) -> None:
        super().__init__(_unpacked(shape), True)

    @property
    def spec(self) -> str:
        return _spec("torus", self.shape)

    def __repr__(self) -> str:
        return _call(self)


class Chain(Mesh):
    """A chain of ``k`` nodes, ``Mesh(k)``."""

    def __init__(self, k: int) -> None:
        super().__init__(integer("k", k))

    @property
    def spec(self) -> str:
        return _spec("chain", self.shape)


class Ring(Torus):
    """A ring of ``k`` nodes, ``Torus(k)``."""

    def __init__(self, k: int) -> None:
        super().__init__(integer("k", k))

    @property
    def spec(self) -> str:
        return _spec("ring", self.shape)


def axis_links(k: int, wrap: bool) -> int:
    """Return the number of links of one line of ``k`` nodes; a ring of 2 has one, of 1 none."""
    return k if wrap and k > 2 else k - 1


def _pairs(lower: NDArray[np.int64], upper: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.stack([lower.ravel(), upper.ravel()], axis=1)


def _unpacked(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """Let ``Mesh((8, 8))`` mean ``Mesh(8, 8)``."""
    one_sequence = len(shape) == 1 and isinstance(shape[0], tuple | list)
    return tuple(shape[0]) if one_sequence else shape


def _axis_lengths(name: str, shape: Iterable[int]) -> tuple[int, ...]:
    try:
        lengths = tuple(integer("shape", k) for k in shape)
    except TypeError:
        raise TypeError(f"shape of a {name} must be integers, got {shape!r}") from None
    if not lengths or min(lengths) < 1:
        raise ValueError(f"shape of a {name} must be axis lengths of at least 1, got {lengths}")
    if len(lengths) > MAX_AXES:
        raise ValueError(f"shape of a {name} must have at most {MAX_AXES} axes, got {len(lengths)}")
    if math.prod(lengths) > MAX_NODES:
        raise ValueError(f"shape of a {name} must have at most 2**62 nodes, got {lengths}")
    return lengths


def _spec(name: str, shape: tuple[int, ...]) -> str:
    return f"{name}:" + "x".join(map(str, shape))


def _call(topology: Topology) -> str:
    return f"{type(topology).__name__}({', '.join(map(str, topology.shape))})"
