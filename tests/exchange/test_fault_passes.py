"""Passes exchange over the same links as the plan, and on every node in the same order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from fastlb.exchange.fault_passes import EXCHANGE, GROUPED, LEVEL, plan_passes
from fastlb.exchange.fault_schedule import EXCHANGE as PAIR
from fastlb.exchange.fault_schedule import Subcube
from tests.exchange.test_fault_plans import CHOICES, cubes


def reverse(node: int, n: int) -> int:
    return sum((node >> bit & 1) << (n - 1 - bit) for bit in range(n))


def partners(pairs: list[tuple[int, int]], size: int) -> list[list[int]]:
    """Those with whom each node exchanges, in order."""
    found: list[list[int]] = [[] for _ in range(size)]
    for u, v in pairs:
        found[u].append(v)
        found[v].append(u)
    return found


def pairs_of(rows: list[list[int]]) -> list[tuple[int, int]]:
    found = []
    for kind, base, others, *bits in rows:
        if kind == EXCHANGE:
            own = [bit for bit in bits if bit >= 0]
            group = Subcube(base, others | sum(1 << bit for bit in own))
            for bit in own:
                low = Subcube(base, group.free & ~(1 << bit)).nodes.tolist()
                found += [(u, u | 1 << bit) for u in low]
    return found


@given(cubes(extra=0), st.sampled_from(CHOICES), st.booleans(), st.booleans())
def test_the_same_exchanges(
    cube: lb.Hypercube, choice: tuple[str, str], in_positions: bool, singly: bool
) -> None:
    plan = lb.fault_plan(cube, order=choice[0], donor=choice[1])
    rows = plan_passes(plan, in_positions=in_positions, singly=singly).tolist()
    turned = in_positions and choice[0] == "lowest"
    found = [
        (reverse(u, cube.n), reverse(v, cube.n)) if turned else (u, v) for u, v in pairs_of(rows)
    ]
    expected = [(u, v) for kind, u, v in plan.pairs.tolist() if kind == PAIR]
    assert partners(found, cube.size) == partners(expected, cube.size)
    assert [row[1:4] for row in rows if row[0] == LEVEL] == [
        row[1:] for row in (plan.positions if in_positions else plan.program).tolist() if row[0] > 1
    ]
    if singly:
        assert all(row[4:] == [-1, -1] for row in rows)


def test_dimensions_that_all_parts_share_are_balanced_in_one_pass() -> None:
    whole = plan_passes(lb.fault_plan(lb.Hypercube(6)), in_positions=False)
    assert whole.tolist() == [[EXCHANGE, 0, 56, 0, 1, 2], [EXCHANGE, 0, 7, 3, 4, 5]]
    # Split along bit 0; then both halves, one of them stuck only later, go on with bit 1.
    split = lb.fault_plan(lb.Hypercube(4, faults=[(0, 8)]))
    assert plan_passes(split, in_positions=False).tolist()[0] == [EXCHANGE, 0, 8, 0, 1, 2]
    assert GROUPED == 3


def test_blocks_of_large_subcubes() -> None:
    """Bits inside a block come together, before the others or after them."""
    cube = lb.Hypercube(10)
    lowest = plan_passes(lb.fault_plan(cube), in_positions=False).tolist()
    highest = plan_passes(lb.fault_plan(cube, order="highest"), in_positions=False).tolist()
    assert lowest[-1] == [EXCHANGE, 0, 255, 8, 9, -1]
    assert highest[0] == [EXCHANGE, 0, 255, 9, 8, -1]
    assert [row[1] for row in lowest[:-1]] == list(np.repeat([0, 256, 512, 768], 3))


def test_they_are_made_once() -> None:
    plan = lb.fault_plan(lb.Hypercube(5, faults=[(0, 1), (3, 7)]))
    passes = plan_passes(plan, in_positions=True)
    assert plan_passes(plan, in_positions=True) is passes
    assert not passes.flags.writeable
    assert plan_passes(lb.fault_plan(lb.Hypercube(0)), in_positions=True).shape == (0, 6)
