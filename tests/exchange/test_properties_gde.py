"""GDE alone: its stop, its bounds, lambda in all spellings, networks by edge colouring."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours
from tests.oracles import gde, topology

grids = st.tuples(ours.shapes(limit=30), st.integers(0, 15)).map(
    lambda drawn: (drawn[0], tuple(bool(drawn[1] >> i & 1) for i in range(len(drawn[0]))))
)


def neighbour_gap(loads: Any, links: Any) -> Any:
    """Largest difference over a link, per trial."""
    if not len(links):
        return np.zeros(len(loads))
    return np.abs(loads[:, links[:, 0]] - loads[:, links[:, 1]]).max(axis=1)


@given(st.data())
def test_neighbours_end_within_one_unless_stalled(data: st.DataObject) -> None:
    shape, wrap = data.draw(grids)
    lam = data.draw(st.sampled_from(ours.LAMBDAS[:-1]))
    loads = data.draw(ours.integer_loads(math.prod(shape), dtype="int32", batch=3)) % 10**6
    grid = lb.Grid(shape, wrap=wrap)
    b = lb.gde(loads, grid, lam=lam)
    links = np.array(topology.grid_links(shape, wrap), dtype=int).reshape(-1, 2)
    gap = neighbour_gap(b.loads.astype(np.int64), links)
    assert (b.stalled == (gap > 1)).all()
    assert (b.converged == (gap <= 1)).all()
    if lam >= Fraction(1, 2):
        assert not b.stalled.any()
    bound = sum(k // 2 if w and k > 2 else k - 1 for k, w in zip(shape, wrap, strict=True))
    assert (b.difference[~b.stalled] <= bound).all()
    again = lb.gde(b.loads, grid, lam=lam)
    assert again.loads.tolist() == b.loads.tolist()
    assert again.moved.tolist() == [0, 0, 0]
    assert again.sweeps.tolist() == b.stalled.astype(int).tolist()


@given(st.data())
def test_max_sweeps_cuts_short(data: st.DataObject) -> None:
    shape, wrap = data.draw(grids)
    loads = data.draw(ours.integer_loads(math.prod(shape), dtype="int32"))[0]
    grid = lb.Grid(shape, wrap=wrap)
    lam = Fraction(3, 4)
    full = lb.gde(loads, grid, lam=lam)
    exact = lb.gde(loads, grid, lam=lam, max_sweeps=full.sweeps + 5)
    assert (exact.sweeps, exact.converged) == (full.sweeps, True)
    exact = lb.gde(loads, grid, lam=lam, max_sweeps=max(full.sweeps, 1))
    assert (exact.sweeps, exact.converged) == (full.sweeps, True)
    if full.sweeps > 1:
        short = lb.gde(loads, grid, lam=lam, max_sweeps=full.sweeps - 1)
        assert (short.sweeps, short.converged, short.stalled) == (full.sweeps - 1, False, False)


@pytest.mark.parametrize(
    "spelling", [0.723, "0.723", "723/1000", (723, 1000), Fraction(723, 1000), np.float64(0.723)]
)
def test_spellings_of_lambda(spelling: Any) -> None:
    rng = np.random.default_rng(1)
    loads = rng.integers(0, 2**58, (4, 16))
    b = lb.gde(loads, lb.Torus(4, 4), lam=spelling)
    wanted = [gde.gde(w, (4, 4), (True, True), Fraction(723, 1000)) for w in loads.tolist()]
    assert b.loads.tolist() == [r.loads for r in wanted]
    assert b.sweeps.tolist() == [r.sweeps for r in wanted]


@given(st.data())
def test_transfers_are_exact_for_large_loads(data: st.DataObject) -> None:
    """`p*d` goes far beyond 64 bits, `p*d//q` does not."""
    q = data.draw(st.integers(2, data.draw(st.sampled_from([100, 10**15, 2**63, 10**30]))))
    p = data.draw(st.integers(1, q - 1) | st.sampled_from([1, q - 1, (q + 1) // 2]))
    dtype = data.draw(st.sampled_from(["int64", "uint64", "int32"]))
    loads = data.draw(ours.integer_loads(2, dtype=dtype, batch=2))
    b = lb.gde(loads, lb.Chain(2), lam=(p, q), max_sweeps=2)
    for i, row in enumerate(loads.tolist()):
        r = gde.gde(row, (2,), (False,), Fraction(p, q), max_sweeps=2)
        assert b.loads[i].tolist() == r.loads
        assert (b.moved[i], b.local[i]) == (r.moved, r.local)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (29905189447778807, 29905189447778808),
        (480800569407090048, 480800569407090049),
        (2441223341597144718, 4622282802752022874),
        (5555394750841462360, 8339354095718080555),
        (2**62, 2**63 - 1),
        (2**63 - 1, 2**63),
        (10**29 + 1, 10**30),
        (1, 2**63 - 1),
    ],
)
def test_fractions_of_large_denominator(p: int, q: int) -> None:
    """Where a quotient in double precision is wrong by more than its remainder can tell."""
    rng = np.random.default_rng(5)
    loads = np.zeros((100, 2), np.int64)
    loads[:, 0] = rng.integers(2**53, 2**63 - 1, 100)
    multiples = [min(i * q // p + 1, 2**63 - 1) for i in range(1, 41)]
    loads[:40, 0] = np.maximum(multiples, 2)
    b = lb.gde(loads, lb.Chain(2), lam=(p, q), max_sweeps=1, record="loads")
    assert b.loads[:, 1].tolist() == [int(d) * p // q for d in loads[:, 0]]


@given(st.data())
def test_figures_at_the_limit_of_int64(data: st.DataObject) -> None:
    """Units may cross links again and again: what is moved overflows before any load does."""
    shape, wrap = data.draw(grids)
    lam = data.draw(st.sampled_from(ours.LAMBDAS))
    loads = data.draw(ours.integer_loads(math.prod(shape), dtype="int64"))[0]
    loads[data.draw(st.integers(0, len(loads) - 1))] += ours.INT64_MAX - sum(loads.tolist())
    grid = lb.Grid(shape, wrap=wrap)
    r = gde.gde(loads.tolist(), shape, wrap, lam, max_sweeps=20)
    b = lb.gde(loads, grid, lam=lam, max_sweeps=20, record="loads")
    assert b.loads.tolist() == r.loads
    if r.moved <= ours.INT64_MAX:
        b = lb.gde(loads, grid, lam=lam, max_sweeps=20)
        assert (b.moved, b.local, b.sweeps) == (r.moved, r.local, r.sweeps)
    else:
        with pytest.raises(OverflowError):
            lb.gde(loads, grid, lam=lam, max_sweeps=20)


@given(st.data())
def test_default_lambda_is_the_rounded_optimum(data: st.DataObject) -> None:
    shape, wrap = data.draw(grids)
    if max(shape) == 1:
        return
    grid = lb.Grid(shape, wrap=wrap)
    best = topology.optimal_lambda(shape, wrap)
    assert lb.optimal_lambda(grid) == pytest.approx(best)
    lam = Fraction(round(best * 1000), 1000)
    loads = data.draw(ours.integer_loads(grid.size, dtype="uint16"))
    b = lb.gde(loads, grid, max_sweeps=30)
    assert b.loads.tolist() == lb.gde(loads, grid, lam=lam, max_sweeps=30).loads.tolist()


def test_the_papers_lambdas() -> None:
    for grid in (lb.Mesh(8, 8), lb.Torus(16, 16), lb.Mesh(8, 8, 8), lb.Torus(16, 16, 16)):
        assert lb.optimal_lambda(grid) == pytest.approx(0.7232, abs=5e-5)
    assert lb.optimal_lambda(lb.Hypercube(5)) == 0.5
    assert lb.optimal_lambda(lb.Torus(2, 2, 1)) == 0.5


@given(st.data())
def test_one_half_on_two_ary_cubes_is_dem(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 5))
    loads = data.draw(ours.integer_loads(2**n, batch=3, dtype="int32"))
    one_sweep = lb.gde(loads, lb.Mesh(*(2,) * n), lam="1/2", max_sweeps=1)
    one_pass = lb.dem(loads, lb.Hypercube(n), dims=range(n - 1, -1, -1))
    swept = one_sweep.sweeps == 1
    assert one_sweep.loads[swept].tolist() == one_pass.loads[swept].tolist()
    assert one_sweep.moved[swept].tolist() == one_pass.moved[swept].tolist()


@given(st.data())
def test_hypercube_is_the_two_ary_cube(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 5))
    order = data.draw(st.sampled_from(["dimension", "interleaved"]))
    loads = data.draw(ours.integer_loads(2**n, batch=2, dtype="int32"))
    cube, grid = (
        lb.gde(loads, t, lam=0.6, order=order, record="flows")
        for t in (lb.Hypercube(n), lb.Torus(*(2,) * n))
    )
    for name in ("loads", "sweeps", "moved", "local", "steps", "flows"):
        assert getattr(cube, name).tolist() == getattr(grid, name).tolist(), name


@given(st.data())
def test_real_loads_follow_the_twin(data: st.DataObject) -> None:
    shape, wrap = data.draw(grids)
    lam = data.draw(st.sampled_from([0.5, 0.723, 0.3]))
    order = data.draw(st.sampled_from(["dimension", "interleaved"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    loads = rng.random((2, math.prod(shape))) * 100
    b = lb.gde(loads, lb.Grid(shape, wrap=wrap), lam=lam, order=order, max_sweeps=4, tol=1e-3)
    for i, row in enumerate(loads.tolist()):
        r = gde.gde(row, shape, wrap, lam, order, tol=1e-3, max_sweeps=4)
        assert b.loads[i] == pytest.approx(np.array(r.loads))
        assert (b.moved[i], b.local[i]) == pytest.approx((r.moved, r.local))
        assert (b.sweeps[i], b.converged[i]) == (r.sweeps, r.converged)


@given(st.data())
def test_real_loads_converge_to_the_mean(data: st.DataObject) -> None:
    shape, wrap = data.draw(grids)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    loads = rng.random((2, math.prod(shape))) * 100
    b = lb.gde(loads, lb.Grid(shape, wrap=wrap), lam=0.5)
    assert b.converged.all()
    for row, final in zip(loads, b.loads, strict=True):
        assert final == pytest.approx(np.full(len(row), row.mean()), rel=1e-7)


@pytest.mark.parametrize("dtype", ours.FLOATS)
def test_real_loads_stop_with_the_default_tolerance(dtype: Any) -> None:
    """Single precision cannot reach 1e-9 of the mean by luck alone; it has to end all the same."""
    rng = np.random.default_rng(7)
    loads = (rng.random((3, 12)) * 1000).astype(dtype)
    b = lb.gde(loads, lb.Grid((3, 4), wrap=(True, False)))
    assert b.loads.dtype == dtype
    assert (b.converged | b.stalled).all()
    assert b.loads == pytest.approx(np.repeat(loads.mean(axis=1)[:, None], 12, axis=1), rel=1e-5)


@st.composite
def networks(draw: st.DrawFn) -> Any:
    n = draw(st.integers(1, 10))
    ends = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=20))
    return lb.Network(np.array(edges, dtype=int).reshape(-1, 2), n=n)


@given(st.data())
def test_any_network(data: st.DataObject) -> None:
    """Directed, parallel and looping edges come down to simple links, balanced by colours."""
    network = data.draw(networks())
    lam = data.draw(st.sampled_from(ours.LAMBDAS[:3]))
    loads = data.draw(ours.integer_loads(network.size, dtype="int32", batch=2)) % 10**6
    b = lb.gde(loads, network, lam=lam, record="flows")
    links = network.links
    assert b.flows.shape == (2, len(links))
    assert not b.stalled.any()
    assert (neighbour_gap(b.loads, links) <= 1).all()
    final = loads.astype(np.int64)
    for trial, flows in zip(final, b.flows, strict=True):
        np.subtract.at(trial, links[:, 0], flows)
        np.add.at(trial, links[:, 1], flows)
    assert final.tolist() == b.loads.tolist()
    assert (b.moved >= np.abs(b.flows).sum(axis=1)).all()
    degree = np.bincount(links.ravel(), minlength=network.size).max()
    assert degree <= b.colours <= degree + 1
    assert (b.steps == 3 * b.colours * b.sweeps).all()


@given(st.data())
def test_a_star_takes_a_colour_a_leaf(data: st.DataObject) -> None:
    leaves = data.draw(st.integers(1, 4))
    loads = data.draw(ours.integer_loads(leaves + 1, dtype="int16"))
    edges = [(0, leaf) for leaf in range(1, leaves + 1)]
    b = lb.gde(loads, lb.Network(edges), lam="3/4", record="flows")
    assert b.colours == leaves
    if leaves == 1:
        r = gde.gde_coloured(loads[0].tolist(), [edges], Fraction(3, 4))
        assert b.loads[0].tolist() == r.loads
        assert (b.moved[0], b.sweeps[0], b.local[0]) == (r.moved, r.sweeps, r.local)
        assert b.flows[0].tolist() == list(r.flows.values())


@pytest.mark.parametrize("shape", [(3,), (7,), (8,), (5, 2, 3), (4, 6), (70, 3), (3, 40)])
@pytest.mark.parametrize("wrapped", [False, True])
def test_along_lines_or_link_by_link_is_the_same(shape, wrapped):
    """With ``record="flows"`` every axis goes link by link; without, near lines go as wholes."""
    grid = lb.Grid(shape, wrap=(wrapped,) * len(shape))
    for trials, top in ((40, 50), (3, 2**40), (17, 2**60 // grid.size)):
        loads = np.random.default_rng(trials).integers(0, top, (trials, *shape))
        by_link = lb.gde(loads, grid, lam="3/5", record="flows")
        along = lb.gde(loads, grid, lam="3/5")
        assert np.array_equal(by_link.loads, along.loads)
        for name in ("moved", "local", "sweeps", "steps", "stalled", "converged"):
            assert np.array_equal(getattr(by_link, name), getattr(along, name)), name
