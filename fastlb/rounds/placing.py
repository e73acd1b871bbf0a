"""Which round each transfer goes into: first fit, and exchanges where that misses the bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from .limits import Groups, Limit, grouped, halves, without_implied
from .transfers import OPEN, UNUSED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .transfers import Integers, Transfers


def place(transfers: Transfers, limits: Sequence[Limit], bound: int) -> Integers:
    """Return the round (T,) of every transfer, ``bound`` rounds in all where that is possible.

    First fit, heaviest first, comes first. Where it misses the bound, groups exchange transfers:
    transfers of at most two groups each are coloured within the bound where the groups have two
    sides, or where all limits are even, so that Euler's directions make two sides. All goes into
    earlier rounds then as far as there is room.
    """
    if not transfers.count:
        return np.empty(0, dtype=np.int64)
    needed = without_implied(limits)
    groups = grouped(needed, bound, bound)
    order = heaviest_first(transfers)
    rounds, placed = _first_fit(transfers, order, groups, bound)
    if placed == transfers.count:
        return rounds
    if transfers.waiting is None and (pairs := _pairs(groups)) is not None:
        coloured = _coloured(needed, pairs, order, bound)
        order, coloured = _earliest_first(transfers, coloured, order)
        width = int(coloured.max()) + 1
        rounds, placed = _first_fit(transfers, order, grouped(needed, bound, width), width)
        # Groups that share a row may have no room where each of them has.
        return rounds if placed == transfers.count else coloured
    width = bound
    while placed < transfers.count:
        width *= 2
        groups = grouped(needed, bound, width)
        rounds, placed = _first_fit(transfers, order, groups, width)
    return rounds


def heaviest_first(transfers: Transfers) -> Integers:
    """Return an order of the transfers: longest chains first, then the largest amounts."""
    amount, waiting = transfers.amount, transfers.waiting
    order = np.arange(transfers.count)
    if amount is not None:
        order = _descending(amount)
    if waiting is not None:
        order = order[np.argsort(-waiting.tails[order], kind="stable")]
    return order


def _descending(amount: NDArray[Any]) -> Integers:
    """Return the order of amounts, the largest first, of equals the first."""
    backwards = np.argsort(amount[::-1], kind="stable")[::-1]
    return np.ascontiguousarray(len(amount) - 1 - backwards)


def _first_fit(
    transfers: Transfers, order: Integers, groups: Groups, width: int
) -> tuple[Integers, int]:
    waiting, T = transfers.waiting, transfers.count
    if waiting is None:
        gates = np.full(T, OPEN), np.full(T, UNUSED), UNUSED + 1
    else:
        gates = waiting.before, waiting.after, waiting.gates
    run = kernels("rounds.first_fit").first_fit
    rounds, placed = run(order, groups.numbers, groups.most, *gates, width)
    return rounds, placed


def _pairs(groups: Groups) -> Groups | None:
    """Return the groups in two columns, or None where a transfer is in more than two."""
    numbers = groups.numbers
    if numbers.shape[1] > 2:
        numbers = np.sort(numbers, axis=1)
        if numbers[:, :-2].any():
            return None
        numbers = numbers[:, -2:]
    if numbers.shape[1] < 2:
        numbers = np.column_stack([numbers, np.zeros_like(numbers)])
    return Groups(np.ascontiguousarray(numbers), groups.most)


def _coloured(limits: Sequence[Limit], pairs: Groups, order: Integers, bound: int) -> Integers:
    colour = kernels("rounds.exchange").colour
    binding = [limit for limit in limits if limit.binding.any()]
    if len(binding) == 1 and len(binding[0].columns) == 2:
        limit = binding[0]
        if not (limit.most[limit.binding] % 2).any():
            ends = np.stack(limit.columns, axis=1)
            forward = kernels("rounds.orientation").orient(ends, len(limit.totals))
            directed = _pairs(grouped(halves(limit, forward), bound, bound))
            assert directed is not None
            result: Integers = colour(order, *directed, bound, bound)
            return result
    # Each of two groups is full in less than ``bound`` rounds while a transfer has none.
    wide = grouped(limits, bound, 2 * bound)
    wider = _pairs(wide)
    assert wider is not None
    widest: Integers = colour(order, *wider, bound, 2 * bound)
    return widest


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
        return np.argsort(ranked, kind="stable"), ranked
    _, first, place = np.unique(rounds[order], return_index=True, return_inverse=True)
    by_rank = np.argsort(np.argsort(first))[place]
    # Both orders are by link; the one has its transfers by weight, the other by round.
    src, dst = transfers.src[order], transfers.dst[order]
    by_weight = np.lexsort((dst, src))
    by_round = np.lexsort((by_rank, dst, src))
    by_rank[by_weight] = by_rank[by_round]
    ranked = np.empty_like(by_rank)
    ranked[order] = by_rank
    return order[np.argsort(by_rank, kind="stable")], ranked
