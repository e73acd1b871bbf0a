"""Topologies: addresses, links against the plain twin, spellings, conversions, bad arguments."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlb as lb
from tests import strategies as ours
from tests.oracles import topology as plain

TOPOLOGIES = [
    lb.Chain(1),
    lb.Chain(7),
    lb.Ring(1),
    lb.Ring(2),
    lb.Ring(5),
    lb.Mesh(2, 3),
    lb.Torus(3, 2, 1),
    lb.Grid((4, 3), wrap=(True, False)),
    lb.Hypercube(0),
    lb.Hypercube(3),
    lb.Hypercube(3, faults=[(4, 0), (5, 7)]),
]

every_topology = pytest.mark.parametrize("topology", TOPOLOGIES, ids=repr)


@given(st.data())
def test_links_of_grids(data: st.DataObject) -> None:
    shape = data.draw(ours.shapes())
    wrap = tuple(data.draw(st.booleans()) for _ in shape)
    grid = lb.Grid(shape, wrap=wrap)
    assert grid.edges.tolist() == [list(link) for link in plain.grid_links(shape, wrap)]
    assert grid.edges.dtype == np.int64


@pytest.mark.parametrize("n", range(6))
def test_links_of_hypercubes(n: int) -> None:
    links = [list(link) for link in sorted(plain.hypercube_links(n))]
    assert lb.Hypercube(n).edges.tolist() == links
    broken = links[1::3]
    cube = lb.Hypercube(n, faults=[(v, u) for u, v in broken])
    assert cube.edges.tolist() == [link for link in links if link not in broken]


@every_topology
def test_addresses_are_array_positions(topology: lb.Topology) -> None:
    assert topology.size == math.prod(topology.shape)
    assert topology.ndim == len(topology.shape)
    addresses = [topology.address(i) for i in range(topology.size)]
    assert addresses == list(np.ndindex(topology.shape))
    assert [topology.index(address) for address in addresses] == list(range(topology.size))


@every_topology
def test_links_in_other_forms(topology: lb.Topology) -> None:
    links = topology.edges.tolist()
    assert topology.edge_count == len(links)
    matrix = topology.adjacency().toarray()
    assert (matrix == matrix.T).all()
    assert np.argwhere(np.triu(matrix)).tolist() == links
    graph = topology.to_networkx()
    assert len(graph) == topology.size
    assert sorted(sorted(link) for link in graph.edges) == links
    network = topology.network(capacity=3)
    assert network.edges.tolist() == links + [[v, u] for u, v in links]
    assert network.links.tolist() == links
    assert network.capacity == (3,) * (2 * len(links))


@every_topology
def test_the_same_topology_again(topology: lb.Topology) -> None:
    assert eval(repr(topology), vars(lb)) == topology
    assert lb.parse_topology(topology.spec) == topology
    for again in (copy.deepcopy(topology), pickle.loads(pickle.dumps(topology))):
        assert again == topology
        # Worked out again: another process may take it for another number.
        assert "_hash" not in vars(again)
        assert hash(again) == hash(topology)


def test_equal_by_nodes_and_links() -> None:
    assert lb.Chain(4) == lb.Mesh(4) == lb.Grid((4,)) == lb.Mesh((4,))
    assert lb.Ring(4) == lb.Torus(4) != lb.Chain(4)
    assert lb.Hypercube(2) != lb.Mesh(2, 2)
    assert lb.Hypercube(2, faults=[(1, 0)]) == lb.Hypercube(2, faults=[(0, 1), (1, 0)])


@every_topology
def test_immutable(topology: lb.Topology) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        topology.size = 3
    with pytest.raises(AttributeError, match="immutable"):
        del topology.shape
    with pytest.raises(ValueError, match="read-only"):
        topology.edges[:] = 0


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: lb.Mesh(), ValueError, "shape of a Mesh must be axis lengths"),
        (lambda: lb.Mesh(0), ValueError, "shape of a Mesh must be axis lengths"),
        (lambda: lb.Torus(2.0), TypeError, "shape of a Torus must be integers"),
        (lambda: lb.Chain(2**63), ValueError, "shape of a Chain must have at most"),
        (lambda: lb.Grid(4), TypeError, "shape of a Grid must be integers"),
        (lambda: lb.Grid((2, 2), wrap=(1, 0)), ValueError, "wrap must be a bool or one"),
        (lambda: lb.Grid((2, 2), wrap=(True,)), ValueError, "wrap must be a bool or one"),
        (lambda: lb.Hypercube(-1), ValueError, "n must be between 0 and 62"),
        (lambda: lb.Hypercube(True), TypeError, "n must be an integer"),
        (lambda: lb.Hypercube(3, faults=[(0, 3)]), ValueError, "one bit apart"),
        (lambda: lb.Hypercube(3, faults=(0, 4)), ValueError, "faults must be pairs"),
        (lambda: lb.Mesh(2, 2).address(4), ValueError, "index must be in 0..3"),
        (lambda: lb.Mesh(2, 2).address(-1), ValueError, "index must be in 0..3"),
        (lambda: lb.Mesh(2, 2).address(1.0), TypeError, "index must be an integer"),
        (lambda: lb.Mesh(2, 2).index((0, 2)), ValueError, "address must have 2 coordinates"),
        (lambda: lb.Mesh(2, 2).index((0,)), ValueError, "address must have 2 coordinates"),
        (lambda: lb.Mesh(2, 2).index(3), TypeError, "address must be a sequence of integers"),
    ],
)
def test_bad_arguments(call: Callable[[], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("msh:3", ValueError, "did you mean mesh?"),
        ("mesh", ValueError, "must be spelled like mesh:8x8"),
        ("mesh:3y", ValueError, "must be spelled like mesh:8x8"),
        ("mesh:99999999999999999999x3", ValueError, "10**18, got 'mesh:99999999999999999999x3'"),
        (f"mesh:1{'0' * 5000}", ValueError, f"10**18, got 'mesh:1{'0' * 193}"),
        ("grid:4wx1000000000000000000w", ValueError, "sizes below 10**18, got 'grid:"),
        ("hhc:99999999999999999999", ValueError, "sizes below 10**18, got 'hhc:"),
        ("hypercube:3:faults=0-99999999999999999999", ValueError, "sizes below 10**18"),
        ("mesh:999999999999999999x99", ValueError, "must have at most 2**62 nodes"),
        ("ring:3x3", ValueError, "must be spelled like ring:8"),
        ("grid:4wx", ValueError, "must be spelled like grid:4wx6"),
        ("hypercube:3:faults=0", ValueError, "must be spelled like hypercube:10"),
        ("mesh:0", ValueError, "shape of a Mesh must be axis lengths"),
        (8, TypeError, "topology must be a string"),
    ],
)
def test_bad_spellings(text: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as caught:
        lb.parse_topology(text)
    assert says in str(caught.value)
