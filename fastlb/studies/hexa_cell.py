"""The experiments of the Hexa-Cell paper, sections 2-3: Algorithms A, B and C, in counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ..montecarlo.study import Study
from ..random_loads.distributions import Uniform
from ..reports.report import Plot, Report
from ..topologies.hexa_cell_topology import HyperHexaCell

if TYPE_CHECKING:
    from ..montecarlo.results import Results

METHODS = {name: f"hexa_cell:algorithm={name}" for name in "ABC"}
DIMENSIONS = tuple(range(1, 10))

# Figures 3, 4, 8 and 9: 96 and 768 processors, by the largest load M of a node.
NETWORKS = {96: HyperHexaCell(5), 768: HyperHexaCell(8)}
UNITS = (10, 100, 1000, 10000, 100000)

# Figures 5 and 10: M = 500, by dimension.
FIXED_UNITS = 500
ALL_UNITS = tuple(sorted({*UNITS, FIXED_UNITS}))

# A load that divides evenly by three, by two, and along all dimensions up to 9.
EVEN_UNITS = 6 * 2**8


def random_loads(M: int) -> Uniform:
    """Return loads uniform on ``0 .. M``."""
    return Uniform(M // 2)


@dataclass(frozen=True)
class HexaCell(Study):
    """The study of the Hexa-Cell paper: simulated beside printed and corrected formulas.

    Its trials have random loads; what one loaded node costs is added to the report, as it is the
    same in every trial.
    """

    needs: ClassVar[tuple[str, ...]] = ("matplotlib",)

    def report(self, results: Results) -> Report:
        """Return Figures 3-11 as data and plots, the errata, and the paper's sentences tested.

        After other combinations it is that of a study in general.
        """
        if not results.study.covers(study()):
            return super().report(results)
        from . import hexa_cell_figures, hexa_cell_plots, hexa_cell_sentences, hexa_cell_tables
        from .hexa_cell_found import Found

        found = Found(results)
        figures = hexa_cell_figures.figures(found)
        return Report(
            results,
            tables=[
                *(figure.table() for figure in figures),
                *hexa_cell_tables.tables(found),
                hexa_cell_tables.errata(),
            ],
            statements=hexa_cell_sentences.statements(found),
            plots=[
                Plot(f.name, partial(hexa_cell_plots.lines, f), f"{f.title}, as lines.")
                for f in figures
            ],
        )


def study() -> HexaCell:
    """Return the study with 100 trials of random loads in every setting."""
    return HexaCell(
        name="hexa-cell",
        topologies=tuple(HyperHexaCell(d) for d in DIMENSIONS),
        methods=tuple(METHODS.values()),
        loads=tuple(random_loads(M) for M in ALL_UNITS),
        trials=100,
        seed=2014,
    )
