"""Files of vt that ``fastlb assign`` writes keep the rules of the schema that vt publishes."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import brotli
import numpy as np
import pytest
from click.testing import CliRunner

from fastlb.cli.commands import commands
from fastlb.files.taskfiles import read_task_file

from .vt_schema import breaches

VT_16 = Path(str(files("fastlb"))) / "data" / "vt-16"


def task(number: int, time: float, rank: int, **entries: Any) -> dict[str, Any]:
    entity = {"type": "object", "id": number, "home": rank, "migratable": True, "index": [number]}
    return {"entity": entity, "node": rank, "resource": "cpu", "time": time, **entries}


def message(source: int, target: int) -> dict[str, Any]:
    ends = {"from": {"type": "object", "id": source}, "to": {"type": "object", "id": target}}
    return {"type": "SendRecv", **ends, "messages": 3, "bytes": 100.0}


def run_of_all_entries() -> list[dict[str, Any]]:
    """Two ranks and two phases with everything that the schema names."""
    shared = {"id": 0, "size": 2, "num_nodes": 1}
    listed = {"list": [2], "range": [[3, 5], [7, 9]]}
    documents = []
    for rank in range(2):
        by_sequence = task(0, 0.5, rank)
        by_sequence["entity"] |= {"seq_id": 50 + rank, "collection_id": 7, "objgroup_id": 1}
        del by_sequence["entity"]["id"]
        tasks = [
            task(10 * rank, 4.0 - 3 * rank, rank, user_defined={"shared_id": rank, "any": [None]}),
            task(10 * rank + 1, 2.0, rank, subphases=[{"id": 0, "time": 2.0}], attributes={}),
            by_sequence,
        ]
        messages = [message(10 * rank, 10 * rank + 1), message(10 * rank, 10 - 10 * rank)]
        iteration = {"id": 1, "tasks": tasks[:1], "communications": messages, "user_defined": {}}
        later = {"id": 6, "tasks": [task(10 * rank, 1.0, rank)], "communications": []}
        documents.append(
            {
                "type": "LBDatafile",
                "metadata": {
                    "type": "LBDatafile",
                    "rank": rank,
                    "rank_alpha": 1.0,
                    "shared_node": {**shared, "rank": rank},
                    "phases": {"count": 10, "skipped": listed, "identical_to_previous": listed},
                    "attributes": {"of": {"any": ["form", 1]}},
                },
                "phases": [
                    {
                        "id": 0,
                        "tasks": tasks,
                        "communications": messages,
                        "user_defined": {"a": 1},
                        "lb_iterations": [iteration],
                    },
                    later,
                ],
            }
        )
    return documents


def contents(folder: Path) -> list[Any]:
    """Return the documents of a folder's files, plain or compressed."""
    data = [path.read_bytes() for path in sorted(folder.glob("*.json"))]
    return [json.loads(d if d.startswith(b"{") else brotli.decompress(d)) for d in data]


def test_the_bundled_run_moved_to_anywhere(tmp_path: Path) -> None:
    assert not any(map(breaches, contents(VT_16)))
    file = read_task_file([VT_16])
    owner = np.random.default_rng(1).integers(0, 16, len(file.phases[0].names))
    moved = [json.loads(data) for data in file.moved_files([owner]).values()]
    assert [breaches(document) for document in moved] == [[]] * 16


@pytest.mark.parametrize("compressed", [False, True])
def test_a_run_of_all_entries(tmp_path: Path, compressed: bool) -> None:
    source, out = tmp_path / "run", tmp_path / "out"
    source.mkdir()
    documents = run_of_all_entries()
    for rank, document in enumerate(documents):
        assert breaches(document) == []
        data = json.dumps(document).encode()
        data = brotli.compress(data) if compressed else data
        (source / f"run.{rank}.json").write_bytes(data)
    done = CliRunner().invoke(commands, ["assign", str(source), "--out", str(out)])
    assert done.exit_code == 0, done.output
    written = contents(out)
    assert written != documents
    assert [breaches(document) for document in written] == [[], []]
    # What is not of the tasks' places is as it was.
    for before, after in zip(documents, written, strict=True):
        assert {**after, "phases": 0} == {**before, "phases": 0}
        for phase, moved in zip(before["phases"], after["phases"], strict=True):
            changing = {"tasks": 0, "communications": 0}
            assert phase | changing == moved | changing


@pytest.mark.parametrize(
    ("change", "breach"),
    [
        (lambda d: d.update(type="LBStatsfile"), "document is of type LBStatsfile"),
        (lambda d: d.update(more=1), "document has more"),
        (lambda d: d.pop("phases"), "document has no phases"),
        (lambda d: d["metadata"].update(rank="0"), "document.metadata.rank is no int"),
        (lambda d: d["metadata"].update(rank_alpha=-1.0), "metadata has a rank_alpha below 0"),
        (lambda d: d["phases"][0].update(tasks={}), "phases[0].tasks is no list"),
        (lambda d: d["phases"][0]["tasks"][1].update(time=2), "tasks[1].time is no float"),
        (lambda d: d["phases"][0]["tasks"][1].update(owner=2), "tasks[1] has owner"),
        (lambda d: d["phases"][0]["tasks"][0]["entity"].pop("id"), "neither id nor seq_id"),
        (lambda d: d["phases"][0]["tasks"][2]["entity"].pop("collection_id"), "no collection_id"),
        (lambda d: d["phases"][0]["communications"][0]["to"].pop("id"), "to has neither id nor"),
        (lambda d: d["phases"][0]["lb_iterations"][0].pop("id"), "lb_iterations[0] has no id"),
    ],
)
def test_breaches_are_seen(change: Callable[[Any], Any], breach: str) -> None:
    document = json.loads(json.dumps(run_of_all_entries()[0]))
    change(document)
    (place,) = breaches(document)
    assert breach in place
