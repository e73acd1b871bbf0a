"""Tables of tasks, ``task,node,load[,bytes][,movable]``, as CSV or Parquet."""

from __future__ import annotations

import csv
import io
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
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
from .textfiles import delimiter, flag, is_row, once, refuse, rows_of

# Headings of the columns, the likeliest first, in lower case.
TASK_NAMES = ("task", "object", "job", "shard", "partition", "block", "item", "id", "name")
OWNER_NAMES = tuple(
    name for name in ("owner", "broker", *NODE_NAMES) if name not in ("id", "name", "label")
)
SIZE_NAMES = (*LOAD_NAMES, "time", "size", "cost")
MEMORY_NAMES = ("bytes", "memory")
MOVABLE_NAMES = ("movable", "migratable")
_BYTE_ORDER_MARK = "\ufeff"
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
    original : str or pyarrow.Table
        The text of CSV, with its byte order mark if it has one; what Parquet holds.
    columns : dict of lists
        The cells of the columns that are read, by heading: texts, or what Parquet holds.
    places : list of str
        Where a line stands in the file.
    labels : dict
        Heading of the column that holds "task", "node", "load", "bytes" and "movable".
    """

    source: str
    kind: str
    original: Any
    columns: dict[str, list[Any]]
    places: Sequence[str]
    labels: Mapping[str, str | None]

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
        names = self._names("task")
        first: dict[str, str] = {}
        for name, place in zip(names, self.places, strict=True):
            if name in first:
                refuse(place, f"task {name!r} must be named once, {first[name]} has it already")
            first[name] = place
        owners = self._names("node")
        all_nodes = sorted_names(owners) if nodes is None else list(nodes)
        number = {name: i for i, name in enumerate(all_nodes)}
        for owner, place in zip(owners, self.places, strict=True):
            if owner not in number:
                refuse(place, f"node {owner!r} must be one of {_listed(all_nodes)}")
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

    def _names(self, role: str) -> list[str]:
        """Return the cells of a column of names; numbers become text."""
        names = []
        for cell, place in zip(self.cells(role) or (), self.places, strict=True):
            if isinstance(cell, bool) or not isinstance(cell, str | int) or cell == "":
                got = "nothing" if cell in (None, "") else f"{cell!r:.40}"
                refuse(place, f"{self.labels[role]} must be a name or a whole number, got {got}")
            names.append(str(cell))
        return names

    def _numbers(self, role: str) -> NDArray[Any] | None:
        cells = self.cells(role)
        if cells is None:
            return None
        label = str(self.labels[role])
        numbers = [
            file_number(place, label, str(cell) if isinstance(cell, Decimal) else cell)
            for cell, place in zip(cells, self.places, strict=True)
        ]
        return number_column(self.source, label, numbers)

    def moved(self, owners: Sequence[str]) -> bytes:
        """Return the content of the file with the tasks at these nodes, line by line."""
        label = str(self.labels["node"])
        if self.kind == "parquet":
            return _parquet_bytes(self.original, label, owners)
        return _csv_bytes(self.original, label, owners)


def read_task_table(
    path: Path,
    *,
    column: str | None = None,
    ignore: Sequence[str] = (),
    other: Sequence[str] = (),
) -> TaskTable:
    """Read a table of tasks.

    Parameters
    ----------
    column : str, optional
        The column that is the load. Default: one that is called load, time, size or cost.
    ignore : sequence of str
        Columns to leave out; they are written back as they are. Other columns that nothing uses
        are refused.
    other : sequence of str
        Columns of another file, which ``ignore`` may name as well.

    Raises
    ------
    ValueError
        If a column is missing or not used; the message names file and place.
    ImportError
        If a Parquet file is read without pyarrow.
    """
    source = str(path)
    kind = "parquet" if path.suffix.lower() == ".parquet" else "csv"
    original = _parquet_table(path) if kind == "parquet" else _csv_text(path)
    headings, places, columns_of = (_parquet_parts if kind == "parquet" else _csv_parts)(
        original, source
    )
    if unknown := [name for name in ignore if name not in headings and name not in other]:
        refuse(source, f"has no column {unknown[0]!r} to ignore, but {', '.join(headings)}")
    available = [name for name in headings if name not in ignore]
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
            f"must have columns task, node and load{hint}, got {', '.join(headings) or 'none'}",
        )
    if unused := unread(headings, labels.values(), ignore):
        named = ", ".join(map(repr, unused))
        options = " ".join(f"--ignore {quoted(label)}" for label in unused)
        refuse(
            source,
            f"{named} {'is' if len(unused) == 1 else 'are'} not used: give "
            f"--column {quoted(unused[0])} if it is the load, or {options}",
        )
    if not places:
        refuse(source, "must have a line for every task, got none")
    columns = {label: columns_of(label) for label in labels.values() if label is not None}
    return TaskTable(source, kind, original, columns, places, labels)


# The headings, the place of every line, and what returns the cells of a column.
_Parts = tuple[list[str], list[str], Callable[[str], list[Any]]]


def _check_file(path: Path) -> None:
    """Refuse what is no regular file, nor a link to one: a pipe or a device may not end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError(f"{path} must be a file, got a folder, a pipe or a device")


