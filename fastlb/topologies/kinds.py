"""Kinds of topologies and the methods that balance each; all checks use this table.

``fastlb topologies --methods`` prints it, and an error about a method that does not fit a
topology names the methods of that topology's kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

from .grids import Grid
from .hexa_cell_topology import HyperHexaCell
from .hypercube import Hypercube
from .network import Network
from .parse import read_topology
from .topology import Topology


@dataclass(frozen=True)
class Kind:
    """A kind of topology.

    Attributes
    ----------
    name : str
        Such as ``"hypercube"``; messages put an article before it.
    base : class
        Class of its topologies.
    examples : str
        Spellings of some topologies of this kind.
    methods : tuple of str
        Names for :func:`fastlb.balance`, the usual one first.
    """

    name: str
    base: type[Topology]
    examples: str
    methods: tuple[str, ...]


HYPERCUBE = Kind(
    "hypercube", Hypercube, "hypercube:10", ("dem", "dde", "gde", "fault_tolerant_dem")
)
FAULTY_HYPERCUBE = Kind(
    "hypercube with faults",
    Hypercube,
    "hypercube:3:faults=0-4,5-7",
    ("fault_tolerant_dem", "dem", "gde"),
)
GRID = Kind("grid", Grid, "mesh:8x8, torus:4x4x4, chain:8, ring:8, grid:4wx6", ("dde", "gde"))
HEXA_CELL = Kind("hyper hexa-cell", HyperHexaCell, "hhc:5", ("hexa_cell", "gde"))
NETWORK = Kind(
    "network", Network, "any other graph: links.csv, net.graphml, lb.Network(..)", ("gde",)
)

KINDS = (HYPERCUBE, FAULTY_HYPERCUBE, GRID, HEXA_CELL, NETWORK)

# Methods that plan flows on links with capacities; they take every topology.
PLANNERS = ("minimax_flow",)

# Methods for nodes of different weights.
WEIGHTED = ("dem", "dde", "gde")

# A remark on every method for ``fastlb topologies --methods``.
REMARKS = {
    "dem": "one pass over the dimensions; faulty links exchange nothing",
    "dde": "one pass over the axes",
    "gde": "neighbours end within 1; lam is 1/2 if no optimum is known",
    "fault_tolerant_dem": "one pass over the dimensions, round the faulty links",
    "hexa_cell": "triangles, prisms and dimensions: Algorithms A, B and C",
    "minimax_flow": "least load on the busiest link, in capacities: fastlb plan",
}

POINTER = "fastlb topologies --methods lists what works where"


def kind_of(topology: Topology) -> Kind:
    """Return the kind of a topology."""
    if isinstance(topology, Hypercube):
        return FAULTY_HYPERCUBE if topology.faults else HYPERCUBE
    if isinstance(topology, Grid):
        return GRID
    return HEXA_CELL if isinstance(topology, HyperHexaCell) else NETWORK


def suitable(topology: Topology, *, by_weight: bool = False) -> list[str]:
    """Return the library's methods that balance a topology, the usual one first.

    ``by_weight`` : nodes of different weights, in proportion.

    Examples
    --------
    >>> suitable(Hypercube(3, faults=[(0, 4)]))
    ['fault_tolerant_dem', 'dem', 'gde']
    """
    kind = kind_of(topology)
    if not by_weight:
        return list(kind.methods)
    # Faulty links keep DEM from the shares.
    left_out = "dem" if kind is FAULTY_HYPERCUBE else None
    return [method for method in kind.methods if method in WEIGHTED and method != left_out]


@overload
def topology_for(method: Literal["dem", "fault_tolerant_dem"], topology: Any) -> Hypercube: ...
@overload
def topology_for(method: Literal["hexa_cell"], topology: Any) -> HyperHexaCell: ...
@overload
def topology_for(method: str, topology: Any) -> Topology: ...
def topology_for(method: str, topology: Any) -> Topology:
    """Return a topology, which may be spelled as a string, if the method balances its kind.

    Raises
    ------
    TypeError, ValueError
        If it is no topology or the method does not balance it; the message names those that do.
    """
    checked = read_topology(topology)
    kind = kind_of(checked)
    if method in kind.methods:
        return checked
    alternatives = f"{either([*kind.methods, *PLANNERS])} ({POINTER})"
    if kind is FAULTY_HYPERCUBE and method in HYPERCUBE.methods:
        raise ValueError(
            f"topology must have no faulty links for {method}, got {checked!r}; "
            f"on a {kind.name} use {alternatives}"
        )
    classes = dict.fromkeys(k.base.__name__ for k in KINDS[::-1] if method in k.methods)
    raise TypeError(
        f"topology must be a {either(list(classes))} for {method}, got {checked!r}; "
        f"on a {kind.name} use {alternatives}"
    )


def either(words: list[str]) -> str:
    """Return words as alternatives: ``a, b or c``."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
