"""The tables, findings and plot of the minimax study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reports.mean import Mean
from ..reports.plotting import BLUE, ORANGE, new_figure
from ..reports.report import Table, Value

if TYPE_CHECKING:
    from .minimax_trials import Measured, Trial

NOTE = "Means of the trials ± standard error."

Figure = Callable[["Trial"], float | None]


def tables(measured: Measured, real: dict[str, list[Trial]]) -> list[Table]:
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
                "DDE/beta*": lambda t: _over(t.exchange_contention, t.contention),
            },
        ),
        _spread("routing", "Price of routing: beta* under the scheme over beta*", measured.trials),
        _by_network(
            "traffic",
            "Traffic over the least without a limit (free): least and short plan at beta*, and DDE",
            measured.trials,
            {
                "free": lambda t: t.free_traffic,
                "least": lambda t: t.least_traffic / t.free_traffic,
                "short": lambda t: t.short_traffic / t.free_traffic,
                "short/least": lambda t: t.short_traffic / t.least_traffic,
                "DDE": lambda t: _over(t.exchanged, t.free_traffic),
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
                "routed/beta*": lambda t: _over(t.routed, t.contention),
                "short/least": lambda t: t.short_traffic / t.least_traffic,
            },
        ),
        _expected(measured, real),
    ]


def _expected(measured: Measured, real: dict[str, list[Trial]]) -> Table:
    """Return what was to be expected, tested; the paper itself measured nothing."""
    every = [t for trials in (*measured.trials.values(), *real.values()) for t in trials]
    short = max(t.short_traffic / t.least_traffic for t in every)
    over = [trial.ratio["budget"] for trials in measured.entities.values() for trial in trials]
    cubes, meshes = _prices(measured, "cube"), _prices(measured, "mesh")
    rows: list[Sequence[Value]] = [
        ["price of e-cube, means of cubes", "1.1 .. 2.0", cubes[0], cubes[-1]],
        ["price of dimension order, means of meshes", "1.0 .. 1.6", meshes[0], meshes[-1]],
        ["short over least traffic, all trials", "<= 1.2", 1.0, short],
        ["budget method over the bound, all trials", "<= 1.05 mean", min(over), max(over)],
    ]
    holds = [
        cubes[0].mean >= 1.1 and cubes[-1].mean <= 2.0,
        meshes[0].mean >= 1.0 and meshes[-1].mean <= 1.6,
        short <= 1.2,
        float(np.mean(over)) <= 1.05,
    ]
    return Table(
        "expected",
        "What was expected, and what the trials say",
        ["figure", "expected", "least", "largest", "holds"],
        [[*row, "yes" if hold else "no"] for row, hold in zip(rows, holds, strict=True)],
        [0, 0, 3, 3, 0],
    )


def routing_plot(measured: Measured) -> Any:
    """Draw the price of routing schemes: one point a trial, the mean as a bar."""
    figure = new_figure()
    axes = figure.add_subplot()
    priced = {name: prices for name in measured.trials if (prices := _price(measured.trials[name]))}
    for i, (name, prices) in enumerate(priced.items()):
        colour = BLUE if "cube" in name else ORANGE
        axes.plot([i] * len(prices), prices, "o", color=colour, alpha=0.35, markersize=4)
        axes.plot([i - 0.3, i + 0.3], [np.mean(prices)] * 2, color=colour, linewidth=2)
    axes.set_xticks(np.arange(len(priced)), list(priced))
    axes.set_ylabel("beta* under the scheme / beta*")
    axes.axhline(1, color="#777777", linewidth=0.8)
    axes.set_title("Price of e-cube and dimension-order routing")
    return figure


def _by_network(
    name: str, title: str, trials: dict[str, list[Trial]], figures: dict[str, Figure]
) -> Table:
    rows: list[Sequence[Value]] = []
    for network, each in trials.items():
        means: list[Value] = []
        for figure in figures.values():
            values = [value for trial in each if (value := figure(trial)) is not None]
            means.append(Mean.of(values) if values else None)
        rows.append([network, len(each), *means])
    columns = ["network", "trials", *figures]
    return Table(name, title, columns, rows, [0, 0, *[2] * len(figures)], NOTE)


def _spread(name: str, title: str, trials: dict[str, list[Trial]]) -> Table:
    rows: list[Sequence[Value]] = []
    for network, each in trials.items():
        prices = _price(each)
        if prices:
            rows.append([network, len(prices), Mean.of(prices), min(prices), max(prices)])
    columns = ["network", "trials", "mean", "least", "largest"]
    return Table(name, title, columns, rows, [0, 0, 3, 3, 3], NOTE)


def _entities(measured: Measured) -> Table:
    rows: list[Sequence[Value]] = []
    for network, trials in measured.entities.items():
        for method in ("budget", "odfs"):
            ratios = [trial.ratio[method] for trial in trials]
            share = [trial.share[method] for trial in trials]
            rows.append([network, method, Mean.of(ratios), max(ratios), Mean.of(share)])
    return Table(
        "entities",
        "Indivisible entities: contention over the bound, and the share that was routed",
        ["network", "method", "mean", "largest", "routed"],
        rows,
        [0, 0, 3, 3, 3],
        NOTE,
    )


def _small(measured: Measured) -> Table:
    rows: list[Sequence[Value]] = []
    for what in ("budget", "odfs", "bound"):
        ratios = [trial[what] for trial in measured.small]
        exact = sum(ratio == 1 for ratio in ratios) / len(ratios)
        rows.append([what, Mean.of(ratios), min(ratios), max(ratios), exact])
    return Table(
        "optimum",
        "Five entities on a 2-cube: contention over the exact optimum",
        ["method", "mean", "least", "largest", "exact"],
        rows,
        [0, 3, 3, 3, 2],
        f"{NOTE} exact: share of trials that reach the optimum.",
    )


def _price(trials: list[Trial]) -> list[float]:
    return [t.routed / t.contention for t in trials if t.routed is not None and t.contention]


def _prices(measured: Measured, kind: str) -> list[Mean]:
    """Return the least and the largest mean price of the networks of a kind."""
    prices = [_price(trials) for name, trials in measured.trials.items() if kind in name]
    return sorted((Mean.of(each) for each in prices if each), key=lambda mean: mean.mean)


def _over(value: float | None, base: float) -> float | None:
    return None if value is None or not base else value / base
