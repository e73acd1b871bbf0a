"""Trials in tiles record bit for bit what the public functions record of ``sample_loads``."""

import numpy as np
import pytest

import fastlb as lb
from fastlb.accelerate import kernels
from fastlb.exchange.figures import figures, figures_in
from fastlb.exchange.loads import Survey
from fastlb.montecarlo.chunks import Chunk
from fastlb.montecarlo.measuring import run_chunk
from fastlb.montecarlo.measuring_tiles import TILE_BYTES, measure_in_tiles
from fastlb.montecarlo.methodtext import parse_method
from fastlb.montecarlo.tile_methods import tile_method

LAWS = [
    "uniform:1000",
    f"uniform:{2**45}",
    "exponential:1000000",
    "poisson:3",
    "normal:1000,400",
    "log-normal:1000,1.5",
    "zipf:1.5,100",
    "two-valued:0,1000000000,0.01",
    f"one-hot:{10**8}",
    "resampled:3-1-4-0",
]
GDE = ("gde", "gde:lam=1/3,max_sweeps=3", "gde:order=interleaved", "gde:lam=0.9000000001")
METHODS = {
    "mesh:8x8": (*GDE, "dde", "dde:axes=1-0"),
    "torus:5x3x4": (*GDE, "dde"),
    "ring:7": (*GDE, "dde"),
    "chain:1": (*GDE, "dde"),
    "hypercube:0": ("dem", "dde", "gde", "fault_tolerant_dem"),
    "hypercube:7": ("dem", "dem:dims=3-1-0-2-5-4-6", "dde", *GDE, "fault_tolerant_dem"),
    "hypercube:5:faults=0-1,2-6,0-4": (
        "dem",
        "dem:dims=3-1-0-2-4",
        "gde",
        "fault_tolerant_dem",
        "fault_tolerant_dem:order=highest,donor=earliest",
    ),
    "hypercube:3:faults=0-4,5-7": ("fault_tolerant_dem", "fault_tolerant_dem:fallback=tree"),
    "hhc:1": ("hexa_cell", "hexa_cell:algorithm=A", "hexa_cell:algorithm=C"),
    "hhc:4": (
        "hexa_cell",
        "hexa_cell:algorithm=A",
        "hexa_cell:algorithm=A,odd_unit=lower,share=greedy",
        "hexa_cell:algorithm=B,share=greedy",
        "hexa_cell:algorithm=C",
    ),
}


def chunk_of(topology, methods, loads, *, start=0, trials=37, seed=2**70 + 3):
    law = lb.parse_distribution(loads)
    return Chunk(lb.parse_topology(topology), law, tuple(methods), seed, start, trials)


def assert_same_as_rows(chunk):
    found = measure_in_tiles(chunk)
    assert list(found) == list(chunk.methods)
    drawn = lb.sample_loads(
        chunk.loads, chunk.topology, trials=chunk.trials, seed=chunk.seed, start=chunk.start
    )
    for method, recorded in found.items():
        name, options = parse_method(method)
        expected = lb.balance(drawn, chunk.topology, method=name, **options)
        fields, wanted = dict(recorded), dict(expected._fields)
        counts, wanted_counts = fields.pop("counts", {}), wanted.pop("counts", {})
        # No figure of a trial: the study has it in the method's spelling.
        wanted.pop("lam", None)
        for ours, theirs in ((fields, wanted), (counts, wanted_counts)):
            assert set(ours) == set(theirs)
            for figure, values in theirs.items():
                # Those of a single trial are plain numbers.
                figures = np.broadcast_to(ours[figure], np.shape(values))
                assert np.array_equal(figures, values), (method, figure)
                assert figures.dtype == np.asarray(values).dtype, figure


@pytest.mark.parametrize("loads", LAWS)
@pytest.mark.parametrize("topology", METHODS)
def test_tiles_record_what_the_public_functions_record(topology, loads):
    assert_same_as_rows(chunk_of(topology, METHODS[topology], loads, start=2**50 + 1))


@pytest.mark.parametrize("trials", [1, 15, 16, 17, 64, 65, 1025, 1500])
def test_any_number_of_trials(trials):
    for topology in ("mesh:8x8", "hypercube:6", "hhc:3"):
        methods = METHODS.get(topology, ("dem",) if topology[:4] == "hype" else ("hexa_cell",))
        assert_same_as_rows(chunk_of(topology, methods[:1], "uniform:1000", trials=trials, start=7))


def test_the_last_trials_that_there_are():
    trials = 3
    chunk = chunk_of("ring:5", ["dde"], "uniform:9", start=2**63 - 1 - trials, trials=trials)
    assert_same_as_rows(chunk)


