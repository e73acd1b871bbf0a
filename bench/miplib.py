"""0-1 programs of MIPLIB beside HiGHS itself: ``python -m bench.miplib FOLDER [NAME ..]``.

FOLDER holds model files, which are not part of this repository: enigma.mps, p0201.mps.gz and so
on. In each round fastlb solves a program, then HiGHS as SciPy has it, then HiGHS as highspy has
it, both with the rows of the file; reported are medians of CPU seconds and of ratios within a
round. It is a program of its own, as highspy and OR-tools, a peer elsewhere, exclude each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import highspy
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

import fastlb as lb
from bench.race import clock
from fastlb.programs.silence import silent_stdout

NAMES = (
    *("enigma", "p0201", "lseu", "mod008", "p0282", "p0548"),
    *("air03", "cap6000", "stein27", "p0033"),
)


def by_highspy(path: Path) -> tuple[Any, Callable[[], float]]:
    """Return a file's model and what solves it by highspy."""
    reader = highspy.Highs()
    reader.setOptionValue("output_flag", False)
    reader.readModel(str(path))
    model = reader.getLp()

    def solve() -> float:
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("mip_rel_gap", 0.0)
        highs.passModel(model)
        highs.run()
        return float(highs.getInfo().objective_function_value)

    return model, solve


def by_scipy(model: Any) -> Callable[[], float]:
    """Return what solves a model of HiGHS by SciPy."""
    held = model.a_matrix_
    parts = np.array(held.value_), np.array(held.index_), np.array(held.start_)
    A = csc_array(parts, shape=(model.num_row_, model.num_col_))
    rows = LinearConstraint(A, np.array(model.row_lower_), np.array(model.row_upper_))
    costs = np.array(model.col_cost_)

    def solve() -> float:
        found = milp(
            costs,
            constraints=rows,
            integrality=np.ones(costs.size),
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0.0},
        )
        return float(found.fun)

    return solve


def by_fastlb(path: Path) -> tuple[Callable[[], float], Callable[[], str]]:
    """Return what solves a file's program, and what tells by which method it was."""
    file = lb.read_mps(path)
    methods: list[str] = []

    def solve() -> float:
        found = lb.solve_binary(file.c, file.A, file.b)
        methods.append(found.method)
        return float(file.value(found.objective) or 0) - file.offset

    return solve, lambda: methods[-1]


def main() -> None:
    """Print a line a program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'program':<8} {'method':<11} seconds  /scipy  /highspy")
    for name in options.names:
        path = next(iter(sorted(options.folder.glob(f"{name}.mps*"))), None)
        if path is None:
            print(f"{name:<8} not in {options.folder}")
            continue
        model, highspy_solves = by_highspy(path)
        fastlb_solves, method = by_fastlb(path)
        programs = fastlb_solves, by_scipy(model), highspy_solves
        # Kernels are compiled and libraries loaded by a first call.
        expected = fastlb_solves()
        seconds = np.empty((options.rounds, len(programs)))
        for times in seconds:
            for i, program in enumerate(programs):
                began = clock()
                with silent_stdout():
                    value = program()
                times[i] = clock() - began
                if abs(value - expected) > 1e-6 * max(1.0, abs(expected)):
                    raise AssertionError(f"{name}: {value} is not {expected}")
        ratios = np.median(seconds[:, :1] / seconds[:, 1:], axis=0)
        figures = f"{np.median(seconds[:, 0]):7.3f} {ratios[0]:7.2f} {ratios[1]:9.2f}"
        print(f"{name:<8} {method():<11} {figures}", flush=True)


if __name__ == "__main__":
    main()
