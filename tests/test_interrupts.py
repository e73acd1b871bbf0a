"""Ctrl-C: heard in the midst of long kernels, of compiling and of solvers, and never lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fastlb as lb
from fastlb.accelerate import kernels
from fastlb.aside import aside

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer") or bool(os.environ.get("NUMBA_DISABLE_JIT")),
    reason="needs alarms, and kernels",
)


@contextmanager
def alarms(handler: Callable[..., Any], seconds: float) -> Iterator[None]:
    """Call a handler every so many seconds."""
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def draws() -> np.random.Generator:
    return np.random.default_rng(1)


def plan() -> Any:
    side = 300
    excess = draws().integers(-300, 300, side * side)
    excess[0] -= excess.sum()
    return lb.minimax_flow(lb.Torus(side, side).network(capacity=1000), excess)


def passed() -> Any:
    network = lb.Torus(400, 400).network(capacity=draws().integers(1, 1000, 640_000))
    return lb.maximum_flow(network, range(400), range(80_000, 80_400))


def supplied() -> Any:
    demand = draws().integers(-100, 100, 10_000)
    demand[0] -= demand.sum()
    cost = draws().integers(1, 1000, 40_000)
    return lb.minimum_cost_flow(lb.Torus(100, 100).network(), demand, cost=cost)


def entities(method: str) -> Any:
    nodes, sizes = draws().integers(0, 1600, 2000), draws().integers(1, 50, 2000)
    network = lb.Torus(40, 40).network(capacity=10**6)
    pairs = list(zip(nodes.tolist(), sizes.tolist(), strict=True))
    return lb.route_entities(network, pairs, np.full(1600, 40), method=method)


def counted() -> Any:
    return lb.count_tests(*lb.random_binary("planted", 8, 25, seed=1)).rows


def enumerated() -> Any:
    programs = lb.random_binary("symmetric", 20, 20, seed=1, trials=400)
    return lb.solve_binary(*programs, method="enumeration").objective.tolist()


def side_by_side() -> Any:
    return lb.solve_binary(
        *lb.random_binary("planted", 8, 12, seed=1, trials=20_000)
    ).objective.sum()


def simulated() -> Any:
    program = lb.random_binary("planted", 10, 19, seed=1)
    return lb.simulate_search(*program, lb.Hypercube(4)).time


def swept(dtype: Any) -> Any:
    loads = draws().integers(0, 10**6, (500, 16, 16)).astype(dtype)
    return lb.gde(loads, lb.Mesh(16, 16), lam="1/2").loads.tolist()


def sent() -> Any:
    loads = np.tile([2, 0], 600_000)
    return lb.exchange_rounds(loads, lb.dde_line(loads).flows, mode="sbr")[0]


def exchanged() -> Any:
    return lb.dem(draws().integers(0, 1000, 2**22), lb.Hypercube(22)).moved


def averaged() -> Any:
    return lb.dem(draws().random(2**24), lb.Hypercube(24), record="loads").loads[:5].tolist()


def weighted(method: str, dtype: Any, topology: lb.Topology) -> Any:
    loads = draws().integers(0, 1000, (4, topology.size)).astype(dtype)
    weights = np.arange(topology.size) % 7
    return lb.balance(loads, topology, method, weights=weights, record="loads").loads.sum()


def lines() -> Any:
    return lb.dde(draws().integers(0, 1000, (16, 64, 1024)), lb.Torus(16, 64, 1024)).moved


def batch_of_grids() -> Any:
    loads = np.tile(np.arange(63, dtype=np.int32), (300_000, 1))
    return lb.dde(loads, lb.Mesh(7, 9), exchange="sbr").moved.sum()


def drawn() -> Any:
    return lb.sample_loads("exponential:1000", "mesh:8x8", trials=100_000, seed=1).sum()


def coloured() -> Any:
    links = np.stack([np.arange(150_000), np.arange(1, 150_001)], axis=1)
    return lb.gde(np.arange(150_001), lb.Network(links), lam="1/2", max_sweeps=1).moved


def transfers() -> Any:
    return np.zeros(1_100_000, np.int64), np.ones(1_100_000, np.int64)


def coloured_rounds() -> Any:
    T, module = 1_100_000, kernels("rounds.exchange")
    records, cells = np.zeros((T, 4, 4), np.int32), np.zeros((1, 1, 2), np.int32)
    full, trail, one = np.zeros((1, 1), np.uint64), np.zeros(T, np.int64), np.zeros(1, np.int64)
    state = module.State(records, np.array([2**62]), cells, full, trail, one)
    module.colour(np.arange(T), state, 1)


def walked() -> Any:
    return kernels("rounds.orientation").orient(np.stack(transfers(), axis=1), 2)


def chained() -> Any:
    gates = np.arange(1_100_001)
    before, after = np.where(gates > 0, gates + 1, 0), gates + 2
    return kernels("rounds.chains").chain_lengths(before, after, len(gates) + 2)


def placed() -> Any:
    return lb.place_experts(draws().random((5000, 256)), 288, 32, method="refined").logcnt.sum()


LONG: dict[str, Callable[[], Any]] = {
    "minimax flow": plan,
    "maximum flow": passed,
    "minimum-cost flow": supplied,
    "entities within a budget": lambda: entities("budget"),
    "entities depth first": lambda: entities("odfs"),
    "count_tests": counted,
    "enumeration": enumerated,
    "programs side by side": side_by_side,
    "simulate_search": simulated,
    "gde of integers": lambda: swept(np.int64),
    "gde of floats": lambda: swept(np.float64),
    "exchange_rounds": sent,
    "dem of integers": exchanged,
    "dem of floats": averaged,
    "dde": lines,
    "dde of many grids": batch_of_grids,
    "dde by weight": lambda: weighted("dde", np.int64, lb.Torus(1024, 1024)),
    "dem by weight": lambda: weighted("dem", np.float64, lb.Hypercube(20)),
    "gde by weight": lambda: weighted("gde", np.int64, lb.Torus(128, 128)),
    "sample_loads": drawn,
    "colouring": coloured,
    "first fit of rounds": lambda: lb.schedule(*transfers(), send=10**6).count,
    "exchanges of rounds": coloured_rounds,
    "directions": walked,
    "chains of transfers": chained,
    "place_experts": placed,
}


@pytest.mark.parametrize("call", LONG.values(), ids=LONG)
def test_long_kernels_ask_whether_to_go_on(
    call: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They end with what is raised then, a handler's error or an interrupt."""

    class RungError(Exception):
        pass

    def ring() -> None:
        raise RungError

    interrupts = kernels("shared.interrupts")
    monkeypatch.setattr(interrupts, "ask", ring)
    with pytest.raises(RungError):
        call()
    assert not interrupts._raised


