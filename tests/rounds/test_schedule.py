"""Rounds against a plain validator, first fit and the true least number, on random multigraphs."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests.oracles import rounds as oracle

ROOT = Path(__file__).resolve().parents[2]
# Limits under which the number of rounds equals its bound on every multigraph.
EXACT: list[dict[str, Any]] = [
    {"per_node": 2},
    {"per_node": 4},
    {"send": 1, "receive": 1},
    {"send": 3, "receive": 2},
    {"send": 1},
    {"receive": 2},
    {"per_link": 1},
    {"send": 2, "per_link": 1},
    {"send": 2, "receive": 3, "per_link": 1},
    {"send": 4, "receive": 3, "per_link": 2},
    {"per_node": 2, "send": 1, "receive": 1},
]
OTHER: list[dict[str, Any]] = [
    {"per_node": 1},
    {"per_node": 3},
    {"per_node": 3, "send": 2},
    {"per_node": 2, "per_link": 1},
    {"per_node": 4, "send": 3, "per_link": 2},
    {"per_node": 5, "send": 3, "receive": 4, "per_link": 2},
]


def checked(src: Any, dst: Any, *, amount: Any = None, **limits: Any) -> lb.Rounds:
    """Schedule transfers and hold the result against the validator."""
    rounds = lb.schedule(src, dst, amount=amount, **limits)
    transfers = list(zip(map(int, src), map(int, dst), strict=True))
    as_numbers = {
        name: dict(enumerate(map(int, limit))) if np.ndim(limit) else limit
        for name, limit in limits.items()
    }
    assert rounds.verify()
    assert not oracle.broken(transfers, rounds.round.tolist(), as_numbers)
    assert rounds.bound == oracle.bound(transfers, as_numbers)
    assert rounds.count == max(rounds.round.tolist(), default=-1) + 1 >= rounds.bound
    assert rounds.gap == (rounds.count / rounds.bound - 1 if transfers else 0)
    if oracle.two_sided(transfers) and set(limits) <= {"per_node", "per_link"}:
        assert rounds.gap == 0
    return rounds


def multigraphs(seed: int, count: int, most: int = 60) -> Iterator[tuple[Any, Any]]:
    """Yield random multigraphs of many kinds: sparse, dense, of hubs, of few links."""
    draws = np.random.default_rng(seed)
    for _ in range(count):
        n = int(draws.integers(2, 12))
        T = int(draws.integers(1, most))
        weight = draws.random(n) ** draws.choice([0.2, 1, 4])
        src = draws.choice(n, T, p=weight / weight.sum())
        dst = (src + draws.integers(1, draws.integers(1, n) + 1, T)) % n
        yield src[src != dst], dst[src != dst]


@pytest.mark.slow
@pytest.mark.parametrize("limits", EXACT, ids=str)
def test_the_bound_is_reached_on_every_multigraph(limits: dict[str, Any], full: bool) -> None:
    for src, dst in multigraphs(1, 10_000 if full else 150):
        assert checked(src, dst, **limits).gap == 0


@pytest.mark.slow
@pytest.mark.parametrize("limits", OTHER, ids=str)
def test_the_gap_is_what_it_says(limits: dict[str, Any], full: bool) -> None:
    for src, dst in multigraphs(2, 10_000 if full else 100):
        rounds = checked(src, dst, **limits)
        transfers = list(zip(src.tolist(), dst.tolist(), strict=True))
        groups = max(len(oracle.groups(transfer, limits)) for transfer in transfers)
        assert rounds.count <= groups * (rounds.bound - 1) + 1


@pytest.mark.slow
@pytest.mark.parametrize("limits", OTHER[:3], ids=str)
def test_small_multigraphs_beside_the_least_number_of_rounds(
    limits: dict[str, Any], full: bool
) -> None:
    more = 0
    for src, dst in multigraphs(3, 5000 if full else 200, most=11):
        transfers = list(zip(src.tolist(), dst.tolist(), strict=True))
        least = oracle.least(transfers, limits)
        count = checked(src, dst, **limits).count
        assert least <= count <= least + 1
        more += count > least
    assert more <= (50 if full else 2)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any, Any, dict[str, Any]]:
    n = draw(st.integers(2, 9))
    node = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(node, node).filter(lambda pair: pair[0] != pair[1])))
    src, dst = [u for u, _ in pairs], [v for _, v in pairs]
    amounts = st.lists(st.integers(0, 9), min_size=len(src), max_size=len(src))
    limit = st.integers(1, 5) | st.lists(st.integers(1, 5), min_size=n, max_size=n)
    of_nodes = draw(st.dictionaries(st.sampled_from(["per_node", "send", "receive"]), limit))
    of_links = draw(st.dictionaries(st.just("per_link"), st.integers(1, 3)))
    return src, dst, draw(st.none() | amounts), {**of_nodes, **of_links}


@given(problems())
def test_any_limits(problem: tuple[Any, Any, Any, dict[str, Any]]) -> None:
    src, dst, amount, limits = problem
    rounds = checked(src, dst, amount=amount, **limits)
    if "per_node" not in limits:
        assert rounds.gap == 0
    if set(limits) == {"per_node"} and not (np.array(limits["per_node"]) % 2).any():
        assert rounds.gap == 0


@given(problems())
def test_no_transfer_could_go_earlier(problem: tuple[Any, Any, Any, dict[str, Any]]) -> None:
    src, dst, amount, limits = problem
    rounds = lb.schedule(src, dst, amount=amount, **limits).round.tolist()
    as_numbers = {
        name: dict(enumerate(limit)) if isinstance(limit, list) else limit
        for name, limit in limits.items()
    }
    transfers = list(zip(src, dst, strict=True))
    for e, number in enumerate(rounds):
        for earlier in range(number):
            moved = [*rounds[:e], earlier, *rounds[e + 1 :]]
            assert set(oracle.broken(transfers, moved, as_numbers)) - {"empty rounds"}
    if amount is not None:
        pairs = [(e, f) for e in range(len(src)) for f in range(e)]
        for e, f in pairs:
            if transfers[e] == transfers[f] and amount[e] > amount[f]:
                assert rounds[e] <= rounds[f]


def test_amounts_change_no_number_of_rounds() -> None:
    draws = np.random.default_rng(4)
    means = []
    for src, dst in multigraphs(4, 100):
        amount = draws.integers(0, 100, len(src))
        plain = lb.schedule(src, dst, per_node=2)
        weighed = lb.schedule(src, dst, amount=amount, per_node=2)
        assert weighed.count == plain.count == plain.bound
        heavy = amount > 50
        if weighed.count > 1 and heavy.any() and not heavy.all():
            means.append((weighed.round[heavy].mean(), weighed.round[~heavy].mean()))
    assert sum(first < second for first, second in means) > 0.9 * len(means) > 50


def test_first_fit_alone_where_it_reaches_the_bound() -> None:
    agreed = 0
    for src, dst in multigraphs(5, 200):
        amount = np.arange(len(src))[::-1]
        transfers = list(zip(src.tolist(), dst.tolist(), strict=True))
        expected = oracle.first_fit(transfers, {"per_node": 1})
        rounds = lb.schedule(src, dst, amount=amount, per_node=1)
        if max(expected) + 1 == rounds.bound:
            assert rounds.round.tolist() == expected
            agreed += 1
    assert agreed > 20


def test_known_answers() -> None:
    triangle = [0, 1, 2], [1, 2, 0]
    assert (checked(*triangle, per_node=1).count, checked(*triangle, per_node=1).bound) == (3, 2)
    assert checked(*triangle, per_node=2).count == 1
    assert checked(*triangle, send=1, receive=1).count == 1
    thrice = np.tile(triangle[0], 3), np.tile(triangle[1], 3)
    # A round holds four of nine transfers at most, though each node takes part in six of them.
    assert (checked(*thrice, per_node=3).count, checked(*thrice, per_node=3).bound) == (3, 2)
    assert checked(*thrice, per_node=2).gap == 0
    star = np.zeros(50, int), np.arange(1, 51)
    assert checked(*star, per_node=7).count == 8
    assert checked(*star, receive=1).count == 1
    assert checked(*star).count == 1
    for n in (5, 7, 9, 8):
        pairs = np.array([(u, v) for u in range(n) for v in range(u)])
        assert checked(*pairs.T, per_node=1).count <= n + 1


def test_each_node_has_its_own_limit() -> None:
    src, dst = [0, 0, 0, 0, 1, 1], [1, 2, 3, 4, 2, 3]
    rounds = checked(src, dst, per_node=[2, 1, 2, 2, 4])
    assert rounds.bound == 3
    assert rounds.gap == 0
    unused = lb.schedule([0, 0], [2, 2], per_node=[1, 0, 1])
    assert unused.count == 2


def test_large_node_numbers_are_as_good_as_small_ones() -> None:
    for src, dst in multigraphs(6, 30):
        names = np.random.default_rng(7).permutation(2**63 - 1 - np.arange(12))
        small = lb.schedule(src, dst, per_node=2)
        large = checked(names[src], names[dst], per_node=2)
        assert small.count == large.count


def test_tables_that_would_be_huge_are_joined() -> None:
    hub = 100_000
    far = np.arange(1, hub + 1)
    src = np.concatenate([np.zeros(hub, int), far[:-1:2]])
    dst = np.concatenate([far, far[1::2]])
    rounds = lb.schedule(src, dst, per_node=1)
    assert rounds.verify()
    assert (rounds.count, rounds.bound) == (hub, hub)
    assert lb.schedule(src, dst, send=1, receive=1).gap == 0
    assert lb.schedule(src, dst, per_node=2).gap == 0


@pytest.mark.parametrize(
    "limits", [{"per_node": 2}, {"per_node": 1}, {"send": 2, "receive": 1}], ids=str
)
def test_many_transfers(limits: dict[str, Any]) -> None:
    draws = np.random.default_rng(8)
    src = draws.integers(0, 1000, 30_000)
    dst = (src + draws.integers(1, 1000, 30_000)) % 1000
    rounds = lb.schedule(src, dst, amount=draws.integers(0, 10**9, 30_000), **limits)
    assert rounds.verify()
    assert rounds.count == rounds.bound


def test_regular_multigraphs_leave_no_slack() -> None:
    draws = np.random.default_rng(9)
    for R in (1, 2, 3, 64, 65):
        permutations = [draws.permutation(40) for _ in range(R)]
        src = np.tile(np.arange(40), R)
        dst = 40 + np.concatenate(permutations)
        order = draws.permutation(len(src))
        for limits in ({"send": 1, "receive": 1}, {"per_node": 1}, {"per_node": 2}):
            assert checked(src[order], dst[order], **limits).gap == 0


@pytest.mark.parametrize("kind", [int, float, Fraction, str])
def test_amounts_of_any_kind(kind: Any) -> None:
    amount = [kind(x) for x in (1, 3, 2)]
    rounds = lb.schedule([0, 0, 0], [1, 2, 3], amount=amount, send=1)
    assert rounds.round.tolist() == [2, 0, 1]


def test_amounts_beyond_int64() -> None:
    rounds = lb.schedule([0, 0], [1, 2], amount=[2**80, 2**80 + 1], send=1)
    assert rounds.round.tolist() == [1, 0]
    huge = lb.schedule([0, 0], [1, 2], amount=np.array([2**63, 2**63 + 1], np.uint64), send=1)
    assert huge.round.tolist() == [1, 0]


def test_a_result_goes_through_its_rounds() -> None:
    rounds = lb.schedule([0, 0, 1], [1, 2, 2], amount=[1, 2, 3], per_node=1)
    assert [part.tolist() for part in rounds] == [
        np.flatnonzero(rounds.round == c).tolist() for c in range(rounds.count)
    ]
    assert len(rounds) == rounds.count
    assert rounds.to_dict()["amount"] == [1, 2, 3]
    assert "per_node=1" in repr(rounds)
    assert "bound" in rounds._repr_html_()
    with pytest.raises(ValueError, match="read-only"):
        rounds.round[0] = 7


def test_nothing_to_transfer() -> None:
    rounds = lb.schedule([], [], amount=[], per_node=1, send=2, receive=[1], per_link=3)
    assert (rounds.count, rounds.bound, rounds.gap, list(rounds)) == (0, 0, 0.0, [])
    assert rounds.verify()


def test_the_input_stays_as_it_is() -> None:
    src, dst, amount = np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([3, 1, 2])
    limit = np.array([1, 1, 1])
    rounds = lb.schedule(src, dst, amount=amount, per_node=limit)
    src[:], amount[:], limit[:] = 7, 9, 9
    assert rounds.src.tolist() == [0, 1, 2]
    assert rounds.verify()


@pytest.mark.parametrize("damage", ["round", "bound", "count"])
def test_wrong_rounds_are_seen(damage: str) -> None:
    from dataclasses import replace

    rounds = lb.schedule([0, 0, 1], [1, 2, 2], per_node=1)
    wrong: dict[str, Any] = {"round": np.array([0, 0, 1]), "bound": 1, "count": 4}
    if damage == "round":
        wrong["count"] = 2
    with pytest.raises(ValueError, match="does not hold"):
        replace(rounds, **{damage: wrong[damage]}).verify()


DIGEST = """
import hashlib
import numpy as np
import fastlb as lb
from tests.rounds.test_schedule import digest
print(digest())
"""


def digest() -> str:
    """Return a hash of many results."""
    result = hashlib.sha256()
    for k, (src, dst) in enumerate(multigraphs(11, 40)):
        for limits in (*EXACT, *OTHER):
            amount = None if k % 2 else (src * 7 + dst * 5) % 11
            rounds = lb.schedule(src, dst, amount=amount, **limits).round
            result.update(rounds.astype("<i8").tobytes())
    plan = lb.minimax_flow(lb.Mesh(5, 5).network(), lb.excess_load(np.arange(25) ** 2))
    balance = lb.dde(np.arange(25) ** 2, lb.Chain(25), record="flows")
    for source in (plan, balance):
        result.update(lb.schedule(source, per_node=1).round.astype("<i8").tobytes())
    return result.hexdigest()


def test_the_same_rounds_without_compilation() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIGEST],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, digest()), done.stderr


def regular(n: int, degree: int, seed: int) -> tuple[Any, Any]:
    """Return transfers of which each of n nodes sends ``degree``, and n others receive as many."""
    draws = np.random.default_rng(seed)
    dst = n + np.concatenate([draws.permutation(n) for _ in range(degree)])
    order = draws.permutation(n * degree)
    return np.tile(np.arange(n), degree)[order], dst[order]


@pytest.mark.parametrize("limits", [(1, 1), (2, 2), (3, 1), (2, 5)])
@pytest.mark.parametrize(("n", "degree"), [(1, 6), (2, 7), (50, 3), (50, 12), (13, 65), (7, 130)])
def test_as_many_transfers_at_each_node(n: int, degree: int, limits: tuple[int, int]) -> None:
    send, receive = limits
    src, dst = regular(n, degree, seed=degree)
    # All places are used, or all but one.
    for count in (len(src), len(src) - 1):
        rounds = checked(src[:count], dst[:count], send=send, receive=receive)
        assert rounds.gap == 0
    amount = np.random.default_rng(6).integers(0, 100, len(src))
    rounds = checked(src, dst, amount=amount, send=send, receive=receive)
    assert rounds.gap == 0
