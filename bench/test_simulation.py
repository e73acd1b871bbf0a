"""The simulated search against its plain Python twin; one node is one program."""

import numpy as np
import pytest

import fastlb as lb
from tests.oracles import search


@pytest.mark.parametrize("family", ["planted", "loose"])
@pytest.mark.parametrize("n", [6, 9])
def test_simulated_search(race, quick, family, n):
    program = lb.random_binary(family, 30, n, seed=1995, trials=1 if quick else 16)
    links = [(0, 1), (5, 7), (8, 12)]
    cube = lb.Hypercube(4, faults=links)
    lists = [[part.tolist() for part in one] for one in zip(*program, strict=True)]

    def fastlb():
        run = lb.simulate_search(*program, cube)
        return run.time, run.work, run.moved, run.balances

    def plain():
        runs = [search.simulate(*one, 4, links, balanced=True, numbers=int) for one in lists]
        return tuple(
            np.array([getattr(run, name) for run in runs])
            for name in ("time", "work", "moved", "balances")
        )

    race(
        f"simulated search, {family}, 30 rows, {n} columns, 16 processors",
        fastlb,
        {"plain Python": plain},
        nodes=len(lists),
        targets={"plain Python": 25},
    )
