"""The experiments of the Hexa-Cell paper, sections 2-3: Algorithms A, B and C, in counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ..montecarlo.study import Study
from ..reports.report import Plot, Report
from ..topologies.hexa_cell_topology import HyperHexaCell
from .hexa_cell_settings import ALL_UNITS, DIMENSIONS, METHODS, random_loads

if TYPE_CHECKING:
    from ..montecarlo.results import Results


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
