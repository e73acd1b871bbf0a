"""The tables and the plot of the minimax study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reports.mean import Mean
from ..reports.plotting import BLUE, ORANGE, new_figure
from ..reports.report import Table, Value

if TYPE_CHECKING:
    from .minimax_trials import MinimaxMeasurements, Trial

NOTE = "Means of the trials ± standard error."

# Computes one figure of a trial, None if it has none.
Figure = Callable[["Trial"], float | None]


def tables(measured: MinimaxMeasurements, real: dict[str, list[Trial]]) -> list[Table]:
    """Return all tables of the study."""
    return [
        _by_network(
            "contention",
            "Least contention beta*, the mean flow on a link without a limit, and DDE's contention",
            measured.trials,
            {
                "beta*": lambda t: t.contention,
                "mean flow": lambda t: t.mean_flow,
                "beta*/mean": lambda t: t.contention / t.mean_flow,
                "DDE/beta*": lambda t: _over(t.dde_contention, t.contention),
            },
        ),
        _prices_by_network(
            "routing", "Price of routing: beta* under the scheme over beta*", measured.trials
        ),
        _by_network(
            "traffic",
            "Traffic over the least without a limit (free): least and short plan at beta*, and DDE",
            measured.trials,
            {
                "free": lambda t: t.free_traffic,
                "least": lambda t: t.least_traffic / t.free_traffic,
                "short": lambda t: t.short_traffic / t.free_traffic,
                "short/least": lambda t: t.short_traffic / t.least_traffic,
                "DDE": lambda t: _over(t.dde_traffic, t.free_traffic),
            },
        ),
        _entities(measured),
        _small(measured),
        _by_network(
            "real",
            "Measured loads of 16 processors; random loads on networks that were built",
            real,
            {
                "beta*": lambda t: t.contention,
                "mean flow": lambda t: t.mean_flow,
                "routed/beta*": lambda t: _over(t.routed_contention, t.contention),
                "short/least": lambda t: t.short_traffic / t.least_traffic,
            },
        ),
        _expectations(measured, real),
    ]


def _expectations(measured: MinimaxMeasurements, real: dict[str, list[Trial]]) -> Table:
    """Return the test of what was expected; the paper itself measured nothing."""
    all_trials = [t for trials in (*measured.trials.values(), *real.values()) for t in trials]
    short = max(t.short_traffic / t.least_traffic for t in all_trials)
    budget = [trial.ratio["budget"] for trials in measured.entities.values() for trial in trials]
    cubes, meshes = _mean_prices(measured, "cube"), _mean_prices(measured, "mesh")
    rows: list[Sequence[Value]] = [
        ["price of e-cube, means of cubes", "1.1 .. 2.0", cubes[0], cubes[-1]],
        ["price of dimension order, means of meshes", "1.0 .. 1.6", meshes[0], meshes[-1]],
        ["short over least traffic, all trials", "<= 1.2", 1.0, short],
        ["budget method over the bound, all trials", "<= 1.05 mean", min(budget), max(budget)],
    ]
    holds = [
        cubes[0].mean >= 1.1 and cubes[-1].mean <= 2.0,
        meshes[0].mean >= 1.0 and meshes[-1].mean <= 1.6,
        short <= 1.2,
        float(np.mean(budget)) <= 1.05,
    ]
    return Table(
        "expected",
        "What was expected, and what the trials say",
        ["figure", "expected", "least", "largest", "holds"],
        [[*row, "yes" if hold else "no"] for row, hold in zip(rows, holds, strict=True)],
        [0, 0, 3, 3, 0],
    )


def routing_plot(measured: MinimaxMeasurements) -> Any:
    """Draw the price of routing schemes: one point per trial, and the mean as a bar."""
    figure = new_figure()
    axes = figure.add_subplot()
    by_network = {name: _prices(trials) for name, trials in measured.trials.items()}
    with_routing = {name: prices for name, prices in by_network.items() if prices}
    for i, (name, prices) in enumerate(with_routing.items()):
        colour = BLUE if "cube" in name else ORANGE
        axes.plot([i] * len(prices), prices, "o", color=colour, alpha=0.35, markersize=4)
        axes.plot([i - 0.3, i + 0.3], [np.mean(prices)] * 2, color=colour, linewidth=2)
    axes.set_xticks(np.arange(len(with_routing)), list(with_routing))
    axes.set_ylabel("beta* under the scheme / beta*")
    axes.axhline(1, color="#777777", linewidth=0.8)
    axes.set_title("Price of e-cube and dimension-order routing")
    return figure


def _by_network(
    name: str, title: str, by_network: dict[str, list[Trial]], figures: dict[str, Figure]
) -> Table:
    """Return the means of figures, with one row per network."""
    rows: list[Sequence[Value]] = []
    for network, trials in by_network.items():
        means: list[Value] = []
        for figure in figures.values():
            values = [value for trial in trials if (value := figure(trial)) is not None]
            means.append(Mean.of(values) if values else None)
        rows.append([network, len(trials), *means])
    columns = ["network", "trials", *figures]
    return Table(name, title, columns, rows, [0, 0, *[2] * len(figures)], NOTE)


def _prices_by_network(name: str, title: str, by_network: dict[str, list[Trial]]) -> Table:
    """Return mean, least and largest price of routing, with one row per network that has any."""
    rows: list[Sequence[Value]] = []
    for network, trials in by_network.items():
        prices = _prices(trials)
        if prices:
            rows.append([network, len(prices), Mean.of(prices), min(prices), max(prices)])
    columns = ["network", "trials", "mean", "least", "largest"]
    return Table(name, title, columns, rows, [0, 0, 3, 3, 3], NOTE)


def _entities(measured: MinimaxMeasurements) -> Table:
    rows: list[Sequence[Value]] = []
    for network, trials in measured.entities.items():
        for method in ("budget", "odfs"):
            ratios = [trial.ratio[method] for trial in trials]
            shares = [trial.share[method] for trial in trials]
            rows.append([network, method, Mean.of(ratios), max(ratios), Mean.of(shares)])
    return Table(
        "entities",
        "Indivisible entities: contention over the bound, and the share that was routed",
        ["network", "method", "mean", "largest", "routed"],
        rows,
        [0, 0, 3, 3, 3],
        NOTE,
    )


def _small(measured: MinimaxMeasurements) -> Table:
    rows: list[Sequence[Value]] = []
    for name in ("budget", "odfs", "bound"):
        ratios = [trial[name] for trial in measured.small]
        exact = sum(ratio == 1 for ratio in ratios) / len(ratios)
        rows.append([name, Mean.of(ratios), min(ratios), max(ratios), exact])
    return Table(
        "optimum",
        "Five entities on a 2-cube: contention over the exact optimum",
        ["method", "mean", "least", "largest", "exact"],
        rows,
        [0, 3, 3, 3, 2],
        f"{NOTE} exact: share of trials that reach the optimum.",
    )


def _prices(trials: list[Trial]) -> list[float]:
    """Return the contention under routing over the least contention of trials that have both."""
    return [
        t.routed_contention / t.contention
        for t in trials
        if t.routed_contention is not None and t.contention
    ]


def _mean_prices(measured: MinimaxMeasurements, kind: str) -> list[Mean]:
    """Return the mean price of each network of a kind, the least first."""
    by_network = [_prices(trials) for name, trials in measured.trials.items() if kind in name]
    means = (Mean.of(prices) for prices in by_network if prices)
    return sorted(means, key=lambda mean: mean.mean)


def _over(value: float | None, base: float) -> float | None:
    return None if value is None or not base else value / base
