"""Grids of combinations of a study: topologies x methods x distributions of loads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..random_loads.distributions import Distribution
from ..random_loads.sampling import read_distribution
from ..topologies.network import Network
from ..topologies.parse import read_topology
from ..topologies.topology import Topology
from .methodtext import read_method

# The lists of a grid, as the parameters of a study and the keys of its file are named.
GRID = ("topologies", "methods", "loads")


@dataclass(frozen=True)
class Cell:
    """One combination of a study: a topology, a method and a distribution of loads."""

    topology: Topology
    method: str
    loads: Distribution

    @property
    def key(self) -> tuple[str, str, str]:
        """The spellings (topology, method, loads)."""
        return self.topology.spec, self.method, self.loads.spec


# The combinations of a topology and a distribution, with any method, balance the same loads.
Group = tuple[Topology, Distribution]


@dataclass(frozen=True)
class Part:
    """A grid of topologies x methods x loads; parameters and errors are those of :class:`Study`."""

    topologies: tuple[Topology, ...]
    methods: tuple[str, ...]
    loads: tuple[Distribution, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            topologies: Iterable[Topology | str],
            methods: Iterable[str],
            loads: Distribution | str | Iterable[Distribution | str],
        ) -> None: ...

    def __post_init__(self) -> None:
        normalise(self)

    def cells(self) -> list[Cell]:
        """Return the combinations of the grid, in the order of topologies, loads and methods."""
        return [
            Cell(topology, method, loads)
            for topology in self.topologies
            for loads in self.loads
            for method in self.methods
        ]


def normalise(part: Any) -> None:
    """Replace the lists of a grid or a study, which may have spellings, by tuples of objects.

    Methods stay text, with one spelling each.

    Raises
    ------
    ValueError, TypeError
        If a list is empty, repeats itself, or has an entry that cannot be read.
    """
    loads = (part.loads,) if isinstance(part.loads, Distribution | str) else part.loads
    lists: dict[str, tuple[Any, ...]] = {
        "topologies": tuple(
            read_topology(topology, "topologies")
            for topology in _as_list("topologies", part.topologies)
        ),
        "methods": tuple(map(read_method, _as_list("methods", part.methods))),
        "loads": tuple(map(read_distribution, _as_list("loads", loads))),
    }
    for name, values in lists.items():
        _check_distinct(name, values)
        object.__setattr__(part, name, values)


def _check_distinct(name: str, values: Iterable[Any]) -> None:
    """Raise ``ValueError`` if two values are equal or have the same spelling."""
    seen: set[object] = set()
    for value in values:
        spelling = getattr(value, "spec", value)
        if value not in seen and spelling in seen and isinstance(value, Network):
            raise ValueError(
                f"{name} must differ in their spelling, which names results: two "
                f"networks are both {spelling!r} (label= tells networks apart: "
                "Network(edges, label=..), Network.from_networkx(graph, label=..))"
            )
        if {value, spelling} & seen:
            raise ValueError(f"{name} must differ, got {value} twice")
        seen |= {value, spelling}


def _as_list(name: str, values: Any) -> list[Any]:
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list, got {values!r}")
    listed = list(values)
    if not listed:
        raise ValueError(f"{name} must not be empty")
    return listed
