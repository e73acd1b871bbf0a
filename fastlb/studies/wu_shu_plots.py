"""The plots of the Wu-Shu study: Table I and Figures 11-16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import extra
from ..reports.plotting import BLUE, GREEN, GREY, ORANGE, new_figure
from .wu_shu_example import LOADS
from .wu_shu_settings import LONG_RUN_SWEEPS, MEANS, NETWORKS, PRINTED_SWEEPS
from .wu_shu_tables import trials_text

if TYPE_CHECKING:
    from ..exchange.result import Balance
    from .wu_shu_tables import Figure, WuShuMeasurements

COLOURS = (BLUE, ORANGE, GREEN)
DOWN, RIGHT = (1, 0), (0, 1)


def bars(measured: WuShuMeasurements, figure: Figure) -> Any:
    """Draw one of Figures 12-16: a group of bars per network, with two standard errors."""
    page = new_figure()
    axes = page.add_subplot()
    width = 0.8 / len(figure.series)
    for i, series in enumerate(figure.series):
        statistics = measured.statistics(series)
        heights = np.array([figure.scale * statistic.mean for statistic in statistics])
        errors = [2 * figure.scale * statistic.standard_error for statistic in statistics]
        drawn = axes.bar(
            np.arange(len(heights)) + (i - (len(figure.series) - 1) / 2) * width,
            heights,
            width * 0.94,
            yerr=errors if series.measured and statistics[0].trials > 1 else None,
            error_kw={"elinewidth": 1.2, "ecolor": "black"},
            color=COLOURS[i],
            label=series.label,
        )
        decimals = figure.decimals if series.measured else 0
        labels = [f"{height:.{decimals}f}" for height in heights]
        axes.bar_label(drawn, labels, padding=2, fontsize=8)
    axes.set_xticks(np.arange(len(NETWORKS)), NETWORKS)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(figure.unit)
    axes.margins(y=0.1)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(COLOURS), borderaxespad=0.2)
    trials = trials_text(s for series in figure.series for s in measured.statistics(series))
    page.suptitle(f"Figure {figure.number}: {figure.title}, mean of {trials} trials ± 2 s.e.")
    return page


def table_1(measured: WuShuMeasurements) -> Any:
    """Draw Table I: sweeps of GDE on the 8x8 mesh over the average load."""
    page = new_figure()
    axes = page.add_subplot()
    statistics = measured.sweeps_by_mean()
    means = [statistic.mean for statistic in statistics]
    errors = [2 * statistic.standard_error for statistic in statistics]
    axes.errorbar(
        MEANS,
        means,
        yerr=errors if statistics[0].trials > 1 else None,
        color=BLUE,
        marker=".",
        label=f"this run, {trials_text(statistics)} trials",
    )
    axes.plot(MEANS, LONG_RUN_SWEEPS, "_", color=GREY, ms=18, label="long run, 20,000 trials")
    axes.plot(MEANS, PRINTED_SWEEPS, "s", mfc="none", ms=9, color=ORANGE, label="paper, 100 trials")
    axes.set_xscale("log")
    axes.set_xticks(MEANS, [f"{mean:,}" for mean in MEANS])
    axes.minorticks_off()
    axes.set_xlabel("average number of tasks")
    axes.set_ylabel("average number of sweeps")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color="#dddddd")
    axes.legend(loc="lower right")
    axes.set_title("Table I: sweeps of GDE on the 8x8 mesh")
    return page


def example(result: Balance) -> Any:
    """Draw the example of Figure 11: the loads and flows of both dimensions, and the result."""
    page = new_figure(figsize=(9.0, 3.6))
    first, second = result.stages
    no_flow = np.zeros_like(LOADS)
    panels = [
        ("(a) first dimension", LOADS, {DOWN: result.flows[0]}),
        ("(b) second dimension", first, {RIGHT: result.flows[1]}),
        (f"(c) result, difference {result.difference}", second, {DOWN: no_flow, RIGHT: no_flow}),
    ]
    for axes, (title, loads, flows_by_step) in zip(page.subplots(1, 3), panels, strict=True):
        axes.set_title(title, loc="center")
        axes.set_aspect("equal")
        axes.set_xlim(-0.9, 3.9)
        axes.set_ylim(3.9, -0.9)
        axes.axis("off")
        for (row, column), load in np.ndenumerate(loads):
            axes.add_patch(_circle((column, row), load / LOADS.max()))
            axes.text(column, row, str(load), ha="center", va="center", zorder=3)
            for step, flows in flows_by_step.items():
                _draw_link(axes, (row, column), step, int(flows[row, column]))
    page.suptitle("Figure 11: DDE on a 4x4 torus (our loads; the paper's numbers are lost)")
    return page


def _circle(centre: tuple[int, int], share: float) -> Any:
    """Return a node's circle; the larger its share of the largest load, the darker it is."""
    shade = (1 - 0.35 * share, 1 - 0.2 * share, 1 - 0.08 * share)
    circle = extra("matplotlib.patches").Circle
    return circle(centre, 0.27, facecolor=shade, edgecolor=GREY, zorder=2)


def _draw_link(axes: Any, node: tuple[int, int], step: tuple[int, int], flow: int) -> None:
    """Draw the link from a node to its successor; a wrap link as two stubs at the borders."""
    row, column = node
    down, right = step
    wraps = row + down == len(LOADS) or column + right == len(LOADS)
    start = np.array([column, row], dtype=float)
    direction = np.array([right, down], dtype=float)
    if not wraps:
        _arrow(axes, start + 0.27 * direction, start + 0.73 * direction, flow)
        return
    successor = start * (1 - direction)
    _arrow(axes, start + 0.27 * direction, start + 0.8 * direction, flow)
    _arrow(axes, successor - 0.8 * direction, successor - 0.27 * direction, flow)


def _arrow(axes: Any, start: Any, end: Any, flow: int) -> None:
    """Draw a flow with its amount; a negative one points backwards, and 0 is a grey line."""
    if flow == 0:
        axes.plot(*zip(start, end, strict=True), color="#cccccc", linewidth=1, zorder=1)
        return
    tail, head = (start, end) if flow > 0 else (end, start)
    axes.annotate(
        "",
        xy=head,
        xytext=tail,
        arrowprops={"arrowstyle": "-|>", "color": BLUE, "shrinkA": 0, "shrinkB": 0},
    )
    middle = (start + end) / 2
    sideways = np.array([0.17, 0.0]) if start[0] == end[0] else np.array([0.0, -0.15])
    axes.text(
        *(middle + sideways), str(abs(flow)), color=BLUE, fontsize=8, ha="center", va="center"
    )
