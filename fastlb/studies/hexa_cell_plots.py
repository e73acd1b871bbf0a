"""The plots of the Hexa-Cell study: Figures 3-11."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..plotting import BLUE, GREEN, GREY, ORANGE, new_figure
from .hexa_cell_figures import CORRECTED, PRINTED, RANDOM, SIMULATED

if TYPE_CHECKING:
    from .hexa_cell_figures import Figure

# Printed formulas lie as broad bands below the counts that should fall upon them.
LINE = {PRINTED: "-", CORRECTED: ":", SIMULATED: "-", RANDOM: "-."}
MARKER = {PRINTED: "", CORRECTED: "", SIMULATED: "o", RANDOM: "s"}
BROAD = {"linewidth": 6, "alpha": 0.35, "zorder": 1}


def lines(figure: Figure) -> Any:
    """Draw a figure: printed formulas broad, corrected ones dotted, counts with markers."""
    page = new_figure()
    axes = page.add_subplot()
    # Times are all but proportional to M: only their ratio to M shows how they differ.
    unit = np.array(figure.at, dtype=float) if figure.by == "M" else 1.0
    several = any(series.label.startswith("B ") for series in figure.series)
    for series in figure.series:
        if several:
            colour = ORANGE if series.label.startswith("B ") else BLUE
        else:
            colour = {PRINTED: ORANGE, CORRECTED: GREY, SIMULATED: BLUE, RANDOM: GREEN}[series.kind]
        triangle = "coord." in series.label
        axes.errorbar(
            figure.at,
            np.array(series.values, dtype=float) / unit,
            yerr=_two_errors(series.errors, unit),
            color=colour,
            linestyle=LINE[series.kind],
            marker="^" if triangle else MARKER[series.kind],
            capsize=2,
            label=series.label,
            **({"linewidth": 1.2, "markersize": 4} if series.kind != PRINTED else BROAD),
        )
    if figure.by == "M":
        axes.set_xscale("log")
        axes.set_xlabel("M, largest load of a node")
        axes.set_ylabel(f"{figure.unit} / M")
        axes.set_ylim(bottom=0)
    else:
        axes.set_xticks(figure.at)
        axes.set_xlabel("dimension d")
        axes.set_ylabel(figure.unit)
        if figure.log:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
    axes.grid(axis="y", color="#dddddd")
    axes.legend(fontsize=8)
    axes.set_title(f"Figure {figure.number}: {figure.title}")
    return page


def _two_errors(errors: Any, unit: Any) -> Any:
    known = errors is not None and None not in errors
    return 2 * np.array(errors, dtype=float) / unit if known else None
