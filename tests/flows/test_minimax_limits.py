"""The edges of minimax flow: int64, empty and long networks, bad arguments."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fastlb as lb

TRIANGLE = [(0, 1), (0, 2), (2, 1)]


@pytest.mark.parametrize("method", ["fused", "mmc01", "scipy"])
@pytest.mark.parametrize("capacity", [2**31 - 1, 2**31, 3_000_000_000, 2**62, 2**63, 2**70])
def test_capacities_around_machine_integers(method: str, capacity: int) -> None:
    network = lb.Network([(0, 1)], capacity=[capacity])
    asked = min(capacity, 2**60)
    try:
        p = lb.minimax_flow(network, [asked, -(2**60)], method=method)
    except OverflowError as error:
        assert method == "scipy"
        assert "32 bits" in str(error)
    else:
        assert (p.eliminated, p.contention, p.flow.tolist()) == (asked, asked, [asked])
        assert p.verify()
    small = lb.minimax_flow(network, [7, -7], method=method)
    assert small.eliminated == 7


@pytest.mark.parametrize("total", [2**60, 2**61, 2**61 + 1, 2**63 - 1, 2**63, 2**65, -(2**63)])
@pytest.mark.parametrize("integral", [True, False])
def test_totals_are_exact_or_refused(total: int, integral: bool) -> None:
    network = lb.Network(TRIANGLE)
    if abs(total) > 2**61:
        with pytest.raises(OverflowError, match=r"2\*\*61"):
            lb.minimax_flow(network, [total, -total, 0], integral=integral)
        return
    p = lb.minimax_flow(network, [total, -total, 0], integral=integral)
    assert p.eliminated == total
    assert p.contention == total // 2
    assert p.verify()


def test_totals_of_many_nodes_do_not_wrap() -> None:
    excess = np.full(8, 2**61 - 1, dtype=np.int64)
    excess[4:] *= -1
    with pytest.raises(OverflowError, match="total excess"):
        lb.minimax_flow(lb.Hypercube(3).network(), excess)
    with pytest.raises(OverflowError, match="denominator"):
        lb.minimax_flow(lb.Network(TRIANGLE), [2**61 - 1, 1 - 2**61, 0], integral=False)


@pytest.mark.parametrize("room", [2**62, 2**63, 2**90, Fraction(2**90, 7), 1e300, 1e-300])
def test_room_beyond_all_excess_is_as_good_as_enough(room: Any) -> None:
    for excess, sign in (([1.5, -room], 1), ([room, -1.5], 1), ([6, 3, -room], 1)):
        given = excess if not isinstance(room, int) else [int(2 * x) for x in excess]
        p = lb.minimax_flow(lb.Network([(0, 1), (1, 2), (2, 1)]), [*given, 0][:3])
        less = min(sum(x for x in given if x > 0), -sum(x for x in given if x < 0))
        assert p.eliminated == sign * less
        assert p.verify()


def test_traffic_beyond_capacity_leaves_nothing_and_still_counts() -> None:
    network = lb.Network([(0, 1), (0, 1)], capacity=[5, 9], traffic=[8, 1])
    p = lb.minimax_flow(network, [20, -20], contention="total")
    assert (p.eliminated, p.contention, p.flow.tolist()) == (8, 9, [0, 8])
    assert lb.minimax_flow(network, [6, -6], contention="total").contention == 8
    assert lb.minimax_flow(network, [6, -6], contention="total").bottleneck.tolist() == [0]
    assert lb.minimax_flow(network, [6, -6]).contention == 6
    only = lb.minimax_flow(network, [6, -6], contention="total", counted=[False, True])
    assert only.contention == 7


@pytest.mark.parametrize(
    ("network", "excess"),
    [
        (lb.Network([], n=1), [5]),
        (lb.Network([], n=3), [5, 0, -5]),
        (lb.Network([(0, 0), (1, 1)]), [5, -5]),
        (lb.Network([(1, 0)]), [5, -5]),
        (lb.Network([(0, 1)], capacity=0), [5, -5]),
        (lb.Network([(0, 1)], capacity=3, traffic=4), [5, -5]),
        (lb.Network([(0, 1)]), [0, 0]),
        (lb.Network([(0, 1)]), [4, 4]),
        (lb.Network([(0, 1)]), [-4, -4]),
    ],
)
@pytest.mark.parametrize("method", ["fused", "mmc01", "scipy"])
def test_nothing_can_move(network: lb.Network, excess: list[int], method: str) -> None:
    p = lb.minimax_flow(network, excess, method=method)
    assert (p.eliminated, p.contention, p.traffic) == (0, 0, 0)
    assert p.flow.tolist() == [0] * len(network.edges)
    assert p.routes() == []
    assert p.verify()


@pytest.mark.parametrize(
    "network",
    [
        lb.Chain(20_000).network(),
        lb.Ring(5_000).network(capacity=10**6),
        lb.Network([(0, i) for i in range(1, 5_000)] + [(i, 0) for i in range(1, 5_000)]),
        lb.Network([(u, v) for u in range(70) for v in range(70)]),
        lb.Network([(0, 1)] * 500 + [(1, 0)] * 400 + [(1, 2)] * 300, n=3),
        lb.Network([(2 * i, 2 * i + 1) for i in range(3_000)]),
    ],
    ids=["chain", "ring", "star", "complete", "parallel", "disconnected"],
)
def test_extreme_shapes(network: lb.Network) -> None:
    loads = np.random.default_rng(0).integers(0, 1000, network.size)
    p = lb.minimax_flow(network, lb.excess_load(loads))
    assert p.verify()
    routes = p.routes()
    assert sum(r.amount for r in routes) == p.eliminated
    assert sum(r.amount * (len(r.path) - 1) for r in routes) == p.traffic
    q = lb.minimax_flow(network, lb.excess_load(loads), method="mmc01")
    assert (p.eliminated, p.contention) == (q.eliminated, q.contention)


def test_batches_are_their_rows() -> None:
    network = lb.Mesh(3, 3).network(capacity=5)
    excess = np.random.default_rng(3).integers(-9, 10, (2, 3, 9))
    b = lb.minimax_flow(network, excess)
    assert b.flow.shape == (2, 3, 24)
    assert b.flow.dtype == b.eliminated.dtype == np.int64
    assert b.verify()
    for i, row in enumerate(excess.reshape(-1, 9)):
        p = lb.minimax_flow(network, row)
        assert b[i].contention == p.contention == b.contention.flat[i]
        assert (b.flow.reshape(-1, 24)[i] == p.flow).all()
        assert len(b.routes()[i]) == len(p.routes())
    empty = lb.minimax_flow(network, np.empty((0, 9), dtype=np.int64))
    assert empty.flow.shape == (0, 24)
    assert lb.minimax_flow(network, excess / 3).flow.dtype == np.float64
    assert lb.minimax_flow(network, excess, integral=False).flow.dtype == object


def test_what_may_move_can_be_restricted() -> None:
    network = lb.Network([(0, 1), (1, 2), (0, 2)])
    p = lb.minimax_flow(network, [9, -4, -5], max_moves=4)
    assert p.eliminated == 4
    assert p.verify()
    held = lb.minimax_flow(network, [9, -4, -5], pinned=[1])
    assert held.eliminated == 5
    assert held.contention == 3
    masked = lb.minimax_flow(network, [9, -4, -5], pinned=np.array([False, True, False]))
    assert masked.contention == 3
    assert lb.minimax_flow(network, [9, -4, -5], max_moves=0).eliminated == 0
    assert lb.minimax_flow(network, [9.0, -4, -5], max_moves=1.5).eliminated == 1.5


def test_exact_numbers_of_every_spelling() -> None:
    network = lb.Network(TRIANGLE, capacity=["41/7", None, Fraction(9, 2)])
    p = lb.minimax_flow(network, ["41/3", "-41/3", 0])
    assert p.eliminated == Fraction(41, 7) + Fraction(9, 2)
    assert p.contention == Fraction(41, 7)
    assert p.quantum == 0
    assert p.verify()
    assert p.to_dict()["contention"] == "41/7"


def test_what_a_float_unit_is_worth() -> None:
    p = lb.minimax_flow(lb.Network(TRIANGLE), [7.0, -7.0, 0.0])
    assert p.contention == 3.5
    assert p.quantum == 2.0**-50
    assert p.flow.dtype == np.float64


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"contention": "both"}, ValueError, "contention must be one of"),
        ({"plan": "best"}, ValueError, "plan must be one of"),
        ({"method": "dinic"}, ValueError, "method must be one of"),
        ({"levels": 0}, ValueError, "levels must be"),
        ({"levels": 2}, ValueError, "integral=False"),
        ({"integral": "yes"}, TypeError, "integral must be"),
        ({"counted": [True]}, ValueError, "counted must be a bool for each of 3 links"),
        ({"counted": [0.5, 1, 1]}, ValueError, "counted must be"),
        ({"pinned": [3]}, ValueError, r"pinned must be nodes 0\.\.2, got 3"),
        ({"pinned": ["a"]}, TypeError, "pinned must be"),
        ({"max_moves": -1}, ValueError, "max_moves must not be negative"),
        ({"max_moves": "many"}, ValueError, "max_moves must be a number"),
        ({"routing": "e-cube"}, ValueError, "topology.network"),
        ({"routing": "x"}, ValueError, "routing must be"),
    ],
)
def test_bad_options(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        lb.minimax_flow(lb.Network(TRIANGLE), [1, -1, 0], **options)


@pytest.mark.parametrize(
    ("excess", "error"),
    [
        ([1, -1], ValueError),
        ([1, -1, np.nan], ValueError),
        ([1, -1, np.inf], ValueError),
        (np.array([1, -1, 0], dtype=bool), TypeError),
        (np.array([1, -1, 0], dtype=complex), TypeError),
        ([1, -1, "x"], ValueError),
        ([[1, -1]], ValueError),
        (5, TypeError),
    ],
)
def test_bad_excess(excess: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="excess"):
        lb.minimax_flow(lb.Network(TRIANGLE), excess)


def test_integral_needs_integers() -> None:
    with pytest.raises(ValueError, match="integral=True needs integer data, got float"):
        lb.minimax_flow(lb.Network(TRIANGLE), [1.5, -1.5, 0], integral=True)
    with pytest.raises(TypeError, match="network must be a Topology"):
        lb.minimax_flow(4, [1, -1, 0, 0])  # type: ignore[arg-type]


def test_excess_is_counted_before_a_network_is_laid_out() -> None:
    network = lb.Network([(0, 1)], n=2**40)
    with pytest.raises(ValueError, match=f"excess must be one value for each of {2**40} nodes"):
        lb.minimax_flow(network, [1, -1])
