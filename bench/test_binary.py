"""0-1 programs against enumeration in NumPy, HiGHS and CP-SAT; one node is one program."""

import numpy as np
import pytest

import fastlb as lb
from bench import program_peers as peers

FAMILIES = ["loose", "planted", "cover", "knapsack", "symmetric"]
SINGLES = 3
BATCH = 2000


def solved(c, A, b):
    """Return the optima, as the peers do; that they agree shows that they are proved."""
    return np.ma.filled(lb.solve_binary(c, A, b).objective, peers.NONE)


def one_by_one(c, A, b):
    return np.concatenate([solved(c[i : i + 1], A[i : i + 1], b[i : i + 1]) for i in range(len(c))])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("m", "n"), [(4, 5), (10, 7), (10, 9)])
def test_batch_against_numpy(race, quick, family, m, n):
    program = lb.random_binary(family, m, n, seed=1995, trials=20 if quick else BATCH)
    race(
        f"0-1 batch, {family}, {m} rows, {n} columns",
        lambda: solved(*program),
        {"NumPy": lambda: peers.by_numpy(*program)},
        nodes=len(program[0]),
        targets={"NumPy": 20},
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_batch_against_solvers(race, quick, family):
    program = lb.random_binary(family, 10, 9, seed=1995, trials=5 if quick else 50)
    race(
        f"0-1 batch, {family}, 10 rows, 9 columns, 50 programs",
        lambda: solved(*program),
        {
            "milp": lambda: peers.by_milp(*program),
            "CP-SAT": (lambda: peers.by_cp_sat(*program)) if peers.has_cp_sat() else None,
        },
        nodes=len(program[0]),
        targets={"milp": 1000, "CP-SAT": 500},
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("m", "n"), [(10, 13), (15, 20), (15, 30), (15, 40)])
def test_single(race, quick, family, m, n):
    if family == "knapsack":
        m = 5
    count = 1 if quick else SINGLES
    program = lb.random_binary(family, m, min(n, 20) if quick else n, seed=1995, trials=count)
    race(
        f"0-1 single, {family}, {m} rows, {n} columns",
        lambda: one_by_one(*program),
        {
            "milp": lambda: peers.by_milp(*program),
            "CP-SAT": (lambda: peers.by_cp_sat(*program)) if peers.has_cp_sat() else None,
        },
        nodes=count,
        targets={"milp": 10, "CP-SAT": 5},
    )
