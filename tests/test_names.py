"""Public functions stay functions, also where a module of the package has the same name."""

from __future__ import annotations

import subprocess
import sys

import pytest

FUNCTIONS = (
    "balance",
    "dde",
    "dde_line",
    "dem",
    "exchange_rounds",
    "fault_plan",
    "fault_tolerant_dem",
    "gde",
    "maximum_flow",
    "methods",
    "minimum_cost_flow",
    "optimal_lambda",
    "parse_topology",
    "recursive_doubling",
    "register_method",
    "schedule",
)


@pytest.mark.parametrize(
    "before",
    [
        "pass",
        "lb.dem([1, 2], lb.Hypercube(1)), lb.gde([1, 2], lb.Chain(2)), lb.dde([1, 2], lb.Ring(2))",
        "lb.balance([1, 2], lb.Chain(2)), lb.methods()",
        "[importlib.import_module(m.name) for m in pkgutil.walk_packages(lb.__path__, 'fastlb.')"
        " if m.name.split('.')[1] not in ('cli', 'kernels', '__main__')]",
    ],
    ids=["import", "methods", "balance", "every module"],
)
def test_functions_stay_functions(before: str) -> None:
    code = (
        f"import importlib, inspect, pkgutil\nimport fastlb as lb\n{before}\n"
        f"for name in {FUNCTIONS}:\n"
        "    assert inspect.isfunction(getattr(lb, name)), (name, getattr(lb, name))\n"
        "    assert name in lb.__all__ and name in dir(lb), name\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
