"""The experiments of More-Wu section 5: branch and bound with and without balancing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..montecarlo.grid import Part
from ..montecarlo.study import Study
from ..reports.overview import has_equal_trials, overview
from ..reports.report import Plot, Report
from ..topologies.hypercube import Hypercube
from .more_wu_programs import FAMILIES, FREE
from .more_wu_settings import (
    COLUMNS,
    DIMENSIONS,
    PRINTED_TRIALS,
    ROWS,
    VARIANTS,
    VARIED_DIMENSION,
    VARIED_ROWS,
    faulty_cube,
)

if TYPE_CHECKING:
    from ..montecarlo.results import Results


def study() -> Study:
    """Return the study with 100 problems in every setting, as the paper has."""
    varied = [f(VARIED_ROWS, n) for f in FAMILIES for n in COLUMNS]
    return Study(
        name="more-wu",
        topologies=tuple(faulty_cube(n, faults) for n in DIMENSIONS for faults in range(n)),
        methods=(FREE,),
        loads=tuple(f(m, n) for f in FAMILIES for m in ROWS for n in COLUMNS),
        trials=PRINTED_TRIALS,
        seed=1993,
        further=(Part([Hypercube(VARIED_DIMENSION)], list(VARIANTS), varied),),
    )


def report(results: Results) -> Report:
    """Return speedups over each attribute, and tests of the paper's observations."""
    if not has_equal_trials(results):
        return overview(results)
    from . import more_wu_plots
    from .more_wu_tables import SearchMeasurements

    measured = SearchMeasurements(results)
    return Report(
        results,
        tables=measured.tables(),
        statements=measured.statements(),
        plots=[
            Plot(
                f"speedup-over-{attribute}",
                partial(more_wu_plots.speedup, measured, attribute),
                f"Mean speedup over {attribute}, with two standard errors, for both families.",
            )
            for attribute in ("dimension", "columns", "rows", "faults", "variants")
        ],
    )
