"""GDE of one network of integers: its nodes fill the vectors, as trials do in a batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy import ndarray

from ..accelerate import check_ended, compiled, kernels
from ..rational import floor_share, multiply_shift
from ..topologies.colouring import colouring
from ..topologies.topology import Topology
from .gde_share import read_share
from .loads import batch_shape
from .result import INT64_MAX, Balance, balance_of, loads_alone

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Loads that are balanced as they are.
COMPILED = np.dtype(np.int64), np.dtype(np.int32)
# Nodes of a network that is balanced in one go.
FEW = 2**13
# Types of shares that cannot change, and of which equal ones mean the same.
SHARES = frozenset({type(None), float, str, Fraction, Decimal, np.float64, np.float32})
# Follows on a share that is no pair.
ALONE = object()
# Where figures stand in what the kernel returns, after its code.
FIGURES = (
    "initial_difference", "difference", "initial_imbalance", "imbalance", "moved", "cost", "local",
    "locality", "sweeps", "steps", "stalled", "converged",
)  # fmt: skip
POSITIONS = {name: place for place, name in enumerate(FIGURES, 1)}


@dataclass(frozen=True)
class Shifts:
    """The links of a network in the order of their colours, as the kernel takes them.

    Attributes
    ----------
    offsets : (G,) int64
    sides : (G, N) int8
    """

    offsets: NDArray[np.int64]
    sides: NDArray[np.int8]


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
    return Shifts(groups % N, sides)


def run_single(
    source: NDArray[Any],
    target: NDArray[Any],
    links: Shifts,
    share: tuple[np.generic, np.generic],
    most: int,
    budget: int,
    *,
    measured: bool,
) -> NDArray[np.int64]:
    """Balance one row (1, N); return moved, local, sweeps and flags, (4, 1).

    ``share`` : see the kernel. After as many loads swept as the ``budget`` it comes back, so
    that Ctrl-C is heard.
    """
    kernel, (G, N) = kernels("gde.single"), links.sides.shape
    pad = int(links.offsets.max(initial=0))
    room = np.zeros((2, N + 2 * pad), share[0].dtype)
    room[0, pad : pad + N] = source[0]
    kept = (source[0] if measured else source[0, :0]).astype(room.dtype)
    state = np.zeros(3, np.int64)
    arguments = room, kept, links.offsets, links.sides, share, most, state
    while not kernel.gde(*arguments, budget // (G * N + 1024) + 1):
        check_ended()
    sweeps, flags = kernel.ended(room, links.offsets, links.sides, share, most, state)
    if measured and state[0] < 0:
        raise OverflowError("moved must fit int64, got more units in row 0")
    target[0] = room[state[2], pad : pad + N]
    return np.array([[state[0]], [kept.sum(dtype=np.int64)], [sweeps], [flags]])


class _Plan(NamedTuple):
    """What is known of a balancing in one go before its loads are.

    kernel : for final loads alone or with figures, compiled
    table, links, most : what it takes besides loads
    batch : leading axes of the loads, all of length 1
    colours : of the links
    """

    kernel: Callable[..., Any]
    table: NDArray[np.int64]
    links: NDArray[np.int8]
    most: int
    batch: tuple[int, ...]
    colours: int


# What the last call asked, and its plan. A host program asks the same in every step: to see that
# by identity, and not to look the plan up, saves a quarter of the call. One tuple, put in as a
# whole: no thread meets half of another's.
_last: list[tuple[Any, ...]] = [(None,) * 9]


def in_one_go(
    loads: NDArray[Any],
    topology: Any,
    lam: Any,
    order: Any,
    max_sweeps: Any,
    record: Any,
    out: Any,
) -> Balance | None:
    """Balance one plain network that does not take long with little Python, or return None.

    For a host program that balances in every step: 17 times as fast on the 8x8 mesh as the
    whole way, which is for all that is refused, takes a conversion, or takes so long that it is the
    same. Surveying, balancing and figures are one call of a kernel, which looks at values and at
    whether arrays are plain. Shapes, and what decides which kernel that is, are looked at here.
    """
    T, shape = loads.dtype, loads.shape
    # The parts of a pair come one by one, so that they are told apart by their types.
    p, q = share = lam if type(lam) is tuple and len(lam) == 2 else (lam, ALONE)
    of_topology, of_p, of_q, of_order, of_sweeps, of_record, of_type, of_shape, plan = _last[0]
    if (
        topology is not of_topology
        or p is not of_p
        or q is not of_q
        or order is not of_order
        or max_sweeps is not of_sweeps
        or record is not of_record
        or T is not of_type
        or shape != of_shape
    ):
        plan = _planned(topology, share, order, max_sweeps, record, T, shape)
        if plan is None:
            return None
        _last[0] = topology, p, q, order, max_sweeps, record, T, shape, plan
    if out is None:
        result = np.empty(shape, T)
    elif type(out) is ndarray and out.shape == shape:
        result = out
    else:
        return None
    kernel, table, links, most, batch, colours = plan
    if record == "loads":
        code = kernel(loads, result, table, links, most)
        return None if code else loads_alone("gde", topology, result)
    found = kernel(loads, result, table, links, most)
    if found[0]:
        return None
    if batch:
        others, numbers = {"colours": colours}, (POSITIONS, found, len(batch))
        return balance_of("gde", topology, record, result, others, numbers)
    (
        _, first_difference, difference, first_imbalance, imbalance, moved, cost, local, locality,
        sweeps, steps, stalled, converged,
    ) = found  # fmt: skip
    # Written out: half the 0.6 us that it takes to zip them with their names.
    fields = {
        "difference": difference,
        "initial_difference": first_difference,
        "imbalance": imbalance,
        "initial_imbalance": first_imbalance,
        "moved": moved,
        "cost": cost,
        "local": local,
        "locality": locality,
        "sweeps": sweeps,
        "steps": steps,
        "stalled": stalled,
        "converged": converged,
        "colours": colours,
    }
    return balance_of("gde", topology, record, result, fields)


def _planned(
    topology: Any,
    share: tuple[Any, Any],
    order: Any,
    max_sweeps: Any,
    record: Any,
    T: np.dtype[Any],
    shape: tuple[int, ...],
) -> _Plan | None:
    """Return how such loads are balanced in one go, or None if they are not, or may be refused."""
    # An array would be compared word by word.
    if type(record) is not str or record not in ("loads", "metrics"):
        return None
    if share[1] is ALONE and type(share[0]) not in SHARES:
        return None
    most = INT64_MAX if max_sweeps is None else max_sweeps
    if type(most) is not int or not 0 <= most <= INT64_MAX:
        return None
    try:
        return _plan(record, topology, order, most, T, shape, *share)
    except (TypeError, ValueError):  # refused by their names
        return None


@lru_cache(maxsize=64, typed=True)
def _plan(
    record: str,
    topology: Any,
    order: Any,
    most: int,
    T: np.dtype[Any],
    shape: tuple[int, ...],
    *share: Any,
) -> _Plan | None:
    """Return how loads of a dtype and shape are balanced in one go, or None if they are not.

    Raises ``TypeError`` or ``ValueError`` on arguments that do not fit.
    """
    if not isinstance(topology, Topology) or topology.size > FEW or T not in COMPILED:
        return None
    batch, N = batch_shape(shape, topology), topology.size
    if math.prod(batch) != 1:
        return None
    by_shift, partners = shifts(topology, order), _partners(topology, order)
    if by_shift is None and partners is None:
        return None
    given = read_share(share[0] if share[1] is ALONE else share, topology)
    # Of 32 bits after the point, for differences of 16.
    equal = floor_share(given, 2**16 - 1)
    fraction = (equal.numerator << 32) // equal.denominator
    colours = colouring(topology, order).count
    sides = np.zeros((0, N), np.int8) if by_shift is None else by_shift.sides
    offsets = [] if by_shift is None else by_shift.offsets.tolist()
    # Without shifts no loads fit.
    shares = (
        (0, 0, -1, 0, 0, -1) if by_shift is None else (*_widest(given, 32), *_widest(given, 64))
    )
    # In the order of the kernel's ``SHARE``, .., ``OFFSETS``.
    numbers = fraction, colours, len(offsets), max(offsets, default=0), partners is not None
    table = np.array([*shares, *numbers, *offsets], np.int64)
    links = sides.ravel() if partners is None else np.append(partners, sides)
    module, row = kernels("gde.single"), np.empty(1, T)
    entry = module.small if record == "loads" else module.small_measured
    kernel = compiled(entry, row, row, table, links, most, flat=True)
    return _Plan(kernel, table, links, most, batch, colours)


def _partners(topology: Topology, order: str) -> NDArray[np.int8] | None:
    """Return with whom each node exchanges colour by colour, (C, NODES), or None if there is none.

    Itself where it is no end of a link. Of networks that fit registers, if the machine can permute
    what they hold.
    """
    links, module = colouring(topology, order), kernels("gde.single")
    nodes = module.NODES
    if topology.size > nodes or not links.count or not module.permutes():
        return None
    partners = np.tile(np.arange(nodes, dtype=np.int8), (links.count, 1))
    colour = np.repeat(np.arange(links.count), np.diff(links.starts))
    partners[colour, links.u] = links.v
    partners[colour, links.v] = links.u
    return partners


def _widest(share: Fraction, bits: int) -> tuple[int, int, int]:
    """Return how differences of as many bits as possible are multiplied in so many bits.

    Returns (m, s), and the largest difference.
    """
    found, fits, fails = (0, 0), 1, bits
    while fails - fits > 1:
        tried = (fits + fails) // 2
        largest = 2**tried - 1
        factor = multiply_shift(floor_share(share, largest), largest, bits)
        if factor is None:
            fails = tried
        else:
            found, fits = factor, tried
    return *found, 2**fits - 1
