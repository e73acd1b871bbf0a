"""Limits on the transfers of a round, and the groups of transfers on which they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import as_array, whole_number
from ..memory import require_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .transfers import Integers, Transfers

NO_LIMIT = np.iinfo(np.int64).max
# Cells of a table of groups and rounds from which groups of few transfers share a row.
MOST_CELLS, CELLS_A_TRANSFER = 2**22, 16
CELL_BYTES = 16


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit on ``G`` groups of transfers, such as all that a node sends, in one round.

    Attributes
    ----------
    name : str
        The argument.
    columns : tuple of (T,) int64
        Group of each transfer; two where a transfer counts at both of its nodes.
    most : (G,) int64
        Most transfers of a group in one round, ``NO_LIMIT`` for any number.
    totals : (G,) int64
        Number of transfers of a group.
    """

    name: str
    columns: tuple[Integers, ...]
    most: Integers
    totals: Integers

    @property
    def binding(self) -> NDArray[np.bool_]:
        """Mask (G,) of the groups with more transfers than one round may have."""
        return np.asarray(self.totals > self.most)

    @property
    def rounds(self) -> Integers:
        """Least rounds (G,) that the transfers of each group take on their own."""
        least: Integers = -(-self.totals // self.most)
        return least


class Groups(NamedTuple):
    """The groups of every transfer, as kernels take them; group 0 has no limit.

    Attributes
    ----------
    numbers : (T, K) int32
        Groups of each transfer.
    most : (G,) int64
        Most transfers of a group in one round.
    links : bool
        Whether the last groups are those of ``per_link``.
    """

    numbers: NDArray[np.int32]
    most: Integers
    links: bool


def read_limits(
    transfers: Transfers, per_node: Any, send: Any, receive: Any, per_link: Any
) -> list[Limit]:
    """Return the limits that are not None, checked; numbers of ``ends`` and links are groups."""
    ends, nodes = transfers.ends, transfers.nodes
    limits = []
    for name, value, columns in (
        ("per_node", per_node, ends),
        ("send", send, ends[:1]),
        ("receive", receive, ends[1:]),
    ):
        if value is not None:
            totals = np.zeros(len(nodes), dtype=np.int64)
            for column in columns:
                totals += np.bincount(column, minlength=len(nodes))
            limits.append(Limit(name, columns, _node_limits(name, value, nodes, totals), totals))
    if per_link is not None:
        most_a_link = whole_number("per_link", per_link, 1)
        totals = np.bincount(transfers.links)
        most = np.full(len(totals), most_a_link)
        limits.append(Limit("per_link", (transfers.links,), most, totals))
    return limits


def _node_limits(name: str, value: Any, nodes: Integers, totals: Integers) -> Integers:
    """Return a limit for each of the nodes (n,), of one number or one for each node number."""
    if not np.ndim(value):
        if isinstance(value, np.ndarray):
            value = value[()]
        return np.full(len(totals), whole_number(name, value, 1))
    array = as_array(name, value)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must be a whole number, or a list of one for each node, got an array of "
            f"dtype {array.dtype} and shape {array.shape}"
        )
    if len(nodes) and nodes[-1] >= len(array):
        raise ValueError(
            f"{name} must have a limit for each of the nodes 0..{nodes[-1]}, got {len(array)}"
        )
    most = np.minimum(array, np.array(NO_LIMIT, dtype=array.dtype if array.dtype == "u8" else "i8"))
    limits: Integers = most.astype(np.int64)[nodes]
    low = (limits < 1) & (totals > 0)
    if low.any():
        place = int(np.argmax(low))
        raise ValueError(
            f"{name} must be 1 or more at every node with transfers, got {limits[place]} at node "
            f"{nodes[place]}: leave out the transfers of a node that may have none"
        )
    return np.maximum(limits, 1)


