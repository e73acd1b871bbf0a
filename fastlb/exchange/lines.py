"""One chain or ring: the paper's worked table, and its two exchanges of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import kernels
from ..arguments import as_array, one_of
from ..aside import aside_if_large
from ..display.cards import Displayed
from ..errors import DeadlockError
from ..topologies.grids import Chain
from .casting import INT64_MAX
from .direct_exchange import dde
from .loads import read_loads, survey

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MODES = ("rbs", "sbr", "sbr-strict")
# Sums along a line of k floats have an error of at most this times k times the total.
ROUNDING = 2.0**-49


@dataclass(frozen=True, eq=False)
class DdeLine(Displayed):
    """The table of DDE-chain or DDE-ring (Wu-Shu Example 1 and Fig. 9), arrays of shape (k,).

    Attributes
    ----------
    suffix_sums : W, the load of nodes i .. k-1
    quotas : q, the load of node i afterwards
    suffix_quotas : Q, the quotas of nodes i .. k-1
    flows : x, from i to i + 1; ``flows[k-1]`` on the wrap link
    shift : x_m, what the ring subtracted from the chain's flows
    """

    suffix_sums: NDArray[Any]
    quotas: NDArray[Any]
    suffix_quotas: NDArray[Any]
    flows: NDArray[Any]
    shift: int | float


def dde_line(loads: ArrayLike, *, ring: bool = False) -> DdeLine:
    """Return the worked table of one chain or ring (Wu-Shu Figs 3 and 8).

    Parameters
    ----------
    loads : array_like, shape (k,)
        Tasks per node, not negative: integers, float32 or float64.
    ring : bool
        Whether the last node is linked to the first; a ring of 2 has one link, of 1 none.

    Returns
    -------
    DdeLine
        int64 for integer loads, float64 for floats.

    Raises
    ------
    TypeError, ValueError
        On loads that are not one line of legal values.
    OverflowError
        If the total does not fit int64.

    Examples
    --------
    >>> dde_line([9, 7, 4, 1, 4, 6, 1, 5]).flows
    array([ 4,  6,  5,  1,  0,  2, -1,  0])
    """
    row = _line(loads)
    table: DdeLine = aside_if_large(len(row), _table, row, ring)
    return table


def _table(row: NDArray[Any], ring: bool) -> DdeLine:
    k = len(row)
    nodes = np.arange(k)
    suffix_sums = row[::-1].cumsum()[::-1]
    total = suffix_sums[0]
    if row.dtype.kind == "f":
        suffix_quotas = total * ((k - nodes) / k)
        quotas = np.full(k, total / k)
    else:
        average, remainder = divmod(total, k)
        suffix_quotas = average * (k - nodes) + np.maximum(0, remainder - nodes)
        quotas = average + (nodes < remainder)
    flows = np.zeros_like(row)
    if row.dtype.kind == "f":
        # Rounding errors of float sums grow along the line; DDE's kernel corrects them.
        flows = dde(row, Chain(k), record="flows").flows[0]
    else:
        flows[:-1] = (suffix_quotas - suffix_sums)[1:]
    shift = flows.dtype.type(0)
    if ring and k > 2:
        ordered = np.sort(flows)
        lower, upper = ordered[(k - 1) // 2], ordered[k // 2]
        if lower > 0:
            shift = upper
        elif upper < 0:
            shift = lower
        flows = flows - shift
    return DdeLine(suffix_sums, quotas, suffix_quotas, flows, shift.item())


def exchange_rounds(
    loads: ArrayLike, flows: ArrayLike, *, ring: bool = False, mode: str = "rbs"
) -> tuple[int, NDArray[Any]]:
    """Simulate the exchange of tasks along one line (Wu-Shu Figs 5 and 6).

    Parameters
    ----------
    loads, flows : array_like, shape (k,)
        Tasks per node; flow from node i to i + 1, ``flows[k-1]`` on the wrap link, which a
        chain and a ring of 2 do not have.
    ring : bool
        Whether the last node is linked to the first.
    mode : {"rbs", "sbr", "sbr-strict"}
        Receive before send; send a link's whole flow as soon as the node holds as much; or
        only when it holds more, as printed, which can wait for ever.

    Returns
    -------
    rounds : int
        Synchronous rounds; what arrives is usable in the next one.
    local : (k,)
        Units that never left their node; nodes send units from other nodes first.

    Raises
    ------
    DeadlockError
        If senders wait for each other: flows around a ring, or ``"sbr-strict"``.
    ValueError
        If a node would have to send more than it holds and receives, or on bad arguments.

    Examples
    --------
    >>> exchange_rounds([9, 7, 4, 1, 4, 6, 1, 5], [4, 6, 5, 1, 0, 2, -1, 0])
    (4, array([5, 5, 4, 1, 4, 4, 1, 4]))
    """
    one_of("mode", mode, MODES)
    row = _line(loads)
    numbers = _numbers("flows", flows)
    if numbers.shape != row.shape or numbers.dtype.kind not in "iuf":
        raise ValueError(
            f"flows must be {len(row)} numbers, one a node, got {numbers.dtype} of {numbers.shape}"
        )
    if not np.isfinite(numbers).all():
        raise ValueError("flows must be finite")
    rows = aside_if_large(len(row), _checked, row, numbers, ring)
    row, pending, local, slack = rows
    rounds = kernels("dde.rounds").exchange(
        row, local, pending, mode == "rbs", mode == "sbr-strict", slack
    )
    if pending.any():
        links = np.flatnonzero(pending).tolist()
        shown = ", ".join(map(str, links[:8])) + (", .." if len(links) > 8 else "")
        raise DeadlockError(f"{mode} exchange is deadlocked: flows on links {shown} wait for ever")
    return rounds, np.maximum(local, 0)


def _checked(
    row: NDArray[Any], numbers: NDArray[Any], ring: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Any]:
    """Return loads, flows and loads again, as the kernel takes them, and how far off floats are."""
    exact = row.dtype.kind == "i" and numbers.dtype.kind in "iu"
    if exact and numbers.max(initial=0) > INT64_MAX:
        raise OverflowError(f"flows must fit int64, got {numbers.max()}")
    pending = numbers.astype(np.int64 if exact else np.float64)
    row = row.astype(pending.dtype)
    if pending[-1] != 0 and not (ring and len(row) > 2):
        line = f"ring of {len(row)}" if ring else "chain"
        raise ValueError(f"flows must be 0 on the wrap link of a {line}, got {numbers[-1]}")
    slack = np.int64(0) if exact else row.sum() * len(row) * ROUNDING
    # Python integers where sums of flows that are refused here may exceed int64.
    bounds = int(row.max()), int(pending.max()), -int(pending.min())
    T = pending.dtype if sum(map(abs, bounds)) <= INT64_MAX or not exact else np.dtype(object)
    after = row.astype(T) + np.roll(pending, 1).astype(T) - pending.astype(T)
    node = int(np.argmin(after))
    if after[node] < -slack:
        raise ValueError(f"flows must leave no node below 0, got {after[node]} at node {node}")
    return row, pending, row.copy(), slack


def _numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return as_array(name, values)
    except ValueError:
        raise ValueError(f"{name} must be one line of numbers, got rows of a table") from None


def _line(loads: ArrayLike) -> NDArray[Any]:
    """Return legal loads of one line as int64 or float64."""
    numbers = _numbers("loads", loads)
    if numbers.ndim != 1 or numbers.size == 0:
        raise ValueError(f"loads must be one line of nodes, shape (k,), got {numbers.shape}")
    rows = read_loads(numbers, Chain(numbers.size)).rows
    survey(rows)
    row: NDArray[Any] = rows[0].astype(np.float64 if rows.dtype.kind == "f" else np.int64)
    return row
