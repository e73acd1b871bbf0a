"""Small problems with known answers, solved through the public functions for ``fastlb doctor``.

For such small problems each method uses its general kernel, which compiles fastest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import fastlb as lb

from ..accelerate import watching_compilation

# Example 1 of Wu and Shu.
EXAMPLE_1 = (9, 7, 4, 1, 4, 6, 1, 5)


def _flows() -> Any:
    return lb.dde_line(EXAMPLE_1).flows[:7].tolist()


def _units() -> Any:
    ring = lb.dde_line(EXAMPLE_1, ring=True)
    return [lb.dde(EXAMPLE_1, lb.Chain(8)).moved, int(abs(ring.flows).sum())]


def _rounds() -> Any:
    return [lb.dde(EXAMPLE_1, lb.Chain(8), exchange=mode).rounds for mode in ("rbs", "sbr")]


def _dem() -> Any:
    return lb.dem([9, 0, 0, 1], lb.Hypercube(2)).loads.tolist()


def _gde() -> Any:
    b = lb.gde([9, 0, 0, 1], lb.Ring(4), lam="1/2")
    return [*b.loads.tolist(), b.sweeps]


def _dde_by_weights() -> Any:
    speeds = [[1, 2, 3], [3, 0, 0]]
    b = lb.dde([[5, 0, 0], [0, 0, 4]], lb.Torus(2, 3), weights=speeds)
    return [b.loads.tolist(), lb.quotas(9, speeds[0]).tolist()]


def _minimax() -> Any:
    p = lb.minimax_flow(lb.Network([(0, 1), (0, 2), (2, 1)]), [7, -7, 0], integral=False)
    return [str(p.eliminated), str(p.contention)]


def _program() -> Any:
    program = [2, 2, 2, 2], [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1]
    return [lb.solve_binary(*program).objective, lb.count_tests(*program).rows]


def _tasks() -> Any:
    a = lb.assign_tasks([4, 3, 3, 2, 2], [0, 0, 0, 0, 0], 2)
    return [a.owner.tolist(), a.status]


def _rounds_of_transfers() -> Any:
    rounds = lb.schedule([0, 0, 1, 2], [2, 3, 2, 3], per_node=1)
    return [rounds.round.tolist(), rounds.bound]


def _experts() -> Any:
    p = lb.place_experts([[9, 1, 1, 1]], 6, 2)
    return [p.phy2log.tolist(), p.loads.tolist()]


ANSWERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "Wu-Shu Example 1: flows": (_flows, [4, 6, 5, 1, 0, 2, -1]),
    "Wu-Shu Example 1: units on chain and ring": (_units, [19, 17]),
    "Wu-Shu Example 1: RBS and SBR rounds": (_rounds, [4, 2]),
    "DEM on a 2-cube": (_dem, [3, 3, 2, 2]),
    "GDE on a ring of 4": (_gde, [3, 2, 2, 3, 1]),
    "DDE on a 2x3 torus, by weights": (_dde_by_weights, [[[1, 2, 3], [3, 0, 0]], [2, 3, 4]]),
    "minimax flow on two ways": (_minimax, ["7", "7/2"]),
    "a 0-1 program: optimum, rows tested": (_program, [4, 10]),
    "whole tasks on 2 nodes": (_tasks, [[1, 1, 0, 0, 0], "optimal"]),
    "rounds of 4 transfers": (_rounds_of_transfers, [[0, 1, 1, 2], 3]),
    "4 experts on 2 GPUs": (_experts, [[[0, 0, 3, 0, 1, 2]], [[7, 5]]]),
}


def run_checks(report: Callable[[str], None] = lambda _: None) -> list[dict[str, Any]]:
    """Solve every problem; return a dict for each.

    Keys: name, passed, detail (expected and computed answer, or the error), compiled (kernels by
    module and name) and seconds. ``report`` is called with the current step.
    """
    return [_check(name, *answer, report) for name, answer in ANSWERS.items()]


def _check(
    name: str, compute: Callable[[], Any], expected: Any, report: Callable[[str], None]
) -> dict[str, Any]:
    compiled: list[str] = []

    def watch(kernel: str, begins: bool) -> None:
        module, _, function = kernel.partition("fastlb.kernels.")
        if begins and not module:
            report(f"{name}: compiling {function}")
            compiled.append(function)

    report(name)
    start = time.perf_counter()
    try:
        with watching_compilation(watch):
            result = compute()
        detail = "" if result == expected else f"expected {expected}, got {result}"
    except Exception as error:  # the doctor reports any failure
        detail = f"{type(error).__name__}: {error}"
    seconds = round(time.perf_counter() - start, 3)
    return {
        "name": name,
        "passed": not detail,
        "detail": detail,
        "compiled": compiled,
        "seconds": seconds,
    }