def _csv_text(path: Path) -> str:
    """Return the text of a file as it is, with its line ends and its byte order mark."""
    _check_file(path)
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        refuse(str(path), "is no text (UTF-8)")


def _csv_parts(text: str, source: str) -> _Parts:
    rows = rows_of(text.removeprefix(_BYTE_ORDER_MARK), source)
    header, place = next(rows, ([], source))
    once(place, [(name, None) for name in header])
    columns: dict[str, list[Any]] = {name: [] for name in header}
    places = []
    for cells, where in rows:
        if len(cells) != len(header):
            refuse(where, f"must have {len(header)} cells as the header, got {len(cells)}")
        for name, cell in zip(header, cells, strict=True):
            columns[name].append(cell)
        places.append(where)
    return header, places, columns.__getitem__


def _csv_bytes(text: str, label: str, owners: Sequence[str]) -> bytes:
    """Return the text with other owners; lines where the owner is as before are not touched."""
    body = text.removeprefix(_BYTE_ORDER_MARK)
    lines = list(io.StringIO(body, newline=""))
    mark = delimiter(body)
    rows = csv.reader(lines, delimiter=mark)
    waiting = iter(owners)
    position, begin = -1, 0
    parts = [text[: len(text) - len(body)]]
    for row in rows:
        part = "".join(lines[begin : rows.line_num])
        begin = rows.line_num
        cells = [cell.strip() for cell in row]
        if is_row(cells) and position < 0:
            position = cells.index(label)
        elif is_row(cells) and cells[position] != (owner := next(waiting)):
            row[position] = owner
            line = io.StringIO()
            csv.writer(line, delimiter=mark, lineterminator="").writerow(row)
            part = line.getvalue() + part[len(part.rstrip("\r\n")) :]
        parts.append(part)
    return "".join(parts).encode()


def _parquet_table(path: Path) -> Any:
    extra("pyarrow")
    parquet, lib = extra("pyarrow.parquet"), extra("pyarrow.lib")
    _check_file(path)
    try:
        with path.open("rb") as stream:
            return parquet.ParquetFile(stream).read()
    except lib.ArrowException as error:
        refuse(str(path), f"is no Parquet file: {str(error).splitlines()[0]}")
    except OSError as error:
        # pyarrow raises it without a number for damaged pages.
        if error.errno is not None:
            raise
        refuse(str(path), f"is damaged: {str(error).splitlines()[0]}")


def _parquet_parts(table: Any, source: str) -> _Parts:
    once(source, [(name, None) for name in table.column_names])
    places = [f"{source} row {i}" for i in range(table.num_rows)]
    return table.column_names, places, lambda label: table[label].to_pylist()


def _parquet_bytes(table: Any, label: str, owners: Sequence[str]) -> bytes:
    pyarrow = extra("pyarrow")
    position = table.column_names.index(label)
    column = pyarrow.array(list(owners), pyarrow.string()).cast(table.schema.field(position).type)
    changed = table.set_column(position, table.schema.field(position), column)
    sink = pyarrow.BufferOutputStream()
    extra("pyarrow.parquet").write_table(changed, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6:,} more" if len(names) > 6 else "")


def sorted_names(nodes: Sequence[str]) -> list[str]:
    """Return the different names of nodes: numbers by value, other names by alphabet."""
    names = set(nodes)
    if all(name.isdecimal() and name.isascii() for name in names):
        return sorted(names, key=_numerically)
    return sorted(names)


def _numerically(digits: str) -> tuple[int, str, str]:
    # Not int(), which refuses thousands of digits.
    value = digits.lstrip("0")
    return len(value), value, digits


def _word(cell: Any) -> Any:
    return cell.strip().lower() if isinstance(cell, str) else cell
