"""Whole tasks to any node: limits, figures and bounds, by the plain twin."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests.oracles import tasks as oracle

SIZES = st.one_of(
    st.integers(0, 20),
    st.sampled_from([0.5, 1.25, 3.0, 0.1, 7.3, 1e-9, 1e9]),
    st.floats(0, 100, allow_subnormal=False),
)


@st.composite
def problems(draw: st.DrawFn, most_tasks: int = 7, most_nodes: int = 3) -> dict[str, Any]:
    """Draw few tasks on few nodes, some of them pinned, with speeds or not."""
    nodes = draw(st.integers(1, most_nodes))
    count = draw(st.integers(0, most_tasks))
    kind = draw(st.sampled_from([SIZES, st.integers(0, 9), st.integers(0, 2**40)]))
    sizes = draw(st.lists(kind, min_size=count, max_size=count))
    if any(isinstance(size, float) for size in sizes):
        sizes = [float(size) for size in sizes]
    owner = draw(st.lists(st.integers(0, nodes - 1), min_size=count, max_size=count))
    movable = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    weights = None
    if draw(st.booleans()):
        weight = st.sampled_from([1, 2, 3, 0.5, 0.1])
        weights = draw(st.lists(weight, min_size=nodes, max_size=nodes))
    return {
        "sizes": sizes,
        "owner": owner,
        "nodes": nodes,
        "movable": movable,
        "weights": weights,
    }


def assigned(problem: dict[str, Any], **options: Any) -> lb.Assignment:
    sizes = np.array(problem["sizes"]) if problem["sizes"] else np.zeros(0, np.int64)
    named = {name: problem[name] for name in ("movable", "weights")}
    return lb.assign_tasks(sizes, problem["owner"], problem["nodes"], **named, **options)


@given(problems())
def test_few_tasks_reach_the_optimum(problem: dict[str, Any]) -> None:
    twin = oracle.Problem(**problem)
    a = assigned(problem)
    oracle.check(twin, a)
    assert a.verify()
    assert a.status == "optimal"
    best = oracle.best(twin)
    assert best is not None
    # Floats are rounded to 2**-60 of their total.
    assert a.largest == pytest.approx(float(best), rel=1e-12, abs=1e-300)
    if a.loads.dtype.kind == "i" and problem["weights"] is None:
        assert a.largest == best
    assert a.bound == pytest.approx(float(oracle.bound(twin)), rel=1e-15)


@given(problems(most_tasks=40, most_nodes=9), st.sampled_from([0, 0.03, 0.5]))
def test_many_tasks_are_assigned_within_their_limits(problem: dict[str, Any], slack: float) -> None:
    twin = oracle.Problem(**problem)
    a = assigned(problem, slack=slack)
    oracle.check(twin, a)
    assert a.verify()
    assert a.bound == pytest.approx(float(oracle.bound(twin)), rel=1e-15)
    assert a.largest <= max(a.initial_largest, a.bound * (1 + slack)) * (1 + 1e-12)
    if a.initial_largest <= a.bound * (1 + slack):
        assert a.moves == []
        assert (a.owner == a.initial_owner).all()


@given(problems(most_tasks=12, most_nodes=4), st.integers(0, 6))
def test_no_more_tasks_move_than_allowed(problem: dict[str, Any], most: int) -> None:
    twin = oracle.Problem(**problem, max_moves=most)
    a = assigned(problem, max_moves=most)
    oracle.check(twin, a)
    assert len(a.moves) <= most


@given(problems(most_tasks=6))
def test_few_moves_are_the_best_few(problem: dict[str, Any]) -> None:
    twin = oracle.Problem(**problem, max_moves=2)
    a = assigned(problem, max_moves=2)
    assert a.status == "optimal"
    assert a.largest == pytest.approx(float(oracle.best(twin)), rel=1e-12, abs=1e-300)


@given(problems(most_tasks=7, most_nodes=4))
def test_nodes_of_weight_0_are_evacuated(problem: dict[str, Any]) -> None:
    weights = [2, *(w % 2 for w in range(problem["nodes"] - 1))]
    movable = [
        free or weights[node] == 0
        for free, node in zip(problem["movable"], problem["owner"], strict=True)
    ]
    problem |= {"weights": weights, "movable": movable}
    twin = oracle.Problem(**problem)
    a = assigned(problem)
    assert a.verify()
    assert all(weights[node] for node in a.owner)
    assert a.largest == pytest.approx(float(oracle.best(twin)), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("scale", [1, 2**40, 0.1, 2.0**-1000])
def test_a_thousand_equal_tasks_are_shared_to_the_unit(scale: float) -> None:
    a = lb.assign_tasks(np.full(1000, 1) * scale, np.zeros(1000, int), 7)
    counts = np.bincount(a.owner, minlength=7)
    assert counts.max() - counts.min() == 1
    assert a.status == "optimal"
    assert a.gap == 0
    assert len(a.moves) == 857


def test_only_the_excess_moves() -> None:
    draws = np.random.default_rng(1)
    sizes = draws.integers(1, 1000, 20_000)
    owner = draws.integers(0, 64, 20_000) // 2
    a = lb.assign_tasks(sizes, owner, 64)
    assert a.verify()
    assert a.status == "optimal"
    assert a.excess <= a.moved <= 1.01 * a.excess


def test_floats_differ_from_the_mean_by_little() -> None:
    draws = np.random.default_rng(2)
    sizes = draws.pareto(2.5, 20_000) + 0.01
    a = lb.assign_tasks(sizes, draws.integers(0, 16, 20_000) // 2, 16)
    assert a.verify()
    assert a.gap < 1e-7
    assert a.moved <= 1.01 * a.excess


def test_the_bounds_are_what_they_are_for() -> None:
    # Mean; longest task; several of the longest; pinned load; longest on the emptiest.
    assert lb.assign_tasks([2, 2, 2], [0, 0, 0], 3).bound == 2
    assert lb.assign_tasks([9, 1, 1], [0, 0, 0], 3).bound == 9
    assert lb.assign_tasks([5, 5, 5, 5], [0, 0, 0, 0], 3).bound == 10
    assert lb.assign_tasks([9, 9, 1], [0, 0, 1], 3, movable=[0, 0, 1]).bound == 18
    a = lb.assign_tasks([4, 4, 6], [0, 1, 1], 2, movable=[0, 0, 1])
    assert (a.bound, a.largest, a.status) == (10, 10, "optimal")
    # Whole units: 10 on speeds 3 and 3 make 5 / 3, not 10 / 6.
    assert lb.assign_tasks([1] * 9, [0] * 9, 2, weights=[3, 3]).bound == pytest.approx(5 / 3)


def test_integers_of_any_length_stay_exact() -> None:
    sizes = [2**61 - 1, 2**60 + 1, 2**59]
    a = lb.assign_tasks(sizes, [0, 0, 0], 2)
    assert a.loads.tolist() in ([2**61 - 1, 2**60 + 2**59 + 1], [2**60 + 2**59 + 1, 2**61 - 1])
    assert a.largest == a.bound == 2**61 - 1
    assert a.moved == min(a.loads.tolist()[1], sum(sizes))
    with pytest.raises(OverflowError, match=r"sizes must have a total of at most 2\*\*62"):
        lb.assign_tasks([2**62, 1], [0, 0], 2)
    with pytest.raises(OverflowError, match="sizes must have a total that fits float64"):
        lb.assign_tasks([1.5e308, 1.5e308], [0, 0], 2)


def test_floats_of_all_magnitudes() -> None:
    a = lb.assign_tasks([1e300, 1e-300, 5e-324], [0, 0, 0], 2)
    assert a.verify()
    assert a.largest == 1e300
    assert a.status == "optimal"


def test_loads_are_rounded_once() -> None:
    sizes = [1e16, 1.0, 1.0, 1.0, 1.0, 1e16]
    a = lb.assign_tasks(sizes, [0, 0, 0, 0, 0, 1], 2, slack=1)
    assert a.loads.tolist() == [float(sum(map(Fraction, sizes[:5]))), 1e16]


def test_a_topology_makes_shortest_paths() -> None:
    a = lb.assign_tasks([1] * 8, [0] * 8, "ring:8")
    assert a.verify()
    assert sorted(len(move.path) - 1 for move in a.moves) == [1, 1, 2, 2, 3, 3, 4]
    assert a.hops == 16
    assert all(move.path[0] == 0 for move in a.moves)
    apart = lb.Network([(0, 1), (1, 0)], n=3)
    with pytest.raises(ValueError, match="nodes must be linked where tasks move"):
        lb.assign_tasks([1, 1, 1], [0, 0, 0], apart)


def test_batches_are_as_single_problems() -> None:
    draws = np.random.default_rng(3)
    sizes = draws.integers(0, 50, (2, 3, 30))
    owner = draws.integers(0, 4, (3, 30))
    batch = lb.assign_tasks(sizes, owner, 4, slack=0.01)
    assert batch.verify()
    assert (batch.shape, len(batch), batch.owner.shape, batch.loads.shape) == (
        (2, 3), 6, (2, 3, 30), (2, 3, 4),
    )  # fmt: skip
    for i in range(2):
        for j in range(3):
            single = lb.assign_tasks(sizes[i, j], owner[j], 4, slack=0.01)
            assert (batch.owner[i, j] == single.owner).all()
            assert batch.gap[i, j] == single.gap
            assert batch[3 * i + j].moves == single.moves
    none = lb.assign_tasks(np.zeros((0, 5)), np.zeros((0, 5), int), 2)
    assert none.owner.shape[0] == 0
    assert "none" in repr(none)


def test_edges_are_counted() -> None:
    edges = [(0, 1, 10), (1, 2, 5), (2, 2, 7)]
    a = lb.assign_tasks([1, 1, 2], [0, 0, 0], 2, edges=edges)
    assert a.remote_before == 0
    assert a.remote_after == 5
    columns = tuple(np.array(column) for column in zip(*edges, strict=True))
    assert lb.assign_tasks([1, 1, 2], [0, 0, 0], 2, edges=columns).remote_after == 5


def test_the_result_says_what_it_is() -> None:
    a = lb.assign_tasks([4, 3, 3, 2, 2], [0, 0, 0, 0, 0], 2, edges=[(0, 4, 8)])
    text = repr(a)
    assert "5 tasks on 2 nodes, optimal" in text
    assert "largest 14 -> 7" in text
    assert "remote 0 -> 8" in text
    html = a._repr_html_()
    assert "before" in html
    assert "optimal" in html
    facts = a.to_dict()
    assert facts["largest"] == 7
    assert facts["moves"][0]["path"] == [0, 1]
    assert facts["owner"] == a.owner.tolist()
    with pytest.raises(AttributeError):
        a.owner = a.owner
    with pytest.raises(ValueError, match="read-only"):
        a.owner[0] = 1


def test_weights_of_any_kind_are_exact() -> None:
    sizes, owner = [4, 4, 4, 3, 3], [0, 0, 0, 0, 0]
    expected = lb.assign_tasks(sizes, owner, 2, weights=[1, 2])
    for weights in ([0.1, 0.2], ["1/3", "2/3"], [Fraction(1, 7), Fraction(2, 7)]):
        a = lb.assign_tasks(sizes, owner, 2, weights=weights)
        assert a.owner.tolist() == expected.owner.tolist()
        assert a.gap == expected.gap
    assert expected.loads.tolist() == [6, 12]
