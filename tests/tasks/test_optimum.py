"""Few tasks: the optimum that HiGHS proves, and that of all owners tried."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import task_program
from tests.oracles import tasks as oracle


def instance(seed: int) -> dict[str, Any]:
    """Draw up to 15 movable tasks on 2 to 4 nodes, with pins, memory and blocks or without."""
    draws = np.random.default_rng(seed)
    nodes = int(draws.integers(2, 5))
    count = int(draws.integers(1, 16))
    pinned = int(draws.integers(0, 5))
    total = count + pinned
    if draws.random() < 0.5:
        sizes = draws.integers(1, draws.choice([5, 20, 1000]), total)
    else:
        sizes = draws.exponential(size=total) + 0.05
    problem: dict[str, Any] = {
        "sizes": sizes.tolist(),
        "owner": draws.integers(0, nodes, total).tolist(),
        "nodes": nodes,
        "movable": [True] * count + [False] * pinned,
    }
    if draws.random() < 0.3:
        problem["weights"] = draws.integers(1, 4, nodes).tolist()
    if draws.random() < 0.6:
        problem["memory"] = draws.integers(1, 10, total).tolist()
        blocks = int(draws.integers(0, 5))
        if blocks:
            problem["block"] = draws.integers(-1, blocks, total).tolist()
            problem["blocks"] = draws.integers(1, 20, blocks).tolist()
        problem["base"] = draws.integers(0, 4, nodes).tolist()
        held = sum(problem["memory"]) + sum(problem.get("blocks", []))
        slack = float(draws.choice([0.8, 1.0, 1.2, 1.6]))
        problem["memory_limit"] = [int(held * slack / nodes) + 5] * nodes
    return problem


def solved(problem: dict[str, Any], **options: Any) -> lb.Assignment:
    named = {k: problem.get(k) for k in ("movable", "weights", "memory_limit")}
    if "memory" in problem:
        named["memory"] = lb.TaskMemory(
            own=problem["memory"],
            working=problem.get("working", 0),
            block=problem.get("block"),
            block_bytes=dict(enumerate(problem.get("blocks", []))),
            block_home=dict(enumerate(problem["home"])) if "home" in problem else None,
            node=problem.get("base", 0),
        )
    where = problem["sizes"], problem["owner"], problem["nodes"]
    return lb.assign_tasks(*where, **named, **options)


@pytest.mark.slow
def test_it_is_the_optimum_of_highs(full: bool) -> None:
    impossible = 0
    for seed in range(1000 if full else 60):
        problem = instance(seed)
        twin = oracle.Problem(**problem)
        least = task_program.least_largest(twin)
        a = solved(problem)
        oracle.check(twin, a)
        assert a.verify()
        if least is None:
            impossible += 1
            assert a.status == "infeasible", seed
            assert a.over_memory
            continue
        assert a.status == "optimal", seed
        # HiGHS accepts rows and integers that are off by 1e-6.
        assert a.largest == pytest.approx(least, rel=2e-6), seed
    assert impossible > 0


def coupled(seed: int) -> dict[str, Any]:
    """Draw few tasks with messages, working memory, and blocks that have homes."""
    draws = np.random.default_rng(seed)
    nodes, count = int(draws.integers(1, 4)), int(draws.integers(1, 7))
    problem: dict[str, Any] = {
        "sizes": draws.integers(0, 9, count).tolist(),
        "owner": draws.integers(0, nodes, count).tolist(),
        "nodes": nodes,
        "movable": (draws.random(count) < 0.85).tolist(),
        "memory": draws.integers(0, 5, count).tolist(),
        "working": draws.integers(0, 9, count).tolist(),
        "block": draws.integers(-1, 3, count).tolist(),
        "blocks": [4, 6, 3],
        "home": draws.integers(-1, nodes, 3).tolist(),
        "memory_limit": [int(draws.integers(12, 40))] * nodes,
    }
    if draws.random() < 0.3:
        problem["weights"] = draws.choice([1, 2, 0.5], nodes).tolist()
    return problem


@pytest.mark.parametrize("seed", range(40))
def test_messages_and_homes_count_as_load(seed: int) -> None:
    problem = coupled(seed)
    draws = np.random.default_rng(seed)
    count = len(problem["sizes"])
    edges = [(int(a), int(b), int(c)) for a, b, c in draws.integers(0, [count, count, 9], (6, 3))]
    price, home_price = ("1/4", "1/3") if seed % 2 else (0.1, 0)
    twin = oracle.Problem(**problem, edges=edges)
    twin.price, twin.home_price = Fraction(str(price)), Fraction(str(home_price))
    a = solved(problem, edges=edges, price=price, home_price=home_price)
    best = oracle.best(twin)
    if best is None:
        assert a.status == "infeasible"
        return
    oracle.check(twin, a)
    assert a.verify()
    assert a.status == "optimal"
    assert a.largest == pytest.approx(float(best), rel=1e-12)


@pytest.mark.parametrize("price", [0.1, 1e-9, 7, "1/3"])
@pytest.mark.parametrize("seed", range(6))
def test_sizes_of_many_digits_beside_priced_messages(seed: int, price: Any) -> None:
    """Both share the units of the kernels, whichever of the two is larger."""
    draws = np.random.default_rng(seed)
    sizes = draws.lognormal(0, 3, 6)
    edges = [(int(a), int(b), float(c)) for a, b, c in draws.uniform(0, 6, (5, 3))]
    twin = oracle.Problem(sizes.tolist(), [0] * 6, 3, edges=edges, price=Fraction(str(price)))
    a = lb.assign_tasks(sizes, [0] * 6, 3, edges=edges, price=price)
    oracle.check(twin, a)
    assert a.verify()
    assert a.largest == pytest.approx(float(oracle.best(twin) or 0), rel=1e-12)
    many = draws.lognormal(0, 3, 200)
    pairs = draws.integers(0, 200, (2, 400))
    b = lb.assign_tasks(many, [0] * 200, 4, edges=(*pairs, draws.random(400)), price=price)
    assert b.verify() and b.largest < b.initial_largest


# The tasks of an example of the CCM papers: loads, ranks, blocks of 9 bytes, messages.
BLOCKS: dict[str, Any] = {
    "sizes": [1.0, 0.5, 0.5, 0.5, 0.5, 2.0, 1.0, 0.5, 1.5],
    "owner": [0, 0, 0, 0, 1, 1, 1, 1, 2],
    "nodes": 4,
}
BLOCK = [0, 0, 1, 1, 2, 2, 3, 3, 4]
HOME = [0, 0, 1, 1, 2]
MESSAGES = [
    (0, 5, 2.0), (1, 4, 1.0), (3, 2, 1.0), (3, 8, 0.5),
    (4, 1, 2.0), (5, 8, 2.0), (7, 6, 1.0), (8, 6, 1.5),
]  # fmt: skip
BYTES = dict.fromkeys(range(5), 9)
MEMORY = lb.TaskMemory(block=BLOCK, block_bytes=BYTES)


def clustered() -> dict[str, Any]:
    """Return the same with one task for all those of a block, which then go together."""
    sizes = [
        sum(s for s, b in zip(BLOCKS["sizes"], BLOCK, strict=True) if b == k) for k in range(5)
    ]
    return {"sizes": sizes, "owner": HOME, "nodes": 4}


def at_home(price: float) -> dict[str, Any]:
    memory = lb.TaskMemory(block=range(5), block_bytes=BYTES, block_home=dict(enumerate(HOME)))
    return {"memory": memory, "home_price": price}


@pytest.mark.parametrize(
    ("problem", "options", "optimum"),
    [
        (BLOCKS, {}, 2.0),
        (clustered(), {}, 2.5),
        # Two ranks of a node share 36 bytes: with 18 each it holds as well.
        (
            BLOCKS,
            {"memory": MEMORY, "memory_limit": 18},
            2.0,
        ),
        (BLOCKS, {"edges": MESSAGES, "price": 0}, 2.0),
        (BLOCKS, {"edges": MESSAGES, "price": 1}, 4.0),
        ({**clustered(), "sizes": [0.0] * 5}, {}, 0.0),
        ({**BLOCKS, "sizes": [0.0] * 9}, {"edges": MESSAGES, "price": 1}, 0.0),
        (clustered(), at_home(0.1), 2.5),
        (clustered(), at_home(0.3), 4.0),
        # Rank 0 is a hundred times slower.
        (BLOCKS, {"weights": [0.01, 1, 1, 1]}, 3.0),
    ],
)
def test_the_optima_of_the_ccm_examples(
    problem: dict[str, Any], options: dict[str, Any], optimum: float
) -> None:
    a = lb.assign_tasks(*problem.values(), **options)
    assert a.verify()
    assert (a.largest, a.status) == (optimum, "optimal")


def test_memory_of_a_start_is_repaired() -> None:
    # Nothing fits singly: both tasks of the block must go together.
    memory = lb.TaskMemory(
        own=[1, 1, 1, 4], block=["a", "a", "b", None], block_bytes={"a": 8, "b": 8}
    )
    a = lb.assign_tasks([1, 1, 1, 1], [0, 0, 0, 1], 2, memory=memory, memory_limit=14)
    assert a.verify()
    assert a.over_memory == []
    assert a.status == "optimal"


def test_many_tasks_keep_their_limits() -> None:
    draws = np.random.default_rng(4)
    T, N = 400, 8
    block = draws.integers(0, 60, T)
    memory = lb.TaskMemory(
        own=draws.integers(1, 5, T), block=block, block_bytes=dict.fromkeys(range(60), 50)
    )
    sizes = draws.integers(1, 100, T)
    a = lb.assign_tasks(sizes, block % N, N, memory=memory, memory_limit=700)
    assert a.verify()
    assert a.over_memory == []
    assert a.gap < 0.02
    assert a.largest < a.initial_largest


OF_9, OF_51 = np.full(400, 9), np.full(16, 51)


@pytest.mark.parametrize(
    ("memory", "limit", "movable", "status"),
    [
        # One task is above any limit: alone, with its block, or while it runs.
        (np.append(OF_9, 2000), 1999, None, "infeasible"),
        (np.append(OF_9, 2000), [1999] * 9 + [2000], None, "feasible"),
        (lb.TaskMemory(9, block=[None] * 400 + ["a"], block_bytes={"a": 1990}), 1998, None,
         "infeasible"),
        (lb.TaskMemory(9, working=np.append(OF_9, 1990)), 1998, None, "infeasible"),
        (lb.TaskMemory(np.append(OF_9, 1000), node=1000), 1999, None, "infeasible"),
        # It may not leave a node that is too small for it.
        (np.append(OF_9, 2000), [1999] * 9 + [2000], np.arange(401) < 400, "infeasible"),
        # All tasks are too much for all nodes.
        (np.append(OF_9, 9), 360, None, "infeasible"),
        # There are 16 nodes too few, which is not proven.
        (OF_51, 101, None, "stuck"),
    ],
)  # fmt: skip
def test_what_no_assignment_can_keep_is_infeasible(
    memory: Any, limit: Any, movable: Any, status: str
) -> None:
    T = 16 if memory is OF_51 else 401
    a = lb.assign_tasks(
        np.ones(T), np.zeros(T, int), 10, memory=memory, memory_limit=limit, movable=movable
    )
    assert a.verify()
    assert a.status == status
    assert bool(a.over_memory) == (status != "feasible")
