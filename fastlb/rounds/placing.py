"""Which round each transfer goes into: first fit, and exchanges where that misses the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .limits import Groups, Limit, grouped, halves, without_implied
from .transfers import OPEN, UNUSED, ascending

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .transfers import Integers, Transfers


# Times that transfers go late and early again where first fit alone misses the bound: of 240 plans
# and mixed limits on small networks more passes improved none.
PASSES = 2
# Limits of which each transfer has one at most, so that groups are on two sides.
SIDES = {"send", "receive"}


def place(transfers: Transfers, limits: Sequence[Limit], bound: int) -> Integers:
    """Return the round (T,) of every transfer, ``bound`` rounds in all where that is possible.

    First fit, heaviest first, comes first. Where it misses the bound, groups exchange transfers:
    transfers of at most two groups each are coloured within the bound where the groups have two
    sides, or where all limits are even, so that Euler's directions make two sides. All goes into
    earlier rounds then as far as there is room, which there is not where one side is full.
    """
    if not transfers.count:
        return np.empty(0, dtype=np.int64)
    needed, T = without_implied(limits), transfers.count
    order = heaviest_first(transfers)
    is_full = transfers.waiting is None and _full_on_a_side(needed, bound)
    placed = 0
    if not is_full:
        rounds, placed = _first_fit(transfers, order, grouped(T, needed, bound, bound), bound)
    if placed == T:
        return rounds
    coloured = None if transfers.waiting is not None else _coloured(needed, order, bound)
    if coloured is not None:
        order, coloured = _earliest_first(transfers, coloured, order)
        if is_full:
            return coloured
        width = int(coloured.max()) + 1
        rounds, placed = _first_fit(transfers, order, grouped(T, needed, bound, width), width)
        # Groups that share a row may have no room where each of them has.
        return rounds if placed == T else coloured
    width = bound
    while placed < T:
        width *= 2
        groups = grouped(T, needed, bound, width)
        rounds, placed = _first_fit(transfers, order, groups, width)
    return _forth_and_back(transfers, order, groups, rounds, bound)


def _full_on_a_side(limits: Sequence[Limit], bound: int) -> bool:
    """Tell whether all that send, or all that receive, have as many transfers as they may have.

    First fit would meet the bound by chance alone then, and no transfer can go into an earlier
    round than the one that it has.
    """
    binding = [limit for limit in limits if limit.binding.any()]
    return {limit.name for limit in binding} <= SIDES and any(
        bool((limit.totals[limit.totals > 0] == limit.most[limit.totals > 0] * bound).all())
        for limit in binding
    )


def _forth_and_back(
    transfers: Transfers, order: Integers, groups: Groups, rounds: Integers, bound: int
) -> Integers:
    """Return rounds that are no more, and often fewer: first fit from the end, then from the start.

    From the end all goes as late as it can, the last first. Both ways first fit adds no round, and
    what many others wait for comes first in the end, so that gaps close (Li and Willis 1992).
    """
    waiting = transfers.waiting
    reverse = transfers if waiting is None else replace(transfers, waiting=waiting.reversed)
    for _pass in range(PASSES):
        for way in (reverse, transfers):
            count = int(rounds.max()) + 1
            if count == bound and way is reverse:
                return rounds
            from_the_end = order[ascending(count - 1 - rounds[order])]
            rounds, _ = _first_fit(way, from_the_end, groups, count)
    return rounds


def heaviest_first(transfers: Transfers) -> Integers:
    """Return an order of the transfers: longest chains first, then the largest amounts."""
    amount, waiting = transfers.amount, transfers.waiting
    order = np.arange(transfers.count)
    if amount is not None:
        order = _descending(amount)
    if waiting is not None:
        order = order[ascending(waiting.tails.max() - waiting.tails[order])]
    return order


def _descending(amount: NDArray[Any]) -> Integers:
    """Return the order of amounts, the largest first, of equals the first."""
    if amount.dtype.kind == "i" and amount.max() < 2**62 // len(amount):
        return ascending(amount.max() - amount)
    backwards = np.argsort(amount[::-1], kind="stable")[::-1]
    return np.ascontiguousarray(len(amount) - 1 - backwards)


def _first_fit(
    transfers: Transfers, order: Integers, groups: Groups, width: int
) -> tuple[Integers, int]:
    waiting, T = transfers.waiting, transfers.count
    if waiting is None:
        before, after, gates = np.full(T, OPEN), np.full(T, UNUSED), UNUSED + 1
    else:
        before, after, gates = waiting.before, waiting.after, waiting.gates
    module = kernels("rounds.first_fit")
    problem = module.Problem(order, groups.numbers, groups.most, before, after)
    rounds, opens = np.empty(T, dtype=np.int64), np.zeros(gates, dtype=np.int64)
    return rounds, module.first_fit(problem, rounds, *_table(groups, width), opens)


def _table(groups: Groups, width: int) -> tuple[NDArray[np.int32], NDArray[np.uint64], Integers]:
    """Return zeros: transfers of each group in each round, bits of full rounds, and first words."""
    G = len(groups.most)
    full = np.zeros((G, width // 64 + 1), dtype=np.uint64)
    return np.zeros((G, width), dtype=np.int32), full, np.zeros(G, dtype=np.int64)


def _as_edges(groups: Groups) -> Groups | None:
    """Return two groups and the link of each transfer, or None where there are more groups."""
    ends, link = groups.numbers, np.zeros(len(groups.numbers), dtype=np.int32)
    if groups.links:
        ends, link = ends[:, :-1], ends[:, -1]
    if ends.shape[1] > 2:
        ends = np.sort(ends, axis=1)
        if ends[:, :-2].any():
            return None
        ends = ends[:, -2:]
    missing = np.zeros((len(ends), 2 - ends.shape[1]), dtype=np.int32)
    return groups._replace(numbers=np.column_stack([ends, missing, link]))


def _coloured(limits: Sequence[Limit], order: Integers, bound: int) -> Integers | None:
    """Return rounds of transfers in two groups each, or None where there are more."""
    binding = [limit for limit in limits if limit.binding.any()]
    names = {limit.name for limit in binding}
    if names == {"per_node"}:
        (limit,) = binding
        if not (limit.most[limit.binding] % 2).any():
            ends = np.stack(limit.columns, axis=1)
            forward = kernels("rounds.orientation").orient(ends, len(limit.totals))
            binding, names = halves(limit, forward), SIDES
    if names <= SIDES:
        return _coloured_on_two_sides(grouped(len(order), binding, bound, bound), order, bound)
    width = 3 * bound if "per_node" in names else bound
    edges = _as_edges(grouped(len(order), limits, bound, width))
    if edges is None:
        return None
    T, groups = len(order), edges.numbers
    # Where both groups of a transfer are one, it counts once.
    groups[groups[:, 0] == groups[:, 1], 1] = 0
    records = np.zeros((T, 4, 4), dtype=np.int32)
    records[:, :3, 0] = groups
    counts, full, _ = _table(edges, width)
    cells = np.stack([np.full_like(counts, -1), counts], axis=-1)
    net = np.zeros(len(edges.most), dtype=np.int64)
    module = kernels("rounds.exchange")
    state = module.State(records, edges.most, cells, full, np.empty(T, dtype=np.int64), net)
    module.colour(order, state, bound)
    return records[:, 3, 0].astype(np.int64)


def _coloured_on_two_sides(groups: Groups, order: Integers, bound: int) -> Integers:
    """Return rounds of transfers with a group on the left, one on the right, or one of them."""
    columns = list(groups.numbers.T)
    if (groups.most[1:] > 1).any():
        columns = [_parts(column, bound) for column in columns]
        for left, right in pairwise(columns):
            right[right > 0] += left.max()
    sides = np.zeros((len(order), 2), dtype=np.int32)
    for side, column in enumerate(columns):
        sides[:, side] = column
    table = np.full((int(sides.max()) + 1, bound), -1, dtype=np.int32)
    # Bits of the rounds, of which a group is free in all.
    bits = np.full(bound // 64 + 1, 2**64 - 1, dtype=np.uint64)
    bits[-1] = 2 ** (bound % 64) - 1
    free, rounds = np.tile(bits, (len(table), 1)), np.zeros(len(order), dtype=np.int64)
    kernels("rounds.two_sides").colour_two_sides(order, sides, table, free, rounds)
    return rounds


def _parts(groups: NDArray[np.int32], most: int) -> NDArray[np.int32]:
    """Return groups (T,) cut into parts of at most so many transfers, from 1 on; 0 remains 0.

    Where a group may have two transfers in a round, two parts may have one each.
    """
    order = ascending(groups.astype(np.int64))
    ordered = groups[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    places = np.arange(len(ordered))
    within = places - np.repeat(begins, np.diff(begins, append=len(ordered)))
    parts = np.empty_like(groups)
    parts[order] = np.cumsum((within % most == 0) & (ordered > 0)) * (ordered > 0)
    return parts


def _earliest_first(
    transfers: Transfers, rounds: Integers, order: Integers
) -> tuple[Integers, Integers]:
    """Return (order, rounds): in this order of the transfers first fit adds no round.

    Rounds come in the order of their heaviest transfers, without amounts the fullest first; of
    transfers over one link the heaviest has the earliest of their rounds.
    """
    if transfers.amount is None:
        sizes = np.bincount(rounds)
        rank = np.empty(len(sizes), dtype=np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        ranked = rank[rounds]
        return ascending(ranked), ranked
    count, T = int(rounds.max()) + 1, transfers.count
    first = np.full(count, T)
    np.minimum.at(first, rounds[order], np.arange(T))
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(count)
    by_weight = rank[rounds][order]
    link = transfers.links[order]
    # By link, and within it by weight, the heaviest first; there the rounds in ascending order.
    by_weight[ascending(link)] = np.sort(link * count + by_weight) % count
    ranked = np.empty_like(by_weight)
    ranked[order] = by_weight
    return order[ascending(by_weight)], ranked
