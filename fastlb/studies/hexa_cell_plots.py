"""The plots of the Hexa-Cell study: Figures 3-11."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..reports.plotting import BLUE, GREEN, GREY, ORANGE, new_figure
from .hexa_cell_figures import CORRECTED, LEAST, MOST, PRINTED, RANDOM

if TYPE_CHECKING:
    from .hexa_cell_figures import Figure

# Formulas are broad bands, on which the lines of counts should lie.
LINE = {PRINTED: "-", CORRECTED: ":", MOST: "-", LEAST: "--", RANDOM: "-."}
MARKER = {PRINTED: "", CORRECTED: "", MOST: "o", LEAST: "^", RANDOM: "s"}
BROAD = {
    PRINTED: {"linewidth": 6, "alpha": 0.35, "zorder": 1},
    CORRECTED: {"linewidth": 3.5, "alpha": 0.6, "zorder": 1},
}
THIN = {"linewidth": 1.2, "markersize": 4}
ALONE = {PRINTED: ORANGE, CORRECTED: GREY, MOST: BLUE, LEAST: BLUE, RANDOM: GREEN}
COMPARED = (BLUE, ORANGE)


def lines(figure: Figure) -> Any:
    """Draw a figure: printed formulas broad, corrected ones dotted, counts with markers.

    With one algorithm each kind of curve has its colour; with several each algorithm has.
    """
    page = new_figure(figsize=(7.6, 4.0))
    axes = page.add_subplot()
    # Times are nearly proportional to M, so that only their ratios to M show how they differ.
    unit = np.array(figure.points, dtype=float) if figure.parameter == "M" else 1.0
    algorithms = figure.algorithms
    several = len(algorithms) > 1
    for curve in figure.curves:
        colour = COMPARED[algorithms.index(curve.algorithm)] if several else ALONE[curve.kind]
        axes.errorbar(
            figure.points,
            np.array(curve.values, dtype=float) / unit,
            yerr=_two_errors(curve.errors, unit),
            color=colour,
            linestyle=LINE[curve.kind],
            marker=MARKER[curve.kind],
            capsize=2,
            label=f"{curve.algorithm} {curve.label}" if several else curve.label,
            **BROAD.get(curve.kind, THIN),
        )
    if figure.parameter == "M":
        axes.set_xscale("log")
        axes.set_xlabel("M, largest load of a node")
        axes.set_ylabel(f"{figure.unit} / M")
    else:
        axes.set_xticks(figure.points)
        axes.set_xlabel("dimension d")
        axes.set_ylabel(figure.unit)
    if figure.log:
        _logarithmic(axes)
    else:
        axes.set_ylim(bottom=0)
    axes.grid(axis="y", color="#dddddd")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set_title(figure.title)
    return page


def _logarithmic(axes: Any) -> None:
    """Make the y axis logarithmic, with plain numbers at its ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))


def _two_errors(errors: Any, unit: Any) -> Any:
    """Return two standard errors of each value, or None if any is not known."""
    known = errors is not None and None not in errors
    return 2 * np.array(errors, dtype=float) / unit if known else None
