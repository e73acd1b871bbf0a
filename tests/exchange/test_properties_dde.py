"""DDE alone: bounds, minimality on chains and rings, idempotence, exchange, real loads."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours
from tests.oracles import dde, exchange, tree

lengths = st.integers(1, 40)


@given(st.data())
def test_difference_is_at_most_the_number_of_axes(data: st.DataObject) -> None:
    shape = data.draw(ours.shapes(limit=400))
    wrap = tuple(data.draw(st.booleans()) for _ in shape)
    loads = data.draw(ours.integer_loads(int(np.prod(shape))))
    b = lb.dde(loads, lb.Grid(shape, wrap=wrap), record="loads")
    assert int(b.loads.max()) - int(b.loads.min()) <= len(shape)


@given(st.data())
def test_chain_with_an_even_total_is_optimal(data: st.DataObject) -> None:
    k = data.draw(lengths)
    loads = data.draw(ours.integer_loads(k, dtype="uint16"))[0].astype(np.int64)
    loads[data.draw(st.integers(0, k - 1))] += -loads.sum() % k
    quota = int(loads.sum()) // k
    # Whatever is done, a link carries at least the imbalance of the nodes before it.
    fewest = sum(abs(excess) for excess in accumulate(int(w) - quota for w in loads))
    b = lb.dde(loads, lb.Chain(k))
    assert b.loads.tolist() == [quota] * k
    assert b.moved == fewest
    assert b.local == sum(min(int(w), quota) for w in loads)
    again = lb.dde(b.loads, lb.Chain(k))
    assert (again.moved, again.rounds, again.locality) == (0, 0, 1.0)


@given(st.data())
def test_chain_ends_at_its_quotas(data: st.DataObject) -> None:
    k = data.draw(lengths)
    loads = data.draw(ours.integer_loads(k))
    expected = [dde.quotas(row) for row in loads.tolist()]
    for topology in (lb.Chain(k), lb.Ring(k)):
        first = lb.dde(loads, topology, record="loads")
        assert first.loads.tolist() == expected
        assert lb.dde(first.loads, topology).moved.tolist() == [0]


def test_balanced_loads_may_move_to_the_lower_end() -> None:
    b = lb.dde(np.array([0, 1]), lb.Chain(2))
    assert b.loads.tolist() == [1, 0]
    assert (b.moved, b.local) == (1, 0)


@given(st.data())
def test_ring_moves_the_fewest_units(data: st.DataObject) -> None:
    k = data.draw(st.integers(3, 16))
    loads = data.draw(ours.integer_loads(k, dtype="int32"))[0]
    chain = dde.dde_line(loads.tolist()).flows
    # Flows with these quotas differ by a constant around the ring; a best one zeroes a link.
    fewest = min(sum(abs(x - shift) for x in chain) for shift in chain)
    b = lb.dde(loads, lb.Ring(k), record="flows")
    assert b.moved == np.abs(b.flows).sum() == fewest
    assert b.moved <= lb.dde(loads, lb.Chain(k)).moved


@given(st.data())
def test_rounds_stay_within_the_line(data: st.DataObject) -> None:
    k = data.draw(lengths)
    loads = data.draw(ours.integer_loads(k, dtype="int32", batch=2))
    rbs = lb.dde(loads, lb.Chain(k))
    sbr = lb.dde(loads, lb.Chain(k), exchange="sbr")
    assert (sbr.rounds <= rbs.rounds).all()
    assert (rbs.rounds <= max(k - 1, 0)).all()
    assert (sbr.local <= rbs.local).all()
    assert (rbs.steps == 2 * k).all()
    assert (lb.dde(loads, lb.Ring(k)).steps == k + k // 2).all()


@given(st.data())
def test_lines_show_the_worked_tables(data: st.DataObject) -> None:
    k = data.draw(lengths)
    ring = data.draw(st.booleans())
    loads = data.draw(ours.integer_loads(k))[0]
    line, expected = lb.dde_line(loads, ring=ring), dde.dde_line(loads.tolist(), ring)
    for name in ("suffix_sums", "quotas", "suffix_quotas", "flows"):
        assert getattr(line, name).tolist() == getattr(expected, name), name
        assert getattr(line, name).dtype == np.int64
    assert line.shift == expected.shift
    for mode in ("rbs", "sbr", "sbr-strict"):
        try:
            wanted = exchange.exchange_rounds(loads.tolist(), expected.flows, mode)
        except exchange.Deadlock:
            with pytest.raises(lb.DeadlockError):
                lb.exchange_rounds(loads, line.flows, ring=ring, mode=mode)
            continue
        rounds, local = lb.exchange_rounds(loads, line.flows, ring=ring, mode=mode)
        assert (rounds, local.tolist()) == wanted


@given(st.data())
def test_exchange_of_any_flows(data: st.DataObject) -> None:
    """Flows of no algorithm: around the ring, more than a node has at first, more than it gets."""
    k = data.draw(st.integers(3, 7))
    ring = data.draw(st.booleans())
    loads = data.draw(st.lists(st.integers(0, 6), min_size=k, max_size=k))
    flows = data.draw(st.lists(st.integers(-4, 4), min_size=k, max_size=k))
    if not ring:
        flows[-1] = 0
    mode = data.draw(st.sampled_from(["rbs", "sbr", "sbr-strict"]))

    def run() -> Any:
        return lb.exchange_rounds(np.array(loads), np.array(flows), ring=ring, mode=mode)

    try:
        rounds, local = exchange.exchange_rounds(loads, flows, mode)
    except exchange.Deadlock:
        with pytest.raises(lb.DeadlockError):
            run()
    except ValueError:
        with pytest.raises(ValueError, match="flows") as caught:
            run()
        assert not isinstance(caught.value, lb.DeadlockError)
    else:
        found = run()
        assert (found[0], found[1].tolist()) == (rounds, local)


@given(st.data())
def test_recursive_doubling(data: st.DataObject) -> None:
    k = data.draw(lengths)
    loads = data.draw(ours.integer_loads(k))[0]
    r, expected = lb.recursive_doubling(loads), tree.recursive_doubling(loads.tolist())
    assert r.loads.tolist() == expected.loads
    assert r.flows.tolist() == expected.flows
    for name in ("exchange_steps", "info_steps", "total_steps", "bound"):
        assert getattr(r, name) == getattr(expected, name), name
    assert r.total_steps <= r.bound or k == 1


@given(st.data())
def test_real_loads_with_exact_means(data: st.DataObject) -> None:
    problem = data.draw(ours.dde_problems(real=True))
    dtype = data.draw(st.sampled_from(ours.FLOATS))
    size = problem.topology.size
    loads = data.draw(ours.integer_loads(size, dtype="uint16", batch=2)).astype(dtype)
    b = problem.run(loads, record="flows")
    assert b.loads.dtype == dtype
    for i, row in enumerate(loads.tolist()):
        r = problem.twin(row)
        assert b.loads[i].tolist() == r.loads
        assert b.flows[i].reshape(problem.topology.ndim, size).tolist() == r.flows
        assert (b.moved[i], b.local[i]) == (r.moved, r.local)
        assert b.rounds[i] == r.extra["rounds"]
        assert b.difference[i] == 0


@given(st.data())
def test_any_real_loads_end_at_the_mean(data: st.DataObject) -> None:
    shape = data.draw(ours.shapes(limit=100))
    wrap = tuple(data.draw(st.booleans()) for _ in shape)
    mode = data.draw(st.sampled_from(["rbs", "sbr"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    loads = rng.random((2, *shape)) * 10.0 ** rng.integers(-8, 9)
    loads[rng.random(loads.shape) < data.draw(st.sampled_from([0, 0.7]))] = 0
    b = lb.dde(loads, lb.Grid(shape, wrap=wrap), exchange=mode)
    means = loads.mean(axis=tuple(range(1, loads.ndim)))
    spread = np.broadcast_to(means.reshape(2, *(1 for _ in shape)), loads.shape)
    assert b.loads == pytest.approx(spread, rel=1e-9)
    assert b.loads.min() >= 0
    for row, moved in zip(loads, b.moved, strict=True):
        twin = dde.dde(row.ravel().tolist(), shape, wrap, None, mode, real=True)
        assert moved == pytest.approx(float(twin.moved), rel=1e-6)


@given(st.data())
def test_a_large_flow_over_many_links_never_wraps(data: st.DataObject) -> None:
    """Total and flows fit int64, yet units times links may not."""
    k = data.draw(st.integers(2, 12))
    ring = data.draw(st.booleans())
    loads = np.zeros(k, np.int64)
    loads[data.draw(st.integers(0, k - 1))] = data.draw(st.integers(2**61, 2**63 - 1))
    topology = lb.Ring(k) if ring else lb.Chain(k)
    line = dde.dde_line(loads.tolist(), ring)
    assert lb.dde(loads, topology, record="loads").loads.tolist() == line.quotas
    moved = sum(map(abs, line.flows))
    if moved > ours.INT64_MAX:
        with pytest.raises(OverflowError):
            lb.dde(loads, topology)
    else:
        assert lb.dde(loads, topology).moved == moved


def test_cube_by_dde_is_not_dem() -> None:
    loads = np.array([0, 1])
    assert lb.dem(loads, lb.Hypercube(1)).loads.tolist() == [0, 1]
    assert lb.dde(loads, lb.Hypercube(1)).loads.tolist() == [1, 0]


@given(st.data())
def test_hypercube_is_the_two_ary_cube(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 5))
    axes = data.draw(st.none() | st.permutations(range(n)))
    loads = data.draw(ours.integer_loads(2**n, dtype="int32", batch=2))
    cube, torus = (
        lb.dde(loads, topology, axes=axes, record="flows")
        for topology in (lb.Hypercube(n), lb.Torus(*(2,) * n))
    )
    for name in ("loads", "flows", "moved", "local", "rounds", "stages"):
        assert getattr(cube, name).tolist() == getattr(torus, name).tolist(), name
