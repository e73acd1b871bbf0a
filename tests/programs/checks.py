"""A check of a solution of a 0-1 program from its parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracles import binary


def check_feasible(c: Any, A: Any, b: Any, s: Any) -> None:
    costs, rows, right = binary.exact_program(np.asarray(c).tolist(), A.tolist(), b.tolist())
    x = s.x.tolist()
    assert binary.is_feasible(rows, right, x)
    assert s.objective == float(binary.dot(costs, x))