@pytest.mark.parametrize("name", ["enumeration", "gde of floats", "sample_loads"])
def test_handlers_change_no_result(name: str) -> None:
    expected, asked = LONG[name](), 0

    def handler(_: int, frame: Any) -> None:
        nonlocal asked
        asked += frame.f_code.co_name == "ask"

    with alarms(handler, 0.001):
        result = LONG[name]()
    assert asked > 0
    assert np.array_equal(result, expected)


def test_what_numba_makes_of_an_interrupt_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs Python while it makes arrays of a kernel's results, and goes on if that raises."""
    interrupts = kernels("shared.interrupts")

    def interrupted() -> None:
        said = "returned a result with an exception set"
        try:
            raise SystemError(said) from KeyboardInterrupt()
        except SystemError as error:
            raise SystemError(said) from error

    monkeypatch.setattr(interrupts, "kernel", lambda function: function)
    with pytest.raises(KeyboardInterrupt):
        interrupts.long_kernel(interrupted)()


def test_a_pool_that_is_to_end_ends_its_kernels() -> None:
    ended, raised = threading.Event(), []

    def work() -> None:
        kernels("shared.interrupts").end_with(ended)
        try:
            lb.gde([1.0, 0.0], lb.Chain(2), lam=1 - 1e-16)
        except KeyboardInterrupt:
            raised.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    ended.set()
    thread.join()
    assert raised


def test_aside_an_interrupt_is_heard() -> None:
    over = threading.Event()

    def handler(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), alarms(handler, 0.05):
        aside(over.wait)
    over.set()


def test_aside_results_and_errors_are_the_functions() -> None:
    assert aside(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        aside(divmod, 7, 0)
    with pytest.raises(TimeoutError, match="no result after"):
        aside(threading.Event().wait, 0.2, seconds=0.01)


INTERRUPTED = """
import os, signal
from numba.core import codegen

signal.signal(signal.SIGINT, signal.default_int_handler)
keep = codegen.CPUCodeLibrary._object_compiled_hook.__func__
signals = [signal.SIGINT]

def compiled(cls, *arguments):
    if signals:
        os.kill(os.getpid(), signals.pop())
    return keep(cls, *arguments)

codegen.CPUCodeLibrary._object_compiled_hook = classmethod(compiled)
import fastlb as lb

lines = [3, 0, 0], [2, 1, 0]
try:
    lb.exchange_rounds(*lines)
except KeyboardInterrupt:
    print("interrupted", lb.exchange_rounds(*lines)[0])
"""


def test_an_interrupt_while_llvm_calls_back_is_not_lost(tmp_path: Path) -> None:
    """What is raised in a function that LLVM calls is swallowed."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted 2\n", "")
