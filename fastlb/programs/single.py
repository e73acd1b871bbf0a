"""One 0-1 program in whole numbers: reduced, then enumerated, searched or handed to HiGHS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .enumeration import FEW_VARIABLES, enumerate_one
from .handover import hand_over
from .options import Options
from .outcome import INFEASIBLE, LIMIT, OPTIMAL, Outcome
from .program import Program
from .reduction import reduce_dense, reduce_sparse
from .search import MOST_SEARCHED, search


def solve_one(program: Program, options: Options) -> Outcome:
    """Solve one program exactly, or as far as the limits let it."""
    if options.method == "milp" or program.c.size > MOST_SEARCHED:
        return _solve_sparse(program, options)
    outcome = _solve_dense(program, options)
    if outcome.status != LIMIT or options.method != "auto" or options.monitor.is_over:
        return outcome
    return _continue_with_highs(outcome, program, options)


def _solve_dense(program: Program, options: Options) -> Outcome:
    """Reduce a program of few variables, then enumerate or search it."""
    reduction = reduce_dense(program)
    if reduction is None:
        return Outcome(INFEASIBLE, None, 0, options.method_name, 0)
    reduced, method = reduction.program, options.method
    if reduced.c.size == 0:
        return reduction.without_variables(options.method_name)
    if method == "enumeration" or (method == "auto" and reduced.c.size <= FEW_VARIABLES):
        return reduction.restored(enumerate_one(reduced))
    return reduction.restored(search(reduced, options.reporting(reduction.restored)))


def _solve_sparse(program: Program, options: Options) -> Outcome:
    """Reduce a program of many variables, then hand it to HiGHS, or search it if few are free."""
    reduction = reduce_sparse(program)
    if reduction is None:
        return Outcome(INFEASIBLE, None, 0, options.method_name, 0)
    reduced = reduction.program
    if reduced.c.size == 0:
        return reduction.without_variables(options.method_name)
    inner = options.reporting(reduction.restored)
    if options.method != "milp" and reduced.c.size <= MOST_SEARCHED:
        dense = reduced._replace(A=reduced.A.toarray())
        return reduction.restored(solve_one(dense, inner))
    if inner.monitor.report is not None:
        bound = int(np.minimum(reduced.c, 0).sum())
        inner.monitor.report(Outcome(LIMIT, None, bound, "milp", 0))
    return reduction.restored(hand_over(reduced, inner))


def _continue_with_highs(stopped: Outcome, program: Program, options: Options) -> Outcome:
    """Solve with HiGHS after a search was stopped, seeking something better than its solution."""
    cost = None if stopped.x is None else int(program.c @ stopped.x)
    # HiGHS reports nothing of its own, so what the search knew is reported as it begins.
    known = replace(stopped, method="milp")
    inner = options._replace(method="milp").reporting(lambda _: known)
    result = _solve_sparse(program._replace(cutoff=cost), inner)
    result.nodes = stopped.nodes
    if result.x is None and cost is not None:
        # HiGHS has nothing better; if that is proven, the known solution is optimal.
        result.status = OPTIMAL if result.status == INFEASIBLE else LIMIT
        result.x = stopped.x
    elif result.status == INFEASIBLE:
        return result
    best = None if result.x is None else int(program.c @ result.x)
    if result.status == OPTIMAL and best is not None:
        result.bound = best
    else:
        result.bound = max(result.bound, stopped.bound)
        result.bound = result.bound if best is None else min(result.bound, best)
    return result
