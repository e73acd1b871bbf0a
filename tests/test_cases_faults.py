"""The library against every case of fault-tolerant DEM, through the public names alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb

CASES = json.loads((Path(__file__).parent / "cases" / "s000_ft.json").read_text())["cases"]
ORDERS = {"low": "lowest", "high": "highest"}
DONORS = {"last": "latest", "first": "earliest"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_case(case: dict[str, Any]) -> None:
    loads, out = np.array(case["loads"]), case["out"]
    cube = lb.Hypercube(len(loads).bit_length() - 1, faults=case["faults"])
    assert lb.dem(loads, cube).loads.tolist() == out["dem_skip_faulty"]
    for low, order in ORDERS.items():
        for last, donor in DONORS.items():
            # One trial runs as one stretch of memory, many run in lanes.
            for given in (loads, np.tile(loads, (9, 1))):
                b = lb.fault_tolerant_dem(given, cube, order=order, donor=donor)
                assert out[f"{low}_{last}"] == {
                    "loads": b.loads.reshape(-1, loads.size)[0].tolist(),
                    "moved": np.ravel(b.moved)[0],
                    "load_difference": np.ravel(b.difference)[0],
                }
                assert (b.loads == b.loads.reshape(-1, loads.size)[0]).all()
