"""route_entities against the cases, exhaustive optima and perfect packings."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb
from tests.test_minimax_oracle import cases


@pytest.mark.parametrize(("case", "out"), cases("s002_odfs"))
def test_ordered_search_cases(case: dict[str, Any], out: dict[str, Any]) -> None:
    s, t = case["s"], case["t"]
    n = case["n"] - 2
    inner = [k for k, e in enumerate(case["edges"]) if e[0] != s and e[1] != t]
    template = [Fraction(case["template"][k]) for k in inner]
    room = [Fraction(0)] * n
    targets = [Fraction(0)] * n
    door = {}
    for k, (u, v, c, *_) in enumerate(case["edges"]):
        if v == t and u != s:
            room[u] += Fraction(c)
            targets[u] = Fraction(case["template"][k])
            door[u] = k
    edges = [case["edges"][k] for k in inner]
    network = lb.Network(
        np.array([e[:2] for e in edges]).reshape(-1, 2),
        n=n,
        capacity=[e[2] for e in edges],
        traffic=[e[4] for e in edges],
    )
    r = lb.route_entities(
        network, case["entities"], room, method="odfs", template=[*template, *targets]
    )
    for path, expected in zip(r.paths, out["paths"], strict=True):
        if expected is None:
            assert path is None
        else:
            assert [inner[k] for k in path or []] == expected[:-1]
    assert r.eliminated == Fraction(out["eliminated"])
    assert r.contention == Fraction(out["contention"])
    assert [Fraction(f) for f in r.load.tolist()] == [Fraction(out["load"][k]) for k in inner]
    b = lb.route_entities(network, case["entities"], room, orders=20)
    best = out["optimum"]
    assert b.eliminated <= best["eliminated"]
    if b.eliminated == best["eliminated"]:
        assert b.bound <= best["contention"] <= b.contention
    lb.route_entities(network, case["entities"], room, method="odfs")
