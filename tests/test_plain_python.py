"""Without numba's compiler the kernels run as plain Python, to the same integers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_the_cases_hold_without_compilation(full):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--hypothesis-profile={'fastlb' if full else 'plain'}",
            "tests/test_cases_wu_shu.py",
            "tests/test_cases_hexa_cell.py",
            "tests/exchange/test_dem_calls.py",
            "tests/exchange/test_dem_kernels.py",
            "tests/exchange/test_dem_integers.py",
            "tests/exchange/test_dem_real.py",
            "tests/kernels/shared/test_shares.py",
            "tests/exchange/test_result.py",
            "tests/exchange/test_weighted_calls.py",
            "tests/random_loads/test_philox.py",
            "tests/experts/test_published.py::test_random_inputs_are_equal_to_the_last_bit",
            "tests/experts/test_refined.py::test_every_machine_gives_the_same_placement",
            "tests/flows/test_flow_arrays.py::test_flows_are_the_same_in_every_process",
            "tests/flows/test_flow_arrays.py::test_maximum",
            "tests/flows/test_flow_arrays.py::test_least_cost",
            "tests/kernels",
            "tests/networkx_backend/test_connectivity.py",
            "tests/networkx_backend/test_cuts.py",
            "tests/networkx_backend/test_trees.py",
            "tests/montecarlo/test_figure_statistics.py",
            "tests/montecarlo/test_tile_kernels.py",
            "tests/montecarlo/test_measuring_tiles.py::test_any_number_of_trials[65]",
        ],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
