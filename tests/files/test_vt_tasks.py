"""The tasks of vt runs: what is read, plain or compressed, and the files with tasks moved."""

from __future__ import annotations

import copy
import json
import os
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import brotli
import numpy as np
import pytest

from fastlb import memory
from fastlb.files import lbdata
from fastlb.files.taskfiles import read_task_file
from fastlb.files.vttasks import VtRun

VT_16 = Path(str(files("fastlb"))) / "data" / "vt-16"


def task(number: int, time: Any, rank: int, **entries: Any) -> dict[str, Any]:
    entity = {"type": "object", "id": number, "home": rank, "migratable": True, "collection_id": 7}
    return {"entity": entity, "node": rank, "resource": "cpu", "time": time, **entries}


def message(source: int, target: int, size: float) -> dict[str, Any]:
    ends = {"from": {"type": "object", "id": source}, "to": {"type": "object", "id": target}}
    return {"type": "SendRecv", **ends, "messages": 1, "bytes": size}


def two_ranks() -> list[dict[str, Any]]:
    """Two ranks with two tasks each, a shared block, two messages and unknown entries."""
    memory = {"task_footprint_bytes": 8.0, "task_working_bytes": 3.0, "rank_working_bytes": 5.0}
    first = {
        "metadata": {"type": "LBDatafile", "rank": 0, "attributes": {"vendor": "ours"}},
        "phases": [
            {
                "id": 4,
                "tasks": [
                    task(10, 5.0, 0, user_defined={"shared_id": 3, "shared_bytes": 64.0, **memory}),
                    task(11, 1.5, 0, subphases=[{"id": 0, "time": 1.5}]),
                ],
                "communications": [message(10, 20, 100.0), message(11, 10, 7.0)],
                "user_defined": {"kept": [1, 2]},
            }
        ],
    }
    fixed = task(21, 0.25, 1)
    fixed["entity"]["migratable"] = False
    second = {
        "metadata": {"type": "LBDatafile", "rank": 1},
        "phases": [
            {"id": 4, "tasks": [task(20, 2.0, 1), fixed], "communications": [message(99, 20, 1.0)]}
        ],
    }
    return [first, second]


def written(folder: Path, documents: list[dict[str, Any]], *, compressed: bool = False) -> Path:
    folder.mkdir(exist_ok=True)
    for rank, document in enumerate(documents):
        data = json.dumps(document).encode()
        (folder / f"run.{rank}.json").write_bytes(brotli.compress(data) if compressed else data)
    return folder


def refused(folder: Path, *says: str, **options: Any) -> None:
    with pytest.raises(ValueError) as caught:
        read_task_file([folder], **options)
    assert "\n" not in str(caught.value)
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize("compressed", [False, True])
def test_everything_that_an_assignment_needs_is_read(tmp_path: Path, compressed: bool) -> None:
    file = read_task_file([written(tmp_path / "run", two_ranks(), compressed=compressed)])
    (tasks,) = file.phases
    assert tasks.phase == 4
    assert tasks.names == ["10", "11", "20", "21"]
    assert tasks.nodes == ["0", "1"]
    assert tasks.sizes.tolist() == [5, 1.5, 2, 0.25]
    assert tasks.owner.tolist() == [0, 0, 1, 1]
    assert tasks.movable.tolist() == [True, True, True, False]
    assert tasks.edges is not None and tasks.edges.tolist() == [[0, 2], [1, 0]]
    assert tasks.edge_bytes is not None and tasks.edge_bytes.tolist() == [100, 7]
    memory = tasks.memory
    assert memory is not None
    assert np.asarray(memory.own).tolist() == [8, 0, 0, 0]
    assert np.asarray(memory.working).tolist() == [3, 0, 0, 0]
    assert np.asarray(memory.block).tolist() == [3, -1, -1, -1]
    assert memory.block_bytes == {3: 64}
    assert np.asarray(memory.node).tolist() == [5, 0]
    assert tasks.weights is None
    assert tasks.loads() == [6.5, 2.25]


