"""The tables and the plot of the tasks study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..reports.mean import Mean
from ..reports.plotting import BLUE, GREEN, GREY, ORANGE, new_figure
from ..reports.report import Table, Value
from .tasks_trials import WAYS, Measurements, Trial

NOTE = "Means of the trials ± standard error."
COLOURS = dict(zip(WAYS, (BLUE, ORANGE, GREY, GREEN), strict=True))
# Smaller gaps are drawn as this one, as 0 has no place on a logarithmic axis.
LEAST_DRAWN = 1e-6


def tables(measured: Measurements) -> list[Table]:
    """Return all tables of the study."""
    return [
        _by_way("gap", "Gap: largest load over the bound, minus 1", measured, "gap", WAYS, 5),
        _by_way("moved", "Load that changes its node, part of all", measured, "moved", WAYS, 3),
        _by_way("tasks", "Tasks that change their node, part of all", measured, "tasks", WAYS, 3),
        _by_way("hops", "Links that a task takes which moves", measured, "hops", WAYS[:3], 2),
        _times(measured),
        _expectations(measured),
    ]


def gap_plot(measured: Measurements) -> Any:
    """Draw the gaps of all trials, a group of points a distribution of sizes."""
    page = new_figure()
    axes = page.add_subplot()
    for i, way in enumerate(WAYS):
        for j, by_network in enumerate(measured.values()):
            gaps = [max(trial.gap[way], LEAST_DRAWN) for trial in _all(by_network.values())]
            x = j + (i - 1.5) * 0.18 + np.linspace(-0.06, 0.06, len(gaps))
            label = way if j == 0 else None
            axes.plot(x, gaps, "o", color=COLOURS[way], alpha=0.4, markersize=3, label=label)
    axes.set_yscale("log")
    axes.set_xticks(np.arange(len(measured)), list(measured))
    axes.set_ylabel("gap of the fullest node")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(WAYS), borderaxespad=0.2)
    return page


def _by_way(
    name: str, title: str, measured: Measurements, figure: str, ways: Sequence[str], decimals: int
) -> Table:
    """Return the means of a figure, one row for each distribution and network."""
    rows: list[Sequence[Value]] = []
    for tail, by_network in measured.items():
        for network, trials in by_network.items():
            means = [Mean.of([getattr(trial, figure)[way] for trial in trials]) for way in ways]
            rows.append([tail, network, len(trials), *means])
    columns = ["sizes", "network", "trials", *ways]
    return Table(name, title, columns, rows, [0, 0, 0, *[decimals] * len(ways)], NOTE)


def _times(measured: Measurements) -> Table:
    """Return the microseconds a task that the choice takes; they vary from run to run."""
    rows: list[Sequence[Value]] = []
    networks = next(iter(measured.values()))
    for network in networks:
        trials = _all([by_network[network] for by_network in measured.values()])
        milliseconds = {
            way: [1e3 * trial.seconds[way] for trial in trials] for way in ("free", "along")
        }
        rows.append([network, len(trials), *(float(np.median(v)) for v in milliseconds.values())])
    return Table(
        "time",
        "CPU milliseconds for all tasks, in the median; they differ from machine to machine",
        ["network", "trials", "free", "along"],
        rows,
        [0, 0, 2, 2],
    )


def _expectations(measured: Measurements) -> Table:
    """Return what was expected of the ways, and what the trials say."""
    trials = _all(_all(by_network.values()) for by_network in measured.values())
    free = [trial.gap["free"] for trial in trials]
    anew = [trial.gap["longest first"] for trial in trials]
    closer = [trial.gap["along"] <= trial.gap["plan"] for trial in trials]
    fewer = [trial.moved["free"] <= trial.moved["longest first"] for trial in trials]
    rows: list[Sequence[Value]] = [
        ["gap of free, mean", "<= 0.001", float(np.mean(free))],
        ["gap of free over longest first, all trials", "never larger", _share(free, anew)],
        ["along is as even as the plan alone or more", "always", float(np.mean(closer))],
        ["free moves no more load than longest first", "always", float(np.mean(fewer))],
    ]
    holds = [
        float(np.mean(free)) <= 0.001,
        _share(free, anew) == 1,
        all(closer),
        all(fewer),
    ]
    return Table(
        "expected",
        "What was expected, and what the trials say (shares of trials; the first a gap)",
        ["figure", "expected", "measured", "holds"],
        [[*row, "yes" if hold else "no"] for row, hold in zip(rows, holds, strict=True)],
        [0, 0, 5, 0],
    )


def _share(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return float(np.mean([a <= b for a, b in zip(ours, theirs, strict=True)]))


def _all(parts: Iterable[Iterable[Trial]]) -> list[Trial]:
    return [trial for part in parts for trial in part]
