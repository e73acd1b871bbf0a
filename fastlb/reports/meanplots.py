"""Plots of a study in general: means of the main figures with error bars, method by method."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .overview import main_figures, varied
from .plotting import BLUE, GREEN, GREY, ORANGE, new_figure
from .report import Plot, without_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..montecarlo.results import Results
    from ..montecarlo.statistic import Statistic
    from .report import Report

# Means in a plot at most; more are shown in tables only.
MOST_LINES = 60

# Okabe and Ito's palette. Markers distinguish methods in grey, and beyond eight.
COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#D55E00", "#56B4E9", GREY, "#000000")
MARKERS = "os^Dv<>"

Lines = dict[str, dict[str, "Statistic"]]


def plots_of(report: Report) -> Sequence[Plot]:
    """Return the plots of a report, or those of the means if it has none."""
    return report.plots or mean_plots(report.results)


def mean_plots(results: Results) -> list[Plot]:
    """Return a plot of each main figure, unless there are too many combinations."""
    summary = results.summary()
    differ, _ = varied([(key[0], key[2]) for key in summary], ("topology", "loads"))
    plots = []
    for name in main_figures(results):
        lines: Lines = {}
        for (topology, method, loads), figures in summary.items():
            label = "  ".join((topology, loads)[i] for i in differ) or topology
            if name in figures:
                lines.setdefault(label, {})[method] = figures[name]
        if sum(map(len, lines.values())) <= MOST_LINES:
            about = f"Mean {name} with two standard errors, by topology, loads and method."
            plots.append(Plot(f"mean-{name}", partial(_draw, name, lines), about))
    return plots


def _draw(name: str, lines: Lines) -> Any:
    methods = list(dict.fromkeys(method for by_method in lines.values() for method in by_method))
    # Each label's methods stand one below the other, with a gap of one line to the next label.
    starts = np.cumsum([0, *(len(by_method) + 1 for by_method in lines.values())])
    heights = [
        {method: start + i for i, method in enumerate(m for m in methods if m in by_method)}
        for start, by_method in zip(starts, lines.values(), strict=False)
    ]
    page = new_figure(figsize=(6.4, 1.1 + 0.24 * len(methods) + 0.2 * starts[-1]))
    axes = page.add_subplot()
    for m, method in enumerate(methods):
        shown = [by_method[method] for by_method in lines.values() if method in by_method]
        axes.errorbar(
            [statistic.mean for statistic in shown],
            [height[method] for height in heights if method in height],
            xerr=[2 * s.standard_error if s.trials > 1 else 0.0 for s in shown],
            fmt=MARKERS[m % len(MARKERS)],
            color=COLOURS[m % len(COLOURS)],
            markersize=5,
            capsize=3,
            label=_plain(method),
        )
    means = [statistic.mean for by_method in lines.values() for statistic in by_method.values()]
    if min(means) > 0 and max(means) > 30 * min(means):
        axes.set_xscale("log")
    elif min(means) >= 0:
        axes.set_xlim(left=0, right=1.05 * max(means) or 1.0)
    middles = [sum(height.values()) / len(height) for height in heights]
    axes.set_yticks(middles, [_plain(without_hash(label)) for label in lines])
    axes.set_ylim(starts[-1] - 1, -1)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dddddd")
    axes.set_xlabel(_plain(f"{name}, mean ± 2 s.e."))
    page.legend(loc="outside upper left", ncols=1 if len(methods) > 3 else len(methods))
    return page


def _plain(text: str) -> str:
    """Return text that matplotlib does not read as a formula."""
    return text.replace("$", r"\$")
