"""The experiments of sections 2-3 of the Hexa-Cell paper: Algorithms A, B and C, in counts."""

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
    """Return Figures 3-11 as data and plots, the errata, and tests of the paper's statements."""
    from . import hexa_cell_figures, hexa_cell_plots, hexa_cell_sentences, hexa_cell_tables
    from .hexa_cell_measured import HexaCellMeasurements

    measured = HexaCellMeasurements(results)
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
            Plot(figure.name, partial(hexa_cell_plots.lines, figure), f"{figure.title}, as lines.")
            for figure in figures
        ],
    )
