"""The output of ``fastlb balance``: a line on the input, a table of figures, a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from ..display.numbers import counted
from ..reports.mean import number_text
from ..reports.pictures import LoadPicture, short_number
from ..topologies.network import Network

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from rich.console import RenderableType

    from ..exchange.result import Balance
    from ..files.formats import LoadFile
    from ..topologies.topology import Topology

LISTED_NETWORKS = 16
# Shares up to this are rounding errors of 0.
ROUNDING = 1e-12


def balance_report(
    source: LoadFile, balance: Balance, options: dict[str, Any], *, picture: bool = True
) -> Iterator[RenderableType]:
    """Yield the lines, tables and the picture to print for a balance."""
    size = balance.topology.size
    before, after = source.loads.reshape(-1, size), balance.loads.reshape(-1, size)
    yield from _headings(source, balance, options, len(before))
    if not len(before):
        return
    yield Text()
    figures = _figures(balance, before, after)
    names = [f"phase {p}" for p in source.phases] if source.kind == "vt" else []
    names = names if len(names) == len(before) else [str(i) for i in range(len(before))]
    if len(before) == 1:
        yield _one_network(figures)
        yield _notes(figures, printed=_prints_steps(balance, options))
    elif len(before) <= LISTED_NETWORKS:
        yield _several_networks(figures, names)
        if "counts.messages" in figures:
            yield Text()
            yield _counters(figures, names)
    else:
        yield _summary(figures)
    if picture:
        yield Text()
        shown = int(np.argmax(np.ptp(before, axis=1)))
        if len(before) > 1:
            kind = "" if names[shown].startswith("phase") else "network "
            yield Text(f"{kind}{names[shown]}, the most uneven of {len(before):,}:")
        yield LoadPicture(before[shown], after[shown], balance.topology)


def _headings(
    source: LoadFile, balance: Balance, options: dict[str, Any], networks: int
) -> Iterator[Text]:
    topology = balance.topology
    parts = [f"{source.source}: "]
    parts += [
        f"{networks:,} networks of " if networks != 1 else "",
        counted(topology.size, "load"),
    ]
    if source.kind == "vt":
        phases = "phase" if len(source.phases) == 1 else "phases"
        listed = [str(p) for p in source.phases]
        short = listed if len(listed) <= 6 else [*listed[:3], "..", listed[-1]]
        parts += [f", {source.tasks:,} tasks, {phases} {' '.join(short)}"]
    parts += [f", {source.loads.dtype.name}"]
    if source.quantum is not None:
        parts += [f" units of {source.quantum:g}"]
    yield Text("".join(parts))
    if hasattr(balance, "lam"):
        # The share is told even where it is the default.
        options = {"lam": balance.lam, **options}
    how = "".join(f", {name.replace('_', '-')} {_option(v)}" for name, v in options.items())
    yield Text(f"{balance.method} on {topology.spec} ({_links(topology)}){how}")


def _links(topology: Topology) -> str:
    """Return how many links there are; those for both ways of a network are one."""
    links = len(topology.links) if isinstance(topology, Network) else topology.edge_count
    return counted(links, "link")


def _option(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _figures(
    balance: Balance, before: NDArray[Any], after: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return the recorded figures by name, arrays of one value a network."""
    exact = np.float64 if before.dtype.kind == "f" else np.int64
    figures: dict[str, NDArray[Any]] = {
        "total": before.sum(axis=1, dtype=exact),
        "initial_largest": before.max(axis=1),
        "largest": after.max(axis=1),
        "initial_least": before.min(axis=1),
        "least": after.min(axis=1),
    }
    for name in (
        "initial_difference",
        "difference",
        "initial_imbalance",
        "imbalance",
        "moved",
        "cost",
        "local",
        "locality",
        "sweeps",
        "steps",
        "rounds",
        "simulated_steps",
        "converged",
    ):
        value = getattr(balance, name, None)
        if value is not None:
            figures[name] = np.asarray(value).reshape(-1)
    for name, value in getattr(balance, "counts", {}).items():
        figures[f"counts.{name}"] = np.asarray(value).reshape(-1)
    return figures


def _one_network(figures: dict[str, NDArray[Any]]) -> Table:
    table = _table("", "before", "after")
    figure = {name: values[0].item() for name, values in figures.items()}
    table.add_row("total", count(figure["total"]), count(figure["total"]))
    table.add_row("largest", count(figure["initial_largest"]), count(figure["largest"]))
    table.add_row("least", count(figure["initial_least"]), count(figure["least"]))
    if "difference" in figure:
        table.add_row(
            "difference", count(figure["initial_difference"]), count(figure["difference"])
        )
        table.add_row(
            "imbalance", percent(figure["initial_imbalance"]), percent(figure["imbalance"])
        )
    return table


