"""User code passes strict type checkers as it stands: the README's examples, and named results."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
# Types that a checker must know; what is wrong here must be seen as such.
NAMED = """
from fractions import Fraction
from typing import assert_type
import numpy as np
from numpy.typing import NDArray
import pandas
import fastlb as lb

plan = lb.minimax_flow("ring:4", [1, -1, 0, 0])
assert_type(plan, lb.MinimaxPlan)
assert_type(plan.routes(), list[lb.Route])
assert_type([route.path for route in plan.routes()], list[tuple[int, ...]])
assert_type(lb.minimax_flow("ring:4", np.zeros(4)), lb.MinimaxPlan)
assert_type(lb.minimax_flow("ring:4", lb.excess_load([4, 0, 0, 0])), lb.MinimaxPlan)
batch = lb.minimax_flow("ring:4", [[1, -1, 0, 0], [2, -2, 0, 0]], levels=1)
assert_type(batch, lb.MinimaxBatch)
assert_type(batch.routes(), list[list[lb.Route]])
assert_type(batch[0], lb.MinimaxPlan)
assert_type(batch[:1], tuple[lb.MinimaxPlan, ...])

results = lb.run(lb.Study("s", ["ring:4"], ["dde"], "uniform:3", target_error={"cost": "1%"}))
assert_type(results.summary()["ring:4", "dde", "uniform:3"]["cost"], lb.Statistic)
assert_type(results.compare()["ring:4", "uniform:3", "dde", "gde"]["cost"].low, float)
assert_type(results.to_pandas(), pandas.DataFrame)
assert_type(results.summary().to_pandas(), pandas.DataFrame)

balance = lb.dde(np.zeros(4, int), "ring:4")
assert_type(balance, lb.Balance)
assert_type(balance.sweeps, int | NDArray[np.int64])
assert_type(balance.cost, float | NDArray[np.float64])
assert_type(balance.converged, bool | NDArray[np.bool_])
assert_type(lb.exchange_rounds([2, 0], [1, 0])[0], int)
units: int = int(balance.moved)
if balance.difference <= 1 and np.max(balance.cost) < 2:
    print(f"{units}: {np.mean(balance.moved):.1f}, {balance.locality:.3f}")

solution = lb.solve_binary([5, 4], [[2, 3]], [3])
assert_type(solution, lb.BinarySolution)
assert_type(solution.x, NDArray[np.int8] | None)
assert_type(solution.objective, int | float | Fraction | None)
assert_type(solution.status, str)
many = lb.solve_binary(*lb.random_binary("planted", 4, 6, seed=1, trials=3))
assert_type(many, lb.BinaryBatch)
assert_type(many.status, NDArray[np.str_])
print(many.objective.mean())
single = lb.random_binary("planted", 4, 6, seed=1)
assert_type(lb.solve_binary(*single), lb.BinarySolution)
assert_type(lb.count_tests(*single).rows, int | NDArray[np.int64])
assert_type(lb.search_speedup(*single, "hypercube:2").speedup, float | NDArray[np.float64])
assert_type(lb.gde([1, 2], "ring:2", weights=[Fraction(1, 3), 0.5]), lb.Balance)
assert_type(lb.dem([1, 2], "hypercube:1", weights=["1/3", 2]), lb.Balance)

assert_type(lb.schedule([0, 1], np.array([1, 2]), amount=["7/2", "3"], send=[1, 2, 1]), lb.Rounds)
assert_type(lb.schedule(plan, per_node=1).count, int)
assert_type(lb.schedule(plan.routes(), per_link=1, hops=False).gap, float)
assert_type(lb.schedule(lb.dde([1, 2], "ring:2", record="flows"), per_node=1), lb.Rounds)
"""
WRONG = """
import fastlb as lb

lb.minimax_flow("ring:4", [1, -1, 0, 0], level=2)
lb.dde([1, 2], lb.Chain(2), exchang="sbr")
lb.dem([1, 2], 3)
lb.dde([1, 2], "chain:2").sweeps.mean()
lb.solve_binary([1, 2], [[1, 1]], [1]).x.sum()
"""


def has(*modules: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in modules)


needs_stubs = pytest.mark.skipif(
    not has("mypy", "pandas", "pandas-stubs", "networkx-stubs", "matplotlib"),
    reason="needs mypy and the stubs of fastlb[test]",
)


@pytest.fixture(scope="module")
def user_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("user")
    for i, code in enumerate(EXAMPLES):
        (folder / f"example_{i:02}.py").write_text(code)
    (folder / "named.py").write_text(NAMED)
    return folder


def mypy(folder: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Check files as a user's own, with the types of fastlb alone."""
    options = ["--strict", "--config-file=", "--follow-imports=silent", "--no-error-summary"]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, f"--cache-dir={folder / 'cache'}", *files],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_stubs
def test_every_example_passes_mypy(user_code: Path) -> None:
    done = mypy(user_code, *sorted(user_code.glob("*.py")))
    assert (done.stdout, done.returncode) == ("", 0)
    wrong = user_code / "wrong.txt"
    wrong.write_text(WRONG)
    found = re.findall(r"wrong\.txt:(\d+): error", mypy(user_code, wrong).stdout)
    assert sorted(set(map(int, found))) == [4, 5, 6, 7, 8]


@pytest.mark.skipif(not has("pyright", "networkx-stubs"), reason="pyright is optional")
def test_every_example_passes_pyright(user_code: Path) -> None:
    settings = {
        "include": ["."],
        "exclude": ["cache"],
        "extraPaths": [str(ROOT)],
        "pythonVersion": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    (user_code / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "-p", user_code, "--pythonpath", sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    if "error: " not in done.stdout and "0 errors" not in done.stdout:
        pytest.skip(f"pyright does not run here: {done.stderr.strip()[-200:]}")
    assert "\n0 errors" in f"\n{done.stdout}", done.stdout
