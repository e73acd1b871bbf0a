"""Studies that are run and kept in folders, and what tests of such folders share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo.results import Results

STUDY = lb.Study(
    "small",
    topologies=["mesh:8x8", "torus:3x5"],
    methods=["gde:lam=0.723", "gde:lam=1/2,max_sweeps=3"],
    loads=["uniform:1000", "uniform:3"],
    trials=150,
    seed=1995,
    further=[lb.Part(["torus:3x5"], ["dde", "dde:exchange=sbr"], "uniform:1000")],
)
ROWS = STUDY.trials * len(STUDY.cells)

# Its groups stop after different numbers of trials.
EARLY = lb.Study(
    "early",
    ["mesh:4x4", "ring:8", "mesh:8x8"],
    ["gde:lam=0.7", "dde"],
    "uniform:100",
    trials=1500,
    seed=8,
    target_error={"difference": 0.05, "rounds": "5%"},
    minimum_trials=100,
)


def same(a: Results, b: Results) -> bool:
    """Whether two tables have the same columns of the same types with the same bits."""
    first, second = a.table(), b.table()
    return list(first) == list(second) and all(
        first[name].dtype == second[name].dtype
        and np.ma.getdata(first[name]).tobytes() == np.ma.getdata(second[name]).tobytes()
        and np.array_equal(np.ma.getmaskarray(first[name]), np.ma.getmaskarray(second[name]))
        for name in first
    )


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*"))


def broken_off(folder: Path, after: int, study: lb.Study = STUDY, **options: object) -> int:
    """Run until so many rows are told to be done; return how many were."""
    told = [0]

    def tell(done: int, _total: int) -> None:
        told.append(done)
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lb.run(study, store=folder, progress=tell, **options)  # type: ignore[arg-type]
    return told[-1]
