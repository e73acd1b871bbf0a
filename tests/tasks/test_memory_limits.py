"""Many tasks whose blocks must fit the memory of nodes: groups of tasks go, or are split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.files.taskfiles import read_task_file
from tests.oracles import tasks as oracle

VT_16 = Path(lb.__file__).parent / "data" / "vt-16"


def blocks_on_nodes(seed: int, tasks: int, blocks: int, nodes: int) -> dict[str, Any]:
    """Draw blocks of unequal load, as many on each node, and their tasks."""
    draws = np.random.default_rng(seed)
    share = draws.pareto(1.5, blocks) + 0.05
    drawn = draws.choice(blocks, tasks - blocks, p=share / share.sum())
    block = np.concatenate([np.arange(blocks), drawn])
    return {
        "sizes": np.ceil(10 * draws.exponential(size=tasks)).astype(np.int64),
        "owner": block * nodes // blocks,
        "block": block,
        "own": draws.integers(0, 3, tasks),
        "blocks": [1000] * blocks,
        "nodes": nodes,
    }


def assigned(drawn: dict[str, Any], limit: int, **options: Any) -> lb.Assignment:
    memory = lb.TaskMemory(
        own=drawn["own"], block=drawn["block"], block_bytes=dict(enumerate(drawn["blocks"]))
    )
    where = drawn["sizes"], drawn["owner"], drawn["nodes"]
    a = lb.assign_tasks(*where, memory=memory, memory_limit=limit, **options)
    weights = options.get("weights")
    twin = oracle.Problem(
        drawn["sizes"].tolist(), drawn["owner"].tolist(), drawn["nodes"],
        options["movable"].tolist() if "movable" in options else None, weights,
        memory=drawn["own"].tolist(), block=drawn["block"].tolist(), blocks=drawn["blocks"],
        memory_limit=[limit] * drawn["nodes"],
    )  # fmt: skip
    oracle.check(twin, a)
    assert a.verify()
    assert a.over_memory == []
    return a


def by_block(sizes: Any, block: Any) -> Any:
    return np.sort(np.bincount(block, sizes))[::-1]


@pytest.mark.parametrize("seed", range(3))
def test_blocks_that_no_node_can_hold_twice(seed: int) -> None:
    # Four blocks a node are there, and no node can hold a fifth.
    drawn = blocks_on_nodes(seed, tasks=2000, blocks=32, nodes=8) | {"own": np.zeros(2000, int)}
    a = assigned(drawn, limit=4000)
    assert len(set(zip(a.owner.tolist(), drawn["block"].tolist(), strict=True))) == 32
    loads = by_block(drawn["sizes"], drawn["block"])
    # The longest block has three others beside it.
    least = max(loads[0] + loads[-3:].sum(), a.bound)
    assert least <= a.largest <= 1.02 * least


@pytest.mark.parametrize("seed", range(3))
def test_blocks_are_split_where_there_is_room(seed: int) -> None:
    drawn = blocks_on_nodes(seed, tasks=2000, blocks=32, nodes=8)
    a = assigned(drawn, limit=8000)
    assert a.gap < 1e-3
    copies = set(zip(a.owner.tolist(), drawn["block"].tolist(), strict=True))
    assert 32 <= len(copies) <= 8 * 7


def test_speeds_and_pins_within_limits() -> None:
    drawn = blocks_on_nodes(5, tasks=1500, blocks=30, nodes=6)
    movable = np.random.default_rng(5).random(1500) < 0.9
    a = assigned(drawn, 9000, movable=movable, weights=[1, 1, 2, 0.5, 1, 1.5])
    assert a.gap < 0.01


def test_memory_of_tasks_alone() -> None:
    draws = np.random.default_rng(9)
    sizes, own = draws.integers(1, 1000, 1500), draws.integers(1, 50, 1500)
    owner = draws.integers(0, 8, 1500) // 2
    held = np.bincount(owner, own, 8)
    limit = int(held.max() * 1.01)
    a = lb.assign_tasks(sizes, owner, 8, memory=own, memory_limit=limit)
    assert a.verify()
    assert a.over_memory == []
    assert a.gap < 1e-3


@pytest.mark.parametrize(("limit", "gap"), [(12e9, 0), (8e9, 0), (7e9, None)])
def test_a_run_of_vt(limit: float, gap: float | None) -> None:
    (tasks,) = read_task_file([VT_16]).phases
    where = tasks.sizes, tasks.owner, 16
    a = lb.assign_tasks(*where, memory=tasks.memory, memory_limit=limit)
    assert a.verify()
    assert a.over_memory == []
    if gap is not None:
        assert a.gap == gap
        return
    # Four blocks fit a node, and 64 are on 16 nodes: the longest is with the three shortest.
    assert tasks.memory is not None and tasks.memory.block is not None
    loads = by_block(tasks.sizes, np.unique(list(tasks.memory.block), return_inverse=True)[1])
    assert a.largest == loads[0] + loads[-3:].sum()
