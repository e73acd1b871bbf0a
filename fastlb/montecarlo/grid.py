"""Grids of combinations to run: topologies x methods x distributions of loads."""

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

# The lists of a grid, as a study and its file name them.
GRID = ("topologies", "methods", "loads")


@dataclass(frozen=True)
class Cell:
    """One combination of a study: its trials make up one group of rows of the results."""

    topology: Topology
    method: str
    loads: Distribution

    @property
    def key(self) -> tuple[str, str, str]:
        """Its spelling: (topology, method, loads)."""
        return self.topology.spec, self.method, self.loads.spec


# What combinations share that balance the same loads.
Group = tuple[Topology, Distribution]


@dataclass(frozen=True)
class Part:
    """A grid of topologies x methods x loads; parameters and errors as for :class:`Study`."""

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
        """Return the combinations of the grid, topologies first and methods last."""
        return [
            Cell(topology, method, loads)
            for topology in self.topologies
            for loads in self.loads
            for method in self.methods
        ]


def normalise(part: Any) -> None:
    """Replace the spellings in a grid or a study by what they mean, each method by one spelling.

    Raises
    ------
    ValueError, TypeError
        If a list is empty, repeats itself, or has an entry that cannot be read.
    """
    loads = (part.loads,) if isinstance(part.loads, Distribution | str) else part.loads
    topologies = tuple(
        read_topology(t, "topologies") for t in _several("topologies", part.topologies)
    )
    methods = tuple(read_method(m) for m in _several("methods", part.methods))
    drawn = tuple(read_distribution(distribution) for distribution in _several("loads", loads))
    for name, values in {"topologies": topologies, "methods": methods, "loads": drawn}.items():
        seen: set[object] = set()
        for value in values:
            # Two of one spelling would be one column of the results.
            spelled = getattr(value, "spec", value)
            if value not in seen and spelled in seen and isinstance(value, Network):
                raise ValueError(
                    f"{name} must differ in their spelling, which names results: two "
                    f"networks are both {spelled!r} (label= tells networks apart: "
                    "Network(edges, label=..), Network.from_networkx(graph, label=..))"
                )
            if {value, spelled} & seen:
                raise ValueError(f"{name} must differ, got {value} twice")
            seen |= {value, spelled}
        object.__setattr__(part, name, values)


def _several(name: str, values: Any) -> list[Any]:
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list, got {values!r}")
    listed = list(values)
    if not listed:
        raise ValueError(f"{name} must not be empty")
    return listed
