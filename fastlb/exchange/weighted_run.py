"""The use of the kernels that balance by weights: tables of weights, and the runs of rows.

Legend: ``B`` networks, ``N`` nodes, ``E`` links, ``S`` axes or dimensions in the order balanced.

=================  ==================================================================
DDE                ``weighted.lines``, by the marginal weights of the axes
DEM                ``weighted.pairs``, a pass by the marginal weights of the bits
GDE                ``weighted.pairs``, in sweeps by the weights of the nodes
=================  ==================================================================

A marginal weight of a node on an axis is the sum over all nodes that agree with it on this axis and
on those before. Balanced by it, every line of the axis gives each of its nodes what the nodes
behind it are due together, and after the last axis every node has its share, for any weights.

Kernels compute in int64 or float64 alone; rows of other dtypes are converted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..pages import copied, empty
from .casting import INT64_MAX, units_dtype
from .dde_run import AXES, LEAST, LOCAL, MOST, DdePlan, Recorded, check_units
from .gde_share import widest_factor
from .weighted_figures import sum_of_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from .loads import Survey

    Links = tuple[NDArray[np.int64], NDArray[np.int64]]

# Bits that a product of two numbers below the sum of some weights may have in a kernel's steps.
PRODUCT_BITS = 62
# Pairs compare twice what they would move.
LARGEST_TOTAL = 2**62 - 1


def marginal_weights(
    integers: NDArray[np.int64], shape: Sequence[int], axes: Iterable[int]
) -> list[NDArray[np.int64]]:
    """Return the marginal weights on each axis, in the order balanced.

    Their shapes are those of the nodes, with length 1 on the axes still to come.
    """
    sums = integers.reshape(shape)
    marginals: list[NDArray[np.int64]] = []
    for axis in reversed(list(axes)):
        marginals.append(sums)
        sums = sums.sum(axis=axis, keepdims=True)
    return marginals[::-1]


def division_base(whole: int) -> tuple[int, int]:
    """Return how kernels divide weights of sums up to ``whole``: see ``proportions.part_of``."""
    bits = PRODUCT_BITS - whole.bit_length()
    return bits, -(-whole.bit_length() // bits)


def refuse_totals(before: Survey) -> None:
    """Raise ``OverflowError`` if pairs of whole units could not be compared."""
    total = before.total
    if total.dtype.kind != "f" and total.max(initial=0) > LARGEST_TOTAL:
        row = int(np.argmax(total))
        raise OverflowError(
            f"loads must have totals below 2**62 with weights, got {total[row]} in row {row}"
        )


def run_lines(
    rows: NDArray[Any],
    plan: DdePlan,
    integers: NDArray[np.int64],
    record: str,
    exchange: str,
) -> tuple[NDArray[Any], Recorded]:
    """Balance a copy of rows (B, N) by DDE; return it, and the figures as ``balance_rows`` does.

    Raises
    ------
    OverflowError
        If the units that move on an axis do not fit int64.
    """
    kernel, loads = kernels("weighted.lines"), copied(rows, units_dtype(rows))
    (B, N), S = loads.shape, len(plan.axes)
    line_weights: NDArray[Any] = np.empty((S, N), loads.dtype)
    whole = 1
    order = plan.axes[:, 0].tolist()
    for s, marginal in enumerate(marginal_weights(integers, plan.shape, order)):
        factor = np.maximum(np.gcd.reduce(marginal, axis=order[s], keepdims=True), 1)
        on_axis: NDArray[Any] = marginal // factor
        wholes = on_axis.sum(axis=order[s], keepdims=True)
        whole = max(whole, int(wholes.max()))
        if loads.dtype.kind == "f":
            # A load divided by a sum of weights from 1 to 2 neither overflows nor underflows.
            on_axis = np.ldexp(on_axis, 1 - np.frexp(wholes)[1])
        line_weights[s] = np.broadcast_to(on_axis, plan.shape).reshape(-1)
    least = counts = flows = stages = changed = columns = None
    if record != "loads":
        least, columns = copied(loads), np.empty((AXES + 2 * S, B), loads.dtype)
        counts = columns[AXES:]
        if exchange == "sbr":
            changed = np.empty(3 * plan.longest, np.int64)
        if record == "flows":
            flows, stages = empty((B, S, N), loads.dtype), empty((S, B, N), loads.dtype)
    workspace = np.empty(int(kernel.room(N, plan.longest)), loads.dtype)
    recorded = None if flows is None else (flows, stages)
    base = division_base(whole)
    # Units that do not fit turn negative, of which plain Python would warn.
    with np.errstate(over="ignore"):
        kernel.balance(
            loads, line_weights, least, counts, recorded, workspace, plan.axes, plan.comparators,
            base, changed,
        )  # fmt: skip
    if counts is None:
        return loads, Recorded(columns, None, None, None, None)  # type: ignore[arg-type]
    assert columns is not None and least is not None
    check_units(counts[:S])
    columns[LOCAL] = sum_of_nodes(least)
    columns[LEAST], columns[MOST] = loads.min(axis=1), loads.max(axis=1)
    stages = None if stages is None else stages.astype(rows.dtype)
    return loads, Recorded(columns, counts[:S], counts[S:], flows, stages)


def run_pairs(
    loads: NDArray[Any],
    least: NDArray[Any] | None,
    flows: NDArray[Any] | None,
    links: Links,
    weights: NDArray[np.int64],
    share: Fraction,
    until: tuple[NDArray[Any], int] | None = None,
) -> NDArray[Any]:
    """Let pairs of neighbours exchange in loads (B, N), in place, once or until all are near.

    Parameters
    ----------
    loads, least : int64 or float64
        ``least``, the loads, becomes the least load of each node; None for the loads alone.
    flows : (B, E) zeros, or None
        Receives the net flows.
    weights : (E, 2)
        Of both ends of the links; links whose ends are both 0 exchange nothing.
    share : Fraction
        Of what would bring a pair to its shares twice over: lambda.
    until : (tolerance, most), optional
        The largest distances (B,) of pairs that are near, see ``weighted.pairs``, and the most
        sweeps. Without it there is one.

    Returns
    -------
    (3, B), units moved, sweeps and flags

    Raises
    ------
    OverflowError
        If the units moved do not fit; the message names the row.
    """
    exact = loads.dtype.kind != "f"
    is_used = weights.any(axis=1)
    used = [np.ascontiguousarray(ends[is_used]) for ends in links]
    pairs = weights[is_used]
    pairs = pairs // np.gcd(pairs[:, 0], pairs[:, 1])[:, None]
    wholes = pairs.sum(axis=1, keepdims=True)
    own_flows = None if flows is None else np.zeros((len(loads), len(pairs)), loads.dtype)
    counts = np.zeros((3, len(loads)), loads.dtype)
    factor: tuple[Any, ...] = widest_factor(share)
    patience = INT64_MAX
    if not exact:
        pairs = 2 * pairs / wholes
        # A share too small for a float still is one: it moves nothing, and so stalls.
        factor = (max(float(share), float(np.finfo(np.float64).smallest_subnormal)),)
        patience = 2 * loads.shape[1] + 64
    kernel, base = kernels("weighted.pairs"), division_base(int(wholes.max(initial=1)))
    arguments = loads, least, own_flows, (used[0], used[1]), pairs, factor, base
    # Units that do not fit turn negative or infinite, of which plain Python would warn.
    with np.errstate(over="ignore"):
        if until is None:
            kernel.balance_once(*arguments, counts[0])
        else:
            tolerance, most = until
            kernel.balance(*arguments, tolerance, patience, most, counts)
    is_over = (counts[0] < 0) | ~np.isfinite(counts[0])
    if least is not None and is_over.any():
        kind, row = "int64" if exact else "float64", int(np.argmax(is_over))
        raise OverflowError(f"moved must fit {kind}, got more units in row {row}")
    if flows is not None:
        flows[:, is_used] = own_flows
    return counts


def pair_weights(links: Links, integers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the weights of both ends of each link, (E, 2), by which load leaves nodes without one.

    Of two nodes of weight 0 all goes to the one from which fewer links lead to a node with a
    weight: it counts as 1. Both stay at 0 where that does not tell them apart.
    """
    u, v = links
    pairs = np.stack([integers[u], integers[v]], axis=1)
    if integers.all():
        return pairs
    far = distances(links, integers)
    both = (pairs == 0).all(axis=1)
    pairs[both, 0] = (far[u] < far[v])[both]
    pairs[both, 1] = (far[u] > far[v])[both]
    return pairs


def distances(links: Links, integers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many links lead from each node to one with a weight, -1 if none do, (N,)."""
    u, v = links
    far = np.where(integers > 0, 0, -1)
    for distance in range(len(far)):
        reached = np.concatenate(
            [v[(far[u] == distance) & (far[v] < 0)], u[(far[v] == distance) & (far[u] < 0)]]
        )
        if not len(reached):
            break
        far[reached] = distance + 1
    return far


def refuse_stranded(rows: NDArray[Any], far: NDArray[np.int64]) -> None:
    """Raise ``ValueError`` if there is load from where no link leads to a node with a weight."""
    stranded = (rows != 0) & (far < 0)
    if stranded.any():
        row, node = (int(i) for i in np.unravel_index(int(np.argmax(stranded)), rows.shape))
        raise ValueError(
            "loads must be 0 where no link leads to a node of a weight above 0, "
            f"got {rows[row, node]} at node {node}"
        )
