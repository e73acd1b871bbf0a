"""Tables of tasks, CSV and Parquet: what is read, what is refused, what is written back."""

from __future__ import annotations

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
    refused(path, "line 3: node '3' is not known", nodes=["0", "1"])


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
