"""Every Hexa-Cell case, by each record, in every dtype that holds it and in batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastlb as lb

CASES = json.loads((Path(__file__).parent / "cases" / "s001_hhc.json").read_text())["cases"]
OPTIONS: dict[str, dict[str, Any]] = {
    "A": {"algorithm": "A"},
    "A_floor": {"algorithm": "A", "odd_unit": "lower"},
    "B": {"algorithm": "B"},
    "B_greedy": {"algorithm": "B", "share": "greedy"},
    "C": {"algorithm": "C"},
}


def found(b: Any) -> dict[str, Any]:
    counts = b.counts
    return {
        "after_triangle": b.after_triangle.tolist(),
        "after_cell": b.after_cell.tolist(),
        "loads": b.loads.tolist(),
        "time": counts["time"],
        "error": b.difference,
        "messages": counts["messages"],
        "info": counts["information"],
        "load": counts["load"],
        "units_moved": b.moved,
        "max_endpoint": counts["endpoint_max"],
        "total_endpoint": counts["endpoint_total"],
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_every_record(case: dict[str, Any]) -> None:
    topology = lb.HyperHexaCell(case["dh"])
    for name, expected in case["out"].items():
        b = lb.hexa_cell(case["loads"], topology, **OPTIONS[name], record="flows")
        assert found(b) == expected, name
        fewer = lb.hexa_cell(case["loads"], topology, **OPTIONS[name])
        assert fewer.counts == b.counts
        assert fewer.to_dict().items() <= b.to_dict().items()
        fastest = lb.hexa_cell(case["loads"], topology, **OPTIONS[name], record="loads")
        assert fastest.loads.tolist() == expected["loads"]


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_batches_of_every_dtype(name: str, dtype: str) -> None:
    for d in sorted({case["dh"] for case in CASES}):
        group = [case for case in CASES if case["dh"] == d]
        loads = np.array([case["loads"] for case in group], dtype)
        topology = lb.HyperHexaCell(d)
        b = lb.hexa_cell(loads, topology, **OPTIONS[name])
        assert b.loads.dtype == dtype
        for i, case in enumerate(group):
            expected = case["out"][name]
            assert b.loads[i].tolist() == expected["loads"]
            assert b.counts["time"][i] == expected["time"]
            assert b.counts["endpoint_max"][i] == expected["max_endpoint"]
            assert b.counts["messages"][i] == expected["messages"]
        shaped = loads.reshape(len(group), *topology.shape)
        again = lb.hexa_cell(shaped, topology, **OPTIONS[name], record="loads", out=shaped)
        assert again.loads is shaped
        assert (shaped.reshape(loads.shape) == b.loads).all()
