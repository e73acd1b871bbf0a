"""How much work the algorithms do on fixed inputs, in counts that are the same on every machine.

``python -m bench.counters`` writes them to ``counters.json``, with which ``test_counters.py``
compares. A count that changes means that an algorithm now does other work: more, or less.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

import fastlb as lb
from bench import known_programs

FILE = Path(__file__).with_name("counters.json")


def sweeps() -> int:
    """GDE sweeps of 200 trials on an 8x8 mesh."""
    loads = lb.sample_loads("uniform:1000", "mesh:8x8", trials=200, seed=1995)
    return int(lb.gde(loads, lb.Mesh(8, 8), lam="723/1000").sweeps.sum())


def rounds() -> int:
    """DDE exchange rounds of 200 trials on an 8x8x8 torus."""
    loads = lb.sample_loads("uniform:1000", "torus:8x8x8", trials=200, seed=1995)
    return int(lb.dde(loads, lb.Torus(8, 8, 8)).rounds.sum())


def messages() -> int:
    """Messages of Algorithm B on 200 Hexa-Cell networks of dimension 5."""
    loads = lb.sample_loads("uniform:1000", "hhc:5", trials=200, seed=2014)
    counts = lb.hexa_cell(loads, lb.HyperHexaCell(5), "B").counts
    return int(counts["messages"].sum())


def repairs() -> int:
    """Units moved by the fault plan of a 6-cube with five faulty links, 200 trials."""
    cube = lb.Hypercube(6, faults=[(0, 1), (2, 6), (8, 24), (5, 37), (60, 62)])
    loads = lb.sample_loads("uniform:1000", cube, trials=200, seed=1993)
    return int(lb.fault_tolerant_dem(loads, cube).moved.sum())


def iterations(method: str) -> Callable[[], int]:
    """Iterations of a search for beta on a 16x16 torus."""

    def count() -> int:
        loads = np.random.default_rng(1995).integers(0, 2001, 256)
        excess = lb.excess_load(loads)
        return int(lb.minimax_flow(lb.Torus(16, 16).network(), excess, method=method).iterations)

    return count


def nodes(name: str) -> Callable[[], int]:
    """Nodes of the search for the optimum of a known program."""

    def count() -> int:
        found = known_programs.mknap1() | {"p0033": known_programs.p0033()}
        c, A, b, _ = found[name]
        return int(lb.solve_binary(c, A, b, method="search").nodes)

    return count


def simulated_time() -> int:
    """Units of time of the simulated search on 16 processors, 20 programs."""
    program = lb.random_binary("planted", 30, 8, seed=1, trials=20)
    run = lb.simulate_search(*program, lb.Hypercube(4, faults=[(0, 1), (5, 7)]))
    return int(run.time.sum())


COUNTERS: dict[str, Callable[[], int]] = {
    "GDE sweeps": sweeps,
    "DDE rounds": rounds,
    "HHC messages": messages,
    "fault plan units": repairs,
    "minimax iterations, fused": iterations("fused"),
    "minimax iterations, mmc01": iterations("mmc01"),
    "0-1 nodes, p0033": nodes("p0033"),
    "0-1 nodes, mknap1, 39 columns": nodes("mknap1, 39 columns"),
    "simulated search time": simulated_time,
}

if __name__ == "__main__":
    counted = {name: count() for name, count in COUNTERS.items()}
    FILE.write_text(json.dumps(counted, indent=1) + "\n")
