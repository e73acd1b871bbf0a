"""Kernels for tiles with trials last; also run without compilation (``test_plain_python``)."""

import numpy as np
import pytest

import fastlb as lb
from fastlb.montecarlo.chunks import Chunk
from fastlb.montecarlo.measuring_tiles import measure_in_tiles
from fastlb.montecarlo.methodtext import parse_method
from fastlb.montecarlo.tile_methods import tile_method

# Tiles are then as wide as registers of 16-bit lanes.
TRIALS = 20
# The largest load in 16-bit lanes.
NARROW = 2**14 - 1
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


@pytest.mark.parametrize(
    "loads", ["uniform:5", "uniform:1000", "uniform:20000", f"uniform:{2**35}", "poisson:2"]
)
@pytest.mark.parametrize(("topology", "method"), CASES)
def test_tiles_and_rows_agree(topology, method, loads):
    law = lb.parse_distribution(loads)
    chunk = Chunk(lb.parse_topology(topology), law, (method,), 7, 3, TRIALS)
    found = measure_in_tiles(chunk)[method]
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


NARROW_CASES = [case for case in CASES if case[1].partition(":")[0] in ("dem", "hexa_cell")]


def balanced_in(dtype, rows, topology, method):
    """Return what a method counts of rows (B, N) in one tile, and in what dtype it would do so."""
    prepared = tile_method(lb.parse_topology(topology), method)
    total, largest = int(rows.sum(axis=1).max()), int(rows.max())
    tiles = np.ascontiguousarray(rows.T.astype(dtype))[None]
    chosen = prepared.dtype(total, largest, len(rows))
    return prepared.balance(tiles, len(rows), total, largest), chosen


def assert_narrow_lanes_agree(rows, topology, method):
    narrow, chosen = balanced_in(np.int16, rows, topology, method)
    assert chosen == np.int16
    for figure, values in balanced_in(np.int32, rows, topology, method)[0].items():
        assert np.array_equal(narrow[figure], values), figure


@pytest.mark.parametrize(("topology", "method"), NARROW_CASES)
def test_the_largest_loads_in_16_bits(topology, method):
    choices, N = [0, 1, NARROW - 1, NARROW], lb.parse_topology(topology).size
    rows = np.random.default_rng(14).choice(choices, (32 if N > 8 else 256, N))
    rows[0] = NARROW
    rows[1] = np.arange(N) % 3 == 0
    rows[2] = np.where(np.arange(N) % 2, NARROW, 0)
    assert_narrow_lanes_agree(rows, topology, method)


@pytest.mark.parametrize(
    ("topology", "method", "half"),
    [
        ("hypercube:1", "dem", 1),
        # All triangles are equal, and cells too: three pairs of the prism, six of the dimension.
        ("hhc:1", "hexa_cell", 3),
        ("hhc:1", "hexa_cell:algorithm=C", 3),
        ("hhc:2", "hexa_cell:odd_unit=lower", 6),
    ],
)
def test_every_difference_in_16_bits(topology, method, half):
    differences = np.repeat(np.arange(NARROW + 1), 2)
    differences[1::2] *= -1
    base = np.where(differences < 0, NARROW, 0)
    rows = np.repeat(np.stack([base, base + differences], axis=1), half, axis=1)
    found, chosen = balanced_in(np.int16, rows, topology, method)
    assert chosen == np.int16
    size = np.abs(differences)
    if "lower" in method or "C" in method:
        sent = np.where(size > (1 if "C" in method else 0), (size + 1) // 2, 0)
    else:
        sent = size // 2
    assert np.array_equal(found["moved"], half * sent)
    ends = np.sort(
        [
            base + differences - np.sign(differences) * sent,
            rows[:, 0] + np.sign(differences) * sent,
        ],
        axis=0,
    )
    assert np.array_equal(found["extremes"], ends)


@pytest.mark.parametrize(("topology", "method"), [("hypercube:3", "dem"), ("hhc:2", "hexa_cell")])
def test_when_lanes_have_16_bits(topology, method):
    prepared = tile_method(lb.parse_topology(topology), method)
    N = prepared.topology.size
    assert prepared.dtype(N * NARROW, NARROW, 32) == np.int16
    # So many trials fill no registers of any width.
    assert prepared.dtype(N * NARROW, NARROW, 33) == np.int32
    assert prepared.dtype(N * NARROW + 1, NARROW + 1, 32) == np.int32
    assert prepared.dtype(2**31, NARROW, 32) == np.int64
