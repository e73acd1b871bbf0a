"""The plots of the Hexa-Cell study: Figures 3-11."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..reports.plotting import BLUE, GREEN, GREY, ORANGE, new_figure
from .hexa_cell_figures import CORRECTED, LEAST, MOST, PRINTED, RANDOM

if TYPE_CHECKING:
    from .hexa_cell_figures import Figure

# Formulas lie as broad bands below the counts that should fall upon them.
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

    A single algorithm has a colour for each kind of curve, of several each has its own.
    """
    page = new_figure(figsize=(7.6, 4.0))
    axes = page.add_subplot()
    # Times are all but proportional to M: only their ratio to M shows how they differ.
    unit = np.array(figure.at, dtype=float) if figure.by == "M" else 1.0
    several = len(figure.algorithms) > 1
    for series in figure.series:
        own = COMPARED[figure.algorithms.index(series.algorithm)] if several else ALONE[series.kind]
        axes.errorbar(
            figure.at,
            np.array(series.values, dtype=float) / unit,
            yerr=_two_errors(series.errors, unit),
            color=own,
            linestyle=LINE[series.kind],
            marker=MARKER[series.kind],
            capsize=2,
            label=f"{series.algorithm} {series.label}" if several else series.label,
            **BROAD.get(series.kind, THIN),
        )
    if figure.by == "M":
        axes.set_xscale("log")
        axes.set_xlabel("M, largest load of a node")
        axes.set_ylabel(f"{figure.unit} / M")
    else:
        axes.set_xticks(figure.at)
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
    """Scale the y axis by ratios, its ticks written as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))


def _two_errors(errors: Any, unit: Any) -> Any:
    known = errors is not None and None not in errors
    return 2 * np.array(errors, dtype=float) / unit if known else None
