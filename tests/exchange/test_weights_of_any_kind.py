"""Weights of any kind in every function that takes them: as Fractions would have it, or refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fastlb as lb
from tests.oracles import weighted

LOADS = [17, 5, 0, 9]
TOTAL = sum(LOADS)
CHAIN, MESH, CUBE = lb.Chain(4), lb.Mesh(2, 2), lb.Hypercube(2)

Exact = list[Fraction]


def by_gde(weights: Any, exact: Exact) -> tuple[Any, Any]:
    b = lb.gde(LOADS, CHAIN, weights=weights)
    colours = [[(0, 1), (2, 3)], [(1, 2)]]
    return b.loads.tolist(), weighted.gde(LOADS, exact, colours, b.lam).loads


def by_tasks(weights: Any, exact: Exact) -> tuple[Any, Any]:
    """Tasks of one unit each: the largest load by weight is the least possible."""
    owner = np.repeat(np.arange(4), LOADS)
    loads = lb.assign_tasks([1] * TOTAL, owner, 4, weights=weights).loads.tolist()
    assert sum(loads) == TOTAL
    assert not any(load for load, weight in zip(loads, exact, strict=True) if not weight)

    def largest(loads: list[int]) -> Fraction:
        return max(load / weight for load, weight in zip(loads, exact, strict=True) if weight)

    return largest(loads), largest(weighted.quotas_by_time(TOTAL, exact))


def by_excess(weights: Any, exact: Exact) -> tuple[Any, Any]:
    """Units beyond the floors of the shares go to the largest remainders, then loads."""
    shares = weighted.shares(TOTAL, exact)
    floors = [share.numerator // share.denominator for share in shares]
    order = sorted(range(4), key=lambda i: (floors[i] - shares[i], -LOADS[i], i))
    for i in order[: TOTAL - sum(floors)]:
        floors[i] += 1
    expected = [load - quota for load, quota in zip(LOADS, floors, strict=True)]
    return lb.excess_load(LOADS, weights=weights).tolist(), expected


def approximately(numbers: list[Fraction]) -> Any:
    return pytest.approx(list(map(float, numbers)), rel=1e-13, abs=1e-14)


# What a function returns by weights, and what Fractions say.
FUNCTIONS: dict[str, Callable[[Any, Exact], tuple[Any, Any]]] = {
    "quotas": lambda w, x: (lb.quotas(TOTAL, w).tolist(), weighted.quotas(TOTAL, x)),
    "quotas by time": lambda w, x: (
        lb.quotas(TOTAL, w, rule="time").tolist(),
        weighted.quotas_by_time(TOTAL, x),
    ),
    "quotas of floats": lambda w, x: (
        lb.quotas(float(TOTAL), w).tolist(),
        approximately(weighted.shares(TOTAL, x)),
    ),
    "dde_line": lambda w, x: (
        lb.dde_line(LOADS, weights=w).flows.tolist(),
        weighted.dde_line(LOADS, x).flows,
    ),
    "dde": lambda w, x: (
        lb.dde(LOADS, MESH, weights=w).loads.reshape(-1).tolist(),
        weighted.dde(LOADS, x, (2, 2), (False, False)).loads,
    ),
    "dde of floats": lambda w, x: (
        lb.dde(np.array(LOADS, float), CHAIN, weights=w).loads.tolist(),
        approximately(weighted.shares(TOTAL, x)),
    ),
    "dem": lambda w, x: (
        lb.dem(LOADS, CUBE, weights=w).loads.tolist(),
        weighted.dem(LOADS, x, 2).loads,
    ),
    "gde": by_gde,
    "excess_load": by_excess,
    "assign_tasks": by_tasks,
    "study": lambda w, x: (
        lb.Study("s", ["chain:4"], ["dde"], "uniform:9", weights=w).weights[0][1],
        tuple(x),
    ),
}

# Weights as people give them, and as Fractions.
WEIGHTS: dict[str, tuple[Any, list[Any]]] = {
    "integers, some 0": ([0, 3, 5, 1], [0, 3, 5, 1]),
    "one node has all": ([0, 0, 0, 7], [0, 0, 0, 1]),
    "negative zero": ([-0.0, 1.0, 2, 3], [0, 1, 2, 3]),
    "decimals": ([0.1, 0.2, 0.3, 0.4], ["0.1", "0.2", "0.3", "0.4"]),
    "float32": (np.array([0.1, 0.2, 0.3, 0.4], np.float32), ["0.1", "0.2", "0.3", "0.4"]),
    "Fractions and texts": ([Fraction(1, 3), "2/3", 0.5, "1e-3"], ["1/3", "2/3", "1/2", "1/1000"]),
    "Decimals": ([Decimal("0.7"), 1, 2, 3], ["0.7", 1, 2, 3]),
    "bytes": (np.array([b"1", b"1/2", b"3", b"4"]), [1, "1/2", 3, 4]),
    "beyond int64": ([10**30, 2 * 10**30, 0, 10**30], [1, 2, 0, 1]),
    "uint64": (np.array([2**63, 2**62, 0, 2**62], np.uint64), [2, 1, 0, 1]),
    "int8": (np.array([127, 1, 2, 3], np.int8), [127, 1, 2, 3]),
    "60 bits": ([2**60, 2**59, 1, 0], [2**60, 2**59, 1, 0]),
    "17 digits": ([float(np.pi), 1.0, 2.0, 3.0], ["3.141592653589793", 1, 2, 3]),
    "a column with labels": (pd.Series([1, 2, 3, 4], index=[3, 2, 1, 0]), [1, 2, 3, 4]),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", WEIGHTS)
def test_they_are_exact(function: str, name: str) -> None:
    weights, plain = WEIGHTS[name]
    exact = list(map(Fraction, plain))
    if function == "study":
        # Not only in proportion.
        entries = weights.tolist() if hasattr(weights, "tolist") else weights
        texts = [w.decode() if isinstance(w, bytes) else str(w) for w in entries]
        if name != "float32":
            exact = list(map(Fraction, texts))
    result, expected = FUNCTIONS[function](weights, exact)
    assert result == expected


REFUSED: dict[str, tuple[Any, str]] = {
    "all 0": ([0, 0.0, "0", Fraction(0)], "must not all be 0"),
    "negative": ([1, 2, -0.5, 3], "must not be negative, got -0.5 at node 2"),
    "NaN": ([1, float("nan"), 2, 3], "at node 1 must be a finite number such as 723/1000, got nan"),
    "NaN in an array": (np.array([1, np.nan, 2, 3]), "must be finite, got nan at node 1"),
    "infinity": (np.array([1, 2, 3, -np.inf]), "must be finite, got -inf at node 3"),
    "a word": ([1, "fast", 2, 3], "at node 1 must be a finite number such as 723/1000, got 'fast'"),
    "nothing": ([1, None, 2, 3], "at node 1 must be a number, a string or a pair, got None"),
    "truth": ([1, True, 2, 3], "at node 1 must be a number, a string or a pair, got True"),
    "divided by 0": ([1, "1/0", 2, 3], "at node 1 must be a finite number"),
    "too few": ([[1, 2, 3]], "must be"),
    "one axis more": (np.ones((1, 2, 2)), "must be one number a node"),
    "a number": (5, "must be"),
    "a text": ("1234", "must be"),
    "complex": (np.array([1j, 1, 1, 1]), "must be integers, floats, Fractions or strings"),
    "dates": (np.array(["2020"] * 4, "M8[Y]"), "must be integers, floats, Fractions or strings"),
    "masked": (np.ma.masked_array([1, 2, 3, 4]), "must not be a masked array"),
    "half precision": (np.ones(4, np.float16), "must be integers, floats, Fractions or strings"),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", REFUSED)
def test_they_are_refused(function: str, name: str) -> None:
    weights, says = REFUSED[name]
    with pytest.raises((ValueError, TypeError)) as caught:
        FUNCTIONS[function](weights, [Fraction(1)] * 4)
    message = str(caught.value)
    assert message.startswith("weights ") and says in message
    assert "\n" not in message


def test_wide_ones_of_floats() -> None:
    """Integers that no float holds still have a ratio."""
    wide = [10**400, 10**400, 2 * 10**400 + 1]
    assert lb.quotas(8.0, wide).tolist() == [2.0, 2.0, 4.0]
    assert lb.excess_load([8.0, 0.0, 0.0], weights=wide).tolist() == [6.0, -2.0, -4.0]
    assert lb.quotas(8.0, ["1e300", "1e-300"]).tolist() == [8.0, 0.0]
