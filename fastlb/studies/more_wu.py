"""The experiments of More-Wu section 5: branch and bound on hypercubes, balanced and not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..montecarlo.study import Part, Study, parse_method
from ..programs.families import random_binary
from ..programs.simulation import simulate_search
from ..random_loads.distributions import Experiment
from ..reports.report import Plot, Report
from ..topologies.hypercube import Hypercube
from ..topologies.topology import Topology

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..montecarlo.results import Results

DIMENSIONS = (2, 3, 4, 5, 6)
ROWS = (10, 20, 30, 40, 50)
COLUMNS = (1, 2, 3, 4, 5, 6, 7, 8, 9)
PRINTED_TRIALS = 100

# Free balancing by rows whenever a processor is idle, and what else is tried on one cube.
FREE = "fault_tolerant_dem"
VARIANTS = {
    FREE: "rows",
    f"{FREE}:round_cost=5": "rows, R5",
    f"{FREE}:unit_cost=0.1": "rows, U.1",
    f"{FREE}:granularity=sequence": "seq.",
    f"{FREE}:granularity=sequence,round_cost=5": "seq., R5",
    f"{FREE}:assignment=central": "central",
}
VARIANTS_NOTE = (
    "rows: items are split by rows; seq.: whole sequences move; central: sequences are handed out "
    "one by one. Balancing is free, or costs 5 tests a round (R5) or 0.1 test a test moved (U.1)."
)
VARIED_DIMENSION, VARIED_ROWS = 4, 30

# Programs simulated at a time, so that their matrices stay small.
_TOGETHER = 1024


@dataclass(frozen=True)
class Programs(Experiment):
    """Random 0-1 programs, searched on a simulated hypercube without and with balancing.

    A method is ``fault_tolerant_dem`` with options of :func:`fastlb.simulate_search`. Figures:
    ``speedup``, ``time_without``, ``time_with``, ``moved``, ``balances``.

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
            self._measured(topology, options, seed, first, min(_TOGETHER, start + trials - first))
            for first in range(start, start + trials, _TOGETHER)
        ]
        return {figure: np.concatenate([part[figure] for part in parts]) for figure in parts[0]}

    def _measured(
        self, cube: Hypercube, options: dict[str, Any], seed: int, start: int, trials: int
    ) -> dict[str, NDArray[Any]]:
        program = random_binary(
            self.name, self.rows, self.columns, seed=seed, trials=trials, start=start
        )
        without = simulate_search(*program, cube, **options, balance=False)
        balanced = simulate_search(*program, cube, **options)
        return {
            "speedup": without.time / balanced.time,
            "time_without": without.time,
            "time_with": balanced.time,
            "moved": balanced.moved,
            "balances": balanced.balances,
        }


@dataclass(frozen=True)
class Planted(Programs):
    """Programs with a hidden solution."""

    name: ClassVar[str] = "planted"


@dataclass(frozen=True)
class Loose(Programs):
    """Programs with many solutions."""

    name: ClassVar[str] = "loose"


FAMILIES = (Planted, Loose)


def faulty_cube(n: int, faults: int) -> Hypercube:
    """Return an n-cube with so many faulty links, the first of one random order of all."""
    links = Hypercube(n).edges
    order = np.argsort(np.random.Philox(key=n).random_raw(len(links)), kind="stable")
    return Hypercube(n, faults=[(int(u), int(v)) for u, v in links[order[:faults]]])


@dataclass(frozen=True)
class MoreWu(Study):
    """The study of More-Wu section 5, with the three observations tested."""

    needs: ClassVar[tuple[str, ...]] = ("matplotlib",)

    def report(self, results: Results) -> Report:
        """Return speedups over dimension, rows, columns and faults, and the observations."""
        # Trials are set against each other: all must be there, and as many of each setting.
        whole = results.has_rows and not results.study.target_error
        if not (whole and results.study.covers(study())):
            return super().report(results)
        from . import more_wu_plots
        from .more_wu_tables import Found

        found = Found(results)
        return Report(
            results,
            tables=found.tables(),
            statements=found.statements(),
            plots=[
                Plot(
                    f"speedup-over-{over}",
                    partial(more_wu_plots.over, found, over),
                    f"Mean speedup over {over}, with two standard errors, for both families.",
                )
                for over in ("dimension", "columns", "rows", "faults", "variants")
            ],
        )

    def to_toml(self) -> str:
        """Raise ``ValueError``: experiments have no spelling in a study's file."""
        raise ValueError(f"{self.name} is no study of loads and has no TOML form")


def study() -> MoreWu:
    """Return the study as the paper ran it: 100 problems of every setting."""
    varied = [f(VARIED_ROWS, n) for f in FAMILIES for n in COLUMNS]
    return MoreWu(
        name="more-wu",
        topologies=tuple(faulty_cube(n, faults) for n in DIMENSIONS for faults in range(n)),
        methods=(FREE,),
        loads=tuple(f(m, n) for f in FAMILIES for m in ROWS for n in COLUMNS),
        trials=PRINTED_TRIALS,
        seed=1993,
        further=(Part([Hypercube(VARIED_DIMENSION)], list(VARIANTS), varied),),
    )
