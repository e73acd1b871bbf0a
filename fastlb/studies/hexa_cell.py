"""The experiments of the Hexa-Cell paper, sections 2-3: Algorithms A, B and C, in counts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..montecarlo.study import Study
from ..reports.report import Plot, Report
from ..topologies.hexa_cell_topology import HyperHexaCell
from .hexa_cell_settings import ALL_UNITS, DIMENSIONS, METHODS, random_loads

if TYPE_CHECKING:
    from ..montecarlo.results import Results


def study() -> Study:
    """Return the study with 100 trials of random loads in every setting."""
    return Study(
        name="hexa-cell",
        topologies=tuple(HyperHexaCell(d) for d in DIMENSIONS),
        methods=tuple(METHODS.values()),
        loads=tuple(random_loads(M) for M in ALL_UNITS),
        trials=100,
        seed=2014,
    )


def report(results: Results) -> Report:
    """Return Figures 3-11 as data and plots, the errata, and the paper's sentences tested.

    After other combinations it is that of a study in general.
    """
    from . import hexa_cell_figures, hexa_cell_plots, hexa_cell_sentences, hexa_cell_tables
    from .hexa_cell_measured import Measured

    measured = Measured(results)
    figures = hexa_cell_figures.figures(measured)
    return Report(
        results,
        tables=[
            *(figure.table() for figure in figures),
            *hexa_cell_tables.tables(measured),
            hexa_cell_tables.errata(),
        ],
        statements=hexa_cell_sentences.statements(measured),
        plots=[
            Plot(f.name, partial(hexa_cell_plots.lines, f), f"{f.title}, as lines.")
            for f in figures
        ],
    )