def least_rounds(transfers: Transfers, limits: Sequence[Limit]) -> int:
    """Return a number of rounds below which no schedule exists.

    A group takes ``ceil(transfers / limit)`` rounds. Where transfers wait for others, those that
    must come before all of the group, and after all of it, count as well.
    """
    if not transfers.count:
        return 0
    waiting, least = transfers.waiting, 1
    if waiting is not None:
        least = int((waiting.heads + waiting.tails).max()) + 1
    for limit in limits:
        rounds = limit.rounds
        if waiting is not None:
            for row in (waiting.heads, waiting.tails):
                outside = np.full(len(rounds), NO_LIMIT)
                for column in limit.columns:
                    np.minimum.at(outside, column, row)
                rounds = rounds + np.where(limit.totals > 0, outside, 0)
        least = max(least, int(rounds.max(initial=0)))
    return least


def without_implied(limits: Sequence[Limit]) -> list[Limit]:
    """Return the limits, lifted in groups where others make sure that they hold."""
    by_name = {limit.name: limit for limit in limits}
    node, send, receive, link = (
        by_name.get(name) for name in ("per_node", "send", "receive", "per_link")
    )
    result = dict(by_name)
    if node is not None:
        for side in (send, receive):
            if side is not None:
                result[side.name] = _lifted(side, side.most >= node.most)
        if send is not None and receive is not None:
            # A limit beyond the transfers that there are is as good as none, and has no overflow.
            both = np.minimum(send.most, send.totals) + np.minimum(receive.most, receive.totals)
            # Of two limits that imply each other one must stay.
            after = result["send"].most, result["receive"].most
            alone = (after[0] < NO_LIMIT) & (after[1] < NO_LIMIT)
            result["per_node"] = _lifted(node, (both <= node.most) & alone)
    if link is not None:
        implied = np.zeros(len(link.most), dtype=bool)
        for limit in (node, send, receive):
            if limit is not None:
                for column in limit.columns:
                    implied[link.columns[0][limit.most[column] <= link.most[0]]] = True
        result["per_link"] = _lifted(link, implied)
    return list(result.values())


def _lifted(limit: Limit, where: NDArray[np.bool_]) -> Limit:
    return replace(limit, most=np.where(where, NO_LIMIT, limit.most))


def halves(limit: Limit, forward: NDArray[np.bool_]) -> list[Limit]:
    """Return an even limit at nodes as half of it for each direction of the transfers."""
    first, second = limit.columns
    columns = np.where(forward, first, second), np.where(forward, second, first)
    return [
        replace(
            limit,
            columns=(column,),
            most=limit.most // 2,
            totals=np.bincount(column, minlength=len(limit.totals)),
        )
        for column in columns
    ]


def grouped(T: int, limits: Sequence[Limit], rounds: int, width: int) -> Groups:
    """Return the groups of ``T`` transfers that may be full, in a table of ``width`` rounds.

    Each has at most its limit times ``rounds`` transfers. In a table that would be far larger than
    the transfers, groups of few transfers are put together into groups of at most ``rounds``
    transfers and limit 1, which is more than was asked for.
    """
    rows = 1 + sum(int(limit.binding.sum()) for limit in limits)
    join = rows * width > MOST_CELLS + CELLS_A_TRANSFER * T
    columns, most, base = [], [np.array([NO_LIMIT])], 1
    for limit in limits:
        own = limit.binding
        if not own.any():
            continue
        number = np.zeros(len(own), dtype=np.int64)
        few = own & (limit.totals <= rounds // 4)
        if not join or limit.name == "per_link":
            few[:] = False
        own &= ~few
        number[own] = base + np.arange(own.sum())
        base += int(own.sum())
        most.append(limit.most[own])
        if few.any():
            # Each starts in its half of ``rounds`` places and ends less than a quarter behind it.
            sizes = limit.totals[few]
            shared = (np.cumsum(sizes) - sizes) // (rounds // 2)
            number[few] = base + shared
            base += int(shared[-1]) + 1
            most.append(np.ones(int(shared[-1]) + 1, dtype=np.int64))
        columns += [number[column].astype(np.int32) for column in limit.columns]
    require_memory(CELL_BYTES * base * width, f"a table of {base} groups and {width} rounds")
    numbers = np.stack(columns, axis=1) if columns else np.zeros((T, 0), dtype=np.int32)
    links = any(limit.name == "per_link" and limit.binding.any() for limit in limits)
    return Groups(np.ascontiguousarray(numbers), np.concatenate(most), links)
