"""Generalized dimension exchange (GDE) on any network: the public function."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import integer
from ..pages import empty
from ..topologies.colouring import Colouring, colouring
from ..topologies.grids import Grid
from ..topologies.hypercube import Hypercube
from ..topologies.kinds import topology_for
from ..topologies.topology import Topology
from .casting import INT64_MAX, units_dtype
from .figures import figures, per_batch
from .gde_share import integer_factor, read_share, widest_factor
from .loads import check_record, read_loads, survey, survey_after
from .outputs import finished, output_rows
from .prepared import PreparedCall, run_prepared
from .result import Balance
from .tiling import tiled, untiled
from .weighted_exchange import sweep_by_weight
from .weighted_figures import evenness, weighted_fields, with_equal_weights
from .weights import read_weights

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from ..quantities import MixedNumbers
    from .loads import Survey

# A tile of trials, with its least loads if metrics are recorded, should fit the L2 cache.
TILE_BYTES = 2**19
# Nodes of the largest network whose calls are prepared.
MOST_PREPARED_NODES = 2**13


def gde(
    loads: ArrayLike,
    topology: Topology | str,
    *,
    lam: Any = None,
    order: str = "dimension",
    tol: float | None = None,
    max_sweeps: int | None = None,
    weights: MixedNumbers | None = None,
    record: str = "metrics",
    out: NDArray[Any] | None = None,
) -> Balance:
    """Balance loads by generalized dimension exchange (Wu-Shu Fig. 2).

    A sweep goes through the colours of the links; in a colour every pair that differs by
    d > 1 sends ``floor(lam * d)`` from the higher to the lower end. The test, all neighbours
    within 1, is made before each sweep. For ``lam < 1/2`` it may never hold: a sweep that
    moves nothing also ends the balancing, with ``stalled`` set.

    Every exchange of whole loads lowers the sum of their squares, so that the balancing ends at
    any ``lam``. A difference d shrinks to ``|1 - 2 lam| d``. If ``lam`` is e above 0 or below 1,
    this takes about ``(1 + log(e d)) / (2 e)`` sweeps, in practice for ever at
    ``lam = 1 - 1e-12``. The only limit is ``max_sweeps``, because any other would change results;
    Ctrl-C interrupts the balancing. Float loads also end, stalled, once rounding keeps their
    largest difference from falling.

    Parameters
    ----------
    loads : array_like, shape (*batch, *topology.shape) or (*batch, topology.size)
        Tasks per node, not negative: integers, float32 or float64. Float loads send
        ``lam * d`` at any d.
    topology : Topology or str
        Any; or its spelling, ``"mesh:8x8"``. Grids and hypercubes have their own colours, other
        networks get Misra and Gries' colouring of their undirected links.
    lam : rational, optional
        Share of a difference that is sent, between 0 and 1, taken exactly: ``0.723``,
        ``"723/1000"``, ``(723, 1000)`` or a Fraction. Default :func:`optimal_lambda` rounded
        to 3 decimals on grids and hypercubes, 1/2 on hyper hexa-cells and networks, where no
        optimum is known. The result has it as ``lam``.
    order : {"dimension", "interleaved"}
        All colours of the first axis, then of the next; or the first colours of all axes,
        then the second.
    tol : float, optional
        Float loads: neighbours within ``tol`` are balanced; default 1e-9 times the mean load.
    max_sweeps : int, optional
        Stop after so many sweeps, by default never.
    weights : array_like, shape topology.shape or (topology.size,), optional
        Speeds of the nodes: each gets a share of the load in proportion, one of weight 0 none.
        Integers, floats (each its shortest decimal), Fractions or strings, taken exactly. In place
        of d stands twice what would bring a pair to its shares, rounded up: at ``lam = 1/2`` it
        goes to the nearest ones. Neighbours end within
        ``|load / weight - load' / weight'| <= (1 / weight + 1 / weight') / 2``. A node of weight 0
        sends all it has towards those with a weight, and lets nothing pass; a light one between
        heavy ones lets little pass, and sweeps grow with their ratio. Figures are then of
        load / weight.
    record : {"metrics", "loads", "flows"}
        ``"loads"`` computes final loads alone, ``"flows"`` also the net flows.
    out : array, optional
        Receives the final loads; may be the input. Same shape and dtype.

    Returns
    -------
    Balance
        With ``sweeps``, ``stalled``, ``converged``, ``colours``; ``steps`` is three per colour
        and sweep. ``converged`` means that neighbours are balanced. Parts of a graph that no link
        connects keep their totals, so their loads may differ by any number.

    Raises
    ------
    TypeError, ValueError
        On arguments that do not fit.
    OverflowError
        If a total, or the units moved, do not fit int64. With weights, if a total is 2**62 or
        more, or the weights' sum 2**61 or more, in the largest unit of which all are multiples.

    Notes
    -----
    Calls are safe from several threads on different arrays, as the kernels release Python's
    lock. Batches gain from threads, small calls nothing. Two threads must not write one ``out``.

    Examples
    --------
    >>> import fastlb as lb
    >>> b = lb.gde([2021, 0], lb.Chain(2), lam="723/1000")
    >>> b.loads, b.sweeps
    (array([1011, 1010]), 8)
    >>> lb.gde([2021, 0, 0], "chain:3", weights=["1/2", 1.5, 0]).loads
    array([ 505, 1516,    0])
    """
    if tol is None and weights is None:
        # A pair is passed as two arguments: the cache distinguishes types of arguments alone, and
        # (1.0, 2), which is refused, equals (1, 2).
        parts = lam if type(lam) is tuple and len(lam) == 2 else (lam,)
        options = order, max_sweeps, *parts
        balanced = run_prepared("gde", _prepare, loads, topology, record, out, *options)
        if balanced is not None:
            return balanced
    topology = topology_for("gde", topology)
    exact = None if weights is None else read_weights(weights, topology)
    if exact is not None and exact.are_equal:
        options_of_all = {"lam": lam, "order": order, "tol": tol, "max_sweeps": max_sweeps}
        balance = gde(loads, topology, **options_of_all, record=record, out=out)
        return with_equal_weights(balance, exact)
    check_record(record)
    share = read_share(lam, topology)
    most = most_sweeps(max_sweeps)
    inputs = read_loads(loads, topology)
    links = colouring(topology, order)
    before = survey(inputs.rows)
    tolerance = _tolerance(tol, inputs.rows, before)
    result, rows = output_rows(out, loads, inputs)
    flows: NDArray[Any] | None = None
    if record == "flows":
        flows = np.zeros((len(rows), len(links.u)), units_dtype(rows))
    even_before = (
        None if exact is None or record == "loads" else evenness(inputs.rows, exact, before.total)
    )
    if exact is not None:
        counts = sweep_by_weight(
            inputs.rows, rows, links, exact, share, before, tolerance, most, flows,
            with_metrics=record != "loads",
        )  # fmt: skip
    elif rows.dtype.kind == "f":
        counts = _run_floats(inputs.rows, rows, links, float(share), tolerance, most, flows)
    else:
        bounds = (int(bound.max(initial=0)) for bound in (before.total, before.largest))
        factor, T = integer_factor(share, *bounds)
        with_metrics = record != "loads"
        tiles = tiled(inputs.rows, T, tile_bytes=TILE_BYTES // (2 if with_metrics else 1))
        counts = balance_tiles(
            tiles, len(rows), links, factor, most, flows, with_metrics=with_metrics
        )
        untiled(tiles, rows)
    fields: dict[str, Any] = {"loads": finished(result, rows), "lam": share}
    if exact is not None:
        fields["weights"] = exact.numbers.reshape(inputs.node_shape)
    if record == "loads":
        return Balance("gde", topology, record, fields)
    shared = gde_figures(before, survey_after(before, rows), topology.size, links, counts)
    if exact is not None and even_before is not None:
        shared |= weighted_fields(even_before, evenness(rows, exact, before.total))
    fields |= per_batch(shared, inputs.batch)
    fields["colours"] = links.count
    if flows is not None:
        fields["flows"] = _flows_of_topology(flows, links, inputs.batch, topology)
    return Balance("gde", topology, record, fields)


def gde_figures(
    before: Survey, after: Survey, size: int, links: Colouring, counts: NDArray[Any]
) -> dict[str, Any]:
    """Return the figures of networks from the kernels' counts (4, B); see ``balance_tiles``."""
    moved, local, sweeps, flags = counts
    return figures(before, after, size, moved, local) | gde_counts(links, sweeps, flags)


def gde_counts(
    links: Colouring, sweeps: NDArray[Any], flags: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return the figures (B,) that follow from the sweeps and how they ended."""
    sweeps, flags = (values.astype(np.int64, copy=False) for values in (sweeps, flags))
    return {
        "sweeps": sweeps,
        "steps": 3 * links.count * sweeps,
        "stalled": flags & kernels("gde.tiles").STALLED > 0,
        "converged": flags & kernels("gde.tiles").APART == 0,
    }


def balance_tiles(
    tiles: NDArray[Any],
    B: int,
    links: Colouring,
    factor: tuple[np.generic, ...],
    most: int,
    flows: NDArray[Any] | None,
    *,
    with_metrics: bool,
) -> NDArray[np.int64]:
    """Balance the first ``B`` networks of tiles in place; return what was counted of each, (4, B).

    The rows are the units moved, the units that never left their node, sweeps, and flags (see
    ``kernels/gde/tiles.py``).

    Parameters
    ----------
    tiles : (K, N, W) int32 or int64
        As ``tiled`` lays them out: W networks side by side, a row a node.
    factor : tuple
        The share of a difference that is sent, as ``integer_factor`` returns it.
    most : int
        Sweeps at most.
    flows : (B, E) int64 zeros, or None
        Receives the net flow of each link.
    with_metrics : bool
        Whether units that never left are counted, and units moved beyond int64 refused.
    """
    _, N, W = tiles.shape
    resident_min = empty(N * W, tiles.dtype) if with_metrics else None
    counts = np.zeros((4, B), np.int64)
    kernel = kernels("gde.tiles")
    arrays = links.u, links.v, links.starts, links.lines, links.axes
    # Units that do not fit turn negative, of which plain Python would warn.
    with np.errstate(over="ignore"):
        kernel.gde(tiles, resident_min, flows, arrays, factor, most, counts)
    overflowed = counts[3] & kernel.OVER > 0
    if with_metrics and overflowed.any():
        row = int(np.flatnonzero(overflowed)[0])
        raise OverflowError(f"moved must fit int64, got more units in row {row}")
    return counts


def _run_floats(
    rows: NDArray[Any],
    out: NDArray[Any],
    links: Colouring,
    lam: float,
    tolerance: NDArray[np.float64],
    most: int,
    flows: NDArray[Any] | None,
) -> NDArray[Any]:
    tiles = tiled(rows, np.float64, tile_bytes=TILE_BYTES // 2)
    _, N, W = tiles.shape
    counts = np.zeros((4, len(rows)))
    # A share that is 0 as a float becomes the smallest float: it moves nothing, and so stalls.
    share = max(lam, np.finfo(np.float64).smallest_subnormal)
    arrays = tiles, empty(N * W, np.float64), flows, (links.u, links.v)
    # Units that do not fit become infinite, of which plain Python would warn.
    with np.errstate(over="ignore"):
        kernels("gde.real").gde(*arrays, share, tolerance, most, counts)
    if not np.isfinite(counts[0]).all():
        row = int(np.flatnonzero(~np.isfinite(counts[0]))[0])
        raise OverflowError(f"moved must fit float64, got more units in row {row}")
    untiled(tiles, out)
    return counts


@lru_cache(maxsize=256, typed=True)
def _prepare(
    topology: Topology,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    record: str,
    order: str,
    max_sweeps: int | None,
    *lam: Any,
) -> PreparedCall | None:
    """Return the prepared call for one network of integers, or None."""
    if not isinstance(topology, Topology) or dtype.kind not in "iu":
        return None
    if topology.size > MOST_PREPARED_NODES:
        return None
    if shape not in (topology.shape, (topology.size,)) or record not in ("loads", "metrics"):
        return None
    try:
        links, most = colouring(topology, order), most_sweeps(max_sweeps)
        share = read_share(lam[0] if len(lam) == 1 else lam, topology)
    except (TypeError, ValueError):
        return None
    constants = links.u, links.v, widest_factor(share), links.count, most
    fields = partial(_metrics if record == "metrics" else _no_metrics, share, links.count)
    return PreparedCall(kernels("gde.single").balance, constants, fields)


def _no_metrics(lam: Fraction, *_numbers: Any) -> dict[str, Any]:
    return {"lam": lam}


def _metrics(
    lam: Fraction,
    colours: int,
    initial_difference: int,
    difference: int,
    moved: int,
    local: int,
    initial_imbalance: float,
    imbalance: float,
    cost: float,
    locality: float,
    sweeps: int,
    steps: int,
    stalled: bool,
    converged: bool,
) -> dict[str, Any]:
    """Return the figures of one network, in the kernel's order, by name."""
    return {
        "difference": difference,
        "initial_difference": initial_difference,
        "imbalance": imbalance,
        "initial_imbalance": initial_imbalance,
        "moved": moved,
        "cost": cost,
        "local": local,
        "locality": locality,
        "sweeps": sweeps,
        "steps": steps,
        "stalled": stalled,
        "converged": converged,
        "colours": colours,
        "lam": lam,
    }


def _flows_of_topology(
    flows: NDArray[Any], links: Colouring, batch: tuple[int, ...], topology: Topology
) -> NDArray[Any]:
    """Return flows (B, L) in the order of colours as ``Balance.flows`` has them."""
    result = np.zeros((len(flows), links.slots), flows.dtype)
    result[:, links.slot] = flows
    on_axes = isinstance(topology, Grid | Hypercube)
    shape = (topology.ndim, *topology.shape) if on_axes else (links.slots,)
    return result.reshape(*batch, *shape)


def most_sweeps(max_sweeps: int | None) -> int:
    """Return ``max_sweeps``, or the largest int64 for None and for larger numbers, or raise."""
    if max_sweeps is None:
        return INT64_MAX
    most = integer("max_sweeps", max_sweeps)
    if most < 0:
        raise ValueError(f"max_sweeps must not be negative, got {most}")
    return min(most, INT64_MAX)


def _tolerance(tol: float | None, rows: NDArray[Any], before: Survey) -> NDArray[np.float64]:
    if tol is None:
        return np.asarray(1e-9 * before.total / rows.shape[1], dtype=np.float64)
    if rows.dtype.kind != "f":
        raise ValueError(f"tol must be left out for integer loads, got {tol!r}")
    if not isinstance(tol, int | float | np.integer | np.floating) or isinstance(tol, bool):
        raise TypeError(f"tol must be a number, got {tol!r}")
    if not 0 <= tol < math.inf:
        raise ValueError(f"tol must be finite and not negative, got {tol!r}")
    return np.full(len(rows), float(tol))
