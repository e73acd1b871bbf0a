"""Direct dimension exchange."""

import numpy as np
import pytest

import fastlb as lb
from bench import native, numpy_peers
from bench.native import number, pointer

ROWS = {
    "16x16x16 torus": (lb.Torus(16, 16, 16), 64, {"C": 4, "NumPy": 10}),
    "16x16x16 torus, single": (lb.Torus(16, 16, 16), 1, {"C": 4, "NumPy": 10}),
    "(5,7,9) grid": (lb.Mesh(5, 7, 9), 1000, {"C": 2}),
    "1024-ring": (lb.Ring(1024), 256, {"C": 2}),
}


def programs(loads, grid, *, flows):
    """Return fastlb and its peers; with flows they also give stages, moved, local and rounds."""
    wrapped = all(grid.wrap)
    B, S, N = len(loads), grid.ndim, grid.size
    shape = np.array(grid.shape)
    compiled = native.library("dde", loads.dtype.name)
    ours, theirs = np.empty_like(loads), np.empty_like(loads)
    moved, local, rounds = (np.empty(B, np.int64) for _ in range(3))

    def fastlb():
        b = lb.dde(loads, grid, record="flows" if flows else "loads", out=ours)
        return (b.loads, b.flows, b.stages, b.moved, b.local, b.rounds) if flows else b.loads

    def c():
        # What fastlb returns besides is written to fresh arrays here; fastlb itself hands out the
        # memory of a result again that nobody holds any more.
        more = [np.empty((B, S, N), np.int64), np.empty((S, B, N), loads.dtype)] if flows else []
        kept = [np.empty(N, loads.dtype)] if flows else [None] * 3
        compiled.dde(
            pointer(loads), pointer(theirs), number(B), pointer(shape), number(S),
            number(wrapped), *map(pointer, [*more, *kept, moved, local, rounds]),
        )  # fmt: skip
        return (theirs, *more, moved, local, rounds) if flows else theirs

    def numpy():
        return numpy_peers.dde(loads, wrapped=wrapped, flows=flows)

    return fastlb, {"C": c if compiled else None, "NumPy": numpy}


@pytest.mark.parametrize("flows", [True, False], ids=["flows", "loads"])
@pytest.mark.parametrize("name", ROWS)
def test_grid(race, quick, name, flows):
    grid, trials, targets = ROWS[name]
    trials = min(trials, 2) if quick else trials
    loads = np.random.default_rng(1995).integers(0, 2001, (trials, *grid.shape))
    copies = {"copies": 9} if name == "16x16x16 torus" and flows else {}
    race(
        f"DDE {name}, batch of {trials}, {'flows' if flows else 'loads only'}",
        *programs(loads, grid, flows=flows),
        nodes=loads.size,
        copied=loads.nbytes if trials > 1 else 0,
        targets=targets | copies,
    )
