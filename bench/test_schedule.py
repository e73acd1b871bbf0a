"""Rounds of transfers beside sorting them, and beside a maximum matching for every round."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import fastlb as lb

KINDS = {
    "random, per_node=1": {"per_node": 1},
    "random, per_node=2": {"per_node": 2},
    "random, send=1, receive=1": {"send": 1, "receive": 1},
    "hubs, send=2, receive=2": {"send": 2, "receive": 2},
    "regular, send=1, receive=1": {"send": 1, "receive": 1},
}


def transfers(kind, T, n):
    """Return (src, dst, amount): between random nodes, drawn to hubs, or as many at each node."""
    draws = np.random.default_rng(5)
    if kind == "regular":
        src = np.tile(np.arange(n), T // n)
        dst = n + np.concatenate([draws.permutation(n) for _ in range(T // n)])
        order = draws.permutation(len(src))
        src, dst = src[order], dst[order]
    else:
        share = draws.random(n) ** (4 if kind == "hubs" else 0)
        src = draws.choice(n, T, p=share / share.sum())
        dst = (src + draws.integers(1, n, T)) % n
    return src, dst, draws.integers(1, 10**6, len(src))


@pytest.mark.parametrize("name", KINDS)
def test_rounds(race, quick, name):
    T, n = (2_000, 100) if quick else (100_000, 1_000)
    src, dst, amount = transfers(name.partition(",")[0], T, n)
    limits = KINDS[name]
    rounds = lb.schedule(src, dst, amount=amount, **limits)
    assert rounds.verify()
    assert rounds.gap == 0
    race(
        f"rounds of {T:,} transfers: {name}",
        lambda: lb.schedule(src, dst, amount=amount, **limits).count,
        {},
        nodes=T,
        yardsticks={"np.argsort": lambda: np.argsort(amount)},
        targets={"np.argsort": 15},
    )


def matched(src, dst, n):
    """Return the number of rounds, each a maximum matching of the transfers that remain."""
    remaining = csr_array((np.ones(len(src), int), (src, dst - n)), shape=(n, n))
    count = 0
    while remaining.nnz:
        partner = maximum_bipartite_matching(remaining, perm_type="column")
        rows = np.flatnonzero(partner >= 0)
        one = csr_array((np.ones(len(rows), int), (rows, partner[rows])), shape=(n, n))
        remaining = remaining - one
        remaining.eliminate_zeros()
        count += 1
    return count


def test_matchings(race, quick):
    T, n = (2_000, 100) if quick else (20_000, 500)
    src, dst, _ = transfers("regular", T, n)
    race(
        f"rounds of {T:,} transfers, as many at each node",
        lambda: lb.schedule(src, dst, send=1, receive=1).count,
        {"scipy matchings": lambda: matched(src, dst, n)},
        nodes=T,
        targets={"scipy matchings": 10},
    )
