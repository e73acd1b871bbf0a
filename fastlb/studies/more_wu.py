"""The experiments of More-Wu section 5: branch and bound on hypercubes, balanced and not."""

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
    """Return the study as the paper ran it: 100 problems of every setting."""
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
    """Return speedups over dimension, rows, columns and faults, and the observations."""
    if not has_equal_trials(results):
        return overview(results)
    from . import more_wu_plots
    from .more_wu_tables import Measured

    measured = Measured(results)
    return Report(
        results,
        tables=measured.tables(),
        statements=measured.statements(),
        plots=[
            Plot(
                f"speedup-over-{over}",
                partial(more_wu_plots.over, measured, over),
                f"Mean speedup over {over}, with two standard errors, for both families.",
            )
            for over in ("dimension", "columns", "rows", "faults", "variants")
        ],
    )