def test_entries_to_leave_out(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", two_ranks())
    (tasks,) = read_task_file([folder], ignore=("memory", "communications")).phases
    assert tasks.memory is None and tasks.edges is None
    refused(
        folder, "ignore must be rank_alpha, communications or memory", "'owner'", ignore=["owner"]
    )


def test_moved_tasks_take_their_messages_along_and_all_else_stays(tmp_path: Path) -> None:
    documents = two_ranks()
    file = read_task_file([written(tmp_path / "run", documents)])
    moved = file.moved_files([np.array([1, 0, 1, 1])])
    first, second = (json.loads(moved[f"run.{rank}.json"]) for rank in (0, 1))
    expected = copy.deepcopy(documents)
    traveller = expected[0]["phases"][0]["tasks"].pop(0)
    expected[1]["phases"][0]["tasks"].append({**traveller, "node": 1})
    sent = expected[0]["phases"][0]["communications"].pop(0)
    expected[1]["phases"][0]["communications"].insert(0, sent)
    assert [first, second] == expected
    assert first["phases"][0]["user_defined"] == {"kept": [1, 2]}


@pytest.mark.parametrize("compressed", [False, True])
def test_written_files_read_back_equal(tmp_path: Path, compressed: bool) -> None:
    file = read_task_file([written(tmp_path / "run", two_ranks(), compressed=compressed)])
    for owner in ([0, 0, 1, 1], [1, 1, 0, 1], [1, 0, 0, 1]):
        folder = tmp_path / f"moved{owner}"
        folder.mkdir()
        for name, data in file.moved_files([np.array(owner)]).items():
            (folder / name).write_bytes(data)
        again = read_task_file([folder])
        assert isinstance(again.content, VtRun)
        assert again.content.compressed == [compressed] * 2
        (tasks,) = again.phases
        place = dict(zip(tasks.names, tasks.owner.tolist(), strict=True))
        assert [place[name] for name in file.phases[0].names] == owner
        size = dict(zip(tasks.names, tasks.sizes.tolist(), strict=True))
        assert [size[name] for name in file.phases[0].names] == file.phases[0].sizes.tolist()


def test_the_bundled_run_moves_and_comes_back(tmp_path: Path) -> None:
    file = read_task_file([VT_16])
    owner = np.random.default_rng(1).integers(0, 16, len(file.phases[0].names))
    for name, data in file.moved_files([owner]).items():
        (tmp_path / name).write_bytes(data)
    (tasks,) = read_task_file([tmp_path]).phases
    assert sorted(tasks.names) == sorted(file.phases[0].names)
    assert sorted(tasks.sizes) == sorted(file.phases[0].sizes)
    assert tasks.content() != file.phases[0].content()


def test_phases_that_are_equal_to_an_earlier_one(tmp_path: Path) -> None:
    documents = two_ranks()
    for document in documents:
        document["metadata"]["phases"] = {
            "count": 9,
            "skipped": {"list": [1], "range": [[2, 3]]},
            "identical_to_previous": {"list": [5], "range": [[6, 8]]},
        }
    folder = written(tmp_path / "run", documents)
    for phase in (4, 5, 6, 8):
        assert [tasks.phase for tasks in read_task_file([folder], phase=phase).phases] == [4]
    refused(folder, "phase must be one of 4", "got 3 (vt skipped it)", phase=3)
    refused(folder, "phase must be one of 4", "got 9", phase=9)


def test_rank_alpha_is_a_slowness(tmp_path: Path) -> None:
    documents = two_ranks()
    documents[0]["metadata"]["rank_alpha"] = 0.1
    folder = written(tmp_path / "run", documents)
    assert read_task_file([folder]).phases[0].weights == [Fraction(10), Fraction(1)]
    documents[1]["metadata"]["rank_alpha"] = 0.0
    written(folder, documents)
    refused(folder, "run.1.json must have a rank_alpha above 0", "--ignore rank_alpha")
    assert read_task_file([folder], ignore=["rank_alpha"]).phases[0].weights is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t[1]["entity"].update(id=10), "task 1 must have an id of its own, got 10 again"),
        (lambda t: t[1].update(time=float("nan")), "a finite time of at least 0, got nan"),
        (lambda t: t[1].update(time=-1), "a finite time of at least 0, got -1"),
        (lambda t: t[1].update(time=True), "a finite time of at least 0, got True"),
        (lambda t: t[1].update(node=1), "must be on node 0, got 1"),
        (lambda t: t[1].pop("entity"), "an entity with an integer id or seq_id, got None"),
        (lambda t: t[1]["entity"].pop("migratable"), "must say migratable, true or false"),
        (lambda t: t.append(3), "an entity with an integer id"),
        (
            lambda t: t[1].update(user_defined={"shared_id": 3, "shared_bytes": 65.0}),
            "block 3 the shared_bytes it had before, 64, got 65",
        ),
    ],
)
def test_tasks_that_are_not_right(tmp_path: Path, change: Any, says: str) -> None:
    documents = two_ranks()
    change(documents[0]["phases"][0]["tasks"])
    refused(written(tmp_path / "run", documents), "run.0.json phase 4 task", says)


