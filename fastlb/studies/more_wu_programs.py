"""Random 0-1 programs as input of a study: searched on a hypercube with and without balancing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..montecarlo.methodtext import parse_method
from ..programs.families import random_binary
from ..programs.simulation import simulate_search
from ..random_loads.distributions import Experiment
from ..topologies.hypercube import Hypercube

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.topology import Topology

# Balancing that costs nothing, by rows, whenever a processor is idle.
FREE = "fault_tolerant_dem"

# Programs simulated at a time, so that their matrices stay small.
_BATCH = 1024


@dataclass(frozen=True)
class Programs(Experiment):
    """Random 0-1 programs, searched on a simulated hypercube with and without balancing.

    Methods are ``fault_tolerant_dem`` with options of :func:`fastlb.simulate_search`. The figures
    are ``speedup``, ``time_without``, ``time_with``, ``moved`` and ``balances``.

    Parameters
    ----------
    rows, columns : int
    """

    rows: int
    columns: int

    def measure(
        self, topology: Topology, method: str, *, seed: int, start: int, trials: int
    ) -> dict[str, NDArray[Any]]:
        """Return the figures of the trials ``start, start + 1, ..``, a column (trials,) each."""
        name, options = parse_method(method)
        if name != FREE or not isinstance(topology, Hypercube):
            raise ValueError(f"{self.spec} must be balanced by {FREE} on a hypercube")
        parts = [
            self._measure_batch(topology, options, seed, first, min(_BATCH, start + trials - first))
            for first in range(start, start + trials, _BATCH)
        ]
        return {figure: np.concatenate([part[figure] for part in parts]) for figure in parts[0]}

    def _measure_batch(
        self, cube: Hypercube, options: dict[str, Any], seed: int, start: int, trials: int
    ) -> dict[str, NDArray[Any]]:
        program = random_binary(
            self.name, self.rows, self.columns, seed=seed, trials=trials, start=start
        )
        without = simulate_search(*program, cube, **options, balance=False)
        balanced = simulate_search(*program, cube, **options)
        measured = {
            "speedup": without.time / balanced.time,
            "time_without": without.time,
            "time_with": balanced.time,
            "moved": balanced.moved,
            "balances": balanced.balances,
        }
        return {name: np.asarray(values) for name, values in measured.items()}


@dataclass(frozen=True)
class Planted(Programs):
    """Programs with a hidden solution."""

    name: ClassVar[str] = "planted"


@dataclass(frozen=True)
class Loose(Programs):
    """Programs with many solutions."""

    name: ClassVar[str] = "loose"


FAMILIES = (Planted, Loose)
