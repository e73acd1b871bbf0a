"""Tables of tasks, CSV and Parquet: what is read, what is refused, what is written back."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fastlb.files.taskfiles import read_task_file

TABLE = "task,node,load,bytes,movable\na,n2,4,10,true\nb,n10,1,20,no\nc,n2,7,30,1\n"


def table(folder: Path, text: str = TABLE) -> Path:
    path = folder / "tasks.csv"
    path.write_text(text)
    return path


def refused(path: Path, *says: str, **options: Any) -> None:
    with pytest.raises((ValueError, OverflowError)) as caught:
        read_task_file([path], **options)
    assert "\n" not in str(caught.value)
    for part in says:
        assert part in str(caught.value)


def test_csv(tmp_path: Path) -> None:
    (tasks,) = read_task_file([table(tmp_path)]).phases
    assert tasks.names == ["a", "b", "c"]
    assert tasks.nodes == ["n10", "n2"]
    assert tasks.owner.tolist() == [1, 0, 1]
    assert tasks.sizes.tolist() == [4, 1, 7] and tasks.sizes.dtype == np.int64
    assert tasks.movable.tolist() == [True, False, True]
    assert tasks.memory is not None and np.asarray(tasks.memory.own).tolist() == [10, 20, 30]
    assert tasks.loads() == [1, 11]


def test_parquet_keeps_types_and_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "tasks.parquet"
    columns = {
        "task": ["a", "b", "c"],
        "node": pa.array([2, 10, 2], pa.int16()),
        "load": [0.5, 1.5, 2.0],
        "movable": [True, False, True],
        "owner_team": ["x", "y", "z"],
    }
    pq.write_table(pa.table(columns), path)
    refused(path, "'owner_team' is not used", "--ignore owner_team")
    file = read_task_file([path], ignore=["owner_team"])
    (tasks,) = file.phases
    assert tasks.nodes == ["2", "10"]
    assert tasks.sizes.dtype == np.float64
    (moved,) = file.moved_files([np.array([1, 1, 0])]).values()
    (tmp_path / "moved.parquet").write_bytes(moved)
    again = pq.read_table(tmp_path / "moved.parquet")
    assert again.schema.equals(pq.read_table(path).schema)
    assert again["node"].to_pylist() == [10, 10, 2]
    assert again["owner_team"].to_pylist() == ["x", "y", "z"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_is_written_as_it_was_read(tmp_path: Path, separator: str) -> None:
    text = "task,team,host,time\na,x,n1,4\nb,y,n2,1\n".replace(",", separator)
    file = read_task_file([table(tmp_path, text)], ignore=["team"])
    assert list(file.moved_files([np.array([0, 1])]).values()) == [text.encode()]
    (moved,) = file.moved_files([np.array([1, 1])]).values()
    assert moved == text.replace("n1", "n2").encode()


def test_nodes_without_tasks(tmp_path: Path) -> None:
    path = table(tmp_path, "task,node,load\na,0,4\nb,3,1\n")
    assert read_task_file([path]).phases[0].nodes == ["0", "3"]
    (tasks,) = read_task_file([path], nodes=["0", "1", "2", "3"]).phases
    assert tasks.owner.tolist() == [0, 3] and tasks.loads() == [4, 0, 0, 1]
    refused(path, "line 3: node '3' must be one of 0, 1", nodes=["0", "1"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("task,node,load\na,0,4\na,1,1\n", "line 3: task 'a' must be named once"),
        ("task,node,load\na,0,x\n", "line 2: load must be a number"),
        ("task,node,load\na,0,-1\n", "line 2: load must not be negative"),
        ("task,node,load\na,0,nan\n", "load must be a number such as 12"),
        ("task,node,load\na,0,1/3\n", "load must be whole numbers or decimals, got 1/3"),
        (
            "task,node,load\na,0,9223372036854775808\n",
            "load must be below 2**63, got 2**63 or more",
        ),
        ("task,node,load\na,0\n", "line 2: must have 3 cells as the header, got 2"),
        ("task,node\na,0\n", "must have columns task, node and load, got task, node"),
        ("task,node,load\n", "must have a line for every task, got none"),
        ("task,node,load,movable\na,0,1,perhaps\n", "line 2: movable must be"),
        ("task,node,load,load\na,0,1,1\n", "'load' must be named once"),
        ("task,node,load,cpu\na,0,1,1\n", "'cpu' is not used: give --column cpu"),
        ("", "must have columns task, node and load, got none"),
    ],
)
def test_tables_that_are_not_right(tmp_path: Path, text: str, says: str) -> None:
    refused(table(tmp_path, text), says)


def test_column_of_the_load(tmp_path: Path) -> None:
    path = table(tmp_path, "task,node,load,cpu\na,0,1,5\n")
    (tasks,) = read_task_file([path], column="cpu", ignore=["load"]).phases
    assert tasks.sizes.tolist() == [5]
    refused(path, "must have columns task, node and load (--column disk)", column="disk")


def test_no_parquet(tmp_path: Path) -> None:
    path = tmp_path / "tasks.parquet"
    path.write_bytes(b"PAR1 nothing")
    refused(path, "tasks.parquet: is no Parquet file")


def test_lines_where_the_owner_stays_are_not_touched(tmp_path: Path) -> None:
    text = (
        '\ufeff# a comment\r\ntask , node,load,note\r\n"a, 1", 0 ,4,"say ""hi"""\r\n\r\n'
        '#z,0,9,\r\nb,"0",3,\r\nc,1,1,"two\r\nlines"'
    )
    path = table(tmp_path, "")
    path.write_bytes(text.encode())
    file = read_task_file([path])
    assert file.phases[0].names == ["a, 1", "b", "c"]
    (moved,) = file.moved_files([file.phases[0].owner]).values()
    assert moved == text.encode()
    (moved,) = file.moved_files([np.array([0, 1, 1])]).values()
    assert moved == text.replace('b,"0",3', "b,1,3").encode()


