"""The output of ``fastlb assign``: figures before and after, a picture of the loads, moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from ..reports.pictures import LoadPicture
from ..topologies.network import Network
from .report import brief, count, percent
from .tables import fitted_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from ..files.taskfiles import TaskFile
    from ..topologies.topology import Topology

LISTED_MOVES = 12


def assignment_report(
    file: TaskFile,
    document: dict[str, Any],
    network: Topology | None,
    *,
    width: int,
    picture: bool = True,
) -> Iterator[RenderableType]:
    """Yield the lines, tables and the picture to print for an assignment."""
    first = file.phases[0]
    phases = document["phases"]
    numbered = f", {len(phases)} phases" if len(phases) > 1 else ""
    tasks = sum(len(phase.names) for phase in file.phases)
    still = sum(int(np.count_nonzero(~phase.movable)) for phase in file.phases)
    pinned = f" ({still:,} not movable)" if still else ""
    where = "" if network is None else f" of {network.spec}"
    yield Text(
        f"{file.source}: {_counted(tasks, 'task')}{pinned} on "
        f"{_counted(len(first.nodes), 'node')}{where}{numbered}"
    )
    yield Text()
    if len(phases) > 1:
        yield from _several(phases, width)
        shown = max(range(len(phases)), key=lambda i: _imbalance(phases[i], "before"))
    else:
        yield _one(phases[0])
        shown = 0
    if "speed" in phases[shown]["nodes"][0]:
        yield Text("loads are divided by the speed of their node")
    yield Text(_verdict(phases[shown]))
    if picture:
        yield Text()
        if len(phases) > 1:
            yield Text(f"phase {phases[shown]['phase']}, the most uneven of {len(phases)}:")
        nodes = phases[shown]["nodes"]
        before, after = (
            np.array(_loads(phases[shown], key), dtype=np.float64) for key in ("before", "after")
        )
        drawn = network or Network([], n=len(nodes), names=[node["name"] for node in nodes])
        yield LoadPicture(_whole(before), _whole(after), drawn)
    yield from _moves(phases[shown])


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _one(phase: dict[str, Any]) -> Table:
    table = _table("", "before", "after")
    loads = {key: _loads_by_speed(phase, key) for key in ("before", "after")}
    table.add_row("largest load", *(count(max(values)) for values in loads.values()))
    table.add_row("least load", *(count(min(values)) for values in loads.values()))
    table.add_row("imbalance", *(percent(_imbalance(phase, key)) for key in loads))
    if phase["remote_before"] is not None:
        table.add_row("remote bytes", count(phase["remote_before"]), count(phase["remote_after"]))
    table.add_row("tasks moved", "", f"{len(phase['moves']):,}")
    table.add_row("load moved", "", count(phase["moved"]))
    if phase["hops"] != len(phase["moves"]):
        table.add_row("moves x links", "", f"{phase['hops']:,}")
    if phase["rounds"] is not None:
        table.add_row("rounds", "", f"{phase['rounds']:,}")
    return table


def _several(phases: list[dict[str, Any]], width: int) -> Iterator[Table]:
    """Yield a table of all phases, as several where the console is narrow."""
    rows = [["phase", "largest", "after", "imbalance", "after", "gap", "moves", "load moved"]]
    for phase in phases:
        largest = [max(_loads_by_speed(phase, key)) for key in ("before", "after")]
        imbalance = [percent(_imbalance(phase, key)) for key in ("before", "after")]
        cells = [str(phase["phase"]), *map(brief, largest), *imbalance, _gap(phase["gap"])]
        rows.append([*cells, f"{len(phase['moves']):,}", brief(phase["moved"])])
    yield from fitted_tables(rows, [True] * len(rows[0]), width)


def _verdict(phase: dict[str, Any]) -> str:
    bound = f"the bound is {count(phase['bound'])}"
    if phase["status"] == "optimal":
        return f"optimal: no assignment has a smaller largest load ({bound})"
    if phase["status"] == "infeasible":
        return "infeasible: no assignment keeps every node within its memory limit"
    if phase["status"] == "stuck":
        return "stuck: a node holds more than its memory limit, and no way was found to change that"
    return f"at most {_gap(phase['gap'])} above the optimum ({bound})"


def _gap(gap: float) -> str:
    return "0" if gap == 0 else f"{100 * gap:.2g} %"


def _imbalance(phase: dict[str, Any], key: str) -> float:
    total = sum(float(node[key]) for node in phase["nodes"])
    mean = total / sum(node.get("speed", 1) for node in phase["nodes"])
    return float(max(_loads_by_speed(phase, key))) / mean - 1 if mean else 0.0


def _loads(phase: dict[str, Any], key: str) -> list[float]:
    """Return the load of every node before or after, by speed; at speed 0 as it is."""
    return [node[key] / (node["speed"] or 1) if "speed" in node else node[key]
            for node in phase["nodes"]]  # fmt: skip


def _loads_by_speed(phase: dict[str, Any], key: str) -> list[float]:
    """Return the load of every node of a speed above 0, divided by it where speeds differ."""
    usable = [node.get("speed", 1) > 0 for node in phase["nodes"]]
    return [load for load, use in zip(_loads(phase, key), usable, strict=True) if use]


def _whole(loads: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return loads as integers where all are, so that they are written without decimals."""
    whole = (loads == np.rint(loads)).all() and np.abs(loads).max(initial=0) < 2**53
    return loads.astype(np.int64) if whole else loads


def _moves(phase: dict[str, Any]) -> Iterator[RenderableType]:
    moves = phase["moves"]
    if not moves:
        return
    yield Text()
    yield Text("moves, largest first:")
    headings = ["task", "load", "path", *(["rounds"] if "rounds" in moves[0] else [])]
    table = _table(*headings)
    for move in sorted(moves, key=lambda move: -move["load"])[:LISTED_MOVES]:
        cells = [move["task"], count(move["load"]), " > ".join(move["path"])]
        if "rounds" in move:
            cells.append(", ".join(map(str, move["rounds"])))
        table.add_row(*(Text(cell) for cell in cells))
    yield table
    if len(moves) > LISTED_MOVES:
        yield Text(f"and {len(moves) - LISTED_MOVES:,} more moves; --plan or --json gives all")


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="left" if column == "path" else "right", overflow="fold")
    return table
