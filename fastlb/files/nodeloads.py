"""Loads in the order of a network's nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..quantities import Number
from .attributes import LOAD_NAMES
from .filenumbers import file_number, is_number
from .nodetables import NodeTable, read_node_table
from .npyfile import read_npy
from .textfiles import csv_rows, read_json, refuse

if TYPE_CHECKING:
    from .namednetwork import NamedNetwork
    from .positions import Position


@dataclass(frozen=True)
class NodeLoads:
    """A number for every node of a network, with positions of nodes if the file has them.

    ``by_node`` says whether the file names the nodes; else its numbers are in their order.
    ``labels`` are the columns or attributes of a file that names them.
    """

    numbers: list[Number]
    by_node: bool
    positions: tuple[Position | None, ...] | None = None
    labels: tuple[str, ...] = ()


def read_node_loads(
    path: str | Path,
    network: NamedNetwork,
    *,
    complete: bool,
    column: str | None = None,
    ignore: Iterable[str] = (),
) -> NodeLoads:
    """Read a number for every node: from CSV, NPY, JSON or a graph file.

    CSV holds lines ``node,load`` with or without a header, or numbers alone in the order of the
    nodes; JSON an object by name, a list of objects or a list of numbers; ``.npy`` an array of
    as many numbers; GraphML and GML the attribute of the nodes.

    Parameters
    ----------
    complete : bool
        Whether every node must be named. Otherwise nodes that are not named have 0, and numbers
        may be negative.
    column, ignore
        The column of the load, and columns to leave out.

    Raises
    ------
    ValueError
        If a node is unknown, repeated or missing, or a load is no number; the message names
        file and place.
    """
    where = Path(path)
    usual = LOAD_NAMES if complete else ("excess", *LOAD_NAMES)
    if where.suffix.lower() in (".csv", ".tsv", ".txt", ".json", ".graphml", ".gml"):
        table = read_node_table(where, column=column, ignore=ignore, usual=usual, nodes=network.ids)
        if table is not None:
            numbers = loads_in_order(table, network, complete=complete)
            by_number = {network.ids[name]: at for name, at in table.positions.items()}
            positions = tuple(by_number.get(i) for i in range(len(numbers))) if by_number else None
            return NodeLoads(numbers, True, positions, table.labels)
    if column is not None:
        refuse(str(path), f"has no column {column!r}: it does not name its nodes")
    return NodeLoads(_in_file_order(where, network, signed=not complete), False)


def loads_in_order(
    table: NodeTable, network: NamedNetwork | None, *, complete: bool = True
) -> list[Number]:
    """Return a table's loads in the order of the network's nodes, or of the table without one.

    Raises
    ------
    ValueError
        If a node is unknown, repeated or missing, or a load is no number.
    """
    ids = {name: i for i, (name, *_) in enumerate(table.loads)} if network is None else network.ids
    loads: dict[int, Number] = {}
    for name, value, place in table.loads:
        if name not in ids:
            assert network is not None
            refuse(place, f"{network.source} has no node {name!r}{_name_hint(network)}")
        node = ids[name]
        if node in loads:
            refuse(place, f"node {name!r} must be named once, got it again")
        loads[node] = file_number(place, f"load of {name}", value, signed=not complete)
    names = list(ids) if network is None else network.names
    missing = [names[i] for i in range(len(names)) if i not in loads]
    if complete and missing:
        refuse(table.source, f"must have a load for every node, {missing[0]!r} has none")
    return [loads.get(i, 0) for i in range(len(names))]


def json_list(path: Path) -> list[Number]:
    """Return the numbers of a JSON list."""
    document = read_json(path)
    if not isinstance(document, list):
        refuse(str(path), "must be an object by node or a list of loads")
    return [file_number(f"{path} number {i}", "load", x) for i, x in enumerate(document)]


def _name_hint(network: NamedNetwork) -> str:
    """Return the end of a message that says how the nodes of a topology are called."""
    if network.kind != "topology":
        return ""
    return f": its nodes are called 0 to {len(network.names) - 1}"


def _in_file_order(path: Path, network: NamedNetwork, *, signed: bool) -> list[Number]:
    """Read plain numbers, as many as there are nodes."""
    names = network.names
    if path.suffix.lower() == ".npy":
        array = read_npy(path)
        if array.size != len(names) or array.dtype.kind not in "iuf":
            refuse(
                str(path),
                f"must hold {len(names)} numbers, got {array.dtype} of shape {array.shape}",
            )
        cells = array.reshape(-1).tolist()
        places = [f"{path} number {i}" for i in range(len(cells))]
    elif path.suffix.lower() == ".json":
        cells = read_json(path)
        if not isinstance(cells, list) or len(cells) != len(names):
            refuse(str(path), f"must be an object by node or a list of {len(names)} loads")
        places = [f"{path} number {i}" for i in range(len(cells))]
    elif path.suffix.lower() in (".csv", ".tsv", ".txt"):
        cells, places = _plain_rows(path, len(names))
    else:
        raise ValueError(
            f"loads must be a .csv, .npy, .json, .graphml or .gml file, got {str(path)!r}"
        )
    return [
        file_number(place, f"load of {name}", cell, signed=signed)
        for name, cell, place in zip(names, cells, places, strict=True)
    ]


def _plain_rows(path: Path, count: int) -> tuple[list[Any], list[str]]:
    rows = list(csv_rows(path))
    if rows and len(rows[0][0]) == 1 and not is_number(rows[0][0][0]):
        rows = rows[1:]
    for cells, place in rows:
        if len(cells) != 1 or not is_number(cells[0]):
            refuse(place, f"must be a load, or a node and its load, got {', '.join(cells)!r}")
    if len(rows) != count:
        refuse(str(path), f"must have a line for each of {count} nodes, got {len(rows)}")
    return [cells[0] for cells, _ in rows], [place for _, place in rows]