@pytest.mark.parametrize(
    ("column", "cells", "says"),
    [
        ("node", ["x", None], "row 1: node must be a name or a whole number, got nothing"),
        ("task", [None, "x"], "row 0: task must be a name or a whole number, got nothing"),
        ("node", [b"x", b"y"], "row 0: node must be a name or a whole number, got b'x'"),
        ("node", [1.0, 2.0], "row 0: node must be a name or a whole number, got 1.0"),
        ("node", [[1], [2]], "row 0: node must be a name or a whole number, got [1]"),
        ("load", [1, None], "row 1: load must be a number"),
    ],
)
def test_cells_of_parquet_that_are_not_right(
    tmp_path: Path, column: str, cells: list[Any], says: str
) -> None:
    path = tmp_path / "tasks.parquet"
    pq.write_table(
        pa.table({"task": ["a", "b"], "node": ["x", "y"], "load": [1, 2], column: cells}), path
    )
    refused(path, says)


def test_parquet_is_read_once_and_decimals_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "tasks.parquet"
    columns = {
        "task": ["a", "b"],
        "node": pa.array(["x", "y"]).dictionary_encode(),
        "load": pa.array([Decimal("1.50"), Decimal("2.00")], pa.decimal128(10, 2)),
    }
    pq.write_table(pa.table(columns), path)
    file = read_task_file([path])
    assert file.phases[0].sizes.tolist() == [1.5, 2]
    schema = pq.read_table(path).schema
    path.unlink()
    (moved,) = file.moved_files([np.array([1, 1])]).values()
    again = pq.read_table(io.BytesIO(moved))
    assert again.schema.equals(schema) and again["node"].to_pylist() == ["y", "y"]


def test_damaged_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tasks.parquet"
    names = [str(i) for i in range(1000)]
    pq.write_table(pa.table({"task": names, "node": names, "load": range(1000)}), path)
    data = bytearray(path.read_bytes())
    data[100:2000] = bytes(1900)
    path.write_bytes(data)
    refused(path, "tasks.parquet: is")


def test_cells_of_csv_that_are_missing(tmp_path: Path) -> None:
    says = "line 2: node must be a name or a whole number, got nothing"
    refused(table(tmp_path, "task,node,load\na,,4\n"), says)
    refused(table(tmp_path), "has no column 'zzz' to ignore", ignore=["zzz"])
