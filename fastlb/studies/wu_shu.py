"""The experiments of Wu-Shu section 6: DDE against GDE on two meshes and two tori."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ..montecarlo.study import Part, Study
from ..random_loads.distributions import Uniform
from ..reports.report import Plot, Report
from ..topologies.topology import Grid, Mesh, Torus

if TYPE_CHECKING:
    from ..montecarlo.results import Results

GDE, DDE = "gde:lam=0.723", "dde"
MEAN = 1000

NETWORKS: dict[str, Grid] = {
    "8x8 mesh": Mesh(8, 8),
    "16x16 torus": Torus(16, 16),
    "8x8x8 mesh": Mesh(8, 8, 8),
    "16x16x16 torus": Torus(16, 16, 16),
}

# Table I. The paper's figures are means of 100 trials, whose standard deviation is 0.12; the
# long-run means are those of an exact implementation over 20,000 trials, standard error 0.01.
MEANS = (100, 300, 1000, 3000, 10000)
PRINTED_SWEEPS = (7.28, 9.20, 11.08, 13.02, 14.67)
LONG_RUN_SWEEPS = (7.37, 9.32, 11.28, 12.94, 14.68)
PRINTED_TRIALS = 100
PRINTED_DEVIATION = 0.12

# Square meshes on which the sweeps of GDE, each with its own optimal lambda, are seen to grow.
GROWING = (4, 8, 16)


@dataclass(frozen=True)
class WuShu(Study):
    """The study of Wu-Shu section 6, whose report stands beside the paper's figures."""

    needs: ClassVar[tuple[str, ...]] = ("matplotlib",)

    def report(self, results: Results) -> Report:
        """Return Table I, Figures 11-16 as data and plots, and the paper's sentences tested."""
        if not results.study.covers(study()):
            return super().report(results)
        from . import wu_shu_example, wu_shu_plots, wu_shu_tables

        found = wu_shu_tables.Found(results)
        figures = wu_shu_tables.FIGURES
        example = wu_shu_example.worked()
        return Report(
            results,
            tables=[found.table_1(), *(found.table(figure) for figure in figures)],
            statements=found.statements(),
            plots=[
                Plot(
                    "table-1",
                    partial(wu_shu_plots.table_1, found),
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
                        f.name,
                        partial(wu_shu_plots.bars, found, f),
                        f"{f.title} of GDE and DDE on the four networks, as bars with two "
                        "standard errors.",
                    )
                    for f in figures
                ),
            ],
            examples=[wu_shu_example.text(example)],
        )


def study() -> WuShu:
    """Return the study as the paper ran it: 100 trials of every setting."""
    return WuShu(
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
