"""Schedules of fault-tolerant DEM, computed from the faulty links (More-Wu section 2.2)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import one_of
from ..errors import FaultError
from ..topologies.hypercube import Hypercube
from .fault_schedule import REPAIR, SPLIT, WHOLE, FaultSchedule, Repair, Split, Subcube, brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..topologies.topology import Topology

ORDERS = ("lowest", "highest")
DONORS = ("latest", "earliest")


def fault_schedule(topology: Topology, *, order: str, donor: str) -> FaultSchedule:
    """Return the schedule of a faulty cube; parameters and errors as for ``fault_plan``."""
    if not isinstance(topology, Hypercube):
        raise TypeError(f"topology must be a Hypercube, got {topology!r}")
    one_of("order", order, ORDERS)
    one_of("donor", donor, DONORS)
    return _cached_schedule(topology, order, donor)


@lru_cache(maxsize=256)
def _cached_schedule(topology: Hypercube, order: str, donor: str) -> FaultSchedule:
    links = np.array(topology.faults, dtype=np.int64).reshape(-1, 2)
    splits: list[Split] = []
    whole: list[Subcube] = []
    stuck: list[tuple[Subcube, tuple[int, ...]]] = []
    rows: list[tuple[int, int, int, int]] = []
    # Depth first, the lower half first: (subcube, faults inside, bits split along so far).
    pending: list[tuple[Subcube, NDArray[np.int64], tuple[int, ...]]] = [
        (Subcube(0, (1 << topology.n) - 1), links, ())
    ]
    while pending:
        subcube, inner_faults, path = pending.pop()
        if not len(inner_faults):
            whole.append(subcube)
            rows.append((WHOLE, subcube.base, subcube.free, -1))
            continue
        faulty_bits = int(np.bitwise_or.reduce(inner_faults[:, 0] ^ inner_faults[:, 1]))
        healthy = subcube.free & ~faulty_bits
        if not healthy:
            stuck.append((subcube, path))
            continue
        bit = (healthy & -healthy if order == "lowest" else healthy).bit_length() - 1
        splits.append(Split(subcube, bit))
        rows.append((SPLIT, subcube.base, subcube.free, bit))
        side = inner_faults[:, 0] >> bit & 1
        for value in (1, 0):
            half = Subcube(subcube.base | value << bit, subcube.free & ~(1 << bit))
            pending.append((half, inner_faults[side == value], (*path, bit)))
    stuck.sort(key=lambda item: (item[0].dimensions, item[0].base))
    repairs = _repairs(topology, links, stuck, donor)
    rows += [(REPAIR, r.stuck.base, r.stuck.free, r.bit) for r in repairs]
    program = np.array(rows, dtype=np.int64).reshape(-1, 4)
    program.flags.writeable = False
    return FaultSchedule(topology, order, donor, tuple(splits), tuple(whole), repairs, program)


def _repairs(
    topology: Hypercube,
    links: NDArray[np.int64],
    stuck: list[tuple[Subcube, tuple[int, ...]]],
    donor: str,
) -> tuple[Repair, ...]:
    """Return the repairs, or raise ``FaultError`` for the first stuck subcube without a donor."""
    bases = np.array([subcube.base for subcube, _ in stuck], dtype=np.int64)
    frees = np.array([subcube.free for subcube, _ in stuck], dtype=np.int64)
    repairs = []
    for i, (subcube, path) in enumerate(stuck):
        candidates = path[::-1] if donor == "latest" else path
        # Bits across which the neighbour is fault-free.
        whole = [bit for bit in candidates if not _has_fault(links, subcube.neighbour(bit))]
        if not whole:
            reason = "it was never split" if not path else "every neighbour subcube has one too"
            raise FaultError(
                f"faults of {brief(topology)} leave no plan: nodes {_nodes_text(subcube)} have a "
                f"faulty link in every dimension, and {reason}"
            )
        without_overlap = (
            bit
            for bit in whole
            if not _overlaps(subcube.neighbour(bit), bases[i + 1 :], frees[i + 1 :])
        )
        bit = next(without_overlap, whole[0])
        repairs.append(Repair(subcube, subcube.neighbour(bit), bit))
    return tuple(repairs)


def _has_fault(links: NDArray[np.int64], subcube: Subcube) -> bool:
    return bool(((links & ~subcube.free) == subcube.base).all(axis=1).any())


def _overlaps(subcube: Subcube, bases: NDArray[np.int64], frees: NDArray[np.int64]) -> bool:
    """Return whether a subcube shares a node with any of the others."""
    return bool((((bases ^ subcube.base) & ~frees & ~subcube.free) == 0).any())


def _nodes_text(subcube: Subcube) -> str:
    shown = [str(node) for node in Subcube(subcube.base, _lowest_two(subcube.free)).nodes]
    return "{" + ", ".join(shown) + (", ..}" if subcube.dimensions > 2 else "}")


def _lowest_two(mask: int) -> int:
    first = mask & -mask
    rest = mask ^ first
    return first | (rest & -rest)
