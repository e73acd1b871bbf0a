"""GDE of one network of integers: its nodes fill the vectors, as trials do in a batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..accelerate import check_ended, kernels
from ..topologies.colouring import colouring
from .gde_share import default_share, given_share, integer_factor
from .loads import batch_shape, fits, plain_result
from .result import INT64_MAX, Balance, figures_of_one, loads_alone, per_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.topology import Topology

COMPILED = np.dtype(np.int64), np.dtype(np.int32)
# Nodes of a network that is balanced in one go.
FEW = 2**13


@dataclass(frozen=True)
class Shifts:
    """The links of a network in the order of their colours, as the kernel takes them.

    Attributes
    ----------
    offsets : (G,) int64
    sides : (G, N) int8
    colours : int
    """

    offsets: NDArray[np.int64]
    sides: NDArray[np.int8]
    colours: int


@lru_cache(maxsize=16)
def shifts(topology: Topology, order: str) -> Shifts | None:
    """Return the links of a network as shifts, or None where that takes longer than one by one.

    A shift of N nodes takes as long as an eighth of N links.
    """
    links, N = colouring(topology, order), topology.size
    colour = np.repeat(np.arange(links.count), np.diff(links.starts))
    low, offset = np.minimum(links.u, links.v), np.abs(links.u - links.v)
    groups, which = np.unique(colour * N + offset, return_inverse=True)
    if len(groups) * N > 8 * len(low):
        return None
    sides = np.zeros((len(groups), N), np.int8)
    sides[which, low] = 1
    sides[which, low + offset] = -1
    return Shifts(groups % N, sides, links.count)


def run_single(
    source: NDArray[Any],
    target: NDArray[Any],
    links: Shifts,
    share: NDArray[Any],
    most: int,
    budget: int,
    *,
    measured: bool,
) -> NDArray[np.int64]:
    """Balance one row (1, N); return moved, local, sweeps and flags, (4, 1).

    ``share`` : (2,), see the kernel. After as many loads swept as the ``budget`` it comes back, so
    that Ctrl-C is heard.
    """
    kernel, (G, N) = kernels("gde_single"), links.sides.shape
    pad = int(links.offsets.max(initial=0))
    room = np.zeros((2, N + 2 * pad), share.dtype)
    room[0, pad : pad + N] = source[0]
    kept = source[0].astype(share.dtype) if measured else np.empty(0, share.dtype)
    state = np.zeros(3, np.int64)
    arguments = room, kept, links.offsets, links.sides, share, most, state
    while not kernel.gde(*arguments, budget // (G * N + 1024) + 1):
        check_ended()
    sweeps, flags = kernel.ended(room, links.offsets, links.sides, share, most, state)
    if measured and state[0] < 0:
        raise OverflowError("moved must fit int64, got more units in row 0")
    target[0] = room[state[2], pad : pad + N]
    return np.array([[state[0]], [kept.sum(dtype=np.int64)], [sweeps], [flags]])


def in_one_go(
    loads: NDArray[Any],
    topology: Topology,
    lam: Any,
    order: str,
    max_sweeps: int | None,
    record: str,
    out: NDArray[Any] | None,
) -> Balance | None:
    """Balance one plain network that does not take long with little Python, or return None.

    For a host program that balances in every step: four times as fast on the 8x8 mesh as the whole
    way, which is for all that is refused, takes a conversion, or takes so long that it is the same.
    """
    N, shape = topology.size, loads.shape
    plain = loads.dtype in COMPILED and loads.size == N <= FEW and fits(shape, topology)
    if not plain or type(record) is not str or record not in ("loads", "metrics"):
        return None
    most = INT64_MAX if max_sweeps is None else max_sweeps
    result = plain_result(out, loads)
    if result is None or type(most) is not int or not 0 <= most <= INT64_MAX:
        return None
    kernel = kernels("gde_single")
    least, largest, total = map(int, kernel.survey(loads.ravel()))
    if least < 0 or total < 0:
        return None
    try:
        links = shifts(topology, order)
        share = default_share(topology).as_integer_ratio() if lam is None else lam
        parts = share if type(share) is tuple and len(share) == 2 else (share,)
        factor = _factor(total < 2**31, largest.bit_length(), *parts)
    except (TypeError, ValueError):  # refused by their names
        return None
    if links is None or factor is None:
        return None
    measured = record == "metrics"
    found = kernel.small(
        loads.ravel(), result.ravel(), links.offsets, links.sides, factor, most, measured
    )
    moved, local, sweeps, flags, low, high = map(int, found)
    if flags & kernel.UNFINISHED:
        return None
    if not measured:
        return loads_alone("gde", topology, result)
    values = figures_of_one(total, (least, largest), (low, high), N, moved, local)
    values["sweeps"] = sweeps
    values["steps"] = 3 * links.colours * sweeps
    values["stalled"] = flags & kernel.STALLED > 0
    values["converged"] = flags & kernel.APART == 0
    fields = per_batch(values, batch_shape(shape, topology))
    return Balance("gde", topology, record, {"loads": result, **fields, "colours": links.colours})


@lru_cache(maxsize=256, typed=True)
def _factor(narrow: bool, bits: int, *share: Any) -> NDArray[Any] | None:
    """Return the share of loads of so many bits for the kernel, or None if no product fits.

    The parts of a pair come one by one, so that they are told apart by their types.
    """
    given = given_share(share if len(share) == 2 else share[0])
    factor, _ = integer_factor(given, 0 if narrow else INT64_MAX, min(2**bits - 1, INT64_MAX))
    found = np.array(factor)
    return found if found.dtype.kind == "u" else None