def test_the_same_task_on_two_ranks(tmp_path: Path) -> None:
    documents = two_ranks()
    documents[1]["phases"][0]["tasks"][0]["entity"]["id"] = 11
    refused(written(tmp_path / "run", documents), "run.1.json phase 4 task 0", "got 11 again")


def test_compressed_data_that_are_cut_off_or_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = brotli.compress(json.dumps(two_ranks()[0]).encode())
    path = tmp_path / "run.0.json"
    path.write_bytes(data[:-4])
    refused(tmp_path, "run.0.json is cut off: its compressed data do not end")
    path.write_bytes(b"\xff\xfe" + data)
    refused(tmp_path, "run.0.json is neither UTF-8 text nor compressed with brotli")
    path.write_bytes(brotli.compress(b" " * 10**8))
    monkeypatch.setattr(lbdata, "UNPACKED_BYTES_MAX", 10**7)
    refused(tmp_path, "run.0.json must unpack to at most 10000000 bytes, got more")


@pytest.mark.parametrize("compressed", [False, True])
def test_content_that_needs_more_memory_than_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compressed: bool
) -> None:
    # 3 MB of text, of which Python makes a million objects.
    data = b"[" + b"{}," * 2**20 + b"{}]"
    (tmp_path / "run.0.json").write_bytes(brotli.compress(data, 1) if compressed else data)
    monkeypatch.setattr(memory, "available_memory", lambda: 2**28)
    with pytest.raises(MemoryError, match=r"the JSON of .*run\.0\.json needs about 0.297 GiB"):
        read_task_file([tmp_path])


def test_names_that_an_object_repeats(tmp_path: Path) -> None:
    written(tmp_path, two_ranks())
    path = tmp_path / "run.1.json"
    path.write_text(path.read_text().replace('"time": 2.0', '"time": 2.0, "time": 3.0'))
    refused(tmp_path, "run.1.json: 'time' must be named once, got it again")


def test_nested_too_deeply(tmp_path: Path) -> None:
    (tmp_path / "run.0.json").write_text("[" * 10**5)
    refused(tmp_path, "run.0.json is no LBDatafile: nested too deeply")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.0.json")
    refused(tmp_path, "run.0.json must be a file")


@pytest.mark.parametrize("messages", [None, [1], [{"from": 3}], [{"from": {"type": "object"}}]])
def test_ignored_communications_stay_as_they_are(tmp_path: Path, messages: Any) -> None:
    documents = two_ranks()
    documents[0]["phases"][0]["communications"] = messages
    file = read_task_file([written(tmp_path / "run", documents)], ignore=["communications"])
    moved = json.loads(file.moved_files([np.array([1, 0, 1, 1])])["run.0.json"])
    assert moved["phases"][0]["communications"] == messages


def test_names_are_compared_as_well(tmp_path: Path) -> None:
    documents = two_ranks()
    first = documents[0]["phases"][0]["tasks"][0]
    first["entity"] = {"type": "object", "seq_id": 21, "migratable": True}
    refused(written(tmp_path / "run", documents), "run.1.json phase 4 task 1", "got 21 again")
    first["entity"] |= {"seq_id": 5, "collection_id": [7]}
    refused(written(tmp_path / "run", documents), "run.0.json phase 4 task 0", "an entity with an")


def test_blocks_of_any_number(tmp_path: Path) -> None:
    documents = two_ranks()
    documents[0]["phases"][0]["tasks"][0]["user_defined"]["shared_id"] = 10**30
    (tasks,) = read_task_file([written(tmp_path / "run", documents)]).phases
    assert tasks.memory is not None and tasks.memory.block_bytes == {10**30: 64}
    assert tasks.content().startswith("sha256:")


def test_numbers_that_json_cannot_hold_are_named(tmp_path: Path) -> None:
    documents = two_ranks()
    documents[1]["attributes"] = {"peak": float("inf")}
    file = read_task_file([written(tmp_path / "run", documents)])
    with pytest.raises(ValueError, match=r"run.1.json must hold finite numbers to be written"):
        file.moved_files([np.array([1, 0, 1, 1])])


def test_files_of_several_runs(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", two_ranks())
    (folder / "run.1.json").rename(folder / "other.1.json")
    with pytest.raises(ValueError, match="must be the files of one run, got other, run"):
        read_task_file(sorted(folder.iterdir()))
    # Also where both runs have a file of the rank.
    (folder / "run.1.json").write_text("{}")
    with pytest.raises(ValueError, match="must be the files of one run, got other, run"):
        read_task_file(sorted(folder.iterdir()))
