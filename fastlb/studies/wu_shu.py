"""The experiments of Wu-Shu section 6: DDE against GDE on two meshes and two tori."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..montecarlo.grid import Part
from ..montecarlo.study import Study
from ..random_loads.distributions import Uniform
from ..reports.report import Plot, Report
from ..topologies.grids import Mesh
from .wu_shu_settings import DDE, GDE, GROWING, MEAN, MEANS, NETWORKS, PRINTED_TRIALS

if TYPE_CHECKING:
    from ..montecarlo.results import Results


def study() -> Study:
    """Return the study with 100 trials in every setting, as the paper has."""
    return Study(
        name="wu-shu",
        topologies=tuple(NETWORKS.values()),
        methods=(GDE, DDE),
        loads=(Uniform(MEAN),),
        trials=PRINTED_TRIALS,
        seed=1995,
        further=(
            Part([NETWORKS["8x8 mesh"]], [GDE], [Uniform(mean) for mean in MEANS]),
            Part([Mesh(k, k) for k in GROWING], ["gde"], Uniform(MEAN)),
        ),
    )


def report(results: Results) -> Report:
    """Return Table I, Figures 11-16 as data and plots, and tests of the paper's statements."""
    from . import wu_shu_example, wu_shu_plots, wu_shu_tables

    measured = wu_shu_tables.WuShuMeasurements(results)
    figures = wu_shu_tables.FIGURES
    example = wu_shu_example.balance()
    return Report(
        results,
        tables=[measured.table_1(), *(measured.table(figure) for figure in figures)],
        statements=measured.statements(),
        plots=[
            Plot(
                "table-1",
                partial(wu_shu_plots.table_1, measured),
                "Sweeps of GDE over the average load: this run, the long run and the paper.",
            ),
            Plot(
                "figure-11",
                partial(wu_shu_plots.example, example),
                "Loads and flows on a 4x4 torus in the first and the second dimension, and "
                "the result.",
            ),
            *(
                Plot(
                    figure.name,
                    partial(wu_shu_plots.bars, measured, figure),
                    f"{figure.title} of GDE and DDE on the four networks, as bars with two "
                    "standard errors.",
                )
                for figure in figures
            ),
        ],
        examples=[wu_shu_example.text(example)],
    )
