"""Bad input to ``assign_tasks``: one line naming the argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastlb as lb

GOOD: dict[str, Any] = {"sizes": [1, 2, 3], "owner": [0, 0, 1], "nodes": 2}
HOME = lb.TaskMemory(block=["a", "a", "b"], block_bytes={"a": 1, "b": 1})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"sizes": 3}, ValueError, "sizes must be one number for each task"),
        ({"sizes": [1, -2, 3]}, ValueError, "sizes must not be negative, got -2 at 1"),
        ({"sizes": [1, np.nan, 3]}, ValueError, "sizes must be finite, got nan at 1"),
        ({"sizes": [1, np.inf, 3]}, ValueError, "sizes must be finite"),
        ({"sizes": ["a", "b", "c"]}, TypeError, "sizes must be integers, float32 or float64"),
        ({"sizes": [True, False, True]}, TypeError, "sizes must be .* dtype bool"),
        ({"sizes": np.array([1, 2**63, 3], np.uint64)}, OverflowError, "sizes must fit int64"),
        ({"owner": [0, 0]}, ValueError, "owner must end in an axis of 3 tasks"),
        ({"owner": [0, 0, 2]}, ValueError, r"owner must be nodes 0\.\.1, got 2"),
        ({"owner": [0, 0, -1]}, ValueError, r"owner must be nodes 0\.\.1, got -1"),
        ({"owner": [0, 0, 0.5]}, TypeError, "owner must be integers"),
        ({"nodes": 0}, ValueError, "nodes must be a whole number, 1 or more"),
        ({"nodes": 2.0}, TypeError, "nodes must be a whole number"),
        ({"nodes": "tours:2"}, ValueError, "did you mean torus"),
        ({"movable": [1, 2, 0]}, ValueError, "movable must be a bool for each of 3 tasks"),
        ({"movable": [True]}, ValueError, "movable must be a bool for each of 3 tasks"),
        ({"weights": [1]}, ValueError, "weights must be a number for each of 2 nodes"),
        ({"weights": [1, -1]}, ValueError, "weights must not be negative"),
        ({"weights": 0}, ValueError, "weights must be one number a node"),
        (
            {"weights": [5e-324, 1]},
            OverflowError,
            r"weights must be 0 or from 2\.23e-308 to 1\.8e\+308, got 5e-324 for node 0",
        ),
        (
            {"weights": [1, 10**400]},
            OverflowError,
            r"got 1\.00e\+400 for node 1: give them in another",
        ),
        (
            {"sizes": [1e300, 2.0, 3.0], "weights": [1e-300, 1]},
            OverflowError,
            "sizes by weights must have a total that fits float64: give weights in another unit",
        ),
        ({"weights": [0, 0]}, ValueError, "weights must not all be 0"),
        (
            {"weights": [0, 1], "movable": [1, 0, 1]},
            ValueError,
            "weights must be above 0 where tasks may not move, got 0 for node 0, where task 1",
        ),
        ({"memory_limit": 3}, ValueError, "memory_limit needs memory"),
        ({"memory": [1, 1]}, ValueError, "memory must be a number for each of 3 tasks"),
        ({"memory": 1, "memory_limit": -1}, ValueError, "memory_limit must not be negative"),
        ({"memory": 1, "memory_limit": np.nan}, ValueError, "memory_limit must be finite"),
        (
            {"memory": lb.TaskMemory(block=["a", "a", "b"])},
            ValueError,
            "block_bytes must have every block, got none of 'a'",
        ),
        ({"memory": lb.TaskMemory(block=["a"])}, ValueError, "block must be an id for each of 3"),
        (
            {"memory": lb.TaskMemory(block=[[], [], []])},
            TypeError,
            "block must be ids that are hashable",
        ),
        (
            {"memory": lb.TaskMemory(block=[1, 1, 1], block_bytes={1: 1}, block_home={1: 2})},
            ValueError,
            r"block_home must be nodes 0\.\.1",
        ),
        ({"memory": HOME, "home_price": 1}, ValueError, "home_price needs blocks with a home"),
        ({"home_price": 1}, ValueError, "home_price needs blocks with a home"),
        ({"edges": [(0, 1)]}, ValueError, r"edges must be \(task, task, bytes\)"),
        ({"edges": [(0, 3, 1)]}, ValueError, r"edges must be between tasks 0\.\.2, got 3"),
        ({"edges": [(0, 1, -1)]}, ValueError, "bytes of edges must not be negative"),
        ({"edges": 5}, TypeError, "edges must be rows"),
        ({"slack": -0.1}, ValueError, "slack must not be negative"),
        ({"slack": "a"}, ValueError, "slack must be a finite number"),
        (
            {"price": 1e10, "edges": [(0, 1, 1e300)]},
            OverflowError,
            "price and home_price must give bytes a load that fits float64",
        ),
        ({"price": None}, TypeError, "price must be a number"),
        ({"max_moves": -1}, ValueError, "max_moves must be a whole number, 0 or more"),
        ({"max_moves": 1.5}, TypeError, "max_moves must be a whole number"),
        ({"weights": [0, 1], "max_moves": 1}, ValueError, "max_moves must allow the moves"),
        ({"along": 1}, TypeError, "along must be a Balance or a MinimaxPlan"),
    ],
)
def test_it_is_refused(change: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments = {**GOOD, **change}
    positional = [arguments.pop(name) for name in ("sizes", "owner", "nodes")]
    with pytest.raises(error, match=message) as caught:
        lb.assign_tasks(*positional, **arguments)
    assert "\n" not in str(caught.value)


def test_a_batch_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="owner must have the batch axes of sizes or none"):
        lb.assign_tasks(np.ones((2, 3)), np.zeros((4, 3), int), 2)
