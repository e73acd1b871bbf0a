"""Measurements of whole tasks: how even loads get, what moves, and how long planning takes.

No paper has them; these are the library's own.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..montecarlo.study import Study
from ..random_loads.distributions import Uniform
from ..random_loads.tabulated import Exponential, LogNormal, Zipf
from ..reports.report import Plot, Report
from ..topologies.grids import Mesh, Torus
from ..topologies.hypercube import Hypercube

if TYPE_CHECKING:
    from ..montecarlo.results import Results

TRIALS = 20
NETWORKS = {
    "4-cube": Hypercube(4),
    "4x4 torus": Torus(4, 4),
    "4x4 mesh": Mesh(4, 4),
    "8x8 torus": Torus(8, 8),
    "8x8 mesh": Mesh(8, 8),
    "8-cube": Hypercube(8),
}
# Sizes of tasks, from light to heavy tails.
SIZES = {
    "uniform": Uniform(1000),
    "exponential": Exponential(1000),
    "log-normal": LogNormal(1000, 1.5),
    "Zipf": Zipf(1.5, 2**16),
}


def study() -> Study:
    """Return the study: 20 trials of every distribution of sizes on every network."""
    return Study(
        name="tasks",
        topologies=tuple(NETWORKS.values()),
        methods=("dde",),
        loads=tuple(SIZES.values()),
        trials=TRIALS,
        seed=1995,
    )


def report(results: Results) -> Report:
    """Return the tables of gaps, moves and times, and a plot of the gaps."""
    from . import tasks_tables, tasks_trials

    measured = tasks_trials.measure(results.study, NETWORKS, SIZES)
    return Report(
        results,
        tables=tasks_tables.tables(measured),
        plots=[
            Plot(
                "gaps",
                partial(tasks_tables.gap_plot, measured),
                "Gap of the fullest node above the bound, a point a trial, for each distribution "
                "of task sizes; gaps below 1e-6 stand on the lowest line.",
            )
        ],
    )
