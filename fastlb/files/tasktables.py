"""Tables of tasks, ``task,node,load[,bytes][,movable]``, as CSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..extras import extra
from ..tasks.memory import TaskMemory
from .attributes import LOAD_NAMES, find_label, quoted, unread
from .filenumbers import file_number
from .nodetables import NODE_NAMES
from .taskset import TaskSet, number_column
from .textfiles import delimiter, flag, once, read_text, refuse, rows_of

# Headings of the columns, the likeliest first, in lower case.
TASK_NAMES = ("task", "object", "job", "shard", "partition", "block", "item", "id", "name")
OWNER_NAMES = tuple(
    name for name in ("owner", "broker", *NODE_NAMES) if name not in ("id", "name", "label")
)
SIZE_NAMES = (*LOAD_NAMES, "time", "size", "cost")
MEMORY_NAMES = ("bytes", "memory")
MOVABLE_NAMES = ("movable", "migratable")
_TRUTH: dict[Any, bool] = {True: True, False: False} | {
    word: word in ("true", "yes", "1") for word in ("true", "yes", "1", "false", "no", "0")
}


@dataclass(frozen=True, eq=False)
class TaskTable:
    """A table of tasks as the file has it, a line a task.

    Attributes
    ----------
    source, kind : str
        The file, and its form: "csv" or "parquet".
    columns : dict of lists
        The cells by heading, in the order of the file: texts, or what Parquet holds.
    places : list of str
        Where a line stands in the file.
    labels : dict
        Heading of the column that holds "task", "node", "load", "bytes" and "movable".
    delimiter : str
        What separates the cells of CSV.
    """

    source: str
    kind: str
    columns: dict[str, list[Any]]
    places: Sequence[str]
    labels: Mapping[str, str | None]
    delimiter: str = ","

    def cells(self, role: str) -> list[Any] | None:
        """Return the cells of the column for "task", "node" .., None if there is no such."""
        label = self.labels[role]
        return None if label is None else self.columns[label]

    def task_set(self, nodes: Sequence[str] | None = None) -> TaskSet:
        """Return the tasks.

        Parameters
        ----------
        nodes : sequence of str, optional
            Names of all nodes, those without a task as well. Default: those in the table.

        Raises
        ------
        ValueError
            If a task is named twice, a node is unknown, or a cell is not what it should be.
        """
        names = [str(cell) for cell in self.cells("task") or ()]
        first: dict[str, str] = {}
        for name, place in zip(names, self.places, strict=True):
            if name in first:
                refuse(place, f"task {name!r} must be named once, {first[name]} has it already")
            first[name] = place
        owners = [str(cell) for cell in self.cells("node") or ()]
        all_nodes = _nodes(owners) if nodes is None else list(nodes)
        number = {name: i for i, name in enumerate(all_nodes)}
        for owner, place in zip(owners, self.places, strict=True):
            if owner not in number:
                refuse(place, f"node {owner!r} is not known, but {', '.join(all_nodes[:6])}")
        movable = [
            flag(place, "movable", _word(cell), _TRUTH)
            for cell, place in zip(self.cells("movable") or (), self.places, strict=False)
        ]
        memory = self._numbers("bytes")
        sizes = self._numbers("load")
        assert sizes is not None
        return TaskSet(
            self.source,
            self.kind,
            names,
            all_nodes,
            sizes,
            np.array([number[owner] for owner in owners], dtype=np.int64),
            np.array(movable or [True] * len(names), dtype=np.bool_),
            None if memory is None else TaskMemory(memory),
        )

    def _numbers(self, role: str) -> NDArray[Any] | None:
        cells = self.cells(role)
        if cells is None:
            return None
        label = str(self.labels[role])
        numbers = [
            file_number(place, label, cell) for cell, place in zip(cells, self.places, strict=True)
        ]
        return number_column(self.source, label, numbers)

    def moved(self, owners: Sequence[str]) -> bytes:
        """Return the content of the file with the tasks at these nodes, line by line."""
        label = str(self.labels["node"])
        if self.kind == "parquet":
            return _parquet_bytes(Path(self.source), label, owners)
        columns = {**self.columns, label: list(owners)}
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue().encode()


def read_task_table(
    path: Path, *, column: str | None = None, ignore: Sequence[str] = ()
) -> TaskTable:
    """Read a table of tasks.

    Parameters
    ----------
    column : str, optional
        The column that is the load. Default: one that is called load, time, size or cost.
    ignore : sequence of str
        Columns to leave out; they are written back as they are. Other columns that nothing uses
        are refused.

    Raises
    ------
    ValueError
        If a column is missing or not used; the message names file and place.
    ImportError
        If a Parquet file is read without pyarrow.
    """
    if path.suffix.lower() == ".parquet":
        columns, places, separator = _read_parquet(path)
    else:
        columns, places, separator = _read_csv(path)
    source = str(path)
    available = [name for name in columns if name not in ignore]
    labels = {
        "task": find_label(None, TASK_NAMES, available),
        "node": find_label(None, OWNER_NAMES, available),
        "load": find_label(column, SIZE_NAMES, available),
        "bytes": find_label(None, MEMORY_NAMES, available),
        "movable": find_label(None, MOVABLE_NAMES, available),
    }
    missing = [role for role in ("task", "node", "load") if labels[role] is None]
    if missing:
        hint = f" (--column {quoted(column)})" if column and "load" in missing else ""
        refuse(
            source,
            f"must have columns task, node and load{hint}, got {', '.join(columns) or 'none'}",
        )
    if unused := unread(columns, labels.values(), ignore):
        named = ", ".join(map(repr, unused))
        options = " ".join(f"--ignore {quoted(label)}" for label in unused)
        refuse(
            source,
            f"{named} {'is' if len(unused) == 1 else 'are'} not used: give "
            f"--column {quoted(unused[0])} if it is the load, or {options}",
        )
    if not places:
        refuse(source, "must have a line for every task, got none")
    kind = "parquet" if path.suffix.lower() == ".parquet" else "csv"
    return TaskTable(source, kind, columns, places, labels, separator)


def _read_csv(path: Path) -> tuple[dict[str, list[Any]], list[str], str]:
    text = read_text(path)
    rows = rows_of(text, str(path))
    header, place = next(rows, ([], str(path)))
    once(place, [(name, None) for name in header])
    columns: dict[str, list[Any]] = {name: [] for name in header}
    places = []
    for cells, where in rows:
        if len(cells) != len(header):
            refuse(where, f"must have {len(header)} cells as the header, got {len(cells)}")
        for name, cell in zip(header, cells, strict=True):
            columns[name].append(cell)
        places.append(where)
    return columns, places, delimiter(text)


def _read_parquet(path: Path) -> tuple[dict[str, list[Any]], list[str], str]:
    table = _parquet_table(path)
    once(str(path), [(name, None) for name in table.column_names])
    columns = {name: table[name].to_pylist() for name in table.column_names}
    return columns, [f"{path} row {i}" for i in range(table.num_rows)], ","


def _parquet_table(path: Path) -> Any:
    extra("pyarrow")
    parquet, lib = extra("pyarrow.parquet"), extra("pyarrow.lib")
    try:
        return parquet.read_table(path)
    except lib.ArrowException as error:
        refuse(str(path), f"is no Parquet file: {str(error).splitlines()[0]}")


def _parquet_bytes(path: Path, label: str, owners: Sequence[str]) -> bytes:
    pyarrow = extra("pyarrow")
    table = _parquet_table(path)
    position = table.column_names.index(label)
    column = pyarrow.array(list(owners)).cast(table.schema.field(position).type)
    changed = table.set_column(position, table.schema.field(position), column)
    sink = pyarrow.BufferOutputStream()
    extra("pyarrow.parquet").write_table(changed, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _nodes(owners: Sequence[str]) -> list[str]:
    """Return the names of the nodes in a table: numbers by value, other names by alphabet."""
    names = set(owners)
    if all(name.isdecimal() and name.isascii() for name in names):
        return sorted(names, key=lambda name: (len(name.lstrip("0")), name))
    return sorted(names)


def _word(cell: Any) -> Any:
    return cell.strip().lower() if isinstance(cell, str) else cell
