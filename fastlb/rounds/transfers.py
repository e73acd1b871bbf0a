"""Transfers as arrays, of a plan or as users give them, and which of them wait for others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..accelerate import kernels
from ..arguments import as_array, refused_dtype, written
from ..errors import DeadlockError
from ..exchange.result import Balance
from ..flows.plan import MinimaxPlan
from ..flows.planbatch import MinimaxBatch
from ..quantities import read_quantities
from ..tasks.assignment import Assignment
from ..topologies.grids import Grid
from ..topologies.hypercube import Hypercube

Integers = NDArray[np.int64]
# Gates of kernels/rounds/first_fit.py: nothing has to be done before the one, nothing waits for
# the other.
OPEN, UNUSED = 0, 1


@dataclass(frozen=True, eq=False)
class Waiting:
    """Which transfers wait for others, by gates as in ``kernels/rounds/first_fit.py``.

    Attributes
    ----------
    before, after : (T,) int64
        The gate that a transfer waits for, and the one that waits for the transfer.
    gates : int
        Number of gates.
    heads, tails : (T,) int64
        Most transfers in a row that must be done before and after each one.
    """

    before: Integers
    after: Integers
    gates: int
    heads: Integers
    tails: Integers

    @property
    def reversed(self) -> Waiting:
        """The same from the last transfer to the first."""
        before = np.where(self.after == UNUSED, OPEN, self.after)
        after = np.where(self.before == OPEN, UNUSED, self.before)
        return Waiting(before, after, self.gates, self.tails, self.heads)


@dataclass(frozen=True, eq=False)
class Transfers:
    """``T`` transfers between nodes.

    Attributes
    ----------
    src, dst : (T,) int64
        Nodes that send and that receive.
    amount : (T,) array or None
        What is transferred; ints, floats, or objects for exact fractions.
    route, hop : (T,) int64 or None
        Of the routes of a plan: the route a transfer belongs to and its place in it.
    waiting : Waiting or None
        Which transfers wait for others; None where none does.
    """

    src: Integers
    dst: Integers
    amount: NDArray[Any] | None
    route: Integers | None = None
    hop: Integers | None = None
    waiting: Waiting | None = None

    @property
    def count(self) -> int:
        """Number of transfers, T."""
        return len(self.src)

    @cached_property
    def nodes(self) -> Integers:
        """The nodes (n,) by the numbers that ``ends`` has for them, in ascending order."""
        return self._numbered[0]

    @cached_property
    def ends(self) -> tuple[Integers, Integers]:
        """Senders and receivers (T,) by numbers that are not much larger than T."""
        return self._numbered[1]

    @cached_property
    def _numbered(self) -> tuple[Integers, tuple[Integers, Integers]]:
        both = np.concatenate([self.src, self.dst])
        n = int(both.max(initial=-1)) + 1
        if n <= 4 * len(both) + 1024:
            return np.arange(n), (self.src, self.dst)
        nodes, places = np.unique(both, return_inverse=True)
        return nodes, (places[: self.count], places[self.count :])

    @cached_property
    def links(self) -> Integers:
        """Number (T,) of the link from sender to receiver, below T."""
        (src, dst), n = self.ends, len(self.nodes)
        pairs = src * n + dst
        if n**2 * self.count >= 2**62:
            pairs = np.unique(pairs, return_inverse=True)[1]
        order = ascending(pairs)
        numbers = np.empty_like(order)
        numbers[order] = np.cumsum(np.diff(pairs[order], prepend=pairs[order[:1]]) != 0)
        return numbers


def ascending(keys: Integers) -> Integers:
    """Return the stable order of keys from 0 to 2**62 / T.

    A sort of keys and numbers in one is several times as fast as a stable ``np.argsort``.
    """
    T = len(keys)
    order: Integers = np.sort(keys * T + np.arange(T)) % T
    return order


def read_transfers(src: Any, dst: Any, amount: Any, hops: bool) -> Transfers:
    """Return the transfers of arrays, a plan, or routes; see ``schedule``."""
    if dst is not None:
        return _of_arrays(src, dst, amount)
    if amount is not None:
        raise ValueError("amount must be left out with a plan, which has amounts of its own")
    if isinstance(src, MinimaxBatch):
        raise TypeError("src must be one plan, got a batch of plans: schedule each of them")
    if isinstance(src, Balance):
        if not hops:
            raise ValueError("hops=False is for routes; a Balance has a transfer on every link")
        return _of_balance(src)
    routes = src.routes() if isinstance(src, MinimaxPlan | Assignment) else src
    if isinstance(routes, Iterable) and not isinstance(routes, np.ndarray | str):
        routes = list(routes)
        if all(hasattr(route, "path") for route in routes):
            return _of_routes(routes, hops)
    raise TypeError(
        "src must be a MinimaxPlan, an Assignment, a Balance with flows, a list of routes, or the "
        f"nodes that send, with those that receive as dst; got {type(src).__name__} without dst"
    )


def _of_arrays(src: Any, dst: Any, amount: Any) -> Transfers:
    nodes = [_nodes(name, values) for name, values in (("src", src), ("dst", dst))]
    if len(nodes[0]) != len(nodes[1]):
        raise ValueError(
            f"src and dst must have a node each a transfer, got {len(nodes[0])} and {len(nodes[1])}"
        )
    inside = nodes[0] == nodes[1]
    if inside.any():
        place = int(np.argmax(inside))
        raise ValueError(
            f"src and dst must differ in every transfer, got node {nodes[0][place]} twice at "
            f"{place}: leave out what stays, as with src[src != dst]"
        )
    amounts = None
    if amount is not None:
        amounts = read_quantities("amount", amount, len(nodes[0]), "transfers").values
    return Transfers(nodes[0], nodes[1], amounts)


def _nodes(name: str, values: Any) -> Integers:
    """Return node numbers (T,) as int64, or raise."""
    array = as_array(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one axis, a node a transfer, got shape {array.shape}")
    if not array.size:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        got = refused_dtype(name, array.dtype)
        raise TypeError(f"{name} must be node numbers, which are integers, got {got}")
    if array.min() < 0:
        place = int(np.argmax(array < 0))
        raise ValueError(f"{name} must be node numbers from 0 on, got {array[place]} at {place}")
    if array.max() >= 2**63:
        raise OverflowError(f"{name} must be node numbers below 2**63, got {array.max()}")
    return np.array(array, dtype=np.int64)


def _of_routes(routes: Sequence[Any], hops: bool) -> Transfers:
    """Return the hops of routes, each waiting for the one before; or routes from end to end."""
    paths = [tuple(route.path) for route in routes]
    lengths = np.array([len(path) - 1 for path in paths], dtype=np.int64)
    if (lengths < 1).any():
        place = int(np.argmax(lengths < 1))
        raise ValueError(
            f"a route must lead from a node to another one, got {written(paths[place])} at {place}"
        )
    if not hops:
        lengths = np.ones_like(lengths)
        paths = [(path[0], path[-1]) for path in paths]
    route = np.repeat(np.arange(len(paths)), lengths)
    begin = np.cumsum(lengths) - lengths
    hop = np.arange(len(route)) - begin[route]
    amounts = [getattr(route, "amount", None) for route in routes]
    whole = _of_arrays(
        [node for path in paths for node in path[:-1]],
        [node for path in paths for node in path[1:]],
        None if None in amounts else [amounts[r] for r in route.tolist()],
    )
    waiting = None
    if (lengths > 1).any():
        # A gate of its own between each transfer and the next one of its route.
        gate = np.arange(len(route)) + UNUSED
        last = hop == lengths[route] - 1
        before = np.where(hop == 0, OPEN, gate)
        after = np.where(last, UNUSED, gate + 1)
        waiting = Waiting(
            before, after, len(route) + 2, hop.astype(np.int64), lengths[route] - 1 - hop
        )
    return Transfers(whole.src, whole.dst, whole.amount, route, hop, waiting)


def _of_balance(balance: Balance) -> Transfers:
    """Return a transfer for every link that carries load in all.

    A node that does not hold at first what it has to send waits for all that it receives.
    """
    loads, topology = balance.loads, balance.topology
    if loads.size != topology.size:
        raise ValueError(
            f"src must be the balance of one network, got loads of shape {loads.shape}: "
            "balance and schedule them one by one"
        )
    flows = balance.flows.reshape(-1)
    links = _ends_of_flows(topology)
    carrying = np.flatnonzero(flows)
    ends, flow = links[carrying], flows[carrying]
    src, dst = np.where(flow > 0, ends.T, ends.T[::-1])
    amount = abs(flow)
    exact = flow.dtype.kind == "i"
    after = loads.reshape(-1).astype(object if exact else np.float64)
    sent = np.zeros(topology.size, dtype=after.dtype)
    received = sent.copy()
    np.add.at(sent, src, amount)
    np.add.at(received, dst, amount)
    needs = np.asarray(after - received < 0, dtype=bool)
    before = np.where(needs[src], src + UNUSED + 1, OPEN)
    behind = np.where(needs[dst], dst + UNUSED + 1, UNUSED)
    waiting = None
    if needs.any():
        waiting = _waiting(before, behind, topology.size + UNUSED + 1)
    return Transfers(src.astype(np.int64), dst.astype(np.int64), amount, waiting=waiting)


def _waiting(before: Integers, after: Integers, gates: int) -> Waiting:
    heads, tails, certain = kernels("rounds.chains").chain_lengths(before, after, gates)
    if certain < len(before):
        raise DeadlockError(
            "flows must not run in a circle of nodes that all wait for load to send on, got "
            f"{len(before) - certain} transfers that wait for themselves: plan with minimax_flow, "
            "whose transfers wait for those before them on their route alone"
        )
    return Waiting(before, after, gates, heads, tails)


def _ends_of_flows(topology: Any) -> Integers:
    """Return the nodes (F, 2) between which each of the flows of a Balance goes."""
    if not isinstance(topology, Grid | Hypercube):
        ends: Integers = topology.links
        return ends
    nodes = np.arange(topology.size, dtype=np.int64).reshape(topology.shape)
    axes = [np.stack([nodes, np.roll(nodes, -1, axis)], axis=-1) for axis in range(topology.ndim)]
    return np.stack(axes).reshape(-1, 2) if axes else np.empty((0, 2), dtype=np.int64)
