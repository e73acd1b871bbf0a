"""Measurements of minimax flow: contention, the price of routing schemes, traffic, entities.

The Minimax paper has no measurements; these are the library's own.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..montecarlo.study import Study
from ..random_loads.distributions import Uniform
from ..reports.report import Plot, Report
from ..topologies.grids import Mesh, Torus
from ..topologies.hypercube import Hypercube
from ..topologies.topology import Topology

if TYPE_CHECKING:
    from ..montecarlo.results import Results

MEAN = 1000
TRIALS = 20

NETWORKS: dict[str, Topology] = {
    "4-cube": Hypercube(4),
    "6-cube": Hypercube(6),
    "8-cube": Hypercube(8),
    "4x4 mesh": Mesh(4, 4),
    "8x8 mesh": Mesh(8, 8),
    "16x16 mesh": Mesh(16, 16),
    "8x8 torus": Torus(8, 8),
    "16x16 torus": Torus(16, 16),
}


def study() -> Study:
    """Return the study: 20 trials of loads uniform on 0 .. 2000 on every network."""
    return Study(
        name="minimax",
        topologies=tuple(NETWORKS.values()),
        methods=("dde",),
        loads=(Uniform(MEAN),),
        trials=TRIALS,
        seed=1995,
    )


def report(results: Results) -> Report:
    """Return the tables of contention, routing, traffic and entities, and a plot of routing."""
    from . import minimax_tables, minimax_trials

    measured = minimax_trials.measure(results.study, NETWORKS)
    real = minimax_trials.measure_real_networks(results.study)
    return Report(
        results,
        tables=minimax_tables.tables(measured, real),
        plots=[
            Plot(
                "routing",
                partial(minimax_tables.routing_plot, measured),
                "Contention under e-cube and dimension-order routing over the least, a point "
                "a trial, for each network.",
            )
        ],
    )
