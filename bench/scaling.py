"""Time and memory against size, as figures: ``python -m bench.scaling FOLDER``.

Writes ``dem.svg``, ``minimax.svg``, ``trials.svg``, ``memory.svg`` and ``scaling.json`` with the
numbers behind them. A point is the least of a few runs, so that other people's work on the machine
shows less.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fastlb as lb
from bench import flow_peers, numpy_peers
from bench.memory import peak
from bench.table import environment

MEMORY = """
import sys
import fastlb as lb
from bench.memory import peak
topology, trials = sys.argv[1], int(sys.argv[2])
lb.run(lb.Study("memory", [topology], ["dde"], "uniform:1000", trials=trials), rows=False)
print(peak())
"""

Curve = dict[str, list[float]]


def seconds(program: Callable[[], Any], *, budget: float = 1.0, most: int = 7) -> float:
    """Return the least wall time of up to ``most`` runs that together take the budget."""
    taken: list[float] = []
    while len(taken) < most and (len(taken) < 2 or sum(taken) < budget):
        begin = time.perf_counter()
        program()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def dimension_exchange(largest: int) -> dict[str, Curve]:
    """DEM of one cube in place, int32, against NumPy and one copy of the loads."""
    curves: dict[str, Curve] = {name: {"size": [], "seconds": []} for name in DEM_CURVES}
    for n in range(6, largest + 1, 2):
        loads = np.random.default_rng(n).integers(0, 2001, 2**n, dtype=np.int32)
        other, cube = np.empty_like(loads), lb.Hypercube(n)
        programs = {
            "fastlb": lambda: lb.dem(loads, cube, record="loads", out=other),  # noqa: B023
            "one copy": lambda: np.copyto(other, loads),  # noqa: B023
        }
        if n <= 22:
            programs["NumPy"] = lambda: numpy_peers.dem(loads[None], n)  # noqa: B023
        for name, program in programs.items():
            curves[name]["size"].append(2**n)
            curves[name]["seconds"].append(seconds(program))
    return curves


DEM_CURVES = ("fastlb", "NumPy", "one copy")


def minimax(largest: int) -> dict[str, Curve]:
    """The whole search for beta on square tori, against one maximum flow by OR-tools."""
    curves: dict[str, Curve] = {
        name: {"size": [], "seconds": []} for name in ("fastlb", "OR-tools, one maximum flow")
    }
    side = 16
    while 4 * side * side <= largest:
        network = lb.Torus(side, side).network()
        excess = lb.excess_load(np.random.default_rng(side).integers(0, 2001, side * side))
        beta = lb.minimax_flow(network, excess).contention
        engine = flow_peers.ortools(flow_peers.Problem(network, excess))
        programs = {"fastlb": lambda: lb.minimax_flow(network, excess).contention}  # noqa: B023
        if engine:
            programs["OR-tools, one maximum flow"] = lambda: engine[1](beta)  # noqa: B023
        for name, program in programs.items():
            curves[name]["size"].append(len(network.edges))
            curves[name]["seconds"].append(seconds(program, budget=2.0))
        side *= 2
    return curves


def trials(largest: int) -> dict[str, Curve]:
    """A study of an 8x8 mesh with all figures, without rows, on one and on two threads."""
    curves: dict[str, Curve] = {}
    for method in ("gde:lam=0.723", "dde"):
        for threads in (1, 2):
            curve: Curve = {"size": [], "seconds": []}
            label = "1 thread" if threads == 1 else f"{threads} threads"
            curves[f"{method.partition(':')[0].upper()}, {label}"] = curve
            count = 1000
            while count <= largest:
                study = lb.Study("s", ["mesh:8x8"], [method], "uniform:1000", trials=count)
                run = lambda: lb.run(study, threads=threads, rows=False)  # noqa: B023, E731
                curve["size"].append(count)
                curve["seconds"].append(seconds(run, budget=0.5, most=3))
                count *= 10
    return curves


def memory(largest: int) -> dict[str, Curve]:
    """The most memory of a process that runs such a study, in MiB."""
    curve: Curve = {"size": [], "MiB": []}
    count = 1000
    while count <= largest:
        command = [sys.executable, "-c", MEMORY, "mesh:8x8", str(count)]
        done = subprocess.run(command, capture_output=True, check=True)
        curve["size"].append(count)
        curve["MiB"].append(int(done.stdout) / 2**20)
        count *= 10
    return {"DDE, one thread": curve}


FIGURES = {
    "dem": (dimension_exchange, 2**28, "nodes", "DEM of one cube, int32"),
    "minimax": (minimax, 2**20, "links", "minimax flow on a torus: least contention"),
    "trials": (trials, 10**7, "trials", "8x8 mesh: draw, balance, measure"),
    "memory": (memory, 10**7, "trials", "8x8 mesh: memory of the process"),
}


def draw(name: str, curves: dict[str, Curve], unit: str, title: str, folder: Path) -> None:
    """Write one figure."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for label, curve in curves.items():
        y = next(key for key in curve if key != "size")
        axes.plot(curve["size"], curve[y], marker="o", markersize=3, label=label)
    axes.set(xscale="log", xlabel=unit, ylabel=y, title=title)
    axes.set_yscale("linear" if y == "MiB" else "log")
    if y == "MiB":
        axes.set_ylim(0, 1.2 * axes.get_ylim()[1])
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=FIGURES, action="append", help="one figure of all")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    file = arguments.folder / "scaling.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    found["environment"] = environment()
    for name in arguments.only or FIGURES:
        measure, largest, unit, title = FIGURES[name]
        if arguments.quick:
            largest = min(largest, 10_000)
        size = largest.bit_length() - 1 if name == "dem" else largest
        found[name] = measure(size)
        draw(name, found[name], unit, title, arguments.folder)
        file.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{name}: done, {peak() / 2**30:.1f} GiB at most so far")


if __name__ == "__main__":
    main()
