"""Plans: equal to the twin's, made from the faults alone, and refused where there is none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from fastlb.exchange.fault_schedule import (
    EXCHANGE,
    REGISTER,
    REPAIR,
    REPAY,
    SHIFT,
    SPLIT,
    WHOLE,
    Subcube,
)
from tests.oracles import fault_tolerant_dem as twin
from tests.oracles import topology

CHOICES = [(order, donor) for order in ("lowest", "highest") for donor in ("latest", "earliest")]


@st.composite
def cubes(draw: st.DrawFn, most: int = 6, extra: int = 4) -> lb.Hypercube:
    """Cubes with up to n - 1 + extra faults."""
    n = draw(st.integers(0, most))
    links = topology.hypercube_links(n)
    some = st.lists(st.sampled_from(links), max_size=n - 1 + extra, unique=True)
    return lb.Hypercube(n, faults=draw(some) if links else [])


@given(cubes(), st.sampled_from(CHOICES))
def test_equal_to_the_twin(cube: lb.Hypercube, choice: tuple[str, str]) -> None:
    try:
        expected = twin.plan(cube.n, cube.faults, *choice)
    except twin.NoPlan:
        assert len(cube.faults) >= cube.n
        with pytest.raises(lb.FaultError, match="leave no plan"):
            lb.fault_plan(cube, order=choice[0], donor=choice[1])
        return
    plan = lb.fault_plan(cube, order=choice[0], donor=choice[1])
    assert [s.nodes.tolist() for s in plan.stuck] == [s.nodes for s in expected.stuck]
    assert [r.bit for r in plan.repairs] == expected.donors
    splits = {(s.base, s.free): bit for s, bit in expected.splits}
    for split in plan.splits:
        assert splits[split.subcube.base, split.subcube.bits] == split.bit
    for r in plan.repairs:
        assert r.donor.nodes.tolist() == (r.stuck.nodes ^ 1 << r.bit).tolist()


@given(cubes(extra=0), st.sampled_from(CHOICES))
def test_every_node_is_in_one_part(cube: lb.Hypercube, choice: tuple[str, str]) -> None:
    plan = lb.fault_plan(cube, order=choice[0], donor=choice[1])
    nodes = [node for part in plan.whole + plan.stuck for node in part.nodes]
    assert sorted(nodes) == list(range(cube.size))
    kinds = plan.program[:, 0].tolist()
    assert kinds.count(SPLIT) == len(plan.splits)
    assert kinds.count(WHOLE) == len(plan.whole)
    assert kinds.count(REPAIR) == len(plan.repairs)


@given(cubes(extra=2), st.sampled_from(CHOICES), st.integers(0, 2**32))
def test_pairs_are_the_plan_node_by_node(
    cube: lb.Hypercube, choice: tuple[str, str], seed: int
) -> None:
    try:
        plan = lb.fault_plan(cube, order=choice[0], donor=choice[1])
    except lb.FaultError:
        return
    loads = np.random.default_rng(seed).integers(0, 30, cube.size).tolist()
    expected = twin.fault_tolerant_dem(loads, cube.faults, *choice)
    pegs, holes = {}, {}
    moved = 0
    for kind, u, v in plan.pairs.tolist():
        assert (min(u, v), max(u, v)) not in cube.faults
        if kind == EXCHANGE:
            amount = int((loads[u] - loads[v]) / 2)
        elif kind == REGISTER:
            pegs[v] = loads[u] - loads[v]
            holes[v] = max(0, -pegs[v])
            amount = max(0, pegs[v])
        elif kind == SHIFT:
            amount = int((pegs[u] - pegs[v]) / 2)
            amount = max(-(loads[v] - holes[v]), min(amount, loads[u] - holes[u]))
            pegs[u] -= amount
            pegs[v] += amount
        else:
            assert kind == REPAY
            amount = -holes[v]
        loads[u] -= amount
        loads[v] += amount
        moved += abs(amount)
    assert loads == expected.loads
    assert moved == expected.moved


def test_the_work_is_that_of_the_faults() -> None:
    far = lb.Hypercube(62, faults=[(0, 1 << bit) for bit in range(61)])
    plan = lb.fault_plan(far)
    assert len(plan.program) < 62 * 62
    assert lb.fault_plan(lb.Hypercube(62)).whole == (Subcube(0, 2**62 - 1),)
    assert lb.fault_plan(lb.Hypercube(62)).program.shape == (1, 4)


def test_a_plan_is_made_once_and_is_frozen() -> None:
    cube = lb.Hypercube(3, faults=[(0, 4), (5, 7)])
    plan = lb.fault_plan(cube)
    assert lb.fault_plan(lb.Hypercube(3, faults=[(7, 5), (4, 0)])) is plan
    assert plan != lb.fault_plan(cube, order="highest")
    assert plan != 3
    assert hash(plan) == hash(lb.fault_plan(cube))
    with pytest.raises(AttributeError):
        plan.order = "highest"
    for array in (plan.program, plan.positions):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 7
    assert plan.apply([3, 9, 2, 8, 1, 7, 0, 30]).loads.tolist() == [7, 7, 7, 8, 8, 7, 8, 8]


def test_the_error_names_the_nodes_and_the_reason() -> None:
    with pytest.raises(lb.FaultError, match=r"nodes \{0, 1\} .* never split"):
        lb.fault_plan(lb.Hypercube(1, faults=[(0, 1)]))
    cut_off = lb.Hypercube(3, faults=[(0, 1), (0, 2), (0, 4)])
    with pytest.raises(lb.FaultError, match=r"nodes \{0, 1, 2, 3, \.\.\} have a faulty link"):
        lb.fault_plan(cut_off)
    many = [(u, u ^ 1 << bit) for bit in range(6) for u in range(8)]
    with pytest.raises(lb.FaultError, match=r"every neighbour|never split") as caught:
        lb.fault_plan(lb.Hypercube(6, faults=many))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("kind", "argument", "options"),
    [
        (ValueError, "order", {"order": "low"}),
        (ValueError, "order", {"order": None}),
        (ValueError, "donor", {"donor": "last"}),
        (ValueError, "donor", {"donor": 1}),
    ],
)
def test_bad_choices(kind: type[Exception], argument: str, options: dict[str, object]) -> None:
    with pytest.raises(kind, match=argument):
        lb.fault_plan(lb.Hypercube(3), **options)


@pytest.mark.parametrize("topology", [None, 3, lb.Chain(8), lb.Hypercube])
def test_only_hypercubes(topology: object) -> None:
    with pytest.raises(TypeError, match=r"^topology must be a (Hypercube|Topology)") as caught:
        lb.fault_plan(topology)
    assert "fault_tolerant_dem" not in str(caught.value)


@pytest.mark.parametrize("n", [2, 3])
def test_at_most_n_minus_1_faults_leave_a_plan(n: int) -> None:
    for count in range(n):
        for faults in itertools.combinations(topology.hypercube_links(n), count):
            for order, donor in CHOICES:
                lb.fault_plan(lb.Hypercube(n, faults=faults), order=order, donor=donor)
