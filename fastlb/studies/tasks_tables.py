"""The tables and the plot of the tasks study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..reports.mean import Mean
from ..reports.plotting import BLUE, GREEN, GREY, ORANGE, new_figure
from ..reports.report import Table, Value
from .tasks_trials import TASKS_A_NODE, WAYS, Measurements, Trial

NOTE = "Means of the trials ± standard error."
# Below the first table: what the rows and columns are.
EXPLAINED = (
    f"{NOTE} In every trial there are {TASKS_A_NODE} tasks a node, on nodes that are drawn by a "
    "random popularity. free: they go to any node, as fastlb.assign_tasks chooses; along: only "
    "over links, along the flows of DDE and by exchanges afterwards; plan: along these flows "
    "alone; longest first: all are placed anew, each on the least loaded node, wherever they were."
)
COLOURS = dict(zip(WAYS, (BLUE, ORANGE, GREY, GREEN), strict=True))
QUARTILES = (0.25, 0.5, 0.75)
# Smaller gaps are drawn as this one, as 0 has no place on a logarithmic axis.
LEAST_DRAWN = 1e-6


def tables(measured: Measurements) -> list[Table]:
    """Return all tables of the study."""
    return [
        _by_way(
            "gap",
            "Gap: largest load over the bound, minus 1",
            measured,
            "gap",
            WAYS,
            5,
            EXPLAINED,
        ),
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
    name: str,
    title: str,
    measured: Measurements,
    figure: str,
    ways: Sequence[str],
    decimals: int,
    note: str = NOTE,
) -> Table:
    """Return the means of a figure, one row for each distribution and network."""
    rows: list[Sequence[Value]] = []
    for tail, by_network in measured.items():
        for network, trials in by_network.items():
            means = [Mean.of([getattr(trial, figure)[way] for trial in trials]) for way in ways]
            rows.append([tail, network, len(trials), *means])
    columns = ["sizes", "network", "trials", *ways]
    return Table(name, title, columns, rows, [0, 0, 0, *[decimals] * len(ways)], note)


def _times(measured: Measurements) -> Table:
    """Return the CPU milliseconds that the choice takes; they vary from run to run."""
    rows: list[Sequence[Value]] = []
    networks = next(iter(measured.values()))
    for network in networks:
        trials = _all([by_network[network] for by_network in measured.values()])
        row: list[Value] = [network, len(trials)]
        for way in ("free", "along"):
            low, median, high = np.quantile([1e3 * t.seconds[way] for t in trials], QUARTILES)
            row += [float(median), f"{low:.2f} to {high:.2f}"]
        rows.append(row)
    return Table(
        "time",
        "CPU milliseconds for all tasks, in the median; they differ from machine to machine",
        ["network", "trials", "free", "free quartiles", "along", "along quartiles"],
        rows,
        [0, 0, 2, 0, 2, 0],
        "Half of the trials are between the quartiles; the first trial of all may also compile.",
    )


def _expectations(measured: Measurements) -> Table:
    """Return what was expected of the ways, and what the trials say."""
    trials = _all(_all(by_network.values()) for by_network in measured.values())
    gaps = Mean.of(trial.gap["free"] for trial in trials)
    shares = {
        "gap of free over longest first: never larger": Mean.of(
            trial.gap["free"] <= trial.gap["longest first"] for trial in trials
        ),
        "along is as even as the plan alone or more": Mean.of(
            trial.gap["along"] <= trial.gap["plan"] for trial in trials
        ),
        "free moves no more load than longest first": Mean.of(
            trial.moved["free"] <= trial.moved["longest first"] for trial in trials
        ),
    }
    rows: list[Sequence[Value]] = [["gap of free", "<= 0.001", gaps, _holds(gaps.mean <= 0.001)]]
    rows += [[name, "always", share, _holds(share.mean == 1)] for name, share in shares.items()]
    return Table(
        "expected",
        "What was expected, and what the trials say (shares of trials; the first a gap)",
        ["figure", "expected", "measured", "holds"],
        rows,
        [0, 0, 5, 0],
        NOTE,
    )


def _holds(as_expected: bool) -> str:
    return "yes" if as_expected else "no"


def _all(parts: Iterable[Iterable[Trial]]) -> list[Trial]:
    return [trial for part in parts for trial in part]
