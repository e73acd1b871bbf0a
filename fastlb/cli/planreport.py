"""The output of ``fastlb plan``: figures, the bottleneck and routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from ..display.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

LISTED_LINKS = 12
LISTED_ROUTES = 20
LISTED_NODES = 20
LISTED_TRANSFERS = 20


def plan_report(document: dict[str, Any]) -> Iterator[RenderableType]:
    """Yield the lines and tables to print for a plan's document."""
    network_input = document["input"]
    yield Text(
        f"{network_input['source']}: {network_input['nodes']:,} nodes, {_direction(network_input)}"
    )
    yield Text(
        f"moved {document['eliminated']} of {document['asked']}, at most "
        f"{document['contention']} on a link, {document['traffic']} units x links in all"
    )
    if document["quantum"]:
        yield Text(f"float data: load moved and most on a link within {document['quantum']:.3g}")
    if len(document["levels"]) > 1:
        yield Text("levels: " + ", ".join(str(level) for level in document["levels"]))
    yield Text()
    yield from _held_back(document)
    busiest = f"because of these links the most on a link cannot be below {document['contention']}"
    yield from _links(f"bottleneck: {busiest}", document["bottleneck"])
    yield from _routes(document)
    yield from _rounds(document["rounds"])
    yield from _nodes(document["nodes"])


def _direction(network_input: dict[str, Any]) -> str:
    listed = counted(network_input["listed"], "link")
    if network_input["once"]:
        return f"{listed} of one way each (--undirected: both ways)"
    ways = {"one way": "of one way each", "both ways": "for both ways"}
    return f"{listed} {ways.get(network_input['direction'], 'of one way or both')}"


def _held_back(document: dict[str, Any]) -> Iterator[RenderableType]:
    """Yield the full links that keep load from moving, where there is such load."""
    if not document["held_back"]:
        return
    if document["input"]["kind"] == "dimacs":
        yield from _links("minimum cut: these links are full", document["full_links"])
        return
    units = f"{document['held_back']} unit{'s' if document['held_back'] != 1 else ''} cannot move"
    if document["full_links"]:
        yield from _links(f"{units}: these links are full", document["full_links"])
    else:
        yield Text(f"{units}: no link leads from there to where there is room\n")


def _links(title: str, rows: list[dict[str, Any]]) -> Iterator[RenderableType]:
    if not rows:
        return
    yield Text(title + ":")
    table = _table("from", "to", "load", "traffic", "capacity")
    for row in rows[:LISTED_LINKS]:
        limit = "-" if row["capacity"] is None else str(row["capacity"])
        table.add_row(
            Text(row["source"]), Text(row["target"]), str(row["flow"]), str(row["traffic"]), limit
        )
    yield table
    yield from _rest(len(rows) - LISTED_LINKS, "links")


def _routes(document: dict[str, Any]) -> Iterator[RenderableType]:
    from ..files.planfile import rounds_of_routes

    routes = document["routes"]
    if not routes:
        return
    yield Text("routes, largest first:")
    in_rounds = document["rounds"] is not None
    rounds = rounds_of_routes(document) if in_rounds else [[]] * len(routes)
    table = _table("amount", "path", *(["rounds"] if in_rounds else []))
    ordered = sorted(range(len(routes)), key=lambda r: -_size(routes[r]["amount"]))
    for r in ordered[:LISTED_ROUTES]:
        cells = [Text(_path_text(list(map(str, rounds[r]))))] if in_rounds else []
        table.add_row(str(routes[r]["amount"]), Text(_path_text(routes[r]["path"])), *cells)
    yield table
    yield from _rest(len(routes) - LISTED_ROUTES, "routes")


def _rounds(rounds: dict[str, Any] | None) -> Iterator[RenderableType]:
    if rounds is None or not rounds["count"]:
        return
    limit = f"{rounds['per_node']} transfer{'s' if rounds['per_node'] != 1 else ''}"
    least = "fewer are not possible"
    if rounds["gap"]:
        least = f"at least {rounds['bound']} are needed"
    count = f"{rounds['count']} round{'s' if rounds['count'] != 1 else ''}"
    yield Text(f"{count} with at most {limit} a node in each; {least}:")
    table = _table("round", "amount", "from", "to")
    before = None
    for transfer in rounds["transfers"][:LISTED_TRANSFERS]:
        number = "" if transfer["round"] == before else str(transfer["round"])
        ends = Text(transfer["source"]), Text(transfer["target"])
        table.add_row(number, str(transfer["amount"]), *ends)
        before = transfer["round"]
    yield table
    yield from _rest(len(rounds["transfers"]) - LISTED_TRANSFERS, "transfers")


def _nodes(nodes: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """Yield a table of loads before and after, the largest changes first."""
    if not nodes or nodes[0]["before"] is None:
        return
    yield Text("loads:")
    table = _table("node", "before", "after")
    changes = [abs(_size(node["after"]) - _size(node["before"])) for node in nodes]
    ordered = sorted(range(len(nodes)), key=lambda i: -changes[i])
    for i in ordered[:LISTED_NODES]:
        table.add_row(Text(nodes[i]["name"]), str(nodes[i]["before"]), str(nodes[i]["after"]))
    yield table
    yield from _rest(len(nodes) - LISTED_NODES, "nodes")


def _size(amount: Any) -> float:
    from fractions import Fraction

    return float(Fraction(amount))


def _path_text(path: list[str]) -> str:
    shown = path if len(path) <= 10 else [*path[:5], "..", *path[-4:]]
    return " > ".join(shown)


def _rest(count: int, what: str) -> Iterator[RenderableType]:
    if count > 0:
        yield Text(f"and {count:,} more {what}; --out or --json gives all")
    yield Text()


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        texts = column in ("path", "rounds", "from", "to", "node")
        table.add_column(column, justify="left" if texts else "right", overflow="fold")
    return table