def test_networks_up_to_the_tile():
    assert_same_as_rows(chunk_of("hypercube:12", ["dem", "fault_tolerant_dem"], "uniform:9"))
    assert_same_as_rows(chunk_of("mesh:16x16x16", ["dde", "gde"], "exponential:1000", trials=5))


def test_parts_that_stay_in_cache_in_any_order():
    orders = [f"dde:axes={axes}" for axes in ("0-1-2", "1-0-2", "2-1-0")]
    assert_same_as_rows(chunk_of("torus:9x8x9", orders, "uniform:1000"))
    orders = [f"dem:dims={dims}" for dims in ("1-0-3-2-5-4-6-8-7", "8-0-1-2-3-4-5-6-7")]
    assert_same_as_rows(chunk_of("hypercube:9", orders, "uniform:1000"))
    assert_same_as_rows(chunk_of("hypercube:9:faults=0-1,2-258", orders[:1], "uniform:1000"))


@pytest.mark.parametrize(
    ("topology", "method", "loads"),
    [
        ("ring:4", "dde", f"uniform:{2**62 - 1}"),  # totals may pass int64
        ("hypercube:3", "dem", f"uniform:{2**59}"),  # what is moved may
        ("hhc:1", "hexa_cell", f"two-valued:0,{2**60}"),
        ("hypercube:2:faults=0-1,0-2", "fault_tolerant_dem:fallback=tree", "uniform:9"),
        ("hypercube:3:faults=0-4,5-7", "fault_tolerant_dem:finish=tree", "uniform:9"),
        (f"chain:{TILE_BYTES}", "dde", "uniform:9"),
        ("torus:5x4", "dde:exchange=sbr", "uniform:9"),
    ],
)
def test_what_tiles_do_not_hold_is_left_to_rows(topology, method, loads):
    chunk = chunk_of(topology, [method], loads, trials=2)
    assert measure_in_tiles(chunk) == {}


def test_a_chunk_of_both_kinds(monkeypatch):
    monkeypatch.setattr("fastlb.registry._METHODS", {"dem": lb.dem, "dde": lb.dde})
    lb.register_method("own", lambda loads, topology, record="metrics": lb.dem(loads, topology))
    columns = run_chunk(chunk_of("hypercube:4", ["own", "dde", "dem"], "poisson:3"))
    assert np.array_equal(columns[0]["moved"], columns[2]["moved"])
    monkeypatch.setitem(lb.registry._METHODS, "dem", lb.registry._METHODS["own"])
    tile_method.cache_clear()
    assert "dem" not in measure_in_tiles(chunk_of("hypercube:4", ["dem"], "poisson:3"))
    tile_method.cache_clear()


@pytest.mark.parametrize(
    ("topology", "method"),
    [
        ("mesh:3x3", "dem"),
        ("hypercube:3", "hexa_cell"),
        ("mesh:3x3", "fault_tolerant_dem"),
        ("hypercube:2", "dde:exchange=both"),
        ("hypercube:2", "gde:tol=1"),
        ("hypercube:2", "dde:lam=0.5"),
        ("hhc:2", "hexa_cell:algorithm=D"),
        ("hypercube:2", "fault_tolerant_dem:fallback=bush"),
    ],
)
def test_the_public_function_says_what_is_wrong(topology, method):
    chunk = chunk_of(topology, [method], "uniform:9")
    assert measure_in_tiles(chunk) == {}
    with pytest.raises((TypeError, ValueError)):
        run_chunk(chunk)


@pytest.mark.parametrize("B", [2, 7, 8, 9, 29])
def test_figures_of_lanes(B):
    """A register of trials at a time, and those left over, as NumPy works them out for rows."""
    rng = np.random.default_rng(B)
    units = rng.integers(0, 2**40, (7, B + 3))
    units[0] += 2**45
    # Trials without any load.
    units[:, rng.random(B + 3) < 0.2] = 0
    before, after, (moved, local) = units[:3], units[3:5, :B], units[5:, :B]
    whole, real = np.full((4, B + 5), -7), np.full((4, B + 5), -7.0)
    kernels("layout.figures").figures(before, after, moved, local, 12, 2, whole, real)
    surveys = Survey(*before[:, :B]), Survey(before[0, :B], *after)
    expected = figures(*surveys, 12, moved, local)
    for name, found in figures_in((whole, real)).items():
        assert np.array_equal(found[2:-3], expected[name])
        assert (found[[0, 1, -3, -2, -1]] == -7).all()
