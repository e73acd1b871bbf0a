"""What a user would solve 0-1 programs with, and the plain model of the simulated search."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

# Stands for the objective of an infeasible program.
NONE = -(2**62)


def by_numpy(c: Any, A: Any, b: Any) -> Any:
    """All sequences of a batch by matrix products in float64, exact for small integers."""
    n = c.shape[-1]
    x = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)
    feasible = (A.astype(np.float64) @ x.T >= b[..., None]).all(axis=1)
    cost = np.where(feasible, c.astype(np.float64) @ x.T, np.inf).min(axis=1)
    return np.where(np.isfinite(cost), cost, NONE).astype(np.int64)


def by_milp(c: Any, A: Any, b: Any) -> Any:
    """One after the other by HiGHS."""
    return np.array([_milp(*program) for program in zip(c, A, b, strict=True)])


def _milp(c: Any, A: Any, b: Any) -> int:
    found = milp(
        c,
        constraints=LinearConstraint(A, lb=b),
        integrality=np.ones(c.size, dtype=np.int64),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )
    return round(found.fun) if found.status == 0 else NONE


def by_cp_sat(c: Any, A: Any, b: Any) -> Any:
    """One after the other by CP-SAT, one worker."""
    return np.array([_cp_sat(*program) for program in zip(c, A, b, strict=True)])


def _cp_sat(c: Any, A: Any, b: Any) -> int:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_bool_var("") for _ in c]
    for row, least in zip(A.tolist(), b.tolist(), strict=True):
        model.add(cp_model.LinearExpr.weighted_sum(x, row) >= least)
    model.minimize(cp_model.LinearExpr.weighted_sum(x, c.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solved = solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value) if solved else NONE


def has_cp_sat() -> bool:
    return importlib.util.find_spec("ortools") is not None
