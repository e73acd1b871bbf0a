"""Kernels for tiles with trials last; also run without compilation (``test_plain_python``)."""

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo import trials
from fastlb.montecarlo.chunks import Chunk
from fastlb.montecarlo.study import parse_method

TRIALS = 5
CASES = [
    ("mesh:4x3", "dde"),
    ("torus:5x3", "dde"),
    ("torus:2x4", "dde:axes=1-0"),
    ("hypercube:4", "dem"),
    ("hypercube:4", "dem:dims=2-0-3-1"),
    ("hypercube:3:faults=0-1,1-5,0-2", "dem"),
    ("hypercube:4:faults=0-1,2-6,0-4", "fault_tolerant_dem"),
    ("hypercube:3:faults=0-4,5-7", "fault_tolerant_dem:order=highest"),
    ("hhc:1", "hexa_cell"),
    ("hhc:2", "hexa_cell:odd_unit=lower"),
    ("hhc:3", "hexa_cell:share=greedy"),
    ("hhc:1", "hexa_cell:algorithm=A"),
    ("hhc:2", "hexa_cell:algorithm=A,share=greedy"),
    ("hhc:3", "hexa_cell:algorithm=A,odd_unit=lower"),
    ("hhc:1", "hexa_cell:algorithm=C"),
    ("hhc:2", "hexa_cell:algorithm=C"),
]


@pytest.mark.parametrize("loads", ["uniform:5", "uniform:1000", f"uniform:{2**35}", "poisson:2"])
@pytest.mark.parametrize(("topology", "method"), CASES)
def test_tiles_and_rows_agree(topology, method, loads):
    law = lb.parse_distribution(loads)
    chunk = Chunk(lb.parse_topology(topology), law, (method,), 7, 3, TRIALS)
    found = trials.measure_in_tiles(chunk)[method]
    name, options = parse_method(method)
    rows = lb.sample_loads(law, chunk.topology, trials=TRIALS, seed=7, start=3)
    expected = lb.balance(rows, chunk.topology, method=name, **options)
    for figure in ("initial_difference", "difference", "moved", "local", "imbalance"):
        assert np.array_equal(found[figure], getattr(expected, figure))
    if name == "dde":
        assert np.array_equal(found["rounds"], expected.rounds)
    if name == "hexa_cell":
        for counter, values in expected.counts.items():
            assert np.array_equal(found["counts"][counter], values)