def _prints_steps(balance: Balance, options: dict[str, Any]) -> bool:
    """Return whether a paper has a formula of the steps; Algorithm C has only this library's."""
    return balance.method != "hexa_cell" or options["algorithm"] != "C"


def _notes(figures: dict[str, NDArray[Any]], *, printed: bool) -> Table:
    """Return a table of moves, steps and messages, as far as they were recorded."""
    table = Table(box=None, show_header=False, pad_edge=False)
    figure = {name: values[0].item() for name, values in figures.items()}
    if "moved" in figure:
        cost = f"{figure['cost']:.3g} a unit of load"
        table.add_row("moved", f"{count(figure['moved'])} units x links, {cost}")
        table.add_row("stayed", f"{percent(figure['locality'])} of the load never left its node")
        if "converged" in figure:
            table.add_row("sweeps", count(figure["sweeps"]))
        steps = f"{count(figure['steps'])} {'by the formula' if printed else 'at most'}"
        if "rounds" in figure:
            steps += (
                f", {count(figure['simulated_steps'])} simulated "
                f"({count(figure['rounds'])} of them exchange rounds)"
            )
        if "counts.messages" in figure:
            steps += (
                f", {count(figure['counts.endpoint_max'])} counted at the busiest node, "
                f"{count(figure['counts.endpoint_total'])} in all"
            )
        table.add_row("steps", steps)
    if "counts.messages" in figure:
        messages, loaded = figure["counts.messages"], figure["counts.load"]
        information = figure["counts.information"]
        kinds = f"{count(information)} of information, {count(loaded)} with load"
        table.add_row("messages", f"{count(messages)}: {kinds}")
        table.add_row("time", f"{count(figure['counts.time'])} units on the critical path")
    return table


def _several_networks(figures: dict[str, NDArray[Any]], names: list[str]) -> Table:
    table = _table("", "total", "largest", "after", "difference", "after", "moved", "stayed")
    for i, name in enumerate(names):
        figure = {key: values[i].item() for key, values in figures.items()}
        row = [figure["total"], figure["initial_largest"], figure["largest"]]
        row += [figure.get("initial_difference"), figure.get("difference"), figure.get("moved")]
        cells = ["-" if value is None else brief(value) for value in row]
        table.add_row(name, *cells, percent(figure["locality"]) if "locality" in figure else "-")
    return table


def _counters(figures: dict[str, NDArray[Any]], names: list[str]) -> Table:
    """Return the counters of each network."""
    table = _table("", "messages", "with load", "steps, busiest node", "at all nodes", "time")
    shown = ("messages", "load", "endpoint_max", "endpoint_total", "time")
    for i, name in enumerate(names):
        table.add_row(name, *(brief(figures[f"counts.{key}"][i].item()) for key in shown))
    return table


def _summary(figures: dict[str, NDArray[Any]]) -> Table:
    table = _table("per network", "mean", "least", "largest")
    shown = {
        "total": ("total", count),
        "difference before": ("initial_difference", count),
        "difference after": ("difference", count),
        "imbalance before": ("initial_imbalance", percent),
        "imbalance after": ("imbalance", percent),
        "moved": ("moved", count),
        "stayed": ("locality", percent),
        "sweeps": ("sweeps", count),
        "steps by formula": ("steps", count),
        "steps simulated": ("simulated_steps", count),
        "messages": ("counts.messages", count),
        "messages with load": ("counts.load", count),
        "steps of busiest node": ("counts.endpoint_max", count),
        "steps of all nodes": ("counts.endpoint_total", count),
        "units on critical path": ("counts.time", count),
    }
    for label, (name, form) in shown.items():
        values = figures.get(name)
        if values is not None and len(values):
            mean, least, largest = values.mean(), values.min(), values.max()
            table.add_row(label, form(mean.item()), form(least.item()), form(largest.item()))
    return table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right", overflow="fold")
    return table


def count(value: float) -> str:
    """Return a number for a table: integers in full, floats to six significant digits."""
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0 or not 1e-4 <= abs(value) < 1e15:
        return f"{value:.6g}"
    places = max(0, 5 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text


def brief(value: float) -> str:
    """Return a number for a crowded table: integers in full, floats to four significant digits."""
    return f"{value:,}" if isinstance(value, int) else short_number(value)


def percent(value: float) -> str:
    """Return a share as a percentage; a small one keeps its first digit, rounding errors do not."""
    return f"{number_text(100 * value, 1)} %" if abs(value) > ROUNDING else "0.0 %"
