"""Dimension exchange by weights: DEM's pass over a cube, and GDE's sweeps over a network."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..pages import copied, copy_into
from .casting import units_dtype
from .figures import figures, per_batch
from .loads import check_order, check_record, read_loads, survey, survey_after
from .outputs import finished, output_rows
from .result import Balance
from .weighted_figures import evenness, sum_of_nodes, weighted_fields
from .weighted_run import (
    distances,
    marginal_weights,
    pair_weights,
    refuse_stranded,
    refuse_totals,
    run_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from ..topologies.colouring import Colouring
    from ..topologies.hypercube import Hypercube
    from .loads import Survey
    from .weights import Weights

HALF = Fraction(1, 2)


def dem_by_weight(
    loads: ArrayLike,
    topology: Hypercube,
    weights: Weights,
    *,
    dims: Iterable[int] | None,
    record: str,
    out: NDArray[Any] | None,
) -> Balance:
    """Balance loads on a hypercube by weights; see :func:`dem`."""
    check_record(record)
    inputs = read_loads(loads, topology)
    result, rows = output_rows(out, loads, inputs)
    order = check_order("dims", dims, topology.n)
    before = survey(inputs.rows)
    refuse_totals(before)
    work = copied(inputs.rows, units_dtype(inputs.rows))
    fields: dict[str, Any] = {"weights": weights.numbers.reshape(inputs.node_shape)}
    if record == "loads":
        _pass_over_bits(work, None, None, None, topology, weights, order)
        copy_into(rows, work)
        return Balance("dem", topology, record, {"loads": finished(result, rows), **fields})
    (B, N), S = work.shape, topology.n
    least, stages, flows = copied(work), None, None
    if record == "flows":
        stages, flows = np.empty((S, B, N), inputs.rows.dtype), np.zeros((B, S, N), work.dtype)
    moved = _pass_over_bits(work, least, stages, flows, topology, weights, order)
    final = copied(work, inputs.rows.dtype)
    shared = figures(before, survey_after(before, final), N, moved, least)
    shared |= weighted_fields(
        evenness(inputs.rows, weights, before.total), evenness(final, weights, before.total)
    )
    shared["steps"] = np.full(B, 3 * S)
    fields |= per_batch(shared, inputs.batch)
    if stages is not None and flows is not None:
        fields["stages"] = stages.reshape(S, *inputs.shape)
        fields["moved_per_stage"] = moved.T.reshape(S, *inputs.batch)
        fields["flows"] = flows.reshape(*inputs.batch, S, *topology.shape)
    copy_into(rows, final)
    return Balance("dem", topology, record, {"loads": finished(result, rows), **fields})


def _pass_over_bits(
    work: NDArray[Any],
    least: NDArray[Any] | None,
    stages: NDArray[Any] | None,
    flows: NDArray[Any] | None,
    topology: Hypercube,
    weights: Weights,
    order: tuple[int, ...],
) -> NDArray[Any]:
    """Let all pairs of one dimension after the other exchange; return the units moved, (B, S)."""
    (B, N), S = work.shape, topology.n
    nodes = np.arange(N)
    moved = np.empty((B, S), work.dtype)
    axes = [S - 1 - bit for bit in order]
    for s, marginal in enumerate(marginal_weights(weights.integers, topology.shape, axes)):
        step = 1 << order[s]
        is_lower = nodes & step == 0
        is_lower[[u for u, v in topology.faults if v - u == step]] = False
        lower = nodes[is_lower]
        on_bit = np.broadcast_to(marginal, topology.shape).reshape(-1)
        pairs = np.stack([on_bit[lower], on_bit[lower + step]], axis=1)
        sent = None if flows is None else np.zeros((B, len(lower)), work.dtype)
        links = lower, lower + step
        counts = run_pairs(work, least, sent, links, pairs, HALF)
        moved[:, s] = counts[0]
        if flows is not None and stages is not None:
            flows[:, axes[s], lower] = sent
            stages[s] = work
    return moved


def sweep_by_weight(
    rows: NDArray[Any],
    out: NDArray[Any],
    links: Colouring,
    weights: Weights,
    share: Fraction,
    before: Survey,
    tolerance: NDArray[np.float64],
    most: int,
    flows: NDArray[Any] | None,
    *,
    with_metrics: bool,
) -> NDArray[Any]:
    """Balance rows (B, N) into others by GDE; return moved, local, sweeps and flags, (4, B).

    Raises
    ------
    ValueError
        If there is load from where no link leads to a node of a weight above 0.
    OverflowError
        If totals or units moved do not fit; then nothing is written.
    """
    refuse_totals(before)
    ends = links.u, links.v
    if not weights.integers.all():
        refuse_stranded(rows, distances(ends, weights.integers))
    work = copied(rows, units_dtype(rows))
    least = copied(work) if with_metrics else None
    if work.dtype.kind != "f":
        tolerance = np.ones(len(work), np.int64)
    pairs = pair_weights(ends, weights.integers)
    until = tolerance, most
    moved, sweeps, flags = run_pairs(work, least, flows, ends, pairs, share, until)
    copy_into(out, work)
    local = np.zeros_like(moved) if least is None else sum_of_nodes(least)
    return np.stack([moved, local, sweeps, flags])
